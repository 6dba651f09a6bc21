// SPDX-License-Identifier: Apache-2.0
//
// Tests filters over the life of a database: written, reopened under other
// options, damaged, cached beyond their policy.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hash/digest.h"
#include "policy/filter_info.h"
#include "rocksdb/convenience.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/stock_registry.h"
#include "rocksdb/tampering_policy.h"
#include "rocksdb/test_db.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_util.h"
#include "rowbloom/version.h"

namespace rowbloom::testing {
namespace {

using rdb::BLOOM_FILTER_USEFUL;
using ::testing::HasSubstr;

constexpr int kRows = 500;

std::string Row(int row) { return "row" + std::to_string(1000 + row); }

void Fill(TestDb* db) {
  for (int row = 0; row < kRows; ++row) {
    db->Put(db->Key(Row(row), "q"), "value of " + Row(row));
  }
  db->Flush();
}

// Return how many of the kRows present rows a Get, or a scan, finds.
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
void ExpectAllFound(const TestDb& db, bool filled = true) {
  EXPECT_EQ(GetsThatFind(db), filled ? kRows : 0);
  EXPECT_EQ(ScansThatFind(db), filled ? kRows : 0);
  AskInVain(db);
}
uint64_t Useful(const TestDb& db) {
  return db.Ticker(BLOOM_FILTER_USEFUL) + db.PrefixUseful();
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
  // At ten bits per key, one absent key in a hundred passes.
  EXPECT_GT(db.Ticker(BLOOM_FILTER_USEFUL), kRows * 95 / 100);
  EXPECT_GT(db.PrefixUseful(), kRows * 95 / 100);
}

// This form of MultiGet asks filters for many keys at once.
TEST(DbLife, KeysOfAMultiGetAreTurnedAwayAsThoseOfGetsAre) {
  for (bool partitioned : {false, true}) {
    TestDb db;
    db.set_up.partitioned = partitioned;
    db.Open();
    Fill(&db);
    std::vector<std::string> keys;
    for (int row = 0; row < kRows; ++row) {
      keys.push_back(db.Key(Row(row), "q"));
      keys.push_back(db.Key(Row(row), "absent"));
    }
    const std::vector<rdb::Slice> slices(keys.begin(), keys.end());
    std::vector<rdb::PinnableSlice> values(keys.size());
    std::vector<rdb::Status> statuses(keys.size());
    db->MultiGet({}, db->DefaultColumnFamily(), keys.size(), slices.data(),
                 values.data(), statuses.data());
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(statuses[i].ok(), i % 2 == 0);
      EXPECT_EQ(statuses[i].IsNotFound(), i % 2 == 1);
    }
    EXPECT_GT(Useful(db), kRows * 95 / 100);
    EXPECT_LE(Useful(db), kRows);
  }
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
  EXPECT_GT(db.PrefixUseful(), kRows * 95 / 100);
  EXPECT_LE(db.PrefixUseful(), kRows);
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
  // Filters excluded files 9 to 4, or all but one of them; 3 was read.
  EXPECT_GE(db.Ticker(BLOOM_FILTER_USEFUL), 5);
  EXPECT_LE(db.Ticker(BLOOM_FILTER_USEFUL), 6);
}

TEST(DbLife, FilesOfEachFamilyAreAskedSideBySide) {
  TestDb db;
  for (const FilterSpec& policy : SpecsOfEachFamily()) {
    db.set_up.filter.filter_spec = policy;
    db.Open();
    Fill(&db);
  }
  ExpectAllFound(db);
  const uint64_t files = db.Properties().size();
  EXPECT_EQ(files, SpecsOfEachFamily().size());
  EXPECT_GT(db.Ticker(BLOOM_FILTER_USEFUL), files * kRows * 95 / 100);
  EXPECT_GT(db.PrefixUseful(), files * kRows * 95 / 100);
}

TEST(DbLife, StockBloomAndOursReadPastEachOther) {
  TestDb db;
  db.set_up.extractor_type = BloomType::kRow;
  db.Open();
  Fill(&db);
  db.set_up.other_policy.reset(rdb::NewBloomFilterPolicy(10));
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
  db.Compact();  // Now in our form again.
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
        const std::unique_ptr<rdb::Iterator> it(db->NewIterator({}));
        it->Seek(key);
        ASSERT_TRUE(it->Valid() && it->key() == rdb::Slice(key))
            << SetUpName(first) << " then " << SetUpName(second);
      }
    }
  }
}

