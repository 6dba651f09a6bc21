# SPDX-License-Identifier: Apache-2.0
# Defines librocksdb::librocksdb, the RocksDB that rowbloom is built for, and
#
#   Librocksdb_FOUND
#   Librocksdb_VERSION  by its headers, as 7.8.3
#   Librocksdb_SHARED   whether it is a shared library
#   Librocksdb_location the directory of its CMake package, or its library
#
# It is the first of these: the target of a parent project, the CMake package
# below CMAKE_PREFIX_PATH or RocksDB_ROOT, what pkg-config finds (RocksDB's
# Makefile installs no CMake package), the system's CMake package. rowbloom's
# CMake package brings this file along.

set(Librocksdb_FOUND FALSE)
set(Librocksdb_VERSION "")
set(Librocksdb_SHARED FALSE)
set(Librocksdb_library "")

macro(librocksdb_find_target)
  foreach(target IN ITEMS RocksDB::rocksdb-shared RocksDB::rocksdb)
    if(TARGET ${target} AND NOT Librocksdb_library)
      set(Librocksdb_library ${target})
    endif()
  endforeach()
endmacro()

librocksdb_find_target()
if(NOT Librocksdb_library)
  find_package(RocksDB CONFIG QUIET
               NO_CMAKE_SYSTEM_PATH NO_SYSTEM_ENVIRONMENT_PATH
               NO_CMAKE_PACKAGE_REGISTRY NO_CMAKE_SYSTEM_PACKAGE_REGISTRY)
  librocksdb_find_target()
endif()
if(NOT Librocksdb_library)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(Librocksdb_pc QUIET rocksdb)
  endif()
  if(Librocksdb_pc_FOUND)
    # The Makefile's flags choose a language standard and a CPU, which are ours
    # to choose; its definitions are part of the headers.
    set(Librocksdb_definitions ${Librocksdb_pc_CFLAGS_OTHER})
    list(FILTER Librocksdb_definitions INCLUDE REGEX "^-D")
    set(Librocksdb_library ${Librocksdb_pc_LINK_LIBRARIES})
    if(Librocksdb_library MATCHES "/librocksdb\\.a")
      set(Librocksdb_library ${Librocksdb_pc_STATIC_LINK_LIBRARIES})
    endif()
  endif()
endif()
if(NOT Librocksdb_library)
  find_package(RocksDB CONFIG QUIET)
  librocksdb_find_target()
endif()

if(Librocksdb_library)
  set(Librocksdb_include_dirs ${Librocksdb_pc_INCLUDE_DIRS})
  if(TARGET "${Librocksdb_library}")
    get_target_property(Librocksdb_include_dirs ${Librocksdb_library}
                        INTERFACE_INCLUDE_DIRECTORIES)
    get_target_property(Librocksdb_type ${Librocksdb_library} TYPE)
  elseif(Librocksdb_library MATCHES "/librocksdb\\.a")
    set(Librocksdb_type STATIC_LIBRARY)
  else()
    set(Librocksdb_type SHARED_LIBRARY)
  endif()
  set(Librocksdb_location ${RocksDB_DIR})
  if(NOT TARGET "${Librocksdb_library}")
    list(GET Librocksdb_library 0 Librocksdb_location)
  endif()
  if(NOT Librocksdb_type STREQUAL "STATIC_LIBRARY")
    set(Librocksdb_SHARED TRUE)
  endif()
  string(REGEX REPLACE "\\$<BUILD_INTERFACE:([^>]*)>" "\\1"
         Librocksdb_include_dirs "${Librocksdb_include_dirs}")
  find_file(Librocksdb_version_header rocksdb/version.h NO_CACHE
            HINTS ${Librocksdb_include_dirs})
  if(Librocksdb_version_header)
    file(STRINGS ${Librocksdb_version_header} Librocksdb_VERSION
         REGEX "#define ROCKSDB_(MAJOR|MINOR|PATCH) [0-9]+")
    string(REGEX REPLACE "[^0-9;]" "" Librocksdb_VERSION
           "${Librocksdb_VERSION}")
    list(JOIN Librocksdb_VERSION . Librocksdb_VERSION)
    set(Librocksdb_FOUND TRUE)
  endif()
endif()

if(Librocksdb_FOUND AND NOT TARGET librocksdb::librocksdb)
  add_library(librocksdb::librocksdb INTERFACE IMPORTED)
  target_link_libraries(librocksdb::librocksdb INTERFACE ${Librocksdb_library})
  target_include_directories(librocksdb::librocksdb INTERFACE
                             ${Librocksdb_include_dirs})
  target_compile_options(librocksdb::librocksdb INTERFACE
                         ${Librocksdb_definitions})
  if(Librocksdb_VERSION VERSION_GREATER_EQUAL 10.1)
    # RocksDB's headers need it, and its own package does not say so.
    target_compile_features(librocksdb::librocksdb INTERFACE cxx_std_20)
  endif()
endif()
