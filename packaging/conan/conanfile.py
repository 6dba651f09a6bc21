# SPDX-License-Identifier: Apache-2.0
"""The core, memfilter and the C API, built from the tree of this file."""

import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir

required_conan_version = ">=2.0"


class RowbloomConan(ConanFile):
    name = "rowbloom"
    version = "0.1.0"
    description = "Row and row+column filters that save LSM stores disk reads"
    license = "Apache-2.0"
    topics = ("bloom-filter", "lsm-tree", "storage-engine")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, os.pardir, os.pardir)
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*",
                        "src/*", "hosts/*"):
            copy(self, pattern, tree, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Abseil's types are in the public headers.
        self.requires("abseil/[>=20220623.0]", transitive_headers=True)
        self.requires("xxhash/[>=0.8.0 <1]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.24]")

    def validate(self):
        check_min_cppstd(self, 17)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("BUILD_TESTS", "BUILD_BENCHMARKS", "BUILD_TOOLS",
                     "BUILD_EXAMPLES", "WITH_ROCKSDB", "WITH_LEVELDB",
                     "WITH_HFILE", "WITH_REDIS"):
            toolchain.cache_variables[f"ROWBLOOM_{part}"] = False
        toolchain.cache_variables["ROWBLOOM_INSTALL"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder,
             os.path.join(self.package_folder, "licenses"))
        # Conan's generators write their own.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.set_property("cmake_target_name", "rowbloom::all")
        core = self.cpp_info.components["core"]
        core.libs = ["rowbloom"]
        core.set_property("cmake_target_name", "rowbloom::rowbloom")
        core.requires = [
            "abseil::absl_flat_hash_map",
            "abseil::absl_flat_hash_set",
            "abseil::absl_span",
            "abseil::absl_status",
            "abseil::absl_statusor",
            "abseil::absl_strings",
            "xxhash::xxhash",
        ]
        if self.settings.os in ("Linux", "FreeBSD"):
            core.system_libs = ["pthread"]
        for name in ("planning", "memfilter"):
            library = self.cpp_info.components[name]
            library.libs = [f"rowbloom_{name}"]
            library.set_property("cmake_target_name", f"rowbloom::{name}")
            library.requires = ["core"]
        c = self.cpp_info.components["c"]
        c.libs = ["rowbloom_c"]
        c.set_property("cmake_target_name", "rowbloom::c")
        c.requires = ["core", "memfilter"]
