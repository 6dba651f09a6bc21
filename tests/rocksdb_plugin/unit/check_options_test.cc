// SPDX-License-Identifier: Apache-2.0
//
// db_seek_trap_test.cc shows the rows that each refused combination would lose.

#include <strings.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rdb.h"
#include "rocksdb/cache.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/rocksdb_release.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_budget.h"
#include "rowbloom/rocksdb_composed.h"
#include "verify/partitions.h"

namespace rowbloom {
namespace {

using rdb::BlockBasedTableOptions;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Case {
  RocksDbOptions filter;
  RocksDbOptions extractor;
  BlockBasedTableOptions table;
  rdb::ColumnFamilyOptions options;

  Case() {
    filter.key_codec = extractor.key_codec = KeyCodec::Ordered();
    filter.filter_spec = FilterSpec::BitsPerKey("blocked_bloom", 10);
    SetType(BloomType::kRowCol);
  }
  void SetType(BloomType type) {
    filter.bloom_type = extractor.bloom_type = type;
    table.filter_policy = NewRocksDbFilterPolicy(filter);
    options.prefix_extractor = NewRowPrefixExtractor(extractor);
  }
  rdb::Status Check(std::vector<std::string>* warnings = nullptr) {
    options.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
    return CheckRocksDbOptions(options, warnings);
  }
  std::vector<std::string> Warnings() {
    std::vector<std::string> warnings = {"of an earlier call"};
    EXPECT_TRUE(Check(&warnings).ok());
    return warnings;
  }
};

#define EXPECT_REFUSED(status, ...)                                 \
  do {                                                              \
    const rdb::Status refused = (status);                           \
    EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString(); \
    EXPECT_THAT(refused.ToString(), AllOf(__VA_ARGS__));            \
  } while (false)

TEST(CheckOptions, AdmitsThePairsThatBelongTogether) {
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const KeyCodec& codec : {KeyCodec::Ordered(), KeyCodec::FixedRow(8),
                                  KeyCodec::Delimiter('|')}) {
      Case c;
      c.filter.key_codec = c.extractor.key_codec = codec;
      c.SetType(type);
      EXPECT_TRUE(c.Check().ok()) << c.Check().ToString();
    }
  }
}

TEST(CheckOptions, AdmitsOptionsThatDoNotConcernUs) {
  EXPECT_TRUE(CheckRocksDbOptions(rdb::ColumnFamilyOptions()).ok());
  Case c;
  c.table.filter_policy.reset(rdb::NewBloomFilterPolicy(10));
  c.options.prefix_extractor.reset(rdb::NewFixedPrefixTransform(4));
  c.options.memtable_prefix_bloom_size_ratio = 0.1;
  EXPECT_TRUE(c.Check().ok());
}

TEST(CheckOptions, AdmitsGetsWithoutAnExtractor) {
  Case c;
  c.options.prefix_extractor.reset();
  c.options.memtable_whole_key_filtering = true;
  c.options.memtable_prefix_bloom_size_ratio = 0.1;
  EXPECT_TRUE(c.Check().ok());
}

TEST(CheckOptions, RefusesAFilterThatIsNeverFed) {
  Case c;
  c.table.whole_key_filtering = false;
  c.options.prefix_extractor.reset();
  EXPECT_REFUSED(c.Check(), HasSubstr("whole_key_filtering"),
                 HasSubstr("prefix_extractor"));
}

TEST(CheckOptions, RefusesTablesWithoutChecksums) {
  Case c;
  c.table.checksum = rdb::kNoChecksum;
  EXPECT_THAT(c.Check().ToString(),
              AllOf(HasSubstr("kNoChecksum"), HasSubstr("choose any other")));
}

TEST(CheckOptions, RefusesRowColWithoutWholeKeys) {
  Case c;
  c.table.whole_key_filtering = false;
  EXPECT_REFUSED(c.Check(), HasSubstr("whole_key_filtering"),
                 HasSubstr("bloom_type=ROW"));
  c.SetType(BloomType::kRow);
  EXPECT_TRUE(c.Check().ok());
}

