// SPDX-License-Identifier: Apache-2.0
//
// Versions of the library and, apart from it, of the bytes it writes.
//
//   static_assert(ROWBLOOM_VERSION_MAJOR == 0);
//   puts(ROWBLOOM_VERSION_STRING);

#ifndef ROWBLOOM_VERSION_H_
#define ROWBLOOM_VERSION_H_

#include <cstdint>

#define ROWBLOOM_VERSION_MAJOR 0
#define ROWBLOOM_VERSION_MINOR 1
#define ROWBLOOM_VERSION_PATCH 0
#define ROWBLOOM_VERSION_STRING "0.1.0"

namespace rowbloom {

// Written by default; readers read every version up to it.
inline constexpr uint8_t kFilterBlockFormatVersion = 1;
inline constexpr uint8_t kFilterBlobFormatVersion = 1;
inline constexpr uint8_t kMemFilterFormatVersion = 1;

}  // namespace rowbloom

#endif  // ROWBLOOM_VERSION_H_
