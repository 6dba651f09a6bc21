// SPDX-License-Identifier: Apache-2.0
//
// HBase's store files (HFile 2.0 to 3.3, of HBase 0.92 to 4) and their Bloom
// filters.
//
//   auto reader = HFileReader::Open(source, options);
//   if (!reader.ok()) return ReadWithoutFilter();
//   if (!(*reader)->MayContain("row17")) return NotFound();
//   if (!(*reader)->MayContain("row17", "email")) return NotFound();
//
// Link rowbloom::hfile. Opening takes two reads from the end of the file; the
// first lookup of a chunk reads it and keeps it in options.cache.
//
// The file alone decides how it is read, by its file info and Bloom metas,
// never a configuration. A filter is not used if its type, version, hash or
// comparator or a BLOOM_FILTER... entry of file info is unknown to rowbloom, or
// if it is encrypted or damaged: then all lookups answer "maybe", and
// HFileBloomInfo::reason says why. HFiles 2.0 have no block checksums: there a
// damaged filter can go unnoticed.
//
// Immutable after Open(); lookups may run on any number of threads. `source`,
// options.cache and options.stats must outlive the reader. Nothing throws.

#ifndef ROWBLOOM_HFILE_H_
#define ROWBLOOM_HFILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/hfile_types.h"
#include "rowbloom/io.h"

namespace ROWBLOOM_EXPORT rowbloom {

struct HFileReaderOptions {
  // The cache of chunks that readers share. nullptr: the reader makes one of
  // its own, of ShardedLruCacheOptions' default capacity.
  FilterCache* cache = nullptr;
  // Counts lookups, negatives, chunk loads and errors, if given.
  FilterStats* stats = nullptr;
  // The file's id in the cache, below 2^63 and used for no other file. 0 takes
  // a fresh one, whose chunks leave the cache with the reader.
  uint64_t file_id = 0;
  FilterCachePriority priority = FilterCachePriority::kNormal;
  // If false, damage to a filter can go unnoticed, and then lose rows.
  bool verify_checksums = true;
  // If true, Open() loads all chunks into the cache, first to last.
  bool prefetch = false;
};

// The properties that the file stores.
struct HFileProperties {
  int major_version = 0;
  int minor_version = 0;
  uint64_t cell_count = 0;
  HFileCompression compression = HFileCompression::kNone;
  // The checksum type of the file info's block.
  HFileChecksum checksum = HFileChecksum::kNull;
  uint32_t bytes_per_checksum = 0;  // 0 in HFiles 2.0, which have none.
  HFileEncoding encoding = HFileEncoding::kNone;
  std::string comparator;  // A Java class.
  bool comparator_is_known = false;
  bool is_encrypted = false;
  uint64_t uncompressed_bytes = 0;  // All blocks; encoded ones as encoded.
  // The data index: its levels, the entries of the root, which at one level are
  // the data blocks, and its size, uncompressed.
  uint64_t data_index_levels = 0;
  uint64_t data_index_root_entries = 0;
  uint64_t data_index_size_bytes = 0;
  // Cells that delete a whole family; -1 if the file does not say.
  int64_t delete_family_count = -1;
  std::map<std::string, std::string, std::less<>> file_info;
  std::vector<std::string> meta_blocks;  // The names of meta blocks.
  absl::Status meta_blocks_error;        // Why they cannot be listed.
};

struct HFileBloomChunkInfo {
  std::string first_key;    // ROWCOL: a serialized KeyValue key.
  uint64_t offset = 0;      // The chunk's block in the file.
  uint32_t size_bytes = 0;  // The size of that block.
};

// One Bloom filter of a file.
struct HFileBloomInfo {
  bool is_usable = false;
  std::string reason;  // Why it is not usable.
  // The reason with path and offset, if the filter should be usable: DataLoss
  // for damaged bytes, Unimplemented for an unknown format.
  absl::Status error;
  // The other fields are set as far as they are known. kNone if there is no
  // filter; kRow for the delete family filter.
  BloomType bloom_type = BloomType::kNone;
  uint32_t prefix_length_bytes = 0;
  std::optional<std::string> last_key;
  uint64_t size_bytes = 0;  // The sum of all chunks, uncompressed.
  uint64_t key_count = 0;
  uint64_t max_keys = 0;
  int32_t hash_count = 0;
  HFileHash hash = HFileHash::kMurmur;
  std::string comparator;
  std::vector<HFileBloomChunkInfo> chunks;
};

// A Get or a Scan.
struct HFileRead {
  static HFileRead Get(std::string_view row,
                       absl::Span<const std::string_view> qualifiers = {}) {
    return {row, row, true, true, qualifiers};
  }