TEST(CheckOptions, RefusesMemtablePrefixBloomWithTheRowColExtractor) {
  Case c;
  c.options.memtable_prefix_bloom_size_ratio = 0.1;
  for (bool whole : {false, true}) {
    c.options.memtable_whole_key_filtering = whole;
    EXPECT_REFUSED(c.Check(), HasSubstr("memtable_prefix_bloom_size_ratio"),
                   HasSubstr("rowbloom.RowPrefix:ROW"));
  }
  c.SetType(BloomType::kRow);
  EXPECT_TRUE(c.Check().ok());
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1102
TEST(CheckOptions, RefusesReadsThatWriteTombstones) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    Case c;
    c.SetType(type);
    c.options.min_tombstones_for_range_conversion = 8;
    EXPECT_REFUSED(c.Check(), HasSubstr("min_tombstones_for_range_conversion"),
                   HasSubstr("set it to 0"));
    c.options.min_tombstones_for_range_conversion = 0;
    EXPECT_TRUE(c.Check().ok()) << c.Check().ToString();
  }
}
#endif

TEST(CheckOptions, RefusesHashMemtables) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    Case c;
    c.SetType(type);
    c.options.memtable_factory.reset(rdb::NewHashSkipListRepFactory());
    EXPECT_REFUSED(c.Check(), HasSubstr("memtable_factory HashSkipList"),
                   HasSubstr("use SkipListFactory"));
    c.options.memtable_factory.reset(rdb::NewHashLinkListRepFactory());
    EXPECT_REFUSED(c.Check(), HasSubstr("memtable_factory HashLinkList"));
  }
}

TEST(CheckOptions, WarnsOfKeyLevelsThatNoExtractorAsksFor) {
  Case c;
  EXPECT_THAT(c.Warnings(), IsEmpty());
  c.options.prefix_extractor = nullptr;  // As RocksDB leaves a misspelt one.
  EXPECT_THAT(c.Warnings(), ElementsAre(HasSubstr("prefix_extractor is null")));
  c.filter = {};
  c.table.filter_policy = NewRocksDbFilterPolicy(c.filter);
  EXPECT_THAT(c.Warnings(), IsEmpty());
}

TEST(CheckOptions, RefusesOtherTablesWithTheRowColExtractor) {
  Case c;
  c.Check();
  c.options.table_factory.reset(rdb::NewPlainTableFactory());
  EXPECT_REFUSED(CheckRocksDbOptions(c.options), HasSubstr("table_factory"));
}

TEST(CheckOptions, RefusesHashIndexes) {
  Case c;
  c.SetType(BloomType::kRow);
  c.table.index_type = BlockBasedTableOptions::kHashSearch;
  EXPECT_REFUSED(c.Check(), HasSubstr("kHashSearch: SeekForPrev loses keys"),
                 HasSubstr("use kBinarySearch"));
  // The extractor alone, or the policy alone, is refused, too.
  Case other = c;
  other.table.filter_policy.reset();
  EXPECT_REFUSED(other.Check(), HasSubstr("kHashSearch"));
  other = c;
  other.options.prefix_extractor.reset(rdb::NewFixedPrefixTransform(4));
  EXPECT_REFUSED(other.Check(), HasSubstr("kHashSearch"));
  other.table.filter_policy = NewRocksDbComposedPolicy({});
  EXPECT_REFUSED(other.Check(), HasSubstr("kHashSearch"));
  other.table.filter_policy.reset();
  EXPECT_TRUE(other.Check().ok()) << "does not concern us";
}

TEST(CheckOptions, AdmitsComposedModeWithTheRowExtractorOnly) {
  Case c;
  c.table.filter_policy = NewRocksDbComposedPolicy({});
  EXPECT_REFUSED(c.Check(), HasSubstr("rowbloom.Composed"),
                 HasSubstr("use rowbloom, or rowbloom.RowPrefix:ROW"));
  c.extractor.bloom_type = BloomType::kRow;
  c.options.prefix_extractor = NewRowPrefixExtractor(c.extractor);
  EXPECT_TRUE(c.Check().ok()) << c.Check().ToString();
}

