// SPDX-License-Identifier: Apache-2.0
//
// hiredis connects and parses replies. Bytes are sent and received here: its
// own calls raise SIGPIPE and have a time-out for each read only.

#include "rowbloom/redis/connection.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace rowbloom {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kMaxTimeout{24 * 60 * 60 * 1000};
// The replies to one Send() have at most so many: a server may be hostile.
constexpr uint64_t kMaxReplyBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxReplyElements = 1 << 20;
// Arrays within arrays. hiredis 1.0 to 1.4.0 takes any number, and it and
// Converted() take them by recursion.
constexpr int kMaxReplyDepth = 7;

struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};
struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};

void AppendCommand(const RedisCommand& command, std::string* out) {
  absl::StrAppend(out, "*", command.size(), "\r\n");
  for (const std::string& word : command) {
    absl::StrAppend(out, "$", word.size(), "\r\n", word, "\r\n");
  }
}

RedisReply Converted(const redisReply& reply) {
  RedisReply converted;
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      converted.kind = RedisReply::Kind::kInteger;
      converted.integer = reply.integer;
      break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
      converted.kind = reply.type == REDIS_REPLY_ERROR
                           ? RedisReply::Kind::kError
                           : RedisReply::Kind::kText;
      converted.text.assign(reply.str, static_cast<size_t>(reply.len));
      break;
    case REDIS_REPLY_ARRAY:
      converted.kind = RedisReply::Kind::kArray;
      for (size_t i = 0; i < reply.elements; ++i) {
        converted.elements.push_back(Converted(*reply.element[i]));
      }
      break;
    default:
      break;
  }
  return converted;
}

// The privdata of a reader: hiredis allocates an array by the size that the
// server announces.
struct ReplyLimit {
  std::optional<uint64_t> elements_left;  // Unset after more.
  bool is_too_deep = false;
  decltype(redisReplyObjectFunctions::createArray) create_array = nullptr;
};

// hiredis has int for the count before 1.0, and size_t since.
template <typename Count>
void* CreateArray(const redisReadTask* task, Count count) {
  ReplyLimit& limit = *static_cast<ReplyLimit*>(task->privdata);
  int depth = 1;
  for (const redisReadTask* outer = task->parent; outer != nullptr;
       outer = outer->parent) {
    if (++depth > kMaxReplyDepth) {
      limit.is_too_deep = true;
      return nullptr;
    }
  }
  if (!limit.elements_left.has_value() ||
      static_cast<uint64_t>(count) > *limit.elements_left) {
    limit.elements_left.reset();
    return nullptr;
  }
  *limit.elements_left -= static_cast<uint64_t>(count);
  return limit.create_array(task, count);
}

redisReplyObjectFunctions LimitedFunctions(
    const redisReplyObjectFunctions& functions) {
  redisReplyObjectFunctions limited = functions;
  limited.createArray = CreateArray;
  return limited;
}

timeval ToTimeval(milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  timeval value = {};
  value.tv_sec = static_cast<time_t>(seconds.count());
  value.tv_usec =
      static_cast<suseconds_t>(1000 * (time - milliseconds(seconds)).count());
  return value;
}

class HiredisConnection : public RedisConnection {
 public:
  explicit HiredisConnection(RedisOptions options)
      : options_(std::move(options)),
        server_(options_.unix_socket.empty()
                    ? absl::StrCat(options_.host, ":", options_.port)
                    : options_.unix_socket) {}

  absl::StatusOr<std::vector<RedisReply>> Send(
      absl::Span<const RedisCommand> commands) override {
    for (const RedisCommand& command : commands) {
      if (command.empty()) {
        return absl::InvalidArgumentError("redis command without a name");
      }
    }
    if (context_ != nullptr) {
      if (absl::Status status = Peek(); !status.ok()) return status;
    }
    if (absl::Status status = Connect(); !status.ok()) return status;
    return Exchange(commands);
  }

