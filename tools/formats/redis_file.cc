// SPDX-License-Identifier: Apache-2.0
//
// Filters of Redisson that were saved to a file.

#include "tools/formats/redis_file.h"

#include <memory>
#include <string>
#include <utility>

#include "rowbloom/memfilter/mem_filter_kind.h"

namespace rowbloom::tools {
namespace {

// See docs/memfilters.md, "Saved form".
constexpr size_t kKindOffset = 9;

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

FilterFileOrError OpenSavedRedisson(const std::string& /*path*/,
                                    const Source& source) {
  constexpr char kKind = static_cast<char>(MemFilterKind::kRedisson);
  for (const auto& found : {HasBytes(*source, 0, kMemFilterMagic),
                            HasBytes(*source, kKindOffset, {&kKind, 1})}) {
    if (!found.ok()) return found.status();
    if (!*found) return nullptr;
  }
  const auto bytes = ReadBytes(*source, 0, source->size_bytes());
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<RedissonFilter> filter = RedissonFilter::Load(*bytes);
  if (!filter.ok()) return filter.status();
  return std::make_unique<RedissonFile>(*std::move(filter));
}

void InspectRedisson(const RedissonFilter& filter, Json* entry) {
  (*entry)["bit_count"] = filter.shape().bit_count;
  (*entry)["probe_count"] = filter.shape().probe_count;
  (*entry)["approximate_count"] = filter.approximate_count();
  (*entry)["fill"] = filter.fill();
  (*entry)["expected_fpr"] = filter.expected_fpr();
}

}  // namespace rowbloom::tools
