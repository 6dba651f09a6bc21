# SPDX-License-Identifier: Apache-2.0
"""Stands in for Conan's xxhash: the system's, under the same names."""

from conan import ConanFile
from conan.tools.gnu import PkgConfig


class XxhashSystem(ConanFile):
    name = "xxhash"
    version = "0.8.1"
    package_type = "static-library"
    settings = "os", "compiler", "build_type", "arch"

    def package_info(self):
        PkgConfig(self, "libxxhash").fill_cpp_info(self.cpp_info)
        self.cpp_info.set_property("cmake_file_name", "xxHash")
        self.cpp_info.set_property("cmake_target_name", "xxHash::xxhash")
