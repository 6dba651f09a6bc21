// SPDX-License-Identifier: Apache-2.0
//
// The BF commands of a server: RedisBloom's (a module; part of Redis 8),
// valkey-bloom's and TairBloom's.
//
//   RemoteBfCommands bf(connection.get());
//   absl::Status status = bf.Reserve("seen", {0.001, 1'000'000});
//   bf.Insert("seen", {{}, /*no_create=*/true}, {"user17"});
//   bool may_exist = bf.Exists("seen", "user18");
//   absl::StatusOr<RedisBloomFilter> local = bf.Dump("seen");
//
// Exists() says "no" only of a filter that is there: a missing key, a key of
// another type, a time-out or an error answers "maybe" and is counted. The
// server says "no" of the first two, and BF.ADD makes a missing filter anew
// without its former items: make filters by Reserve(), and add by Insert() with
// no_create. One thread at a time; does not own its connection.
//
// An older state of the server looks like the filter: a replica may lack the
// latest items, and so may the primary after a restart from disk or a failover.
// Ask the primary; after either event delete the filter and add all items
// again.
//
// valkey-bloom has all but SCANDUMP and LOADCHUNK. TairBloom has RESERVE, ADD,
// MADD and INSERT; Exists() answers "maybe" there, because the name of its type
// is not documented. Tried with RedisBloom 2.8.2 in
// Redis 7.0; experimental with the other two, which it has not met.

#ifndef ROWBLOOM_REDIS_BF_COMMANDS_H_
#define ROWBLOOM_REDIS_BF_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/memfilter/redis_bloom.h"
#include "rowbloom/redis/connection.h"

namespace ROWBLOOM_EXPORT rowbloom {

struct BfInsertOptions {
  BfReserveOptions reserve;  // For a filter that does not exist yet.
  bool no_create = false;    // If true, NotFound instead.
};

struct BfInfo {
  uint64_t capacity = 0;
  uint64_t size_bytes = 0;
  uint64_t filter_count = 0;  // Layers.
  uint64_t item_count = 0;
  std::optional<uint32_t> expansion;  // nullopt if non-scaling.
};

// Items that were looked up; the last two fields count answers of "maybe"
// without proof.
struct RemoteBfStats {
  uint64_t lookups = 0;
  uint64_t negatives = 0;
  uint64_t unreachable = 0;  // No reply in time, or the server's error.
  uint64_t missing_key = 0;  // Or a key that is not a Bloom filter.
};

class RemoteBfCommands {
 public:
  explicit RemoteBfCommands(RedisConnection* connection)
      : connection_(connection) {}

  // AlreadyExists; InvalidArgument for what the server refuses.
  absl::Status Reserve(std::string_view key, const BfReserveOptions& options);

  // An answer for each item: true if it was new, ResourceExhausted if the
  // filter is full. The items after the first error are not added and have that
  // error. One round trip.
  absl::StatusOr<bool> Add(std::string_view key, std::string_view item);
  absl::StatusOr<std::vector<absl::StatusOr<bool>>> MAdd(
      std::string_view key, absl::Span<const std::string_view> items);
  // With no_create, `options.reserve` is not sent; NotFound if there is no
  // filter.
  absl::StatusOr<std::vector<absl::StatusOr<bool>>> Insert(
      std::string_view key, const BfInsertOptions& options,
      absl::Span<const std::string_view> items);

  // Fills may_exist[items.size()]. One round trip.
  void MExists(std::string_view key, absl::Span<const std::string_view> items,
               bool* may_exist);
  bool Exists(std::string_view key, std::string_view item);

  absl::StatusOr<BfInfo> Info(std::string_view key);  // NotFound.
  absl::StatusOr<uint64_t> Card(std::string_view key);
  absl::StatusOr<bool> Delete(std::string_view key);

  // BF.SCANDUMP. Begins with iterator 0 and ends with a chunk of iterator 0.
  absl::StatusOr<BfChunk> ScanDump(std::string_view key, uint64_t iterator);
  // A whole dump. Items that are added meanwhile may be missing in part: the
  // answers are for items that were added before the call.
  //
  // Restore() loses what others have added to the key since the dump: stop its
  // writers before.
  absl::StatusOr<RedisBloomFilter> Dump(std::string_view key);
  // Loads the filter under a random name beside the key and renames it, in
  // place of an existing one: nobody asks a filter that is loaded in part. If
  // the connection breaks, the part expires within an hour. The key has no time
  // to live afterwards.
  absl::Status Restore(std::string_view key, const RedisBloomFilter& filter);

  const RemoteBfStats& stats() const { return stats_; }
  // The last cause of a "maybe" without proof.
  const absl::Status& last_error() const { return last_error_; }

 private:
  absl::StatusOr<RedisReply> Call(std::string_view key,
                                  const RedisCommand& command);
  absl::StatusOr<uint64_t> CallForNumber(std::string_view key,
                                         const RedisCommand& command);
  // One reply for each command; no other client's commands run between them.
  absl::StatusOr<std::vector<RedisReply>> CallTogether(
      std::string_view key, std::vector<RedisCommand> commands);

  RedisConnection* connection_;
  RemoteBfStats stats_;
  absl::Status last_error_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_REDIS_BF_COMMANDS_H_
