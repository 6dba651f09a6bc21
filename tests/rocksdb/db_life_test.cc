// SPDX-License-Identifier: Apache-2.0
//
// Filters over the life of a database: written, reopened under other options,
// damaged, cached beyond their policy.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "filter_info.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/convenience.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/tampering_policy.h"
#include "rocksdb/test_db.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_util.h"

namespace rowbloom::testing {
namespace {

using ROCKSDB_NAMESPACE::BLOOM_FILTER_FULL_POSITIVE;
using ROCKSDB_NAMESPACE::BLOOM_FILTER_PREFIX_USEFUL;
using ROCKSDB_NAMESPACE::BLOOM_FILTER_USEFUL;
using ROCKSDB_NAMESPACE::Status;
using ::testing::HasSubstr;

constexpr int kRows = 500;

std::string Row(int row) { return "row" + std::to_string(1000 + row); }

void Fill(TestDb* db) {
  for (int row = 0; row < kRows; ++row) {
    db->Put(db->Key(Row(row), "q"), "value of " + Row(row));
  }
  db->Flush();
}

// Of kRows rows that are there, by Get and by a scan; `present` are none.
int GetsThatFind(const TestDb& db) {
  int found = 0;
  for (int row = 0; row < kRows; ++row) found += db.Has(db.Key(Row(row), "q"));
  return found;
}
int ScansThatFind(const TestDb& db) {
  int found = 0;
  for (int row = 0; row < kRows; ++row) {
    found += ScanRow(db, Scan::kPlain, Row(row)).size() == 1;
  }
  return found;
}
void AskInVain(const TestDb& db) {
  for (int row = 0; row < kRows; ++row) {
    EXPECT_FALSE(db.Has(db.Key(Row(row), "absent")));
    EXPECT_TRUE(ScanRow(db, Scan::kPlain, Row(row) + "absent").empty());
  }
}
void ExpectAllFound(const TestDb& db) {
  EXPECT_EQ(GetsThatFind(db), kRows);
  EXPECT_EQ(ScansThatFind(db), kRows);
  AskInVain(db);
}
uint64_t Useful(const TestDb& db) {
  return db.Ticker(BLOOM_FILTER_USEFUL) + db.Ticker(BLOOM_FILTER_PREFIX_USEFUL);
}

TEST(DbLife, PropertiesSayThatOurFilterWasBuilt) {
  TestDb db;
  db.Open();
  Fill(&db);
  ASSERT_EQ(db.Properties().size(), 1);
  const auto properties = db.Properties()[0];
  EXPECT_EQ(properties->filter_policy_name, "rowbloom");
  EXPECT_EQ(properties->prefix_extractor_name,
            "rowbloom.RowPrefix:ROWCOL:ordered");
  EXPECT_EQ(properties->num_filter_entries, 2 * kRows);  // Rows and columns.
  EXPECT_GE(properties->filter_size, 2 * kRows * 10 / 8);
}

TEST(DbLife, GetsAreTurnedAwayByColumnAndScansByRow) {
  TestDb db;
  db.Open();
  Fill(&db);
  EXPECT_EQ(GetsThatFind(db), kRows);
  EXPECT_EQ(ScansThatFind(db), kRows);
  EXPECT_EQ(Useful(db), 0);
  AskInVain(db);
  // Ten bits a key: one in a hundred passes.
  EXPECT_GT(db.Ticker(BLOOM_FILTER_USEFUL), kRows * 95 / 100);
  EXPECT_GT(db.Ticker(BLOOM_FILTER_PREFIX_USEFUL), kRows * 95 / 100);
}

TEST(DbLife, ColumnScansOfPresentRowsAreTurnedAwayByColumn) {
  TestDb db;
  db.Open();
  for (int row = 0; row < kRows; ++row) {
    db.Put(db.Key(Row(row), "q", "version"), "value");
  }
  db.Flush();
  int found = 0;
  for (int row = 0; row < kRows; ++row) {
    for (const char* qualifier : {"q", "absent"}) {
      found += ScanFindsColumn(&db, Row(row), qualifier);
    }
  }
  EXPECT_EQ(found, kRows);
  EXPECT_GT(db.Ticker(BLOOM_FILTER_PREFIX_USEFUL), kRows * 95 / 100);
  EXPECT_LE(db.Ticker(BLOOM_FILTER_PREFIX_USEFUL), kRows);
}

TEST(DbLife, EachSstOfARowIsAskedForItself) {
  TestDb db;
  db.Open();
  for (int file = 0; file < 10; ++file) {
    db.Put(db.Key(Row(0), "a"), "lowest key of each file");
    db.Put(db.Key("row" + std::to_string(file), "q"), "value");
    db.Put(db.Key(Row(999), "z"), "highest key of each file");
    db.Flush();
  }
  EXPECT_TRUE(db.Has(db.Key("row3", "q")));
  // Files 9 to 4 were turned away, with luck but for one; 3 was read.
  EXPECT_GE(db.Ticker(BLOOM_FILTER_USEFUL), 5);
  EXPECT_LE(db.Ticker(BLOOM_FILTER_USEFUL), 6);
}

TEST(DbLife, FilesOfEachFamilyAreAskedSideBySide) {
  TestDb db;
  for (const FilterPolicy& policy : PoliciesOfEachFamily()) {
    db.set_up.filter.policy = policy;
    db.Open();
    Fill(&db);
  }
  ExpectAllFound(db);
  const uint64_t files = db.Properties().size();
  EXPECT_EQ(files, PoliciesOfEachFamily().size());
  EXPECT_GT(db.Ticker(BLOOM_FILTER_USEFUL), files * kRows * 95 / 100);
  EXPECT_GT(db.Ticker(BLOOM_FILTER_PREFIX_USEFUL), files * kRows * 95 / 100);
}

TEST(DbLife, StockBloomAndOursReadPastEachOther) {
  TestDb db;
  db.set_up.extractor_type = BloomType::kRow;
  db.Open();
  Fill(&db);
  db.set_up.other_policy.reset(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
  db.Open();
  uint64_t before = Useful(db);
  ExpectAllFound(db);
  EXPECT_EQ(Useful(db), before);
  db.Compact();  // Now in RocksDB's form.
  ExpectAllFound(db);
  EXPECT_GT(Useful(db), before);
  db.set_up.other_policy.reset();
  db.Open();
  before = Useful(db);
  ExpectAllFound(db);
  EXPECT_EQ(Useful(db), before);
  db.Compact();  // And in ours again.
  ExpectAllFound(db);
  EXPECT_GT(Useful(db), before);
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
    // Keys of one codec, as an application keeps them; options go wrong.
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
        const std::unique_ptr<ROCKSDB_NAMESPACE::Iterator> it(
            db->NewIterator({}));
        it->Seek(key);
        ASSERT_TRUE(it->Valid() && it->key() == ROCKSDB_NAMESPACE::Slice(key))
            << SetUpName(first) << " then " << SetUpName(second);
      }
    }
  }
}

