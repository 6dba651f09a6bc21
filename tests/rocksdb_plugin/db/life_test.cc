// SPDX-License-Identifier: Apache-2.0
//
// Tests filters over the life of a database: written, reopened under other
// options, damaged, cached beyond their policy.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb_plugin/stock_registry.h"
#include "rocksdb_plugin/tampering_policy.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/version.h"
#include "util/digest.h"

namespace rowbloom::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kLifeRows = 1600;

// Return how many of the kLifeRows present rows a Get, or a scan, finds.
int GetsThatFind(const TestDb& db) {
  int found = 0;
  for (int row = 0; row < kLifeRows; ++row) {
    found += db.Has(db.Key(Row(row), "q"));
  }
  return found;
}
int RowScansThatFind(const TestDb& db) {
  int found = 0;
  for (int row = 0; row < kLifeRows; ++row) {
    found += ScanRow(db, Scan::kPlain, Row(row)).size() == 1;
  }
  return found;
}
void ExpectAllFound(const TestDb& db, bool filled = true) {
  EXPECT_EQ(GetsThatFind(db), filled ? kLifeRows : 0);
  EXPECT_EQ(RowScansThatFind(db), filled ? kLifeRows : 0);
  for (int row = 0; row < kLifeRows; ++row) {
    EXPECT_FALSE(db.Has(db.Key(Row(row), "absent")));
    EXPECT_TRUE(ScanRow(db, Scan::kPlain, Row(row) + "absent").empty());
  }
}

TEST(DbLife, FilesOfEachFamilyAreAskedForColumnsByGetsAndForRowsByScans) {
  TestDb db;
  for (const FilterSpec& policy : SpecsOfEachFamily()) {
    db.set_up.filter.filter_spec = policy;
    db.OpenAndFill(kLifeRows);
  }
  ExpectAllFound(db);
  const uint64_t files = db.Properties().size();
  EXPECT_EQ(files, SpecsOfEachFamily().size());
  EXPECT_EQ(db.FilterEntries(), files * 2 * kLifeRows);  // Rows and columns.
  // At ten bits per key, one absent key in a hundred passes.
  EXPECT_GT(db.Ticker(rdb::BLOOM_FILTER_USEFUL), files * kLifeRows * 95 / 100);
  EXPECT_GT(db.PrefixUseful(), files * kLifeRows * 95 / 100);
}

TEST(DbLife, StockBloomAndOursReadPastEachOther) {
  TestDb db;
  db.set_up.extractor_type = BloomType::kRow;
  db.OpenAndFill(kLifeRows);
  db.set_up.other_policy = StockBloom();
  db.Open();
  uint64_t before = db.Useful();
  ExpectAllFound(db);
  EXPECT_EQ(db.Useful(), before);
  db.Compact();  // Now in RocksDB's form.
  ExpectAllFound(db);
  EXPECT_GT(db.Useful(), before);
  db.set_up.other_policy.reset();
  db.Open();
  before = db.Useful();
  ExpectAllFound(db);
  EXPECT_EQ(db.Useful(), before);
  db.Compact();  // Now in our form again.
  ExpectAllFound(db);
  EXPECT_GT(db.Useful(), before);
}

// Each filter is asked as it was built, so no change of options loses a row.
TEST(DbLife, NoRowIsLostUnderAnotherCodecOrBloomType) {
  std::vector<DbSetUp> set_ups;
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const KeyCodec& codec : {KeyCodec::Ordered(), KeyCodec::FixedRow(5),
                                  KeyCodec::Delimiter('1')}) {
      for (int bits = 0; bits < 4; ++bits) {
        DbSetUp set_up;
        set_up.filter.bloom_type = set_up.extractor_type = type;
        set_up.filter.key_codec = codec;
        set_up.whole_key_filtering = bits & 1;
        set_up.extractor = bits & 2;
        set_ups.push_back(set_up);
      }
    }
  }
  RegisterRocksDb();  // RocksDB makes the extractor of old files by name.
  for (const DbSetUp& first : set_ups) {
    TestDb db;
    db.set_up = first;
    db.Open();
    // An application keeps its keys in one codec; only the options go wrong.
    std::vector<std::string> keys;
    for (int row = 0; row < 50; ++row) {
      std::string key;
      ASSERT_TRUE(KeyCodec::Ordered().Encode(Row(row), "q", &key).ok());
      db.Put(key, "value");
      keys.push_back(key);
    }
    db.Flush();
    for (const DbSetUp& second : set_ups) {
      db.set_up = second;
      db.Open();
      for (const std::string& key : keys) {
        ASSERT_TRUE(db.Has(key))
            << SetUpName(first) << " then " << SetUpName(second);
        const auto it = db.NewIterator();
        it->Seek(key);
        ASSERT_TRUE(it->Valid() && it->key() == rdb::Slice(key))
            << SetUpName(first) << " then " << SetUpName(second);
      }
    }
  }
}

