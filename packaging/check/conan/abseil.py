# SPDX-License-Identifier: Apache-2.0
"""Stands in for Conan's abseil: the system's, under the same names."""

from conan import ConanFile
from conan.tools.gnu import PkgConfig


class AbseilSystem(ConanFile):
    name = "abseil"
    version = "20220623.0"
    package_type = "static-library"
    settings = "os", "compiler", "build_type", "arch"

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "absl")
        for name in ("flat_hash_map", "flat_hash_set", "span", "status",
                     "statusor", "strings"):
            component = self.cpp_info.components[f"absl_{name}"]
            PkgConfig(self, f"absl_{name}").fill_cpp_info(component)
            component.set_property("cmake_target_name", f"absl::{name}")
