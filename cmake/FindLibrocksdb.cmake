# SPDX-License-Identifier: Apache-2.0
# Defines librocksdb::librocksdb, the RocksDB that rowbloom is built for, and
#
#   Librocksdb_FOUND
#   Librocksdb_VERSION   by its headers, as 7.8.3
#   Librocksdb_minor     the minor release, as 7.8
#   Librocksdb_SHARED    whether it is a shared library
#   Librocksdb_location  the directory of its CMake package or its sources, or
#                        its library
#   Librocksdb_trouble   how its headers and its library disagree; mostly empty
#
# Searched in this order: the targets of a parent project (RocksDB's own tree
# has rocksdb and rocksdb-shared), the CMake package below CMAKE_PREFIX_PATH or
# RocksDB_ROOT, what pkg-config finds below CMAKE_PREFIX_PATH or PKG_CONFIG_PATH
# or in the system (RocksDB's Makefile installs no CMake package), the system's
# CMake package. rowbloom's CMake package brings this file along.

foreach(name IN ITEMS FOUND VERSION SHARED minor location trouble library
                      is_built include_dirs definitions type header)
  set(Librocksdb_${name} "")
endforeach()

macro(librocksdb_find_target)
  foreach(target IN ITEMS RocksDB::rocksdb-shared RocksDB::rocksdb
                          rocksdb rocksdb-shared)
    if(TARGET ${target} AND NOT Librocksdb_library)
      set(Librocksdb_library ${target})
      get_target_property(Librocksdb_type ${target} TYPE)
      get_target_property(Librocksdb_include_dirs ${target}
                          INTERFACE_INCLUDE_DIRECTORIES)
      set(Librocksdb_location ${RocksDB_DIR})
      get_target_property(Librocksdb_is_imported ${target} IMPORTED)
      if(Librocksdb_is_imported AND NOT Librocksdb_location)
        get_target_property(Librocksdb_location ${target} IMPORTED_LOCATION)
      elseif(NOT Librocksdb_is_imported)
        set(Librocksdb_is_built TRUE)
        get_target_property(Librocksdb_location ${target} SOURCE_DIR)
      endif()
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
    # CMake keeps what it found before, wherever it is to look now.
    string(MD5 Librocksdb_where "${CMAKE_PREFIX_PATH};$ENV{PKG_CONFIG_PATH}")
    set(Librocksdb_pc Librocksdb_${Librocksdb_where})
    pkg_check_modules(${Librocksdb_pc} QUIET rocksdb)
  endif()
  if(PkgConfig_FOUND AND ${Librocksdb_pc}_FOUND)
    # The Makefile's flags choose a language standard and a CPU, which are ours
    # to choose; its definitions are part of the headers.
    set(Librocksdb_definitions ${${Librocksdb_pc}_CFLAGS_OTHER})
    list(FILTER Librocksdb_definitions INCLUDE REGEX "^-D")
    set(Librocksdb_include_dirs ${${Librocksdb_pc}_INCLUDE_DIRS})
    set(Librocksdb_library ${${Librocksdb_pc}_LINK_LIBRARIES})
    list(GET Librocksdb_library 0 Librocksdb_location)
    set(Librocksdb_type SHARED_LIBRARY)
    if(Librocksdb_location MATCHES "\\.a$")
      set(Librocksdb_type STATIC_LIBRARY)
      list(APPEND Librocksdb_library ${${Librocksdb_pc}_STATIC_LDFLAGS})
    endif()
  endif()
endif()
if(NOT Librocksdb_library)
  find_package(RocksDB CONFIG QUIET)
  librocksdb_find_target()
endif()

