// SPDX-License-Identifier: Apache-2.0

#include "cache/load_ledger.h"

#include <algorithm>
#include <cmath>

namespace rowbloom::cache {

namespace {

constexpr uint64_t kLookupsPerChunkAndHalfLife = 2048;
// The upper limit of a grant: a cache without a limit asks for SIZE_MAX.
constexpr int64_t kMaxGrantedBytes = int64_t{1} << 60;

}  // namespace

void LoadLedger::GrantUpTo(uint64_t bytes) {
  const auto target = static_cast<int64_t>(
      std::min(bytes, static_cast<uint64_t>(kMaxGrantedBytes)));
  int64_t granted = granted_bytes_.load();
  while (granted < target) {
    if (!granted_bytes_.compare_exchange_weak(granted, target)) continue;
    balance_bytes_.fetch_add(target - granted);
    return;
  }
}

bool LoadLedger::WithinGrants() const {
  return static_cast<int64_t>(loaded_bytes_.load(std::memory_order_relaxed)) <
         granted_bytes_.load(std::memory_order_relaxed);
}

void LoadLedger::CountLookups(uint64_t lookups, Answer answer,
                              uint64_t cost_bytes) {
  const uint64_t negatives = answer == Answer::kNo ? lookups : 0;
  if (answer == Answer::kUnloaded) {
    misses_.fetch_add(lookups, std::memory_order_relaxed);
  }
  // Income that does not fit 64 bits would exceed any limit.
  const auto income = static_cast<int64_t>(
      std::min(static_cast<double>(cost_bytes) *
                   (static_cast<double>(negatives) +
                    kMaxLoss * static_cast<double>(lookups)),
               static_cast<double>(kMaxGrantedBytes)));
  const int64_t limit =
      granted_bytes_.load(std::memory_order_relaxed) + kSlackBytes;
  int64_t balance = balance_bytes_.load(std::memory_order_relaxed);
  while (balance < limit && !balance_bytes_.compare_exchange_weak(
                                balance, std::min(limit, balance + income),
                                std::memory_order_relaxed)) {
  }

  const uint64_t now =
      lookups_.fetch_add(lookups, std::memory_order_relaxed) + lookups;
  uint64_t began = half_life_began_.load(std::memory_order_relaxed);
  if (now > began && now - began >= HalfLifeLookups() &&
      half_life_began_.compare_exchange_strong(began, now,
                                               std::memory_order_relaxed)) {
    half_lives_.fetch_add(1, std::memory_order_relaxed);
  }
}

void LoadLedger::CountLoad(uint64_t bytes) {
  loaded_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  balance_bytes_.fetch_sub(static_cast<int64_t>(bytes),
                           std::memory_order_relaxed);
}

bool LoadLedger::MayLoad(uint64_t planned_bytes) const {
  const int64_t balance = balance_bytes();
  return balance > 0 && static_cast<uint64_t>(balance) > planned_bytes;
}

void LoadLedger::AddChunks(int64_t count) {
  chunk_count_.fetch_add(count, std::memory_order_relaxed);
}

uint64_t LoadLedger::HalfLifeLookups() const {
  const int64_t chunks = chunk_count_.load(std::memory_order_relaxed);
  return kLookupsPerChunkAndHalfLife *
         static_cast<uint64_t>(std::max<int64_t>(chunks, 1));
}

LoadLedger::Mark LoadLedger::Now() const { return {half_lives(), lookups()}; }

double LoadLedger::WeightSince(const Mark& mark) const {
  const uint64_t now = lookups();
  const uint32_t half_lives = this->half_lives() - mark.half_lives;
  if (half_lives == 0) return static_cast<double>(now - mark.lookups);
  const uint64_t began = half_life_began_.load(std::memory_order_relaxed);
  const double length = static_cast<double>(HalfLifeLookups());
  return static_cast<double>(now - std::min(now, began)) +
         length * (1 - std::ldexp(
                           1.0, -static_cast<int>(std::min(half_lives, 64u))));
}

}  // namespace rowbloom::cache
