// SPDX-License-Identifier: Apache-2.0
//
// Where filters come from: one opened file that holds them, whatever its
// format. A further format is one more subclass and one more line in
// filter_file.cc; the verbs see this interface only.
//
//   absl::StatusOr<std::unique_ptr<FilterFile>> file = OpenFilterFile(path);
//   if (file.ok()) status = (*file)->Inspect(&entry);
//
// Status codes say what the tool makes of a file: DataLoss is damage,
// Unimplemented a newer format, InvalidArgument a file of no known format (or
// one too damaged to tell), anything else a file that could not be read.

#ifndef ROWBLOOM_TOOLS_FILTER_FILE_H_
#define ROWBLOOM_TOOLS_FILTER_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "rowbloom/filter.h"
#include "rowbloom/io.h"

namespace rowbloom::tools {

// Keeps its fields in the order they were added: text output follows it.
using Json = nlohmann::ordered_json;

struct LookupQuestion {
  std::string row;
  std::optional<std::string> qualifier;
  // Instead: whether the row's family may be deleted. HFiles only.
  bool family_delete = false;
};

struct LookupAnswer {
  bool may_contain = true;
  std::string asked;   // "row", "column" or "row prefix"; empty if nothing.
  int64_t chunk = -1;  // The one that decided; -1 if none or all did.
  std::string reason;
  Json probes = Json::array();  // Of formats that can tell.
};

class FilterFile {
 public:
  virtual ~FilterFile() = default;

  // As in `filter_block`, `sst`.
  virtual std::string_view kind() const = 0;
  // Adds what the filters say about themselves to *entry, on error as far as
  // they could be read.
  virtual absl::Status Inspect(Json* entry) const = 0;
  // Checks every checksum and invariant; `with_cells` also that each cell's
  // keys are found, where the file has cells. Adds what it measured to *entry.
  virtual absl::Status Verify(bool with_cells, Json* entry) const = 0;
  // On error *answer is "maybe".
  virtual absl::Status Lookup(const LookupQuestion& question,
                              LookupAnswer* answer) const = 0;
  // What filters of the file's cells would take, to *entry.
  virtual absl::Status Plan(Json* entry) const;
};

absl::StatusOr<std::unique_ptr<FilterFile>> OpenFilterFile(
    const std::string& path);

// The formats. Each returns nullptr if the bytes are not of its format.
using FilterFileOrError = absl::StatusOr<std::unique_ptr<FilterFile>>;
FilterFileOrError OpenSst(
    const std::string& path,
    const std::shared_ptr<const RandomAccessSource>& source);
FilterFileOrError OpenFilterBlock(
    const std::string& path,
    const std::shared_ptr<const RandomAccessSource>& source);
FilterFileOrError OpenHFile(
    const std::string& path,
    const std::shared_ptr<const RandomAccessSource>& source);
FilterFileOrError OpenMemFilter(
    const std::string& path,
    const std::shared_ptr<const RandomAccessSource>& source);

// Whether the last bytes of the file are `magic`.
absl::StatusOr<bool> EndsWith(const RandomAccessSource& source,
                              std::string_view magic);

// Sums over the chunks of a file, for its own lines of the report.
class ChunkTotals {
 public:
  // One chunk's columns that every format has.
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

#endif  // ROWBLOOM_TOOLS_FILTER_FILE_H_
