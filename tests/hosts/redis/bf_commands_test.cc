// SPDX-License-Identifier: Apache-2.0
//
// The BF commands as they are sent, with the replies that RedisBloom documents,
// and a test with RedisBloom itself, which is skipped without its module.

#include "rowbloom/redis/bf_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "hosts/redis/redis_server.h"

namespace rowbloom {
namespace {

using Kind = RedisReply::Kind;
using ::testing::ElementsAre;
using ::testing::StartsWith;
using Views = std::vector<std::string_view>;

RedisReply Int(int64_t value) { return {Kind::kInteger, value, "", {}}; }
RedisReply Text(std::string text) { return {Kind::kText, 0, text, {}}; }
RedisReply Error(std::string text) { return {Kind::kError, 0, text, {}}; }
RedisReply Array(std::vector<RedisReply> elements) {
  return {Kind::kArray, 0, "", std::move(elements)};
}

// Records commands and answers with the replies that were queued, one batch for
// each call.
class ScriptedServer : public RedisConnection {
 public:
  absl::StatusOr<std::vector<RedisReply>> Send(
      absl::Span<const RedisCommand> commands) override {
    for (const RedisCommand& command : commands) {
      sent.push_back(absl::StrJoin(command, " "));
    }
    if (replies.empty()) return absl::DeadlineExceededError("no reply");
    auto batch = replies.front();
    replies.pop_front();
    return batch;
  }
  void Queue(RedisReply reply) { replies.push_back({std::move(reply)}); }
  // The replies of MULTI, two commands and EXEC.
  void QueueExec(RedisReply first, RedisReply second) {
    replies.push_back({Text("OK"), Text("QUEUED"), Text("QUEUED"),
                       Array({std::move(first), std::move(second)})});
  }