TEST(DbLife, FiltersOfANewerVersionAnswerMaybe) {
  for (bool partitioned : {false, true}) {
    TestDb db;
    db.set_up.partitioned = partitioned;
    const auto policy = std::make_shared<TamperingPolicy>();
    policy->tamper = [](std::string* filter) {
      EncodedFilter encoded;
      const auto blob = ParseFilterBlob(*filter);
      ASSERT_TRUE(blob.ok());
      encoded.descriptor = blob->descriptor;
      encoded.units = std::string(blob->units);
      std::string metadata(blob->metadata);
      metadata[kMetadataVersionOffset] = kMetadataVersion + 1;
      *filter = EncodeFilterBlob(encoded, metadata);
    };
    db.set_up.other_policy = policy;
    db.Open();
    Fill(&db);
    db.set_up.other_policy.reset();
    db.Open();
    ExpectAllFound(db);
    EXPECT_EQ(Useful(db), 0);
  }
}

TEST(DbLife, FiltersDamagedInMemoryAnswerMaybe) {
  TestDb db;
  const auto policy = std::make_shared<TamperingPolicy>();
  int damaged = 0;
  policy->tamper = [&damaged](std::string* filter) {
    (*filter)[filter->size() - 1 - damaged++ % 30] ^= 0x55;
  };
  db.set_up.other_policy = policy;
  db.set_up.partitioned = true;
  db.Open();
  Fill(&db);
  EXPECT_GT(damaged, 10);
  ExpectAllFound(db);
  EXPECT_EQ(Useful(db), 0);
}

// Flips a bit of `filter` where it lies in the only SST.
void DamageFilterOnDisk(TestDb* db, const std::string& filter) {
  std::vector<ROCKSDB_NAMESPACE::LiveFileMetaData> files;
  (*db)->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1);
  const std::string path = files[0].db_path + files[0].name;
  db->Close();
  std::string bytes;
  ASSERT_TRUE(
      ROCKSDB_NAMESPACE::ReadFileToString(db->env(), path, &bytes).ok());
  const size_t at = bytes.find(filter);
  ASSERT_NE(at, std::string::npos);
  bytes[at + filter.size() / 2] ^= 1;
  ASSERT_TRUE(ROCKSDB_NAMESPACE::WriteStringToFile(db->env(), bytes, path,
                                                   /*should_sync=*/true)
                  .ok());
}

