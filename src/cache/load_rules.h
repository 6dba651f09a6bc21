// SPDX-License-Identifier: Apache-2.0
//
// The constants of the rules by which readers load chunks of filters into a
// cache. bench/results/reader_ablation.md has the workloads that need them.
//
// The currency is bytes of data reads. A chunk in memory saves a data read for
// each lookup of an absent key that its filter denies; a load is a read, too.

#ifndef ROWBLOOM_CACHE_LOAD_RULES_H_
#define ROWBLOOM_CACHE_LOAD_RULES_H_

#include <cstddef>
#include <cstdint>

#include "rowbloom/filter_cache.h"

namespace rowbloom::internal::cache {

struct LoadRules {
  // Loads have to be covered by what filters saved, plus max_loss of what
  // lookups would read without filters. Otherwise files that are read once, in
  // order, cost more with filters than without.
  bool ask_ledger = true;
  double max_loss = 0.01;
  // Past savings pay for no more than this, so that much harm does not follow
  // them.
  int64_t slack_bytes = 256 << 10;
  // Filling the cache once is free. Otherwise a new store pays for each chunk
  // with the data reads that the chunk would have saved.
  bool fill_cache_at_once = true;
  // Beyond that a chunk is loaded once lookups without it have wasted this
  // share of its bytes, as in the ski rental problem: chunks that are asked a
  // few times only are never loaded.
  double wasted_share = 0.5;
  // A chunk is loaded if it is worth this many times the memory that it evicts.
  // Estimates vary, and chunks of the same worth would displace each other
  // forever.
  double hysteresis = 1.4;
  // Counts lose half of their weight after so many lookups for each chunk of
  // open readers.
  uint64_t half_life_lookups = 2048;
  // More steps must pay for their read within this many half-lives.
  double payback_half_lives = 4;
  // Lookups of a chunk between two decisions about its load: it bounds the
  // processor time of lookups that do not pay.
  uint32_t declined_pause = 16;

  // The numbers below are the same for all caches.

  // Readers count one lookup in so many, as that many: the rest costs no time.
  static constexpr uint32_t kSampleInterval = 16;
  // The number of chunks among which the one of the lowest worth is evicted.
  static constexpr size_t kCandidates = 32;
  // The most lookups of a chunk that answer "maybe" while another thread loads
  // it. It is finite, because a thread that was lost in fork() never ends its
  // load.
  static constexpr uint32_t kLoadingPause = 1 << 16;
  // After the nth failure in a row, 2^n - 2 lookups of the chunk pass before
  // the next try; after the 8th and later ones, 254.
  static constexpr uint32_t kMaxFailures = 8;
  // Prefetches and batches read in rounds of so many bytes, and one chunk more.
  // A round of a batch has room for a chunk of 1 MiB from each of 32 files.
  static constexpr uint64_t kPrefetchedAtOnceBytes = 4 << 20;
  static constexpr uint64_t kBatchAtOnceBytes = 32 << 20;
};

// For an experiment. No reader may use the cache before.
void SetLoadRules(const LoadRules& rules, FilterCache* cache);

}  // namespace rowbloom::internal::cache

#endif  // ROWBLOOM_CACHE_LOAD_RULES_H_
