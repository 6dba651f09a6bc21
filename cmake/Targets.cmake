# SPDX-License-Identifier: Apache-2.0
# The flags of every target of ours. Consumers get none of it.

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_CXX_STANDARD)
  set(CMAKE_CXX_STANDARD 17)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
endif()

add_library(rowbloom_build_flags INTERFACE)
# MSVC is cl.exe or clang-cl, which keep exceptions and type information.
if(MSVC)
  target_compile_options(rowbloom_build_flags INTERFACE /W3)
else()
  target_compile_options(rowbloom_build_flags INTERFACE -Wall -Wextra -Wshadow)
  set(ROWBLOOM_EXCEPTIONS -fexceptions)
  set(ROWBLOOM_NO_EXCEPTIONS -fno-exceptions)
  set(ROWBLOOM_NO_RTTI -fno-rtti)
  if(ROWBLOOM_DEVELOPER)
    target_compile_options(rowbloom_build_flags INTERFACE -Werror)
  endif()
endif()
if(ROWBLOOM_SANITIZE)
  # vptr needs RTTI, which the adapters of engines are built without.
  target_compile_options(
    rowbloom_build_flags INTERFACE -fsanitize=${ROWBLOOM_SANITIZE}
                                   -fno-sanitize=vptr
                                   -fno-sanitize-recover=all
                                   -fno-omit-frame-pointer)
  target_link_options(rowbloom_build_flags INTERFACE
                      -fsanitize=${ROWBLOOM_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Under sanitizers g++ says it of the standard library's own <regex>.
    target_compile_options(rowbloom_build_flags
                           INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(ROWBLOOM_BUILD_FUZZERS)
  # Coverage of the whole core guides the fuzzers.
  target_compile_options(rowbloom_build_flags INTERFACE
                         -fsanitize=fuzzer-no-link)
  target_link_options(rowbloom_build_flags INTERFACE
                      -fsanitize=fuzzer-no-link)
endif()

# For a build whose objects outside of the libraries a compiler cache has from
# another, which has the same build type without these options.
set(ROWBLOOM_OPTIMIZE "" CACHE STRING
    "Compile options of the libraries, behind those of the build type")
mark_as_advanced(ROWBLOOM_OPTIMIZE)

# rowbloom_target(NAME): the flags above, privately.
function(rowbloom_target name)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:rowbloom_build_flags>)
  target_compile_options(${name} PRIVATE ${ROWBLOOM_OPTIMIZE})
endfunction()

# rowbloom_headers(NAME DIRECTORY FILE...): the library's public headers below
# the directory, which are installed.
function(rowbloom_headers name directory)
  if(CMAKE_VERSION VERSION_LESS 3.23) # Nothing is installed then.
    target_include_directories(${name} PUBLIC ${directory})
    return()
  endif()
  list(TRANSFORM ARGN PREPEND ${directory}/)
  target_sources(${name} PUBLIC
    FILE_SET HEADERS BASE_DIRS ${directory} FILES ${ARGN})
endfunction()

# rowbloom_library(NAME [MAP]): the library exports only the symbols that its
# headers declare (include/rowbloom/export.h), of those in MAP, a file of this
# directory.
function(rowbloom_library name)
  set(map ${ARGN} exports.map)
  list(GET map 0 map)
  set(soversion ${PROJECT_VERSION_MAJOR})
  if(soversion EQUAL 0) # Before 1.0 a minor version may break the ABI.
    string(APPEND soversion .${PROJECT_VERSION_MINOR})
  endif()
  set_target_properties(${name} PROPERTIES
    VERIFY_INTERFACE_HEADER_SETS ON
    VERSION ${PROJECT_VERSION}
    SOVERSION ${soversion}
    DEFINE_SYMBOL "")
  rowbloom_hidden(${name})
  rowbloom_beside(${name})
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    target_compile_definitions(${name} PUBLIC ROWBLOOM_STATIC_DEFINE)
  endif()
  if(NOT APPLE AND NOT WIN32)
    set(script ${PROJECT_SOURCE_DIR}/cmake/${map})
    target_link_options(${name} PRIVATE LINKER:--version-script=${script})
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${script})
  endif()
endfunction()

# Where an installed program or library is, to the dynamic linker.
set(ROWBLOOM_ORIGIN "$ORIGIN")
if(APPLE)
  set(ROWBLOOM_ORIGIN "@loader_path")
endif()

# rowbloom_beside(NAME): the installed library finds our shared ones beside it.
# The RUNPATH of a program does not hold for the libraries that these need.
function(rowbloom_beside name)
  if(BUILD_SHARED_LIBS AND NOT DEFINED CMAKE_INSTALL_RPATH)
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "${ROWBLOOM_ORIGIN}")
  endif()
endfunction()

# rowbloom_hidden(NAME): only what is marked is visible outside the library.
function(rowbloom_hidden name)
  set_target_properties(${name} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# rowbloom_quick(NAME): sanitizer builds compile it quickly rather than to run
# quickly; the optimiser takes longer there than all else. For code around the
# library that does little of its own.
function(rowbloom_quick name)
  if(ROWBLOOM_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
  endif()
endfunction()