struct Tampering {
  const char* name;
  std::function<void(std::string* filter)> tamper;
};

std::vector<Tampering> TamperingsOfEachKind() {
  return {
      {"newer metadata", MakeNewer},
      {"no metadata",
       [](std::string* filter) {
         ChangeBlob(filter, [](FilterDescriptor*, std::string* metadata) {
           metadata->clear();
         });
       }},
      {"unknown family",
       [](std::string* filter) {
         ChangeBlob(filter, [](FilterDescriptor* descriptor, std::string*) {
           descriptor->family_code = 200;
         });
       }},
      {"newer blob",
       // The checksum is that of the changed tail.
       [](std::string* filter) {
         const size_t trailer = filter->size() - 8;
         const auto byte = [&](size_t at) {
           return uint64_t{static_cast<uint8_t>((*filter)[trailer + at])};
         };
         (*filter)[trailer + 6] = kFilterBlobFormatVersion + 1;
         const uint64_t tail_size = byte(0) | byte(1) << 8;
         const uint64_t checksum = util::Hash64(
             std::string_view(*filter).substr(trailer - tail_size, tail_size),
             tail_size | byte(6) << 16);
         for (int i = 0; i < 4; ++i) {
           (*filter)[trailer + 2 + i] =
               static_cast<char>(checksum >> (8 * i) & 0xff);
         }
         EXPECT_TRUE(absl::IsUnimplemented(ParseFilterBlob(*filter).status()));
       }},
      {"short", [](std::string* filter) { filter->resize(5); }},
      {"first half",
       [](std::string* filter) { filter->resize(filter->size() / 2); }},
      {"second half",
       [](std::string* filter) { filter->erase(0, filter->size() / 2); }},
      {"zeros", [](std::string* filter) { filter->assign(64, '\0'); }},
      {"ones", [](std::string* filter) { filter->assign(64, '\xff'); }},
      {"damaged tail",
       [damaged = 0](std::string* filter) mutable {
         (*filter)[filter->size() - 1 - damaged++ % 30] ^= 0x55;
       }},
  };
}

TEST(DbLife, FiltersThatAreNotUnderstoodAnswerMaybe) {
  for (const Tampering& tampering : TamperingsOfEachKind()) {
    for (bool partitioned : {false, true}) {
      SCOPED_TRACE(tampering.name);
      TestDb db;
      db.set_up.partitioned = partitioned;
      const auto policy = std::make_shared<TamperingPolicy>(tampering.tamper);
      db.set_up.other_policy = policy;
      db.OpenAndFill(kLifeRows);
      if (partitioned) {
        EXPECT_GT(policy->finished(), 10);
      }
      ExpectAllFound(db);
      db.set_up.other_policy.reset();
      db.Open();
      ExpectAllFound(db);
      EXPECT_EQ(db.Useful(), 0);
      db.Compact();
      ExpectAllFound(db);
      EXPECT_GT(db.Useful(), 0);
    }
  }
}

// Opens it as a program without rowbloom does: with neither policy nor
// extractor.
void OpenWithoutPlugin(TestDb* db) {
  rdb::BlockBasedTableOptions table = db->TableOptions();
  table.filter_policy = nullptr;
  rdb::Options options = db->MakeOptions(table);
  options.prefix_extractor = nullptr;
  db->Open(options);
}

