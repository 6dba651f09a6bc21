// SPDX-License-Identifier: Apache-2.0

#include "util/digest.h"

#define XXH_INLINE_ALL  // Keys are short: a call would cost as much again.
#include <xxhash.h>

namespace rowbloom::util {

uint64_t Hash64(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

uint64_t Hash64(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint32_t Checksum32(std::string_view bytes) {
  return static_cast<uint32_t>(Hash64(bytes));
}

}  // namespace rowbloom::util
