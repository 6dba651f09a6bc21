// SPDX-License-Identifier: Apache-2.0

#include "policy/row_filter_builder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "policy/common_size.h"
#include "policy/filter_entry.h"
#include "policy/filter_info.h"

namespace rowbloom::plugin {

using rdb::Slice;
using rdb::Status;

namespace {

// Each candidate for a separator is parsed and hashed. Entries with more, which
// hold long "delimiter" segments of few distinct bytes, are rare.
constexpr size_t kMaxSeparators = 256;

// The spec of the fewest bits that a filter may get. It is the same if the goal
// is a rate, or if fewer bits would cost the family a whole step.
FilterSpec WeakestSpec(const FilterSpec& spec) {
  constexpr double kMostShare = 0.05;
  constexpr double kGrowthOfBit = 1.3;
  if (spec.has_target_fpr()) return spec;
  const double bits = spec.bits_per_key();
  FilterSpec weakest = FilterSpec::BitsPerKey(
      spec.family(),
      std::max((1 - kMostShare) * bits, FilterSpec::kMinBitsPerKey));
  const double most_fpr = spec.expected_fpr() *
                          (1 + kGrowthOfBit * (bits - weakest.bits_per_key()));
  return weakest.expected_fpr() <= most_fpr ? weakest : spec;
}

}  // namespace

RowFilterBuilder::RowFilterBuilder(const RocksDbOptions& options,
                                   bool verify_result, bool partitioned,
                                   std::unique_ptr<FilterBuilder> filter)
    : options_(options),
      verify_result_(verify_result),
      metadata_(
          EncodeMetadata(options.effective_bloom_type(), options.key_codec)),
      overhead_bytes_(kBlobOverheadBytes - kMetadataSize +
                      std::max(kMetadataSize, metadata_.size())),
      weakest_spec_(WeakestSpec(options.filter_spec)),
      key_level_count_(
          KeyLevelCount(options.effective_bloom_type(), options.key_codec)),
      adds_separators_(partitioned &&
                       options.key_codec.MayHaveSuccessors(key_level_count_)),
      keeps_last_(key_level_count_ > kMaxKeyLevelsReadAgain ||
                  adds_separators_),
      filter_(filter != nullptr ? std::move(filter)
                                : NewFilterBuilder(options.filter_spec)),
      last_overhead_bytes_(overhead_bytes_) {}

bool RowFilterBuilder::IsRepeated(size_t size) const {
  const auto* const end = prefixes_.sizes.begin() + prefixes_.count;
  return has_last_ && (size == last_size_ ||
                       std::find(prefixes_.sizes.begin(), end, size) != end);
}

inline void RowFilterBuilder::KeepLast(std::string_view entry,
                                       size_t common_size) {
  if (entry.size() > last_buffer_.size()) last_buffer_.resize(entry.size());
  std::memcpy(last_buffer_.data() + common_size, entry.data() + common_size,
              entry.size() - common_size);
  last_size_ = entry.size();
  has_last_ = true;
}

void RowFilterBuilder::AddKey(const Slice& slice) noexcept {
  if (at_partition_start_) {
    // Finish must not do this: until something is added, the filter must count
    // 0.
    at_partition_start_ = false;
    AddCarried();
  }
  const std::string_view entry = ViewOf(slice);
  size_t known = 0;
  if (keeps_last_) {
    const size_t common_size = CommonSize(Last(), entry);
    if (common_size == entry.size() && IsRepeated(common_size)) {
      return;  // Added before, or carried over.
    }
    known = options_.key_codec.UpdatePrefixes(entry, common_size, &prefixes_,
                                              key_level_count_);
    KeepLast(entry, common_size);
  } else {
    options_.key_codec.UpdatePrefixes(entry, 0, &prefixes_, key_level_count_);
  }
  if (prefixes_.count == 0) Add(DigestBytes(entry), &runs_[0]);
  for (size_t key_level = prefixes_.count; key_level-- > known;) {
    Add(DigestBytes({entry.data(), prefixes_.sizes[key_level]}),
        &runs_[key_level]);
  }
}

void RowFilterBuilder::Add(KeyDigest digest, Run* run) {
  if ((*run)[0] == digest) return;  // Added before, or carried over.
  AddToFilter(digest);
  *run = {digest, (*run)[0]};
}

inline void RowFilterBuilder::AddToFilter(KeyDigest digest) {
  filter_->Add(digest);
  if (verify_result_) added_.push_back(digest);
}

void RowFilterBuilder::AddCarried() {
  for (size_t key_level = key_level_count_; key_level-- > 0;) {
    for (const std::optional<KeyDigest>& digest : runs_[key_level]) {
      if (digest) AddToFilter(*digest);
    }
  }
  if (!last_prefix_.has_value()) return;
  const KeyCodec::Prefixes prefixes =
      options_.key_codec.PrefixesOf(*last_prefix_, key_level_count_);
  if (prefixes.count == 0) AddToFilter(DigestBytes(*last_prefix_));
  for (size_t key_level = 0; key_level < prefixes.count; ++key_level) {
    AddToFilter(DigestBytes({last_prefix_->data(), prefixes.sizes[key_level]}));
  }
}

size_t RowFilterBuilder::EstimateEntriesAdded() noexcept {
  return filter_->key_count();
}

bool RowFilterBuilder::AddSeparators() {
  return options_.key_codec.VisitSuccessors(
      Last(), prefixes_, key_level_count_, kMaxSeparators,
      [this](std::string_view prefix) { AddToFilter(DigestBytes(prefix)); });
}

void RowFilterBuilder::SetBits() {
  const auto keys = static_cast<double>(filter_->key_count());
  const double bits = options_.filter_spec.bits_per_key();
  if (keys == 0 || options_.filter_spec.has_target_fpr()) return;
  const double bytes = static_cast<double>(
      FilterSizeBytes(options_.filter_spec, filter_->key_count()) +
      last_overhead_bytes_);
  const double excess_bits = 8 * (excess_bytes_ + bytes) / keys - bits;
  filter_->SetBitsPerKey(
      std::clamp(bits - excess_bits, weakest_spec_.bits_per_key(), bits));
}

Status RowFilterBuilder::FinishFilter(EncodedFilter* filter) {
  SetBits();
  *filter = filter_->Finish();
  if (!verify_result_) return Status::OK();
  const std::deque<KeyDigest> added = std::exchange(added_, {});
  const absl::StatusOr<FilterView> view =
      FilterView::Parse(filter->descriptor, filter->UnitViews());
  uint64_t denied = 0;
  for (const KeyDigest digest : added) {
    denied += !view.ok() || !view->MayContain(digest);
  }
  if (denied == 0) return Status::OK();
  return Status::Corruption(
      "rowbloom filter construction",
      absl::StrCat("the new filter denies ", denied, " of ", added.size(),
                   " digests that it was given: memory is damaged"));
}

Slice RowFilterBuilder::Finish(std::unique_ptr<const char[]>* buf) noexcept {
  return Finish(buf, nullptr);
}

Slice RowFilterBuilder::Finish(std::unique_ptr<const char[]>* buf,
                               Status* status) noexcept {
  const bool is_complete = !adds_separators_ || filter_->key_count() == 0 ||
                           prefixes_.count == 0 || AddSeparators();
  EncodedFilter filter;
  const Status built = FinishFilter(&filter);
  // A filter that lacks keys must answer "maybe", as one without any does.
  if (!is_complete || !built.ok()) {
    filter = NewFilterBuilder(options_.filter_spec)->Finish();
  }
  const std::string blob = EncodeFilterBlob(filter, metadata_);
  last_overhead_bytes_ = blob.size() - filter.units.size();
  excess_bytes_ += static_cast<double>(blob.size()) -
                   options_.filter_spec.bits_per_key() / 8 *
                       static_cast<double>(filter.descriptor.key_count);
  std::unique_ptr<char[]> bytes(new char[blob.size()]);
  std::memcpy(bytes.get(), blob.data(), blob.size());
  *buf = std::move(bytes);
  at_partition_start_ = true;
  if (status != nullptr) *status = built;
  return Slice(buf->get(), blob.size());
}

Status RowFilterBuilder::MaybePostVerify(const Slice& filter) noexcept {
  if (!verify_result_) return Status::OK();
  const absl::Status status = VerifyFilterBlob(ViewOf(filter));
  if (status.ok()) return Status::OK();
  return Status::Corruption("rowbloom filter construction", status.ToString());
}

size_t RowFilterBuilder::ApproximateNumEntries(size_t size_bytes) noexcept {
  if (size_bytes <= overhead_bytes_) return 0;
  const auto of_bits =
      static_cast<uint64_t>(8 * static_cast<double>(size_bytes) /
                            options_.filter_spec.bits_per_key());
  // RocksDB keeps the lower 32 bits.
  return std::min<uint64_t>(
      {MaxKeys(weakest_spec_, size_bytes - overhead_bytes_), of_bits,
       std::numeric_limits<uint32_t>::max()});
}

void RowFilterBuilder::AddKeyAndAlt(const Slice& key,
                                    const Slice& alt) noexcept {
  AddKey(key);
  // The prefix of an extractor that our codec does not know is between two keys
  // each time, where runs do not find it again.
  const std::string_view prefix = ViewOf(alt);
  if (last_prefix_ == prefix) return;
  last_prefix_ = prefix;
  AddKey(alt);
}

#if defined(ROWBLOOM_ROCKSDB_LAYOUT_C)
size_t RowFilterBuilder::CalculateSpace(size_t entry_count) noexcept {
  return std::max<uint64_t>(
      FilterSizeBytes(weakest_spec_, entry_count) + overhead_bytes_,
      static_cast<uint64_t>(options_.filter_spec.bits_per_key() / 8 *
                            static_cast<double>(entry_count)));
}

double RowFilterBuilder::EstimatedFpRate(size_t entry_count,
                                         size_t size_bytes) noexcept {
  if (entry_count == 0 || size_bytes <= overhead_bytes_) return 1;
  const double bits_per_key =
      8.0 * static_cast<double>(size_bytes - overhead_bytes_) /
      static_cast<double>(entry_count);
  return FilterSpec::BitsPerKey(
             options_.filter_spec.family(),
             std::clamp(bits_per_key, FilterSpec::kMinBitsPerKey,
                        FilterSpec::kMaxBitsPerKey))
      .expected_fpr();
}
#endif

}  // namespace rowbloom::plugin
