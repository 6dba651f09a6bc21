// SPDX-License-Identifier: Apache-2.0

#include "budget/live_tree.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "budget/database_id.h"
#include "gtest/gtest.h"
#include "rocksdb/env.h"
#include "rocksdb/slice.h"
#include "rocksdb/table_properties.h"

namespace rowbloom::plugin {
namespace {

using std::chrono::milliseconds;

LiveFile File(int level, uint64_t keys, uint64_t order = 0) {
  LiveFile file;
  file.level = level;
  file.order = order;
  file.size_bytes = 100 * keys;
  file.filter = FileFilter{keys, keys, 2 * keys};
  return file;
}

std::vector<uint64_t> KeysOfRuns(const LiveTree::View& view) {
  std::vector<uint64_t> keys;
  for (const TreeRun& run : view.live.runs) keys.push_back(run.key_count);
  return keys;
}

std::vector<uint64_t> KeysOfRuns(const LiveTree& tree) {
  const auto view = tree.ViewFor({0, false});
  return view.has_value() ? KeysOfRuns(*view) : std::vector<uint64_t>();
}

using Numbers = std::vector<uint64_t>;

// Returns files of unknown properties.
LiveFiles Unread(const Numbers& numbers) {
  LiveFiles files;
  for (const uint64_t number : numbers) files[number];
  return files;
}

TEST(LiveTree, KnowsNothingAtFirst) {
  const LiveTree tree;
  EXPECT_FALSE(tree.ViewFor({0, true}).has_value());
}

TEST(LiveTree, KnowsHowManyKeysReachTheDeepestLevelWithTheirSst) {
  LiveTree tree;
  const auto moved_share = [&tree](uint32_t level) {
    return tree.ViewFor({level, false})->live.moved_share;
  };
  tree.SetFiles(0,
                {{1, File(0, 10, 100)},
                 {2, File(0, 30, 200)},
                 {3, File(1, 20)},
                 {4, File(2, 500)}},
                milliseconds(0));
  EXPECT_EQ(moved_share(0), std::nullopt);
  tree.CompactionCompleted(1, true, {2}, {{2, File(1, 30)}});
  EXPECT_EQ(moved_share(0), 1);
  EXPECT_EQ(moved_share(1), 1) << "no compaction out of level 1 is known";
  // The keys that were in the level do not enter it.
  tree.CompactionCompleted(2, true, {1, 3}, {{5, File(1, 30)}});
  EXPECT_EQ(moved_share(0), 0.75);
  tree.CompactionCompleted(3, true, {2}, {{2, File(2, 30)}});
  tree.CompactionCompleted(4, true, {5, 4}, {{6, File(2, 530)}});
  EXPECT_EQ(moved_share(0), 0.75 * 0.5);
  EXPECT_EQ(moved_share(1), 0.5);
}

TEST(LiveTree, EachFileOfLevel0IsARunAndEachLevel) {
  LiveTree tree;
  tree.SetFiles(0,
                {{1, File(0, 10, 100)},
                 {2, File(0, 20, 300)},
                 {3, File(0, 30, 200)},
                 {4, File(2, 400)},
                 {5, File(2, 500)},
                 {6, File(1, 60)}},
                milliseconds(1));
  const auto view = tree.ViewFor({1, false});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(KeysOfRuns(*view), Numbers({20, 30, 10, 60, 900}));
  EXPECT_EQ(view->live.key_count, 1020);
  EXPECT_EQ(view->live.filter_bytes, 2040);
  EXPECT_EQ(view->level_count, 3);
  // Nothing reports a compaction: one of CompactFiles() writes the level anew.
  EXPECT_DOUBLE_EQ(*view->run_share, 60.0 / 1020);
  EXPECT_FALSE(tree.ViewFor({3, false})->run_share.has_value());
}

// A half of the keys with 16 bits and a half without a filter are not filters
// of 8 bits: every second get passes.
TEST(LiveTree, FiltersOfARunAreToldApart) {
  LiveTree tree;
  LiveFiles files = {{1, File(2, 400)}, {2, File(2, 200)}, {3, File(2, 600)}};
  files[3].filter->size_bytes = 0;
  tree.SetFiles(0, files, milliseconds(1));
  EXPECT_EQ(tree.ViewFor({1, false})->run_bits,
            (std::vector<std::map<double, double>>{{{0, 600}, {16, 600}}}));
}

TEST(LiveTree, PlannedFiltersCountAsWrittenUntilTheyAre) {
  LiveTree tree;
  const auto filter_bytes = [&tree] {
    return tree.ViewFor({1, false})->live.filter_bytes;
  };
  LiveFiles files = {{1, File(0, 10, 100)}, {4, File(2, 400)}};
  tree.SetFiles(0, files, milliseconds(1));
  tree.PlanFilters({{4, 500}});
  EXPECT_EQ(filter_bytes(), 2 * 10 + 500);
  EXPECT_EQ(tree.ViewFor({1, false})->run_bits,
            (std::vector<std::map<double, double>>{{{16, 10}}, {{16, 400}}}));
  tree.SetFiles(0, files, milliseconds(1));
  EXPECT_EQ(filter_bytes(), 2 * 10 + 500);
  tree.CompactionCompleted(1, true, {4}, {{5, File(2, 300)}});
  EXPECT_EQ(filter_bytes(), 2 * 310);
  tree.PlanFilters({{1, 50}});
  tree.PlanFilters({});
  EXPECT_EQ(filter_bytes(), 2 * 310);
}

TEST(LiveTree, FlushesAndCompactionsAreFollowed) {
  LiveTree tree;
  tree.SetFiles(0, {}, milliseconds(1));
  tree.FlushCompleted(1, File(0, 10, 100));
  tree.FlushCompleted(2, File(0, 20, 200));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({20, 10}));
  tree.CompactionBegan(7, 1, Unread({1, 2}));
  LiveFile output = File(1, 25);
  tree.CompactionCompleted(7, true, {1, 2}, {{3, output}});
  EXPECT_EQ(KeysOfRuns(tree), Numbers({25}));
  // A moved file keeps its number.
  LiveFile moved;
  moved.level = 2;
  tree.CompactionCompleted(8, true, {3}, {{3, moved}});
  const auto view = tree.ViewFor({0, false});
  EXPECT_EQ(view->level_count, 3);
  EXPECT_EQ(view->live.filter_bytes, 50);
  // A failed compaction changes nothing.
  tree.CompactionCompleted(9, false, {3}, {});
  EXPECT_EQ(KeysOfRuns(tree), Numbers({25}));
}

// Summing up at each change would be quadratic in the number of files.
TEST(LiveTree, ManyFilesAreSummedUpOnceInAThousandthAsManyChanges) {
  LiveTree tree;
  LiveFiles files;
  for (uint64_t i = 1; i <= 2000; ++i) files[i] = File(1, 10);
  tree.SetFiles(0, files, milliseconds(0));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({20000}));
  tree.FlushCompleted(3001, File(0, 5, 1));
  tree.FlushCompleted(3002, File(0, 5, 2));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({20000}));
  tree.FlushCompleted(3003, File(0, 5, 3));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({5, 5, 5, 20000}));
  tree.SetFiles(tree.changes(), {{1, File(1, 10)}}, milliseconds(0));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({10}));
}

