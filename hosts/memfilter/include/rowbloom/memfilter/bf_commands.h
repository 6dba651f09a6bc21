// SPDX-License-Identifier: Apache-2.0
//
// Redis's BF commands as calls, with their semantics: scalable filters by name,
// for programs that move between the two.
//
//   BfCommands bf;
//   absl::Status status = bf.Reserve("seen", {0.001, 1'000'000});
//   absl::StatusOr<bool> added = bf.Add("seen", "user17");     // Was it new?
//   bool exists = bf.Exists("seen", "user18");
//
// DigestBytes() hashes the items; dumps have the saved form of ScalableFilter,
// not Redis's own. Threads as a std::map.

#ifndef ROWBLOOM_MEMFILTER_BF_COMMANDS_H_
#define ROWBLOOM_MEMFILTER_BF_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/memfilter/scalable.h"

namespace ROWBLOOM_EXPORT rowbloom {

// The defaults are those of a filter that was never reserved.
struct BfReserveOptions {
  double error_rate = 0.01;
  uint64_t capacity = 100;
  // 2 if not given; 0 is non-scaling. Not together with non_scaling.
  std::optional<uint32_t> expansion = std::nullopt;
  bool non_scaling = false;
};

struct BfInsertOptions {
  BfReserveOptions reserve;  // For a filter that does not exist yet.
  bool no_create = false;    // If true, NotFound instead.
};

struct BfInfo {
  uint64_t capacity = 0;
  uint64_t size_bytes = 0;
  uint64_t filter_count = 0;  // Layers.
  uint64_t item_count = 0;
  std::optional<uint32_t> expansion;  // nullopt if non-scaling.
};

struct BfChunk {
  uint64_t iterator = 0;  // 0: the end; `data` is empty.
  std::string data;
};

// The limits of one BfCommands. Unfinished dumps and loads beyond these numbers
// are dropped, oldest first.
struct BfLimits {
  uint64_t max_filter_bytes = ScalableOptions().max_memory_bytes;
  size_t max_dumps = 8;
  size_t max_loads = 8;
};

class BfCommands {
 public:
  explicit BfCommands(const BfLimits& limits = {}) : limits_(limits) {}

  // BF.RESERVE. AlreadyExists, InvalidArgument; ResourceExhausted if it needs
  // more memory than a filter may have.
  absl::Status Reserve(std::string_view key, const BfReserveOptions& options);

  // BF.ADD and BF.MADD return true for each item that was new, and make the
  // filter if it does not exist. ResourceExhausted for an item if the filter is
  // full and may not or cannot grow; the answers of MAdd and Insert end with
  // that item. An empty list of items makes no filter: Redis calls it an error.
  absl::StatusOr<bool> Add(std::string_view key, std::string_view item);
  std::vector<absl::StatusOr<bool>> MAdd(
      std::string_view key, absl::Span<const std::string_view> items);

  // BF.EXISTS, BF.MEXISTS: false if the filter does not exist.
  bool Exists(std::string_view key, std::string_view item) const;
  std::vector<bool> MExists(std::string_view key,
                            absl::Span<const std::string_view> items) const;

  // BF.INSERT. InvalidArgument for options that Reserve() refuses, even if the
  // filter exists; NotFound, or an answer for each item.
  absl::StatusOr<std::vector<absl::StatusOr<bool>>> Insert(
      std::string_view key, const BfInsertOptions& options,
      absl::Span<const std::string_view> items);

  // BF.INFO: NotFound. BF.CARD: 0 if the filter does not exist.
  absl::StatusOr<BfInfo> Info(std::string_view key) const;
  uint64_t Card(std::string_view key) const;

  // BF.SCANDUMP: begins with iterator 0 and goes on with that of the chunk
  // before. All chunks are of the moment of the first one, of which a copy is
  // kept until the last; any number of dumps of a filter run side by side.
  // NotFound; InvalidArgument unless the iterator is the last one of a kept
  // dump of this filter.
  absl::StatusOr<BfChunk> ScanDump(std::string_view key, uint64_t iterator,
                                   size_t max_chunk_bytes = 16 << 20);
  // BF.LOADCHUNK takes each chunk of a dump in order, from the first. The last
  // chunk makes the filter, in place of an existing one: a filter is never
  // partly loaded. Each error ends the load of this dump and of no other:
  // InvalidArgument for a chunk that does not follow the one before or is not
  // of a scalable filter, DataLoss for damage, Unimplemented for a newer
  // version, ResourceExhausted for more bytes than a filter may have.
  absl::Status LoadChunk(std::string_view key, uint64_t iterator,
                         std::string_view data);

  // DEL: deletes the filter, and its unfinished dumps and loads. False if there
  // is no such filter.
  bool Delete(std::string_view key);

 private:
  // An iterator holds its dump, in its high bits, and the offset of the next
  // chunk.
  struct Transfer {
    std::string key;
    uint64_t dump;
    std::string bytes;
    size_t next = 0;  // For dumps.
  };
  using Transfers = std::list<Transfer>;  // The oldest is first.

  absl::StatusOr<ScalableFilter*> FindOrMake(std::string_view key,
                                             const ScalableOptions& options);
  const ScalableFilter* Find(std::string_view key) const;
  // The options of a filter that can be made if there is memory for it.
  absl::StatusOr<ScalableOptions> OptionsOf(
      const BfReserveOptions& options) const;
  static Transfers::iterator FindTransfer(Transfers* transfers,
                                          std::string_view key, uint64_t dump);
  static Transfers::iterator Begin(Transfer transfer, size_t most,
                                   Transfers* transfers);
  // True if this chunk completes the dump.
  absl::StatusOr<bool> AppendChunk(Transfer* load, uint64_t begin,
                                   std::string_view data) const;

  BfLimits limits_;
  std::map<std::string, ScalableFilter, std::less<>> filters_;
  Transfers dumps_;
  Transfers loads_;  // The chunks so far.
  uint64_t last_dump_ = 0;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_BF_COMMANDS_H_
