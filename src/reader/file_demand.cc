// SPDX-License-Identifier: Apache-2.0

#include "reader/file_demand.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "stats/file_counters.h"

namespace rowbloom::reader {

namespace {

// Until it was asked about that often, a chunk counts as less in demand than
// its count says: lookups in all, for each chunk.
constexpr double kDoubtedLookups = 32;
// Outcomes beyond it count half.
constexpr uint32_t kMaxOutcomes = 1 << 20;

uint32_t CountIn(uint64_t word, uint32_t era) {
  // Another thread may have counted in an era that began after this one looked.
  const auto eras =
      static_cast<int32_t>(era - static_cast<uint32_t>(word >> 32));
  return eras > 31 ? 0 : static_cast<uint32_t>(word) >> std::max(eras, 0);
}

}  // namespace

FileDemand::FileDemand(std::shared_ptr<FilterLedger> ledger, size_t chunk_count,
                       uint64_t cost_bytes)
    : ledger_(std::move(ledger)),
      opened_(ledger_->Now()),
      cost_bytes_(cost_bytes),
      counts_(chunk_count) {
  ledger_->AddChunks(static_cast<int64_t>(chunk_count));
}

FileDemand::~FileDemand() {
  ledger_->AddChunks(-static_cast<int64_t>(counts_.size()));
}

void FileDemand::CountSample(size_t chunk, Answer answer) {
  constexpr uint32_t kWeight = stats::kSampleInterval;
  ledger_->CountLookups(kWeight, answer == Answer::kNo ? kWeight : 0,
                        cost_bytes_.load(std::memory_order_relaxed));
  double absent = 0;
  if (answer == Answer::kNo) {
    absent = kWeight;
    CountOutcomes(&absent_, kWeight);
  } else if (answer == Answer::kUnloaded) {
    absent = kWeight * AbsentShare();
  }
  // Estimates: what two threads do at once may count once.
  std::atomic<uint64_t>& count = counts_[chunk];
  const uint32_t era = ledger_->era();
  const uint64_t now = CountIn(count.load(std::memory_order_relaxed), era) +
                       static_cast<uint64_t>(std::lround(absent));
  count.store(uint64_t{era} << 32 |
                  std::min<uint64_t>(now, std::numeric_limits<uint32_t>::max()),
              std::memory_order_relaxed);
}

void FileDemand::TellOutcome(bool key_was_there) {
  CountOutcomes(key_was_there ? &present_ : &absent_, 1);
}

void FileDemand::CountOutcomes(std::atomic<uint32_t>* count, uint32_t delta) {
  if (count->fetch_add(delta, std::memory_order_relaxed) < kMaxOutcomes) return;
  for (std::atomic<uint32_t>* c : {&present_, &absent_}) {
    c->store(c->load(std::memory_order_relaxed) / 2, std::memory_order_relaxed);
  }
}

void FileDemand::TellCost(uint64_t read_bytes) {
  // A moving average over some 16 reads.
  const uint64_t old = cost_bytes_.load(std::memory_order_relaxed);
  cost_bytes_.store(old - old / 16 + read_bytes / 16,
                    std::memory_order_relaxed);
}

double FileDemand::AbsentShare() const {
  const double absent = absent_.load(std::memory_order_relaxed);
  const double present = present_.load(std::memory_order_relaxed);
  // Before anything is known, absent: that is what filters are asked for.
  return (absent + 1) / (absent + present + 1);
}

double FileDemand::AbsentLookups(size_t chunk) const {
  return CountIn(counts_[chunk].load(std::memory_order_relaxed),
                 ledger_->era());
}

double FileDemand::AbsentRate(size_t chunk) const {
  const double doubt =
      kDoubtedLookups * static_cast<double>(ledger_->chunk_count());
  return AbsentLookups(chunk) / (ledger_->WeightSince(opened_) + doubt);
}

}  // namespace rowbloom::reader