// Outputs in level 0 take the place of their inputs.
TEST(LiveTree, OutputsInLevel0AreAsOldAsTheirInputs) {
  LiveTree tree;
  for (uint64_t i = 1; i <= 4; ++i) {
    tree.FlushCompleted(i, File(0, 10 * i, 100 * i));
  }
  tree.CompactionCompleted(1, true, {1, 2}, {{5, File(0, 25)}});
  EXPECT_EQ(KeysOfRuns(tree), Numbers({40, 30, 25}));
}

TEST(LiveTree, EventsMayComeInAnyOrder) {
  LiveTree tree;
  tree.SetFiles(0, {{9, File(2, 90)}}, milliseconds(0));
  // The flush is reported after the compaction that took its file.
  tree.CompactionCompleted(1, true, {1}, {{2, File(1, 10)}});
  tree.FlushCompleted(1, File(0, 10, 100));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({10, 90}));
  // Two compactions are reported in reverse order.
  tree.CompactionCompleted(3, true, {4}, {{5, File(2, 5)}});
  tree.CompactionCompleted(2, true, {2}, {{4, File(2, 10)}});
  EXPECT_EQ(KeysOfRuns(tree), Numbers({95}));
  // Its output was moved before it is reported.
  tree.CompactionCompleted(5, true, {6}, {{6, File(3, 7)}});
  tree.CompactionCompleted(4, true, {}, {{6, File(2, 7)}});
  EXPECT_EQ(KeysOfRuns(tree), Numbers({95, 7}));
}

