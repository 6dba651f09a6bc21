// SPDX-License-Identifier: Apache-2.0
//
// Writes HBase's store files with their Bloom filters: for bulk loads, for
// tests, and to give a file another filter.
//
//   HFileWriterOptions options;
//   options.bloom_type = BloomType::kRowCol;
//   auto writer = HFileWriter::Make(options, sink);
//   for (const HFileCell& cell : cells) status = (*writer)->Add(cell);
//   status = (*writer)->Finish();
//
// Link rowbloom::hfile. The file is an HFile 3.3 with an index of one level.
// For the same cells and options its filters equal HBase's byte for byte. So do
// uncompressed data blocks, except in files whose index HBase splits into
// levels (when it is larger than 128 KiB).
//
// Memory: a data block, a chunk of each filter, and the indexes. Belongs to one
// thread; `sink` must outlive the writer. Nothing throws.

#ifndef ROWBLOOM_HFILE_WRITER_H_
#define ROWBLOOM_HFILE_WRITER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/export.h"
#include "rowbloom/hfile.h"
#include "rowbloom/hfile_types.h"
#include "rowbloom/io.h"

namespace ROWBLOOM_EXPORT rowbloom {

// The versions of HBase that open the file.
enum class HFileProfile : uint8_t {
  kHBase2,  // HBase 2 and later; comparators have the names of HBase 2.
  // HBase 0.98 to 4: comparators have names that all of them accept. Bloom type
  // ROWPREFIX_FIXED_LENGTH, compression ZSTD and encoding ROW_INDEX_V1 are
  // refused.
  kWidest,
};

struct HFileWriterOptions {
  BloomType bloom_type = BloomType::kRow;
  // ROWPREFIX_FIXED_LENGTH only; 1 to 32767. HBase:
  // RowPrefixBloomFilter.prefix_length.
  uint32_t prefix_length_bytes = 0;
  // If true, the file has a filter of rows with family deletes, as all HBase
  // files have except those of type ROWCOL. HBase:
  // io.storefile.delete.family.bloom.enabled.
  bool delete_family_filter = true;
  HFileHash hash = HFileHash::kMurmur;   // hbase.hash.type
  float error_rate = 0.01F;              // io.storefile.bloom.error.rate
  int64_t chunk_size_bytes = 128 << 10;  // io.storefile.bloom.block.size
  int max_fold = 7;                      // io.storefile.bloom.max.fold
  HFileCompression compression = HFileCompression::kNone;
  // The encoding of data blocks: NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1.
  // HBase: DATA_BLOCK_ENCODING.
  HFileEncoding encoding = HFileEncoding::kNone;
  HFileChecksum checksum = HFileChecksum::kCrc32c;
  uint32_t bytes_per_checksum = 16384;  // 33 to 2^31 - 1.
  // Data blocks end at this size, unencoded and uncompressed. HBase: BLOCKSIZE.
  uint32_t block_size_bytes = 64 << 10;
  HFileProfile profile = HFileProfile::kHBase2;
  bool has_tags = false;  // Required for cells with tags.
  bool has_mvcc = false;  // If true, cells are written with mvcc.
  // If true, encodings PREFIX, DIFF and FAST_DIFF store tags by a dictionary.
  // HBase: COMPRESS_TAGS.
  bool compress_tags = false;
  // If true, the file is of the table hbase:meta, which has its own cell order.
  bool is_meta_table = false;
  int64_t create_time_ms = 0;  // 0: not stored.
  // Further entries of file info. The writer's own entries replace those of the
  // same name.
  std::map<std::string, std::string, std::less<>> file_info;
  // Named blocks for readers other than HBase: HFileReader::ReadMetaBlock().
  std::map<std::string, std::string, std::less<>> meta_blocks;
};

// The options that write cells in the form of this reader's file: layout,
// encoding, compression, checksums (CRC32C if it has none, as HFiles 2.0),
// bloom type, hash, error rate and chunk size, whether it has a delete family
// filter (true if the file cannot tell), and the entries of its file info that
// stay true; without its meta blocks. Rate and chunk size follow from the
// filter with more chunks, of which one is read; a file without a filter has
// the defaults. The size of data blocks is that of
// HFileReader::FindBlockSize(). An unknown comparator is assumed to have the
// usual order.
HFileWriterOptions OptionsOf(const HFileReader& reader);

// The size and rate of the general filter of a file with these options and
// `key_count` distinct keys.
struct HFileFilterPlan {
  uint64_t chunk_count = 0;
  uint64_t size_bytes = 0;  // Uncompressed.
  int32_t hash_count = 0;
  // The expected rate of lookups of an absent row, or of a column of it, from
  // the keys in each chunk; for ROWCOL it covers both questions that a lookup
  // asks. A ROWCOL filter says "maybe" to every column of a row that has a
  // delete of its family, or a cell with an empty qualifier.
  double expected_fpr = 0;
};
absl::StatusOr<HFileFilterPlan> PlanHFileFilter(
    const HFileWriterOptions& options, uint64_t key_count);

class HFileWriter {
 public:
  // InvalidArgument names the invalid option.
  static absl::StatusOr<std::unique_ptr<HFileWriter>> Make(
      const HFileWriterOptions& options, ByteSink* sink);
  ~HFileWriter();
  HFileWriter(const HFileWriter&) = delete;
  HFileWriter& operator=(const HFileWriter&) = delete;

  // Calls match  Add* Finish . Cells come in HBase's order: row, family,
  // qualifier, newest timestamp and highest type first. InvalidArgument if a
  // cell, or its key in the filter, is out of order: columns of a second family
  // in a ROWCOL filter. Also InvalidArgument for a second family in an encoding
  // that has one (PREFIX, DIFF, FAST_DIFF), for tags without has_tags, and for
  // a cell that HBase does not allow: a row that is empty or longer than 32767
  // bytes, a family longer than 127, tags longer than 65535, a negative
  // timestamp or an unknown type. The first error stays.
  absl::Status Add(const HFileCell& cell);
  absl::Status Finish();

 private:
  class ROWBLOOM_HIDDEN Impl;
  ROWBLOOM_HIDDEN explicit HFileWriter(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_HFILE_WRITER_H_