  std::string_view start_row;  // Empty: from the first row.
  std::string_view stop_row;   // Empty: to the last row.
  bool include_start = true;
  bool include_stop = false;
  // The columns that are asked for by name; empty: all columns.
  absl::Span<const std::string_view> qualifiers = {};

  // One row, named at both ends.
  bool is_get() const {
    return !start_row.empty() && start_row == stop_row && include_start &&
           include_stop;
  }
};

// The keys by which a read can ask a filter.
enum class HFileFilterUse : uint8_t {
  kNone,     // No key: the file must be read.
  kRow,      // The row of a Get.
  kColumns,  // Each of its columns: the file is skipped if it has none of them.
  kPrefix,   // The first bytes of its start row.
};

// The use that a filter of this type has for a read. While a scan is within a
// row, a ROWCOL filter can also be asked column by column: MayContain(row,
// qualifier). A scan of rows that share the first `prefix_length_bytes` bytes
// may use a prefix filter; HBase itself does so only if both ends of the scan
// have that prefix. Files of hbase:meta are different, since their rows have
// another order: there use kPrefix for Gets only. For delete family filters see
// MayContainFamilyDelete().
HFileFilterUse ClassifyHFileRead(BloomType bloom_type,
                                 uint32_t prefix_length_bytes,
                                 const HFileRead& read);

// The steps by which a lookup came to its answer.
struct HFileProbe {
  std::string key;     // The key as it is hashed.
  int64_t chunk = -1;  // -1: before the first one.
  // The bits of the chunk, in the order of the probes.
  std::vector<int32_t> bits;
  std::vector<bool> bits_set;
  bool may_contain = true;
};
struct HFileExplanation {
  bool may_contain = true;
  std::string reason;
  std::vector<HFileProbe> probes;
  absl::Status status;  // Why the filter or a chunk could not be asked.
};

// A cell. The cell reader that returned it owns its bytes until its next
// Next().
struct HFileCell {
  static constexpr uint8_t kPut = 4;
  static constexpr uint8_t kDelete = 8;
  static constexpr uint8_t kDeleteFamilyVersion = 10;
  static constexpr uint8_t kDeleteColumn = 12;
  static constexpr uint8_t kDeleteFamily = 14;

  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp = 0;  // Usually milliseconds.
  uint8_t type = kPut;
  std::string_view value;
  std::string_view tags;  // As stored. Each tag: size (2 bytes), type, bytes.
  int64_t mvcc = 0;       // The sequence id in HBase.
};

// The size of data blocks that a file's writer was asked for (HBase:
// BLOCKSIZE), as far as the blocks tell: any size from `min` to `max` gives
// these blocks.
struct HFileBlockSize {
  uint32_t likely = 0;  // The usual size, or the roundest one.
  uint32_t min = 0;
  uint32_t max = 0;
};

// The header of a block.
struct HFileBlockInfo {
  std::string type;  // Its magic, as "DATABLK*".
  uint64_t offset = 0;
  uint64_t size_bytes = 0;  // In the file, header and checksums included.
  uint64_t uncompressed_size_bytes = 0;
  int64_t previous_offset = -1;  // The previous block of this type; or -1.
};

// Iterates over the cells of a file, in order. Belongs to one thread.
class HFileCellReader {
 public:
  virtual ~HFileCellReader() = default;
  // False at the end, and if there is an error: DataLoss also if the file's
  // number of cells differs from the number that it stores.
  virtual bool Next(HFileCell* cell) = 0;
  virtual const absl::Status& status() const = 0;
};

// True for an Unimplemented error that is due to age: HFile version 1, the
// table -ROOT-, the encoding PREFIX_TREE. Newer versions of rowbloom will not
// read such a file either; an older HBase rewrites it by a major compaction.
bool IsOlderThanSupported(const absl::Status& status);

class HFileReader {
 public:
  // InvalidArgument if the file is not an HFile, or for a file_id of 2^63 or
  // more; Unimplemented for version 1, versions after 3.3, and compression by
  // LZO, BZIP2 and others that rowbloom lacks; DataLoss if trailer or file info
  // are damaged, or if the data that is loaded at open exceeds 256 MiB.
  static absl::StatusOr<std::unique_ptr<HFileReader>> Open(
      const RandomAccessSource* source, const HFileReaderOptions& options = {});
  ~HFileReader();
  HFileReader(const HFileReader&) = delete;
  HFileReader& operator=(const HFileReader&) = delete;

