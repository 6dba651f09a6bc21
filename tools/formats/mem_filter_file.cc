// SPDX-License-Identifier: Apache-2.0
//
// A file with one saved filter of those that change while they live.

#include <memory>
#include <string>
#include <utility>

#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/mem_filter.h"
#include "tools/formats/filter_file.h"

namespace rowbloom::tools {
namespace {

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

}  // namespace

FilterFileOrError OpenMemFilter(const std::string& /*path*/,
                                const Source& source) {
  const uint64_t size = source->size_bytes();
  const auto is_saved = HasBytes(*source, 0, kMemFilterMagic);
  if (!is_saved.ok()) return is_saved.status();
  if (!*is_saved) return nullptr;
  const absl::StatusOr<std::string> bytes = ReadBytes(*source, 0, size);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<std::unique_ptr<MemFilter>> filter = LoadMemFilter(*bytes);
  if (!filter.ok()) return filter.status();
  return std::make_unique<MemFilterFile>(size, *std::move(filter));
}

}  // namespace rowbloom::tools
