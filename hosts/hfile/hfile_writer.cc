// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/hfile_writer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "hfile/block.h"
#include "hfile/block_index.h"
#include "hfile/bloom_meta.h"
#include "hfile/bloom_writer.h"
#include "hfile/cell_encoder.h"
#include "hfile/cell_key.h"
#include "hfile/comparators.h"
#include "hfile/errors.h"
#include "hfile/file_info.h"
#include "hfile/trailer.h"
#include "util/absl_view.h"
#include "util/check.h"
#include "util/engine_call.h"

namespace rowbloom {

using hfile::BloomWriter;
using hfile::CellKey;
using hfile::ChunkGeometry;
using hfile::FileInfo;
using hfile::FindNumber;
using hfile::IndexEntry;
using hfile::InvalidArgument;
using hfile::NumberBytes;
using hfile::RowOrder;

namespace {

// File info that a writer states itself, or that is not true of its file.
constexpr const char* kOwnNames[] = {
    hfile::kBloomTypeName,         hfile::kBloomParamName,
    hfile::kLastBloomKeyName,      hfile::kDeleteFamilyCountName,
    hfile::kDataBlockEncodingName, hfile::kIndexBlockEncodingName,
    hfile::kKeyValueVersionName,   hfile::kMaxMemstoreTsName,
    hfile::kMaxTagsLenName,        hfile::kTagsCompressedName,
    hfile::kLastKeyName,           hfile::kAvgKeyLenName,
    hfile::kAvgValueLenName,       hfile::kCreateTimeName,
};

constexpr int32_t kKeyValueVersionWithMvcc = 1;

// Checks cell `number`.
absl::Status CheckCell(const HFileCell& cell, uint64_t number, bool has_tags) {
  if (!cell.tags.empty() && !has_tags) {
    return InvalidArgument("cell ", number, ": ", cell.tags.size(),
                           " bytes of tags would be lost; set has_tags");
  }
  if (cell.row.empty() || cell.row.size() > hfile::kMaxRowSize ||
      cell.family.size() > hfile::kMaxFamilySize ||
      cell.qualifier.size() > hfile::kMaxBlockSize ||
      cell.value.size() > hfile::kMaxBlockSize ||
      cell.tags.size() > std::numeric_limits<uint16_t>::max()) {
    return InvalidArgument(
        "cell ", number, ": ", cell.row.size(), " bytes of row (1 to ",
        hfile::kMaxRowSize, "), ", cell.family.size(), " of family (at most ",
        hfile::kMaxFamilySize, "), ", cell.qualifier.size(),
        " of qualifier and ", cell.value.size(), " of value (each at most ",
        hfile::kMaxBlockSize, "), ", cell.tags.size(), " of tags (at most ",
        std::numeric_limits<uint16_t>::max(), ")");
  }
  constexpr uint8_t kTypes[] = {
      hfile::kTypeMinimum,      HFileCell::kPut,
      HFileCell::kDelete,       HFileCell::kDeleteFamilyVersion,
      HFileCell::kDeleteColumn, HFileCell::kDeleteFamily,
      hfile::kTypeMaximum};
  if (cell.timestamp < 0 || std::find(std::begin(kTypes), std::end(kTypes),
                                      cell.type) == std::end(kTypes)) {
    return InvalidArgument("cell ", number, ", of row \"",
                           absl::CHexEscape(util::AbslView(cell.row)),
                           "\": none has timestamp ", cell.timestamp,
                           " and type ", static_cast<int>(cell.type));
  }
  return absl::OkStatus();
}

// Checks that each value has a name.
absl::Status CheckEnumerations(const HFileWriterOptions& options) {
  if (BloomTypeName(options.bloom_type) != "UNKNOWN" &&
      HFileHashName(options.hash) != "UNKNOWN" &&
      HFileChecksumName(options.checksum) != "UNKNOWN" &&
      hfile::IsKnownEncoding(options.encoding) &&
      options.profile <= HFileProfile::kWidest) {
    return absl::OkStatus();
  }
  return InvalidArgument("bloom_type ", static_cast<int>(options.bloom_type),
                         ", hash ", static_cast<int>(options.hash),
                         ", checksum ", static_cast<int>(options.checksum),
                         ", encoding ", static_cast<int>(options.encoding),
                         " or profile ", static_cast<int>(options.profile),
                         " is not known");
}

// HBase 0.98 knows neither a bloom type of HBase 2.2 nor a codec and an
// encoding of 1.4.
absl::Status CheckProfile(const HFileWriterOptions& options) {
  if (options.profile != HFileProfile::kWidest) return absl::OkStatus();
  const char* newer = nullptr;
  if (options.bloom_type == BloomType::kRowPrefixFixedLength) {
    newer = "bloom type ROWPREFIX_FIXED_LENGTH";
  } else if (options.compression == HFileCompression::kZstd) {
    newer = "compression ZSTD";
  } else if (options.encoding == HFileEncoding::kRowIndexV1) {
    newer = "encoding ROW_INDEX_V1";
  }
  if (newer == nullptr) return absl::OkStatus();
  return InvalidArgument(
      newer,
      " is not known to HBase 0.98, and a file for HBase 0.98 to 4 is asked "
      "for (the widest profile); choose another, or the names of HBase 2");
}

// The geometry of the general filter's chunks.
absl::StatusOr<ChunkGeometry> GeometryOf(const HFileWriterOptions& options) {
  return hfile::SizeChunk(
      options.chunk_size_bytes,
      hfile::EffectiveErrorRate(options.error_rate,
                                options.bloom_type == BloomType::kRowCol),
      options.max_fold);
}

// A lookup of a column asks a ROWCOL filter twice.
double LookupRate(BloomType type, double probe_rate) {
  if (type != BloomType::kRowCol) return probe_rate;
  return 1 - (1 - probe_rate) * (1 - probe_rate);
}

// The roundest number from `low` to `high`.
double Roundest(double low, double high) {
  const double usual = HFileWriterOptions().error_rate;
  if (low <= usual && usual <= high) return usual;
  double step = std::pow(10, std::floor(std::log10(high)));
  double number = 0;
  for (int digits = 0; digits < 7; ++digits, step /= 10) {
    number = std::ceil(low / step) * step;
    if (number <= high) return number;
  }
  return high;
}

// The rate that the filter was written for. Its meta has the number of keys for
// which its bits were meant; they follow from rate and hash count. Folding
// rounds that number down, by less than one for each chunk.
std::optional<float> RateOf(const HFileBloomInfo& filter) {
  if (filter.chunks.empty() || filter.hash_count == 0 || filter.max_keys == 0 ||
      filter.size_bytes == 0) {
    return std::nullopt;
  }
  const double hashes = filter.hash_count;
  const auto rate_for = [&](uint64_t max_keys) {
    return LookupRate(
        filter.bloom_type,
        std::pow(1 - std::exp(-hashes * static_cast<double>(max_keys) /
                              (8 * static_cast<double>(filter.size_bytes))),
                 hashes));
  };
  constexpr double kFloat = 1e-5;  // HBase calculates with float32.
  return static_cast<float>(Roundest(
      rate_for(filter.max_keys) * (1 - kFloat),
      rate_for(filter.max_keys + filter.chunks.size()) * (1 + kFloat)));
}

// The size of the filter's chunks before the last one was folded: 0 if none of
// them can be read.
int64_t ChunkSizeOf(const HFileReader& reader, const HFileBloomInfo& filter) {
  if (!filter.is_usable) return 0;
  const size_t last = filter.chunks.size() - 1;
  for (size_t i = 0; i < std::max<size_t>(last, 1); ++i) {
    const auto chunk = reader.ReadChunk(filter, i);
    if (!chunk.ok()) continue;
    auto size = static_cast<int64_t>(chunk->size());
    // An only chunk may be folded. Folded from the usual size it has the same
    // bits.
    const int64_t usual = HFileWriterOptions().chunk_size_bytes;
    while (last == 0 && 2 * size <= usual) size *= 2;
    return size;
  }
  return 0;
}

}  // namespace

class HFileWriter::Impl {
 public:
  Impl(const HFileWriterOptions& options, ByteSink* sink,
       const ChunkGeometry& general, const ChunkGeometry& delete_family);

