// SPDX-License-Identifier: Apache-2.0
//
// Tests keys of more than two levels in RocksDB: which blocks scans read, and
// set-ups in which keys of a level could get lost, with controls that lose
// them.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "policy/row_filter_builder.h"
#include "rocksdb_plugin/tampering_policy.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb_verify.h"
#include "testing/key_codecs.h"

namespace rowbloom::testing {
namespace {

using rdb::Slice;
using Segments = std::vector<std::string>;

constexpr int kTenants = 6;
constexpr int kUsers = 8;
constexpr int kRowsOfUser = 6;
constexpr char kCodec[] =
    "tenant.fixed:4,user.delimiter:/,row.length:4,cell.rest";

std::string Number(char first, int number) {
  return first + std::to_string(100 + number);
}

// Every other tenant has no keys, nor every other user of a tenant, and so on.
Segments Path(int tenant, int user, int row) {
  return {Number('t', 2 * tenant), Number('u', 2 * user),
          std::to_string(2 * row), "cell"};
}

std::string Encoded(const TestDb& db, const Segments& segments) {
  std::string key;
  EXPECT_TRUE(db.set_up.filter.key_codec.Encode(Views(segments), &key).ok());
  return key;
}

void SetCodec(TestDb* db, std::string_view codec = kCodec) {
  db->set_up.filter.key_codec = *KeyCodec::Parse(codec);
}

// Writes each row of a user into another SST.
void Fill(TestDb* db) {
  for (int row = 0; row < kRowsOfUser; ++row) {
    for (int tenant = 0; tenant < kTenants; ++tenant) {
      for (int user = 0; user < kUsers; ++user) {
        db->Put(Encoded(*db, Path(tenant, user, row)), "value");
      }
    }
    db->Flush();
  }
}

size_t Count(RocksDbPrefixScan scan) {
  size_t count = 0;
  for (; scan.Valid(); scan.Next()) ++count;
  EXPECT_TRUE(scan.status().ok()) << scan.status().ToString();
  return count;
}

// The keys under each prefix of some keys, by level.
std::vector<size_t> CountByLevel(const TestDb& db) {
  std::vector<size_t> counts;
  const RocksDbRows rows = db.Rows();
  for (size_t level = 1; level <= 4; ++level) {
    size_t count = 0;
    for (int tenant = 0; tenant < kTenants; ++tenant) {
      for (int user = 0; user < kUsers; ++user) {
        for (int row = 0; row < kRowsOfUser; ++row) {
          count += Count(rows.Scan({}, Views(Path(tenant, user, row), level)));
        }
      }
    }
    counts.push_back(count);
  }
  return counts;
}

std::vector<size_t> AllPresent() {
  constexpr size_t kAll = kTenants * kUsers * kRowsOfUser;
  return {kAll * kUsers * kRowsOfUser, kAll * kRowsOfUser, kAll, kAll};
}

// Makes the last of the first `level` segments one that nothing begins with.
Segments Absent(Segments segments, size_t level) {
  segments[level - 1].back() = level == 4 ? 'x' : '7';
  return segments;
}

TEST(DbLevels, ScansOfEachLevelFindAllKeysAndReadNoFilesWithoutThem) {
  for (const bool partitioned : {false, true}) {
    for (const bool shorten : {false, true}) {
      TestDb db;
      SetCodec(&db);
      db.set_up.partitioned = partitioned;
      db.set_up.shorten_separators = shorten;
      db.set_up.filter.filter_spec = FilterSpec::BitsPerKey("compact", 16);
      db.Open();
      Fill(&db);
      EXPECT_EQ(CountByLevel(db), AllPresent());
      const RocksDbRows rows = db.Rows();
      for (size_t level = 1; level <= 4; ++level) {
        const uint64_t useful = db.Useful();
        for (int tenant = 0; tenant < kTenants; ++tenant) {
          for (int user = 0; user < kUsers; ++user) {
            const Segments absent = Absent(Path(tenant, user, 0), level);
            bool exists = true;
            ASSERT_TRUE(rows.Exists({}, Views(absent, level), &exists).ok());
            EXPECT_FALSE(exists);
          }
        }
        // Nearly each file says no; it may lie before or behind the prefix.
        EXPECT_GT(db.Useful() - useful,
                  kTenants * kUsers * kRowsOfUser * 8 / 10)
            << "level " << level << " partitioned " << partitioned;
      }
      db.Compact();
      EXPECT_EQ(CountByLevel(db), AllPresent());
    }
  }
}

TEST(DbLevels, GetsAskTheLongestLevel) {
  TestDb db;
  SetCodec(&db);
  db.Open();
  Fill(&db);
  const uint64_t useful = db.Useful();
  for (int user = 0; user < kUsers; ++user) {
    EXPECT_TRUE(db.Has(Encoded(db, Path(1, user, 2))));
    EXPECT_FALSE(db.Has(Encoded(db, Absent(Path(1, user, 2), 4))));
  }
  // Absent keys spare all files, present ones those of the other rows.
  EXPECT_GE(db.Useful() - useful, kUsers * kRowsOfUser * 3 / 2);
}

TEST(DbLevels, ScansOfRowsOfAFixedLengthAskTheFilter) {
  for (const KeyCodec& codec :
       {KeyCodec::FixedRow(7), KeyCodec::Delimiter('|')}) {
    TestDb db;
    db.set_up.filter.key_codec = codec;
    db.OpenAndFill(500);
    bool exists = false;
    ASSERT_TRUE(db.Rows().RowExists({}, Row(7), &exists).ok());
    EXPECT_TRUE(exists);
    const uint64_t useful = db.Useful();
    for (int row = 0; row < 100; ++row) {
      std::string absent = Row(row);  // Among the present ones in order.
      absent[5] = 'x';
      absent[4] = static_cast<char>('0' + row % 4);
      ASSERT_TRUE(db.Rows().RowExists({}, absent, &exists).ok());
      EXPECT_FALSE(exists);
    }
    EXPECT_GT(db.Useful() - useful, 90);
  }
}

// A prefix extractor as one would write it: an exact prefix of a level maps to
// itself, and every other key to its tenant.
class ExactPrefixes : public rdb::SliceTransform {
 public:
  explicit ExactPrefixes(const KeyCodec& codec) : codec_(codec) {}
  const char* Name() const override { return "test.ExactPrefixes"; }
  Slice Transform(const Slice& key) const override {
    const KeyCodec::Prefixes prefixes =
        codec_.PrefixesOf({key.data(), key.size()});
    const bool exact =
        prefixes.count < 4 && prefixes.sizes[prefixes.count - 1] == key.size();
    return Slice(key.data(), exact ? key.size() : prefixes.sizes[0]);
  }
  bool InDomain(const Slice& key) const override {
    return codec_.PrefixesOf({key.data(), key.size()}).count > 0;
  }

