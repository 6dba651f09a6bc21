// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/scalable.h"

#include <gtest/gtest.h>

#include <limits>

#include "rowbloom/memfilter/bf_commands.h"
#include "testing/fpr.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

using testing::Random;
using testing::RandomDigests;

TEST(ScalableFilter, RateStaysBelowTheTargetHoweverManyKeysCome) {
  Random random(1);
  for (const uint32_t expansion : {1u, 2u, 4u}) {
    ScalableOptions options;
    options.target_fpr = 0.01;
    options.capacity = expansion == 1 ? 20000 : 100;
    options.expansion = expansion;
    auto filter = ScalableFilter::New(options);
    for (int step = 0; step < 20; ++step) {
      ASSERT_TRUE(filter->Add(RandomDigests(&random, 10000)).ok());
      ASSERT_LE(filter->expected_fpr(), options.target_fpr);
    }
    EXPECT_GT(filter->layer_count(), 5u);
    uint64_t positives = 0;
    for (int i = 0; i < 200000; ++i) {
      positives += filter->MayContain({random()});
    }
    EXPECT_TRUE(testing::WithinBinomialBound(
        positives, 200000, filter->expected_fpr(), 0, testing::k999));
  }
}

TEST(ScalableFilter, OptionsOutOfRangeAreInvalid) {
  const ScalableOptions good;
  const auto refused = [](const ScalableOptions& options) {
    return ScalableFilter::New(options).status().code() ==
           absl::StatusCode::kInvalidArgument;
  };
  EXPECT_FALSE(refused(good));
  for (const double share :
       {0.0, 1.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    ScalableOptions options = good;
    options.target_fpr = share;
    EXPECT_TRUE(refused(options));
    options = good;
    options.tightening = share;
    EXPECT_TRUE(refused(options));
  }
  ScalableOptions options = good;
  options.capacity = 0;
  EXPECT_TRUE(refused(options));
  options.capacity = std::numeric_limits<uint64_t>::max();
  EXPECT_TRUE(refused(options));
  options = good;
  options.expansion = 0;
  EXPECT_TRUE(refused(options));
}

TEST(ScalableFilter, OneThatCannotGrowSaysSo) {
  Random random(2);
  ScalableOptions options;
  options.capacity = 1;
  options.expansion = 1;  // A layer for each key.
  auto filter = ScalableFilter::New(options);
  absl::Status status;
  uint64_t added = 0;
  while (status.ok() && added < 2000) {
    const auto result = filter->Add({random()});
    status = result.status();
    added += result.ok() && *result;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(added, 1024u);
}

// --- BF commands -----------------------------------------------------------

BfReserveOptions Reserve(double error_rate, uint64_t capacity) {
  BfReserveOptions options;
  options.error_rate = error_rate;
  options.capacity = capacity;
  return options;
}

TEST(BfCommands, ReserveMakesAFilterOnce) {
  BfCommands bf;
  ASSERT_TRUE(bf.Reserve("a", Reserve(0.001, 1000)).ok());
  EXPECT_EQ(bf.Reserve("a", Reserve(0.001, 1000)).code(),
            absl::StatusCode::kAlreadyExists);
  const auto info = bf.Info("a");
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->capacity, 1000u);
  EXPECT_EQ(info->filter_count, 1u);
  EXPECT_EQ(info->item_count, 0u);
  EXPECT_EQ(info->expansion, 2u);
  EXPECT_GT(info->size_bytes, 1000u);
  for (const auto& wrong : {Reserve(0, 10), Reserve(1, 10), Reserve(0.1, 0)}) {
    EXPECT_EQ(bf.Reserve("b", wrong).code(),
              absl::StatusCode::kInvalidArgument);
  }
  BfReserveOptions both = Reserve(0.1, 10);
  both.expansion = 2;
  both.non_scaling = true;
  EXPECT_EQ(bf.Reserve("b", both).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(bf.Info("b").status().code(), absl::StatusCode::kNotFound);
}

TEST(BfCommands, AddSaysWhetherAnItemWasNew) {
  BfCommands bf;
  EXPECT_TRUE(*bf.Add("a", "x"));
  EXPECT_FALSE(*bf.Add("a", "x"));
  const auto added = bf.MAdd("a", {"x", "y", "y"});
  ASSERT_EQ(added.size(), 3u);
  EXPECT_FALSE(*added[0]);
  EXPECT_TRUE(*added[1]);
  EXPECT_FALSE(*added[2]);
  EXPECT_EQ(bf.Card("a"), 2u);
  EXPECT_EQ(bf.Info("a")->capacity, 100u);
}

TEST(BfCommands, ExistsIsFalseForAFilterThatIsNotThere) {
  BfCommands bf;
  EXPECT_FALSE(bf.Exists("a", "x"));
  EXPECT_EQ(bf.Card("a"), 0u);
  EXPECT_EQ(bf.MExists("a", {"x", "y"}), (std::vector<bool>{false, false}));
  ASSERT_TRUE(bf.Add("a", "x").ok());
  EXPECT_EQ(bf.MExists("a", {"x", "y"}), (std::vector<bool>{true, false}));
  EXPECT_FALSE(bf.Exists("b", "x"));
}

TEST(BfCommands, InsertMakesTheFilterUnlessToldNotTo) {
  BfCommands bf;
  BfInsertOptions options;
  options.no_create = true;
  EXPECT_EQ(bf.Insert("a", options, {"x"}).status().code(),
            absl::StatusCode::kNotFound);
  options.no_create = false;
  options.reserve = Reserve(0.001, 500);
  options.reserve.expansion = 4;
  const auto answers = bf.Insert("a", options, {"x", "y", "x"});
  ASSERT_TRUE(answers.ok());
  ASSERT_EQ(answers->size(), 3u);
  EXPECT_TRUE(*(*answers)[0] && *(*answers)[1] && !*(*answers)[2]);
  EXPECT_EQ(bf.Info("a")->capacity, 500u);
  EXPECT_EQ(bf.Info("a")->expansion, 4u);
  options.reserve.capacity = 9;  // Not for one that is there.
  ASSERT_TRUE(bf.Insert("a", options, {"z"}).ok());
  EXPECT_EQ(bf.Info("a")->capacity, 500u);
}

TEST(BfCommands, AFullNonScalingFilterRefusesWhatIsNewAndOnlyThat) {
  BfCommands bf;
  BfReserveOptions options = Reserve(0.0001, 3);
  options.non_scaling = true;
  ASSERT_TRUE(bf.Reserve("a", options).ok());
  EXPECT_EQ(bf.Info("a")->expansion, std::nullopt);
  const auto answers = bf.MAdd("a", {"1", "2", "3", "2", "4", "5"});
  ASSERT_EQ(answers.size(), 5u);  // Ends at the item that found no room.
  EXPECT_FALSE(*answers[3]);
  EXPECT_EQ(answers[4].status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(bf.Exists("a", "4"));
  EXPECT_EQ(bf.Card("a"), 3u);
  EXPECT_FALSE(*bf.Add("a", "1"));
}

// A filter of many layers under "a", in chunks.
std::vector<BfChunk> Dump(BfCommands* bf, size_t chunk_bytes) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(bf->Add("a", std::to_string(i)).ok());
  }
  std::vector<BfChunk> chunks;
  for (uint64_t iterator = 0;;) {
    const auto chunk = bf->ScanDump("a", iterator, chunk_bytes);
    EXPECT_TRUE(chunk.ok()) << chunk.status();
    if (!chunk.ok() || chunk->iterator == 0) return chunks;
    iterator = chunk->iterator;
    chunks.push_back(*chunk);
  }
}

TEST(BfCommands, ADumpIsRestoredChunkByChunk) {
  for (const size_t chunk_bytes : {1, 7, 100, 1 << 20}) {
    BfCommands from;
    const std::vector<BfChunk> chunks = Dump(&from, chunk_bytes);
    BfCommands to;
    ASSERT_TRUE(to.Add("a", "of another filter").ok());
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (i + 1 == chunks.size()) {
        EXPECT_EQ(to.Card("a"), 1u);
      }
      ASSERT_TRUE(to.LoadChunk("a", chunks[i].iterator, chunks[i].data).ok());
    }
    EXPECT_EQ(to.Card("a"), from.Card("a"));
    EXPECT_EQ(to.Info("a")->filter_count, from.Info("a")->filter_count);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(to.Exists("a", std::to_string(i)));
    }
    EXPECT_FALSE(to.Exists("a", "of another filter"));
  }
}

