// SPDX-License-Identifier: Apache-2.0
//
// Encodes integers, little-endian on every machine, strings, with their size
// (4) before them, and the checksums of the files. Take...() reads from the
// front of *in and advances it; it returns false if *in is too short.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_CODING_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_CODING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "xxhash.h"

namespace mini_kv {

template <typename Integer>
void AppendFixed(Integer value, std::string* out) {
  for (size_t i = 0; i < sizeof(value); ++i) {
    out->push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  }
}

inline void AppendString(std::string_view bytes, std::string* out) {
  AppendFixed(static_cast<uint32_t>(bytes.size()), out);
  out->append(bytes);
}

inline bool TakeBytes(std::string_view* in, size_t size,
                      std::string_view* bytes) {
  if (in->size() < size) return false;
  *bytes = in->substr(0, size);
  in->remove_prefix(size);
  return true;
}

template <typename Integer>
bool TakeFixed(std::string_view* in, Integer* value) {
  std::string_view bytes;
  if (!TakeBytes(in, sizeof(*value), &bytes)) return false;
  *value = 0;
  for (size_t i = 0; i < sizeof(*value); ++i) {
    *value |= static_cast<Integer>(static_cast<unsigned char>(bytes[i]))
              << (8 * i);
  }
  return true;
}

inline bool TakeString(std::string_view* in, std::string_view* bytes) {
  uint32_t size = 0;
  return TakeFixed(in, &size) && TakeBytes(in, size, bytes);
}

inline constexpr size_t kChecksumSize = 8;

// The seed is the offset of the bytes, so that bytes in the wrong place are
// detected too.
inline uint64_t Checksum(std::string_view bytes, uint64_t offset) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), offset);
}

// Appends the checksum of all bytes in *bytes, which lie at `offset`.
inline void AppendChecksum(uint64_t offset, std::string* bytes) {
  AppendFixed(Checksum(*bytes, offset), bytes);
}

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_CODING_H_
