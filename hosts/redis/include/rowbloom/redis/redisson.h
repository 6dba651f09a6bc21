// SPDX-License-Identifier: Apache-2.0
//
// Redisson's RBloomFilter on a Redis server, shared by processes of both.
//
//   auto filter = RemoteRedissonFilter::Init(
//       connection.get(), "seen", RedissonCodec("StringCodec"), 100'000, 0.03);
//   auto added = filter->Add({"user17", "user18"});  // true: it was new.
//   bool may_contain[2];
//   filter->MayContain({"user17", "user19"}, may_contain);  // 1 round trip.
//   auto snapshot = filter->Snapshot();                     // For memory.
//
// The server has the bits under the name and a hash of parameters beside them;
// other clients change both at any time. MayContain() says "no" only of the
// bits and the configuration in this reply: a lost connection, a missing or
// changed configuration, lost bits and another codec answer "maybe" and are
// counted. Redisson itself answers "no" in four such cases
// (hosts/redis/README.md).
//
// Add() and Init() leave a mark in the configuration, the field "rowbloom" with
// the parameters, a random word and the codec's name, which Redisson keeps and
// ignores. A marked filter is refused with another codec;
// its value has its full length, so that a lost one is found; and an open
// object tells a filter that was deleted and made anew. A filter without a mark
// is one that only Redisson has written: nothing tells its codec, and a lost
// value that was begun anew is found only by an object that has seen a longer
// one.
//
// Three losses cannot be seen, and then the answer can be a false "no":
// - The value of a marked filter was lost, and Redisson has set one of its last
//   eight bits since, so that it has its full length again.
// - The value of an unmarked filter was lost and begun anew, by Redisson or by
//   Add(), before this object saw it; or all of the filter, by Redisson with
//   the same parameters, after this object was opened.
// - The server has an older state of both keys: a replica that lags, or the
//   primary after a restart from disk or a failover. Ask the primary; after
//   either event delete the filter and add all elements again.
//
// Elements are text, which the codec encodes as a Java String; the functions
// ending in Encoded take bytes as RedissonCodec returns them. A filter is used
// by one thread at a time and does not own its connection. Needs Redis 2.8; a
// user who may not EVAL asks by plain reads, which need Redis 6.

#ifndef ROWBLOOM_REDIS_REDISSON_H_
#define ROWBLOOM_REDIS_REDISSON_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/memfilter/redisson.h"
#include "rowbloom/memfilter/sizing.h"
#include "rowbloom/redis/codec.h"
#include "rowbloom/redis/connection.h"

namespace ROWBLOOM_EXPORT rowbloom {

// The lookups of one filter object. The last four fields count lookups that
// answered "maybe" without proof, by cause.
struct RemoteFilterStats {
  uint64_t round_trips = 0;  // A call makes one or more.
  uint64_t lookups = 0;
  uint64_t negatives = 0;
  uint64_t unreachable = 0;     // No reply in time, or the server's error.
  uint64_t config_changed = 0;  // Missing, not as at Open(), or of other types.
  uint64_t bits_lost = 0;       // Missing, or of a wrong length.
  uint64_t unencodable = 0;     // The codec cannot encode the element.
};

// The bits at one moment. Immutable; any number of threads.
class RedissonSnapshot {
 public:
  using TimePoint = std::chrono::system_clock::time_point;

  RedissonSnapshot(RedissonFilter filter, RedissonCodec codec,
                   TimePoint taken_at)
      : filter_(std::move(filter)),
        codec_(std::move(codec)),
        taken_at_(taken_at) {}

  // False: not added before taken_at(). An element added since may be absent
  // here, so ask this only for a set that no longer changes, or if a later
  // element need not be found.
  bool MayContain(std::string_view element) const;
  // For a set that changes: `added_by` is the latest time by which the element
  // was added, if it is in the set; true if that is not before taken_at().
  // Clocks are those of this machine and of the one that adds: allow for their
  // difference.
  bool MayContain(std::string_view element, TimePoint added_by) const {
    return added_by >= taken_at_ || MayContain(element);
  }

  // The filter's own calls and its expected_fpr(), measured.
  const RedissonFilter& filter() const { return filter_; }
  // A time before the first bit was read.
  TimePoint taken_at() const { return taken_at_; }

