// SPDX-License-Identifier: Apache-2.0
//
// RB_CHECK detects a caller's mistake and is always on. Its message is read by
// someone without our sources: name the call that is wrong as the caller wrote
// it, and the remedy. RB_DCHECK detects our own mistake and is on if NDEBUG is
// not defined. Neither ever checks bytes from outside.

#ifndef ROWBLOOM_UTIL_CHECK_H_
#define ROWBLOOM_UTIL_CHECK_H_

#include <cstdio>
#include <cstdlib>

#include "rowbloom/compiler.h"

namespace rowbloom::util {

[[noreturn]] inline void CheckFailed(const char* file, int line,
                                     const char* message) {
  std::fprintf(stderr, "%s:%d: rowbloom check failed: %s\n", file, line,
               message);
  std::abort();
}

}  // namespace rowbloom::util

#define RB_CHECK(condition, message)                                \
  (ROWBLOOM_UNLIKELY(!(condition))                                  \
       ? ::rowbloom::util::CheckFailed(__FILE__, __LINE__, message) \
       : static_cast<void>(0))

#ifdef NDEBUG
#define RB_DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#else
#define RB_DCHECK(condition) RB_CHECK(condition, #condition)
#endif

#endif  // ROWBLOOM_UTIL_CHECK_H_
