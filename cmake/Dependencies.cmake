# SPDX-License-Identifier: Apache-2.0
# All of these are Debian packages; README.md lists them.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(absl REQUIRED CONFIG)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

if(ROWBLOOM_WITH_ROCKSDB)
  find_package(RocksDB REQUIRED CONFIG)
endif()
if(ROWBLOOM_WITH_LEVELDB)
  find_package(leveldb REQUIRED CONFIG)
endif()
if(ROWBLOOM_WITH_HFILE)
  pkg_check_modules(hfile_codecs REQUIRED IMPORTED_TARGET
                    zlib snappy liblz4 libzstd libisal)
  find_path(protozero_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)
endif()
if(ROWBLOOM_BUILD_TESTS)
  find_package(GTest REQUIRED CONFIG)
endif()
if(ROWBLOOM_BUILD_TOOLS OR ROWBLOOM_BUILD_BENCHMARKS)
  find_package(CLI11 REQUIRED CONFIG)
  find_package(nlohmann_json REQUIRED CONFIG)
endif()