// Returns the same filter with changed metadata or a changed descriptor.
std::string Changed(const std::string& filter,
                    void (*change)(FilterDescriptor*, std::string* metadata)) {
  const auto blob = ParseFilterBlob(filter);
  EXPECT_TRUE(blob.ok());
  EncodedFilter encoded;
  encoded.descriptor = blob->descriptor;
  encoded.units = std::string(blob->units);
  std::string metadata(blob->metadata);
  change(&encoded.descriptor, &metadata);
  return EncodeFilterBlob(encoded, metadata);
}

struct Tampering {
  const char* name;
  std::function<void(std::string* filter)> tamper;
};

std::vector<Tampering> TamperingsOfEachKind() {
  return {
      {"newer metadata",
       [](std::string* filter) {
         *filter = Changed(*filter, [](FilterDescriptor*, std::string* meta) {
           (*meta)[kMetadataVersionOffset] = kMetadataVersion + 1;
         });
       }},
      {"no metadata",
       [](std::string* filter) {
         *filter = Changed(*filter, [](FilterDescriptor*, std::string* meta) {
           meta->clear();
         });
       }},
      {"unknown family",
       [](std::string* filter) {
         *filter =
             Changed(*filter, [](FilterDescriptor* descriptor, std::string*) {
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
         const uint64_t checksum = hash::Hash64(
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
      const auto policy = std::make_shared<TamperingPolicy>();
      policy->tamper = tampering.tamper;
      db.set_up.other_policy = policy;
      db.Open();
      Fill(&db);
      if (partitioned) {
        EXPECT_GT(policy->finished, 10);
      }
      ExpectAllFound(db);
      db.set_up.other_policy.reset();
      db.Open();
      ExpectAllFound(db);
      EXPECT_EQ(Useful(db), 0);
      db.Compact();
      ExpectAllFound(db);
      EXPECT_GT(Useful(db), 0);
    }
  }
}

// Flips a bit of each filter where it lies in the only SST.
void DamageFiltersOnDisk(TestDb* db, const std::vector<std::string>& filters) {
  std::vector<rdb::LiveFileMetaData> files;
  (*db)->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1);
  const std::string path = files[0].db_path + files[0].name;
  db->Close();
  std::string bytes;
  ASSERT_TRUE(rdb::ReadFileToString(db->env(), path, &bytes).ok());
  for (const std::string& filter : filters) {
    const size_t at = bytes.find(filter);
    ASSERT_NE(at, std::string::npos);
    bytes[at + filter.size() / 2] ^= 1;
  }
  ASSERT_TRUE(rdb::WriteStringToFile(db->env(), bytes, path,
                                     /*should_sync=*/true)
                  .ok());
}

// Opens it as a program without rowbloom does: with neither policy nor
// extractor.
void OpenWithoutPlugin(TestDb* db) {
  rdb::Options options = db->MakeOptions();
  rdb::BlockBasedTableOptions table = db->TableOptions();
  table.filter_policy = nullptr;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  options.prefix_extractor = nullptr;
  db->Open(options);
}

TEST(DbLife, FiltersDamagedOnDiskLoseNoRow) {
  for (bool partitioned : {false, true}) {
    for (bool cached : {false, true}) {
      TestDb db;
      db.set_up.partitioned = partitioned;
      db.set_up.cache_filter_blocks = cached;
      const auto policy = std::make_shared<TamperingPolicy>();
      std::vector<std::string> filters;
      policy->tamper = [&filters](std::string* filter) {
        filters.push_back(*filter);
      };
      db.set_up.other_policy = policy;
      db.Open();
      Fill(&db);
      EXPECT_EQ(filters.size() > 1, partitioned);
      DamageFiltersOnDisk(&db, filters);
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
      EXPECT_EQ(Useful(db), 0);
      db.Compact();
      db.Open();
      db.Compact();
      EXPECT_TRUE(db->VerifyChecksum().ok());
      ExpectAllFound(db);
      EXPECT_GT(Useful(db), 0);
    }
  }
}

TEST(DbLife, NoRowIsLostWithoutThePluginNorWhenItIsBack) {
  for (bool partitioned : {false, true}) {
    for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
      TestDb db;
      db.set_up.partitioned = partitioned;
      db.set_up.filter.bloom_type = db.set_up.extractor_type = type;
      db.Open();
      Fill(&db);
      OpenWithoutPlugin(&db);
      ExpectAllFound(db);
      Fill(&db);  // A second file, which has no filter.
      ExpectAllFound(db);
      EXPECT_EQ(Useful(db), 0);
      db.Open();  // One file with a filter, one without.
      ExpectAllFound(db);
      EXPECT_GT(Useful(db), 0);
      OpenWithoutPlugin(&db);
      db.Compact();
      EXPECT_EQ(db.FilterBytes(), 0);
      db.Open();
      const uint64_t before = Useful(db);
      ExpectAllFound(db);
      EXPECT_EQ(Useful(db), before);
    }
  }
}

TEST(DbLife, PoliciesThatTakeTurnsLoseNoRow) {
  std::vector<std::shared_ptr<const rdb::FilterPolicy>> policies = {nullptr};
  policies.emplace_back(rdb::NewBloomFilterPolicy(10));
  policies.emplace_back(rdb::NewRibbonFilterPolicy(10, -1));
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
      Fill(&db);
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
  db.set_up.filter.filter_spec = FilterSpec::TargetFpr("compact", 0.003);
  db.Open();
  Fill(&db);
  db.Close();

  rdb::ConfigOptions config;
  config.env = db.env();
  config.ignore_unsupported_options = false;
  rdb::DBOptions db_options;
  std::vector<rdb::ColumnFamilyDescriptor> families;
  const rdb::Status status =
      rdb::LoadLatestOptions(config, TestDb::path(), &db_options, &families);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(families.size(), 1);
  rdb::Options options(db_options, families[0].options);
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

  options.env = db.env();  // Not among the loaded options.
  db.Open(options);
  Fill(&db);
  EXPECT_EQ(GetsThatFind(db), kRows);
  for (const auto& properties : db.Properties()) {
    EXPECT_EQ(properties->filter_policy_name, "rowbloom");
    EXPECT_EQ(properties->num_filter_entries, kRows);
  }
}

// This is why programs must register before they load options.
TEST(DbLife, OptionsLoadedWithoutRegistrationLackTheFilterAndLoseNoRow) {
  TestDb db;
  db.Open();
  Fill(&db);
  db.Close();
  rdb::ConfigOptions config;
  config.env = db.env();
  config.registry = StockRegistry();
  rdb::DBOptions db_options;
  std::vector<rdb::ColumnFamilyDescriptor> families;
  ASSERT_TRUE(
      rdb::LoadLatestOptions(config, TestDb::path(), &db_options, &families)
          .ok());
  const auto* table =
      families[0]
          .options.table_factory->GetOptions<rdb::BlockBasedTableOptions>();
  EXPECT_EQ(table->filter_policy, nullptr);
  rdb::Options options(db_options, families[0].options);
  EXPECT_EQ(options.prefix_extractor, nullptr);
  options.env = db.env();
  db.Open(options);
  ExpectAllFound(db);
  Fill(&db);
  db.Compact();
  ExpectAllFound(db);
  EXPECT_EQ(db.FilterBytes(), 0);
}

// SstFileWriter knows neither level nor column family.
TEST(DbLife, IngestedFilesAreFiltered) {
  TestDb db;
  db.Open();
  const rdb::Options options = db.MakeOptions();
  rdb::SstFileWriter writer(rdb::EnvOptions(), options);
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
  db.set_up.block_cache = rdb::NewLRUCache(64 << 10);
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

// RocksDB counts the absent keys that pass. The bound is five standard
// deviations of the binomial around the policy's expected rate, on each side;
// it fails by chance once in 1.7 million runs of different keys (these are
// fixed).
TEST(DbLife, FalsePositiveRateIsTheExpectedOne) {
  constexpr int kKeys = 50000;
  constexpr int kLookups = 200000;
  std::vector<FilterSpec> policies = SpecsOfEachFamily();
  for (double bits_per_key : {8.0, 12.5}) {
    policies.push_back(FilterSpec::BitsPerKey("blocked_bloom", bits_per_key));
  }
  for (const FilterSpec& policy : policies) {
    TestDb db;
    db.set_up.filter.bloom_type = BloomType::kRow;
    db.set_up.extractor = false;
    db.set_up.filter.filter_spec = policy;
    rdb::Options options = db.MakeOptions();
    options.write_buffer_size = 64 << 20;
    db.Open(options);
    for (int i = 0; i < kKeys; ++i) {
      db.Put(db.Key("row" + std::to_string(i), "q"), "");
    }
    db.Put(db.Key("zzz", "q"), "");  // All lookups are within the range.
    db.Flush();
    ASSERT_EQ(db.Properties().size(), 1);
    for (int i = 0; i < kLookups; ++i) {
      ASSERT_FALSE(db.Has(db.Key("row" + std::to_string(i) + "x", "q")));
    }
    const double positives =
        static_cast<double>(db.Ticker(rdb::BLOOM_FILTER_FULL_POSITIVE));
    EXPECT_EQ(positives + static_cast<double>(db.Ticker(BLOOM_FILTER_USEFUL)),
              kLookups);
    const double rate = policy.expected_fpr();
    const double deviation = std::sqrt(kLookups * rate * (1 - rate));
    EXPECT_NEAR(positives, kLookups * rate, 5 * deviation) << policy.ToString();
  }
}

}  // namespace
}  // namespace rowbloom::testing
