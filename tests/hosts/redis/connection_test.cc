// SPDX-License-Identifier: Apache-2.0
//
// Faults of server and network: "maybe", counted, a clear status, and never a
// wait beyond the time-out.

#include "rowbloom/redis/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hosts/redis/redis_server.h"
#include "rowbloom/redis/redisson.h"

namespace rowbloom {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using Views = std::vector<std::string_view>;

// Accepts one connection, sends these bytes after the first command, or at
// once, and then waits until it is closed; or sends one byte more now and then,
// until nobody takes it.
class FakeServer {
 public:
  explicit FakeServer(std::string bytes, bool dribbles = false,
                      bool at_once = false) {
    directory_ = ::testing::TempDir() + "rowbloom_fake_XXXXXX";
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(),
                 sizeof(address.sun_path) - 1);
    listening_ = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(listening_, reinterpret_cast<sockaddr*>(&address),
                   sizeof(address)),
              0);
    EXPECT_EQ(listen(listening_, 1), 0);
    thread_ = std::thread([this, dribbles, at_once, bytes = std::move(bytes)] {
      const int peer = accept(listening_, nullptr, nullptr);
      if (peer < 0) return;
      char in[4096];
      if (at_once || recv(peer, in, sizeof(in), 0) > 0) {
        send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      }
      while (dribbles && send(peer, "x", 1, MSG_NOSIGNAL) == 1) {
        std::this_thread::sleep_for(milliseconds(1));
      }
      while (recv(peer, in, sizeof(in), 0) > 0) {
      }
      close(peer);
    });
  }
  ~FakeServer() {
    shutdown(listening_, SHUT_RDWR);
    close(listening_);
    thread_.join();
    std::filesystem::remove_all(directory_);
  }

  std::string path() const { return directory_ + "/socket"; }
  RedisOptions options(int timeout_ms) const {
    RedisOptions options;
    options.unix_socket = path();
    options.timeout = milliseconds(timeout_ms);
    return options;
  }

 private:
  std::string directory_;
  int listening_ = -1;
  std::thread thread_;
};

// The status of one command to a server that answers so.
absl::Status SendTo(const std::string& bytes, bool dribbles = false) {
  FakeServer server(bytes, dribbles);
  auto connection = ConnectRedis(server.options(50));
  EXPECT_TRUE(connection.ok()) << connection.status();
  return (*connection)->Send({{"PING"}}).status();
}

