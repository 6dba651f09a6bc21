// SPDX-License-Identifier: Apache-2.0
//
// Filters of Redisson on a server. A server shows and asks the filters of its
// BF commands itself: BF.INFO, BF.EXISTS.

#include <memory>
#include <string>
#include <utility>

#include "rowbloom/redis/codec.h"
#include "rowbloom/redis/connection.h"
#include "rowbloom/redis/redisson.h"
#include "tools/formats/redisson.h"

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
  if (!address.ok()) return WrongQuestion(address.status().message());
  auto connection = ConnectRedis(address->options);
  if (absl::IsInvalidArgument(connection.status())) {
    return WrongQuestion(connection.status().message());
  }
  if (!connection.ok()) return connection.status();
  auto filter = RemoteRedissonFilter::Open(connection->get(), address->name,
                                           RedissonCodec(""));
  if (!filter.ok()) return filter.status();
  return std::make_unique<RemoteRedissonFile>(
      *std::move(connection), address->name, *std::move(filter));
}

}  // namespace rowbloom::tools
