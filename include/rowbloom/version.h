// SPDX-License-Identifier: Apache-2.0
//
// Versions of the library and, apart from it, of the bytes it writes.
//
//   static_assert(ROWBLOOM_VERSION_MAJOR == 0);
//   puts(ROWBLOOM_VERSION_STRING);  // The compiled headers' version.
//   puts(rowbloom::Version());      // The linked library's version.

#ifndef ROWBLOOM_VERSION_H_
#define ROWBLOOM_VERSION_H_

#include <cstdint>

#include "rowbloom/export.h"

// CMakeLists.txt and the packages take the version from here.
#define ROWBLOOM_VERSION_MAJOR 0
#define ROWBLOOM_VERSION_MINOR 1
#define ROWBLOOM_VERSION_PATCH 0
#define ROWBLOOM_VERSION_STRING "0.1.0"

namespace ROWBLOOM_EXPORT rowbloom {

// The version of the library that the program runs with, as in
// ROWBLOOM_VERSION_STRING. With a shared library it may be newer than the
// headers.
const char* Version();

// Writers use these by default; readers read every version up to them.
inline constexpr uint8_t kFilterBlockFormatVersion = 1;
inline constexpr uint8_t kFilterBlobFormatVersion = 1;
inline constexpr uint8_t kMemFilterFormatVersion = 1;

}  // namespace rowbloom

#endif  // ROWBLOOM_VERSION_H_
