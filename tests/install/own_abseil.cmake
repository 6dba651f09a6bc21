# SPDX-License-Identifier: Apache-2.0
# Defines targets with the names of Abseil's own build over the libraries of
# this machine, as in a parent project that builds Abseil itself. Looking for
# Abseil's package beside them is an error.

find_package(PkgConfig REQUIRED)
foreach(name IN ITEMS status statusor span strings flat_hash_set flat_hash_map)
  pkg_check_modules(own_${name} REQUIRED IMPORTED_TARGET absl_${name})
  add_library(absl_${name} INTERFACE)
  target_link_libraries(absl_${name} INTERFACE PkgConfig::own_${name})
  add_library(absl::${name} ALIAS absl_${name})
endforeach()
set(CMAKE_DISABLE_FIND_PACKAGE_absl TRUE)
