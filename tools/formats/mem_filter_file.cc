// SPDX-License-Identifier: Apache-2.0
//
// A file with one saved filter of those that change while they live, Redisson's
// among them.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/mem_filter.h"
#include "tools/formats/redisson.h"

namespace rowbloom::tools {
namespace {

// See docs/memfilters.md, "Saved form".
constexpr size_t kKindOffset = 9;

class MemFilterFile : public FilterFile {
 public:
  MemFilterFile(uint64_t size_bytes, std::unique_ptr<MemFilter> filter)
      : size_bytes_(size_bytes), filter_(std::move(filter)) {}

  std::string_view kind() const override { return "mem_filter"; }

  absl::Status Inspect(Json* entry) const override {
    (*entry)["filter_kind"] = std::string(MemFilterKindName(filter_->kind()));
    (*entry)["options"] = filter_->OptionsText();
    (*entry)["approximate_count"] = filter_->approximate_count();
    (*entry)["size_bytes"] = size_bytes_;
    (*entry)["memory_usage_bytes"] = filter_->memory_usage_bytes();
    (*entry)["fill"] = filter_->fill();
    (*entry)["expected_fpr"] = filter_->expected_fpr();
    return absl::OkStatus();
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    const FilterKey key = question.key();
    answer->may_contain = filter_->MayContain(key.digest());
    answer->asked = key.has_qualifier() ? "column" : "row";
    answer->reason = "if it holds digests of such keys";
    return absl::OkStatus();
  }

 private:
  const uint64_t size_bytes_;
  const std::unique_ptr<MemFilter> filter_;
};

class RedissonFile : public FilterFile {
 public:
  explicit RedissonFile(RedissonFilter filter) : filter_(std::move(filter)) {}

  std::string_view kind() const override { return "redisson"; }
  bool has_qualifiers() const override { return false; }
  absl::Status Inspect(Json* entry) const override {
    InspectRedisson(filter_, entry);
    return absl::OkStatus();
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    return AskRedisson(filter_, question, answer);
  }

 private:
  const RedissonFilter filter_;
};

}  // namespace

FilterFileOrError OpenMemFilter(const std::string& /*path*/,
                                const Source& source) {
  const uint64_t size = source->size_bytes();
  const auto is_saved = HasBytes(*source, 0, kMemFilterMagic);
  if (!is_saved.ok()) return is_saved.status();
  if (!*is_saved) return nullptr;
  const absl::StatusOr<std::string> bytes = ReadBytes(*source, 0, size);
  if (!bytes.ok()) return bytes.status();
  if (size > kKindOffset && static_cast<MemFilterKind>((*bytes)[kKindOffset]) ==
                                MemFilterKind::kRedisson) {
    absl::StatusOr<RedissonFilter> filter = RedissonFilter::Load(*bytes);
    if (!filter.ok()) return filter.status();
    return std::make_unique<RedissonFile>(*std::move(filter));
  }
  absl::StatusOr<std::unique_ptr<MemFilter>> filter = LoadMemFilter(*bytes);
  if (!filter.ok()) return filter.status();
  return std::make_unique<MemFilterFile>(size, *std::move(filter));
}

void InspectRedisson(const RedissonFilter& filter, Json* entry) {
  (*entry)["bit_count"] = filter.shape().bit_count;
  (*entry)["probe_count"] = filter.shape().probe_count;
  (*entry)["approximate_count"] = filter.approximate_count();
  (*entry)["fill"] = filter.fill();
  (*entry)["expected_fpr"] = filter.expected_fpr();
}

}  // namespace rowbloom::tools
