// SPDX-License-Identifier: Apache-2.0
//
// The bytes of an SST, a sorted and immutable file of cells:
//
//   data block     cells (cell.h) | checksum (8)
//   ...            contiguous from offset 0
//   filter block   as rowbloom wrote it, or nothing
//   index          first key; for each data block its last key, offset (8)
//                  and size (8); checksum (8)
//   footer         the fields below, checksum (8), magic (8)
//
// A key is: row size (4) | qualifier size (4) | row | qualifier. Checksums are
// seeded with the offset of the bytes that they cover.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_SST_FORMAT_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_SST_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell.h"
#include "rowbloom/io.h"

namespace mini_kv {

struct SstFooter {
  static constexpr size_t kSize = 7 * 8;

  uint64_t filter_offset = 0;     // The end of the data blocks.
  uint64_t filter_size = 0;       // 0: no filter.
  uint64_t filter_tail_size = 0;  // FilterBlockInfo::tail_size_bytes.
  uint64_t index_offset = 0;
  uint64_t cell_count = 0;
};

struct SstIndex {
  struct Block {
    OwnedCellKey last_key;
    uint64_t offset = 0;
    uint64_t size_bytes = 0;  // With its checksum.
  };

  OwnedCellKey first_key;
  std::vector<Block> blocks;
};

// `offset` is the offset of the appended bytes in the file.
void AppendFooter(const SstFooter& footer, uint64_t offset, std::string* out);
void AppendIndex(const SstIndex& index, uint64_t offset, std::string* out);
// Appends the checksum of all bytes in *bytes.
void AppendChecksum(uint64_t offset, std::string* bytes);

// Reads bytes with a checksum of AppendChecksum(); *payload excludes the
// checksum and views *scratch or the source. DataLoss if they are damaged.
absl::Status ReadChecked(const rowbloom::RandomAccessSource& source,
                         uint64_t offset, uint64_t size_bytes,
                         std::string* scratch, std::string_view* payload);

// These are strict, so their results can be trusted: all ranges lie in the
// file, and ranges and keys are in order.
absl::StatusOr<SstFooter> ReadFooter(
    const rowbloom::RandomAccessSource& source);
absl::StatusOr<SstIndex> ReadIndex(const rowbloom::RandomAccessSource& source,
                                   const SstFooter& footer);

absl::Status Damaged(const rowbloom::RandomAccessSource& source,
                     const char* what, uint64_t offset);

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_SST_FORMAT_H_
