# SPDX-License-Identifier: Apache-2.0
# All of these are Debian packages, which scripts/packages/ lists. A parent
# project that has built one itself has the targets, and a package beside them
# would clash.

# find_unless(TARGET PACKAGE): finds the package, unless the target exists.
macro(find_unless target package)
  if(NOT TARGET ${target})
    find_package(${package} REQUIRED CONFIG)
  endif()
endmacro()

find_package(Threads REQUIRED)
find_unless(absl::status absl)
# Not by find_package(), which would take another project's module.
include(${CMAKE_CURRENT_LIST_DIR}/FindxxHash.cmake)
if(NOT xxHash_FOUND)
  message(FATAL_ERROR "xxHash was not found: no CMake package, no "
                      "libxxhash.pc, no xxhash.h with its library. Debian has "
                      "it as libxxhash-dev.")
endif()

if(ROWBLOOM_WITH_ROCKSDB)
  include(${CMAKE_CURRENT_LIST_DIR}/FindLibrocksdb.cmake)
  if(NOT Librocksdb_FOUND)
    message(FATAL_ERROR
      "RocksDB was not found: neither its CMake package nor rocksdb.pc with "
      "its headers. Debian has it as librocksdb-dev; for one of your own set "
      "CMAKE_PREFIX_PATH to where it is installed, or set "
      "ROWBLOOM_WITH_ROCKSDB to OFF.")
  endif()
  if(Librocksdb_trouble)
    message(FATAL_ERROR
      "Two releases of RocksDB are mixed: ${Librocksdb_trouble}. Set "
      "CMAKE_PREFIX_PATH to where one release has both.")
  endif()
  message(STATUS "RocksDB ${Librocksdb_VERSION}: ${Librocksdb_location}")
  set(ROWBLOOM_ROCKSDB_RELEASE ${Librocksdb_VERSION} CACHE INTERNAL
      "The release of RocksDB that was found")

  # A parent project may add its RocksDB after rowbloom, which took another one.
  function(rowbloom_refuse_second_rocksdb version location)
    foreach(target IN ITEMS rocksdb rocksdb-shared)
      if(TARGET ${target})
        get_target_property(source ${target} SOURCE_DIR)
        message(FATAL_ERROR
          "rowbloom was configured for RocksDB ${version}, ${location}, and "
          "this build has a target ${target} in ${source}. Add that directory "
          "before rowbloom.")
      endif()
    endforeach()
  endfunction()
  if(NOT is_top_level AND NOT Librocksdb_library MATCHES "^rocksdb(-shared)?$"
     AND NOT CMAKE_VERSION VERSION_LESS 3.19)
    cmake_language(EVAL CODE
      "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]]
                      CALL rowbloom_refuse_second_rocksdb
                      [[${Librocksdb_VERSION}]] [[${Librocksdb_location}]])")
  endif()

  # find_rocksdb_tool(VARIABLE NAME): the program of the same release, or "".
  function(find_rocksdb_tool variable name)
    find_program(${variable} ${name})
    set(tool_version "")
    if(${variable})
      execute_process(COMMAND ${${variable}} --version
                      OUTPUT_VARIABLE tool_version ERROR_QUIET)
    endif()
    string(FIND "${tool_version}" "${Librocksdb_VERSION}" position)
    if(position EQUAL -1)
      message(STATUS "${name} of RocksDB ${Librocksdb_VERSION}: not found; its "
                     "tests are skipped")
      set(${variable} "" PARENT_SCOPE)
    else()
      set(${variable} ${${variable}} PARENT_SCOPE)
    endif()
  endfunction()
endif()
if(ROWBLOOM_WITH_LEVELDB)
  if(TARGET leveldb AND NOT TARGET leveldb::leveldb) # LevelDB's own tree.
    add_library(leveldb::leveldb INTERFACE IMPORTED)
    target_link_libraries(leveldb::leveldb INTERFACE leveldb)
  endif()
  find_unless(leveldb::leveldb leveldb)
endif()
if(ROWBLOOM_WITH_HFILE)
  if(NOT TARGET PkgConfig::hfile_codecs)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(hfile_codecs REQUIRED IMPORTED_TARGET
                      zlib snappy liblz4 libzstd libisal)
  endif()
  find_path(protozero_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)
endif()
if(ROWBLOOM_WITH_REDIS)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)
  # HighwayHash has neither a CMake package nor a pkg-config file.
  find_path(highwayhash_INCLUDE_DIR highwayhash/highwayhash.h REQUIRED)
  find_library(highwayhash_LIBRARY highwayhash REQUIRED)
endif()
if(ROWBLOOM_BUILD_TESTS)
  find_unless(GTest::gmock GTest)
endif()
if(ROWBLOOM_BUILD_TOOLS OR ROWBLOOM_BUILD_BENCHMARKS)
  find_unless(CLI11::CLI11 CLI11)
  find_unless(nlohmann_json::nlohmann_json nlohmann_json)
endif()
