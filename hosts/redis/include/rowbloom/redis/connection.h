// SPDX-License-Identifier: Apache-2.0
//
// The seam to a Redis client: one call sends a pipeline of commands and returns
// their replies. ConnectRedis() makes one over hiredis; an engine with a client
// of its own, for a cluster or with TLS say, implements RedisConnection.
//
//   auto address = ParseRedisUrl("redis://:secret@cache.example:6379/seen");
//   auto connection = ConnectRedis(address->options);
//   auto replies = (*connection)->Send({{"SET", "a", "1"}, {"GET", "a"}});
//   if (replies.ok()) use((*replies)[1].text);
//
// Nothing throws, nothing raises SIGPIPE. Connections of ConnectRedis() serve
// one thread at a time and one server, without TLS: Debian 12's hiredis has
// none.

#ifndef ROWBLOOM_REDIS_CONNECTION_H_
#define ROWBLOOM_REDIS_CONNECTION_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

using RedisCommand = std::vector<std::string>;  // Its name and arguments.

struct RedisReply {
  enum class Kind { kNil, kInteger, kText, kError, kArray };
  Kind kind = Kind::kNil;
  int64_t integer = 0;
  std::string text;  // A string, a status such as "OK", or an error.
  std::vector<RedisReply> elements;
};

class RedisConnection {
 public:
  virtual ~RedisConnection() = default;

  // Sends the commands in order, in one round trip, over one connection, with
  // no other command between them: some are MULTI and EXEC. Returns one reply
  // for each. A reply that is the server's error is a reply of kError. After an
  // error Status it is not known which commands the server ran. The next call
  // may be over a new connection, which knows no SELECT, WATCH or MULTI of
  // earlier ones: see RedisOptions.
  virtual absl::StatusOr<std::vector<RedisReply>> Send(
      absl::Span<const RedisCommand> commands) = 0;
};

struct RedisOptions {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string unix_socket;  // A path; in place of host and port.
  std::string user;         // AUTH, with a password; Redis 6.
  std::string password;
  int database = 0;  // SELECT.
  // How long one Send() may take to connect, and then to get all replies, which
  // have up to 16 MiB when a snapshot is taken. The system resolves a host's
  // name and takes its own time: give an address where that matters.
  std::chrono::milliseconds connect_timeout{1000};
  std::chrono::milliseconds timeout{1000};
  // After a failure Send() fails at once for so long, then connects again: a
  // dead server does not cost every lookup its time-out.
  std::chrono::milliseconds retry_after{1000};
};

// Connects, so that wrong options are known at once: Unavailable,
// DeadlineExceeded; PermissionDenied if AUTH or SELECT is refused;
// InvalidArgument for options out of their range. Send() returns the same and
// connects again after a failure. It is Unavailable if the replies to one
// Send() have more than 64 MiB or 2^20 elements or arrays more than 7 deep, or
// if the server sends bytes that answer no command.
absl::StatusOr<std::unique_ptr<RedisConnection>> ConnectRedis(
    const RedisOptions& options);

// A server and the name of one key there.
struct RedisAddress {
  RedisOptions options;
  std::string name;
};

// redis://[[USER]:PASSWORD@]HOST[:PORT]/NAME or unix:///PATH?name=NAME, then
// ?db=NUMBER&timeout_ms=NUMBER in any order. %HH stands for a byte, and must
// do so for "/", "?" and "@" in a password and for "@" after HOST.
// InvalidArgument for anything else.
absl::StatusOr<RedisAddress> ParseRedisUrl(std::string_view url);

}  // namespace rowbloom

#endif  // ROWBLOOM_REDIS_CONNECTION_H_
