// SPDX-License-Identifier: Apache-2.0

#include "keys.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bench/point_get/dataset.h"

namespace rowbloom::budget_bench {
namespace {

using point_get::Scramble;

constexpr uint64_t kGetsPerEpoch = 1000;
constexpr uint64_t kAbsentKeys = uint64_t{1} << 40;
constexpr uint64_t kMissSeed = 1;
constexpr uint64_t kKeySeed = 2;
constexpr uint64_t kEpochSeed = 3;

std::vector<uint64_t> Sums(std::vector<uint64_t> numbers) {
  std::partial_sum(numbers.begin(), numbers.end(), numbers.begin());
  return numbers;
}

}  // namespace

std::string KeyOf(uint64_t number) {
  std::string key(sizeof(number), '\0');
  for (size_t i = key.size(); i-- > 0; number >>= 8) {
    key[i] = static_cast<char>(number & 0xff);
  }
  return key;
}

// The finalizer of splitmix64.
uint64_t Mixed(uint64_t number) {
  number += 0x9e3779b97f4a7c15u;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

Keys::Keys(std::vector<uint64_t> run_sizes)
    : ends_(Sums(std::move(run_sizes))), zipf_(ends_.back()) {}

std::vector<uint64_t> Keys::SortedRun(int level) const {
  const uint64_t begin = level == 1 ? 0 : ends_[level - 2];
  std::vector<uint64_t> numbers;
  numbers.reserve(ends_[level - 1] - begin);
  for (uint64_t i = begin; i < ends_[level - 1]; ++i) {
    numbers.push_back(Number(i));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

int Keys::LevelOf(uint64_t index) const {
  const auto it = std::upper_bound(ends_.begin(), ends_.end(), index);
  return static_cast<int>(it - ends_.begin()) + 1;
}

GetStream::GetStream(const Keys* keys, const GetMix& mix, uint64_t seed)
    : keys_(keys), mix_(mix), seed_(Scramble(seed, 0)) {}

Get GetStream::Next() {
  const uint64_t number = seed_ + count_++;
  const double at =
      std::ldexp(static_cast<double>(Scramble(number, kMissSeed)), -64);
  const uint64_t drawn = Draw(Scramble(number, kKeySeed));
  if (at < mix_.missing_share) {
    return {KeyOf(keys_->AbsentNumber(drawn % kAbsentKeys)), 0};
  }
  const uint64_t index = drawn % keys_->size();
  return {KeyOf(keys_->Number(index)), keys_->LevelOf(index)};
}

uint64_t GetStream::Draw(uint64_t random) const {
  if (mix_.popularity == point_get::Mix::kUniform) return random;
  return Scramble(keys_->zipf().Rank(random),
                  Scramble(seed_ + count_ / kGetsPerEpoch, kEpochSeed));
}

}  // namespace rowbloom::budget_bench