TEST(CheckOptions, RefusesComposedModeWhereRocksDbsFiltersLoseRows) {
  Case composed;
  composed.table.filter_policy = NewRocksDbComposedPolicy({});
  composed.extractor.bloom_type = BloomType::kRow;
  composed.options.prefix_extractor = NewRowPrefixExtractor(composed.extractor);

  Case c = composed;
  c.table.checksum = rdb::kNoChecksum;
  EXPECT_REFUSED(c.Check(), HasSubstr("kNoChecksum"),
                 HasSubstr("rowbloom.Composed"));
  c = composed;
  c.table.whole_key_filtering = false;
  EXPECT_TRUE(c.Check().ok()) << c.Check().ToString();
  c.table.partition_filters = true;
  c.table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  if (testing::kRocksDbRelease < 905) {
    EXPECT_REFUSED(c.Check(), HasSubstr("SeekForPrev"),
                   HasSubstr("partition_filters=false"));
  } else {
    EXPECT_TRUE(c.Check().ok()) << c.Check().ToString();
  }
  c.table.partition_filters = false;
  c.options.prefix_extractor.reset();
  EXPECT_REFUSED(c.Check(), HasSubstr("rowbloom.Composed is never fed"));
}

TEST(CheckOptions, RefusesAnotherFilterPolicyWithTheRowColExtractor) {
  Case c;
  c.table.filter_policy.reset(rdb::NewBloomFilterPolicy(10));
  EXPECT_REFUSED(c.Check(), HasSubstr("filter_policy"), HasSubstr("rowbloom"));
  c.SetType(BloomType::kRow);
  c.table.filter_policy.reset(rdb::NewBloomFilterPolicy(10));
  EXPECT_TRUE(c.Check().ok());
}

TEST(CheckOptions, RefusesAnExtractorOfAnotherCodec) {
  Case c;
  c.extractor.key_codec = KeyCodec::FixedRow(8);
  c.options.prefix_extractor = NewRowPrefixExtractor(c.extractor);
  EXPECT_REFUSED(c.Check(), HasSubstr("fixed:8"), HasSubstr("ordered"));
}

TEST(CheckOptions, RefusesAnExtractorThatAsksForColumnsOfARowFilter) {
  Case c;
  c.filter.bloom_type = BloomType::kRow;
  c.table.filter_policy = NewRocksDbFilterPolicy(c.filter);
  EXPECT_REFUSED(c.Check(), HasSubstr("bloom_type=ROW"),
                 HasSubstr("rowbloom.RowPrefix:ROWCOL"));
}

// Other refusals name this combination as the remedy.
TEST(CheckOptions, AdmitsTheRowExtractorWithRowColFilters) {
  Case c;
  c.extractor.bloom_type = BloomType::kRow;
  c.options.prefix_extractor = NewRowPrefixExtractor(c.extractor);
  c.options.memtable_prefix_bloom_size_ratio = 0.1;
  EXPECT_TRUE(c.Check().ok()) << c.Check().ToString();
}