TEST(RedisConnection, AServerThatDoesNotAnswerIsATimeOut) {
  const absl::Status status = SendTo("");
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.ToString(), HasSubstr("no reply within 50 ms"));
  EXPECT_EQ(SendTo("$10\r\nhalf").code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(SendTo("$1000000\r\n", /*dribbles=*/true).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(RedisConnection, RepliesOfAnotherProtocolAreAnError) {
  EXPECT_THAT(SendTo("HTTP/1.1 400 Bad Request\r\n\r\n").ToString(),
              HasSubstr("not a reply of Redis"));
  EXPECT_THAT(SendTo("*-7\r\n").ToString(), HasSubstr("redis"));
  EXPECT_FALSE(SendTo("$99999999999999999999\r\n").ok());
}

TEST(RedisConnection, RepliesHaveLimits) {
  // Arrays are not allocated by the size that is announced.
  for (const char* reply : {"*2147483647\r\n", "*1000000\r\n*1000000\r\n"}) {
    const absl::Status status = SendTo(reply);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(status.ToString(), HasSubstr("more than 1048576 elements"));
  }
  // Nor are arrays within arrays read to any depth.
  const auto nested = [](int depth) {
    std::string bytes;
    for (int i = 0; i < depth; ++i) bytes += "*1\r\n";
    return bytes + ":1\r\n";
  };
  EXPECT_TRUE(SendTo(nested(7)).ok());
  for (const int depth : {8, 200'000}) {
    EXPECT_THAT(SendTo(nested(depth)).ToString(),
                HasSubstr("more than 7 deep"));
  }
  FakeServer server("$134217728\r\n" + std::string(65 << 20, 'x'));
  auto connection = ConnectRedis(server.options(60'000));
  EXPECT_THAT((*connection)->Send({{"GET", "a"}}).status().ToString(),
              HasSubstr("more than 67108864 bytes"));
}

TEST(RedisConnection, BytesThatAnswerNoCommandAreAnError) {
  EXPECT_THAT(SendTo("+A\r\n+B\r\n").ToString(),
              HasSubstr("answer no command: +B"));
  FakeServer server("-DENIED go away\r\n", false, /*at_once=*/true);
  auto connection = ConnectRedis(server.options(60'000));
  absl::Status status = connection.status();  // Maybe they come later.
  while (status.ok()) status = (*connection)->Send({}).status();
  EXPECT_THAT(status.ToString(), HasSubstr("answer no command: -DENIED"));
  FakeServer other("+A\r\n");
  connection = ConnectRedis(other.options(60'000));
  EXPECT_EQ((*connection)->Send({{}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE((*connection)->Send({{"A"}}).ok());
  connection->reset();  // The server waits for it.
}

TEST(RedisConnection, ErrorsOfAuthDoNotShowThePassword) {
  FakeServer server(
      "-ERR unknown command 'AUTH', with args beginning with: 'hunter2'\r\n");
  RedisOptions options = server.options(60'000);
  options.password = "hunter2";
  const absl::Status status = ConnectRedis(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(status.ToString(), HasSubstr("AUTH: ERR"));
  EXPECT_THAT(status.ToString(), ::testing::Not(HasSubstr("hunter2")));
}

TEST(RedisConnection, HasRepliesOfAllKinds) {
  FakeServer server("+OK\r\n-ERR no\r\n:-7\r\n$-1\r\n*2\r\n$1\r\na\r\n*-1\r\n");
  auto connection = ConnectRedis(server.options(1000));
  const auto replies = (*connection)->Send({{"A"}, {"B"}, {"C"}, {"D"}, {"E"}});
  ASSERT_TRUE(replies.ok()) << replies.status();
  EXPECT_EQ((*replies)[0].text, "OK");
  EXPECT_EQ((*replies)[1].kind, RedisReply::Kind::kError);
  EXPECT_EQ((*replies)[1].text, "ERR no");
  EXPECT_EQ((*replies)[2].integer, -7);
  EXPECT_EQ((*replies)[3].kind, RedisReply::Kind::kNil);
  ASSERT_EQ((*replies)[4].elements.size(), 2u);
  EXPECT_EQ((*replies)[4].elements[0].text, "a");
  EXPECT_EQ((*replies)[4].elements[1].kind, RedisReply::Kind::kNil);
}

TEST(RedisConnection, AfterAFailureItFailsAtOnceUntilTheRetry) {
  FakeServer server("");
  RedisOptions options = server.options(20);
  options.retry_after = milliseconds(60'000);
  auto connection = ConnectRedis(options);
  EXPECT_FALSE((*connection)->Send({{"PING"}}).ok());
  EXPECT_THAT((*connection)->Send({{"PING"}}).status().ToString(),
              HasSubstr("it failed less than 60000 ms ago"));
}

TEST(RedisConnection, ConnectsAgainIfTheServerClosedItWhileItWasIdle) {
  RedisServer server;
  if (!server.is_running()) GTEST_SKIP() << RedisServer::kMissing;
  RedisOptions options = server.options();
  options.retry_after = milliseconds(60'000);
  auto idle = ConnectRedis(options);
  auto other = ConnectRedis(options);
  ASSERT_TRUE(idle.ok() && other.ok());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE((*idle)->Send({{"PING"}}).ok());
    const auto killed = (*other)->Send({{"CLIENT", "KILL", "TYPE", "normal"}});
    ASSERT_TRUE(killed.ok()) << killed.status();
    ASSERT_EQ((*killed)[0].integer, 1);
    const auto replies = (*idle)->Send({{"PING"}});
    EXPECT_TRUE(replies.ok()) << replies.status();
  }
}

TEST(RedisConnection, WrongOptionsAreRefused) {
  RedisOptions options;
  options.port = 0;
  EXPECT_EQ(ConnectRedis(options).status().code(),
            absl::StatusCode::kInvalidArgument);
  options = {};
  options.timeout = milliseconds(0);
  EXPECT_EQ(ConnectRedis(options).status().code(),
            absl::StatusCode::kInvalidArgument);
  options = {};
  options.user = "me";
  EXPECT_EQ(ConnectRedis(options).status().code(),
            absl::StatusCode::kInvalidArgument);
  options = {};
  options.unix_socket = "/nonexistent/socket";
  EXPECT_EQ(ConnectRedis(options).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(RedisUrl, HasServerUserDatabaseAndName) {
  auto address = ParseRedisUrl("redis://cache.example/seen");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_EQ(address->options.host, "cache.example");
  EXPECT_EQ(address->options.port, 6379);
  EXPECT_EQ(address->name, "seen");
  address = ParseRedisUrl(
      "redis://me:p%40ss@[::1]:7000/a/b%3fc?db=2&"
      "timeout_ms=5");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_EQ(address->options.user, "me");
  EXPECT_EQ(address->options.password, "p@ss");
  EXPECT_EQ(address->options.host, "::1");
  EXPECT_EQ(address->options.port, 7000);
  EXPECT_EQ(address->name, "a/b?c");
  EXPECT_EQ(address->options.database, 2);
  EXPECT_EQ(address->options.timeout, milliseconds(5));
  address = ParseRedisUrl("unix:///run/redis.sock?name=seen");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_EQ(address->options.unix_socket, "/run/redis.sock");
  EXPECT_EQ(address->name, "seen");
  for (const char* url :
       {"http://a/b", "redis://", "redis:///a", "redis://a", "redis://a:b/c",
        "redis://a:70000/c", "redis://a/c?db=x", "redis://a/c?x=1",
        "unix://?name=a", "unix:///a", "redis://a/c?name=d", "redis://user@a/c",
        "redis://user:@a/c", "redis://a:/c", "redis://[::1]6379/c",
        "redis://[::1]:/c", "redis://[::1/c"}) {
    EXPECT_EQ(ParseRedisUrl(url).status().code(),
              absl::StatusCode::kInvalidArgument)
        << url;
  }
  for (const char* url :
       {"redis://:secret@a:b/c", "redis://:pa/secret@a/c",
        "redis://u:1/secret@a/c", "redis://u:1?secret@a/c",
        "redis://u:1/x?secret@a/c", "redis://:x@a/c?secret=1"}) {
    const absl::Status status = ParseRedisUrl(url).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << url;
    EXPECT_THAT(status.ToString(), ::testing::Not(HasSubstr("secret")));
  }
}

TEST(RedisFaults, AServerThatIsKilledAnswersMaybeUntilItIsBack) {
  RedisServer server;
  if (!server.is_running()) GTEST_SKIP() << RedisServer::kMissing;
  auto connection = ConnectRedis(server.options());
  const RedissonCodec codec("StringCodec");
  auto filter =
      RemoteRedissonFilter::Init(connection->get(), "f", codec, 10, 0.01);
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_FALSE(filter->MayContain("absent"));
  server.Kill();
  EXPECT_TRUE(filter->MayContain("absent"));
  EXPECT_TRUE(filter->MayContain("absent"));
  EXPECT_FALSE(filter->Add(Views{"x"}).ok());
  EXPECT_FALSE(filter->Snapshot().ok());
  EXPECT_EQ(filter->stats().unreachable, 2u);
  EXPECT_EQ(filter->last_error().code(), absl::StatusCode::kUnavailable);
  server.Start();  // Without its data.
  EXPECT_TRUE(filter->MayContain("absent"));
  EXPECT_EQ(filter->stats().config_changed, 1u);
  filter = RemoteRedissonFilter::Init(connection->get(), "f", codec, 10, 0.01);
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_FALSE(filter->MayContain("absent"));
}

TEST(RedisFaults, AServerThatHangsAnswersMaybeAfterTheTimeOut) {
  RedisServer server;
  if (!server.is_running()) GTEST_SKIP() << RedisServer::kMissing;
  auto setup = ConnectRedis(server.options());
  const RedissonCodec codec("StringCodec");
  ASSERT_TRUE(
      RemoteRedissonFilter::Init(setup->get(), "f", codec, 10, 0.01).ok());
  RedisOptions options = server.options();
  options.timeout = milliseconds(100);
  auto connection = ConnectRedis(options);
  auto filter = RemoteRedissonFilter::Open(connection->get(), "f", codec);
  ASSERT_TRUE(filter.ok()) << filter.status();
  server.Signal(SIGSTOP);
  EXPECT_TRUE(filter->MayContain("absent"));
  EXPECT_EQ(filter->last_error().code(), absl::StatusCode::kDeadlineExceeded);
  // More than the buffers of the socket hold.
  std::vector<std::string> many(100'000, std::string(50, 'x'));
  const auto answers = std::make_unique<bool[]>(many.size());
  filter->MayContainEncoded(many, answers.get());
  EXPECT_TRUE(answers[0] && answers[many.size() - 1]);
  EXPECT_EQ(filter->stats().unreachable, 1 + many.size());
  server.Signal(SIGCONT);
  EXPECT_FALSE(filter->MayContain("absent"));
}

// A client of the host's own, behind the same seam.
class ScriptedConnection : public RedisConnection {
 public:
  absl::StatusOr<std::vector<RedisReply>> Send(
      absl::Span<const RedisCommand>) override {
    return replies;
  }
  std::vector<RedisReply> replies;
};

TEST(RedisFaults, RepliesThatDoNotFitAnswerMaybe) {
  using Kind = RedisReply::Kind;
  ScriptedConnection connection;
  const RedisReply size = {Kind::kText, 0, "95", {}};
  const RedisReply probes = {Kind::kText, 0, "7", {}};
  const RedisReply nil;
  connection.replies = {{Kind::kArray, 0, "", {size, probes, nil, nil, nil}},
                        {Kind::kInteger, 12, "", {}}};
  auto filter = RemoteRedissonFilter::Open(&connection, "f",
                                           RedissonCodec("StringCodec"));
  ASSERT_TRUE(filter.ok()) << filter.status();
  const RedisReply length = {Kind::kInteger, 12, "", {}};
  const RedisReply no = {Kind::kText, 0, "0", {}};
  connection.replies = {{Kind::kArray, 0, "", {size, probes, nil, length, no}}};
  EXPECT_FALSE(filter->MayContain("x"));
  uint64_t unreachable = 0;
  const std::vector<std::vector<RedisReply>> kWrong = {
      {},
      {nil},
      {no},
      {{Kind::kArray, 0, "", {}}},
      {{Kind::kArray, 0, "", {size, probes, nil, no, no}}},
      {{Kind::kArray, 0, "", {size, probes, nil, length, length}}},
      {connection.replies[0], connection.replies[0]},
      {{Kind::kError, 0, "MOVED 5 10.0.0.1:6379", {}}},
      {{Kind::kError, 0, "LOADING Redis is loading", {}}}};
  for (const auto& wrong : kWrong) {
    connection.replies = wrong;
    EXPECT_TRUE(filter->MayContain("x"));
    EXPECT_EQ(filter->stats().unreachable, ++unreachable);
    EXPECT_FALSE(filter->Add(Views{"x"}).ok());
    EXPECT_FALSE(filter->Count().ok());
    EXPECT_FALSE(filter->Snapshot().ok());
    EXPECT_FALSE(RemoteRedissonFilter::Open(&connection, "f",
                                            RedissonCodec("StringCodec"))
                     .ok());
  }
}

}  // namespace
}  // namespace rowbloom