// 980 of 990 keys are written: this share of their filters is left out.
TEST(LiveTree, FiltersThatCompactionsReplaceAreLeftOut) {
  LiveTree tree;
  tree.SetFiles(0,
                {{1, File(0, 20, 200)},
                 {2, File(0, 10, 100)},
                 {3, File(1, 60)},
                 {4, File(2, 900)}},
                milliseconds(0));
  tree.CompactionBegan(1, 2, {{3, File(1, 60)}, {4, File(2, 900)}});
  tree.CompactionBegan(2, 0, {{1, File(0, 20)}});
  auto view = tree.ViewFor({2, false});
  EXPECT_EQ(KeysOfRuns(*view), Numbers({20, 10, 60, 900}));
  EXPECT_EQ(view->live.key_count, 990);
  EXPECT_EQ(view->live.written_key_count, 970);
  EXPECT_EQ(view->live.filter_bytes, 1980 - 1940);
  EXPECT_EQ(view->filter_bytes, 1980);
  tree.CompactionCompleted(1, true, {3, 4}, {{5, File(2, 960)}});
  tree.CompactionCompleted(2, false, {1}, {});
  view = tree.ViewFor({2, false});
  EXPECT_EQ(KeysOfRuns(*view), Numbers({20, 10, 960}));
  EXPECT_EQ(view->live.written_key_count, 0);
  EXPECT_EQ(view->live.filter_bytes, 1980);
}

// RocksDB starts a compaction before it reports the flush that made it due.
TEST(LiveTree, ACompactionTellsOfItsInputs) {
  LiveTree tree;
  tree.SetFiles(0, {{1, File(0, 20, 100)}, {9, File(1, 70)}}, milliseconds(0));
  tree.CompactionBegan(1, 1, {{1, File(0, 20)}, {2, File(0, 10)}});
  EXPECT_EQ(KeysOfRuns(tree), Numbers({10, 20, 70}));
  EXPECT_DOUBLE_EQ(*tree.ViewFor({1, false})->run_share, 1);
  tree.FlushCompleted(2, File(0, 10, 50));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({20, 10, 70}));
  // A file that was moved before its flush is reported stays where it is.
  tree.CompactionBegan(2, 2, {{3, File(0, 5)}});
  LiveFile moved;
  moved.level = 2;
  tree.CompactionCompleted(2, true, {3}, {{3, moved}});
  tree.FlushCompleted(3, File(0, 5, 200));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({20, 10, 70, 5}));
  // The place of a run that is made of such files must be read from a list.
  EXPECT_FALSE(tree.WantsFiles({}));
  tree.CompactionBegan(3, 0, {{4, File(0, 1)}});
  tree.CompactionCompleted(3, true, {4}, {{5, File(0, 1)}});
  EXPECT_TRUE(tree.WantsFiles(LiveTree::Clock::now() + milliseconds(1)));
}

