# SPDX-License-Identifier: Apache-2.0
# What every target of ours is compiled with. Consumers get none of it.

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_CXX_STANDARD)
  set(CMAKE_CXX_STANDARD 17)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
endif()

if(BUILD_SHARED_LIBS) # Installed programs find it beside them.
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()

add_library(rowbloom_build_flags INTERFACE)
target_compile_options(rowbloom_build_flags INTERFACE -Wall -Wextra -Wshadow)
if(ROWBLOOM_DEVELOPER)
  target_compile_options(rowbloom_build_flags INTERFACE -Werror)
endif()
if(ROWBLOOM_SANITIZE)
  # vptr needs RTTI, which the core is built without.
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

# rowbloom_target(NAME): the flags above, privately.
function(rowbloom_target name)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:rowbloom_build_flags>)
endfunction()

# rowbloom_quick(NAME): sanitizer builds compile it quickly rather than to run
# quickly; the optimiser takes longer there than all else. For code around the
# library that does little of its own.
function(rowbloom_quick name)
  if(ROWBLOOM_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
  endif()
endfunction()
