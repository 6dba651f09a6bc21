// SPDX-License-Identifier: Apache-2.0
//
// Redisson's filter on a real server. redisson/compare.sh has Redisson itself
// as the other side; here its side is the commands that it sends.

#include "rowbloom/redis/redisson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "hosts/redis/redis_server.h"
#include "testing/run_program.h"

namespace rowbloom {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Views = std::vector<std::string_view>;

class RemoteRedisson : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new RedisServer; }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override {
    if (!server_->is_running()) GTEST_SKIP() << RedisServer::kMissing;
    auto connection = ConnectRedis(server_->options());
    ASSERT_TRUE(connection.ok()) << connection.status();
    connection_ = *std::move(connection);
    Run({"FLUSHALL"});
  }

  RedisReply Run(const RedisCommand& command) {
    const auto replies = connection_->Send({command});
    EXPECT_TRUE(replies.ok()) << replies.status();
    if (!replies.ok()) return {};
    EXPECT_NE(replies->front().kind, RedisReply::Kind::kError)
        << replies->front().text;
    return replies->front();
  }
  absl::StatusOr<RemoteRedissonFilter> Open(
      const std::string& codec = "StringCodec") {
    return RemoteRedissonFilter::Open(connection_.get(), "f",
                                      RedissonCodec(codec));
  }
  // Opens it as a user with these rights, whose connection lasts until the next
  // call.
  absl::StatusOr<RemoteRedissonFilter> OpenAs(
      const std::vector<std::string>& rights) {
    RedisCommand user = {"ACL", "SETUSER", "reader", "reset",
                         "on",  ">secret", "~*"};
    user.insert(user.end(), rights.begin(), rights.end());
    Run(user);
    RedisOptions options = server_->options();
    options.user = "reader";
    options.password = "secret";
    auto connection = ConnectRedis(options);
    if (!connection.ok()) return connection.status();
    user_connection_ = *std::move(connection);
    return RemoteRedissonFilter::Open(user_connection_.get(), "f",
                                      RedissonCodec("StringCodec"));
  }
  absl::StatusOr<RemoteRedissonFilter> Init(
      uint64_t keys = 10, double rate = 0.01,
      const std::string& codec = "StringCodec") {
    return RemoteRedissonFilter::Init(connection_.get(), "f",
                                      RedissonCodec(codec), keys, rate);
  }
  // A filter as Redisson makes it.
  void MakeRedissons(const std::string& size, const std::string& probes) {
    Run({"HMSET", "{f}:config", "size", size, "hashIterations", probes,
         "expectedInsertions", "10", "falseProbability", "1.0E-2"});
  }

  static RedisServer* server_;
  std::unique_ptr<RedisConnection> connection_;
  std::unique_ptr<RedisConnection> user_connection_;
};
RedisServer* RemoteRedisson::server_ = nullptr;

TEST_F(RemoteRedisson, ValuesAreRedissons) {
  auto filter = Init();
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_EQ(Run({"STRLEN", "f"}).integer, 12);
  EXPECT_EQ(*filter->Add(Views{"x"}), std::vector<bool>{true});
  EXPECT_EQ(*filter->Add(Views{"x"}), std::vector<bool>{false});
  EXPECT_EQ(absl::BytesToHexString(Run({"GET", "f"}).text),
            "042100000000000210840000");
  EXPECT_EQ(*filter->Count(), 1u);
  EXPECT_TRUE(*filter->Delete());
  EXPECT_FALSE(*filter->Delete());

  filter = Init();
  ASSERT_TRUE(filter->Add(Views{"user0", "user1", "user2"}).ok());
  EXPECT_EQ(absl::BytesToHexString(Run({"GET", "f"}).text),
            "400230004600008001b80036");
  EXPECT_EQ(*filter->Count(), 3u);
  bool answers[4];
  filter->MayContain(Views{"user0", "user2", "absent1", "absent2"}, answers);
  EXPECT_TRUE(answers[0] && answers[1]);
  EXPECT_FALSE(answers[2] || answers[3]);
  EXPECT_EQ(filter->stats().lookups, 4u);
  EXPECT_EQ(filter->stats().negatives, 2u);

  const auto config = Run({"HGETALL", "{f}:config"});
  std::vector<std::string> words;
  for (const RedisReply& word : config.elements) words.push_back(word.text);
  EXPECT_THAT(words, ::testing::ElementsAre("size", "95", "hashIterations", "7",
                                            "expectedInsertions", "10",
                                            "falseProbability", "0.01",
                                            "rowbloom", words.back()));
  EXPECT_THAT(words.back(), MatchesRegex("95 7 [0-9a-f]+ StringCodec"));
}