TEST(DbLife, FiltersDamagedOnDiskLoseNoRow) {
  for (bool partitioned : {false, true}) {
    for (bool cached : {false, true}) {
      TestDb db;
      db.set_up.partitioned = partitioned;
      db.set_up.cache_filter_blocks = cached;
      std::vector<std::string> filters;
      db.set_up.other_policy = std::make_shared<TamperingPolicy>(
          [&](std::string* filter) { filters.push_back(*filter); });
      db.OpenAndFill(kLifeRows);
      EXPECT_EQ(filters.size() > 1, partitioned);
      db.DamageOnDisk(filters);
      db.set_up.other_policy.reset();
      if (partitioned) {
        // RocksDB 7.8 reads partitions when it opens a database, and refuses
        // to open this one; without the policy it does not look at them.
        EXPECT_TRUE(db.TryOpen(db.MakeOptions()).IsCorruption());
        OpenWithoutPlugin(&db);
        ExpectAllFound(db);
      } else {
        db.Open();
        ExpectAllFound(db);
        EXPECT_TRUE(db->VerifyChecksum().IsCorruption());
      }
      EXPECT_EQ(db.Useful(), 0);
      db.Compact();
      db.Open();
      db.Compact();
      EXPECT_TRUE(db->VerifyChecksum().ok());
      ExpectAllFound(db);
      EXPECT_GT(db.Useful(), 0);
    }
  }
}

TEST(DbLife, NoRowIsLostWithoutThePluginNorWhenItIsBack) {
  for (bool partitioned : {false, true}) {
    for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
      TestDb db;
      db.set_up.partitioned = partitioned;
      db.set_up.filter.bloom_type = db.set_up.extractor_type = type;
      db.OpenAndFill(kLifeRows);
      OpenWithoutPlugin(&db);
      ExpectAllFound(db);
      db.Fill(kLifeRows);  // A second file, which has no filter.
      ExpectAllFound(db);
      EXPECT_EQ(db.Useful(), 0);
      db.Open();  // One file with a filter, one without.
      ExpectAllFound(db);
      EXPECT_GT(db.Useful(), 0);
      OpenWithoutPlugin(&db);
      db.Compact();
      EXPECT_EQ(db.FilterBytes(), 0);
      db.Open();
      const uint64_t before = db.Useful();
      ExpectAllFound(db);
      EXPECT_EQ(db.Useful(), before);
    }
  }
}

TEST(DbLife, PoliciesThatTakeTurnsLoseNoRow) {
  std::vector<std::shared_ptr<const rdb::FilterPolicy>> policies = {
      nullptr, StockBloom(), StockRibbon()};
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    RocksDbOptions options;
    options.bloom_type = type;
    for (const FilterSpec& policy : SpecsOfEachFamily()) {
      options.filter_spec = policy;
      policies.push_back(NewRocksDbFilterPolicy(options));
    }
  }
  for (bool whole : {false, true}) {
    TestDb db;
    db.set_up.extractor_type = BloomType::kRow;
    db.set_up.whole_key_filtering = whole;
    for (size_t turn = 0; turn <= policies.size(); ++turn) {
      db.set_up.other_policy = policies[turn % policies.size()];
      // Full filters and partitioned ones alternate, too.
      db.set_up.partitioned = turn % 2 == 0;
      if (db.set_up.other_policy == nullptr) {
        OpenWithoutPlugin(&db);
      } else {
        db.Open();
      }
      ExpectAllFound(db, turn > 0);
      db.Fill(kLifeRows);
    }
    EXPECT_EQ(db.Properties().size(), policies.size() + 1);
    ExpectAllFound(db);
    db.Compact();
    ExpectAllFound(db);
  }
}

// Readers stay in the cache after database and policy are gone; the same files
// opened with the same cache use them again.
TEST(DbLife, ReadersInASharedCacheOutliveDatabaseAndPolicy) {
  for (bool partitioned : {false, true}) {
    const auto cache = rdb::NewLRUCache(8 << 20);
    TestDb db;
    db.set_up.block_cache = cache;
    db.set_up.cache_filter_blocks = true;
    db.set_up.partitioned = partitioned;
    db.OpenAndFill(kLifeRows);
    ExpectAllFound(db);
    db.Close();  // The policy dies with the options.
    EXPECT_GT(cache->GetUsage(), 0);
    db.set_up.filter.bloom_type = BloomType::kRow;
    db.set_up.filter.key_codec = KeyCodec::FixedRow(3);
    db.set_up.extractor = false;
    db.Open();
    int found = 0;
    for (int row = 0; row < kLifeRows; ++row) {
      std::string key;
      ASSERT_TRUE(KeyCodec::Ordered().Encode(Row(row), "q", &key).ok());
      found += db.Has(key);
    }
    EXPECT_EQ(found, kLifeRows);
    db.Close();
  }
}