  absl::Status Connect() {
    if (context_ != nullptr) return absl::OkStatus();
    if (retry_at_.has_value() && Clock::now() < *retry_at_) {
      return absl::UnavailableError(
          absl::StrCat("redis ", server_, ": it failed less than ",
                       options_.retry_after.count(), " ms ago"));
    }
    const timeval timeout = ToTimeval(options_.connect_timeout);
    context_.reset(options_.unix_socket.empty()
                       ? redisConnectWithTimeout(options_.host.c_str(),
                                                 options_.port, timeout)
                       : redisConnectUnixWithTimeout(
                             options_.unix_socket.c_str(), timeout));
    if (context_ == nullptr) return Failed("there is no memory", ENOMEM);
    if (context_->err != 0) {
      const std::string why = context_->errstr;
      return Failed(absl::StrCat("cannot connect: ", why),
                    why.find("timed out") == std::string::npos ? 0 : EAGAIN);
    }
    static redisReplyObjectFunctions limited =
        LimitedFunctions(*context_->reader->fn);
    limit_.create_array = context_->reader->fn->createArray;
    context_->reader->fn = &limited;
    context_->reader->privdata = &limit_;
    return LogIn();
  }

 private:
  // Fails if there are bytes before anything was sent. Drops the connection if
  // the other side has closed it, as servers and balancers do after a long idle
  // time.
  absl::Status Peek() {
    char early[100];
    const ssize_t count =
        recv(context_->fd, early, sizeof(early), MSG_PEEK | MSG_DONTWAIT);
    if (count > 0) {
      return Unasked(std::string(early, static_cast<size_t>(count)));
    }
    if (count == 0 || !IsTransient(errno)) context_.reset();
    return absl::OkStatus();
  }

  // Closes the connection: its next reply could be that of another command.
  absl::Status Failed(const std::string& what, int error) {
    context_.reset();
    retry_at_ = Clock::now() + options_.retry_after;
    const std::string message = absl::StrCat("redis ", server_, ": ", what);
    return error == EAGAIN ? absl::DeadlineExceededError(message)
                           : absl::UnavailableError(message);
  }

