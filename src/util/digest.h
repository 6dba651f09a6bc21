// SPDX-License-Identifier: Apache-2.0
//
// The hashes that are persisted: of stored bytes, and in filter_key.cc of keys.
// XXH3-64, whose output is fixed since xxHash 0.8.0. Never change them; add
// others.

#ifndef ROWBLOOM_UTIL_DIGEST_H_
#define ROWBLOOM_UTIL_DIGEST_H_

#include <cstdint>
#include <string_view>

namespace rowbloom::util {

// Uses seed 0, which XXH3 computes by a shorter path.
uint64_t Hash64(std::string_view bytes);
uint64_t Hash64(std::string_view bytes, uint64_t seed);

// The low 32 bits of Hash64: detects damage, not malice.
uint32_t Checksum32(std::string_view bytes);

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_DIGEST_H_