 private:
  const KeyCodec codec_;
};

// The keys of a tenant by a plain seek, which RocksDB documents as right.
size_t PlainScanOfTenant(const TestDb& db, const std::string& tenant) {
  const auto it = db.NewIterator();
  size_t count = 0;
  for (it->Seek(tenant); it->Valid() && it->key().starts_with(tenant);
       it->Next()) {
    ++count;
  }
  return count;
}

// RocksDB seeks to the end of a tombstone, which users set to where the next
// user begins. Older files without that user would drop out.
TEST(DbLevels, ATombstoneUpToTheNextUserHidesNothing) {
  for (const bool ours : {false, true}) {
    TestDb db;
    SetCodec(&db);
    rdb::Options options = db.MakeOptions();
    if (!ours) {
      options.prefix_extractor =
          std::make_shared<ExactPrefixes>(db.set_up.filter.key_codec);
    }
    db.Open(options);
    db.Put(Encoded(db, {"acme", "u1", "r", "c"}), "deleted");
    db.Put(Encoded(db, {"acme", "u9", "r", "c"}), "living");
    db.Flush();
    db.Put(Encoded(db, {"acme", "u5", "r", "c"}), "living");
    db.Flush();
    db.DeleteRange(Encoded(db, {"acme", "u1"}), Encoded(db, {"acme", "u5"}));
    db.Flush();
    EXPECT_EQ(PlainScanOfTenant(db, "acme"), ours ? 2 : 1);
    EXPECT_EQ(Count(db.Rows().Scan({}, {"acme"})), 2);
    EXPECT_EQ(Count(db.Rows().Scan({}, {"acme", "u5"})), 1);
    EXPECT_EQ(Count(db.Rows().Scan({}, {"acme", "u1"})), 0);
  }
}

// A memtable's Bloom filter holds what the extractor makes of stored keys.
TEST(DbLevels, AMemtablesFilterHidesNoLevel) {
  for (const bool ours : {false, true}) {
    TestDb db;
    SetCodec(&db);
    rdb::Options options = db.MakeOptions();
    options.memtable_prefix_bloom_size_ratio = 0.1;
    if (!ours) {
      options.prefix_extractor =
          std::make_shared<ExactPrefixes>(db.set_up.filter.key_codec);
    }
    db.Open(options);
    const Segments path = {"acme", "ann", "r", "c"};
    db.Put(Encoded(db, path), "value");
    size_t plain = 0;
    for (size_t level = 1; level <= 4; ++level) {
      EXPECT_EQ(Count(db.Rows().Scan({}, Views(path, level))), 1);
      std::string lower;
      ASSERT_TRUE(
          db.set_up.filter.key_codec.LowerBound(Views(path, level), &lower)
              .ok());
      const auto it = db.NewIterator();
      it->Seek(lower);
      plain += it->Valid() ? 1 : 0;
    }
    EXPECT_EQ(plain, ours ? 4 : 2);
  }
}

// Our policy, whose partitions leave out the separators behind them.
class WithoutSeparators : public TamperingPolicy {
 public:
  explicit WithoutSeparators(const RocksDbOptions& options)
      : TamperingPolicy([](std::string*) {}), filter_(options) {}
  rdb::FilterBitsBuilder* GetBuilderWithContext(
      const rdb::FilterBuildingContext& /*context*/) const override {
    return new plugin::RowFilterBuilder(filter_, /*verify_result=*/false,
                                        /*partitioned=*/false);
  }

