// SPDX-License-Identifier: Apache-2.0

#include "rocksdb_plugin/db/differential_set_up.h"

#include <optional>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/merge_operator.h"
#include "rowbloom/rocksdb_budget.h"
#include "testing/key_codecs.h"

namespace rowbloom::testing {
namespace {

using rdb::BlockBasedTableOptions;
using rdb::Comparator;
using rdb::Slice;

constexpr char kTimestampComparator[] = "leveldb.BytewiseComparator.u64ts";

// Appends the operand.
class AppendOperator : public rdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "append"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& operand,
             std::string* result, rdb::Logger*) const override {
    if (existing != nullptr) *result = existing->ToString();
    result->append(operand.data(), operand.size());
    return true;
  }
};

// Orders rows bytewise and the keys of a row backwards, as a store might whose
// newest versions come first.
class RowsThenBackwards : public Comparator {
 public:
  explicit RowsThenBackwards(const KeyCodec& codec) : codec_(codec) {}

  const char* Name() const override { return "test.RowsThenBackwards"; }
  int Compare(const Slice& a, const Slice& b) const override {
    const Slice row_a = Row(a);
    const Slice row_b = Row(b);
    const int rows = row_a.compare(row_b);
    if (rows != 0) return rows;
    return Slice(b.data() + row_b.size(), b.size() - row_b.size())
        .compare({a.data() + row_a.size(), a.size() - row_a.size()});
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override {
    return false;
  }

 private:
  Slice Row(const Slice& key) const {
    const size_t size = codec_.FirstPrefixSize({key.data(), key.size()});
    return {key.data(), size == 0 ? key.size() : size};
  }

  const KeyCodec codec_;
};

std::shared_ptr<const Comparator> NotOwned(const Comparator* comparator) {
  return {comparator, [](const Comparator*) {}};
}

void DrawComparator(Dice* random, RandomSetUp* set_up) {
  switch (random->Below(8)) {
    case 0:
      set_up->comparator = NotOwned(rdb::ReverseBytewiseComparator());
      break;
    case 1:
      set_up->comparator =
          std::make_shared<RowsThenBackwards>(set_up->db.filter.key_codec);
      break;
    case 2:
    case 3: {
      const Comparator* comparator = nullptr;
      EXPECT_TRUE(
          Comparator::CreateFromString({}, kTimestampComparator, &comparator)
              .ok());
      set_up->comparator = NotOwned(comparator);
      set_up->timestamps = true;
      break;
    }
    default:
      break;  // Bytewise.
  }
}

BloomType DrawBloomType(const KeyCodec& codec, Dice* random) {
  return random->OneIn(2) || codec.key_level_count() == 1 ? BloomType::kRow
                                                          : BloomType::kRowCol;
}

// Before 9.5, RocksDB loses rows to SeekForPrev in such a set-up.
bool StockLosesRowsBackwards(const DbSetUp& db) {
  return db.extractor && !db.whole_key_filtering && db.partitioned;
}

// Picks one of `count` by the lowest bits that are not used yet.
class Choices {
 public:
  explicit Choices(uint64_t bits) : bits_(bits) {}
  uint32_t Below(uint32_t count) {
    const uint32_t choice = static_cast<uint32_t>(bits_ % count);
    bits_ /= count;
    return choice;
  }
  bool OneIn(uint32_t count) { return Below(count) == 0; }

