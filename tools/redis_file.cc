// SPDX-License-Identifier: Apache-2.0
//
// Filters in the forms of Redis: Redisson's and RedisBloom's, saved to a file
// or on a server.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "filter_file.h"
#include "rowbloom/memfilter/mem_filter_kind.h"
#include "rowbloom/memfilter/redis_bloom.h"
#include "rowbloom/memfilter/redisson.h"
#ifdef ROWBLOOM_TOOL_WITH_REDIS
#include "rowbloom/redis/bf_commands.h"
#include "rowbloom/redis/codec.h"
#include "rowbloom/redis/connection.h"
#include "rowbloom/redis/redisson.h"
#endif

namespace rowbloom::tools {
namespace {

// See docs/memfilters.md, "Saved form".
constexpr std::string_view kMagic = "rbmemflt";
constexpr size_t kKindOffset = 9;

#ifdef ROWBLOOM_TOOL_WITH_REDIS
constexpr char kNoCodec[] = "name the codec of the elements: --codec";
#endif

// InvalidArgument would say that the filter is of no known format.
absl::Status WrongQuestion(absl::string_view why) {
  return absl::FailedPreconditionError(why);
}

#ifndef ROWBLOOM_TOOL_WITH_REDIS
absl::Status WithoutRedis() {
  return absl::FailedPreconditionError(
      "a filter in Redis, and this rowbloom was built without it");
}
#endif

class RedissonFile : public FilterFile {
 public:
  explicit RedissonFile(RedissonFilter filter) : filter_(std::move(filter)) {}

  std::string_view kind() const override { return "redisson"; }

  absl::Status Inspect(Json* entry) const override {
    (*entry)["bit_count"] = filter_.shape().bit_count;
    (*entry)["probe_count"] = filter_.shape().probe_count;
    (*entry)["approximate_count"] = filter_.approximate_count();
    (*entry)["fill"] = filter_.fill();
    (*entry)["expected_fpr"] = filter_.expected_fpr();
    return absl::OkStatus();
  }

  // A damaged filter fails to open, so this one is good.
  absl::Status Verify(bool /*with_cells*/, Json* /*entry*/) const override {
    return absl::OkStatus();
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    if (question.qualifier.has_value()) {
      return WrongQuestion("elements have no qualifiers");
    }
#ifdef ROWBLOOM_TOOL_WITH_REDIS
    if (question.codec.empty()) {
      return WrongQuestion(kNoCodec);
    }
    const auto encoded = RedissonCodec(question.codec).Text(question.row);
    if (!encoded.ok()) return WrongQuestion(encoded.status().message());
    answer->may_contain = filter_.MayContain(RedissonDigestOf(*encoded));
    answer->reason = "if its elements have the codec " + question.codec;
    return absl::OkStatus();
#else
    (void)answer;
    return WithoutRedis();
#endif
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

  absl::Status Verify(bool /*with_cells*/, Json* /*entry*/) const override {
    return absl::OkStatus();
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    if (question.qualifier.has_value()) {
      return WrongQuestion("items have no qualifiers");
    }
    answer->may_contain = filter_.MayContain(question.row);
    answer->reason = "all layers";
    return absl::OkStatus();
  }

 private:
  const RedisBloomFilter filter_;
};

#ifdef ROWBLOOM_TOOL_WITH_REDIS

class RemoteRedissonFile : public FilterFile {
 public:
  RemoteRedissonFile(std::unique_ptr<RedisConnection> connection,
                     std::string name, RemoteRedissonFilter filter)
      : connection_(std::move(connection)),
        name_(std::move(name)),
        filter_(std::move(filter)) {}

  std::string_view kind() const override { return "redisson"; }

  absl::Status Inspect(Json* entry) const override {
    const auto number = [](const auto& value) {
      return value.has_value() ? Json(*value) : Json();
    };
    (*entry)["codec"] =
        filter_.codec().name().empty() ? Json() : Json(filter_.codec().name());
    (*entry)["expected_insertions"] = number(filter_.expected_insertions());
    (*entry)["target_fpr"] = number(filter_.fpp());
    const auto snapshot = Fresh();
    if (!snapshot.ok()) return snapshot.status();
    return RedissonFile(snapshot->filter()).Inspect(entry);
  }