  std::vector<std::string> sent;
  std::deque<std::vector<RedisReply>> replies;
};

TEST(RemoteBfCommands, SendsWhatIsDocumented) {
  ScriptedServer server;
  RemoteBfCommands bf(&server);
  BfReserveOptions fixed{0.001, 1000};
  fixed.non_scaling = true;
  BfReserveOptions wide{1e-7, 50};
  wide.expansion = 4;
  for (int i = 0; i < 2; ++i) server.Queue(Text("OK"));
  EXPECT_TRUE(bf.Reserve("f", fixed).ok());
  EXPECT_TRUE(bf.Reserve("f", wide).ok());
  server.Queue(Int(1));
  EXPECT_TRUE(*bf.Add("f", "a"));
  server.Queue(
      Array({Int(0), Int(1), Error("ERR non scaling filter is full")}));
  const auto added = bf.MAdd("f", Views{"a", "b", "c"});
  ASSERT_EQ(added->size(), 3u);
  EXPECT_FALSE(*(*added)[0]);
  EXPECT_TRUE(*(*added)[1]);
  EXPECT_EQ((*added)[2].status().code(), absl::StatusCode::kResourceExhausted);
  server.Queue(Array({Int(1)}));
  EXPECT_TRUE(bf.Insert("f", {wide, true}, Views{"d"}).ok());
  server.Queue(Array({Int(1)}));
  EXPECT_TRUE(bf.Insert("f", {{}, false}, Views{"d"}).ok());
  server.Queue(Array({Int(1)}));
  EXPECT_TRUE(bf.Insert("f", {wide, false}, Views{"d"}).ok());
  server.Queue(Int(42));
  EXPECT_EQ(*bf.Card("f"), 42u);
  server.Queue(Int(1));
  EXPECT_TRUE(*bf.Delete("f"));
  EXPECT_THAT(
      server.sent,
      ElementsAre("BF.RESERVE f 0.001 1000 NONSCALING",
                  "BF.RESERVE f 1e-07 50 EXPANSION 4", "BF.ADD f a",
                  "BF.MADD f a b c", "BF.INSERT f NOCREATE ITEMS d",
                  "BF.INSERT f CAPACITY 100 ERROR 0.01 ITEMS d",
                  "BF.INSERT f CAPACITY 50 ERROR 1e-07 EXPANSION 4 ITEMS d",
                  "BF.CARD f", "DEL f"));
}

TEST(RemoteBfCommands, EachItemHasAnAnswerAfterAnError) {
  ScriptedServer server;
  RemoteBfCommands bf(&server);
  // The module stops at the first error.
  server.Queue(Array({Int(1), Error("ERR non scaling filter is full")}));
  const auto added = bf.MAdd("f", Views{"a", "b", "c", "d"});
  ASSERT_TRUE(added.ok()) << added.status();
  ASSERT_EQ(added->size(), 4u);
  EXPECT_TRUE(*(*added)[0]);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_TRUE(absl::IsResourceExhausted((*added)[i].status())) << i;
  }
  server.Queue(Array({Int(1)}));
  EXPECT_FALSE(bf.MAdd("f", Views{"a", "b"}).ok());
  server.Queue(Array({Int(1), Int(1), Int(1)}));
  EXPECT_FALSE(bf.MAdd("f", Views{"a", "b"}).ok());
  server.Queue(Text("7"));
  EXPECT_FALSE(bf.Card("f").ok());
  server.Queue(Text("1"));
  EXPECT_FALSE(bf.Delete("f").ok());
  server.Queue(Array({Text("1"), Text("x")}));
  EXPECT_FALSE(bf.ScanDump("f", 0).ok());
  server.Queue(Array({Int(1), Int(1)}));
  EXPECT_FALSE(bf.ScanDump("f", 0).ok());
}

TEST(RemoteBfCommands, InfoHasNamesAndValues) {
  ScriptedServer server;
  RemoteBfCommands bf(&server);
  server.Queue(Array({Text("Capacity"), Int(709), Text("Size"), Int(1290),
                      Text("Number of filters"), Int(3),
                      Text("Number of items inserted"), Int(30),
                      Text("Expansion rate"), Int(2)}));
  auto info = bf.Info("f");
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->capacity, 709u);
  EXPECT_EQ(info->size_bytes, 1290u);
  EXPECT_EQ(info->filter_count, 3u);
  EXPECT_EQ(info->item_count, 30u);
  EXPECT_EQ(info->expansion, 2u);
  server.Queue(Array({Text("Number of filters"), Int(1), Text("Expansion rate"),
                      RedisReply()}));
  EXPECT_EQ(bf.Info("f")->expansion, std::nullopt);
  server.Queue(Array({}));
  EXPECT_FALSE(bf.Info("f").ok());
}

TEST(RemoteBfCommands, ErrorsHaveCodes) {
  const std::pair<const char*, absl::StatusCode> kCases[] = {
      {"ERR item exists", absl::StatusCode::kAlreadyExists},
      {"ERR not found", absl::StatusCode::kNotFound},
      {"ERR (0 < error rate range < 1)", absl::StatusCode::kInvalidArgument},
      {"ERR bad error rate", absl::StatusCode::kInvalidArgument},
      {"ERR expansion should be greater or equal to 1",
       absl::StatusCode::kInvalidArgument},
      {"ERR unknown command 'BF.RESERVE', with args beginning with: 'exists' "
       "'full' 'WRONGTYPE Operation against'",
       absl::StatusCode::kUnimplemented},
      {"item exists", absl::StatusCode::kAlreadyExists},
      {"MISCONF Redis is configured to save RDB snapshots (see the logs)",
       absl::StatusCode::kUnavailable},
      {"OOM command not allowed when the dataset is full: must be smaller",
       absl::StatusCode::kUnavailable},
      {"WRONGTYPE Operation against a key holding the wrong kind of value",
       absl::StatusCode::kFailedPrecondition},
      {"NOPERM this user has no permissions to run the 'bf.reserve' command",
       absl::StatusCode::kPermissionDenied},
      {"MOVED 3999 127.0.0.1:6381", absl::StatusCode::kUnimplemented},
      {"CROSSSLOT Keys in request don't hash to the same slot",
       absl::StatusCode::kUnimplemented},
      {"TRYAGAIN Multiple keys request during rehashing of slot",
       absl::StatusCode::kUnavailable},
      {"LOADING Redis is loading the dataset in memory",
       absl::StatusCode::kUnavailable}};
  for (const auto& [text, code] : kCases) {
    ScriptedServer server;
    server.Queue(Error(text));
    EXPECT_EQ(RemoteBfCommands(&server).Reserve("f", {}).code(), code) << text;
  }
}