TEST(DbLife, AFilterDamagedOnDiskLosesNoRow) {
  for (bool cached : {false, true}) {
    TestDb db;
    db.set_up.cache_filter_blocks = cached;
    const auto policy = std::make_shared<TamperingPolicy>();
    std::string filter;
    policy->tamper = [&filter](std::string* bytes) { filter = *bytes; };
    db.set_up.other_policy = policy;
    db.Open();
    Fill(&db);
    DamageFilterOnDisk(&db, filter);
    db.set_up.other_policy.reset();
    db.Open();
    ExpectAllFound(db);
    EXPECT_EQ(Useful(db), 0);
    EXPECT_TRUE(db->VerifyChecksum().IsCorruption());
    db.Compact();
    EXPECT_TRUE(db->VerifyChecksum().ok());
    ExpectAllFound(db);
    EXPECT_GT(Useful(db), 0);
  }
}

// Readers stay in the cache when database and policy are gone; the same files
// opened with the same cache use them again.
TEST(DbLife, ReadersInASharedCacheOutliveDatabaseAndPolicy) {
  for (bool partitioned : {false, true}) {
    const auto cache = ROCKSDB_NAMESPACE::NewLRUCache(8 << 20);
    TestDb db;
    db.set_up.block_cache = cache;
    db.set_up.cache_filter_blocks = true;
    db.set_up.partitioned = partitioned;
    db.Open();
    Fill(&db);
    ExpectAllFound(db);
    db.Close();  // The policy dies with the options.
    EXPECT_GT(cache->GetUsage(), 0);
    db.set_up.filter.bloom_type = BloomType::kRow;
    db.set_up.filter.key_codec = KeyCodec::FixedRow(3);
    db.set_up.extractor = false;
    db.Open();
    int found = 0;
    for (int row = 0; row < kRows; ++row) {
      std::string key;
      ASSERT_TRUE(KeyCodec::Ordered().Encode(Row(row), "q", &key).ok());
      found += db.Has(key);
    }
    EXPECT_EQ(found, kRows);
    db.Close();
  }
}

TEST(DbLife, OptionsFileRoundTrips) {
  RegisterRocksDb();
  TestDb db;
  db.set_up.filter.bloom_type = db.set_up.extractor_type = BloomType::kRow;
  db.set_up.filter.key_codec = KeyCodec::Delimiter(';');
  db.set_up.filter.policy = FilterPolicy::TargetFpr("compact", 0.003);
  db.Open();
  Fill(&db);
  db.Close();

  ROCKSDB_NAMESPACE::ConfigOptions config;
  config.env = db.env();
  config.ignore_unsupported_options = false;
  ROCKSDB_NAMESPACE::DBOptions db_options;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyDescriptor> families;
  const Status status = ROCKSDB_NAMESPACE::LoadLatestOptions(
      config, TestDb::path(), &db_options, &families);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(families.size(), 1);
  ROCKSDB_NAMESPACE::Options options(db_options, families[0].options);
  const auto* table =
      options.table_factory
          ->GetOptions<ROCKSDB_NAMESPACE::BlockBasedTableOptions>();
  ASSERT_NE(table->filter_policy, nullptr);
  const std::string text = table->filter_policy->ToString(config);
  EXPECT_THAT(text, HasSubstr("id=rowbloom"));
  EXPECT_THAT(text, HasSubstr("bloom_type=ROW;"));
  EXPECT_THAT(text, HasSubstr("key_codec=delimiter:0x3b"));
  EXPECT_THAT(text, HasSubstr("policy=compact:target_fpr=0.003"));
  ASSERT_NE(options.prefix_extractor, nullptr);
  EXPECT_STREQ(options.prefix_extractor->Name(),
               "rowbloom.RowPrefix:ROW:delimiter:0x3b");
  EXPECT_TRUE(CheckRocksDbOptions(options).ok());

  options.env = db.env();  // Not among what is loaded.
  db.Open(options);
  Fill(&db);
  EXPECT_EQ(GetsThatFind(db), kRows);
  for (const auto& properties : db.Properties()) {
    EXPECT_EQ(properties->filter_policy_name, "rowbloom");
    EXPECT_EQ(properties->num_filter_entries, kRows);
  }
}

// Why programs must register before they load options.
TEST(DbLife, OptionsLoadedWithoutRegistrationSilentlyLackTheFilter) {
  TestDb db;
  db.Open();
  db.Close();
  ROCKSDB_NAMESPACE::ConfigOptions config;
  config.env = db.env();
  config.registry = std::make_shared<ROCKSDB_NAMESPACE::ObjectRegistry>(
      std::make_shared<ROCKSDB_NAMESPACE::ObjectLibrary>("empty"));
  ROCKSDB_NAMESPACE::DBOptions db_options;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyDescriptor> families;
  ASSERT_TRUE(ROCKSDB_NAMESPACE::LoadLatestOptions(config, TestDb::path(),
                                                   &db_options, &families)
                  .ok());
  const auto* table =
      families[0]
          .options.table_factory
          ->GetOptions<ROCKSDB_NAMESPACE::BlockBasedTableOptions>();
  EXPECT_EQ(table->filter_policy, nullptr);
}