TEST(LiveTree, AFileThatIsGoneStaysGone) {
  LiveTree tree;
  // A list had the flush's file before the flush was reported.
  tree.SetFiles(0, {{1, File(0, 10, 100)}, {9, File(2, 90)}}, milliseconds(0));
  tree.CompactionCompleted(1, true, {1}, {{2, File(1, 10)}});
  tree.FlushCompleted(1, File(0, 10, 100));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({10, 90}));
  // Another list comes in between.
  tree.CompactionCompleted(2, true, {2}, {{3, File(1, 10)}});
  tree.SetFiles(tree.changes(), {{3, File(1, 10)}, {9, File(2, 90)}},
                milliseconds(0));
  tree.FlushCompleted(2, File(0, 10, 200));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({10, 90}));
  // File 4 is reported twice: it was also moved.
  tree.CompactionCompleted(5, true, {4}, {});
  tree.FlushCompleted(4, File(0, 10, 300));
  tree.CompactionCompleted(4, true, {4}, {{4, File(1, 10)}});
  EXPECT_EQ(KeysOfRuns(tree), Numbers({10, 90}));
}

// The database was closed meanwhile and opened again with its logger.
TEST(LiveTree, ACompactionThatWasGivenUpCountsNoMore) {
  LiveTree tree;
  tree.SetFiles(0,
                {{1, File(0, 100, 1)}, {2, File(0, 100, 2)}, {3, File(1, 200)}},
                milliseconds(0));
  tree.CompactionBegan(7, 1, Unread({1, 2}));
  EXPECT_DOUBLE_EQ(*tree.ViewFor({1, false})->run_share, 1);
  tree.CompactionBegan(1, 1, Unread({1}));
  EXPECT_DOUBLE_EQ(*tree.ViewFor({1, false})->run_share, 0.75);
}

TEST(LiveTree, SharesAreOfTheRunAsItWillBe) {
  LiveTree tree;
  tree.SetFiles(0,
                {{1, File(0, 100, 1)},
                 {2, File(1, 200)},
                 {3, File(1, 300)},
                 {4, File(2, 400)}},
                milliseconds(1));
  tree.CompactionBegan(1, 1, Unread({1, 2}));
  // Files 2 and 3 are present; file 1 is added.
  EXPECT_DOUBLE_EQ(*tree.ViewFor({1, false})->run_share, 0.6);
  tree.CompactionBegan(2, 2, Unread({3}));
  EXPECT_DOUBLE_EQ(*tree.ViewFor({2, false})->run_share, 0.7);
  // The next flush counts as many keys as the last one, which had more.
  tree.FlushCompleted(5, File(0, 250, 2));
  EXPECT_DOUBLE_EQ(*tree.ViewFor({0, true})->run_share, 250.0 / 1500);
}

// Universal compactions write separate runs to level 0, one in each thread.
TEST(LiveTree, ARunInLevel0IsThatOfTheThread) {
  LiveTree tree;
  for (uint64_t i = 1; i <= 4; ++i) {
    tree.FlushCompleted(i, File(0, 100 * i, i));
  }
  tree.CompactionBegan(1, 0, Unread({1, 2}));
  std::thread([&] {
    tree.CompactionBegan(2, 0, Unread({3, 4}));
    EXPECT_DOUBLE_EQ(*tree.ViewFor({0, false})->run_share, 0.7);
  }).join();
  EXPECT_DOUBLE_EQ(*tree.ViewFor({0, false})->run_share, 0.3);
}

