// SPDX-License-Identifier: Apache-2.0
//
// Filters of Redisson and of the BF commands on a server.

#include <memory>
#include <string>
#include <utility>

#include "rowbloom/redis/bf_commands.h"
#include "rowbloom/redis/codec.h"
#include "rowbloom/redis/connection.h"
#include "rowbloom/redis/redisson.h"
#include "tools/formats/redis_file.h"

namespace rowbloom::tools {
namespace {

constexpr char kNoCodec[] = "name the codec of the elements: --codec";

class RemoteRedissonFile : public FilterFile {
 public:
  RemoteRedissonFile(std::unique_ptr<RedisConnection> connection,
                     std::string name, RemoteRedissonFilter filter)
      : connection_(std::move(connection)),
        name_(std::move(name)),
        filter_(std::move(filter)) {}

  std::string_view kind() const override { return "redisson"; }
  bool has_qualifiers() const override { return false; }

  absl::Status Inspect(Json* entry) const override {
    (*entry)["codec"] = OrNull(filter_.codec().name());
    (*entry)["expected_insertions"] = OrNull(filter_.expected_insertions());
    (*entry)["target_fpr"] = OrNull(filter_.fpp());
    const auto snapshot = Fresh();
    if (!snapshot.ok()) return snapshot.status();
    InspectRedisson(snapshot->filter(), entry);
    return absl::OkStatus();
  }

  absl::Status Verify(bool /*with_cells*/, Json* /*entry*/) const override {
    return Fresh().status();
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    auto filter = RemoteRedissonFilter::Open(connection_.get(), name_,
                                             RedissonCodec(question.codec));
    if (!filter.ok()) return filter.status();
    if (filter->codec().name().empty()) return WrongQuestion(kNoCodec);
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

  // Only the server itself can check its filter: there is no Verify().
  std::string_view kind() const override { return "bf"; }
  bool has_qualifiers() const override { return false; }

  absl::Status Inspect(Json* entry) const override {
    (*entry)["key_count"] = info_.item_count;
    (*entry)["capacity"] = info_.capacity;
    (*entry)["expansion"] = OrNull(info_.expansion);
    (*entry)["size_bytes"] = info_.size_bytes;
    (*entry)["layer_count"] = info_.filter_count;
    return absl::OkStatus();
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
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

}  // namespace

absl::Status AskRedisson(const RedissonFilter& filter,
                         const LookupQuestion& question, LookupAnswer* answer) {
  if (question.codec.empty()) return WrongQuestion(kNoCodec);
  const auto encoded = RedissonCodec(question.codec).Text(question.row);
  if (!encoded.ok()) return WrongQuestion(encoded.status().message());
  answer->may_contain = filter.MayContain(RedissonDigestOf(*encoded));
  answer->reason = "if its elements have the codec " + question.codec;
  return absl::OkStatus();
}

FilterFileOrError OpenRedisFilter(const std::string& url) {
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
}

}  // namespace rowbloom::tools
