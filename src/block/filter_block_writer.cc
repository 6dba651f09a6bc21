// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_block_writer.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "block/chunk_index.h"
#include "block/filter_block_parser.h"
#include "block/format.h"
#include "key/row_prefixes.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/version.h"
#include "util/absl_view.h"
#include "util/check.h"
#include "util/coding.h"
#include "util/digest.h"
#include "util/engine_call.h"
#include "util/last_bytes.h"

namespace rowbloom {

namespace {

constexpr uint32_t kMinChunkSize = 256;
constexpr uint32_t kMaxChunkSize = 1 << 30;
constexpr uint32_t kMaxPrefixLength = 65535;

// Bytes in quotes; if longer than 64, the first 64 and the size.
std::string Printable(std::string_view bytes) {
  constexpr size_t kMaxPrintedSize = 64;
  const std::string_view printed = bytes.substr(0, kMaxPrintedSize);
  std::string text =
      absl::StrCat("\"", absl::CHexEscape(util::AbslView(printed)), "\"");
  if (printed.size() < bytes.size()) {
    absl::StrAppend(&text, "... of ", bytes.size(), " bytes");
  }
  return text;
}

// A cell without a qualifier is shown as its row.
std::string PrintableCell(std::string_view row,
                          std::optional<std::string_view> qualifier) {
  std::string text = absl::StrCat("row ", Printable(row));
  if (qualifier.has_value()) {
    absl::StrAppend(&text, ", qualifier ", Printable(*qualifier));
  }
  return text;
}

void AppendProperty(block::Property property, std::string_view value,
                    std::string* out) {
  util::AppendVarint(static_cast<uint64_t>(property), out);
  util::AppendSized(value, out);
}

void AppendProperty(block::Property property, uint64_t value,
                    std::string* out) {
  std::string bytes;
  util::AppendVarint(value, &bytes);
  AppendProperty(property, bytes, out);
}

}  // namespace

absl::Status ValidateFilterOptions(const FilterOptions& options) {
  if (BloomTypeName(options.bloom_type) == "UNKNOWN") {
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown bloom type ", static_cast<int>(options.bloom_type)));
  }
  const bool has_prefix =
      options.bloom_type == BloomType::kRowPrefixFixedLength;
  if (has_prefix != (options.prefix_length_bytes != 0) ||
      options.prefix_length_bytes > kMaxPrefixLength) {
    return absl::InvalidArgumentError(absl::StrCat(
        "prefix_length_bytes ", options.prefix_length_bytes, ": must be 1 to ",
        kMaxPrefixLength, " for ROWPREFIX_FIXED_LENGTH and 0 for all others"));
  }
  if (options.key_codec.has_value() && has_prefix) {
    return absl::InvalidArgumentError(absl::StrCat(
        "key_codec ", options.key_codec->ToString(),
        " is for ROW and ROWCOL; ROWPREFIX_FIXED_LENGTH has a prefix already"));
  }
  if (options.chunk_size_bytes < kMinChunkSize ||
      options.chunk_size_bytes > kMaxChunkSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk_size_bytes ", options.chunk_size_bytes,
                     ": must be ", kMinChunkSize, " to ", kMaxChunkSize));
  }
  return options.filter_spec.Validate();
}

class FilterBlockWriter::Impl {
 public:
  Impl(const FilterOptions& options, ByteSink* sink,
       FilterChunkObserver* observer)
      : options_(options),
        mixer_(options.secret),
        sink_(sink),
        observer_(observer),
        status_(ValidateFilterOptions(options)),
        builder_(NewFilterBuilder(options.filter_spec)),
        max_keys_per_chunk_(
            MaxKeys(options.filter_spec, options.chunk_size_bytes)) {
    RB_CHECK(sink != nullptr,
             "FilterBlockWriter was made with a null sink; give it one "
             "that outlives it");
  }

  // `known` is the cell's key, or nullptr if it is still to be hashed.
  void Add(std::string_view row, std::string_view qualifier,
           const FilterKey* known);
  // Adds the row if it is one that follows the last, of a filter of rows alone,
  // as most are. Otherwise returns false, and Add() has to look at the cell.
  bool AddNextRow(std::string_view row, const FilterKey* known) {
    if (!adds_only_rows_ || finished_ || !status_.ok() ||
        (known != nullptr && known->is_prefix()) ||
        last_row_.OrderOf(row) <= 0) {
      return false;
    }
    ++cell_count_;
    AddRow(row, RowDigest(row, known));
    last_row_.Assign(row);
    return true;
  }
  absl::StatusOr<FilterBlockInfo> Finish();
  std::string_view tail() const { return tail_; }

