// SPDX-License-Identifier: Apache-2.0
//
// One opened file that holds filters, in any format. To add a format, add a
// subclass and a line in filter_file.cc; the verbs use this interface only.
//
//   absl::StatusOr<std::unique_ptr<FilterFile>> file = OpenFilterFile(path);
//   if (file.ok()) status = (*file)->Inspect(&entry);
//
// Status codes classify a file: DataLoss is damage, Unimplemented a newer
// format (or an older one: see IsOlder()), InvalidArgument a file of no known
// format (or one too damaged to tell), anything else a file that could not be
// read.

#ifndef ROWBLOOM_TOOLS_FORMATS_FILTER_FILE_H_
#define ROWBLOOM_TOOLS_FORMATS_FILTER_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/io.h"
#include "tools/text/output.h"

namespace rowbloom::tools {

struct LookupQuestion {
  std::string row;
  std::optional<std::string> qualifier;
  // The codec of a Redisson filter's elements, if it is given.
  std::string codec;
  // If true, asks instead if the row's family may be deleted. HFiles only.
  bool family_delete = false;

  FilterKey key() const {
    return qualifier.has_value() ? FilterKey::RowCol(row, *qualifier)
                                 : FilterKey::Row(row);
  }
};
struct LookupAnswer {
  bool may_contain = true;
  std::string asked;  // "row", "column", "row prefix" or a key level; or empty.
  int64_t chunk = -1;  // The one that decided; -1 if none or all did.
  std::string reason;
  Json probes = Json::array();  // For formats that list them.
};

// The filters to plan, and the file whose cells they are for.
class FamilyPlans;
struct PlanQuestion {
  std::string path;
  std::vector<float> error_rates = {0.05F, 0.01F, 0.001F};
  std::vector<int64_t> chunk_sizes = {128 << 10};
  std::vector<uint32_t> prefix_lengths;
  FamilyPlans* families = nullptr;  // Takes the sums.
};

class FilterFile {
 public:
  virtual ~FilterFile() = default;

  // For example `filter_block` or `sst`.
  virtual std::string_view kind() const = 0;
  // Adds the filters' properties to *entry, on error as far as they could be
  // read.
  virtual absl::Status Inspect(Json* entry) const = 0;
  // Reads all cells and adds what only they can tell.
  virtual absl::Status InspectCells(Json* /*entry*/) const {
    return absl::OkStatus();
  }
  // Adds the headers of all blocks, on error those before the damaged one.
  virtual absl::Status InspectBlocks(Json* /*entry*/) const {
    return absl::OkStatus();
  }
  // Checks every checksum and invariant; `with_cells` also checks that each
  // cell's keys are found, where the file has cells. Adds its measurements to
  // *entry. OK for a format whose damaged files fail to open.
  virtual absl::Status Verify(bool /*with_cells*/, Json* /*entry*/) const {
    return absl::OkStatus();
  }
  // If false, Lookup() is not asked for such questions.
  virtual bool has_family_deletes() const { return false; }
  virtual bool has_qualifiers() const { return true; }
  // On error *answer is "maybe".
  virtual absl::Status Lookup(const LookupQuestion& question,
                              LookupAnswer* answer) const = 0;
  // Adds the size of filters over the file's cells to *entry.
  virtual absl::Status Plan(const PlanQuestion& question, Json* entry) const;
};

// `place` is the file's path below the directory that was walked, or empty if
// the user named the file: TargetFile::place.
absl::StatusOr<std::unique_ptr<FilterFile>> OpenFilterFile(
    const std::string& path, const std::string& place = "");

// The formats. Each returns nullptr if the bytes are not of its format.
using FilterFileOrError = absl::StatusOr<std::unique_ptr<FilterFile>>;
using Source = std::shared_ptr<const RandomAccessSource>;
FilterFileOrError OpenFilterBlock(const std::string& path,
                                  const Source& source);
FilterFileOrError OpenHFile(const std::string& path, const Source& source);
// Files beside HFiles, by their place; nullptr for any other.
std::unique_ptr<FilterFile> OpenByPlace(const std::string& place);
FilterFileOrError OpenMemFilter(const std::string& path, const Source& source);
FilterFileOrError OpenRocksDbSst(const std::string& path);
// A filter on a server; the path is the URL.
FilterFileOrError OpenRedisFilter(const std::string& url);
// True for an Unimplemented error of a file that is too old.
bool IsOlder(const absl::Status& status);

// The first bytes of a saved filter in memory: docs/memfilters.md.
inline constexpr std::string_view kMemFilterMagic = "rbmemflt";
// The last bytes of tables: RocksDB's block based ones; those of LevelDB, and
// of RocksDB with format_version 0; Pebble's.
inline constexpr size_t kMagicBytes = 8;
inline constexpr std::string_view kBlockBasedMagic{
    "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88", kMagicBytes};
inline constexpr std::string_view kLegacyMagic{
    "\x57\xfb\x80\x8b\x24\x75\x47\xdb", kMagicBytes};
inline constexpr std::string_view kPebbleMagic{
    "\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3", kMagicBytes};

absl::StatusOr<std::string> ReadBytes(const RandomAccessSource& source,
                                      uint64_t offset, uint64_t size);
// The last bytes of the file, or all if it is shorter.
absl::StatusOr<std::string> LastBytes(const RandomAccessSource& source,
                                      uint64_t size);
// True if the bytes of the file at this offset are `magic`.
absl::StatusOr<bool> HasBytes(const RandomAccessSource& source, uint64_t offset,
                              std::string_view magic);

// Names the key that a filter of this type is asked for: "row", "column", "row
// prefix" or, for kNone, nothing.
std::string AskedOf(BloomType type);

// Sums over the chunks of a file, for its report.
class ChunkTotals {
 public:
  // Returns the columns of one chunk that every format has.
  Json Add(uint64_t size_bytes, const FilterDescriptor& descriptor,
           double expected_fpr);
  // chunk_count, key_count, filter_size_bytes, bits_per_key, expected_fpr.
  void AppendTo(Json* entry) const;

 private:
  uint64_t chunk_count_ = 0;
  uint64_t key_count_ = 0;
  uint64_t size_bytes_ = 0;
  double expected_positives_ = 0;
};

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_FORMATS_FILTER_FILE_H_