TEST(RemoteBfCommands, ExistsSaysNoOnlyOfAFilterThatIsThere) {
  ScriptedServer server;
  RemoteBfCommands bf(&server);
  bool answers[2];
  const RedisReply bloom = Text("MBbloom--");
  server.QueueExec(bloom, Array({Int(1), Int(0)}));
  bf.MExists("f", Views{"a", "b"}, answers);
  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[1]);
  EXPECT_THAT(server.sent,
              ElementsAre("MULTI", "TYPE f", "BF.MEXISTS f a b", "EXEC"));
  EXPECT_TRUE(bf.last_error().ok());

  // The module says 0 of a missing key and of one of another type.
  for (const char* type : {"none", "string", "MBbloomCF", ""}) {
    server.QueueExec(Text(type), Array({Int(0), Int(0)}));
    bf.MExists("f", Views{"a", "b"}, answers);
    EXPECT_TRUE(answers[0] && answers[1]) << type;
    EXPECT_FALSE(bf.last_error().ok());
  }
  EXPECT_EQ(bf.stats().missing_key, 8u);
  server.QueueExec(Text("bloomfltr"), Array({Int(0), Int(1)}));
  bf.MExists("f", Views{"a", "b"}, answers);
  EXPECT_FALSE(answers[0]);
  EXPECT_TRUE(answers[1]);

  EXPECT_TRUE(bf.Exists("f", "a"));  // No reply.
  server.QueueExec(bloom, Error("OOM command not allowed"));
  EXPECT_TRUE(bf.Exists("f", "a"));
  server.QueueExec(bloom, Array({Error("ERR")}));
  EXPECT_TRUE(bf.Exists("f", "a"));
  server.QueueExec(bloom, Array({}));
  EXPECT_TRUE(bf.Exists("f", "a"));
  server.QueueExec(Int(1), Array({Int(0)}));
  EXPECT_TRUE(bf.Exists("f", "a"));
  server.replies.push_back({Text("OK"), Text("QUEUED"),
                            Error("ERR unknown command 'BF.MEXISTS'"),
                            Error("EXECABORT Transaction discarded")});
  EXPECT_TRUE(bf.Exists("f", "a"));
  server.Queue(Int(0));
  EXPECT_TRUE(bf.Exists("f", "a"));
  EXPECT_EQ(bf.stats().unreachable, 7u);
  EXPECT_EQ(bf.stats().negatives, 2u);
  EXPECT_EQ(bf.stats().lookups, 19u);
}

