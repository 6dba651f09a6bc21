// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/scalable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "memfilter/saved_form.h"
#include "rowbloom/memfilter/bf_commands.h"
#include "testing/fpr.h"
#include "testing/keys.h"
#include "testing/reseal.h"
#include "util/coding.h"

namespace rowbloom {
namespace {

using ::testing::ElementsAre;
using testing::Random;
using testing::RandomDigests;

TEST(ScalableFilter, RateStaysBelowTheTargetHoweverManyKeysCome) {
  Random random(1);
  for (const uint32_t expansion : {1u, 2u, 4u}) {
    const ScalableOptions options = {0.01, expansion == 1 ? 20000u : 100u,
                                     expansion};
    auto filter = ScalableFilter::New(options);
    for (int step = 0; step < 20; ++step) {
      ASSERT_TRUE(filter->Add(RandomDigests(&random, 10000)).ok());
      ASSERT_LE(filter->expected_fpr(), options.target_fpr);
    }
    EXPECT_GT(filter->layer_count(), 5u);
    EXPECT_TRUE(testing::WithinBinomialBound(
        testing::CountPositives(*filter, 200000, &random), 200000,
        filter->expected_fpr(), 0, testing::k999));
  }
}

TEST(ScalableFilter, RateStaysBelowTheTargetHoweverSmallTheFirstLayer) {
  Random random(4);
  for (const double tightening : {0.25, 0.5, 0.9}) {
    for (const double target_fpr : {0.1, 0.01, 0.001}) {
      for (const uint64_t capacity : {1, 2, 3, 5, 10, 100}) {
        for (const uint32_t expansion : {1u, 2u, 4u}) {
          const ScalableOptions options = {target_fpr, capacity, expansion,
                                           tightening};
          for (int round = 0; round < 10; ++round) {
            auto filter = ScalableFilter::New(options);
            while (filter->layer_count() < 6) {
              ASSERT_TRUE(filter->Add({random()}).ok());
            }
            ASSERT_LE(filter->expected_fpr(), target_fpr)
                << tightening << " " << capacity << " " << expansion;
          }
        }
      }
    }
  }
}

TEST(ScalableFilter, OptionsOutOfRangeAreInvalid) {
  const auto refused = [](const ScalableOptions& options) {
    return absl::IsInvalidArgument(ScalableFilter::New(options).status());
  };
  EXPECT_FALSE(refused({}));
  for (const double share :
       {0.0, 1.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(refused({share}));
    EXPECT_TRUE(refused({0.01, 100, 2, share}));
  }
  EXPECT_TRUE(refused({0.01, 0}));
  EXPECT_TRUE(refused({0.01, std::numeric_limits<uint64_t>::max()}));
  // The message names only this option.
  EXPECT_EQ(ScalableFilter::New({0.01, 100, 0}).status().message(),
            "expansion 0: must be 1 to 2^15");
}

TEST(ScalableFilter, TheLowestRateThereIsCanBeAskedFor) {
  ScalableOptions options;
  options.target_fpr = std::numeric_limits<double>::denorm_min();
  auto filter = ScalableFilter::New(options);
  ASSERT_TRUE(filter.ok()) << filter.status();
  for (uint64_t i = 0; i < 5 * options.capacity; ++i) {
    ASSERT_TRUE(*filter->Add(DigestBytes(std::to_string(i))));
  }
  EXPECT_EQ(filter->layer_count(), 3u);
}

TEST(ScalableFilter, OneThatCannotGrowSaysSo) {
  Random random(2);
  // Each key needs a layer.
  auto filter = ScalableFilter::New({0.01, /*capacity=*/1, /*expansion=*/1});
  absl::Status status;
  uint64_t added = 0;
  while (status.ok() && added < 2000) {
    const auto result = filter->Add({random()});
    status = result.status();
    added += result.ok() && *result;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(added, 1024u);
}

TEST(ScalableFilter, MoreMemoryThanItMayHaveIsRefusedAndNothingChanges) {
  Random random(3);
  const auto too_large = ScalableFilter::New({0.001, 1'000'000'000'000});
  EXPECT_TRUE(absl::IsResourceExhausted(too_large.status()));
  auto filter = ScalableFilter::New({0.001, 100'000, 32768});
  ASSERT_TRUE(filter.ok());
  const auto grow = [&random](ScalableFilter* grown) {
    absl::StatusOr<bool> added = true;
    while (added.ok()) {
      if (grown->approximate_count() > 1'000'000) return absl::OkStatus();
      added = grown->Add({random()});
    }
    return added.status();
  };
  EXPECT_TRUE(absl::IsResourceExhausted(grow(&*filter)));
  EXPECT_EQ(filter->approximate_count(), 100'000u);
  EXPECT_EQ(filter->layer_count(), 1u);
  const std::string full = filter->Save();
  KeyDigest absent{random()};
  while (filter->MayContain(absent)) absent.value = random();
  EXPECT_FALSE(filter->Add(absent).ok());
  EXPECT_FALSE(filter->MayContain(absent));
  EXPECT_EQ(filter->Save(), full);
  // A loaded filter has the same limit, unless Load() is given another.
  auto loaded = ScalableFilter::Load(full);
  ASSERT_TRUE(loaded.ok());
  EXPECT_TRUE(absl::IsResourceExhausted(loaded->Add(absent).status()));
  ScalableOptions options = {0.001, 10};
  auto small = ScalableFilter::New(options);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(small->Add({random()}).ok());
  auto limited = ScalableFilter::Load(small->Save(), 1);
  ASSERT_TRUE(limited.ok());  // It exceeds its limit and cannot grow.
  EXPECT_TRUE(absl::IsResourceExhausted(grow(&*limited)));
  EXPECT_EQ(limited->layer_count(), small->layer_count());
  options.max_memory_bytes = 20000;
  auto bounded = ScalableFilter::New(options);
  EXPECT_TRUE(absl::IsResourceExhausted(grow(&*bounded)));
  EXPECT_GT(bounded->memory_usage_bytes(), 5000u);
  EXPECT_LE(bounded->memory_usage_bytes(), 20500u);
}

TEST(ScalableFilter, MemoryIsThatOfItsLayers) {
  Random random(5);
  auto filter = ScalableFilter::New({0.01, 100, /*expansion=*/1});
  while (filter->layer_count() < 64) {
    ASSERT_TRUE(filter->Add({random()}).ok());
  }
  const std::string saved = filter->Save();
  EXPECT_GE(filter->memory_usage_bytes(),
            8 * util::LoadFixed<uint64_t>(&saved[16]) +
                64 * (sizeof(StandardFilter) + 2 * sizeof(uint64_t)));
}

// docs/memfilters.md, "Memory of scalable filters".
TEST(ScalableFilter, TheDefaultsTakeUpToSixTimesAStandardFiltersMemory) {
  Random random(9);
  ScalableOptions options;
  auto filter = ScalableFilter::New(options);
  double least = std::numeric_limits<double>::max();
  double most = 0;
  size_t layers = 1;
  for (uint64_t keys = 1; keys <= 300'000; ++keys) {
    ASSERT_TRUE(filter->Add(KeyDigest{random()}).ok());
    // It takes most when it has just grown, and least before.
    if (keys < 1000 || (filter->layer_count() == layers && keys % 1000 != 0)) {
      continue;
    }
    layers = filter->layer_count();
    const double times =
        8 * static_cast<double>(filter->memory_usage_bytes()) /
        static_cast<double>(ShapeFor(keys, options.target_fpr)->bit_count);
    least = std::min(least, times);
    most = std::max(most, times);
  }
  EXPECT_GT(least, 1.8);
  EXPECT_LT(most, 6);
}

// --- BF commands -----------------------------------------------------------

TEST(BfCommands, ReserveMakesAFilterOnce) {
  BfCommands bf;
  ASSERT_TRUE(bf.Reserve("a", {0.001, 1000}).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(bf.Reserve("a", {0.001, 1000})));
  const auto info = bf.Info("a");
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->capacity, 1000u);
  EXPECT_EQ(info->filter_count, 1u);
  EXPECT_EQ(info->item_count, 0u);
  EXPECT_EQ(info->expansion, 2u);
  EXPECT_GT(info->size_bytes, 1000u);
}

TEST(BfCommands, AddSaysWhetherAnItemWasNew) {
  BfCommands bf;
  EXPECT_TRUE(*bf.Add("a", "x"));
  EXPECT_FALSE(*bf.Add("a", "x"));
  EXPECT_THAT(bf.MAdd("a", {"x", "y", "y"}), ElementsAre(false, true, false));
  EXPECT_EQ(bf.Card("a"), 2u);
  EXPECT_EQ(bf.Info("a")->capacity, 100u);
}

TEST(BfCommands, ExistsIsFalseForAFilterThatIsNotThere) {
  BfCommands bf;
  EXPECT_FALSE(bf.Exists("a", "x"));
  EXPECT_EQ(bf.Card("a"), 0u);
  EXPECT_THAT(bf.MExists("a", {"x", "y"}), ElementsAre(false, false));
  ASSERT_TRUE(bf.Add("a", "x").ok());
  EXPECT_THAT(bf.MExists("a", {"x", "y"}), ElementsAre(true, false));
  EXPECT_FALSE(bf.Exists("b", "x"));
}

TEST(BfCommands, InsertMakesTheFilterUnlessToldNotTo) {
  BfCommands bf;
  BfInsertOptions options = {{0.001, 500, 4}, /*no_create=*/true};
  EXPECT_TRUE(absl::IsNotFound(bf.Insert("a", options, {"x"}).status()));
  options.no_create = false;
  const auto answers = bf.Insert("a", options, {"x", "y", "x"});
  ASSERT_TRUE(answers.ok());
  EXPECT_THAT(*answers, ElementsAre(true, true, false));
  EXPECT_EQ(bf.Info("a")->capacity, 500u);
  EXPECT_EQ(bf.Info("a")->expansion, 4u);
  options.reserve.capacity = 9;  // An existing filter ignores it.
  ASSERT_TRUE(bf.Insert("a", options, {"z"}).ok());
  EXPECT_EQ(bf.Info("a")->capacity, 500u);
}

TEST(BfCommands, WrongOptionsAreRefusedWhetherOrNotTheFilterIsThere) {
  BfCommands bf;
  ASSERT_TRUE(bf.Add("a", "x").ok());
  for (const BfReserveOptions& wrong :
       std::vector<BfReserveOptions>{{0, 10},
                                     {1, 10},
                                     {5, 10},
                                     {0.1, 0},
                                     {0.1, 10, 2, /*non_scaling=*/true},
                                     {0.1, 10, (1 << 15) + 1}}) {
    for (const char* key : {"a", "b"}) {
      EXPECT_TRUE(absl::IsInvalidArgument(bf.Reserve(key, wrong)));
      for (const bool no_create : {true, false}) {
        const auto answers = bf.Insert(key, {wrong, no_create}, {"y"});
        EXPECT_TRUE(absl::IsInvalidArgument(answers.status()));
      }
    }
  }
  EXPECT_FALSE(bf.Exists("a", "y"));
  EXPECT_TRUE(absl::IsNotFound(bf.Info("b").status()));
}

TEST(BfCommands, NoItemsMakeNoFilter) {
  BfCommands bf;
  EXPECT_TRUE(bf.MAdd("a", {}).empty());
  EXPECT_TRUE(bf.Insert("a", {}, {})->empty());
  EXPECT_TRUE(absl::IsNotFound(bf.Info("a").status()));
}

TEST(BfCommands, AFullNonScalingFilterRefusesWhatIsNewAndOnlyThat) {
  // An expansion of 0 says the same.
  for (const BfReserveOptions& options :
       {BfReserveOptions{0.0001, 3, {}, true}, {0.0001, 3, 0}}) {
    BfCommands bf;
    ASSERT_TRUE(bf.Reserve("a", options).ok());
    EXPECT_EQ(bf.Info("a")->expansion, std::nullopt);
    const auto answers = bf.MAdd("a", {"1", "2", "3", "2", "4", "5"});
    ASSERT_EQ(answers.size(), 5u);  // Ends at the item that found no room.
    EXPECT_FALSE(*answers[3]);
    EXPECT_TRUE(absl::IsResourceExhausted(answers[4].status()));
    EXPECT_FALSE(bf.Exists("a", "4"));
    EXPECT_EQ(bf.Card("a"), 3u);
    EXPECT_FALSE(*bf.Add("a", "1"));
  }
}

// Makes a filter of many layers under "a" and returns it in chunks.
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

TEST(BfCommands, ChunksOutOfOrderOrDamagedLeaveWhatWasThere) {
  BfCommands from;
  const std::vector<BfChunk> chunks = Dump(&from, 100);
  ASSERT_GT(chunks.size(), 5u);
  BfCommands to;
  ASSERT_TRUE(to.Add("a", "x").ok());
  const auto load = [&](const BfChunk& chunk) {
    return to.LoadChunk("a", chunk.iterator, chunk.data);
  };
  EXPECT_TRUE(absl::IsInvalidArgument(load(chunks[1])));
  EXPECT_TRUE(load(chunks[0]).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(load(chunks[2])));
  EXPECT_TRUE(absl::IsInvalidArgument(load(chunks[1])));
  EXPECT_TRUE(absl::IsInvalidArgument(load({0, "x"})));
  EXPECT_TRUE(absl::IsInvalidArgument(load({5, ""})));
  EXPECT_TRUE(absl::IsDataLoss(load({5, "hello"})));
  for (size_t damaged = 0; damaged < chunks.size(); ++damaged) {
    absl::Status status;
    for (size_t i = 0; i < chunks.size() && status.ok(); ++i) {
      BfChunk chunk = chunks[i];
      if (i == damaged) chunk.data[chunk.data.size() / 2] ^= 4;
      status = load(chunk);
    }
    EXPECT_TRUE(absl::IsDataLoss(status)) << damaged;
    EXPECT_EQ(to.Card("a"), 1u);
    EXPECT_TRUE(to.Exists("a", "x"));
  }
}

// Returns all bytes of a dump that began with `chunk`.
std::string Rest(BfCommands* bf, BfChunk chunk, size_t chunk_bytes) {
  std::string bytes;
  while (chunk.iterator != 0) {
    bytes += chunk.data;
    auto next = bf->ScanDump("a", chunk.iterator, chunk_bytes);
    EXPECT_TRUE(next.ok()) << next.status();
    if (!next.ok()) break;
    chunk = *std::move(next);
  }
  return bytes;
}

TEST(BfCommands, DumpsAndLoadsSideBySideDoNotMix) {
  BfCommands from;
  ASSERT_TRUE(from.Add("a", "x").ok());
  const auto first = from.ScanDump("a", 0, 50);
  ASSERT_TRUE(from.Add("a", "y").ok());
  const auto second = from.ScanDump("a", 0, 50);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->iterator, second->iterator);
  BfCommands to;
  ASSERT_TRUE(to.LoadChunk("a", first->iterator, first->data).ok());
  ASSERT_TRUE(to.LoadChunk("a", second->iterator, second->data).ok());
  for (auto chunk : {first, second}) {
    const uint64_t items = chunk->iterator == first->iterator ? 1 : 2;
    while (true) {
      chunk = from.ScanDump("a", chunk->iterator, 50);
      ASSERT_TRUE(chunk.ok());
      if (chunk->iterator == 0) break;
      ASSERT_TRUE(to.LoadChunk("a", chunk->iterator, chunk->data).ok());
    }
    EXPECT_EQ(to.Card("a"), items);
  }
}

TEST(BfCommands, OnlyTheLastIteratorOfADumpGoesOn) {
  BfCommands bf;
  EXPECT_TRUE(absl::IsNotFound(bf.ScanDump("a", 0).status()));
  EXPECT_TRUE(absl::IsNotFound(bf.ScanDump("a", 5).status()));
  ASSERT_TRUE(bf.Add("a", "x").ok());
  ASSERT_TRUE(bf.Add("b", "x").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(bf.ScanDump("a", 0, 0).status()));
  const auto first = bf.ScanDump("a", 0, 50);
  const auto refused = [&bf](const char* key, uint64_t iterator) {
    return absl::IsInvalidArgument(bf.ScanDump(key, iterator, 50).status());
  };
  EXPECT_TRUE(refused("a", 50));
  EXPECT_TRUE(refused("a", first->iterator - 1));
  EXPECT_TRUE(refused("a", first->iterator + (uint64_t{1} << 48)));
  EXPECT_TRUE(refused("b", first->iterator));
  const auto second = bf.ScanDump("a", first->iterator, 50);
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(refused("a", first->iterator));
  EXPECT_TRUE(bf.ScanDump("a", second->iterator, 50).ok());
}

TEST(BfCommands, AbandonedDumpsAndLoadsAreBounded) {
  BfCommands bf({1 << 20, /*max_dumps=*/2, /*max_loads=*/2});
  ASSERT_TRUE(bf.Add("a", "x").ok());
  std::vector<BfChunk> begun;
  for (int i = 0; i < 3; ++i) begun.push_back(*bf.ScanDump("a", 0, 50));
  EXPECT_FALSE(bf.ScanDump("a", begun[0].iterator, 50).ok());
  const std::string dump = Rest(&bf, begun[2], 50);
  EXPECT_EQ(dump, Rest(&bf, begun[1], 50));

  const uint64_t whole = dump.size();
  const std::string half = dump.substr(0, 50);
  const std::string rest = dump.substr(50);
  ASSERT_TRUE(bf.LoadChunk("b", 50, half).ok());
  ASSERT_TRUE(bf.LoadChunk("c", 50, half).ok());
  // A chunk that belongs to no load drops no other load.
  EXPECT_FALSE(bf.LoadChunk("d", whole, rest).ok());
  ASSERT_TRUE(bf.LoadChunk("e", 50, half).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(bf.LoadChunk("b", whole, rest)));
  EXPECT_TRUE(bf.LoadChunk("c", whole, rest).ok());
  EXPECT_TRUE(bf.LoadChunk("e", whole, rest).ok());
  EXPECT_TRUE(bf.Exists("c", "x") && bf.Exists("e", "x"));
}

// A layer with room for 2^60 keys precedes a layer whose room fits no integer.
TEST(ScalableFilter, ASavedLayerHasRoomForKeys) {
  constexpr uint64_t kCapacity = uint64_t{1} << 60;
  memfilter::SavedFormWriter writer(MemFilterKind::kScalable);
  writer.AddDouble(0.01);
  writer.AddDouble(0.5);
  writer.AddVarint(kCapacity);
  writer.AddVarint(1 << 15);
  writer.AddVarint(0);  // Scaling.
  writer.AddVarint(2);  // Layers.
  const std::vector<uint64_t> words = {0};
  for (const uint64_t capacity : {kCapacity, uint64_t{0}}) {
    writer.AddVarint(64);  // Bits.
    writer.AddVarint(3);   // Probes.
    writer.AddVarint(capacity);
    writer.AddVarint(0);  // Keys.
    writer.AddWords(words);
  }
  const absl::Status status = ScalableFilter::Load(writer.Finish()).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_NE(status.message().find("room for 0"), std::string::npos) << status;
}

TEST(BfCommands, EachErrorEndsItsLoad) {
  BfCommands from;
  const std::vector<BfChunk> chunks = Dump(&from, 100);
  std::string newer = chunks[0].data;
  newer[8] = 2;
  std::string whole = newer;
  for (size_t i = 1; i < chunks.size(); ++i) whole += chunks[i].data;
  testing::ResealMemFilter(&whole);
  std::string other = StandardFilter::New({100, 3})->Save();
  BfCommands to;
  const auto load = [&to](uint64_t iterator, std::string_view data) {
    return to.LoadChunk("a", iterator, data);
  };
  EXPECT_TRUE(absl::IsUnimplemented(load(whole.size(), whole)));
  EXPECT_TRUE(absl::IsInvalidArgument(load(other.size(), other)));
  const auto& [first, first_data] = chunks[0];
  const auto& [second, second_data] = chunks[1];
  for (const auto& [iterator, data] :
       {std::pair<uint64_t, std::string>{second, ""},
        {second - 1, second_data},
        {first, std::string(101, 'x')}}) {
    EXPECT_TRUE(load(first, first_data).ok());
    EXPECT_TRUE(absl::IsInvalidArgument(load(iterator, data)));
    EXPECT_TRUE(absl::IsInvalidArgument(load(second, second_data)));
  }
  // A chunk of another dump does not end the load.
  EXPECT_TRUE(load(first, first_data).ok());
  EXPECT_TRUE(
      absl::IsInvalidArgument(load(second + (uint64_t{1} << 48), second_data)));
  EXPECT_TRUE(load(second, second_data).ok());
}

TEST(BfCommands, FiltersHaveNoMoreMemoryThanTheyMay) {
  BfCommands bf;
  EXPECT_TRUE(
      absl::IsResourceExhausted(bf.Reserve("a", {0.001, 1'000'000'000'000})));
  EXPECT_FALSE(bf.Info("a").ok());
  BfCommands small({/*max_filter_bytes=*/1000});
  EXPECT_TRUE(absl::IsResourceExhausted(small.Reserve("a", {0.01, 10000})));
  absl::Status status;
  for (int i = 0; i < 10000 && status.ok(); ++i) {
    status = small.Add("a", std::to_string(i)).status();
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_LE(small.Info("a")->size_bytes, 1300u);
  // A load cannot exceed the limit either.
  const std::vector<BfChunk> chunks = Dump(&bf, 100);
  EXPECT_TRUE(absl::IsResourceExhausted(
      small.LoadChunk("b", chunks[0].iterator, chunks[0].data)));
}

TEST(BfCommands, ADeletedFilterLeavesNothing) {
  BfCommands bf;
  EXPECT_FALSE(bf.Delete("a"));
  ASSERT_TRUE(bf.Add("a", "x").ok());
  ASSERT_TRUE(bf.Add("b", "x").ok());
  const auto dump = bf.ScanDump("a", 0, 50);
  const auto other = bf.ScanDump("b", 0, 50);
  ASSERT_TRUE(bf.LoadChunk("a", dump->iterator, dump->data).ok());
  EXPECT_TRUE(bf.Delete("a"));
  EXPECT_FALSE(bf.Exists("a", "x"));
  EXPECT_FALSE(bf.ScanDump("a", dump->iterator).ok());
  const auto rest = bf.ScanDump("b", other->iterator);
  ASSERT_TRUE(rest.ok());
  EXPECT_TRUE(
      absl::IsInvalidArgument(bf.LoadChunk("a", rest->iterator, rest->data)));
  EXPECT_TRUE(*bf.Add("a", "x"));
}

}  // namespace
}  // namespace rowbloom