// Treats upper and lower case as equal.
class CaseBlindComparator : public rdb::Comparator {
 public:
  const char* Name() const override { return "case blind"; }
  int Compare(const rdb::Slice& a, const rdb::Slice& b) const override {
    return strcasecmp(a.ToString().c_str(), b.ToString().c_str());
  }
  void FindShortestSeparator(std::string*, const rdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// Its timestamps are the last eight bytes of a key.
class TimestampComparator : public rdb::Comparator {
 public:
  explicit TimestampComparator(bool may_be_equal)
      : rdb::Comparator(8), may_be_equal_(may_be_equal) {}
  const char* Name() const override { return "own timestamps"; }
  int Compare(const rdb::Slice& a, const rdb::Slice& b) const override {
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const rdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override {
    return may_be_equal_;
  }

 private:
  const bool may_be_equal_;
};

TEST(CheckOptions, RefusesHashesInDataBlocksWithTimestampsOfOnesOwn) {
  const TimestampComparator comparator(/*may_be_equal=*/false);
  Case c;
  c.options.comparator = &comparator;
  EXPECT_TRUE(c.Check().ok()) << c.Check().ToString();
  c.table.data_block_index_type =
      BlockBasedTableOptions::kDataBlockBinaryAndHash;
  EXPECT_REFUSED(c.Check(), HasSubstr("kDataBlockBinaryAndHash"),
                 HasSubstr("own timestamps"),
                 HasSubstr("use kDataBlockBinarySearch"));
  // RocksDB does not use the hashes with its own.
  ASSERT_TRUE(rdb::Comparator::CreateFromString(
                  rdb::ConfigOptions(), "leveldb.BytewiseComparator.u64ts",
                  &c.options.comparator)
                  .ok());
  EXPECT_TRUE(c.Check().ok()) << c.Check().ToString();
}

TEST(CheckOptions, RefusesComparatorsThatCallDifferentBytesEqual) {
  const CaseBlindComparator comparator;
  Case c;
  c.options.comparator = &comparator;
  EXPECT_REFUSED(c.Check(), HasSubstr("case blind"),
                 HasSubstr("CanKeysWithDifferentByteContentsBeEqual"));
}

TEST(CheckOptions, AdmitsRocksDbsOwnComparators) {
  Case c;
  for (const char* name :
       {"leveldb.BytewiseComparator", "rocksdb.ReverseBytewiseComparator",
        "leveldb.BytewiseComparator.u64ts"}) {
    ASSERT_TRUE(rdb::Comparator::CreateFromString(rdb::ConfigOptions(), name,
                                                  &c.options.comparator)
                    .ok());
    EXPECT_TRUE(c.Check().ok()) << name;
  }
}

// --- Warnings ----------------------------------------------------------------

// At 10 bits per key, 64 MiB of entries of 160 bytes need 512 KiB of filter,
// the size of a shard of this cache.
Case WholeFiltersInASmallCache() {
  Case c;
  c.table.cache_index_and_filter_blocks = true;
  c.table.block_cache = rdb::NewLRUCache(8 << 20, /*num_shard_bits=*/4);
  c.options.target_file_size_base = 64 << 20;
  return c;
}

TEST(CheckOptions, WarnsOfFiltersThatOutgrowAShardOfTheBlockCache) {
  Case c = WholeFiltersInASmallCache();
  EXPECT_THAT(
      c.Warnings(),
      ElementsAre(
          AllOf(HasSubstr("cache_index_and_filter_blocks=true"),
                HasSubstr("target_file_size_base 67108864"),
                HasSubstr("entries take less than 160 bytes"),
                HasSubstr("10 bits per key"), HasSubstr("(524288 bytes, of a"),
                HasSubstr("capacity of 8388608"),
                HasSubstr("partition_filters=true with index_type=kTwoLevel"),
                HasSubstr("unpartitioned_pinning=kAll"),
                HasSubstr("cache_index_and_filter_blocks=false"))));
  // The largest SSTs are those of the last level, the sixth below the first.
  c.options.target_file_size_base = 2 << 20;
  c.options.target_file_size_multiplier = 2;
  EXPECT_THAT(c.Warnings(), ElementsAre(HasSubstr("less than 160 bytes")));
  c.options.optimize_filters_for_hits = true;
  EXPECT_THAT(c.Warnings(), ElementsAre(HasSubstr("less than 80 bytes")));
}

TEST(CheckOptions, WarnsOfWholeFiltersOfEachPolicy) {
  Case c = WholeFiltersInASmallCache();
  c.SetType(BloomType::kRow);
  c.filter.filter_spec = FilterSpec::TargetFpr("compact", 0.001);
  c.table.filter_policy = NewRocksDbFilterPolicy(c.filter);
  EXPECT_EQ(c.Warnings().size(), 1);
  c.filter.filter_spec = FilterSpec::BitsPerKey("compact", 10);
  c.filter.budget = BudgetMode::kBalanced;
  c.filter.budget_bits_per_key = 5;
  c.table.filter_policy = NewRocksDbFilterPolicy(c.filter);
  EXPECT_THAT(c.Warnings(), ElementsAre(HasSubstr("5 bits per key")));
  RocksDbComposedOptions composed;
  composed.bits_per_key = 20;
  c.table.filter_policy = NewRocksDbComposedPolicy(composed);
  EXPECT_THAT(c.Warnings(), ElementsAre(HasSubstr("less than 320 bytes")));
  c.table.filter_policy.reset(rdb::NewBloomFilterPolicy(10));
  EXPECT_THAT(c.Warnings(), ElementsAre(HasSubstr("less than 160 bytes")));
}

// RocksDB drops a policy whose name it does not know without an error.
TEST(CheckOptions, WarnsOfTablesWithoutAFilterPolicy) {
  Case c;
  c.SetType(BloomType::kRow);
  c.table.filter_policy.reset();
  EXPECT_THAT(c.Warnings(),
              ElementsAre(AllOf(HasSubstr("filter_policy is nullptr"),
                                HasSubstr("ParseRocksDbFilterPolicy"))));
}

TEST(CheckOptions, WarnsOfTablesWhosePolicyItCannotSee) {
  rdb::ColumnFamilyOptions options;
  options.table_factory.reset(rdb::NewAdaptiveTableFactory());
  std::vector<std::string> warnings;
  EXPECT_TRUE(CheckRocksDbOptions(options, &warnings).ok());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("was not checked")));
}

TEST(CheckOptions, WarnsOfABudgetThatRemoteWorkersCannotSpend) {
  class NoService final : public rdb::CompactionService {
   public:
    const char* Name() const override { return "NoService"; }
  };
  BlockBasedTableOptions table;
  ASSERT_TRUE(ParseRocksDbFilterPolicy("{id=rowbloom;budget=balanced}",
                                       &table.filter_policy)
                  .ok());
  rdb::Options options;
  options.target_file_size_base = 1 << 20;
  options.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
  options.listeners.push_back(NewRocksDbBudgetListener());
  std::vector<std::string> warnings;
  EXPECT_TRUE(CheckRocksDbOptions(options, &warnings).ok());
  EXPECT_THAT(warnings, IsEmpty());
  options.compaction_service = std::make_shared<NoService>();
  EXPECT_TRUE(CheckRocksDbOptions(options, &warnings).ok());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("remote workers")));
}