if(Librocksdb_library)
  # The release of the headers that will be compiled, not of others that CMake
  # would find first.
  string(REGEX REPLACE "\\$<BUILD_INTERFACE:([^>]*)>" "\\1"
         Librocksdb_searched "${Librocksdb_include_dirs}")
  string(GENEX_STRIP "${Librocksdb_searched}" Librocksdb_searched)
  foreach(dir IN LISTS Librocksdb_searched)
    if(EXISTS ${dir}/rocksdb/version.h AND NOT Librocksdb_header)
      set(Librocksdb_header ${dir}/rocksdb/version.h)
    endif()
  endforeach()
  if(NOT Librocksdb_include_dirs) # A system directory, which is not named.
    find_file(Librocksdb_system_header rocksdb/version.h)
    mark_as_advanced(Librocksdb_system_header)
    if(Librocksdb_system_header)
      set(Librocksdb_header ${Librocksdb_system_header})
    endif()
  endif()
  if(Librocksdb_header)
    file(STRINGS ${Librocksdb_header} Librocksdb_VERSION
         REGEX "#define ROCKSDB_(MAJOR|MINOR|PATCH) [0-9]+")
    string(REGEX REPLACE "[^0-9;]" "" Librocksdb_VERSION
           "${Librocksdb_VERSION}")
    list(JOIN Librocksdb_VERSION . Librocksdb_VERSION)
  else()
    set(Librocksdb_VERSION ${RocksDB_VERSION})
  endif()
  string(REGEX REPLACE "\\.[0-9]+$" "" Librocksdb_minor
         "${Librocksdb_VERSION}")
  if(Librocksdb_VERSION)
    set(Librocksdb_FOUND TRUE)
  endif()
  if(Librocksdb_type STREQUAL "SHARED_LIBRARY")
    set(Librocksdb_SHARED TRUE)
  endif()
endif()

if(Librocksdb_FOUND AND NOT TARGET librocksdb::librocksdb)
  add_library(librocksdb::librocksdb INTERFACE IMPORTED)
  target_link_libraries(librocksdb::librocksdb INTERFACE ${Librocksdb_library})
  if(Librocksdb_include_dirs) # A target has them itself; twice does no harm.
    target_include_directories(librocksdb::librocksdb INTERFACE
                               ${Librocksdb_include_dirs})
  endif()
  target_compile_options(librocksdb::librocksdb INTERFACE
                         ${Librocksdb_definitions})
  if(Librocksdb_VERSION VERSION_GREATER_EQUAL 10.1)
    # RocksDB's headers need it, and its own package does not say so.
    target_compile_features(librocksdb::librocksdb INTERFACE cxx_std_20)
  endif()
endif()

# A program that is compiled with the headers and linked to the library compares
# their releases with the one that was read, where programs run.
if(Librocksdb_FOUND AND NOT Librocksdb_is_built AND NOT CMAKE_CROSSCOMPILING)
  set(Librocksdb_program ${CMAKE_BINARY_DIR}/CMakeFiles/librocksdb_release.cc)
  file(WRITE ${Librocksdb_program} [[
#include <iostream>
#include <string>

#include "rocksdb/version.h"

int main() {
  const std::string headers = std::to_string(ROCKSDB_MAJOR) + "." +
                              std::to_string(ROCKSDB_MINOR);
  const std::string library =
      ROCKSDB_NAMESPACE::GetRocksVersionAsString(/*with_patch=*/false);
  std::cout << "headers of RocksDB " << headers << " and a library of "
            << library;
  return headers == EXPECTED && library == EXPECTED ? 0 : 1;
}
]])
  # CMake keeps the result of each pair.
  string(MD5 Librocksdb_ran
         "${Librocksdb_library};${Librocksdb_header};${Librocksdb_minor}")
  set(Librocksdb_ran Librocksdb_ran_${Librocksdb_ran})
  try_run(${Librocksdb_ran} ${Librocksdb_ran}_compiled
          ${CMAKE_BINARY_DIR}/CMakeFiles/librocksdb ${Librocksdb_program}
          COMPILE_DEFINITIONS -DEXPECTED="${Librocksdb_minor}"
          LINK_LIBRARIES librocksdb::librocksdb ${CMAKE_DL_LIBS}
          RUN_OUTPUT_VARIABLE Librocksdb_trouble)
  if("${${Librocksdb_ran}}" STREQUAL "1")
    string(PREPEND Librocksdb_trouble "a program gets ")
    string(APPEND Librocksdb_trouble "; ${Librocksdb_header} is of "
           "${Librocksdb_VERSION}, and the library is ${Librocksdb_location}")
    unset(${Librocksdb_ran} CACHE)
  else()
    set(Librocksdb_trouble "")
  endif()
endif()