TEST(LiveTree, UnknownFilesAreTakenForLikeTheOthers) {
  LiveTree tree;
  LiveFile unknown = File(2, 0);
  unknown.size_bytes = 10000;
  unknown.filter.reset();
  unknown.path = "/db/000002.sst";
  tree.SetFiles(0, {{1, File(1, 50)}, {2, unknown}}, milliseconds(1));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({50, 100}));
  EXPECT_EQ(tree.ViewFor({0, false})->live.filter_bytes, 300);
  const LiveFiles taken = tree.TakeUnknown(10);
  ASSERT_EQ(taken.size(), 1);
  EXPECT_EQ(taken.at(2).path, "/db/000002.sst");
  EXPECT_TRUE(tree.TakeUnknown(10).empty());
  tree.LearnFilter(2, {300, 300, 1});
  EXPECT_EQ(KeysOfRuns(tree), Numbers({50, 300}));
}

// Hits-only trees have no filters at the bottom; filter keys may be fewer, or
// more, than entries.
TEST(LiveTree, FilesWithoutFiltersHaveAsManyKeysForEachEntry) {
  LiveTree tree;
  LiveFile with = File(1, 0);
  with.filter = FileFilter{100, 150, 200};
  LiveFile without = File(2, 0);
  without.filter = FileFilter{1000, 0, 0};
  tree.SetFiles(0, {{1, with}, {2, without}}, milliseconds(1));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({150, 1500}));
}

TEST(LiveTree, OfALevelSomeFilesAreSampledAndEachOnce) {
  LiveTree tree;
  LiveFiles files;
  constexpr size_t kFiles = LiveTree::kSampledFiles + 10;
  for (uint64_t i = 0; i < kFiles; ++i) {
    LiveFile& file = files[i];
    file.level = 1;
    file.path = "f";
    files[kFiles + i] = file;
    files[kFiles + i].level = 2;
  }
  tree.SetFiles(tree.changes(), files, milliseconds(1));
  EXPECT_EQ(tree.TakeUnknown(10).size(), 10u);
  // Files of which the list says nothing new are not sampled again.
  tree.SetFiles(tree.changes(), files, milliseconds(1));
  EXPECT_EQ(tree.TakeUnknown(1000).size(), 2 * LiveTree::kSampledFiles - 10);
  EXPECT_TRUE(tree.TakeUnknown(1000).empty());
  tree.SetFiles(tree.changes(), files, milliseconds(1));
  EXPECT_TRUE(tree.TakeUnknown(1000).empty());
}

TEST(LiveTree, AnUnknownFileThatIsMovedIsThere) {
  LiveTree tree;
  LiveFile output = File(3, 40);
  tree.CompactionCompleted(1, true, {5}, {{5, output}});
  EXPECT_EQ(KeysOfRuns(tree), Numbers({40}));
}

TEST(LiveTree, AListFromBeforeAnIngestionIsNotTaken) {
  LiveTree tree;
  const uint64_t before = tree.changes();
  tree.SetStale();
  tree.SetFiles(before, {{1, File(0, 10)}}, milliseconds(1));
  EXPECT_TRUE(KeysOfRuns(tree).empty());
}

TEST(LiveTree, AListThatIsOutOfDateIsNotTaken) {
  LiveTree tree;
  const uint64_t changes = tree.changes();
  tree.FlushCompleted(1, File(0, 10, 1));
  tree.SetFiles(changes, {}, milliseconds(0));
  EXPECT_EQ(KeysOfRuns(tree), Numbers({10}));
  tree.SetFiles(tree.changes(), {}, milliseconds(0));
  EXPECT_TRUE(KeysOfRuns(tree).empty());
}