// As SstFileWriter knows neither level nor column family.
TEST(DbLife, IngestedFilesAreFiltered) {
  TestDb db;
  db.Open();
  const ROCKSDB_NAMESPACE::Options options = db.MakeOptions();
  ROCKSDB_NAMESPACE::SstFileWriter writer(ROCKSDB_NAMESPACE::EnvOptions(),
                                          options);
  const std::string path = TestDb::path() + "/ingested.sst";
  ASSERT_TRUE(writer.Open(path).ok());
  for (int row = 0; row < kRows; ++row) {
    ASSERT_TRUE(writer.Put(db.Key(Row(row), "q"), "value").ok());
  }
  ASSERT_TRUE(writer.Finish().ok());
  ASSERT_TRUE(db->IngestExternalFile({path}, {}).ok());
  ExpectAllFound(db);
  EXPECT_GT(Useful(db), kRows);
}

TEST(DbLife, ReadersServeManyThreadsWhileFilesComeAndGo) {
  TestDb db;
  db.set_up.partitioned = true;
  db.set_up.cache_filter_blocks = true;
  db.set_up.block_cache = ROCKSDB_NAMESPACE::NewLRUCache(64 << 10);
  db.Open();
  Fill(&db);
  std::vector<int> found(3, 0);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&db, &found, thread] {
      for (int round = 0; round < 4; ++round) found[thread] += GetsThatFind(db);
    });
  }
  for (int round = 0; round < 4; ++round) {
    Fill(&db);
    db.Compact();
  }
  for (std::thread& thread : threads) thread.join();
  for (int count : found) EXPECT_EQ(count, 4 * kRows);
}

TEST(DbLife, DeletesMergesAndRangeTombstonesOfOtherFilesAreHonoured) {
  TestDb db;
  db.Open();
  Fill(&db);
  ASSERT_TRUE(db->Delete({}, db.Key(Row(1), "q")).ok());
  db.Flush();
  ASSERT_TRUE(db->DeleteRange({}, db->DefaultColumnFamily(),
                              db.Key(Row(10), ""), db.Key(Row(20), ""))
                  .ok());
  db.Flush();  // A file of a range tombstone only: no filter, no Finish.
  EXPECT_FALSE(db.Has(db.Key(Row(1), "q")));
  for (int row = 10; row < 20; ++row) {
    EXPECT_FALSE(db.Has(db.Key(Row(row), "q")));
    EXPECT_TRUE(ScanRow(db, Scan::kPlain, Row(row)).empty());
  }
  EXPECT_EQ(GetsThatFind(db), kRows - 11);
  EXPECT_EQ(ScansThatFind(db), kRows - 11);
}

// Absent keys that pass are counted by RocksDB. Bound: five standard
// deviations of the binomial around the policy's expected rate, to each side:
// it fails by chance once in 1.7 million runs of different keys (these are
// fixed).
TEST(DbLife, FalsePositiveRateIsTheExpectedOne) {
  constexpr int kKeys = 50000;
  constexpr int kLookups = 200000;
  std::vector<FilterPolicy> policies = PoliciesOfEachFamily();
  for (double bits_per_key : {8.0, 12.5}) {
    policies.push_back(FilterPolicy::BitsPerKey("blocked_bloom", bits_per_key));
  }
  for (const FilterPolicy& policy : policies) {
    TestDb db;
    db.set_up.filter.bloom_type = BloomType::kRow;
    db.set_up.extractor = false;
    db.set_up.filter.policy = policy;
    ROCKSDB_NAMESPACE::Options options = db.MakeOptions();
    options.write_buffer_size = 64 << 20;
    db.Open(options);
    for (int i = 0; i < kKeys; ++i) {
      db.Put(db.Key("row" + std::to_string(i), "q"), "");
    }
    db.Put(db.Key("zzz", "q"), "");  // All that is asked is within the range.
    db.Flush();
    ASSERT_EQ(db.Properties().size(), 1);
    for (int i = 0; i < kLookups; ++i) {
      ASSERT_FALSE(db.Has(db.Key("row" + std::to_string(i) + "x", "q")));
    }
    const double positives =
        static_cast<double>(db.Ticker(BLOOM_FILTER_FULL_POSITIVE));
    EXPECT_EQ(positives + static_cast<double>(db.Ticker(BLOOM_FILTER_USEFUL)),
              kLookups);
    const double rate = policy.expected_fpr();
    const double deviation = std::sqrt(kLookups * rate * (1 - rate));
    EXPECT_NEAR(positives, kLookups * rate, 5 * deviation) << policy.ToString();
  }
}

}  // namespace
}  // namespace rowbloom::testing