 private:
  void RefuseOrder(std::string_view row, std::string_view qualifier,
                   bool has_qualifier);
  void AddKey(const block::StoredKey& key, KeyDigest digest) {
    if (open_chunk_key_.empty()) OpenChunk(key);
    builder_->Add(mixer_.has_secret() ? mixer_.Mix(digest) : digest);
    if (++chunk_digests_ < max_keys_per_chunk_) return;
    chunk_digests_ = builder_->key_count();
    if (chunk_digests_ >= max_keys_per_chunk_) CloseChunkAfter(key);
  }
  static KeyDigest RowDigest(std::string_view row, const FilterKey* known) {
    return known != nullptr ? known->row_digest() : DigestBytes(row);
  }
  void AddRow(std::string_view row, KeyDigest digest) {
    AddKey({row, {}, false}, digest);
  }
  void OpenChunk(const block::StoredKey& first);
  void CloseChunkAfter(const block::StoredKey& last);
  // Adds the prefixes of a new row that the row before it does not have.
  void AddPrefixes(std::string_view row);
  // The key that stands for the open chunk, whose first key is `first`.
  block::StoredKey IndexKey(const block::StoredKey& first) const;
  void CloseChunk();
  bool AddsRowKeys() const {
    return options_.bloom_type != BloomType::kRowCol ||
           options_.rowcol_adds_rows;
  }
  bool HasKeyCodec() const {
    return options_.key_codec.has_value() &&
           options_.bloom_type != BloomType::kNone;
  }
  std::string EncodeProperties() const;
  block::StoredKey LastKey() const;
  void Append(std::string_view bytes);

  const FilterOptions options_;
  const block::DigestMixer mixer_;
  ByteSink* const sink_;
  FilterChunkObserver* const observer_;
  absl::Status status_;
  std::unique_ptr<FilterBuilder> builder_;
  const uint64_t max_keys_per_chunk_;
  const bool adds_only_rows_ =
      options_.bloom_type == BloomType::kRow && !options_.key_codec.has_value();

  bool finished_ = false;
  uint64_t cell_count_ = 0;
  uint64_t key_count_ = 0;
  // At least the keys of the open chunk: equal digests count more than once.
  uint64_t chunk_digests_ = 0;
  uint64_t chunk_count_ = 0;
  uint64_t saturated_keys_ = 0;
  uint64_t size_bytes_ = 0;
  util::LastBytes last_row_;
  KeyDigest last_row_digest_;  // With ROWCOL.
  // The longest prefix of the last row, if it has one for each key level; else
  // 0.
  size_t whole_prefix_size_ = 0;
  util::LastBytes last_qualifier_;
  std::string open_chunk_key_;         // As in the index; empty before it.
  std::string closed_chunk_last_key_;  // The previous chunk's, likewise.
  std::string index_;
  std::string first_chunk_;  // If it is tiny.
  std::string tail_;
};

ABSL_ATTRIBUTE_NOINLINE void FilterBlockWriter::Impl::RefuseOrder(
    std::string_view row, std::string_view qualifier, bool has_qualifier) {
  std::optional<std::string_view> last_qualifier;
  if (options_.bloom_type == BloomType::kRowCol) {
    last_qualifier = last_qualifier_.view();  // Other types keep none.
  }
  status_ = absl::InvalidArgumentError(
      absl::StrCat("cell ", cell_count_, " (",
                   PrintableCell(row, has_qualifier ? std::optional(qualifier)
                                                    : std::nullopt),
                   ") is out of order: it follows ",
                   PrintableCell(last_row_.view(), last_qualifier)));
}

void FilterBlockWriter::Impl::Add(std::string_view row,
                                  std::string_view qualifier,
                                  const FilterKey* known) {
  RB_CHECK(!finished_,
           "FilterBlockWriter::Add() was called after Finish(); make a "
           "writer for each filter block");
  if (!status_.ok() || options_.bloom_type == BloomType::kNone) return;
  const bool first = cell_count_ == 0;
  // ROW and ROWPREFIX do not look at qualifiers, nor at their order.
  const bool by_column = options_.bloom_type == BloomType::kRowCol;
  if (known != nullptr) {
    RB_CHECK(!known->is_prefix(),
             "FilterBlockWriter::Add() was given a FilterKey::Prefix(); add "
             "whole rows, with FilterOptions::key_codec");
    RB_CHECK(!by_column || known->has_qualifier(),
             "FilterBlockWriter::Add() was given a key without a qualifier; "
             "bloom type ROWCOL needs keys of FilterKey::RowCol()");
  }
  // The order relative to the previous cell: by row, then by (row, qualifier).
  const int row_order = first ? 1 : last_row_.OrderOf(row);
  const int cell_order = row_order != 0 || !by_column
                             ? row_order
                             : last_qualifier_.OrderOf(qualifier);
  if (cell_order < 0) {
    RefuseOrder(row, qualifier, known == nullptr || known->has_qualifier());
    return;
  }
  ++cell_count_;
  if (cell_order == 0) return;
  const bool new_row = row_order > 0;
  if (new_row && options_.key_codec.has_value()) AddPrefixes(row);
  switch (options_.bloom_type) {
    case BloomType::kNone:
      break;
    case BloomType::kRow:
      AddRow(row, RowDigest(row, known));
      break;
    case BloomType::kRowCol: {
      if (new_row) last_row_digest_ = RowDigest(row, known);
      if (new_row && AddsRowKeys()) AddRow(row, last_row_digest_);
      AddKey({row, qualifier, true},
             known != nullptr ? known->digest()
                              : DigestColumn(last_row_digest_, qualifier));
      break;
    }
    case BloomType::kRowPrefixFixedLength: {
      const size_t size = options_.prefix_length_bytes;
      const std::string_view prefix = row.substr(0, size);
      if (first || prefix != last_row_.view().substr(0, size)) {
        AddRow(prefix, DigestBytes(prefix));
      }
      break;
    }
  }
  if (new_row) last_row_.Assign(row);
  if (by_column) last_qualifier_.Assign(qualifier);
}