 private:
  uint64_t bits_;
};

void ChooseCache(Choices* choices, BlockBasedTableOptions* table) {
  table->cache_index_and_filter_blocks = choices->OneIn(2);
  table->cache_index_and_filter_blocks_with_high_priority = choices->OneIn(2);
  table->pin_l0_filter_and_index_blocks_in_cache = choices->OneIn(2);
  table->pin_top_level_index_and_filter = choices->OneIn(2);
  constexpr rdb::PinningTier kTiers[] = {
      rdb::PinningTier::kFallback, rdb::PinningTier::kNone,
      rdb::PinningTier::kFlushedAndSimilar, rdb::PinningTier::kAll};
  table->metadata_cache_options.top_level_index_pinning =
      kTiers[choices->Below(4)];
  table->metadata_cache_options.partition_pinning = kTiers[choices->Below(4)];
  table->metadata_cache_options.unpartitioned_pinning =
      kTiers[choices->Below(4)];
  if (choices->OneIn(3)) {
    table->prepopulate_block_cache =
        BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly;
  }
  switch (choices->Below(4)) {
    case 0:
      table->block_cache = rdb::NewLRUCache(64 << 10, 0);
      break;
    case 1:  // It holds next to nothing.
      table->block_cache = rdb::NewLRUCache(1 << 10, 0);
      break;
    case 2:
      if (kRocksDbRelease >= 803 && choices->OneIn(2)) {
        // It is the default since 10.7; before 8.3 it was an experiment.
        table->block_cache =
            rdb::HyperClockCacheOptions(1 << 20, 1 << 10).MakeSharedCache();
      } else {
        table->block_cache = rdb::NewLRUCache(8 << 20, 2);
      }
      break;
    default:
      if (table->cache_index_and_filter_blocks) break;
      table->no_block_cache = true;
      table->pin_l0_filter_and_index_blocks_in_cache = false;
      table->prepopulate_block_cache =
          BlockBasedTableOptions::PrepopulateBlockCache::kDisable;
      break;
  }
}

// Draws extractors, filters and prefix hashes that hide keys from iterators.
void ChooseTraps(const RandomSetUp& set_up, BlockBasedTableOptions* table,
                 rdb::Options* options) {
  Choices choices(std::mt19937_64(set_up.table_choices)());
  switch (choices.Below(8)) {
    case 0:
      options->prefix_extractor = nullptr;
      break;
    case 1:  // All keys are at least that long, as a hash index requires.
      options->prefix_extractor.reset(rdb::NewFixedPrefixTransform(1));
      break;
    case 2:
      options->prefix_extractor.reset(rdb::NewCappedPrefixTransform(7));
      break;
    default:
      break;  // Ours.
  }
  const std::shared_ptr<const rdb::FilterPolicy> policies[] = {
      StockBloom(), StockRibbon(), nullptr};
  const uint32_t policy = choices.Below(8);
  if (policy < 3) table->filter_policy = policies[policy];
  if (options->prefix_extractor == nullptr) return;
  if (choices.OneIn(3)) options->memtable_prefix_bloom_size_ratio = 0.1;
}

// Draws options of newer releases; RocksDB ignores those that it does not know.
void ChooseNewer(Choices* choices, const RandomSetUp& set_up,
                 BlockBasedTableOptions* table, rdb::Options* options) {
  rdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  const auto one_in = [choices](uint32_t count) {
    return choices->OneIn(count) ? "true;" : "false;";
  };
  std::string text;
  text += std::string("decouple_partitioned_filters=") + one_in(2);
  text += std::string("separate_key_value_in_data_block=") + one_in(4);
  text += "uncache_aggressiveness=" + std::to_string(choices->Below(3)) + ";";
  const BlockBasedTableOptions chosen_table = *table;
  EXPECT_TRUE(
      GetBlockBasedTableOptionsFromString(config, chosen_table, text, table)
          .ok());
  // Version 6 exists since 8.6, version 7 since 10.4.
  if (kRocksDbRelease >= 806 && choices->OneIn(2)) table->format_version = 6;
  if (kRocksDbRelease >= 1004 && choices->OneIn(2)) table->format_version = 7;

  text = std::string("prefix_seek_opt_in_only=") + one_in(4);
  text += std::string("level_compaction_dynamic_level_bytes=") + one_in(2);
  text += std::string("memtable_batch_lookup_optimization=") + one_in(2);
  text += std::string("target_file_size_is_upper_bound=") + one_in(2);
  text += std::string("paranoid_memory_checks=") + one_in(4);
  if (choices->OneIn(4)) {
    text += "open_files_async=true;skip_stats_update_on_db_open=true;";
  }
  if (!set_up.maps_columns() && choices->OneIn(4)) {
    text += "min_tombstones_for_range_conversion=2;";
  }
  // RocksDB 7.8 finds no blobs by keys with timestamps, and one of its
  // assertions fails on other keys. RocksDB 10.10 loses the base of a merge
  // that is in a blob file, with any filter, its own Bloom filter included.
  if (choices->OneIn(4) && kRocksDbRelease >= 910 && ROCKSDB_MAJOR != 10) {
    text += "enable_blob_files=true;";
  }
  if (choices->OneIn(4)) {
    text += "compression=kZSTD;compression_opts={parallel_threads=4;};";
  }
  const rdb::Options chosen = *options;
  const rdb::Status status =
      GetOptionsFromString(config, chosen, text, options);
  EXPECT_TRUE(status.ok()) << status.ToString();
}

}  // namespace

