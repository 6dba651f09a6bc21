// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cache/file_id.h"
#include "hfile/block_size.h"
#include "hfile/bloom_chunk.h"
#include "hfile/bloom_meta.h"
#include "hfile/cell_reader.h"
#include "hfile/comparators.h"
#include "hfile/errors.h"
#include "hfile/hfile_reader_impl.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/hfile.h"
#include "util/absl_view.h"
#include "util/check.h"
#include "util/source_read.h"

namespace rowbloom {

using hfile::BloomFilter;
using hfile::CellKey;

namespace {

// The limit for roots, file info and Bloom metas, decompressed. Real files have
// a few megabytes at most.
constexpr uint64_t kMaxSectionSize = 1u << 28;
// These tell the filters of a file apart in the cache.
constexpr uint8_t kGeneralFilter = 0;
constexpr uint8_t kDeleteFamilyFilter = 1;
constexpr char kHudiFilterName[] = "bloomFilter";
constexpr char kAfterLast[] = "after the last key of the filter";

absl::StatusOr<HFileCompression> KnownCompression(uint64_t code) {
  if (code <= static_cast<uint64_t>(HFileCompression::kBrotli)) {
    return static_cast<HFileCompression>(code);
  }
  return hfile::Unimplemented("compression ", code, "; 0 to 8 are known");
}

bool Tell(HFileExplanation* explanation, bool may_contain,
          std::string_view reason) {
  if (explanation != nullptr) {
    explanation->may_contain = may_contain;
    explanation->reason = reason;
  }
  return may_contain;
}

// The answer of a filter that is not usable.
bool TellMaybe(HFileExplanation* explanation, const HFileBloomInfo& info) {
  if (explanation != nullptr) explanation->status = info.error;
  return Tell(explanation, true, info.reason);
}

HFileReaderOptions WithCache(HFileReaderOptions options, FilterCache* own) {
  if (options.cache == nullptr) options.cache = own;
  return options;
}

}  // namespace

HFileReader::Impl::Impl(const RandomAccessSource* source,
                        const HFileReaderOptions& options,
                        const hfile::Trailer& trailer)
    : source_(source),
      own_cache_(options.cache == nullptr ? NewShardedLruCache({}) : nullptr),
      options_(WithCache(options, own_cache_.get())),
      trailer_(trailer),
      file_id_(options.file_id != 0 ? options.file_id
                                    : FilterCache::NewFileId()),
      row_order_(hfile::OrderOfFile(trailer.comparator)) {
  format_.source = source;
  format_.has_checksums = trailer.blocks_have_checksums();
  format_.verify_checksums = options.verify_checksums;
  format_.end = trailer.offset;
  properties_.major_version = trailer.major_version;
  properties_.minor_version = trailer.minor_version;
  properties_.cell_count = trailer.entry_count;
  properties_.comparator = trailer.comparator;
  properties_.comparator_is_known = row_order_.has_value();
  properties_.is_encrypted = trailer.is_encrypted();
  properties_.uncompressed_bytes = trailer.total_uncompressed_bytes;
  properties_.data_index_levels = trailer.data_index_levels;
  properties_.data_index_root_entries = trailer.data_index_count;
  properties_.data_index_size_bytes = trailer.uncompressed_data_index_size;
}

absl::StatusOr<std::unique_ptr<HFileReader::Impl>> HFileReader::Impl::Open(
    const RandomAccessSource* source, const HFileReaderOptions& options) {
  const absl::StatusOr<hfile::Trailer> trailer = hfile::ReadTrailer(*source);
  if (!trailer.ok()) return trailer.status();
  auto impl = std::make_unique<Impl>(source, options, *trailer);
  const absl::StatusOr<HFileCompression> compression =
      KnownCompression(trailer->compression);
  if (!compression.ok()) {
    return hfile::Annotate(*source, trailer->offset, compression.status());
  }
  impl->format_.compression = *compression;
  impl->properties_.compression = *compression;
  if (trailer->is_encrypted()) {
    impl->general_.info.reason = "the file is encrypted";
    impl->delete_family_.info.reason = impl->general_.info.reason;
    // Headers are not encrypted.
    const auto header =
        hfile::ReadBlockHeader(impl->format_, trailer->file_info_offset);
    if (header.ok()) impl->TakeChecksum(*header);
    return impl;
  }
  absl::StatusOr<Section> section = impl->ReadSection();
  if (!section.ok()) return section.status();
  impl->TakeChecksum(section->file_info_header);
  impl->format_.states_previous = section->states_previous;
  const absl::StatusOr<hfile::FileInfo> info =
      hfile::ParseFileInfo(*section->file_info);
  if (!info.ok()) {
    return hfile::Annotate(*source, trailer->file_info_offset, info.status());
  }
  impl->properties_.meta_blocks_error = impl->TakeMetaIndex(*section);
  // The trailer has no checksum, and is not trusted alone.
  impl->is_empty_ = trailer->entry_count == 0 && section->has_no_data &&
                    section->root_count == 2;
  impl->TakeFileInfo(*info);
  impl->MakeGeneralFilter(*section);
  impl->MakeDeleteFamilyFilter(*section);
  impl->TakeChunkOrder();
  return impl;
}

void HFileReader::Impl::TakeChecksum(const hfile::BlockHeader& header) {
  properties_.checksum = header.checksum;
  properties_.bytes_per_checksum = header.bytes_per_checksum;
}

absl::StatusOr<HFileReader::Impl::Section> HFileReader::Impl::ReadSection()
    const {
  const uint64_t begin = trailer_.load_on_open_offset;
  const uint64_t size = trailer_.offset - begin;
  if (size > kMaxSectionSize) {
    return hfile::DataLossAt(*source_, begin, size,
                             " bytes to load when the file is opened");
  }
  const std::unique_ptr<char[]> scratch(new char[static_cast<size_t>(size)]);
  std::string_view bytes;
  absl::Status status = util::ReadExactly(
      *source_, begin, static_cast<size_t>(size), scratch.get(), &bytes);
  if (!status.ok()) return status;

  Section section;
  uint64_t uncompressed_size = 0;
  section.digest = DigestBytes(bytes).value;
  while (!bytes.empty()) {
    const uint64_t offset = trailer_.offset - bytes.size();
    absl::StatusOr<hfile::BlockHeader> header =
        hfile::ParseBlockHeader(format_, offset, bytes);
    if (!header.ok()) {
      section.error = header.status();
      break;
    }
    const std::string_view block_bytes =
        bytes.substr(0, static_cast<size_t>(header->size));
    bytes.remove_prefix(block_bytes.size());
    uncompressed_size += header->uncompressed_size;
    if (uncompressed_size > kMaxSectionSize) {
      return hfile::DataLossAt(*source_, offset, uncompressed_size,
                               " bytes, decompressed, to load when ",
                               "the file is opened");
    }
    const auto payload = [&]() -> absl::StatusOr<std::string> {
      absl::StatusOr<hfile::Block> block =
          hfile::ParseBlock(format_, *header, block_bytes);
      if (!block.ok()) return block.status();
      return std::move(block->payload);
    };
    if (offset == trailer_.file_info_offset &&
        header->magic == hfile::kFileInfoMagic) {
      absl::StatusOr<std::string> info = payload();
      if (!info.ok()) return info.status();
      section.file_info = *std::move(info);
      section.file_info_header = *header;
    } else if (header->magic == hfile::kGeneralBloomMagic) {
      section.general_meta = BloomMetaBlock{offset, payload()};
    } else if (header->magic == hfile::kDeleteFamilyBloomMagic) {
      section.delete_family_meta = BloomMetaBlock{offset, payload()};
    } else if (header->magic == hfile::kRootIndexMagic &&
               ++section.root_count <= 2) {
      absl::StatusOr<std::string> index = payload();
      if (section.root_count == 1) {
        section.has_no_data = index.ok() && index->empty();
      } else {
        section.meta_index = std::move(index);
        section.states_previous = header->previous_offset != -1;
      }
    } else if (!hfile::IsKnownMagic(header->magic)) {
      // Either a later version's, or one of the above whose magic is damaged.
      section.error.Update(hfile::VerifyBlock(format_, *header, block_bytes));
    }
  }
  if (section.file_info.has_value()) return section;
  if (!section.error.ok()) return section.error;
  return hfile::DataLossAt(*source_, trailer_.file_info_offset,
                           "no file info where the trailer has it");
}

absl::Status HFileReader::Impl::TakeMetaIndex(const Section& section) {
  const uint64_t offset = trailer_.load_on_open_offset;
  if (section.root_count < 2) {
    return hfile::DataLossAt(*source_, offset, "no meta index");
  }
  if (!section.meta_index.ok()) return section.meta_index.status();
  // Each meta block has at least a header, before the load-on-open section.
  if (trailer_.meta_index_count > offset / format_.header_size()) {
    return hfile::DataLossAt(*source_, offset, "no room for ",
                             trailer_.meta_index_count,
                             " meta blocks before this");
  }
  const auto blocks = hfile::ParseRootIndex(*section.meta_index,
                                            trailer_.meta_index_count, false);
  if (!blocks.ok()) return hfile::Annotate(*source_, offset, blocks.status());
  for (const hfile::IndexEntry& entry : *blocks) {
    meta_blocks_[entry.key] = entry;
    properties_.meta_blocks.push_back(entry.key);
  }
  return absl::OkStatus();
}

void HFileReader::Impl::TakeFileInfo(hfile::FileInfo info) {
  layout_.has_tags = hfile::FindInfo(info, hfile::kMaxTagsLenName) != nullptr;
  layout_.has_compressed_tags =
      hfile::FindNumber<uint8_t>(info, hfile::kTagsCompressedName)
          .value_or(0) != 0;
  layout_.has_mvcc =
      hfile::FindNumber<int32_t>(info, hfile::kKeyValueVersionName) == 1;
  properties_.delete_family_count =
      hfile::FindNumber<int64_t>(info, hfile::kDeleteFamilyCountName)
          .value_or(-1);
  const std::string* encoding =
      hfile::FindInfo(info, hfile::kDataBlockEncodingName);
  if (encoding != nullptr) {
    const absl::StatusOr<HFileEncoding> parsed = ParseHFileEncoding(*encoding);
    properties_.encoding = parsed.ok() ? *parsed : HFileEncoding::kUnknown;
  }
  properties_.file_info = std::move(info);
}

internal::cache::CachedChunksOptions HFileReader::Impl::CachedAs(
    uint8_t filter_number) const {
  return {options_.cache, file_id_, options_.file_id == 0, filter_number,
          options_.priority};
}

void HFileReader::Impl::MakeGeneralFilter(const Section& section) {
  HFileBloomInfo& info = general_.info;
  const std::string* type =
      hfile::FindInfo(properties_.file_info, hfile::kBloomTypeName);
  if (type == nullptr && !section.general_meta.has_value()) {
    if (!section.error.ok()) return RefuseUnread(section, &info);
    info.reason = meta_blocks_.count(kHudiFilterName) > 0
                      ? "no HBase filter; a filter of Hudi's is in the meta "
                        "block bloomFilter"
                      : "no HBase filter";
    return;
  }
  const auto refuse = [&](const absl::Status& status) {
    // An unknown entry may stand for what seems to be missing.
    const absl::Status entries =
        hfile::CheckBloomEntries(properties_.file_info);
    Refuse(trailer_.file_info_offset, entries.ok() ? status : entries, &info);
  };
  if (type == nullptr) {
    return refuse(absl::DataLossError(
        "a general Bloom meta, but file info has no bloom type"));
  }
  const absl::StatusOr<BloomType> parsed = ParseBloomType(*type);
  if (!parsed.ok()) {
    return refuse(hfile::Unimplemented("bloom type \"", absl::CHexEscape(*type),
                                       "\" is not known"));
  }
  if (*parsed == BloomType::kNone) {
    info.reason = "bloom type NONE";
    return;
  }
  info.bloom_type = *parsed;
  const std::string* last_key =
      hfile::FindInfo(properties_.file_info, hfile::kLastBloomKeyName);
  if (last_key != nullptr) info.last_key = *last_key;
  if (*parsed == BloomType::kRowPrefixFixedLength) {
    const auto length = hfile::FindNumber<int32_t>(properties_.file_info,
                                                   hfile::kBloomParamName);
    if (!length.has_value() || *length < 1 ||
        *length > static_cast<int32_t>(hfile::kMaxRowSize)) {
      return refuse(
          absl::DataLossError("bloom type ROWPREFIX_FIXED_LENGTH "
                              "without its length"));
    }
    info.prefix_length_bytes = static_cast<uint32_t>(*length);
  }
  if (!section.general_meta.has_value()) {
    if (!section.error.ok()) return RefuseUnread(section, &info);
    return refuse(hfile::DataLoss("bloom type ", *type,
                                  ", but there is no general Bloom meta"));
  }
  MakeFilter(*section.general_meta, CachedAs(kGeneralFilter), section.digest,
             &general_);
}

void HFileReader::Impl::MakeDeleteFamilyFilter(const Section& section) {
  if (!section.delete_family_meta.has_value()) {
    if (!section.error.ok()) {
      return RefuseUnread(section, &delete_family_.info);
    }
    delete_family_.info.reason = "no delete family filter";
    return;
  }
  delete_family_.info.bloom_type = BloomType::kRow;
  MakeFilter(*section.delete_family_meta, CachedAs(kDeleteFamilyFilter),
             section.digest, &delete_family_);
}

void HFileReader::Impl::Refuse(uint64_t offset, const absl::Status& status,
                               HFileBloomInfo* info) const {
  info->reason = std::string(status.message());
  info->error = hfile::Annotate(*source_, offset, status);
}

void HFileReader::Impl::RefuseUnread(const Section& section,
                                     HFileBloomInfo* info) {
  info->reason = "what is loaded at open cannot be read to its end";
  info->error = section.error;
}

void HFileReader::Impl::MakeFilter(
    const BloomMetaBlock& block,
    const internal::cache::CachedChunksOptions& cached, uint64_t file_digest,
    Filter* filter) const {
  HFileBloomInfo& info = filter->info;
  const auto fail = [&](const absl::Status& status) {
    Refuse(block.offset, status, &info);
  };
  filter->meta_offset = block.offset;
  if (!block.payload.ok()) {
    info.reason = "its Bloom meta cannot be read";
    info.error = block.payload.status();
    return;
  }
  absl::StatusOr<hfile::BloomMeta> meta =
      hfile::ParseBloomMeta(*block.payload, trailer_.load_on_open_offset);
  if (!meta.ok()) return fail(meta.status());
  info.size_bytes = meta->size_bytes;
  info.key_count = meta->key_count;
  info.max_keys = meta->max_keys;
  info.hash_count = meta->hash_count;
  info.hash = meta->hash;
  info.comparator = meta->comparator;
  for (const hfile::BloomChunkEntry& chunk : meta->chunks) {
    info.chunks.push_back({chunk.first_key, chunk.offset, chunk.size});
  }
  const absl::Status entries = hfile::CheckBloomEntries(properties_.file_info);
  if (!entries.ok()) {
    return Refuse(trailer_.file_info_offset, entries, &info);
  }
  const bool is_rowcol = info.bloom_type == BloomType::kRowCol;
  if (!row_order_.has_value()) {
    return fail(hfile::UnknownComparator(trailer_.comparator));
  }
  if (!hfile::IsBloomComparator(meta->comparator, is_rowcol)) {
    return fail(hfile::Unimplemented(
        "the filter's comparator \"", absl::CHexEscape(meta->comparator),
        "\" is not one of a filter of type ",
        util::AbslView(BloomTypeName(info.bloom_type))));
  }
  auto bloom = BloomFilter::Make(format_, *std::move(meta), is_rowcol,
                                 *row_order_, cached, file_digest, options_);
  if (!bloom.ok()) return fail(bloom.status());
  if (info.last_key.has_value()) {
    CellKey last;
    CellKey last_chunk;
    if ((*bloom)->ParseKey(*info.last_key, &last) &&
        (*bloom)->ParseKey(info.chunks.back().first_key, &last_chunk)) {
      if ((*bloom)->Compare(last, last_chunk) < 0) {
        return fail(absl::DataLossError(
            "the last key is before the first one of the last chunk"));
      }
      filter->last_key = last;
    }
  }
  filter->bloom = *std::move(bloom);
  info.is_usable = true;
}

// The chain of chunks then lacks its own: one of them that was written to the
// place of one of `filter` would not be seen.
void HFileReader::Impl::RefuseBesideHidden(const Filter& other,
                                           Filter* filter) const {
  HFileBloomInfo& info = filter->info;
  if (!info.is_usable || !absl::IsDataLoss(other.info.error) ||
      !other.info.chunks.empty()) {
    return;
  }
  info.is_usable = false;
  filter->bloom.reset();
  Refuse(filter->meta_offset,
         absl::DataLossError("the chunks of the file's other filter are not "
                             "known, as its meta is damaged"),
         &info);
}

// The chunks of both filters are one chain.
void HFileReader::Impl::TakeChunkOrder() {
  RefuseBesideHidden(general_, &delete_family_);
  RefuseBesideHidden(delete_family_, &general_);
  std::vector<uint64_t> offsets;
  for (const Filter* filter : {&general_, &delete_family_}) {
    for (const HFileBloomChunkInfo& chunk : filter->info.chunks) {
      offsets.push_back(chunk.offset);
    }
  }
  std::sort(offsets.begin(), offsets.end());
  for (const Filter* filter : {&general_, &delete_family_}) {
    if (!filter->info.is_usable) continue;
    filter->bloom->TakeChunkOrder(offsets);
    if (options_.prefetch) filter->bloom->Prefetch();
  }
}

const HFileReader::Impl::Filter& HFileReader::Impl::FilterOf(
    const HFileBloomInfo& info) const {
  RB_CHECK(&info == &general_.info || &info == &delete_family_.info,
           "the filter is not one of this HFileReader");
  return &info == &general_.info ? general_ : delete_family_;
}

bool HFileReader::Impl::Count(bool may_contain) const {
  if (options_.stats != nullptr) {
    options_.stats->Add(FilterCounter::kLookups);
    if (!may_contain) options_.stats->Add(FilterCounter::kNegatives);
  }
  return may_contain;
}

bool HFileReader::Impl::IsEmpty(HFileExplanation* explanation) const {
  if (!is_empty_) return false;
  Tell(explanation, false, "the file has no cells");
  return true;
}

bool HFileReader::Impl::Probe(const Filter& filter,
                              const BloomFilter::Question& question,
                              HFileExplanation* explanation) const {
  if (explanation == nullptr) return filter.bloom->MayContain(question);
  HFileProbe probe;
  const bool may_contain =
      filter.bloom->Explain(question, &probe, &explanation->status);
  std::string reason = probe.chunk < 0
                           ? "before the first key of the filter"
                           : absl::StrCat("chunk ", probe.chunk, " of ",
                                          filter.info.chunks.size());
  if (!explanation->reason.empty()) {
    reason = absl::StrCat(explanation->reason, "; ", reason);
  }
  explanation->probes.push_back(std::move(probe));
  return Tell(explanation, may_contain, reason);
}

bool HFileReader::Impl::IsBehindLast(const Filter& filter, const CellKey& key) {
  return filter.last_key.has_value() &&
         filter.bloom->Compare(key, *filter.last_key) > 0;
}

bool HFileReader::Impl::MayContainRow(std::string_view row,
                                      HFileExplanation* explanation) const {
  if (IsEmpty(explanation)) return false;
  const HFileBloomInfo& info = general_.info;
  if (!info.is_usable) return TellMaybe(explanation, info);
  if (info.bloom_type == BloomType::kRowCol) {
    return Tell(explanation, true, "a ROWCOL filter has no rows");
  }
  BloomFilter::Question question;
  question.hashed = info.bloom_type == BloomType::kRow
                        ? row
                        : row.substr(0, info.prefix_length_bytes);
  question.key.row = question.hashed;
  if (IsBehindLast(general_, question.key)) {
    return Tell(explanation, false, kAfterLast);
  }
  return Probe(general_, question, explanation);
}

bool HFileReader::Impl::MayContainColumn(std::string_view row,
                                         std::string_view qualifier,
                                         HFileExplanation* explanation) const {
  const HFileBloomInfo& info = general_.info;
  if (!info.is_usable || info.bloom_type != BloomType::kRowCol) {
    return MayContainRow(row, explanation);
  }
  if (IsEmpty(explanation)) return false;
  if (row.size() > hfile::kMaxRowSize) {
    return Tell(explanation, true, "longer than any row");
  }
  std::string bytes;
  const auto question = [&](std::string_view asked_qualifier) {
    BloomFilter::Question q;
    q.key = hfile::RowColKey(row, asked_qualifier);
    bytes.clear();
    hfile::AppendCellKey(q.key, &bytes);
    q.hashed = bytes;
    return q;
  };
  // Deletes of a whole row are stored under the empty qualifier.
  if (IsBehindLast(general_, hfile::RowColKey(row, qualifier)) &&
      IsBehindLast(general_, hfile::RowColKey(row, {}))) {
    return Tell(explanation, false, kAfterLast);
  }
  return Probe(general_, question(qualifier), explanation) ||
         (!qualifier.empty() && Probe(general_, question({}), explanation));
}

bool HFileReader::Impl::MayContainFamilyDelete(
    std::string_view row, HFileExplanation* explanation) const {
  if (IsEmpty(explanation)) return false;
  // A delete family filter contradicts the count: the file then has deletes. A
  // filter that was not found because of damage may contradict it, too.
  if (properties_.delete_family_count == 0 &&
      delete_family_.info.bloom_type == BloomType::kNone &&
      delete_family_.info.error.ok()) {
    return Tell(explanation, false, "the file deletes no family");
  }
  const HFileBloomInfo& info = delete_family_.info;
  if (!info.is_usable) return TellMaybe(explanation, info);
  BloomFilter::Question question;
  question.hashed = row;
  question.key.row = row;
  return Probe(delete_family_, question, explanation);
}

bool HFileReader::Impl::MayContain(const HFileRead& read) const {
  const HFileBloomInfo& info = general_.info;
  // In hbase:meta, rows between two others may lack their common prefix.
  const bool is_ordered =
      read.is_get() || row_order_ == hfile::RowOrder::kBytes;
  const HFileFilterUse use =
      is_ordered
          ? ClassifyHFileRead(info.bloom_type, info.prefix_length_bytes, read)
          : HFileFilterUse::kNone;
  switch (use) {
    case HFileFilterUse::kNone:
      break;
    case HFileFilterUse::kRow:
    case HFileFilterUse::kPrefix:
      return MayContainRow(read.start_row, nullptr);
    case HFileFilterUse::kColumns:
      return std::any_of(read.qualifiers.begin(), read.qualifiers.end(),
                         [&](std::string_view qualifier) {
                           return MayContainColumn(read.start_row, qualifier,
                                                   nullptr);
                         });
  }
  return true;
}

absl::StatusOr<std::string> HFileReader::Impl::ReadMetaBlock(
    std::string_view name) const {
  const auto found = meta_blocks_.find(name);
  if (found == meta_blocks_.end()) {
    return absl::NotFoundError(absl::StrCat(
        util::AbslView(hfile::NameOf(*source_)), ": no meta block \"",
        absl::CHexEscape(util::AbslView(name)), "\""));
  }
  absl::StatusOr<hfile::Block> block = hfile::ReadBlock(
      format_, found->second.offset, hfile::kMetaMagic, found->second.size);
  if (!block.ok()) return block.status();
  return std::move(block->payload);
}

bool IsOlderThanSupported(const absl::Status& status) {
  return status.GetPayload(hfile::kOlderPayload).has_value();
}

HFileReader::HFileReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HFileReader::~HFileReader() = default;

absl::StatusOr<std::unique_ptr<HFileReader>> HFileReader::Open(
    const RandomAccessSource* source, const HFileReaderOptions& options) {
  if (source == nullptr) {
    return absl::InvalidArgumentError("HFileReader::Open(): source is null");
  }
  absl::Status status = internal::cache::CheckFileId(options.file_id);
  if (status.ok()) status = internal::cache::CheckPriority(options.priority);
  if (!status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Impl>> impl = Impl::Open(source, options);
  if (!impl.ok()) return impl.status();
  return std::unique_ptr<HFileReader>(new HFileReader(*std::move(impl)));
}

bool HFileReader::MayContain(std::string_view row) const {
  return impl_->Count(impl_->MayContainRow(row, nullptr));
}

bool HFileReader::MayContain(std::string_view row,
                             std::string_view qualifier) const {
  return impl_->Count(impl_->MayContainColumn(row, qualifier, nullptr));
}

bool HFileReader::MayContain(const HFileRead& read) const {
  return impl_->Count(impl_->MayContain(read));
}

bool HFileReader::MayContainFamilyDelete(std::string_view row) const {
  return impl_->Count(impl_->MayContainFamilyDelete(row, nullptr));
}

HFileExplanation HFileReader::Explain(
    std::string_view row, std::optional<std::string_view> qualifier) const {
  HFileExplanation explanation;
  if (qualifier.has_value()) {
    impl_->MayContainColumn(row, *qualifier, &explanation);
  } else {
    impl_->MayContainRow(row, &explanation);
  }
  return explanation;
}

HFileExplanation HFileReader::ExplainFamilyDelete(std::string_view row) const {
  HFileExplanation explanation;
  impl_->MayContainFamilyDelete(row, &explanation);
  return explanation;
}

const HFileProperties& HFileReader::properties() const {
  return impl_->properties();
}

const HFileBloomInfo& HFileReader::general_filter() const {
  return impl_->general().info;
}

const HFileBloomInfo& HFileReader::delete_family_filter() const {
  return impl_->delete_family().info;
}

absl::StatusOr<std::string> HFileReader::ReadChunk(const HFileBloomInfo& filter,
                                                   size_t chunk) const {
  RB_CHECK(filter.is_usable && chunk < filter.chunks.size(),
           "HFileReader::ReadChunk(): the filter is not usable, or has fewer "
           "chunks");
  return impl_->FilterOf(filter).bloom->ReadChunk(chunk);
}

double HFileReader::ExpectedFpr(const HFileBloomInfo& filter,
                                std::string_view chunk_bits) {
  RB_CHECK(!chunk_bits.empty(),
           "HFileReader::ExpectedFpr(): a chunk of no bytes");
  const double rate =
      hfile::ChunkFpr(filter.hash, filter.hash_count, chunk_bits);
  // A lookup of a column asks twice.
  return filter.bloom_type == BloomType::kRowCol ? 1 - (1 - rate) * (1 - rate)
                                                 : rate;
}

absl::StatusOr<std::string> HFileReader::ReadMetaBlock(
    std::string_view name) const {
  return impl_->ReadMetaBlock(name);
}

std::unique_ptr<HFileCellReader> HFileReader::NewCellReader() const {
  return std::make_unique<hfile::BlockCellReader>(
      impl_->format(), impl_->trailer(), impl_->layout(), impl_->is_empty());
}

std::optional<HFileBlockSize> HFileReader::FindBlockSize() const {
  hfile::BlockCellReader cells(impl_->format(), impl_->trailer(),
                               impl_->layout(), impl_->is_empty());
  return hfile::FindBlockSize(impl_->layout(), properties().encoding, &cells);
}

absl::Status HFileReader::ListBlocks(
    std::vector<HFileBlockInfo>* blocks) const {
  const hfile::BlockFormat& format = impl_->format();
  for (uint64_t offset = 0; offset < format.end;) {
    absl::StatusOr<hfile::BlockHeader> header =
        hfile::ReadBlockHeader(format, offset);
    if (!header.ok()) return header.status();
    blocks->push_back({std::move(header->magic), offset, header->size,
                       header->uncompressed_size, header->previous_offset});
    offset += header->size;
  }
  return absl::OkStatus();
}

absl::Status HFileReader::Verify(bool with_keys) const {
  return impl_->Verify(with_keys);
}

}  // namespace rowbloom
