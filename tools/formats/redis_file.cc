// SPDX-License-Identifier: Apache-2.0
//
// Filters of Redisson and RedisBloom that were saved to a file.

#include "tools/formats/redis_file.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "rowbloom/memfilter/mem_filter_kind.h"
#include "rowbloom/memfilter/redis_bloom.h"

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

Json LayersOf(const RedisBloomFilter& filter) {
  Json layers = Json::array();
  for (const RedisBloomFilter::Layer& layer : filter.layers()) {
    layers.push_back(Json{{"bit_count", layer.bits.bit_count()},
                          {"probe_count", layer.probe_count},
                          {"capacity", layer.capacity},
                          {"key_count", layer.key_count},
                          {"target_fpr", layer.fpr}});
  }
  return layers;
}

class RedisBloomFile : public FilterFile {
 public:
  explicit RedisBloomFile(RedisBloomFilter filter)
      : filter_(std::move(filter)) {}

  std::string_view kind() const override { return "redis_bloom"; }
  bool has_qualifiers() const override { return false; }
  absl::Status Inspect(Json* entry) const override {
    (*entry)["key_count"] = filter_.key_count();
    (*entry)["capacity"] = filter_.capacity();
    (*entry)["expansion"] =
        filter_.non_scaling() ? Json() : Json(filter_.expansion());
    (*entry)["memory_usage_bytes"] = filter_.memory_usage_bytes();
    (*entry)["expected_fpr"] = filter_.expected_fpr();
    (*entry)["chunks"] = LayersOf(filter_);
    return absl::OkStatus();
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    answer->may_contain = filter_.MayContain(question.row);
    answer->reason = "all layers";
    return absl::OkStatus();
  }

 private:
  const RedisBloomFilter filter_;
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

// A dump has no magic. Its header has: 1 to 255 layers, options that servers
// write today, an expansion of at most 2^15, and then 8 bits for each byte.
FilterFileOrError OpenSavedRedisBloom(const std::string& /*path*/,
                                      const Source& source) {
  constexpr size_t kFirstFields = 36;
  const uint64_t size = source->size_bytes();
  if (size < kFirstFields) return nullptr;
  absl::StatusOr<std::string> bytes = ReadBytes(*source, 0, kFirstFields);
  if (!bytes.ok()) return bytes.status();
  const auto number = [&bytes](size_t at, size_t width) {
    uint64_t value = 0;
    for (size_t i = width; i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>((*bytes)[at + i]);
    }
    return value;
  };
  const uint64_t layers = number(8, 4);
  const uint64_t options = number(12, 4);
  if (layers == 0 || layers > 255 || (options != 5 && options != 13) ||
      number(16, 4) > 32768 || number(28, 8) != 8 * number(20, 8)) {
    return nullptr;
  }
  bytes = ReadBytes(*source, 0, size);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<RedisBloomFilter> filter = RedisBloomFilter::Load(*bytes);
  if (!filter.ok()) return filter.status();
  return std::make_unique<RedisBloomFile>(*std::move(filter));
}

}  // namespace rowbloom::tools