std::string RandomSetUp::Name() const {
  std::string name = SetUpName(db);
  name += comparator == nullptr ? "" : std::string(" ") + comparator->Name();
  name += mmap_reads ? " mmap" : "";
  name += universal_compaction ? " universal" : "";
  name += db.filter.budget.has_value() ? " budget" : "";
  name += other_policy ? " (opened with another policy)" : "";
  name += " choices " + std::to_string(table_choices);
  return name;
}

RandomSetUp DrawSetUp(Dice* random) {
  RandomSetUp set_up;
  const KeyCodec codecs[] = {KeyCodec::Ordered(), KeyCodec::Ordered(),
                             KeyCodec::FixedRow(6), KeyCodec::Delimiter('|')};
  set_up.any_codec = random->OneIn(2);
  if (set_up.any_codec) {
    Random codec_choices(random->Next());
    set_up.db.filter.key_codec =
        random->OneIn(4) ? KeyCodec::WholeKey() : AnyCodec(&codec_choices);
  } else {
    set_up.db.filter.key_codec = codecs[random->Below(4)];
  }
  set_up.db.target_file_size_bytes = 4 << 10;
  set_up.mmap_reads = random->OneIn(8);
  set_up.universal_compaction = random->OneIn(4);
  set_up.rows = 8 << random->Below(6);
  DrawComparator(random, &set_up);
  Redraw(random, &set_up);
  return set_up;
}

void Redraw(Dice* random, RandomSetUp* set_up) {
  DbSetUp& db = set_up->db;
  const std::vector<FilterSpec> families = SpecsOfEachFamily();
  const std::string family =
      families[random->Below(static_cast<uint32_t>(families.size()))].family();
  // Few bits suffice: a faulty filter shows itself by a wrong "no".
  const double bits_per_key[] = {2, 5, 10, 16.5};
  db.filter.filter_spec =
      FilterSpec::BitsPerKey(family, bits_per_key[random->Below(4)]);
  // Under a budget, each SST has its own bits per key, and some have no filter.
  constexpr std::optional<BudgetMode> kBudgets[] = {
      std::nullopt, std::nullopt, BudgetMode::kBalanced, BudgetMode::kHitsOnly};
  db.filter.budget = kBudgets[random->Below(4)];
  db.filter.bloom_type = DrawBloomType(db.filter.key_codec, random);
  db.extractor = !random->OneIn(5);
  db.extractor_type = DrawBloomType(db.filter.key_codec, random);
  db.whole_key_filtering = !random->OneIn(3);
  db.partitioned = random->OneIn(2);
  db.metadata_block_size_bytes = random->OneIn(2) ? 150 : 600;
  db.shorten_separators = random->OneIn(2);
  set_up->other_policy = random->OneIn(6) && !set_up->maps_columns() &&
                         !StockLosesRowsBackwards(db);
  set_up->table_choices = random->Next();
}

void MakeProneToLoseColumns(RandomSetUp* set_up) {
  set_up->any_codec = false;
  set_up->db.filter.key_codec = KeyCodec::Ordered();
  set_up->db.filter.budget.reset();
  set_up->comparator = nullptr;
  set_up->timestamps = false;
  set_up->db.extractor = true;
  set_up->db.extractor_type = BloomType::kRowCol;
  set_up->db.whole_key_filtering = true;
  set_up->other_policy = false;
}