TEST(BfCommands, ADumpIsOfItsFirstMoment) {
  BfCommands from;
  ASSERT_TRUE(from.Reserve("a", Reserve(0.01, 10)).ok());
  const auto first = from.ScanDump("a", 0, 40);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(from.Add("a", "later").ok());
  const auto second = from.ScanDump("a", first->iterator);
  ASSERT_TRUE(second.ok());
  BfCommands to;
  ASSERT_TRUE(to.LoadChunk("b", first->iterator, first->data).ok());
  ASSERT_TRUE(to.LoadChunk("b", second->iterator, second->data).ok());
  EXPECT_EQ(to.Card("b"), 0u);
  EXPECT_TRUE(to.Info("b").ok());
}

TEST(BfCommands, ChunksOutOfOrderOrDamagedLeaveWhatWasThere) {
  BfCommands from;
  const std::vector<BfChunk> chunks = Dump(&from, 100);
  ASSERT_GT(chunks.size(), 5u);
  BfCommands to;
  ASSERT_TRUE(to.Add("a", "x").ok());
  const auto load = [&](const BfChunk& chunk) {
    return to.LoadChunk("a", chunk.iterator, chunk.data).code();
  };
  EXPECT_EQ(load(chunks[1]), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(load(chunks[0]), absl::StatusCode::kOk);
  EXPECT_EQ(load(chunks[2]), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(load(chunks[1]), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(load({0, "x"}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(load({5, ""}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(load({5, "hello"}), absl::StatusCode::kDataLoss);
  for (size_t damaged = 0; damaged < chunks.size(); ++damaged) {
    absl::StatusCode code = absl::StatusCode::kOk;
    for (size_t i = 0; i < chunks.size() && code == absl::StatusCode::kOk;
         ++i) {
      BfChunk chunk = chunks[i];
      if (i == damaged) chunk.data[chunk.data.size() / 2] ^= 4;
      code = load(chunk);
    }
    // A size that was damaged may ask for more chunks than there are.
    if (damaged > 0) {
      EXPECT_EQ(code, absl::StatusCode::kDataLoss);
    }
    EXPECT_EQ(to.Card("a"), 1u);
    EXPECT_TRUE(to.Exists("a", "x"));
  }
}

TEST(BfCommands, DumpsOfNothingAreRefused) {
  BfCommands bf;
  EXPECT_EQ(bf.ScanDump("a", 0).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(bf.ScanDump("a", 5).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(bf.Add("a", "x").ok());
  EXPECT_EQ(bf.ScanDump("a", 5).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(bf.ScanDump("a", 0, 0).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace rowbloom