TEST(LiveTree, ListsAreWantedSeldom) {
  LiveTree tree;
  const auto start = LiveTree::Clock::now();
  EXPECT_TRUE(tree.WantsFiles(start));
  EXPECT_FALSE(tree.WantsFiles(start));  // Another thread reads one.
  tree.SetFiles(0, {}, milliseconds(10));
  const auto after = LiveTree::Clock::now();
  EXPECT_FALSE(tree.WantsFiles(after + std::chrono::seconds(30)));
  EXPECT_TRUE(tree.WantsFiles(after + std::chrono::seconds(61)));
  tree.SetFiles(0, {}, milliseconds(10));
  tree.SetStale();
  // At most a thousandth of the time is spent on lists.
  const auto later = LiveTree::Clock::now();
  EXPECT_FALSE(tree.WantsFiles(later + std::chrono::seconds(8)));
  EXPECT_TRUE(tree.WantsFiles(later + std::chrono::seconds(11)));
}

TEST(LiveTree, FiltersOfTablePropertiesLeaveOutRangeTombstones) {
  rdb::TableProperties properties;
  properties.num_entries = 100;
  properties.num_range_deletions = 10;
  properties.num_filter_entries = 120;
  EXPECT_EQ(FileFilter::Of(properties).key_count, 0);
  properties.filter_size = 200;
  const FileFilter filter = FileFilter::Of(properties);
  EXPECT_EQ(filter.entry_count, 90);
  EXPECT_EQ(filter.key_count, 120);
  EXPECT_EQ(filter.size_bytes, 200);
}

class NoLogger : public rdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

DatabaseId IdOf(const std::shared_ptr<NoLogger>& logger,
                const std::string& name = "") {
  return {logger.get(), name};
}

TEST(LiveTrees, AreKnownByLoggerAndColumnFamily) {
  const auto logger = std::make_shared<NoLogger>();
  const auto other = std::make_shared<NoLogger>();
  EXPECT_EQ(LiveTrees::Find(IdOf(logger), "default"), nullptr);
  const auto tree = LiveTrees::FindOrAdd(IdOf(logger), logger, "default");
  EXPECT_EQ(LiveTrees::FindOrAdd(IdOf(logger), logger, "default"), tree);
  EXPECT_EQ(LiveTrees::Find(IdOf(logger), "default"), tree);
  EXPECT_EQ(LiveTrees::Find(IdOf(logger), "other"), nullptr);
  EXPECT_EQ(LiveTrees::Find(IdOf(other), "default"), nullptr);
  tree->FlushCompleted(1, File(0, 10));
  EXPECT_EQ(LiveTrees::Changes(IdOf(logger)).at("default"), 1);
}

TEST(LiveTrees, ALoggerOfTwoDatabasesLeadsToTheTreeOfEach) {
  const auto logger = std::make_shared<NoLogger>();
  const auto one =
      LiveTrees::FindOrAdd(IdOf(logger, "/one"), logger, "default");
  const auto two =
      LiveTrees::FindOrAdd(IdOf(logger, "/two"), logger, "default");
  EXPECT_NE(one, two);
  EXPECT_EQ(LiveTrees::Find(IdOf(logger, "/one"), "default"), one);
  EXPECT_EQ(LiveTrees::Find(IdOf(logger, "/two"), "default"), two);
  one->FlushCompleted(1, File(0, 10));
  EXPECT_EQ(LiveTrees::Changes(IdOf(logger, "/two")).at("default"), 0);
  LiveTrees::KeepOnly(IdOf(logger, "/two"), {});
  EXPECT_EQ(LiveTrees::Find(IdOf(logger, "/one"), "default"), one);
  EXPECT_EQ(LiveTrees::Find(IdOf(logger, "/two"), "default"), nullptr);
}

TEST(LiveTrees, ColumnFamiliesShareACacheUntilTheyAreKnownToHaveTwo) {
  const auto logger = std::make_shared<NoLogger>();
  const int caches[2] = {};
  const auto share = [&](const std::string& family, int cache) {
    return LiveTrees::ShareOf(IdOf(logger), family, &caches[cache]);
  };
  LiveTrees::FindOrAdd(IdOf(logger), logger, "small")
      ->FlushCompleted(1, File(0, 10));
  LiveTrees::FindOrAdd(IdOf(logger), logger, "large")
      ->FlushCompleted(2, File(0, 30));
  EXPECT_EQ(share("small", 0), 0.25);
  EXPECT_EQ(share("large", 0), 0.75);
  EXPECT_EQ(share("large", 1), 1);
  EXPECT_EQ(share("small", 0), 1);
}