void FilterBlockWriter::Impl::AddPrefixes(std::string_view row) {
  const std::string_view last = last_row_.view();
  const auto both_have_prefix = [&](size_t size) {
    return row.substr(0, size) == last.substr(0, size);
  };
  if (whole_prefix_size_ != 0 && both_have_prefix(whole_prefix_size_)) return;
  const key::RowPrefixes prefixes =
      key::RowPrefixesOf(*options_.key_codec, row);
  const bool is_whole =
      prefixes.count != 0 &&
      prefixes.count == key::MostPrefixes(*options_.key_codec);
  whole_prefix_size_ = is_whole ? prefixes.sizes[prefixes.count - 1] : 0;
  for (size_t i = 0; i < prefixes.count; ++i) {
    const size_t size = prefixes.sizes[i];
    // A row's own key follows.
    if (both_have_prefix(size) || (size == row.size() && AddsRowKeys())) {
      continue;
    }
    const std::string_view prefix = row.substr(0, size);
    AddRow(prefix, DigestBytes(prefix));
  }
}

ABSL_ATTRIBUTE_NOINLINE void FilterBlockWriter::Impl::OpenChunk(
    const block::StoredKey& first) {
  block::AppendKey(IndexKey(first), &open_chunk_key_);
}

ABSL_ATTRIBUTE_NOINLINE void FilterBlockWriter::Impl::CloseChunkAfter(
    const block::StoredKey& last) {
  CloseChunk();
  closed_chunk_last_key_.clear();
  block::AppendKey(last, &closed_chunk_last_key_);
}

block::StoredKey FilterBlockWriter::Impl::IndexKey(
    const block::StoredKey& first) const {
  // A lookup before the block's first key must find no chunk.
  if (chunk_count_ == 0) return first;
  block::StoredKey last;
  std::string_view in = closed_chunk_last_key_;
  if (!block::ReadKey(&in, &last)) return first;  // Also correct, but longer.
  return block::ShortestSeparator(last, first);
}

void FilterBlockWriter::Impl::CloseChunk() {
  const EncodedFilter filter = builder_->Finish();
  index_ += open_chunk_key_;
  filter.descriptor.AppendTo(&index_);
  open_chunk_key_.clear();
  chunk_digests_ = 0;
  key_count_ += filter.descriptor.key_count;
  saturated_keys_ += filter.saturated_keys;
  Append(filter.units);
  if (chunk_count_ == 0 && filter.units.size() <= block::kMaxHeldFilterBytes) {
    first_chunk_ = filter.units;
  }
  if (observer_ != nullptr && status_.ok()) {
    util::EngineCall([&] { observer_->OnChunk(chunk_count_, filter); });
  }
  ++chunk_count_;
}

void FilterBlockWriter::Impl::Append(std::string_view bytes) {
  if (!status_.ok()) return;
  status_ = util::EngineCall([&] { return sink_->Append(bytes); });
  size_bytes_ += bytes.size();
}

block::StoredKey FilterBlockWriter::Impl::LastKey() const {
  block::StoredKey key;
  key.row = last_row_.view();
  if (options_.bloom_type == BloomType::kRowPrefixFixedLength) {
    key.row = key.row.substr(0, options_.prefix_length_bytes);
  }
  key.has_qualifier = options_.bloom_type == BloomType::kRowCol;
  key.qualifier = last_qualifier_.view();
  return key;
}

