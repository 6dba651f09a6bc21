# SPDX-License-Identifier: Apache-2.0
# The variables that RocksDB's CMake build expects from a plugin. CMakeLists.txt
# includes this file where this directory is plugin/rowbloom of a RocksDB tree.
# rowbloom.mk names the function that registers the plugin.

include(GNUInstallDirs)
set(rowbloom_SOURCES ${sources} PARENT_SCOPE)
set(flags "")
if(TARGET rowbloom::planning)
  # RocksDB cannot export a target of its parent project.
  set(rowbloom_LIBS "$<BUILD_INTERFACE:rowbloom::planning>" PARENT_SCOPE)
else()
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(rowbloom_core REQUIRED rowbloom-planning absl_strings)
  set(rowbloom_LIBS ${rowbloom_core_LINK_LIBRARIES} PARENT_SCOPE)
  list(TRANSFORM rowbloom_core_CFLAGS REPLACE "(.+)" "\"\\1\"")
  list(JOIN rowbloom_core_CFLAGS " " flags)
endif()
# Not rowbloom_INCLUDE_PATHS: RocksDB's own sources need none of it.
set(here ${CMAKE_CURRENT_SOURCE_DIR})
# These flags are words of a shell, and directories may have spaces.
set(rowbloom_COMPILE_FLAGS
    "-I\"${here}/include\" -I\"${here}\" ${flags}" PARENT_SCOPE)
install(DIRECTORY include/rowbloom
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
