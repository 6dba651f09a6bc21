// SPDX-License-Identifier: Apache-2.0

#include "workload.h"

#include <algorithm>

namespace rowbloom::tree_sim {

const std::vector<Inserts>& AllInserts() {
  static const std::vector<Inserts> all = {
      Inserts::kRandom,       Inserts::kAppend,       Inserts::kMixedKeys,
      Inserts::kMixedFlushes, Inserts::kIngestBehind, Inserts::kIngestOverlap};
  return all;
}

std::string InsertsName(Inserts inserts) {
  switch (inserts) {
    case Inserts::kRandom:
      return "random";
    case Inserts::kAppend:
      return "append";
    case Inserts::kMixedKeys:
      return "mixed_keys";
    case Inserts::kMixedFlushes:
      return "mixed_flushes";
    case Inserts::kIngestBehind:
      return "ingest_behind";
    case Inserts::kIngestOverlap:
      return "ingest_overlap";
  }
  return "unknown";
}

void Workload::Next(Tree* tree) {
  const uint64_t turn = done_++;
  const size_t n = keys_per_flush_;
  switch (inserts_) {
    case Inserts::kRandom:
      tree->Flush(Keys(n, 0));
      break;
    case Inserts::kAppend:
      tree->Flush(Keys(n, n));
      break;
    case Inserts::kMixedKeys:
      tree->Flush(Keys(n, n * 4 / 5));
      break;
    case Inserts::kMixedFlushes:
      tree->Flush(Keys(n, turn % 5 == 4 ? 0 : n));
      break;
    case Inserts::kIngestBehind:
    case Inserts::kIngestOverlap:
      if (turn % 3 == 2) {
        tree->Ingest(Keys(n, inserts_ == Inserts::kIngestBehind ? n : 0));
      } else {
        tree->Flush(Keys(n, 0));
      }
      break;
  }
}

std::vector<uint64_t> Workload::Keys(size_t count, size_t behind) {
  constexpr uint64_t kMostApart = uint64_t{1} << 32;
  std::vector<uint64_t> keys;
  keys.reserve(count);
  for (size_t i = 0; i < count - behind; ++i) {
    keys.push_back(
        std::uniform_int_distribution<uint64_t>(0, last_key_)(random_));
  }
  for (size_t i = 0; i < behind; ++i) {
    last_key_ += 1 + random_() % kMostApart;
    keys.push_back(last_key_);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace rowbloom::tree_sim
