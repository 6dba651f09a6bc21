// SPDX-License-Identifier: Apache-2.0

#include "workload.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "xxhash.h"

namespace rowbloom::reads {
namespace {

constexpr double kZipfExponent = 0.99;  // As in YCSB.
constexpr uint64_t kValueSeed = 100;

}  // namespace

uint64_t Scramble(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint64_t Scramble(uint64_t value, uint64_t seed) {
  return XXH3_64bits_withSeed(&value, sizeof(value), seed);
}

std::string MakeValue(std::string_view key, size_t size_bytes) {
  std::string value(size_bytes, '\0');
  uint64_t word = Scramble(key, kValueSeed);
  for (size_t at = 0; at < size_bytes; at += sizeof(word)) {
    std::memcpy(value.data() + at, &word,
                std::min(sizeof(word), size_bytes - at));
    word = Scramble(word, kValueSeed);
  }
  return value;
}

const char* MixName(Mix mix) {
  return mix == Mix::kUniform ? "uniform" : "zipf";
}

ZipfSampler::ZipfSampler(size_t count) {
  cumulative_.reserve(count);
  double sum = 0;
  for (size_t rank = 0; rank < count; ++rank) {
    sum += std::pow(static_cast<double>(rank + 1), -kZipfExponent);
    cumulative_.push_back(sum);
  }
}

size_t ZipfSampler::Rank(uint64_t random) const {
  const double share = std::ldexp(static_cast<double>(random >> 11), -53);
  const auto it = std::upper_bound(cumulative_.begin(), cumulative_.end(),
                                   share * cumulative_.back());
  return std::min<size_t>(it - cumulative_.begin(), cumulative_.size() - 1);
}

}  // namespace rowbloom::reads