TEST(CheckOptions, DoesNotWarnWhereFiltersAreNotReadWholeOrFitTheCache) {
  using Edit = void (*)(Case*);
  const Edit edits[] = {
      [](Case* c) { c->table.cache_index_and_filter_blocks = false; },
      [](Case* c) {
        c->table.partition_filters = true;
        c->table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
        c->table.metadata_cache_options.partition_pinning =
            rdb::PinningTier::kAll;
      },
      [](Case* c) {
        c->table.metadata_cache_options.unpartitioned_pinning =
            rdb::PinningTier::kAll;
      },
      [](Case* c) { c->table.block_cache = rdb::NewLRUCache(64 << 20, 4); },
      [](Case* c) { c->options.target_file_size_base = 8 << 20; },
      // No option limits the size of its SSTs.
      [](Case* c) { c->options.compaction_style = rdb::kCompactionStyleFIFO; },
  };
  for (const Edit edit : edits) {
    Case c = WholeFiltersInASmallCache();
    c.SetType(BloomType::kRow);
    ASSERT_EQ(c.Warnings().size(), 1);
    edit(&c);
    EXPECT_THAT(c.Warnings(), IsEmpty()) << &edit - edits;
  }
  // RocksDB's pinning of files at level 0 leaves the last level evictable, and
  // RocksDB partitions no filter without a two-level index.
  Case c = WholeFiltersInASmallCache();
  c.table.pin_l0_filter_and_index_blocks_in_cache = true;
  c.table.partition_filters = true;
  EXPECT_EQ(c.Warnings().size(), 1);
}