  absl::Status Add(const HFileCell& cell);
  absl::Status Finish();

 private:
  absl::Status AddCell(const HFileCell& cell);
  // Appends a block and counts it; sets *place, if given, to its place.
  absl::Status WriteBlock(std::string_view magic, std::string_view payload,
                          IndexEntry* place = nullptr);
  absl::Status FinishDataBlock();
  absl::Status WriteChunks(BloomWriter* bloom, bool closing);
  absl::Status WriteInlineBlocks(bool closing);
  absl::Status WriteMetaBlocks();
  FileInfo MakeFileInfo() const;
  absl::Status WriteBloomMeta(const BloomWriter& bloom, bool is_rowcol,
                              std::string_view magic);

  const HFileWriterOptions options_;
  ByteSink* const sink_;
  const RowOrder row_order_;
  hfile::BlockStyle style_;
  std::optional<BloomWriter> general_;
  std::optional<BloomWriter> delete_family_;
  hfile::Trailer trailer_;
  uint64_t offset_ = 0;
  std::map<std::string, int64_t, std::less<>> last_of_type_;
  hfile::CellEncoder block_;  // The open data block.
  std::string block_first_key_;
  std::string root_index_;
  std::string meta_index_;
  std::string last_key_;  // The previous cell's.
  uint64_t key_bytes_ = 0;
  uint64_t value_bytes_ = 0;
  int64_t max_mvcc_ = 0;
  int32_t max_tags_size_ = 0;
  int64_t delete_family_count_ = 0;
  absl::Status status_;
  bool is_finished_ = false;
};

HFileWriter::Impl::Impl(const HFileWriterOptions& options, ByteSink* sink,
                        const ChunkGeometry& general,
                        const ChunkGeometry& delete_family)
    : options_(options),
      sink_(sink),
      row_order_(options.is_meta_table ? RowOrder::kMeta : RowOrder::kBytes),
      block_(options.encoding,
             {options.has_tags, options.has_mvcc, options.compress_tags}) {
  style_.compression = options.compression;
  style_.checksum = options.checksum;
  style_.bytes_per_checksum = options.bytes_per_checksum;
  if (options.bloom_type != BloomType::kNone) {
    general_.emplace(options.bloom_type, options.prefix_length_bytes,
                     row_order_, options.hash, general);
  }
  if (options.delete_family_filter &&
      options.bloom_type != BloomType::kRowCol) {
    delete_family_.emplace(BloomType::kRow, 0, row_order_, options.hash,
                           delete_family);
  }
}

absl::Status HFileWriter::Impl::WriteBlock(std::string_view magic,
                                           std::string_view payload,
                                           IndexEntry* place) {
  const auto last = last_of_type_.find(magic);
  const absl::StatusOr<std::string> block = hfile::SerializeBlock(
      style_, magic, last == last_of_type_.end() ? -1 : last->second, payload);
  if (!block.ok()) return block.status();
  absl::Status status = util::EngineCall([&] { return sink_->Append(*block); });
  if (!status.ok()) return status;
  last_of_type_[std::string(magic)] = static_cast<int64_t>(offset_);
  trailer_.total_uncompressed_bytes += hfile::kHeaderSize + payload.size();
  if (place != nullptr) {
    place->offset = offset_;
    place->size = static_cast<uint32_t>(block->size());
  }
  offset_ += block->size();
  return absl::OkStatus();
}

absl::Status HFileWriter::Impl::FinishDataBlock() {
  if (block_.is_empty()) return absl::OkStatus();
  IndexEntry entry;
  absl::Status status = WriteBlock(block_.magic(), block_.Finish(), &entry);
  if (!status.ok()) return status;
  const auto offset = static_cast<int64_t>(entry.offset);
  if (trailer_.first_data_block_offset < 0) {
    trailer_.first_data_block_offset = offset;
  }
  trailer_.last_data_block_offset = offset;
  entry.key = block_first_key_;
  hfile::AppendRootIndexEntry(entry, &root_index_);
  ++trailer_.data_index_count;
  return absl::OkStatus();
}

absl::Status HFileWriter::Impl::WriteChunks(BloomWriter* bloom, bool closing) {
  while (std::optional<BloomWriter::ReadyChunk> chunk =
             bloom->NextChunk(closing)) {
    IndexEntry place;
    absl::Status status =
        WriteBlock(hfile::kBloomChunkMagic, chunk->bits, &place);
    if (!status.ok()) return status;
    bloom->ChunkWritten(place.offset, place.size, std::move(chunk->first_key));
  }
  return absl::OkStatus();
}

absl::Status HFileWriter::Impl::WriteInlineBlocks(bool closing) {
  absl::Status status;
  if (general_.has_value()) status = WriteChunks(&*general_, closing);
  if (status.ok() && delete_family_.has_value()) {
    status = WriteChunks(&*delete_family_, closing);
  }
  return status;
}

absl::Status HFileWriter::Impl::WriteMetaBlocks() {
  for (const auto& [name, payload] : options_.meta_blocks) {
    IndexEntry entry;
    absl::Status status = WriteBlock(hfile::kMetaMagic, payload, &entry);
    if (!status.ok()) return status;
    entry.key = name;
    hfile::AppendRootIndexEntry(entry, &meta_index_);
    ++trailer_.meta_index_count;
  }
  return absl::OkStatus();
}

absl::Status HFileWriter::Impl::Add(const HFileCell& cell) {
  RB_CHECK(!is_finished_, "HFileWriter::Add() after Finish()");
  if (status_.ok()) status_ = AddCell(cell);
  return status_;
}

absl::Status HFileWriter::Impl::AddCell(const HFileCell& cell) {
  absl::Status status =
      CheckCell(cell, trailer_.entry_count, options_.has_tags);
  if (!status.ok()) return status;
  const CellKey key = {cell.row, cell.family, cell.qualifier, cell.timestamp,
                       cell.type};
  CellKey before;
  bool repeats = false;
  if (trailer_.entry_count > 0 && hfile::ParseCellKey(last_key_, &before)) {
    const int order = hfile::CompareCellKeys(row_order_, before, key);
    if (order > 0) {
      return InvalidArgument("cell ", trailer_.entry_count, ", of row \"",
                             absl::CHexEscape(util::AbslView(cell.row)),
                             "\", is before the one before it, of row \"",
                             absl::CHexEscape(util::AbslView(before.row)),
                             "\"");
    }
    repeats = order == 0;
  }
  // HBase's order of steps decides the places of chunks: first the filters,
  // then the end of the previous block, then the cell.
  if (general_.has_value()) status = general_->Add(cell);
  if (hfile::IsFamilyDelete(cell)) {
    ++delete_family_count_;
    if (delete_family_.has_value()) status.Update(delete_family_->Add(cell));
  }
  if (!status.ok()) return status;
  if (!repeats && block_.size() >= options_.block_size_bytes) {
    status = FinishDataBlock();
    if (status.ok()) status = WriteInlineBlocks(/*closing=*/false);
    if (!status.ok()) return status;
  }
  last_key_.clear();
  hfile::AppendCellKey(key, &last_key_);
  if (block_.is_empty()) block_first_key_ = last_key_;
  status = block_.Add(cell, last_key_);
  if (!status.ok()) {
    return InvalidArgument("cell ", trailer_.entry_count, ": ",
                           status.message());
  }
  max_tags_size_ =
      std::max(max_tags_size_, static_cast<int32_t>(cell.tags.size()));
  max_mvcc_ = std::max(max_mvcc_, cell.mvcc);
  key_bytes_ += last_key_.size();
  value_bytes_ += cell.value.size();
  ++trailer_.entry_count;
  return absl::OkStatus();
}

FileInfo HFileWriter::Impl::MakeFileInfo() const {
  FileInfo info = options_.file_info;
  for (const char* name : kOwnNames) info.erase(name);
  const uint64_t cells = std::max<uint64_t>(trailer_.entry_count, 1);
  if (trailer_.entry_count > 0) info[hfile::kLastKeyName] = last_key_;
  info[hfile::kAvgKeyLenName] =
      NumberBytes(static_cast<int32_t>(key_bytes_ / cells));
  info[hfile::kAvgValueLenName] =
      NumberBytes(static_cast<int32_t>(value_bytes_ / cells));
  if (options_.create_time_ms != 0) {
    info[hfile::kCreateTimeName] = NumberBytes(options_.create_time_ms);
  }
  if (options_.has_tags) {
    info[hfile::kMaxTagsLenName] = NumberBytes(max_tags_size_);
    const bool is_compressed =
        options_.compress_tags && options_.encoding != HFileEncoding::kNone;
    info[hfile::kTagsCompressedName] =
        std::string(1, is_compressed ? '\xff' : '\0');
  }
  if (options_.has_mvcc) {
    info[hfile::kKeyValueVersionName] = NumberBytes(kKeyValueVersionWithMvcc);
    info[hfile::kMaxMemstoreTsName] = NumberBytes(max_mvcc_);
  }
  if (options_.encoding != HFileEncoding::kNone) {
    info[hfile::kDataBlockEncodingName] =
        std::string(HFileEncodingName(options_.encoding));
  }
  info[hfile::kDeleteFamilyCountName] = NumberBytes(delete_family_count_);
  if (general_.has_value() && general_->meta().key_count > 0) {
    info[hfile::kBloomTypeName] =
        std::string(BloomTypeName(options_.bloom_type));
    info[hfile::kLastBloomKeyName] = std::string(general_->keys().hashed());
    if (options_.bloom_type == BloomType::kRowPrefixFixedLength) {
      info[hfile::kBloomParamName] =
          NumberBytes(static_cast<int32_t>(options_.prefix_length_bytes));
    }
  }
  return info;
}

absl::Status HFileWriter::Impl::WriteBloomMeta(const BloomWriter& bloom,
                                               bool is_rowcol,
                                               std::string_view magic) {
  if (bloom.meta().key_count == 0) return absl::OkStatus();
  hfile::BloomMeta meta = bloom.meta();
  if (options_.profile == HFileProfile::kWidest) {
    meta.comparator =
        is_rowcol ? hfile::kKvComparator : hfile::kRawBytesComparator;
  } else if (is_rowcol) {
    meta.comparator = hfile::kCellComparatorImpl;
  }
  return WriteBlock(magic, hfile::SerializeBloomMeta(meta));
}

absl::Status HFileWriter::Impl::Finish() {
  RB_CHECK(!is_finished_, "HFileWriter::Finish() was called twice");
  is_finished_ = true;
  absl::Status status = status_;
  if (status.ok()) status = FinishDataBlock();
  if (status.ok()) status = WriteInlineBlocks(/*closing=*/true);
  if (status.ok()) status = WriteMetaBlocks();
  trailer_.load_on_open_offset = offset_;
  trailer_.uncompressed_data_index_size = root_index_.size();
  const uint64_t without_root = trailer_.total_uncompressed_bytes;
  if (status.ok()) status = WriteBlock(hfile::kRootIndexMagic, root_index_);
  trailer_.total_uncompressed_bytes = without_root;  // HBase counts so.
  if (status.ok()) status = WriteBlock(hfile::kRootIndexMagic, meta_index_);
  trailer_.file_info_offset = offset_;
  if (status.ok()) {
    status = WriteBlock(hfile::kFileInfoMagic,
                        hfile::SerializeFileInfo(MakeFileInfo()));
  }
  if (status.ok() && general_.has_value()) {
    status =
        WriteBloomMeta(*general_, options_.bloom_type == BloomType::kRowCol,
                       hfile::kGeneralBloomMagic);
  }
  if (status.ok() && delete_family_.has_value()) {
    status =
        WriteBloomMeta(*delete_family_, false, hfile::kDeleteFamilyBloomMagic);
  }
  if (!status.ok()) return status;
  trailer_.comparator =
      options_.is_meta_table ? hfile::kMetaComparator : hfile::kKvComparator;
  trailer_.compression = static_cast<uint64_t>(options_.compression);
  trailer_.total_uncompressed_bytes += trailer_.size();
  return util::EngineCall(
      [&] { return sink_->Append(hfile::SerializeTrailer(trailer_)); });
}

HFileWriterOptions OptionsOf(const HFileReader& reader) {
  const HFileProperties& properties = reader.properties();
  const HFileBloomInfo& filter = reader.general_filter();
  HFileWriterOptions options;
  options.bloom_type = filter.bloom_type;
  options.prefix_length_bytes = filter.prefix_length_bytes;
  // A filter that was refused has its hash, too.
  options.hash =
      filter.chunks.empty() ? reader.delete_family_filter().hash : filter.hash;
  // The more chunks, the more exact.
  const HFileBloomInfo& deletes = reader.delete_family_filter();
  const HFileBloomInfo& sized =
      filter.chunks.size() < deletes.chunks.size() ? deletes : filter;
  options.error_rate = RateOf(sized).value_or(options.error_rate);
  if (const int64_t size = ChunkSizeOf(reader, sized); size > 0) {
    options.chunk_size_bytes = size;
    while (size % (int64_t{1} << options.max_fold) != 0) --options.max_fold;
  }
  options.compression = properties.compression;
  if (properties.bytes_per_checksum > 0) {
    options.checksum = properties.checksum;
    options.bytes_per_checksum = properties.bytes_per_checksum;
  }
  // Files of type ROWCOL or without deletes have no such filter.
  options.delete_family_filter =
      filter.bloom_type == BloomType::kRowCol ||
      properties.delete_family_count <= 0 ||
      reader.delete_family_filter().bloom_type != BloomType::kNone ||
      !reader.delete_family_filter().error.ok();
  if (hfile::IsKnownEncoding(properties.encoding)) {
    options.encoding = properties.encoding;
  }
  if (const auto block_size = reader.FindBlockSize()) {
    options.block_size_bytes = block_size->likely;
  }
  options.compress_tags =
      FindNumber<uint8_t>(properties.file_info, hfile::kTagsCompressedName)
          .value_or(0) != 0;
  options.has_tags = properties.file_info.count(hfile::kMaxTagsLenName) > 0;
  options.has_mvcc =
      FindNumber<int32_t>(properties.file_info, hfile::kKeyValueVersionName) ==
      kKeyValueVersionWithMvcc;
  options.is_meta_table =
      hfile::OrderOfFile(properties.comparator) == RowOrder::kMeta;
  options.create_time_ms =
      FindNumber<int64_t>(properties.file_info, hfile::kCreateTimeName)
          .value_or(0);
  options.file_info = properties.file_info;
  for (const char* name : kOwnNames) options.file_info.erase(name);
  for (const auto& [name, value] : properties.file_info) {
    if (!hfile::IsUnknownBloomEntry(name)) continue;
    // The type with this entry is another type, which the writer lacks.
    options.bloom_type = BloomType::kNone;
    options.file_info.erase(name);
  }
  return options;
}

absl::StatusOr<HFileFilterPlan> PlanHFileFilter(
    const HFileWriterOptions& options, uint64_t key_count) {
  HFileFilterPlan plan;
  if (options.bloom_type == BloomType::kNone || key_count == 0) return plan;
  const absl::StatusOr<ChunkGeometry> geometry = GeometryOf(options);
  if (!geometry.ok()) return geometry.status();
  // A chunk that is full before its first key takes one.
  const auto capacity =
      static_cast<uint64_t>(std::max<int64_t>(1, geometry->max_keys));
  plan.hash_count = geometry->hash_count;
  plan.chunk_count = (key_count + capacity - 1) / capacity;
  const uint64_t in_last = key_count - (plan.chunk_count - 1) * capacity;
  ChunkGeometry last = *geometry;
  hfile::FoldGeometry(static_cast<int64_t>(in_last), &last);
  plan.size_bytes =
      (plan.chunk_count - 1) * static_cast<uint64_t>(geometry->size_bytes) +
      static_cast<uint64_t>(last.size_bytes);
  const double positives =
      static_cast<double>(key_count - in_last) *
          hfile::ExpectedChunkFpr(*geometry, capacity) +
      static_cast<double>(in_last) * hfile::ExpectedChunkFpr(last, in_last);
  plan.expected_fpr = LookupRate(options.bloom_type,
                                 positives / static_cast<double>(key_count));
  return plan;
}

HFileWriter::HFileWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HFileWriter::~HFileWriter() = default;

absl::StatusOr<std::unique_ptr<HFileWriter>> HFileWriter::Make(
    const HFileWriterOptions& options, ByteSink* sink) {
  if (sink == nullptr) return InvalidArgument("the sink is null");
  absl::Status status = CheckEnumerations(options);
  if (status.ok()) status = CheckProfile(options);
  if (!status.ok()) return status;
  if (options.bytes_per_checksum < hfile::kHeaderSize ||
      options.bytes_per_checksum > hfile::kMaxBytesPerChecksum ||
      options.block_size_bytes == 0 ||
      options.block_size_bytes > hfile::kMaxBlockSize / 2) {
    return InvalidArgument("bytes_per_checksum is ", options.bytes_per_checksum,
                           ", ", hfile::kHeaderSize, " to ",
                           hfile::kMaxBytesPerChecksum,
                           "; block_size_bytes is ", options.block_size_bytes,
                           ", 1 to ", hfile::kMaxBlockSize / 2);
  }
  if (options.bloom_type == BloomType::kRowPrefixFixedLength &&
      (options.prefix_length_bytes < 1 ||
       options.prefix_length_bytes > hfile::kMaxRowSize)) {
    return InvalidArgument(
        "prefix_length_bytes is ", options.prefix_length_bytes,
        "; with ROWPREFIX_FIXED_LENGTH 1 to ", hfile::kMaxRowSize);
  }
  const auto general = GeometryOf(options);
  if (!general.ok()) return general.status();
  const auto delete_family = hfile::SizeChunk(
      options.chunk_size_bytes,
      hfile::EffectiveErrorRate(options.error_rate, false), options.max_fold);
  if (!delete_family.ok()) return delete_family.status();
  // Finds a missing codec now, and not when the first block is full.
  const auto probe = hfile::SerializeBlock(
      {options.compression, options.checksum, options.bytes_per_checksum},
      hfile::kDataMagic, -1, {});
  if (!probe.ok()) return probe.status();
  return std::unique_ptr<HFileWriter>(new HFileWriter(
      std::make_unique<Impl>(options, sink, *general, *delete_family)));
}

absl::Status HFileWriter::Add(const HFileCell& cell) {
  return impl_->Add(cell);
}

absl::Status HFileWriter::Finish() { return impl_->Finish(); }

}  // namespace rowbloom