TEST(DbLife, OptionsFileRoundTrips) {
  RegisterRocksDb();
  TestDb db;
  db.set_up.filter.bloom_type = db.set_up.extractor_type = BloomType::kRow;
  db.set_up.filter.key_codec = KeyCodec::Delimiter(';');
  db.set_up.filter.filter_spec = FilterSpec::TargetFpr("compact", 0.003);
  db.OpenAndFill(kLifeRows);
  db.Close();

  rdb::ConfigOptions config;
  config.ignore_unsupported_options = false;
  const rdb::Options options = db.LoadOptions(config);
  const auto* table =
      options.table_factory->GetOptions<rdb::BlockBasedTableOptions>();
  ASSERT_NE(table->filter_policy, nullptr);
  const std::string text = table->filter_policy->ToString(config);
  EXPECT_THAT(text, HasSubstr("id=rowbloom"));
  EXPECT_THAT(text, HasSubstr("bloom_type=ROW;"));
  EXPECT_THAT(text, HasSubstr("key_codec=delimiter:0x3b"));
  EXPECT_THAT(text, HasSubstr("filter_spec=compact:target_fpr=0.003"));
  ASSERT_NE(options.prefix_extractor, nullptr);
  EXPECT_STREQ(options.prefix_extractor->Name(),
               "rowbloom.RowPrefix:ROW:delimiter:0x3b");
  EXPECT_TRUE(CheckRocksDbOptions(options).ok());

  db.Open(options);
  db.Fill(kLifeRows);
  EXPECT_EQ(GetsThatFind(db), kLifeRows);
  for (const auto& properties : db.Properties()) {
    EXPECT_EQ(properties->filter_policy_name, "rowbloom");
    EXPECT_EQ(properties->num_filter_entries, kLifeRows);
  }
}

// This is why programs must register before they load options.
TEST(DbLife, OptionsLoadedWithoutRegistrationLackTheFilterAndLoseNoRow) {
  TestDb db;
  db.OpenAndFill(kLifeRows);
  db.Close();
  rdb::ConfigOptions config;
  config.registry = StockRegistry();
  const rdb::Options options = db.LoadOptions(config);
  EXPECT_EQ(options.table_factory->GetOptions<rdb::BlockBasedTableOptions>()
                ->filter_policy,
            nullptr);
  EXPECT_EQ(options.prefix_extractor, nullptr);
  db.Open(options);
  ExpectAllFound(db);
  db.Fill(kLifeRows);
  db.Compact();
  ExpectAllFound(db);
  EXPECT_EQ(db.FilterBytes(), 0);
}

// SstFileWriter knows neither level nor column family.
TEST(DbLife, IngestedFilesAreFiltered) {
  TestDb db;
  db.Open();
  std::vector<std::string> keys;
  for (int row = 0; row < kLifeRows; ++row) {
    keys.push_back(db.Key(Row(row), "q"));
  }
  db.Ingest(keys);
  ExpectAllFound(db);
  EXPECT_GT(db.Useful(), kLifeRows);
}

TEST(DbLife, ReadersServeManyThreadsWhileFilesComeAndGo) {
  TestDb db;
  db.set_up.partitioned = true;
  db.set_up.cache_filter_blocks = true;
  db.set_up.block_cache = rdb::NewLRUCache(64 << 10);
  db.OpenAndFill(kLifeRows);
  std::vector<int> found(3, 0);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&db, &found, thread] {
      for (int round = 0; round < 4; ++round) found[thread] += GetsThatFind(db);
    });
  }
  for (int round = 0; round < 4; ++round) {
    db.Fill(kLifeRows);
    db.Compact();
  }
  for (std::thread& thread : threads) thread.join();
  for (int count : found) EXPECT_EQ(count, 4 * kLifeRows);
}

}  // namespace
}  // namespace rowbloom::testing