TEST(RemoteBfCommands, AServerWithoutTheModuleAnswersMaybe) {
  RedisServer server;
  if (!server.is_running()) GTEST_SKIP() << RedisServer::kMissing;
  const auto connection = ConnectRedis(server.options());
  ASSERT_TRUE(connection.ok()) << connection.status();
  RemoteBfCommands bf(connection->get());
  EXPECT_TRUE(bf.Exists("f", "a"));
  EXPECT_EQ(bf.stats().unreachable, 1u);
  EXPECT_EQ(bf.last_error().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(bf.Reserve("f", {}).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(bf.Info("f").status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_FALSE(bf.MAdd("f", Views{"a"}).ok());
  EXPECT_FALSE(bf.Dump("f").ok());
  EXPECT_FALSE(*bf.Delete("f"));
}

#if defined(ROWBLOOM_REDISBLOOM_MODULE)
constexpr char kModule[] = ROWBLOOM_REDISBLOOM_MODULE;
#else
constexpr char kModule[] = "";
#endif

TEST(RemoteBfCommands, ServeWithRedisBloomItself) {
  if (*kModule == '\0') GTEST_SKIP() << "there is no REDISBLOOM_MODULE";
  RedisServer server(kModule);
  const auto connection = ConnectRedis(server.options());
  ASSERT_TRUE(connection.ok()) << connection.status();
  RemoteBfCommands bf(connection->get());
  const auto code = [](const auto& result) { return result.status().code(); };

  // The server refuses these.
  EXPECT_TRUE(bf.Reserve("f", {0.001, 100}).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(bf.Reserve("f", {0.001, 100})));
  EXPECT_TRUE(absl::IsInvalidArgument(bf.Reserve("g", {2, 100})));
  EXPECT_TRUE(absl::IsInvalidArgument(bf.Reserve("g", {0.01, 0})));
  BfReserveOptions options;
  options.expansion = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(bf.Reserve("g", options)));
  EXPECT_EQ(code(bf.Info("g")), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(bf.Insert("g", {{}, true}, Views{"a"})),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(*bf.Card("g"), 0u);

  // Items, over three layers.
  EXPECT_TRUE(*bf.Add("f", "a"));
  EXPECT_FALSE(*bf.Add("f", "a"));
  std::vector<std::string> names;
  for (int i = 0; i < 500; ++i) names.push_back(absl::StrCat("user", i));
  const Views items(names.begin(), names.end());
  EXPECT_TRUE(bf.Insert("f", {{}, true}, items).ok());
  EXPECT_EQ(bf.Info("f")->filter_count, 3u);
  EXPECT_EQ(bf.Info("f")->expansion, 2u);
  EXPECT_EQ(*bf.Card("f"), bf.Info("f")->item_count);
  const auto is_there = std::make_unique<bool[]>(items.size());
  bf.MExists("f", items, is_there.get());
  EXPECT_EQ(std::count(is_there.get(), is_there.get() + items.size(), true),
            500);
  EXPECT_FALSE(bf.Exists("f", "absent"));
  EXPECT_TRUE(bf.last_error().ok());

  // The server says no of these.
  EXPECT_TRUE(bf.Exists("missing", "a"));
  ASSERT_TRUE((*connection)->Send({{"SET", "text", "x"}}).ok());
  EXPECT_TRUE(bf.Exists("text", "a"));
  EXPECT_EQ(bf.stats().missing_key, 2u);
  EXPECT_EQ(code(bf.Add("text", "a")), absl::StatusCode::kFailedPrecondition);

  // A full filter answers for each item.
  options = {0.01, 2};
  options.non_scaling = true;
  EXPECT_TRUE(bf.Reserve("small", options).ok());
  const auto added = bf.MAdd("small", Views{"a", "b", "c", "d"});
  ASSERT_TRUE(added.ok()) << added.status();
  ASSERT_EQ(added->size(), 4u);
  EXPECT_TRUE(*(*added)[1]);
  EXPECT_TRUE(absl::IsResourceExhausted((*added)[3].status()));
  EXPECT_EQ(bf.Info("small")->expansion, std::nullopt);

  // Its dump is this library's filter, and the other way round.
  auto dumped = bf.Dump("f");
  ASSERT_TRUE(dumped.ok()) << dumped.status();
  for (const std::string& name : names) EXPECT_TRUE(dumped->MayContain(name));
  EXPECT_FALSE(dumped->MayContain("absent"));
  ASSERT_TRUE(dumped->Add("more").ok());
  EXPECT_TRUE(bf.Restore("f", *dumped).ok());
  EXPECT_FALSE(*bf.Add("f", "more"));
  EXPECT_EQ(bf.Dump("f")->Save(), dumped->Save());
  auto made = RedisBloomFilter::New({0.01, 10});
  for (const std::string& name : names) ASSERT_TRUE(made->Add(name).ok());
  EXPECT_TRUE(bf.Restore("made", *made).ok());
  bf.MExists("made", items, is_there.get());
  EXPECT_EQ(std::count(is_there.get(), is_there.get() + items.size(), true),
            500);
  EXPECT_TRUE(*bf.Delete("made"));
}

TEST(RemoteBfCommands, DumpsAreRestoredUnderAnotherName) {
  auto filter = RedisBloomFilter::New({0.01, 10});
  for (int i = 0; i < 25; ++i) {
    filter->Add(absl::StrCat("user", i)).IgnoreError();
  }
  ScriptedServer server;
  RemoteBfCommands bf(&server);
  for (const BfChunk& chunk : filter->Dump()) {
    server.Queue(
        Array({Int(static_cast<int64_t>(chunk.iterator)), Text(chunk.data)}));
  }
  const auto dumped = bf.Dump("f");
  ASSERT_TRUE(dumped.ok()) << dumped.status();
  EXPECT_EQ(dumped->Save(), filter->Save());
  EXPECT_THAT(server.sent, ElementsAre("BF.SCANDUMP f 0", "BF.SCANDUMP f 1",
                                       "BF.SCANDUMP f 17"));

  std::string names[2];
  for (std::string& name : names) {
    server.sent.clear();
    for (int i = 0; i < 3; ++i) server.QueueExec(Text("OK"), Int(1));
    server.QueueExec(Int(1), Text("OK"));
    EXPECT_TRUE(bf.Restore("f", *filter).ok());
    ASSERT_EQ(server.sent.size(), 16u);
    name = std::vector<std::string>(absl::StrSplit(server.sent[1], ' '))[1];
    EXPECT_THAT(name, StartsWith("{f}:loading:"));
    // A part does not stay if the connection breaks, wherever that is.
    const std::string load = "BF.LOADCHUNK " + name;
    const std::string expire = "PEXPIRE " + name + " 3600000";
    EXPECT_THAT(
        server.sent,
        ElementsAre("MULTI", StartsWith(load + " 1 "), expire, "EXEC",  //
                    "MULTI", StartsWith(load + " 17 "), expire, "EXEC", "MULTI",
                    StartsWith(load + " 49 "), expire, "EXEC", "MULTI",
                    "PERSIST " + name, "RENAME " + name + " f", "EXEC"));
  }
  EXPECT_NE(names[0], names[1]);

  server.sent.clear();
  server.QueueExec(Error("ERR received bad data"), Int(0));
  server.Queue(Int(1));
  EXPECT_FALSE(bf.Restore("f", *filter).ok());
  ASSERT_EQ(server.sent.size(), 5u);  // Nothing is renamed.
  EXPECT_THAT(server.sent[4], StartsWith("DEL {f}:loading:"));
}

TEST(RemoteBfCommands, ADumpOfAFilterThatGrowsHasWhatWasThereBefore) {
  auto filter = RedisBloomFilter::New({0.01, 10});
  ScriptedServer server;
  std::vector<BfChunk> before;
  for (int i = 0; i < 25; ++i) {
    if (i == 8) before = filter->Dump();
    filter->Add(absl::StrCat("user", i)).IgnoreError();
  }
  std::vector<BfChunk> chunks = filter->Dump();
  ASSERT_GT(chunks.size(), before.size());
  chunks[0] = before[0];
  for (const BfChunk& chunk : chunks) {
    server.Queue(
        Array({Int(static_cast<int64_t>(chunk.iterator)), Text(chunk.data)}));
  }
  const auto dumped = RemoteBfCommands(&server).Dump("f");
  ASSERT_TRUE(dumped.ok()) << dumped.status();
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(dumped->MayContain(absl::StrCat("user", i)));
  }
}

TEST(RemoteBfCommands, ADumpWithoutEndIsGivenUp) {
  ScriptedServer server;
  for (int i = 0; i < 3; ++i) server.Queue(Array({Int(5), Text("")}));
  EXPECT_EQ(RemoteBfCommands(&server).Dump("f").status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace rowbloom