TEST_F(RemoteRedisson, ABatchIsOneRoundTripAndLosesNothing) {
  for (const double rate : {0.03, 1e-4, 0.0}) {
    Run({"FLUSHALL"});
    auto filter = Init(3'000, rate, "Kryo5Codec");
    ASSERT_TRUE(filter.ok()) << filter.status();
    std::vector<std::string> texts;
    for (int i = 0; i < 3'000; ++i) texts.push_back(absl::StrCat("user", i));
    const Views views(texts.begin(), texts.end());
    const uint64_t before = filter->stats().round_trips;
    ASSERT_EQ(filter->Add(views)->size(), views.size());
    const auto answers = std::make_unique<bool[]>(views.size());
    filter->MayContain(views, answers.get());
    EXPECT_EQ(filter->stats().round_trips, before + 2);
    for (size_t i = 0; i < views.size(); ++i) EXPECT_TRUE(answers[i]) << i;
    EXPECT_EQ(filter->stats().negatives, 0u);

    auto reopened = Open("Kryo5Codec");
    ASSERT_TRUE(reopened.ok()) << reopened.status();
    EXPECT_TRUE(reopened->is_marked());
    EXPECT_EQ(reopened->expected_insertions(), 3'000u);
    EXPECT_EQ(reopened->fpp(), rate);
    EXPECT_FALSE(reopened->MayContain("absent"));
    const auto snapshot = reopened->Snapshot();
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    EXPECT_EQ(snapshot->filter().ToRedis(), Run({"GET", "f"}).text);
    for (const std::string_view view : views) {
      EXPECT_TRUE(snapshot->MayContain(view));
    }
    EXPECT_FALSE(snapshot->MayContain("absent"));
  }
}

TEST_F(RemoteRedisson, ASnapshotSaysMaybeToWhatMayHaveBeenAddedSince) {
  auto filter = Init();
  const auto before = std::chrono::system_clock::now();
  filter->Add(Views{"user0"}).IgnoreError();
  const auto snapshot = filter->Snapshot();
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_GE(snapshot->taken_at(), before);
  EXPECT_FALSE(snapshot->MayContain("later", before - milliseconds(1)));
  EXPECT_TRUE(snapshot->MayContain("later", snapshot->taken_at()));
  EXPECT_TRUE(snapshot->MayContain("user0", before - milliseconds(1)));

  // Possible from before the snapshot, added after it.
  ASSERT_TRUE(filter->Add(Views{"later"}).ok());
  const auto added_by = std::chrono::system_clock::now();
  EXPECT_TRUE(snapshot->MayContain("later", added_by));
}

TEST_F(RemoteRedisson, SnapshotsAreReadInParts) {
  auto filter = Init(8'000'000, 1e-4);  // 18 MiB.
  ASSERT_TRUE(filter.ok()) << filter.status();
  ASSERT_TRUE(filter->Add(Views{"a", "b", "c"}).ok());
  const uint64_t before = filter->stats().round_trips;
  const auto snapshot = filter->Snapshot();
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_EQ(filter->stats().round_trips, before + 2);
  EXPECT_TRUE(snapshot->MayContain("a") && snapshot->MayContain("b") &&
              snapshot->MayContain("c"));
  EXPECT_FALSE(snapshot->MayContain("d"));
  EXPECT_EQ(snapshot->filter().approximate_count(), 3u);
}

TEST_F(RemoteRedisson, InitOpensTheSameAndRefusesAnother) {
  ASSERT_TRUE(Init().ok());
  ASSERT_TRUE(Init()->Add(Views{"x"}).ok());
  EXPECT_TRUE(Init().ok());
  EXPECT_TRUE(Init()->MayContain("x"));
  EXPECT_THAT(Init(20).status().ToString(),
              HasSubstr("has 95 bits and 7 probes; asked for 191 and 7"));
  EXPECT_EQ(Init(20).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(Init(10, 0.01, "Kryo5Codec").status().ToString(),
              HasSubstr("codec \"StringCodec\", not of \"Kryo5Codec\""));
  EXPECT_THAT(Open("Kryo5Codec").status().ToString(),
              HasSubstr("codec \"StringCodec\", not of \"Kryo5Codec\""));
  EXPECT_EQ(Open()->shape(), (BloomShape{95, 7}));  // Nothing has changed.
  // Without a name it is the codec of the mark.
  EXPECT_EQ(Open("")->codec().name(), "StringCodec");
  EXPECT_TRUE(Open("")->MayContain("x"));
  EXPECT_FALSE(Open("")->MayContain("absent"));
}

TEST_F(RemoteRedisson, ANameWithABraceHasItsConfigurationBesideIt) {
  auto filter = RemoteRedissonFilter::Init(
      connection_.get(), "{a}b", RedissonCodec("StringCodec"), 10, 0.01);
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_EQ(Run({"EXISTS", "{a}b", "{a}b:config"}).integer, 2);
}

TEST_F(RemoteRedisson, RedissonsOwnFilterIsMarkedByTheFirstAdd) {
  MakeRedissons("95", "7");
  for (const int bit : {5, 10, 15, 62, 67, 72, 77}) {
    Run({"SETBIT", "f", absl::StrCat(bit), "1"});
  }
  auto filter = Open();
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_FALSE(filter->is_marked());
  EXPECT_TRUE(filter->MayContain("x"));
  EXPECT_FALSE(filter->MayContain("y"));
  EXPECT_TRUE(filter->Snapshot()->MayContain("x"));
  EXPECT_FALSE(filter->Snapshot()->MayContain("y"));
  auto nameless = Open("");
  EXPECT_TRUE(nameless->MayContain("y"));
  EXPECT_EQ(nameless->stats().unencodable, 1u);
  EXPECT_FALSE(nameless->AddEncoded({"y"}).ok());
  auto other = Open("Kryo5Codec");
  ASSERT_TRUE(other.ok());

  EXPECT_EQ(*filter->Add(Views{"x"}), std::vector<bool>{false});
  EXPECT_TRUE(filter->is_marked());
  EXPECT_EQ(Run({"STRLEN", "f"}).integer, 12);
  EXPECT_THAT(Run({"HGET", "{f}:config", "rowbloom"}).text,
              MatchesRegex("95 7 [+][0-9a-f]+ StringCodec"));
  // The object that was opened with another codec now knows.
  EXPECT_TRUE(other->MayContain("y"));
  EXPECT_EQ(other->stats().config_changed, 1u);
  EXPECT_FALSE(other->Add(Views{"y"}).ok());
}

TEST_F(RemoteRedisson, SeveralThatOpenedItWithoutAMarkAdd) {
  MakeRedissons("95", "7");
  auto first = Open();
  auto second = Open();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first->Add(Views{"x"}), std::vector<bool>{true});
  EXPECT_EQ(*second->Add(Views{"x", "y"}), (std::vector<bool>{false, true}));
  EXPECT_TRUE(first->MayContain("y"));
  EXPECT_FALSE(first->MayContain("absent"));
  EXPECT_EQ(first->stats().config_changed, 0u);
}

// Redisson to 3.29: tryInit() with other parameters returns false and has
// overwritten them.
TEST_F(RemoteRedisson, TrapOfOverwrittenParametersAnswersMaybe) {
  auto filter = Init();
  ASSERT_TRUE(filter->Add(Views{"x"}).ok());
  MakeRedissons("191", "7");
  EXPECT_TRUE(filter->MayContain("x"));
  EXPECT_TRUE(filter->MayContain("absent"));
  EXPECT_EQ(filter->stats().bits_lost, 2u);
  EXPECT_THAT(Open().status().ToString(), HasSubstr("has overwritten them"));
  EXPECT_FALSE(filter->Add(Views{"y"}).ok());
  EXPECT_FALSE(filter->Snapshot().ok());

  // Without a mark, an object that knows the old parameters tells, and so does
  // a value that is too long.
  Run({"FLUSHALL"});
  MakeRedissons("95", "7");
  Run({"SETBIT", "f", "94", "1"});
  filter = Open();
  MakeRedissons("72", "5");
  EXPECT_TRUE(filter->MayContain("absent"));
  EXPECT_EQ(filter->stats().config_changed, 1u);
  EXPECT_THAT(Open().status().ToString(), HasSubstr("12 bytes; 72 bits have"));
}

// Since 3.30: tryInit() that returns false leaves the object with its own
// parameters.
TEST_F(RemoteRedisson, TrapOfOwnParametersIsAnError) {
  ASSERT_TRUE(Init(20)->Add(Views{"x"}).ok());
  const auto second = Init(10);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
}

// Since 3.42: a process that cached the parameters answers "no" after the
// filter was made anew.
TEST_F(RemoteRedisson, TrapOfStaleParametersAnswersMaybe) {
  auto stale = Init();
  ASSERT_TRUE(stale->Delete().ok());
  EXPECT_TRUE(stale->MayContain("x"));
  EXPECT_EQ(stale->stats().config_changed, 1u);
  EXPECT_EQ(stale->last_error().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(Init(20)->Add(Views{"x"}).ok());
  EXPECT_TRUE(stale->MayContain("x"));
  EXPECT_TRUE(stale->MayContain("absent"));
  EXPECT_EQ(stale->stats().config_changed, 3u);
  EXPECT_THAT(stale->last_error().ToString(),
              HasSubstr("open the filter again"));
  EXPECT_FALSE(stale->Add(Views{"y"}).ok());
  EXPECT_FALSE(stale->Count().ok());
}

// It was made anew with the same parameters, by a client that may have another
// codec.
TEST_F(RemoteRedisson, AFilterThatLostItsMarkAnswersMaybe) {
  auto filter = Init();
  ASSERT_TRUE(filter->Add(Views{"x"}).ok());
  Run({"DEL", "f", "{f}:config"});
  MakeRedissons("95", "7");
  Run({"SETBIT", "f", "94", "1"});
  EXPECT_TRUE(filter->MayContain("absent"));
  EXPECT_EQ(filter->stats().config_changed, 1u);
  EXPECT_THAT(filter->Add(Views{"x"}).status().ToString(),
              HasSubstr("the filter was made anew"));
  EXPECT_EQ(Run({"HEXISTS", "{f}:config", "rowbloom"}).integer, 0);
  EXPECT_FALSE(filter->Snapshot().ok());
  EXPECT_FALSE(Open()->MayContain("absent"));
}

// The answers of the new filter are true of it, but the user of the old one
// does not know that its elements are gone.
TEST_F(RemoteRedisson, AFilterMadeAnewWithTheSameParametersAnswersMaybe) {
  auto filter = Init();
  ASSERT_TRUE(filter->Add(Views{"x"}).ok());
  ASSERT_TRUE(Open()->Delete().ok());
  ASSERT_TRUE(Init().ok());
  EXPECT_TRUE(filter->MayContain("x"));
  EXPECT_EQ(filter->stats().config_changed, 1u);
  EXPECT_THAT(filter->last_error().ToString(),
              HasSubstr("was deleted and made anew: open it again"));
  EXPECT_FALSE(filter->Add(Views{"y"}).ok());
  EXPECT_FALSE(filter->Snapshot().ok());
  EXPECT_FALSE(Open()->MayContain("x"));
}

// By Init(), or by Redisson and then Add().
TEST_F(RemoteRedisson, AFilterOfRedissonsThatWasMadeAnewAnswersMaybe) {
  for (const bool by_init : {true, false}) {
    Run({"DEL", "f", "{f}:config"});
    MakeRedissons("95", "7");
    for (const int bit : {5, 10, 15, 62, 67, 72, 77}) {
      Run({"SETBIT", "f", absl::StrCat(bit), "1"});
    }
    auto filter = Open();
    ASSERT_TRUE(filter.ok()) << filter.status();
    if (!by_init) {
      EXPECT_TRUE(filter->Add(Views{"x"}).ok());
    }
    EXPECT_TRUE(filter->MayContain("x"));
    Run({"DEL", "f", "{f}:config"});
    if (by_init) {
      ASSERT_TRUE(Init().ok());
    } else {
      MakeRedissons("95", "7");
      ASSERT_TRUE(Open()->Add(Views{"other"}).ok());
    }
    EXPECT_TRUE(filter->MayContain("x"));
    EXPECT_EQ(filter->stats().config_changed, 1u);
    for (const absl::Status& status :
         {filter->last_error(), filter->Add(Views{"y"}).status()}) {
      EXPECT_THAT(status.ToString(), HasSubstr("deleted and made anew"));
    }
  }
}

TEST_F(RemoteRedisson, ALargeBatchOfPlainReadsIsSeveral) {
  ASSERT_TRUE(Init(1000, 1e-9)->Add(Views{"x"}).ok());
  auto reader = OpenAs({"+@read", "+@connection"});
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::vector<std::string> elements(40'000, "absent");
  elements.back() = "x";
  const Views all(elements.begin(), elements.end());
  const auto answers = std::make_unique<bool[]>(all.size());
  reader->MayContain(all, answers.get());
  EXPECT_EQ(std::count(&answers[0], &answers[all.size()], true), 1);
  EXPECT_TRUE(reader->last_error().ok()) << reader->last_error();
}

TEST_F(RemoteRedisson, AUserWithoutScriptsAsksByPlainReads) {
  std::vector<std::string> elements;
  for (int i = 0; i < 2000; ++i) elements.push_back(std::to_string(i));
  const Views all(elements.begin(), elements.end());
  const auto begin = all.begin();
  ASSERT_TRUE(Init(1000)->Add(Views(begin, begin + 1000)).ok());
  for (const auto& rights : std::vector<std::vector<std::string>>{
           {"+@read", "+@connection"}, {"+@all", "-@scripting"}}) {
    SCOPED_TRACE(rights[0]);
    auto reader = OpenAs(rights);
    ASSERT_TRUE(reader.ok()) << reader.status();
    bool answers[2000];
    reader->MayContain(all, answers);
    EXPECT_EQ(std::count(answers, answers + 1000, true), 1000);
    auto other = Open();
    bool expected[2000];
    other->MayContain(all, expected);
    EXPECT_TRUE(std::equal(answers, answers + 2000, expected));
    EXPECT_EQ(reader->stats().negatives, other->stats().negatives);
    EXPECT_GT(reader->stats().negatives, 900u);
    EXPECT_EQ(reader->stats().unreachable, 0u);
    EXPECT_TRUE(reader->last_error().ok()) << reader->last_error();
    EXPECT_EQ(reader->stats().round_trips, 3u);
    reader->MayContain(all, answers);
    EXPECT_EQ(reader->stats().round_trips, 4u);  // It asks no script again.
    EXPECT_TRUE(std::equal(answers, answers + 2000, expected));
  }
}

// Plain reads find what a script's one reply finds.
TEST_F(RemoteRedisson, PlainReadsOfALostFilterAnswerMaybe) {
  ASSERT_TRUE(Init()->Add(Views{"x"}).ok());
  auto reader = OpenAs({"+@read", "+@connection"});
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_FALSE(reader->MayContain("absent"));
  const RedisReply value = Run({"GET", "f"});
  Run({"DEL", "f"});
  EXPECT_TRUE(reader->MayContain("absent"));
  Run({"SETBIT", "f", "3", "1"});
  EXPECT_TRUE(reader->MayContain("absent"));
  EXPECT_EQ(reader->stats().bits_lost, 2u);
  Run({"SET", "f", value.text});
  EXPECT_FALSE(reader->MayContain("absent"));
  ASSERT_TRUE(Open()->Delete().ok());
  EXPECT_TRUE(reader->MayContain("absent"));
  ASSERT_TRUE(Init().ok());
  EXPECT_TRUE(reader->MayContain("absent"));
  EXPECT_EQ(reader->stats().config_changed, 2u);
  Run({"DEL", "f"});
  Run({"RPUSH", "f", "not bits"});
  EXPECT_TRUE(reader->MayContain("absent"));
}

// All releases: the bits are gone and the configuration is there.
TEST_F(RemoteRedisson, TrapOfLostBitsAnswersMaybe) {
  auto filter = Init();
  ASSERT_TRUE(filter->Add(Views{"x"}).ok());
  Run({"DEL", "f"});
  EXPECT_TRUE(filter->MayContain("x"));
  Run({"SETBIT", "f", "3", "1"});  // Redisson adds to it.
  EXPECT_TRUE(filter->MayContain("x"));
  EXPECT_EQ(filter->stats().bits_lost, 2u);
  EXPECT_FALSE(filter->Add(Views{"y"}).ok());
  EXPECT_EQ(Run({"STRLEN", "f"}).integer, 1);
  EXPECT_FALSE(filter->Snapshot().ok());
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kDataLoss);

  Run({"FLUSHALL"});
  MakeRedissons("95", "7");
  filter = Open();  // Empty, or lost.
  ASSERT_TRUE(filter.ok());
  EXPECT_TRUE(filter->MayContain("x"));
  EXPECT_EQ(filter->stats().bits_lost, 1u);
  EXPECT_FALSE(filter->Snapshot().ok());
}

// Without a mark, an object knows the longest value that it has seen.
TEST_F(RemoteRedisson, AValueThatShrankAnswersMaybe) {
  MakeRedissons("95", "7");
  for (const int bit : {5, 10, 15, 62, 67, 72, 77}) {
    Run({"SETBIT", "f", absl::StrCat(bit), "1"});
  }
  auto filter = Open();
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_FALSE(filter->MayContain("absent"));
  Run({"DEL", "f"});
  EXPECT_EQ(filter->Add(Views{"z"}).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(Run({"EXISTS", "f"}).integer, 0);
  EXPECT_TRUE(filter->MayContain("x"));
  Run({"SETBIT", "f", "3", "1"});  // Redisson begins it anew.
  EXPECT_TRUE(filter->MayContain("x"));
  EXPECT_EQ(filter->stats().bits_lost, 2u);
  EXPECT_THAT(filter->last_error().ToString(),
              HasSubstr("1 bytes, which had 10"));
  EXPECT_FALSE(filter->Add(Views{"z"}).ok());
  EXPECT_FALSE(filter->Count().ok());
  EXPECT_FALSE(filter->Snapshot().ok());
  EXPECT_EQ(Run({"STRLEN", "f"}).integer, 1);
}

TEST_F(RemoteRedisson, AMarkSeenInAnyReplyIsRemembered) {
  for (const std::string_view by : {"lookup", "count", "snapshot"}) {
    Run({"DEL", "f", "{f}:config"});
    MakeRedissons("95", "7");
    auto filter = Open();
    ASSERT_TRUE(filter.ok()) << filter.status();
    ASSERT_TRUE(Open()->Add(Views{"x"}).ok());
    EXPECT_TRUE(by == "lookup"  ? filter->MayContain("x")
                : by == "count" ? filter->Count().ok()
                                : filter->Snapshot().ok());
    EXPECT_TRUE(filter->is_marked()) << by;
    // Made anew with the same parameters, maybe by another codec.
    Run({"DEL", "f", "{f}:config"});
    MakeRedissons("95", "7");
    Run({"SETBIT", "f", "94", "1"});
    EXPECT_TRUE(filter->MayContain("absent")) << by;
    EXPECT_EQ(filter->stats().config_changed, 1u) << by;
  }
}

TEST_F(RemoteRedisson, ConfigurationsOutOfRangeAreRefused) {
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kNotFound);
  const std::pair<const char*, const char*> kWrong[] = {
      {"ninety", "7"}, {"95", "x"},
      {"0", "7"},      {"95", "0"},
      {"-95", "7"},    {"4294967295", "7"},
      {"95", "1101"},  {"95", "1000000"},
      {"095", "7"},    {"99999999999999999999", "7"},
      {"", "7"}};
  for (const auto& [size, probes] : kWrong) {
    MakeRedissons(size, probes);
    EXPECT_EQ(Open().status().code(), absl::StatusCode::kFailedPrecondition)
        << size << " " << probes << " " << Open().status();
  }
  MakeRedissons("95", "7");
  auto filter = Open();
  for (const auto& [size, probes] : kWrong) {
    MakeRedissons(size, probes);
    EXPECT_TRUE(filter->MayContain("x")) << size << " " << probes;
  }
  EXPECT_EQ(filter->stats().config_changed, std::size(kWrong));
  EXPECT_FALSE(Init(0, 0.01).ok());
  EXPECT_FALSE(Init(10, 0.01, "").ok());
  EXPECT_FALSE(Init(10, 0.01, "my codec").ok());
  EXPECT_FALSE(Init(uint64_t{1} << 60, 0.01).ok());
}

TEST_F(RemoteRedisson, KeysOfOtherTypesAnswerMaybe) {
  auto filter = Init();
  Run({"DEL", "f"});
  Run({"LPUSH", "f", "1"});
  EXPECT_TRUE(filter->MayContain("x"));
  EXPECT_THAT(filter->last_error().ToString(), HasSubstr("WRONGTYPE"));
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(filter->Add(Views{"x"}).ok());
  EXPECT_FALSE(filter->Count().ok());
  EXPECT_FALSE(filter->Snapshot().ok());
  Run({"DEL", "{f}:config"});
  EXPECT_THAT(Init().status().ToString(),
              HasSubstr("\"f\" exists without \"{f}:config\""));
  Run({"SET", "{f}:config", "1"});
  EXPECT_TRUE(filter->MayContain("x"));
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(Init().ok());
  EXPECT_EQ(filter->stats().config_changed, 2u);
}

TEST_F(RemoteRedisson, ExpiresBothKeys) {
  auto filter = Init();
  ASSERT_TRUE(filter->Expire(milliseconds(100'000)).ok());
  EXPECT_GT(Run({"PTTL", "f"}).integer, 50'000);
  EXPECT_GT(Run({"PTTL", "{f}:config"}).integer, 50'000);
  EXPECT_EQ(filter->Expire(milliseconds(-1)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(filter->Expire(milliseconds::max()).code(),
            absl::StatusCode::kUnavailable);  // The server's error.
  EXPECT_EQ(Run({"EXISTS", "f", "{f}:config"}).integer, 2);
  ASSERT_TRUE(filter->Expire(milliseconds(0)).ok());
  EXPECT_EQ(Run({"EXISTS", "f", "{f}:config"}).integer, 0);
  EXPECT_EQ(filter->Expire(milliseconds(1)).code(),
            absl::StatusCode::kNotFound);
  filter = Init();
  Run({"DEL", "f"});
  EXPECT_EQ(filter->Expire(milliseconds(100'000)).code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(RemoteRedisson, ElementsThatCannotBeEncodedAnswerMaybe) {
  auto filter = Init(10, 0.01, "Kryo5Codec");
  ASSERT_TRUE(filter->AddEncoded({*RedissonCodec("Kryo5Codec").Int(17)}).ok());
  bool answers[3];
  filter->MayContain(Views{"absent", "\xff", "absent"}, answers);
  EXPECT_FALSE(answers[0] || answers[2]);
  EXPECT_TRUE(answers[1]);
  EXPECT_EQ(filter->stats().unencodable, 1u);
  EXPECT_EQ(filter->stats().lookups, 3u);
  EXPECT_FALSE(filter->Add(Views{"\xff"}).ok());
  EXPECT_TRUE(filter->Snapshot()->MayContain("\xff"));
  filter->MayContainEncoded({*RedissonCodec("Kryo5Codec").Int(17),
                             *RedissonCodec("Kryo5Codec").Long(17)},
                            answers);
  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[1]);
}

TEST_F(RemoteRedisson, UserAndDatabaseComeFromTheAddress) {
  Run({"ACL", "SETUSER", "reader", "on", ">secret", "~*", "+@all"});
  RedisOptions options = server_->options();
  options.user = "reader";
  options.password = "secret";
  options.database = 3;
  const auto connection = ConnectRedis(options);
  ASSERT_TRUE(connection.ok()) << connection.status();
  ASSERT_TRUE((*connection)->Send({{"SET", "k", "v"}}).ok());
  EXPECT_EQ(Run({"EXISTS", "k"}).integer, 0);
  options.password = "wrong";
  EXPECT_EQ(ConnectRedis(options).status().code(),
            absl::StatusCode::kPermissionDenied);
  options.password = "secret";
  options.database = 99;
  EXPECT_EQ(ConnectRedis(options).status().code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(RemoteRedisson, AReadOnlyReplicaAnswers) {
  auto filter = Init();
  ASSERT_TRUE(filter->Add(Views{"x"}).ok());
  Run({"REPLICAOF", "127.0.0.1", "1"});  // Nobody there: it keeps its data.
  EXPECT_TRUE(filter->MayContain("x"));
  EXPECT_FALSE(filter->MayContain("absent"));
  EXPECT_FALSE(filter->Add(Views{"y"}).ok());
  EXPECT_EQ(filter->stats().unreachable, 0u);
  Run({"REPLICAOF", "NO", "ONE"});
}

#ifdef ROWBLOOM_TOOL
TEST_F(RemoteRedisson, TheToolInspectsVerifiesAndLooksUp) {
  auto filter = Init();
  ASSERT_TRUE(filter->Add(Views{"x"}).ok());
  const std::string url =
      absl::StrCat("unix://", server_->options().unix_socket, "?name=f");
  const auto run = [&](const std::vector<std::string>& arguments) {
    return RunProgram(ROWBLOOM_TOOL, server_->directory(), arguments);
  };
  const ToolResult inspected = run({"inspect", url});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_THAT(inspected.out, HasSubstr("codec                StringCodec"));
  EXPECT_THAT(inspected.out, HasSubstr("bit_count            95"));
  EXPECT_THAT(inspected.out, HasSubstr("approximate_count    1"));
  EXPECT_THAT(run({"lookup", url, "x"}).out, HasSubstr(": maybe ("));
  EXPECT_THAT(run({"lookup", url, "y"}).out, HasSubstr(": no ("));
  EXPECT_THAT(run({"verify", url}).out, HasSubstr(": ok"));
  Run({"DEL", "f"});
  EXPECT_EQ(run({"verify", url}).exit_code, 1);
  const ToolResult lost = run({"lookup", url, "y"});
  EXPECT_THAT(lost.out + lost.err, HasSubstr("its bits or its parameters"));
  // Not a file of an unknown format.
  EXPECT_EQ(run({"verify", "redis://host"}).exit_code, 2);
}
#endif

}  // namespace
}  // namespace rowbloom
