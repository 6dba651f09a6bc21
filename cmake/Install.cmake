# SPDX-License-Identifier: Apache-2.0
# Installs headers, libraries, the CMake package and pkg-config files. The
# package always has rowbloom::rowbloom, rowbloom::planning, rowbloom::memfilter
# and rowbloom::c; rowbloom::rocksdb, rowbloom::leveldb, rowbloom::hfile and
# rowbloom::redis are its components.
# The rules for the tool are in tools/CMakeLists.txt.

include(CMakePackageConfigHelpers)

# Packagers may give absolute directories. CMake and pkg-config's files append
# that of the headers to the prefix.
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_INCLUDEDIR
             BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rowbloom)
set(package_files
    ${CMAKE_CURRENT_BINARY_DIR}/rowbloom-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/rowbloom-config-version.cmake
    ${CMAKE_CURRENT_SOURCE_DIR}/cmake/FindxxHash.cmake)
if(TARGET rowbloom_rocksdb)
  list(APPEND package_files
       ${CMAKE_CURRENT_SOURCE_DIR}/cmake/FindLibrocksdb.cmake)
endif()
set(pc_names rowbloom rowbloom-planning rowbloom-memfilter rowbloom-c
             rowbloom-cxx)

# install_libraries(EXPORT TARGET...): their headers and exported targets, too.
function(install_libraries export)
  install(TARGETS ${ARGN} EXPORT ${export} FILE_SET HEADERS)
  install(EXPORT ${export} NAMESPACE rowbloom:: DESTINATION ${package_dir})
endfunction()

install_libraries(rowbloom-targets
  rowbloom rowbloom_planning rowbloom_memfilter rowbloom_c)
foreach(engine IN ITEMS rocksdb leveldb hfile redis)
  if(TARGET rowbloom_${engine})
    install_libraries(rowbloom-${engine}-targets rowbloom_${engine})
    list(APPEND pc_names rowbloom-${engine})
  endif()
endforeach()

if(TARGET rowbloom_rocksdb_preload)
  install(TARGETS rowbloom_rocksdb_preload
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

get_target_property(rowbloom_type rowbloom TYPE)
configure_package_config_file(
  cmake/rowbloom-config.cmake.in rowbloom-config.cmake
  INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break the API.
write_basic_package_version_file(
  rowbloom-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${package_files} DESTINATION ${package_dir})

# A static library passes its private dependencies on, so that
# `pkg-config --libs` without --static links too.
set(pc_public "absl_status absl_statusor absl_span")
set(pc_private "absl_flat_hash_map absl_flat_hash_set absl_strings")
string(APPEND pc_private " libxxhash")
set(pc_c_public "")
# A C compiler does not link C++'s library by itself. It comes behind Abseil's
# libraries, as archives need it.
string(CONCAT pc_c_private "rowbloom-memfilter = ${PROJECT_VERSION}, "
                           "rowbloom-cxx = ${PROJECT_VERSION}")
set(pc_cxx_libs "-lm")
foreach(runtime stdc++ c++)
  if(runtime IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    string(PREPEND pc_cxx_libs "-l${runtime} ")
  endif()
endforeach()
set(pc_hfile_public "rowbloom = ${PROJECT_VERSION}")
set(pc_hfile_private "zlib snappy liblz4 libzstd libisal")
set(pc_redis_public "rowbloom-memfilter = ${PROJECT_VERSION}")
set(pc_redis_private hiredis)
set(pc_redis_libs "-lrowbloom_redis")
set(pc_cflags "")
if(rowbloom_type STREQUAL "STATIC_LIBRARY")
  string(APPEND pc_public " ${pc_private}")
  set(pc_private "")
  set(pc_c_public "${pc_c_private}")
  set(pc_c_private "")
  string(APPEND pc_hfile_public " ${pc_hfile_private}")
  set(pc_hfile_private "")
  string(APPEND pc_redis_public " ${pc_redis_private}")
  set(pc_redis_private "")
  set(pc_cflags " -DROWBLOOM_STATIC_DEFINE")
  string(APPEND pc_redis_libs " -lhighwayhash") # It has no pkg-config file.
endif()
# Relative to the file, so that an installed tree can be moved.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR
           BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
           BASE_DIRECTORY ${libdir}/pkgconfig OUTPUT_VARIABLE pc_prefix)
foreach(name IN LISTS pc_names)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