  absl::Status LogIn() {
    std::vector<RedisCommand> commands;
    if (!options_.password.empty()) {
      commands.push_back({"AUTH"});
      if (!options_.user.empty()) commands.back().push_back(options_.user);
      commands.back().push_back(options_.password);
    }
    if (options_.database != 0) {
      commands.push_back({"SELECT", absl::StrCat(options_.database)});
    }
    if (absl::Status status = Peek(); !status.ok()) return status;
    if (context_ == nullptr) {
      return Failed("the server closed the connection", 0);
    }
    const auto replies = Exchange(commands);
    if (!replies.ok()) return replies.status();
    for (size_t i = 0; i < replies->size(); ++i) {
      if ((*replies)[i].kind == RedisReply::Kind::kError) {
        // Some errors of AUTH quote its arguments: the password.
        const std::string& command = commands[i][0];
        const std::string& text = (*replies)[i].text;
        const absl::Status failed = Failed(
            absl::StrCat(
                command, ": ",
                command == "AUTH" ? text.substr(0, text.find(' ')) : text),
            0);
        return absl::PermissionDeniedError(failed.message());
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<RedisReply>> Exchange(
      absl::Span<const RedisCommand> commands) {
    std::string out;
    for (const RedisCommand& command : commands) AppendCommand(command, &out);
    limit_.elements_left = kMaxReplyElements;
    limit_.is_too_deep = false;
    received_ = 0;
    const Clock::time_point deadline = Clock::now() + options_.timeout;
    std::vector<RedisReply> replies;
    size_t sent = 0;
    while (replies.size() < commands.size()) {
      void* parsed = nullptr;
      if (redisReaderGetReply(context_->reader, &parsed) != REDIS_OK) {
        if (!limit_.elements_left.has_value()) {
          return TooMany(kMaxReplyElements, "elements");
        }
        if (limit_.is_too_deep) {
          return Failed(absl::StrCat("a reply has arrays within arrays, more "
                                     "than ",
                                     kMaxReplyDepth, " deep"),
                        0);
        }
        return Failed(
            absl::StrCat("not a reply of Redis: ",
                         static_cast<const char*>(context_->reader->errstr)),
            0);
      }
      if (parsed != nullptr) {
        const std::unique_ptr<redisReply, FreeReply> reply(
            static_cast<redisReply*>(parsed));
        replies.push_back(Converted(*reply));
        continue;
      }
      if (absl::Status status = Transfer(deadline, out, &sent); !status.ok()) {
        return status;
      }
    }
    const redisReader& reader = *context_->reader;
    if (reader.pos < reader.len) {
      return Unasked(
          std::string(reader.buf + reader.pos,
                      std::min<size_t>(reader.len - reader.pos, 100)));
    }
    return replies;
  }

  absl::Status TooMany(uint64_t most, const char* units) {
    return Failed(absl::StrCat("replies of more than ", most, " ", units,
                               "; send fewer commands at once"),
                  0);
  }

  // Later replies would be taken for those of the wrong commands.
  absl::Status Unasked(const std::string& bytes) {
    return Failed(absl::StrCat("the server sent bytes that answer no command: ",
                               absl::CHexEscape(bytes)),
                  0);
  }

  // Waits until bytes can be sent or received, and does so once.
  absl::Status Transfer(Clock::time_point deadline, const std::string& out,
                        size_t* sent) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    pollfd waited = {context_->fd, POLLIN, 0};
    if (*sent < out.size()) waited.events |= POLLOUT;
    // Also when bytes keep coming: a reply must be whole by then.
    const int ready =
        left.count() > 0 ? poll(&waited, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) return absl::OkStatus();
    if (ready < 0) return Failed(strerror(errno), 0);
    if (ready == 0) {
      return Failed(
          absl::StrCat("no reply within ", options_.timeout.count(), " ms"),
          EAGAIN);
    }
    if ((waited.revents & POLLOUT) != 0) {
      const ssize_t count =
          send(context_->fd, out.data() + *sent, out.size() - *sent,
               MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && !IsTransient(errno)) {
        return Failed(strerror(errno), 0);
      }
      if (count > 0) *sent += static_cast<size_t>(count);
    }
    if ((waited.revents & ~POLLOUT) != 0) {
      char in[1 << 16];
      const ssize_t count = recv(context_->fd, in, sizeof(in), MSG_DONTWAIT);
      if (count == 0) return Failed("the server closed the connection", 0);
      if (count < 0 && !IsTransient(errno)) return Failed(strerror(errno), 0);
      if (count > 0) {
        received_ += static_cast<uint64_t>(count);
        if (received_ > kMaxReplyBytes) return TooMany(kMaxReplyBytes, "bytes");
        redisReaderFeed(context_->reader, in, static_cast<size_t>(count));
      }
    }
    return absl::OkStatus();
  }

  static bool IsTransient(int error) {
    return error == EINTR || error == EAGAIN || error == EWOULDBLOCK;
  }

  const RedisOptions options_;
  const std::string server_;  // For messages.
  ReplyLimit limit_;
  uint64_t received_ = 0;  // This Send() got so many bytes.
  std::unique_ptr<redisContext, FreeContext> context_;
  std::optional<Clock::time_point> retry_at_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RedisConnection>> ConnectRedis(
    const RedisOptions& options) {
  if (options.unix_socket.empty() &&
      (options.host.empty() || options.port < 1 || options.port > 65535)) {
    return absl::InvalidArgumentError(
        absl::StrCat("redis host \"", options.host, "\", port ", options.port,
                     ": a host is not empty, a port is from 1 to 65535"));
  }
  for (const milliseconds time : {options.connect_timeout, options.timeout}) {
    if (time < milliseconds(1) || time > kMaxTimeout) {
      return absl::InvalidArgumentError(
          absl::StrCat("redis time-out of ", time.count(), " ms: must be 1 to ",
                       kMaxTimeout.count()));
    }
  }
  if (options.retry_after < milliseconds(0) ||
      options.retry_after > kMaxTimeout) {
    return absl::InvalidArgumentError(
        absl::StrCat("redis retry_after of ", options.retry_after.count(),
                     " ms: must be 0 to ", kMaxTimeout.count()));
  }
  if (!options.user.empty() && options.password.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "redis user \"", options.user, "\": AUTH needs a password, too"));
  }
  auto connection = std::make_unique<HiredisConnection>(options);
  if (absl::Status status = connection->Connect(); !status.ok()) return status;
  return connection;
}

}  // namespace rowbloom