Case Partitions() {
  Case c;
  c.SetType(BloomType::kRow);
  c.table.cache_index_and_filter_blocks = true;
  c.table.partition_filters = true;
  c.table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  c.table.block_cache = rdb::NewLRUCache(1 << 30);  // For whole filters, too.
  return c;
}

TEST(CheckOptions, WarnsOfPartitionsByRelease) {
  Case c = Partitions();
  // Level 0 alone is pinned.
  c.table.pin_l0_filter_and_index_blocks_in_cache = true;
  const auto warnings = [&](int release) {
    return plugin::WarnOfPartitions(c.options, c.table, release);
  };
  const auto large =
      AllOf(HasSubstr("78 to 94 KB where"),
            HasSubstr("metadata_block_size is 4096 here"),
            HasSubstr("set metadata_cache_options.partition_pinning=kAll"));
  const auto unkept =
      AllOf(HasSubstr("ReadOptions::fill_cache=false"),
            HasSubstr("set metadata_cache_options.partition_pinning=kAll"));
  EXPECT_THAT(warnings(710), ElementsAre(large));
  EXPECT_THAT(warnings(800), ElementsAre(unkept, large));
  EXPECT_THAT(warnings(905), ElementsAre(unkept, large));
  EXPECT_THAT(warnings(906), ElementsAre(unkept));
  EXPECT_EQ(c.Warnings(), warnings(testing::kRocksDbRelease));
  c.table.whole_key_filtering = false;
  EXPECT_THAT(warnings(710), IsEmpty());
  EXPECT_THAT(warnings(905), ElementsAre(unkept));
  c.table.filter_policy.reset(rdb::NewBloomFilterPolicy(10));
  EXPECT_THAT(warnings(905), ElementsAre(unkept));
}

TEST(CheckOptions, WarnsOfPartitionsThatNoCacheKeeps) {
  Case c = Partitions();
  c.table.block_cache = rdb::NewLRUCache(0);
  EXPECT_THAT(c.Warnings(),
              ElementsAre(AllOf(HasSubstr("a block_cache of 0 bytes: each"),
                                HasSubstr("partition_filters=false"))));
  c.table.no_block_cache = true;
  c.table.block_cache = nullptr;
  c.table.metadata_cache_options.partition_pinning = rdb::PinningTier::kAll;
  EXPECT_THAT(c.Warnings(), ElementsAre(HasSubstr("no_block_cache: each")));
  c.table.partition_filters = false;
  EXPECT_THAT(c.Warnings(), IsEmpty());
}

TEST(CheckOptions, WarnsOfABudgetThatCannotBeSpent) {
  Case c;
  RocksDbOptions filter;
  filter.auto_bits = true;
  c.options.prefix_extractor = nullptr;
  c.table.filter_policy = NewRocksDbFilterPolicy(filter);
  EXPECT_THAT(c.Warnings(), IsEmpty());
  c.options.optimize_filters_for_hits = true;
  EXPECT_THAT(c.Warnings(),
              ElementsAre(HasSubstr("optimize_filters_for_hits=false")));
  filter.budget_bytes = 10;  // MB, he thought.
  c.table.filter_policy = NewRocksDbFilterPolicy(filter);
  EXPECT_THAT(c.Warnings(), ElementsAre(HasSubstr("budget_bytes 10: it is in "
                                                  "bytes")));
  RocksDbComposedOptions composed;
  c.table.filter_policy = NewRocksDbComposedPolicy(composed);
  EXPECT_THAT(c.Warnings(),
              ElementsAre(HasSubstr("optimize_filters_for_hits=false")));
  composed.budget = BudgetMode::kHitsOnly;
  c.table.filter_policy = NewRocksDbComposedPolicy(composed);
  EXPECT_THAT(c.Warnings(), IsEmpty());
}