 private:
  const RocksDbOptions filter_;
};

// Users whose lower bounds RocksDB makes separators of: consecutive numbers,
// and names before the delimiter with and without the byte before it.
std::string AdjacentUser(bool delimited, int user) {
  const std::string number =
      std::to_string(100000 + (delimited ? user / 2 : user));
  return delimited && user % 2 == 0 ? number + "." : number;
}

// Returns how many of the users Exists() does not find.
int CountLostUsers(TestDb* db, rdb::BlockBasedTableOptions table) {
  constexpr int kAdjacentUsers = 2000;
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 906
  table.decouple_partitioned_filters = false;
#endif
  rdb::Options options = db->MakeOptions();
  options.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
  db->Open(options);
  const KeyCodec& codec = db->set_up.filter.key_codec;
  const bool delimited = codec.segment(1).kind == KeyCodec::Kind::kDelimiter;
  for (int user = 0; user < kAdjacentUsers; ++user) {
    db->Put(Encoded(*db, {"acme", AdjacentUser(delimited, user)}) + "cell",
            "value");
  }
  db->Flush();
  int lost = 0;
  for (int user = 0; user < kAdjacentUsers; ++user) {
    bool exists = false;
    EXPECT_TRUE(
        db->Rows()
            .Exists({}, {"acme", AdjacentUser(delimited, user)}, &exists)
            .ok());
    lost += exists ? 0 : 1;
  }
  return lost;
}

// RocksDB seeks to such a user in the partition before the user's.
TEST(DbLevels, SeparatorsBetweenPartitionsHideNothing) {
  using Shortening = rdb::BlockBasedTableOptions::IndexShorteningMode;
  for (const char* codec :
       {"tenant.fixed:4,user.fixed:6,rest", "tenant.fixed:4,user.fixed:6",
        "tenant.fixed:4,user.length:1,rest",
        "tenant.fixed:4,user.delimiter:/,rest"}) {
    for (const Shortening shortening :
         {Shortening::kNoShortening, Shortening::kShortenSeparators,
          Shortening::kShortenSeparatorsAndSuccessor}) {
      for (const uint32_t format_version : {2U, 5U}) {
        for (const bool ours : {true, false}) {
          TestDb db;
          SetCodec(&db, codec);
          db.set_up.partitioned = true;
          // A filter with fewer bits could pass a prefix that it lacks.
          db.set_up.filter.filter_spec = FilterSpec::BitsPerKey("compact", 16);
          rdb::BlockBasedTableOptions table = db.TableOptions();
          table.index_shortening = shortening;
          table.format_version = format_version;
          if (!ours) {
            table.filter_policy =
                std::make_shared<WithoutSeparators>(db.set_up.filter);
          }
          const int lost = CountLostUsers(&db, table);
          if (ours) {
            EXPECT_EQ(lost, 0) << codec;
          } else if (shortening != Shortening::kNoShortening &&
                     format_version == 5) {
            EXPECT_GT(lost, 0) << codec;
          }
        }
      }
    }
  }
}

// RocksDB's own filters hold the tenant and whole keys; with a question for a
// user they would deny all users.
TEST(DbLevels, FiltersOfOtherPoliciesAreAskedForTheFirstLevel) {
  TestDb db;
  SetCodec(&db);
  db.set_up.other_policy = StockBloom();
  db.Open();
  Fill(&db);
  EXPECT_EQ(CountByLevel(db), AllPresent());
  const uint64_t useful = db.Useful();
  bool exists = true;
  ASSERT_TRUE(db.Rows().Exists({}, {"t101", "u100"}, &exists).ok());
  EXPECT_FALSE(exists);
  EXPECT_GE(db.Useful() - useful,
            kRowsOfUser - 1);  // The tenant does not exist.
}

TEST(DbLevels, AnotherKeyCodecLosesNothing) {
  constexpr const char* kCodecs[] = {
      kCodec,
      "tenant.fixed:4,-user.delimiter:/,-row.length:4,cell.rest",
      "fixed:2,fixed:1,fixed:1,rest",
      "fixed:4",
      "ordered",
      "a.fixed:3,b.fixed:2,c.delimiter:/,d.ordered,e.rest"};
  for (const char* before : kCodecs) {
    for (const char* after : kCodecs) {
      TestDb db;
      db.set_up.filter.key_codec = *KeyCodec::Parse(before);
      db.Open();
      const KeyCodec codec = *KeyCodec::Parse(kCodec);
      std::vector<std::string> keys;
      for (int user = 0; user < kUsers; ++user) {
        keys.emplace_back();
        ASSERT_TRUE(codec.Encode(Views(Path(0, user, 0)), &keys.back()).ok());
        db.Put(keys.back(), "value");
        db.Flush();
      }
      // The filters are those of `before`; the extractor is of `after`.
      db.set_up.filter.key_codec = *KeyCodec::Parse(after);
      db.Open();
      for (const std::string& key : keys) EXPECT_TRUE(db.Has(key));
      const RocksDbRows rows(db.get(), db->DefaultColumnFamily(), codec);
      for (int user = 0; user < kUsers; ++user) {
        for (size_t level = 1; level <= 4; ++level) {
          EXPECT_EQ(Count(rows.Scan({}, Views(Path(0, user, 0), level))),
                    level == 1 ? kUsers : 1)
              << before << " " << after;
        }
      }
    }
  }
}

// The same, but files were written with an extractor of one key codec and
// filters of another, which CheckRocksDbOptions() refuses.
TEST(DbLevels, AFilterOfAnotherKeyCodecThanTheExtractorAnswersMaybe) {
  for (const char* of_filter :
       {"fixed:2,fixed:1,fixed:1,rest", "ordered", "fixed:4", "1.rest",
        "tenant.fixed:4,-user.delimiter:/,row.length:4"}) {
    TestDb db;
    SetCodec(&db);
    rdb::Options options = db.MakeOptions();
    db.set_up.filter.key_codec = *KeyCodec::Parse(of_filter);
    options.table_factory.reset(
        rdb::NewBlockBasedTableFactory(db.TableOptions()));
    SetCodec(&db);
    EXPECT_TRUE(CheckRocksDbOptions(options).IsInvalidArgument());
    db.Open(options);
    Fill(&db);
    EXPECT_EQ(CountByLevel(db), AllPresent()) << of_filter;
  }
}

// Budgets count by it.
TEST(DbLevels, TableAndReportSayTheFilterKeysOfAllLevels) {
  TestDb db;
  SetCodec(&db);
  db.Open();
  Fill(&db);
  EXPECT_EQ(db.FilterEntries(), kRowsOfUser * kTenants * (1 + 3 * kUsers));
  const auto report = VerifyRocksDbFilters(db.get(), db->DefaultColumnFamily());
  ASSERT_TRUE(report.ok());
  EXPECT_NE(report->expected.ToString().find(
                "rowbloom ROWCOL " + db.set_up.filter.key_codec.ToString()),
            std::string::npos);
  uint64_t filter_keys = 0;
  for (const RocksDbFilterFile& file : report->files) {
    filter_keys += file.filter_key_count;
  }
  EXPECT_EQ(filter_keys, db.FilterEntries());
}

TEST(DbLevels, OptionsFilesKeepTheKeyCodecAndItsNames) {
  RegisterRocksDb();
  TestDb db;
  SetCodec(&db, "-ns.length:1,tenant.fixed:4,user.delimiter:0x1f,cell.rest");
  db.OpenAndFill(0);
  const rdb::Options loaded = db.LoadOptions();
  ASSERT_NE(loaded.prefix_extractor, nullptr);
  EXPECT_STREQ(loaded.prefix_extractor->Name(),
               "rowbloom.RowPrefix:ROWCOL:-length:1,fixed:4,delimiter:0x1f,"
               "rest");
  const auto* table =
      loaded.table_factory->GetOptions<rdb::BlockBasedTableOptions>();
  ASSERT_NE(table, nullptr);
  ASSERT_NE(table->filter_policy, nullptr);
  std::string text;
  ASSERT_TRUE(table->filter_policy->GetOption({}, "key_codec", &text).ok());
  EXPECT_EQ(text, "-ns.length:1,tenant.fixed:4,user.delimiter:0x1f,cell.rest");
}

TEST(DbLevels, CallsForRowsAndQualifiersAreRefusedForOtherKeyCodecs) {
  TestDb db;
  SetCodec(&db);
  db.Open();
  std::vector<RocksDbCell> cells;
  rdb::PinnableSlice value;
  EXPECT_TRUE(db.Rows().GetRow({}, "acme", &cells).IsInvalidArgument());
  EXPECT_TRUE(db.Rows().GetCell({}, "acme", "u", &value).IsInvalidArgument());
  EXPECT_TRUE(
      db.Rows().GetNewestCell({}, "acme", "u", &value).IsInvalidArgument());
  EXPECT_TRUE(db.Rows().Scan({}, {}).status().IsInvalidArgument());
  EXPECT_TRUE(db.Rows().Scan({}, {"long tenant"}).status().IsInvalidArgument());
  auto failed = db.Rows().Scan({}, {"long tenant"});
  EXPECT_FALSE(failed.Valid());
  failed.Next();
  const RocksDbPrefixScan moved = std::move(failed);
  EXPECT_TRUE(moved.status().IsInvalidArgument());
  failed.Next();  // NOLINT(bugprone-use-after-move)
  EXPECT_FALSE(failed.Valid());
  EXPECT_TRUE(failed.status().IsInvalidArgument());
}

}  // namespace
}  // namespace rowbloom::testing
