// SPDX-License-Identifier: Apache-2.0
//
// Chooses the SSTs to merge, and merges them: cells that newer ones hide are
// dropped, and new filters hold just the remaining cells.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_COMPACTION_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_COMPACTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell.h"
#include "options.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_budget.h"
#include "sst.h"

namespace mini_kv {

inline constexpr size_t kLevelCount = 7;

// Level 0 has SSTs as they were flushed, newest first; any of them may have a
// cell. Each other level has SSTs in key order; only one may have it.
using Level = std::vector<std::shared_ptr<const SstReader>>;
using Levels = std::array<Level, kLevelCount>;

struct Compaction {
  Level inputs;  // Newest first, where they overlap.
  size_t output_level = 0;
  // No level below the output has a cell for a tombstone to hide.
  bool drops_tombstones = false;
};

// The next compaction that is due.
std::optional<Compaction> PickCompaction(const Options& options,
                                         const Levels& levels);
// Compacts all SSTs into the last level.
Compaction WholeCompaction(const Levels& levels);

// The levels without the inputs and with `outputs`, which are in order.
Levels AfterCompaction(const Levels& levels, const Compaction& compaction,
                       const Level& outputs);

// The facts about a compaction's SSTs before they are written.
rowbloom::FileFacts FactsOf(const Levels& levels, const Compaction& compaction);
// The size of all filters, and the runs that they belong to.
rowbloom::LiveFilters LiveFiltersOf(const Levels& levels);

// Where SSTs are written, and with what filter.
struct SstPlace {
  std::string directory;
  uint64_t* next_number = nullptr;
  rowbloom::FilterOptions filter;
};
// Merges the sources into new SSTs, each of which ends when its data blocks
// reach `file_size_bytes`. Returns the numbers of files that are complete and
// synced; their directory is not.
absl::StatusOr<std::vector<uint64_t>> WriteSsts(const CellIterators& sources,
                                                bool drops_tombstones,
                                                uint64_t file_size_bytes,
                                                const SstPlace& place,
                                                const Options& options);

std::string SstPath(const std::string& directory, uint64_t number);

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_COMPACTION_H_