void MakeProneToLosePrefixes(RandomSetUp* set_up) {
  DbSetUp& db = set_up->db;
  Random codec_choices(set_up->table_choices);
  set_up->any_codec = true;
  do {
    db.filter.key_codec = AnyCodec(&codec_choices);
  } while (db.filter.key_codec.segment_count() < 3);
  db.filter.bloom_type = BloomType::kRowCol;
  db.filter.budget.reset();
  db.extractor = true;
  db.extractor_type = BloomType::kRowCol;
  db.partitioned = true;
  db.metadata_block_size_bytes = 150;
  db.shorten_separators = true;
  db.target_file_size_bytes = 64 << 10;
  set_up->rows = 256;
  set_up->comparator = nullptr;
  set_up->timestamps = false;
  set_up->other_policy = false;
}

void MakeOnlyRows(RandomSetUp* set_up) {
  set_up->only_rows = true;
  // A quarter of the set-ups at least use the codec that has versions.
  if (set_up->table_choices >> 62 == 0) {
    set_up->any_codec = false;
    set_up->db.filter.key_codec = KeyCodec::Ordered();
  }
  set_up->other_policy = false;
  set_up->db.cache_filter_blocks = set_up->table_choices >> 62 & 1;
  if (!set_up->timestamps) set_up->comparator = nullptr;
}

rdb::Options MakeOptions(TestDb* db, const RandomSetUp& set_up) {
  db->set_up = set_up.db;
  BlockBasedTableOptions table = db->TableOptions();
  if (set_up.filters == Filters::kNone ||
      (set_up.filters == Filters::kStockBloom && set_up.other_policy)) {
    table.filter_policy = nullptr;
  } else if (set_up.filters == Filters::kStockBloom || set_up.other_policy) {
    table.filter_policy.reset(
        rdb::NewBloomFilterPolicy(set_up.db.filter.filter_spec.bits_per_key()));
  }
  Choices choices(set_up.table_choices);
  // The block cache of RocksDB 7.8 fails its assertions with a hash index.
  if (!set_up.only_rows) ChooseCache(&choices, &table);
  if (choices.OneIn(3)) {
    // kHashSearch finds less backwards; the assertions of
    // kBinarySearchWithFirstKey do not know single deletes. Both happen in 7.8,
    // with any filter and without one.
    table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  }
  table.block_size = 128 << choices.Below(4);
  table.format_version = 2 + choices.Below(4);
  constexpr rdb::ChecksumType kChecksums[] = {rdb::kCRC32c, rdb::kxxHash64,
                                              rdb::kXXH3};
  table.checksum = kChecksums[choices.Below(3)];
  table.optimize_filters_for_memory = choices.OneIn(2);
  table.detect_filter_construct_corruption = choices.OneIn(2);

  rdb::Options options = db->MakeOptions();
  options.merge_operator = std::make_shared<AppendOperator>();
  if (set_up.comparator != nullptr) {
    options.comparator = set_up.comparator.get();
  }
  if (choices.OneIn(2)) {
    options.listeners.push_back(NewRocksDbBudgetListener());
  }
  options.allow_mmap_reads = set_up.mmap_reads;
  options.optimize_filters_for_hits = choices.OneIn(4);
  options.max_open_files = choices.OneIn(4) ? 12 : -1;
  if (set_up.universal_compaction) {
    options.compaction_style = rdb::kCompactionStyleUniversal;
  }
  options.max_subcompactions = 1 + choices.Below(4);
  if (!set_up.maps_columns() && choices.OneIn(3)) {
    options.memtable_prefix_bloom_size_ratio = 0.1;
    options.memtable_whole_key_filtering = choices.OneIn(2);
  }
  if (set_up.only_rows) {
    ChooseTraps(set_up, &table, &options);
  } else {
    ChooseNewer(&choices, set_up, &table, &options);
  }
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace rowbloom::testing