 private:
  RedissonFilter filter_;
  RedissonCodec codec_;
  TimePoint taken_at_;
};

class RemoteRedissonFilter {
 public:
  // Reads the configuration; writes nothing. A codec without a name stands for
  // that of the mark; without a mark, nothing can be looked up with it, or
  // added. NotFound without a configuration;
  // FailedPrecondition if it cannot be used, or is marked with another codec;
  // DataLoss if the mark or the length of the value shows that the parameters
  // were overwritten or the bits lost.
  static absl::StatusOr<RemoteRedissonFilter> Open(RedisConnection* connection,
                                                   std::string_view name,
                                                   const RedissonCodec& codec);
  // tryInit(): makes the filter with Redisson's shape for these parameters, or
  // opens one of the same shape. AlreadyExists with the stored shape if it
  // differs; FailedPrecondition if there are bits without a configuration. The
  // server allocates all bits at once, up to 512 MiB.
  static absl::StatusOr<RemoteRedissonFilter> Init(RedisConnection* connection,
                                                   std::string_view name,
                                                   const RedissonCodec& codec,
                                                   uint64_t expected_insertions,
                                                   double fpp);

  // Returns true for each element that changed a bit. One round trip for a
  // batch: thousands of elements, not millions. Changes nothing on a filter
  // that Open() would refuse, or with other parameters than at Open(). After
  // another error some elements may have been added; adding again is harmless.
  // An unmarked filter without a value looks empty: if its value was lost,
  // Add() begins it anew and marks it, and its former elements answer "no".
  absl::StatusOr<std::vector<bool>> Add(
      absl::Span<const std::string_view> elements);
  absl::StatusOr<std::vector<bool>> AddEncoded(
      absl::Span<const std::string> encoded);

  // Fills may_contain[elements.size()].
  void MayContain(absl::Span<const std::string_view> elements,
                  bool* may_contain);
  void MayContainEncoded(absl::Span<const std::string> encoded,
                         bool* may_contain);
  bool MayContain(std::string_view element);

  // count(), by the number of set bits.
  absl::StatusOr<uint64_t> Count();
  // Reads all bits, 16 MiB in a round trip.
  absl::StatusOr<RedissonSnapshot> Snapshot();
  // Both keys. Delete() returns false if there was none. Expire() returns
  // InvalidArgument below 0 ms, NotFound if there is no configuration, DataLoss
  // if there are no bits.
  absl::StatusOr<bool> Delete();
  absl::Status Expire(std::chrono::milliseconds after);

  const RemoteFilterStats& stats() const { return stats_; }
  // The last cause of a "maybe" without proof.
  const absl::Status& last_error() const { return last_error_; }
  const BloomShape& shape() const { return shape_; }
  const RedissonCodec& codec() const { return codec_; }
  // True if the filter was marked in the last reply that was sound.
  bool is_marked() const { return !mark_.empty(); }
  // As stored; nullopt if they cannot be read.
  std::optional<uint64_t> expected_insertions() const {
    return expected_insertions_;
  }
  std::optional<double> fpp() const { return fpp_; }

 private:
  RemoteRedissonFilter(RedisConnection* connection, std::string_view name,
                       const RedissonCodec& codec);

  absl::StatusOr<std::vector<RedisReply>> Send(
      absl::Span<const RedisCommand> commands);
  // As Send(); a reply that is an error is the result.
  absl::StatusOr<std::vector<RedisReply>> Call(
      absl::Span<const RedisCommand> commands);
  // DataLoss: the filter has no bits. `more` ends the message.
  absl::Status NoValue(absl::string_view more = "") const;
  absl::Status ReadConfig();
  std::string Mark(absl::string_view word) const;
  uint64_t ValueSize() const;
  RedisCommand ConfigCommand() const;
  // The status of the parameters, the mark and the value's length in a reply,
  // beside those of the object, which learns the last two if they are sound.
  absl::Status Check(absl::Span<const RedisReply> config,
                     const RedisReply& length);
  size_t ElementsPerCommand() const;
  std::vector<RedisCommand> ScriptCommands(
      const char* script, const std::vector<std::string>& arguments,
      absl::Span<const std::string> encoded) const;
  absl::Status CheckScriptReply(const RedisReply& reply, size_t answers);
  void AskWithoutScripts(absl::Span<const std::string> encoded,
                         bool* may_contain);
  void CountUnknown(const absl::Status& status, uint64_t lookups);

  RedisConnection* connection_;
  std::string name_;
  std::string config_name_;
  RedissonCodec codec_;
  BloomShape shape_;
  bool is_open_ = false;          // The configuration was read.
  std::string mark_;              // Empty: none was seen.
  bool scripts_refused_ = false;  // Lookups are plain reads.
  uint64_t seen_size_ = 0;        // Bytes of the value, which never shrinks.
  std::optional<uint64_t> expected_insertions_;
  std::optional<double> fpp_;
  RemoteFilterStats stats_;
  absl::Status last_error_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_REDIS_REDISSON_H_
