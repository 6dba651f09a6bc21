// SPDX-License-Identifier: Apache-2.0
//
// Reads a whole file and checks everything that can be checked. The trailer has
// no checksum, so each of its fields is compared with the part that it
// describes.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "hfile/bloom_writer.h"
#include "hfile/comparators.h"
#include "hfile/errors.h"
#include "hfile/hfile_reader_impl.h"
#include "hfile/vlong.h"
#include "util/coding.h"
#include "util/source_read.h"

namespace rowbloom::hfile {
namespace {

constexpr size_t kVerifyCacheBytes = 64 << 20;
// Three are enough for all that HBase writes; each takes memory.
constexpr uint64_t kMaxIndexLevels = 12;
// The limit for the index blocks from the root to a leaf.
constexpr uint64_t kMaxIndexBytes = kMaxBlockSize;
// Two keys of each data block are kept. They are a small part of it, or the
// same key: the first keys may take the size of the file plus this limit, and
// the last keys, too.
constexpr uint64_t kMaxExtraKeyBytes = 32 << 20;

// A data block as it was read, for comparison with the index.
struct DataBlock {
  uint64_t offset = 0;
  uint64_t size = 0;
  std::string first_key;
  std::string last_key;
};

// Hudi's writer cuts the keys of the index after the row: the key is then the
// first that a row can have.
bool ParseIndexKey(std::string_view bytes, CellKey* key) {
  if (ParseCellKey(bytes, key)) return true;
  *key = CellKey();
  int16_t row_size;
  return util::ReadBigEndian(&bytes, &row_size) &&
         ReadBytes(&bytes, row_size, &key->row) && bytes.empty();
}

class Verifier {
 public:
  Verifier(const HFileReader::Impl& file, bool with_keys);

  absl::Status Run();

 private:
  using Filter = HFileReader::Impl::Filter;

  template <typename... Parts>
  absl::Status DataLoss(uint64_t offset, const Parts&... parts) const {
    return DataLossAt(*format_.source, offset, parts...);
  }
  absl::StatusOr<std::string> ReadPiece(uint64_t offset, uint64_t size) const;
  // Visits all blocks; from load_on_open_offset on, other types are allowed.
  absl::Status WalkBlocks();
  absl::Status VisitBlock(const Block& block);
  absl::Status VisitLoadedBlock(const Block& block);
  absl::Status VisitData(const Block& block);
  absl::Status VisitCell(const HFileCell& cell, DataBlock* data);
  absl::Status FindKeys(const HFileCell& cell);
  absl::Status FindKey(const Filter& filter,
                       const BloomFilter::Question& question,
                       const char* which);
  absl::Status CheckTrailer() const;
  absl::Status CheckTrailerBytes() const;
  absl::Status CheckFileInfo() const;
  absl::Status CheckDataIndex() const;
  // The progress of the walk over the data index.
  struct IndexWalk {
    size_t data_count = 0;
    size_t inner_count = 0;
    uint64_t held_bytes = 0;  // In blocks from the root to here.
  };
  // Checks entries of the data index whose blocks are `levels_below` levels
  // above the data.
  absl::Status CheckEntries(const std::vector<IndexEntry>& entries,
                            uint64_t levels_below, IndexWalk* walk) const;
  absl::Status CheckInnerIndex(const IndexEntry& entry, uint64_t levels_below,
                               IndexWalk* walk) const;
  // Checks an entry against data block `i`.
  absl::Status CheckEntry(const IndexEntry& entry, size_t i) const;
  absl::Status CheckMetaIndex() const;
  absl::Status CheckFilter(const Filter& filter, uint64_t seen_keys,
                           const char* which);

  const HFileReader::Impl& file_;
  const Trailer& trailer_;
  const BlockFormat& format_;
  const bool with_keys_;
  CellDecoder decoder_;
  RowOrder row_order_;

