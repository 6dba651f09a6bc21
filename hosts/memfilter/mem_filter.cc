// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/mem_filter.h"

#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "memfilter/options_text.h"
#include "memfilter/saved_form.h"
#include "util/absl_view.h"

namespace rowbloom {

namespace {

// True if Add() of many keys can fail.
template <typename Filter>
constexpr bool kCanBeFull =
    !std::is_void_v<decltype(std::declval<Filter&>().Add(
        absl::Span<const KeyDigest>()))>;

absl::Status HasNo(MemFilterKind kind, const char* operation) {
  return absl::UnimplementedError(absl::StrCat(
      util::AbslView(MemFilterKindName(kind)), " filters have no ", operation));
}

// The name of a filter's kind; ConcurrentFilter has that of StandardFilter, but
// is another type.
absl::string_view TypeName(const MemFilter& filter);

template <typename Filter>
class Erased final : public MemFilter {
 public:
  explicit Erased(Filter filter) : filter_(std::move(filter)) {}

  MemFilterKind kind() const override { return Filter::kKind; }
  std::string OptionsText() const override {
    if constexpr (std::is_same_v<Filter, StandardFilter> ||
                  std::is_same_v<Filter, ConcurrentFilter>) {
      return internal::memfilter::OptionsText(filter_.shape());
    } else {
      return internal::memfilter::OptionsText(filter_.options());
    }
  }
  absl::StatusOr<bool> Add(KeyDigest digest) override {
    return filter_.Add(digest);
  }
  absl::Status Add(absl::Span<const KeyDigest> digests) override {
    if constexpr (kCanBeFull<Filter>) {
      return filter_.Add(digests);
    } else {
      filter_.Add(digests);
      return absl::OkStatus();
    }
  }
  bool MayContain(KeyDigest digest) const override {
    return filter_.MayContain(digest);
  }
  void MayContain(absl::Span<const KeyDigest> digests,
                  bool* may_contain) const override {
    filter_.MayContain(digests, may_contain);
  }
  absl::StatusOr<bool> Remove(KeyDigest digest) override {
    if constexpr (std::is_same_v<Filter, CountingFilter>) {
      return filter_.Remove(digest);
    } else {
      return HasNo(kind(), "Remove");
    }
  }
  absl::Status Union(const MemFilter& other) override {
    if constexpr (!std::is_same_v<Filter, ScalableFilter>) {
      const void* theirs = MemFilter::FilterOf(other, &kTag);
      if (theirs == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("union of a ", TypeName(*this), " filter with a ",
                         TypeName(other), " filter: they must be of one type"));
      }
      return filter_.Union(*static_cast<const Filter*>(theirs));
    } else {
      return HasNo(kind(), "Union");
    }
  }
  double fill() const override { return filter_.fill(); }
  double expected_fpr() const override { return filter_.expected_fpr(); }
  uint64_t approximate_count() const override {
    return filter_.approximate_count();
  }
  uint64_t memory_usage_bytes() const override {
    return filter_.memory_usage_bytes();
  }
  std::string Save() const override { return filter_.Save(); }

  static bool Is(const MemFilter& other) {
    return MemFilter::FilterOf(other, &kTag) != nullptr;
  }

 private:
  // One for each Filter: its address stands for the type, as there is no RTTI.
  static constexpr char kTag = 0;
  const void* FilterOf(const void* tag) const override {
    return tag == &kTag ? &filter_ : nullptr;
  }

  Filter filter_;
};

absl::string_view TypeName(const MemFilter& filter) {
  return Erased<ConcurrentFilter>::Is(filter)
             ? "concurrent"
             : util::AbslView(MemFilterKindName(filter.kind()));
}

template <typename Filter>
absl::StatusOr<std::unique_ptr<MemFilter>> LoadAs(std::string_view saved) {
  auto filter = Filter::Load(saved);
  if (!filter.ok()) return filter.status();
  return AnyFilter(*std::move(filter));
}

}  // namespace

template <typename Filter, MemFilterKind>
std::unique_ptr<MemFilter> AnyFilter(Filter filter) {
  return std::make_unique<Erased<Filter>>(std::move(filter));
}
template std::unique_ptr<MemFilter> AnyFilter(StandardFilter);
template std::unique_ptr<MemFilter> AnyFilter(ConcurrentFilter);
template std::unique_ptr<MemFilter> AnyFilter(CountingFilter);
template std::unique_ptr<MemFilter> AnyFilter(ScalableFilter);
template std::unique_ptr<MemFilter> AnyFilter(DynamicFilter);
template std::unique_ptr<MemFilter> AnyFilter(SplitFilter);
template std::unique_ptr<MemFilter> AnyFilter(BalancedFilter);
template std::unique_ptr<MemFilter> AnyFilter(MatrixFilter);

absl::StatusOr<std::unique_ptr<MemFilter>> LoadMemFilter(
    std::string_view saved) {
  const auto kind = internal::memfilter::SavedFormKind(saved);
  if (!kind.ok()) return kind.status();
  switch (*kind) {
    case MemFilterKind::kStandard:
      return LoadAs<StandardFilter>(saved);
    case MemFilterKind::kCounting:
      return LoadAs<CountingFilter>(saved);
    case MemFilterKind::kScalable:
      return LoadAs<ScalableFilter>(saved);
    case MemFilterKind::kDynamic:
      return LoadAs<DynamicFilter>(saved);
    case MemFilterKind::kSplit:
      return LoadAs<SplitFilter>(saved);
    case MemFilterKind::kBalanced:
      return LoadAs<BalancedFilter>(saved);
    case MemFilterKind::kMatrix:
      return LoadAs<MatrixFilter>(saved);
    case MemFilterKind::kRedisson:
      return absl::InvalidArgumentError(
          "saved filter is a redisson filter, whose digests are not those of "
          "FilterKey: use RedissonFilter::Load()");
  }
  return absl::UnimplementedError("unknown kind");  // Not reached.
}

}  // namespace rowbloom