std::string FilterBlockWriter::Impl::EncodeProperties() const {
  using block::Property;
  std::string out;
  AppendProperty(Property::kBloomType,
                 static_cast<uint64_t>(options_.bloom_type), &out);
  AppendProperty(Property::kPrefixLengthBytes, options_.prefix_length_bytes,
                 &out);
  AppendProperty(Property::kHasRowKeys,
                 options_.bloom_type != BloomType::kNone && AddsRowKeys(),
                 &out);
  AppendProperty(Property::kCellCount, cell_count_, &out);
  AppendProperty(Property::kKeyCount, key_count_, &out);
  AppendProperty(Property::kChunkCount, chunk_count_, &out);
  AppendProperty(Property::kFilterSpec, options_.filter_spec.ToString(), &out);
  AppendProperty(Property::kWriter, "rowbloom " ROWBLOOM_VERSION_STRING, &out);
  if (chunk_count_ > 0) {
    std::string key;
    block::AppendKey(LastKey(), &key);
    AppendProperty(Property::kLastKey, key, &out);
  }
  if (mixer_.has_secret()) {
    AppendProperty(Property::kSecretCheck, mixer_.check(), &out);
  }
  if (HasKeyCodec()) {
    AppendProperty(Property::kKeyCodec, options_.key_codec->ToString(), &out);
  }
  return out;
}

absl::StatusOr<FilterBlockInfo> FilterBlockWriter::Impl::Finish() {
  if (finished_) {
    return absl::FailedPreconditionError(
        "FilterBlockWriter::Finish() was called twice; make a writer for each "
        "filter block");
  }
  finished_ = true;
  if (status_.ok() && builder_->key_count() > 0) CloseChunk();
  const uint64_t index_offset = size_bytes_;
  const std::string properties = EncodeProperties();
  if (status_.ok()) {
    status_ = block::ChunkIndex::CheckSizes(index_.size(), properties.size());
  }

  using block::Footer;
  std::string footer;
  const uint64_t block_size =
      index_offset + index_.size() + properties.size() + Footer::kSize;
  util::AppendFixed<uint64_t>(block_size, &footer);
  util::AppendFixed<uint64_t>(index_offset, &footer);
  util::AppendFixed<uint64_t>(index_.size(), &footer);
  util::AppendFixed<uint64_t>(properties.size(), &footer);
  util::AppendFixed<uint32_t>(util::Checksum32(index_), &footer);
  util::AppendFixed<uint32_t>(util::Checksum32(properties), &footer);
  util::AppendFixed<uint8_t>(kFilterBlockFormatVersion, &footer);
  uint8_t flags = mixer_.has_secret() ? block::kSecretFlag : 0;
  if (HasKeyCodec() && !AddsRowKeys()) flags |= block::kPrefixesWithoutRowsFlag;
  util::AppendFixed<uint8_t>(flags, &footer);
  util::AppendFixed<uint16_t>(0, &footer);  // Reserved.
  RB_DCHECK(footer.size() == Footer::kChecksum);
  util::AppendFixed<uint32_t>(util::Checksum32(footer), &footer);
  util::AppendFixed<uint64_t>(block::kFooterMagic, &footer);
  RB_DCHECK(footer.size() == Footer::kSize);

  // Readers hold the filter of a tiny block, so it goes with the tail.
  if (chunk_count_ != 1 || index_offset > block::kMaxHeldFilterBytes) {
    first_chunk_.clear();
  }
  Append(index_);
  Append(properties);
  Append(footer);
  if (!status_.ok()) return status_;
  tail_ = absl::StrCat(first_chunk_, index_, properties, footer);
  if (observer_ != nullptr) {
    const uint64_t identity = block::BlockIdentity(index_, properties);
    util::EngineCall([&] { observer_->OnFinish(identity); });
  }
  FilterBlockInfo info;
  info.size_bytes = size_bytes_;
  info.tail_size_bytes = size_bytes_ - index_offset;
  info.key_count = key_count_;
  info.chunk_count = chunk_count_;
  info.saturated_keys = saturated_keys_;
  return info;
}

FilterBlockWriter::FilterBlockWriter(const FilterOptions& options,
                                     ByteSink* sink,
                                     FilterChunkObserver* observer)
    : impl_(std::make_unique<Impl>(options, sink, observer)) {}
FilterBlockWriter::~FilterBlockWriter() = default;

std::string_view FilterBlockWriter::tail() const { return impl_->tail(); }

void FilterBlockWriter::Add(std::string_view row, std::string_view qualifier) {
  if (!impl_->AddNextRow(row, nullptr)) impl_->Add(row, qualifier, nullptr);
}

void FilterBlockWriter::Add(const FilterKey& cell) {
  if (!impl_->AddNextRow(cell.row(), &cell)) {
    impl_->Add(cell.row(), cell.qualifier(), &cell);
  }
}

absl::StatusOr<FilterBlockInfo> FilterBlockWriter::Finish() {
  return impl_->Finish();
}

}  // namespace rowbloom