  std::map<std::string, uint64_t, std::less<>> last_of_type_;
  uint64_t uncompressed_bytes_ = 0;
  uint64_t uncompressed_index_size_ = 0;
  std::vector<DataBlock> data_blocks_;
  uint64_t kept_key_bytes_ = 0;  // In data_blocks_.
  // Offset to size, in the file and of the payload.
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> inner_indexes_;
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> chunks_;
  std::map<uint64_t, uint64_t> meta_blocks_;
  std::vector<Block> roots_;
  uint64_t cell_count_ = 0;
  uint64_t delete_family_count_ = 0;
  std::string last_key_;  // The previous cell's.
  BloomKeys general_keys_;
  BloomKeys delete_family_keys_;
};

Verifier::Verifier(const HFileReader::Impl& file, bool with_keys)
    : file_(file),
      trailer_(file.trailer()),
      format_(file.format()),
      with_keys_(with_keys),
      decoder_(file.layout()),
      row_order_(file.row_order().value_or(RowOrder::kBytes)),
      general_keys_(file.general().info.bloom_type,
                    file.general().info.prefix_length_bytes),
      delete_family_keys_(BloomType::kRow, 0) {}

absl::StatusOr<std::string> Verifier::ReadPiece(uint64_t offset,
                                                uint64_t size) const {
  std::string scratch(static_cast<size_t>(size), '\0');
  std::string_view bytes;
  absl::Status status = util::ReadExactly(
      *format_.source, offset, scratch.size(), scratch.data(), &bytes);
  if (!status.ok()) return status;
  return std::string(bytes);
}

absl::Status Verifier::WalkBlocks() {
  for (uint64_t offset = 0; offset < trailer_.offset;) {
    const absl::StatusOr<BlockHeader> header = ReadBlockHeader(format_, offset);
    if (!header.ok()) return header.status();
    const uint64_t end = offset + header->size;
    if (offset < trailer_.load_on_open_offset &&
        end > trailer_.load_on_open_offset) {
      return DataLoss(offset, "a block ends at ", end,
                      ", and the trailer has one begin at ",
                      trailer_.load_on_open_offset);
    }
    const absl::StatusOr<std::string> bytes = ReadPiece(offset, header->size);
    if (!bytes.ok()) return bytes.status();
    if (!IsKnownMagic(header->magic)) {
      absl::Status status = VerifyBlock(format_, *header, *bytes);
      status.Update(UnimplementedAt(*format_.source, offset, "block type \"",
                                    absl::CHexEscape(header->magic),
                                    "\" is not known"));
      return status;
    }
    // The previous block of the type.
    const std::string type(IsDataMagic(header->magic) ? std::string(kDataMagic)
                                                      : header->magic);
    const auto previous = last_of_type_.find(type);
    const int64_t expected = previous == last_of_type_.end()
                                 ? -1
                                 : static_cast<int64_t>(previous->second);
    if (header->previous_offset != expected &&
        (header->previous_offset != -1 || format_.states_previous)) {
      return DataLoss(offset, "the block before has offset ", expected,
                      ", and the header says ", header->previous_offset);
    }
    last_of_type_[type] = offset;
    absl::Status status;
    if (trailer_.is_encrypted()) {
      status = VerifyBlock(format_, *header, *bytes);
    } else {
      const absl::StatusOr<Block> block = ParseBlock(format_, *header, *bytes);
      if (!block.ok()) return block.status();
      // HBase does not count the upper levels of the data index.
      if (header->magic != kIntermediateIndexMagic &&
          offset != trailer_.load_on_open_offset) {
        uncompressed_bytes_ += format_.header_size() + block->payload.size();
      }
      status = VisitBlock(*block);
    }
    if (!status.ok()) return status;
    offset = end;
  }
  return absl::OkStatus();
}

absl::Status Verifier::VisitBlock(const Block& block) {
  const BlockHeader& header = block.header;
  if (header.offset >= trailer_.load_on_open_offset) {
    return VisitLoadedBlock(block);
  }
  if (IsDataMagic(header.magic)) return VisitData(block);
  if (header.magic == kLeafIndexMagic ||
      header.magic == kIntermediateIndexMagic) {
    uncompressed_index_size_ += block.payload.size();
    inner_indexes_[header.offset] = {header.size, block.payload.size()};
  } else if (header.magic == kBloomChunkMagic) {
    chunks_[header.offset] = {header.size, block.payload.size()};
  } else if (header.magic == kMetaMagic) {
    meta_blocks_[header.offset] = header.size;
  } else {
    return DataLoss(header.offset, "a block \"", header.magic,
                    "\" before the end of the data blocks");
  }
  return absl::OkStatus();
}

// Accepts roots, file info and Bloom metas, in this order.
absl::Status Verifier::VisitLoadedBlock(const Block& block) {
  const BlockHeader& header = block.header;
  const bool is_root = header.magic == kRootIndexMagic;
  const bool is_info = header.magic == kFileInfoMagic;
  if (is_root && roots_.size() < 2) {
    if (roots_.empty()) uncompressed_index_size_ += block.payload.size();
    roots_.push_back(block);
    return absl::OkStatus();
  }
  if (roots_.size() == 2 &&
      (is_info ? header.offset == trailer_.file_info_offset
               : header.offset > trailer_.file_info_offset &&
                     (header.magic == kGeneralBloomMagic ||
                      header.magic == kDeleteFamilyBloomMagic))) {
    return absl::OkStatus();
  }
  return DataLoss(header.offset, "a block \"", header.magic,
                  "\" where none is when a file is opened");
}

absl::Status Verifier::VisitData(const Block& block) {
  const BlockHeader& header = block.header;
  absl::Status status = decoder_.Start(header.magic, block.payload);
  DataBlock data;
  data.offset = header.offset;
  data.size = header.size;
  while (status.ok() && !decoder_.AtEnd()) {
    HFileCell cell;
    status = decoder_.Next(&cell);
    if (status.ok()) status = VisitCell(cell, &data);
  }
  if (status.ok() && data.first_key.empty()) {
    status = absl::DataLossError("a data block without cells");
  }
  kept_key_bytes_ += data.first_key.size() + data.last_key.size();
  if (status.ok() &&
      kept_key_bytes_ / 2 > SizeOf(*format_.source) + kMaxExtraKeyBytes) {
    status = absl::ResourceExhaustedError(absl::StrCat(
        "the first and last keys of data blocks, which are kept, have ",
        kept_key_bytes_, " bytes up to here, of a file of ",
        SizeOf(*format_.source)));
  }
  data_blocks_.push_back(std::move(data));
  return Annotate(*format_.source, header.offset, status);
}

absl::Status Verifier::VisitCell(const HFileCell& cell, DataBlock* data) {
  const CellKey key = {cell.row, cell.family, cell.qualifier, cell.timestamp,
                       cell.type};
  CellKey before;
  if (cell_count_ > 0 && file_.row_order().has_value() &&
      ParseCellKey(last_key_, &before) &&
      CompareCellKeys(row_order_, before, key) > 0) {
    return hfile::DataLoss("cell ", cell_count_, " of the file, of row \"",
                           absl::CHexEscape(util::AbslView(cell.row)),
                           "\", is before the one before it");
  }
  ++cell_count_;
  if (IsFamilyDelete(cell)) ++delete_family_count_;
  last_key_.clear();
  AppendCellKey(key, &last_key_);
  if (data->first_key.empty()) data->first_key = last_key_;
  data->last_key = last_key_;
  return with_keys_ ? FindKeys(cell) : absl::OkStatus();
}

absl::Status Verifier::FindKeys(const HFileCell& cell) {
  absl::Status status;
  if (file_.general().info.is_usable && general_keys_.Next(cell)) {
    status = FindKey(file_.general(),
                     {general_keys_.key(), general_keys_.hashed()}, "general");
  }
  if (status.ok() && file_.delete_family().info.is_usable &&
      IsFamilyDelete(cell) && delete_family_keys_.Next(cell)) {
    status = FindKey(file_.delete_family(),
                     {delete_family_keys_.key(), delete_family_keys_.hashed()},
                     "delete family");
  }
  return status;
}

absl::Status Verifier::FindKey(const Filter& filter,
                               const BloomFilter::Question& question,
                               const char* which) {
  if (filter.last_key.has_value() &&
      filter.bloom->Compare(question.key, *filter.last_key) > 0) {
    return hfile::DataLoss(
        "the last key of the ", which, " filter is before row \"",
        absl::CHexEscape(util::AbslView(question.key.row)), "\"");
  }
  if (file_.Probe(filter, question, nullptr)) return absl::OkStatus();
  return hfile::DataLoss(
      "the ", which, " filter says no to a key that is there: row \"",
      absl::CHexEscape(util::AbslView(question.key.row)), "\", qualifier \"",
      absl::CHexEscape(util::AbslView(question.key.qualifier)), "\"");
}

absl::Status Verifier::CheckTrailer() const {
  const auto check = [&](const char* what, uint64_t stated,
                         uint64_t counted) -> absl::Status {
    if (stated == counted) return absl::OkStatus();
    return DataLoss(trailer_.offset, "the trailer has ", stated, " ", what,
                    ", there are ", counted);
  };
  absl::Status status = check("cells", trailer_.entry_count, cell_count_);
  // Hudi's writer leaves out the first, and counts the second differently.
  if (trailer_.total_uncompressed_bytes != 0) {
    status.Update(check("uncompressed bytes", trailer_.total_uncompressed_bytes,
                        uncompressed_bytes_ + trailer_.size()));
    status.Update(check("bytes of data index",
                        trailer_.uncompressed_data_index_size,
                        uncompressed_index_size_));
  }
  const uint64_t none = static_cast<uint64_t>(int64_t{-1});
  status.Update(
      check("as the offset of the first data block",
            static_cast<uint64_t>(trailer_.first_data_block_offset),
            data_blocks_.empty() ? none : data_blocks_.front().offset));
  status.Update(
      check("as the offset of the last data block",
            static_cast<uint64_t>(trailer_.last_data_block_offset),
            data_blocks_.empty() ? none : data_blocks_.back().offset));
  if (status.ok()) status = CheckTrailerBytes();
  if (status.ok() && !file_.row_order().has_value()) {
    return Annotate(*format_.source, trailer_.offset,
                    UnknownComparator(trailer_.comparator));
  }
  return status;
}

// Known fields have only one serialized form.
absl::Status Verifier::CheckTrailerBytes() const {
  if (!trailer_.is_proto()) return absl::OkStatus();
  const absl::StatusOr<std::string> bytes =
      ReadPiece(trailer_.offset, trailer_.size());
  if (!bytes.ok()) return bytes.status();
  if (*bytes == SerializeTrailer(trailer_)) return absl::OkStatus();
  return Annotate(
      *format_.source, trailer_.offset,
      absl::UnimplementedError(
          "the trailer has fields that are not known, or lacks one"));
}

absl::Status Verifier::CheckFileInfo() const {
  const HFileProperties& properties = file_.properties();
  const std::string* last_key = FindInfo(properties.file_info, kLastKeyName);
  // Hudi's writer cuts it after the row.
  CellKey last;
  if (last_key != nullptr &&
      (last_key_.compare(0, last_key->size(), *last_key) != 0 ||
       (ParseCellKey(last_key_, &last) &&
        last_key->size() < kRowSizeSize + last.row.size()))) {
    return DataLoss(trailer_.file_info_offset,
                    "file info has another last key than the last cell");
  }
  if (properties.delete_family_count >= 0 &&
      static_cast<uint64_t>(properties.delete_family_count) !=
          delete_family_count_) {
    return DataLoss(trailer_.file_info_offset, "file info has ",
                    properties.delete_family_count,
                    " deletes of families, there are ", delete_family_count_);
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckEntry(const IndexEntry& entry, size_t i) const {
  if (i >= data_blocks_.size()) {
    return DataLoss(trailer_.load_on_open_offset, "entry ", i,
                    " of the data index, of ", entry.size, " bytes at ",
                    entry.offset, "; there are ", data_blocks_.size(),
                    " data blocks");
  }
  const DataBlock& data = data_blocks_[i];
  CellKey key;
  CellKey first;
  CellKey before;
  const bool in_place =
      entry.offset == data.offset && entry.size == data.size &&
      ParseIndexKey(entry.key, &key) && ParseCellKey(data.first_key, &first);
  const bool in_order =
      in_place &&
      (!file_.row_order().has_value() ||
       (CompareCellKeys(row_order_, key, first) <= 0 &&
        (i == 0 || (ParseCellKey(data_blocks_[i - 1].last_key, &before) &&
                    CompareCellKeys(row_order_, before, key) < 0))));
  if (in_order) return absl::OkStatus();
  return DataLoss(data.offset, "entry ", i, " of the data index, of ",
                  entry.size, " bytes at ", entry.offset,
                  ", is not of this block");
}

absl::Status Verifier::CheckInnerIndex(const IndexEntry& entry,
                                       uint64_t levels_below,
                                       IndexWalk* walk) const {
  const auto found = inner_indexes_.find(entry.offset);
  // Each block is visited once.
  if (found == inner_indexes_.end() || found->second.first != entry.size ||
      ++walk->inner_count > inner_indexes_.size()) {
    return DataLoss(entry.offset, "the data index has a block of ", entry.size,
                    " bytes here that is not there");
  }
  const uint64_t payload_size = found->second.second;
  if (payload_size > kMaxIndexBytes - walk->held_bytes) {
    return DataLoss(entry.offset, "a block of the data index of ", payload_size,
                    " bytes below others of ", walk->held_bytes,
                    "; together they have at most ", kMaxIndexBytes);
  }
  std::vector<IndexEntry> below;
  {
    const absl::StatusOr<Block> block =
        ReadBlock(format_, entry.offset, "", entry.size);
    if (!block.ok()) return block.status();
    absl::StatusOr<std::vector<IndexEntry>> parsed = ParseInnerIndex(
        block->payload, data_blocks_.size() + inner_indexes_.size());
    if (!parsed.ok()) {
      return Annotate(*format_.source, entry.offset, parsed.status());
    }
    below = *std::move(parsed);
  }
  walk->held_bytes += payload_size;
  absl::Status status = CheckEntries(below, levels_below, walk);
  walk->held_bytes -= payload_size;
  return status;
}

absl::Status Verifier::CheckEntries(const std::vector<IndexEntry>& entries,
                                    uint64_t levels_below,
                                    IndexWalk* walk) const {
  for (const IndexEntry& entry : entries) {
    absl::Status status = levels_below == 0
                              ? CheckEntry(entry, walk->data_count++)
                              : CheckInnerIndex(entry, levels_below - 1, walk);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckDataIndex() const {
  const std::string* encoding =
      FindInfo(file_.properties().file_info, kIndexBlockEncodingName);
  if (encoding != nullptr && *encoding != "NONE") return absl::OkStatus();
  const uint64_t levels = trailer_.data_index_levels;
  if (levels < 1 || levels > kMaxIndexLevels ||
      levels > 1 + inner_indexes_.size()) {
    return DataLoss(trailer_.offset, "the trailer has ", levels,
                    " levels of data index, of ", inner_indexes_.size(),
                    " inner blocks");
  }
  const size_t block_count = data_blocks_.size() + inner_indexes_.size();
  if (trailer_.data_index_count > block_count) {
    return DataLoss(trailer_.offset, "the trailer has ",
                    trailer_.data_index_count, " entries of data index, of ",
                    block_count, " blocks of data and index");
  }
  const absl::StatusOr<std::vector<IndexEntry>> root =
      ParseRootIndex(roots_[0].payload, trailer_.data_index_count, levels > 1);
  if (!root.ok()) {
    return Annotate(*format_.source, roots_[0].header.offset, root.status());
  }
  IndexWalk walk;
  walk.held_bytes = roots_[0].payload.size();
  absl::Status status = CheckEntries(*root, levels - 1, &walk);
  if (!status.ok()) return status;
  if (walk.data_count != data_blocks_.size() ||
      walk.inner_count != inner_indexes_.size()) {
    return DataLoss(trailer_.load_on_open_offset, "the data index has ",
                    walk.data_count, " data blocks and ", walk.inner_count,
                    " inner blocks, there are ", data_blocks_.size(), " and ",
                    inner_indexes_.size());
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckMetaIndex() const {
  if (trailer_.meta_index_count > meta_blocks_.size()) {
    return DataLoss(trailer_.offset, "the trailer has ",
                    trailer_.meta_index_count, " meta blocks, there are ",
                    meta_blocks_.size());
  }
  const absl::StatusOr<std::vector<IndexEntry>> entries =
      ParseRootIndex(roots_[1].payload, trailer_.meta_index_count, false);
  if (!entries.ok()) {
    return Annotate(*format_.source, roots_[1].header.offset, entries.status());
  }
  for (const IndexEntry& entry : *entries) {
    const auto found = meta_blocks_.find(entry.offset);
    if (found == meta_blocks_.end() || found->second != entry.size) {
      return DataLoss(entry.offset, "no meta block \"",
                      absl::CHexEscape(entry.key), "\" here");
    }
  }
  return absl::OkStatus();
}

absl::Status Verifier::CheckFilter(const Filter& filter, uint64_t seen_keys,
                                   const char* which) {
  const HFileBloomInfo& info = filter.info;
  if (!info.error.ok()) return info.error;
  if (info.bloom_type == BloomType::kNone) return absl::OkStatus();
  if (info.bloom_type == BloomType::kRowCol && !filter.last_key.has_value()) {
    return DataLoss(trailer_.file_info_offset,
                    "no last key of a ROWCOL filter, without which HBase does "
                    "not open the file");
  }
  uint64_t size = 0;
  for (const HFileBloomChunkInfo& chunk : info.chunks) {
    const auto found = chunks_.find(chunk.offset);
    if (found == chunks_.end() || found->second.first != chunk.size_bytes) {
      return DataLoss(chunk.offset, "no chunk of the ", which, " filter here");
    }
    size += found->second.second;
    chunks_.erase(found);
  }
  if (size != info.size_bytes || info.key_count == 0 ||
      (info.max_keys > 0 && info.key_count > info.max_keys) ||
      (with_keys_ && info.key_count != seen_keys)) {
    return DataLoss(
        filter.meta_offset, "the ", which, " filter says that it has ",
        info.size_bytes, " bytes, ", info.key_count, " keys and room for ",
        info.max_keys, "; it has ", size, " bytes",
        with_keys_ ? absl::StrCat(" and ", seen_keys, " keys") : "");
  }
  return absl::OkStatus();
}

absl::Status Verifier::Run() {
  absl::Status status = WalkBlocks();
  if (!status.ok()) return status;
  if (trailer_.is_encrypted()) return CheckTrailerBytes();
  if (roots_.size() < 2) {
    return DataLoss(trailer_.load_on_open_offset,
                    "no data index and meta index");
  }
  status = CheckTrailer();
  if (status.ok()) status = CheckFileInfo();
  if (status.ok()) status = CheckDataIndex();
  if (status.ok()) status = CheckMetaIndex();
  if (status.ok()) {
    status = CheckFilter(file_.general(), general_keys_.count(), "general");
  }
  if (status.ok()) {
    status = CheckFilter(file_.delete_family(), delete_family_keys_.count(),
                         "delete family");
  }
  if (status.ok() && !chunks_.empty()) {
    return DataLoss(chunks_.begin()->first, "a Bloom chunk of no filter");
  }
  return status;
}

}  // namespace
}  // namespace rowbloom::hfile

namespace rowbloom {

absl::Status HFileReader::Impl::Verify(bool with_keys) const {
  // Opens the file again, since it may have been damaged meanwhile.
  const std::unique_ptr<FilterCache> cache =
      NewShardedLruCache({hfile::kVerifyCacheBytes});
  HFileReaderOptions options;
  options.cache = cache.get();
  const absl::StatusOr<std::unique_ptr<Impl>> reopened = Open(source_, options);
  if (!reopened.ok()) return reopened.status();
  return hfile::Verifier(**reopened, with_keys).Run();
}

}  // namespace rowbloom
