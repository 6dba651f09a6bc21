# SPDX-License-Identifier: Apache-2.0
# Runs a port without vcpkg: its functions as far as the port needs them, for
# one release build. Run by `cmake -P` with CURRENT_PORT_DIR,
# CURRENT_BUILDTREES_DIR and CURRENT_PACKAGES_DIR set; CMake gets CMAKE_OPTIONS
# beside the port's own.
cmake_minimum_required(VERSION 3.24)
set(PORT rowbloom)
set(build_dir ${CURRENT_BUILDTREES_DIR}/Release)

macro(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endmacro()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" SOURCE_PATH OPTIONS)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "not stood in for: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${build_dir} -G Ninja
      -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF
      -DCMAKE_INSTALL_LIBDIR=lib
      -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}
      ${CMAKE_OPTIONS} ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build ${build_dir} --target install)
endfunction()

# Moves the CMake package to share/, one directory up.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" CONFIG_PATH "")
  set(from ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH})
  set(to ${CURRENT_PACKAGES_DIR}/share/${PORT})
  file(GLOB files RELATIVE ${from} ${from}/*.cmake)
  if(NOT files)
    message(FATAL_ERROR "${from} has no CMake package")
  endif()
  foreach(file IN LISTS files)
    file(READ ${from}/${file} text)
    string(REPLACE "/../../../" "/../../" text "${text}")
    string(REGEX REPLACE
           "get_filename_component\\(_IMPORT_PREFIX \"[^\n]*_LIST_FILE[^\n]*\n"
           "set(_IMPORT_PREFIX \${CMAKE_CURRENT_LIST_DIR}/../..)\n"
           text "${text}")
    string(REGEX REPLACE
           "get_filename_component\\(_IMPORT_PREFIX \"\\\${_IMP[^\n]*\n"
           "" text "${text}")
    file(WRITE ${to}/${file} "${text}")
  endforeach()
  file(REMOVE_RECURSE ${from})
endfunction()

function(vcpkg_fixup_pkgconfig)
  if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/lib/pkgconfig/${PORT}.pc)
    message(FATAL_ERROR "lib/pkgconfig/${PORT}.pc was not installed")
  endif()
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" FILE_LIST)
  file(COPY_FILE ${arg_FILE_LIST}
       ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright)
endfunction()

include(${CURRENT_PORT_DIR}/portfile.cmake)
