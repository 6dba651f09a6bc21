# SPDX-License-Identifier: Apache-2.0
# Defines xxHash::xxhash, as xxHash's own CMake package does. Most distributions
# have no such package, but a pkg-config file. rowbloom's CMake package brings
# this file along.

if(NOT TARGET xxHash::xxhash)
  find_package(xxHash CONFIG QUIET)
endif()
if(NOT TARGET xxHash::xxhash)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(rowbloom_xxhash QUIET IMPORTED_TARGET libxxhash)
  endif()
  if(TARGET PkgConfig::rowbloom_xxhash)
    add_library(xxHash::xxhash INTERFACE IMPORTED)
    target_link_libraries(xxHash::xxhash INTERFACE PkgConfig::rowbloom_xxhash)
  else()
    find_path(xxHash_INCLUDE_DIR xxhash.h)
    find_library(xxHash_LIBRARY xxhash)
    mark_as_advanced(xxHash_INCLUDE_DIR xxHash_LIBRARY)
    if(xxHash_INCLUDE_DIR AND xxHash_LIBRARY)
      add_library(xxHash::xxhash UNKNOWN IMPORTED)
      set_target_properties(xxHash::xxhash PROPERTIES
        IMPORTED_LOCATION ${xxHash_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${xxHash_INCLUDE_DIR})
    endif()
  endif()
endif()

set(xxHash_FOUND FALSE)
if(TARGET xxHash::xxhash)
  set(xxHash_FOUND TRUE)
endif()