  absl::Status Verify(bool /*with_cells*/, Json* /*entry*/) const override {
    return Fresh().status();
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    if (question.qualifier.has_value()) {
      return WrongQuestion("elements have no qualifiers");
    }
    auto filter = RemoteRedissonFilter::Open(connection_.get(), name_,
                                             RedissonCodec(question.codec));
    if (!filter.ok()) return filter.status();
    if (filter->codec().name().empty()) {
      return WrongQuestion(kNoCodec);
    }
    answer->may_contain = filter->MayContain(question.row);
    answer->reason = "if its elements have the codec " + filter->codec().name();
    const absl::Status& status = filter->last_error();
    return absl::IsInvalidArgument(status) ? WrongQuestion(status.message())
                                           : status;
  }

 private:
  absl::StatusOr<RedissonSnapshot> Fresh() const {
    auto filter =
        RemoteRedissonFilter::Open(connection_.get(), name_, filter_.codec());
    if (!filter.ok()) return filter.status();
    return filter->Snapshot();
  }

  const std::unique_ptr<RedisConnection> connection_;
  const std::string name_;
  const RemoteRedissonFilter filter_;
};

class RemoteBfFile : public FilterFile {
 public:
  RemoteBfFile(std::unique_ptr<RedisConnection> connection, std::string name,
               const BfInfo& info)
      : connection_(std::move(connection)),
        name_(std::move(name)),
        info_(info) {}

  std::string_view kind() const override { return "bf"; }

  absl::Status Inspect(Json* entry) const override {
    (*entry)["key_count"] = info_.item_count;
    (*entry)["capacity"] = info_.capacity;
    (*entry)["expansion"] =
        info_.expansion.has_value() ? Json(*info_.expansion) : Json();
    (*entry)["size_bytes"] = info_.size_bytes;
    (*entry)["layer_count"] = info_.filter_count;
    return absl::OkStatus();
  }

  // Only the server itself can check its filter.
  absl::Status Verify(bool /*with_cells*/, Json* /*entry*/) const override {
    return absl::OkStatus();
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    if (question.qualifier.has_value()) {
      return WrongQuestion("items have no qualifiers");
    }
    RemoteBfCommands bf(connection_.get());
    answer->may_contain = bf.Exists(name_, question.row);
    answer->reason = "all layers";
    return bf.last_error();
  }

 private:
  const std::unique_ptr<RedisConnection> connection_;
  const std::string name_;
  const BfInfo info_;
};

#endif

}  // namespace

FilterFileOrError OpenSavedRedisson(
    const std::string& /*path*/,
    const std::shared_ptr<const RandomAccessSource>& source) {
  const uint64_t size = source->size_bytes();
  if (size <= kKindOffset) return nullptr;
  absl::StatusOr<std::string> bytes = ReadBytes(*source, 0, kKindOffset + 1);
  if (!bytes.ok()) return bytes.status();
  if (bytes->compare(0, kMagic.size(), kMagic) != 0 ||
      (*bytes)[kKindOffset] != static_cast<char>(MemFilterKind::kRedisson)) {
    return nullptr;
  }
  bytes = ReadBytes(*source, 0, size);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<RedissonFilter> filter = RedissonFilter::Load(*bytes);
  if (!filter.ok()) return filter.status();
  return std::make_unique<RedissonFile>(*std::move(filter));
}

// A dump has no magic. Its header has: 1 to 255 layers, options that servers
// write today, an expansion of at most 2^15, and then 8 bits for each byte.
FilterFileOrError OpenSavedRedisBloom(
    const std::string& /*path*/,
    const std::shared_ptr<const RandomAccessSource>& source) {
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

FilterFileOrError OpenRedisFilter(const std::string& url) {
#ifdef ROWBLOOM_TOOL_WITH_REDIS
  const auto address = ParseRedisUrl(url);
  if (!address.ok()) return address.status();
  auto connection = ConnectRedis(address->options);
  if (!connection.ok()) return connection.status();
  auto filter = RemoteRedissonFilter::Open(connection->get(), address->name,
                                           RedissonCodec(""));
  if (filter.ok()) {
    return std::make_unique<RemoteRedissonFile>(
        *std::move(connection), address->name, *std::move(filter));
  }
  if (!absl::IsNotFound(filter.status())) return filter.status();
  const auto info = RemoteBfCommands(connection->get()).Info(address->name);
  // The first status says what was looked for.
  if (!info.ok()) return filter.status();
  return std::make_unique<RemoteBfFile>(*std::move(connection), address->name,
                                        *info);
#else
  (void)url;
  return WithoutRedis();
#endif
}

}  // namespace rowbloom::tools