  // "May the file hold a cell of this row?" ROW and ROWPREFIX_FIXED_LENGTH
  // filters know; a ROWCOL filter has no rows and always answers "maybe".
  bool MayContain(std::string_view row) const;
  // "May it hold this column, or a delete of the whole row?"
  bool MayContain(std::string_view row, std::string_view qualifier) const;
  bool MayContain(const HFileRead& read) const;
  // "May it hold a delete of this row's family?"
  bool MayContainFamilyDelete(std::string_view row) const;

  // These give the same answers, with reasons.
  HFileExplanation Explain(std::string_view row,
                           std::optional<std::string_view> qualifier) const;
  HFileExplanation ExplainFamilyDelete(std::string_view row) const;

  const HFileProperties& properties() const;
  const HFileBloomInfo& general_filter() const;
  const HFileBloomInfo& delete_family_filter() const;

  // Reads the bits of a chunk of one of these filters, which must be usable.
  absl::StatusOr<std::string> ReadChunk(const HFileBloomInfo& filter,
                                        size_t chunk) const;
  // The share of lookups of an absent row, or of a column of it, to which the
  // filter says "maybe" if they come to a chunk with these bits. In a ROWCOL
  // filter every column of a row with a family delete, or with a cell that has
  // an empty qualifier, is "maybe".
  static double ExpectedFpr(const HFileBloomInfo& filter,
                            std::string_view chunk_bits);
  // A meta block that the file's writer named, decompressed. NotFound if
  // absent.
  absl::StatusOr<std::string> ReadMetaBlock(std::string_view name) const;
  // Reads from the source; the reader must outlive it.
  std::unique_ptr<HFileCellReader> NewCellReader() const;
  // Reads up to 32 data blocks. nullopt if none can be read, or none is there.
  std::optional<HFileBlockSize> FindBlockSize() const;
  // Appends every block in the order of the file, by reading their headers. If
  // one is damaged, returns DataLoss after those before it.
  absl::Status ListBlocks(std::vector<HFileBlockInfo>* blocks) const;

  // Reads everything and checks every checksum and invariant: blocks, indexes,
  // filters, cells and their order, totals. `with_keys` also checks that the
  // filters find each cell. An encrypted file is checked as far as that needs
  // no key. ResourceExhausted if the first and last keys of data blocks, which
  // are kept, exceed the size of the file by 64 MiB.
  absl::Status Verify(bool with_keys) const;

  class ROWBLOOM_HIDDEN Impl;  // Opaque.

 private:
  ROWBLOOM_HIDDEN explicit HFileReader(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_HFILE_H_
