// SPDX-License-Identifier: Apache-2.0

#include "memfilter/murmur3.h"

#include <cstddef>

#include "util/coding.h"

namespace rowbloom::internal::memfilter {

namespace {

constexpr uint64_t kMultiplier1 = 0x87c37b91114253d5u;
constexpr uint64_t kMultiplier2 = 0x4cf5ad432745937fu;
constexpr size_t kBlockSize = 16;

uint64_t RotateLeft(uint64_t x, int bits) {
  return x << bits | x >> (64 - bits);
}

uint64_t MixLow(uint64_t k) {
  return RotateLeft(k * kMultiplier1, 31) * kMultiplier2;
}

uint64_t MixHigh(uint64_t k) {
  return RotateLeft(k * kMultiplier2, 33) * kMultiplier1;
}

uint64_t Finish(uint64_t k) {
  k = (k ^ k >> 33) * 0xff51afd7ed558ccdu;
  k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53u;
  return k ^ k >> 33;
}

// Up to eight bytes, little-endian.
uint64_t LoadSome(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size() && i < 8; ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i]))
             << (8 * i);
  }
  return value;
}

}  // namespace

Hash128 Murmur3X64_128(std::string_view bytes) {
  const uint64_t size = bytes.size();
  uint64_t low = 0;
  uint64_t high = 0;
  for (; bytes.size() >= kBlockSize; bytes.remove_prefix(kBlockSize)) {
    low ^= MixLow(util::LoadFixed<uint64_t>(bytes.data()));
    low = (RotateLeft(low, 27) + high) * 5 + 0x52dce729;
    high ^= MixHigh(util::LoadFixed<uint64_t>(bytes.data() + 8));
    high = (RotateLeft(high, 31) + low) * 5 + 0x38495ab5;
  }
  if (bytes.size() > 8) high ^= MixHigh(LoadSome(bytes.substr(8)));
  low ^= MixLow(LoadSome(bytes));  // No-op if no bytes are left.
  low ^= size;
  high ^= size;
  low += high;
  high += low;
  low = Finish(low);
  high = Finish(high);
  low += high;
  high += low;
  return {low, high};
}

}  // namespace rowbloom::internal::memfilter