TEST(CheckOptions, WarnsOfATopLevelIndexThatNobodyPins) {
  Case c = Partitions();
  c.options.prefix_extractor.reset();
  c.table.filter_policy = NewRocksDbFilterPolicy({});
  EXPECT_THAT(c.Warnings(), IsEmpty());
  c.table.pin_top_level_index_and_filter = false;
  const auto unpinned = HasSubstr("set metadata_cache_options.top_level_index");
  EXPECT_THAT(c.Warnings(), ElementsAre(unpinned));
  c.table.metadata_cache_options.top_level_index_pinning =
      rdb::PinningTier::kAll;
  EXPECT_THAT(c.Warnings(), IsEmpty());
  c.table.metadata_cache_options.top_level_index_pinning =
      rdb::PinningTier::kFlushedAndSimilar;
  EXPECT_THAT(c.Warnings(), ElementsAre(unpinned));
  // Table readers hold it.
  c.table.cache_index_and_filter_blocks = false;
  EXPECT_THAT(c.Warnings(), IsEmpty());
}

TEST(CheckOptions, DoesNotWarnOfPartitionsThatArePinnedOrThatNoScanAsks) {
  using Edit = void (*)(Case*);
  const Edit edits[] = {
      [](Case* c) {
        c->table.metadata_cache_options.partition_pinning =
            rdb::PinningTier::kAll;
      },
      [](Case* c) {
        c->options.prefix_extractor.reset();
        c->table.filter_policy = NewRocksDbFilterPolicy({});
      },
      [](Case* c) { c->table.partition_filters = false; },
      // RocksDB has no partitions then.
      [](Case* c) {
        c->table.index_type = BlockBasedTableOptions::kBinarySearch;
      },
  };
  for (const Edit& edit : edits) {
    Case c = Partitions();
    edit(&c);
    EXPECT_THAT(c.Warnings(), IsEmpty()) << &edit - edits;
    for (const int release : {708, 905, 1109}) {
      EXPECT_THAT(
          plugin::WarnOfPartitions(
              c.options,
              *c.options.table_factory->GetOptions<BlockBasedTableOptions>(),
              release),
          IsEmpty())
          << &edit - edits;
    }
  }
}

TEST(CheckOptions, WarnsOfComparatorsUnderWhichRowsCannotBeScanned) {
  Case c;
  c.options.comparator = rdb::ReverseBytewiseComparator();
  EXPECT_THAT(c.Warnings(),
              ElementsAre(AllOf(HasSubstr("comparator rocksdb.ReverseBytewise"),
                                HasSubstr("RocksDbRows refuses to scan"))));
  Case extractor_alone = c;
  extractor_alone.SetType(BloomType::kRow);
  extractor_alone.table.filter_policy.reset(rdb::NewBloomFilterPolicy(10));
  EXPECT_EQ(extractor_alone.Warnings().size(), 1);
  Case whole_keys = c;
  whole_keys.options.prefix_extractor.reset();
  whole_keys.table.filter_policy = NewRocksDbFilterPolicy({});
  EXPECT_THAT(whole_keys.Warnings(), IsEmpty());
  c.options.comparator = rdb::BytewiseComparator();
  EXPECT_THAT(c.Warnings(), IsEmpty());
}

TEST(CheckOptions, ErrorsAndWarningsAreGivenTogether) {
  Case c = WholeFiltersInASmallCache();
  c.table.checksum = rdb::kNoChecksum;
  std::vector<std::string> warnings;
  EXPECT_TRUE(c.Check(&warnings).IsInvalidArgument());
  EXPECT_EQ(warnings.size(), 1);
}

