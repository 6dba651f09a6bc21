# SPDX-License-Identifier: Apache-2.0
# An overlay port, built from the source tree that this file is in.
cmake_path(ABSOLUTE_PATH CURRENT_PORT_DIR NORMALIZE OUTPUT_VARIABLE port_dir)
cmake_path(APPEND port_dir .. .. OUTPUT_VARIABLE SOURCE_PATH)
cmake_path(NORMAL_PATH SOURCE_PATH)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DROWBLOOM_BUILD_BENCHMARKS=OFF
    -DROWBLOOM_BUILD_EXAMPLES=OFF
    -DROWBLOOM_BUILD_TESTS=OFF
    -DROWBLOOM_BUILD_TOOLS=OFF
    -DROWBLOOM_INSTALL=ON
    -DROWBLOOM_WITH_HFILE=OFF
    -DROWBLOOM_WITH_LEVELDB=OFF
    -DROWBLOOM_WITH_REDIS=OFF
    -DROWBLOOM_WITH_ROCKSDB=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/rowbloom)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${port_dir}/usage"
     DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