// FilterBuildingContext as in RocksDB up to 11.8, and with RocksDB's pull
// request 15085.
struct ContextWithoutName {
  rdb::Logger* info_log = nullptr;
};
struct ContextWithName {
  rdb::Logger* info_log = nullptr;
  rdb::Slice db_name;
};

template <typename Context>
bool PolicyFindsTheTreeOfTheListener(Context context) {
  const auto logger = std::make_shared<NoLogger>();
  context.info_log = logger.get();
  const auto tree = LiveTrees::FindOrAdd(
      OpenDatabase<Context>(logger.get(), "/one"), logger, "default");
  return LiveTrees::Find(DatabaseOf(context), "default") == tree;
}

TEST(DatabaseId, ListenerAndPolicyAgreeInBothLayoutsOfTheContext) {
  EXPECT_TRUE(PolicyFindsTheTreeOfTheListener(ContextWithoutName()));
  // Not terminated by a NUL.
  const rdb::Slice name("/one/two", 4);
  EXPECT_TRUE(PolicyFindsTheTreeOfTheListener(ContextWithName{nullptr, name}));
  EXPECT_FALSE(
      PolicyFindsTheTreeOfTheListener(ContextWithName{nullptr, "/two"}));
}

TEST(LiveTrees, ColumnFamiliesThatWereDroppedAreForgotten) {
  const auto logger = std::make_shared<NoLogger>();
  const auto find_or_add = [&](const std::string& name,
                               std::optional<uint32_t> id = std::nullopt) {
    return LiveTrees::FindOrAdd(IdOf(logger), logger, name, id);
  };
  const auto one = find_or_add("one", 1);
  EXPECT_EQ(find_or_add("one"), one);
  EXPECT_EQ(find_or_add("one", 1), one);
  const auto again = find_or_add("one", 2);
  EXPECT_NE(again, one);
  const auto other = find_or_add("other");
  LiveTrees::KeepOnly(IdOf(logger), {"one"});
  EXPECT_EQ(LiveTrees::Find(IdOf(logger), "one"), again);
  EXPECT_EQ(LiveTrees::Find(IdOf(logger), "other"), nullptr);
}

TEST(LiveTrees, AreForgottenWithTheLogger) {
  auto logger = std::make_shared<NoLogger>();
  const DatabaseId id = IdOf(logger);
  std::weak_ptr<LiveTree> tree = LiveTrees::FindOrAdd(id, logger, "default");
  logger.reset();
  EXPECT_EQ(LiveTrees::Find(id, "default"), nullptr);
  const auto other = std::make_shared<NoLogger>();
  LiveTrees::FindOrAdd(IdOf(other), other, "default");
  EXPECT_TRUE(tree.expired());
}

// ThreadSanitizer checks this test.
TEST(LiveTree, ThreadsMayTellAndAskAtOnce) {
  LiveTree tree;
  std::vector<std::thread> threads;
  for (uint64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 200; ++i) {
        const uint64_t number = 1000 * t + 2 * i;
        tree.FlushCompleted(number, File(0, 10, number));
        tree.CompactionBegan(static_cast<int>(number), 1, Unread({number}));
        tree.ViewFor({1, false});
        tree.CompactionCompleted(static_cast<int>(number), true, {number},
                                 {{number + 1, File(1, 10)}});
        tree.SetFiles(0, {}, milliseconds(0));  // Outdated: ignored.
        tree.LearnFilter(number + 1, {10, 10, 20});
        tree.TakeUnknown(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(KeysOfRuns(tree), Numbers({8000}));
}

}  // namespace
}  // namespace rowbloom::plugin
