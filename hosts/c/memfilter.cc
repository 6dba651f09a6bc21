// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "c/boundary.h"
#include "c/options.h"
#include "rowbloom/memfilter/concurrent.h"
#include "rowbloom/memfilter/mem_filter.h"
#include "rowbloom/memfilter/scalable.h"
#include "rowbloom/memfilter/sizing.h"

using namespace rowbloom;
using namespace rowbloom::c;

struct rowbloom_memfilter {
  std::unique_ptr<MemFilter> filter;
};

namespace {

using AnyFilterOr = absl::StatusOr<std::unique_ptr<MemFilter>>;

AnyFilterOr NewConcurrent(Options* given) {
  uint64_t key_count = 0;
  double target_fpr = 0.01;
  given->Take("target_fpr", &target_fpr);
  given->Take("key_count", &key_count);
  if (absl::Status status = given->Finish(); !status.ok()) return status;
  if (key_count == 0) {
    return absl::InvalidArgumentError(
        "kind=concurrent needs key_count, the keys that the filter is for: at "
        "least 1");
  }
  absl::StatusOr<BloomShape> shape = ShapeFor(key_count, target_fpr);
  if (!shape.ok()) return shape.status();
  absl::StatusOr<ConcurrentFilter> filter = ConcurrentFilter::New(*shape);
  if (!filter.ok()) return filter.status();
  return AnyFilter(*std::move(filter));
}

AnyFilterOr NewScalable(Options* given) {
  ScalableOptions options;
  given->Take("target_fpr", &options.target_fpr);
  given->Take("capacity", &options.capacity);
  given->Take("expansion", &options.expansion);
  given->Take("max_memory_bytes", &options.max_memory_bytes);
  if (absl::Status status = given->Finish(); !status.ok()) return status;
  absl::StatusOr<ScalableFilter> filter = ScalableFilter::New(options);
  if (!filter.ok()) return filter.status();
  return AnyFilter(*std::move(filter));
}

AnyFilterOr New(const char* text) {
  std::string kind = "scalable";
  Options given("memory filter", text);
  given.Take("kind", &kind);
  if (kind == "concurrent") return NewConcurrent(&given);
  if (kind == "scalable") return NewScalable(&given);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown kind of memory filter \"", kind,
                   "\"; known: scalable, concurrent"));
}

AnyFilterOr Load(std::string_view saved) {
  absl::StatusOr<ConcurrentFilter> concurrent = ConcurrentFilter::Load(saved);
  if (concurrent.ok()) return AnyFilter(*std::move(concurrent));
  // Another kind. A standard filter never comes back as one that is not for
  // several threads.
  if (absl::IsInvalidArgument(concurrent.status())) {
    return LoadMemFilter(saved);
  }
  return concurrent.status();
}

absl::Status GiveFilter(AnyFilterOr filter, rowbloom_memfilter** out) {
  if (!filter.ok()) return filter.status();
  return c::Give(std::make_unique<rowbloom_memfilter>(
                     rowbloom_memfilter{*std::move(filter)}),
                 out);
}

}  // namespace

extern "C" {

rowbloom_code rowbloom_memfilter_new(const char* options,
                                     rowbloom_memfilter** out,
                                     rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    return GiveFilter(New(options), out);
  });
}

rowbloom_code rowbloom_memfilter_load(const void* bytes, size_t size,
                                      rowbloom_memfilter** out,
                                      rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    if (absl::Status status = CheckBytes(bytes, size, "bytes"); !status.ok()) {
      return status;
    }
    return GiveFilter(Load(View(bytes, size)), out);
  });
}

rowbloom_code rowbloom_memfilter_add(rowbloom_memfilter* filter,
                                     const void* row, size_t row_size,
                                     const void* qualifier,
                                     size_t qualifier_size, bool* added,
                                     rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    if (added != nullptr) *added = false;
    if (filter == nullptr) return NullArgument("filter");
    const std::optional<FilterKey> key =
        KeyOf(row, row_size, qualifier, qualifier_size);
    if (!key) return CheckKey(row, row_size, qualifier, qualifier_size);
    absl::StatusOr<bool> is_new = filter->filter->Add(key->digest());
    if (is_new.ok() && added != nullptr) *added = *is_new;
    return is_new.status();
  });
}

bool rowbloom_memfilter_may_contain(const rowbloom_memfilter* filter,
                                    const void* row, size_t row_size,
                                    const void* qualifier,
                                    size_t qualifier_size) {
  const std::optional<FilterKey> key =
      KeyOf(row, row_size, qualifier, qualifier_size);
  return filter == nullptr || !key || filter->filter->MayContain(key->digest());
}

rowbloom_code rowbloom_memfilter_save(const rowbloom_memfilter* filter,
                                      rowbloom_buffer* bytes,
                                      rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    Clear(bytes);
    if (bytes == nullptr) return NullArgument("bytes");
    if (filter == nullptr) return NullArgument("filter");
    return Fill(filter->filter->Save(), bytes);
  });
}

void rowbloom_memfilter_free(rowbloom_memfilter* filter) { delete filter; }

}  // extern "C"