TEST(CheckOptions, ABudgetNeedsAListenerAndAutoBitsNeedStatistics) {
  const auto check = [](const std::string& policy, bool listens, bool counts,
                        std::vector<std::string>* warnings) {
    BlockBasedTableOptions table;
    EXPECT_TRUE(ParseRocksDbFilterPolicy(policy, &table.filter_policy).ok());
    rdb::Options options;
    options.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
    if (listens) options.listeners.push_back(NewRocksDbBudgetListener());
    if (counts) options.statistics = rdb::CreateDBStatistics();
    return CheckRocksDbOptions(options, warnings);
  };
  std::vector<std::string> warnings;
  for (const char* policy : {"rowbloom:auto", "rowbloom.Composed:auto",
                             "{id=rowbloom;auto_bits=true}"}) {
    EXPECT_REFUSED(check(policy, false, true, &warnings),
                   HasSubstr("listeners={rowbloom.BudgetListener}"));
    EXPECT_TRUE(check(policy, true, true, &warnings).ok());
    EXPECT_THAT(warnings, IsEmpty());
    EXPECT_TRUE(check(policy, true, false, &warnings).ok());
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("statistics is nullptr")));
  }
  for (const char* option : {"budget_bytes=1000", "budget=hits_only"}) {
    const std::string policy = absl::StrCat("{id=rowbloom;", option, "}");
    EXPECT_REFUSED(check(policy, false, false, &warnings),
                   HasSubstr(" without a listener"));
  }
  EXPECT_TRUE(
      check("{id=rowbloom;budget_bytes=10000}", true, false, &warnings).ok());
  EXPECT_THAT(warnings, IsEmpty());
  for (const char* policy :
       {"{id=rowbloom;budget=balanced}", "{id=rowbloom;missing_share=0.9}",
        "rowbloom.Composed:8"}) {
    EXPECT_TRUE(check(policy, false, false, &warnings).ok());
    EXPECT_THAT(warnings,
                ElementsAre(AllOf(HasSubstr("with a budget without a listener"),
                                  HasSubstr("budget=fixed"))));
    EXPECT_TRUE(check(policy, true, false, &warnings).ok());
    EXPECT_THAT(warnings, IsEmpty()) << policy;
  }
  for (const char* policy :
       {"rowbloom", "rowbloom:10", "bloomfilter:10",
        "{id=rowbloom;budget=fixed}", "{id=rowbloom.Composed;budget=fixed}"}) {
    EXPECT_TRUE(check(policy, false, false, &warnings).ok());
    EXPECT_THAT(warnings, IsEmpty()) << policy;
  }
}

TEST(CheckOptions, WarnsOfAutoBitsThatDoNotFollowTheGets) {
  BlockBasedTableOptions table;
  ASSERT_TRUE(
      ParseRocksDbFilterPolicy("rowbloom:auto", &table.filter_policy).ok());
  std::vector<std::string> warnings;
  const auto check = [&] {
    rdb::ColumnFamilyOptions options;
    options.target_file_size_base = 1 << 20;
    options.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
    EXPECT_TRUE(CheckRocksDbOptions(options, &warnings).ok());
  };
  check();
  EXPECT_THAT(warnings, IsEmpty()) << "table readers hold the filters";
  table.block_cache = rdb::NewLRUCache(64 << 20);
  table.cache_index_and_filter_blocks = true;
  check();
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("set partition_filters=true")));
  table.metadata_cache_options.unpartitioned_pinning = rdb::PinningTier::kAll;
  check();
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(CheckOptions, UnderFifoCompactionNothingFollowsTheTree) {
  const auto check = [](const std::string& policy,
                        std::vector<std::string>* warnings) {
    BlockBasedTableOptions table;
    EXPECT_TRUE(ParseRocksDbFilterPolicy(policy, &table.filter_policy).ok());
    rdb::Options options;
    options.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
    options.compaction_style = rdb::kCompactionStyleFIFO;
    options.listeners.push_back(NewRocksDbBudgetListener());
    return CheckRocksDbOptions(options, warnings);
  };
  std::vector<std::string> warnings;
  for (const char* policy :
       {"rowbloom:auto", "{id=rowbloom;budget_bytes=10000}",
        "{id=rowbloom.Composed;budget=hits_only}"}) {
    EXPECT_REFUSED(check(policy, &warnings),
                   HasSubstr("under FIFO compaction"));
  }
  EXPECT_TRUE(check("rowbloom.Composed:10", &warnings).ok());
  EXPECT_THAT(warnings, IsEmpty());
}

}  // namespace
}  // namespace rowbloom
