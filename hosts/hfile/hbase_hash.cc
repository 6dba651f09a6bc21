// SPDX-License-Identifier: Apache-2.0

#include "hfile/hbase_hash.h"

#include <cstddef>

#include "util/coding.h"

namespace rowbloom::hfile {

namespace {

uint32_t Rotate(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

// The first four bytes, or all if there are fewer, as a little-endian word.
uint32_t PartialWord(std::string_view bytes) {
  uint32_t word = 0;
  for (size_t i = 0; i < bytes.size() && i < 4; ++i) {
    word |= uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return word;
}

// Bob Jenkins, lookup3.c: hashlittle(). The initial value is added to the
// length; an empty key returns it unmixed.
int32_t JenkinsHash(std::string_view key, int32_t seed) {
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(key.size()) +
               static_cast<uint32_t>(seed);
  uint32_t b = a;
  uint32_t c = a;
  while (key.size() > 12) {
    a += util::LoadFixed<uint32_t>(key.data());
    b += util::LoadFixed<uint32_t>(key.data() + 4);
    c += util::LoadFixed<uint32_t>(key.data() + 8);
    a = (a - c) ^ Rotate(c, 4), c += b;
    b = (b - a) ^ Rotate(a, 6), a += c;
    c = (c - b) ^ Rotate(b, 8), b += a;
    a = (a - c) ^ Rotate(c, 16), c += b;
    b = (b - a) ^ Rotate(a, 19), a += c;
    c = (c - b) ^ Rotate(b, 4), b += a;
    key.remove_prefix(12);
  }
  if (key.empty()) return static_cast<int32_t>(c);
  a += PartialWord(key);
  if (key.size() > 4) b += PartialWord(key.substr(4));
  if (key.size() > 8) c += PartialWord(key.substr(8));
  c = (c ^ b) - Rotate(b, 14);
  a = (a ^ c) - Rotate(c, 11);
  b = (b ^ a) - Rotate(a, 25);
  c = (c ^ b) - Rotate(b, 16);
  a = (a ^ c) - Rotate(c, 4);
  b = (b ^ a) - Rotate(a, 14);
  c = (c ^ b) - Rotate(b, 24);
  return static_cast<int32_t>(c);
}

// Austin Appleby, MurmurHash2, with one difference: HBase extends the sign of
// each of the last 1 to 3 bytes. If these are below 0x80, it is MurmurHash2.
int32_t MurmurHash(std::string_view key, int32_t seed) {
  constexpr uint32_t kMultiplier = 0x5bd1e995;
  uint32_t h = static_cast<uint32_t>(seed) ^ static_cast<uint32_t>(key.size());
  for (; key.size() >= 4; key.remove_prefix(4)) {
    uint32_t k = util::LoadFixed<uint32_t>(key.data()) * kMultiplier;
    k = (k ^ k >> 24) * kMultiplier;
    h = h * kMultiplier ^ k;
  }
  if (!key.empty()) {
    for (size_t i = 0; i < key.size(); ++i) {
      const uint32_t byte = static_cast<unsigned char>(key[i]);
      const uint32_t extended = byte < 0x80 ? byte : byte | 0xffffff00;
      h ^= extended << (8 * i);
    }
    h *= kMultiplier;
  }
  h = (h ^ h >> 13) * kMultiplier;
  return static_cast<int32_t>(h ^ h >> 15);
}

// Austin Appleby, MurmurHash3_x86_32.
int32_t Murmur3Hash(std::string_view key, int32_t seed) {
  constexpr uint32_t kC1 = 0xcc9e2d51;
  constexpr uint32_t kC2 = 0x1b873593;
  const auto size = static_cast<uint32_t>(key.size());
  auto h = static_cast<uint32_t>(seed);
  for (; key.size() >= 4; key.remove_prefix(4)) {
    h ^= Rotate(util::LoadFixed<uint32_t>(key.data()) * kC1, 15) * kC2;
    h = Rotate(h, 13) * 5 + 0xe6546b64;
  }
  h ^= Rotate(PartialWord(key) * kC1, 15) * kC2;
  h ^= size;
  h = (h ^ h >> 16) * 0x85ebca6b;
  h = (h ^ h >> 13) * 0xc2b2ae35;
  return static_cast<int32_t>(h ^ h >> 16);
}

}  // namespace

int32_t HBaseHash(HFileHash type, std::string_view key, int32_t seed) {
  switch (type) {
    case HFileHash::kJenkins:
      return JenkinsHash(key, seed);
    case HFileHash::kMurmur:
      return MurmurHash(key, seed);
    case HFileHash::kMurmur3:
      return Murmur3Hash(key, seed);
  }
  return 0;
}

}  // namespace rowbloom::hfile
