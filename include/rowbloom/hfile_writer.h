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
// Link rowbloom::hfile. The file is an HFile 3.3 with unencoded data blocks
// and an index of one level. For the same cells and options its filters are
// HBase's, byte for byte; so are the data blocks, where they are not
// compressed, but for files whose index HBase splits into levels (when it is
// larger than 128 KiB).
//
// Memory: a data block, a chunk of each filter, and the indexes. Belongs to
// one thread; `sink` must outlive it. Nothing throws.

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

// Which names of comparators are written.
enum class HFileProfile : uint8_t {
  kHBase2,  // Those of HBase 2 and later.
  kWidest,  // Those that HBase 0.98 to 4 all accept.
};

struct HFileWriterOptions {
  BloomType bloom_type = BloomType::kRow;
  // ROWPREFIX_FIXED_LENGTH only; 1 to 32767. HBase:
  // RowPrefixBloomFilter.prefix_length.
  uint32_t prefix_length_bytes = 0;
  // A filter of rows with family deletes, which HBase has in all files but
  // those of type ROWCOL. HBase: io.storefile.delete.family.bloom.enabled.
  bool delete_family_filter = true;
  HFileHash hash = HFileHash::kMurmur;   // hbase.hash.type
  float error_rate = 0.01F;              // io.storefile.bloom.error.rate
  int64_t chunk_size_bytes = 128 << 10;  // io.storefile.bloom.block.size
  int max_fold = 7;                      // io.storefile.bloom.max.fold
  HFileCompression compression = HFileCompression::kNone;
  HFileChecksum checksum = HFileChecksum::kCrc32c;
  uint32_t bytes_per_checksum = 16384;   // 33 to 2^31 - 1.
  uint32_t block_size_bytes = 64 << 10;  // Of data blocks: as soon as.
  HFileProfile profile = HFileProfile::kHBase2;
  // Whether cells are written with tags, and with mvcc.
  bool has_tags = false;
  bool has_mvcc = false;
  // The file is of the table hbase:meta, which has an order of its own.
  bool is_meta_table = false;
  int64_t create_time_ms = 0;  // 0: not said.
  // Further entries of file info. What the writer itself says takes the place
  // of entries of that name.
  std::map<std::string, std::string, std::less<>> file_info;
  // Blocks by name, for others than HBase: HFileReader::ReadMetaBlock().
  std::map<std::string, std::string, std::less<>> meta_blocks;
};

// The options that write cells as the file of this reader has them: layout,
// compression, checksums (CRC32C if it has none, as HFiles 2.0), bloom type,
// hash and whether there is a delete family filter, which a file gets that
// cannot tell, and of its file info what stays true; without its meta blocks.
// The size of data blocks, and sizes and rates of filters, are not stored in
// files. The order of a comparator that is not known is taken for the usual
// one.
HFileWriterOptions OptionsOf(const HFileReader& reader);

// What the general filter of a file with these options takes, of so many
// distinct keys.
struct HFileFilterPlan {
  uint64_t chunk_count = 0;
  uint64_t size_bytes = 0;  // Uncompressed.
  int32_t hash_count = 0;
  // Of a lookup of a row or column that is absent: by the usual formula of
  // Bloom filters, from the keys in each chunk; of ROWCOL for both questions
  // that a lookup asks.
  double expected_fpr = 0;
};
absl::StatusOr<HFileFilterPlan> PlanHFileFilter(
    const HFileWriterOptions& options, uint64_t key_count);

class HFileWriter {
 public:
  // InvalidArgument says which option cannot be.
  static absl::StatusOr<std::unique_ptr<HFileWriter>> Make(
      const HFileWriterOptions& options, ByteSink* sink);
  ~HFileWriter();
  HFileWriter(const HFileWriter&) = delete;
  HFileWriter& operator=(const HFileWriter&) = delete;

  // Calls match  Add* Finish . Cells come in HBase's order: row, family,
  // qualifier, newest timestamp and highest type first; InvalidArgument if one
  // does not, or if its key in the filter does not: columns of a second family
  // in a ROWCOL filter. So is a cell that HBase cannot have: a row that is
  // empty or longer than 32767 bytes, a family longer than 127, tags longer
  // than 65535, a negative timestamp or an unknown type. The first error stays.
  absl::Status Add(const HFileCell& cell);
  absl::Status Finish();

 private:
  class Impl;
  explicit HFileWriter(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_HFILE_WRITER_H_
