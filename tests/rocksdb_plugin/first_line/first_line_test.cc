// SPDX-License-Identifier: Apache-2.0
//
// The first lines of README and docs/rocksdb.md, on keys that nobody made for
// them: each filter stops what its family promises, and more than RocksDB's
// Bloom filter of as many bits, and no key is lost.
//
// In a program of its own: extractors of other tests may make filters answer
// "maybe" to some keys.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "open_db.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "rocksdb_plugin/first_line/key_shapes.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_composed.h"
#include "rowbloom/rocksdb_verify.h"

namespace rowbloom::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using PolicyPointer = std::shared_ptr<const rdb::FilterPolicy>;

PolicyPointer FromText(const std::string& text) {
  PolicyPointer policy;
  const rdb::Status status = ParseRocksDbFilterPolicy(text, &policy);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return policy;
}

struct Line {
  std::string name;
  PolicyPointer policy;
  double promised_fpr = 0;
  bool is_repetition = false;  // The same policy by other words.
};

// The lines with which README and docs/rocksdb.md begin, and their neighbours.
std::vector<Line> FirstLines() {
  const double compact = FilterSpec::BitsPerKey("compact", 10).expected_fpr();
  const double bloom = 0.01;
  std::vector<Line> lines;
  lines.push_back({"rowbloom:10", FromText("rowbloom:10"), compact});
  for (const char* text : {"rowbloom", "{id=rowbloom;filter_spec=compact}",
                           "{id=rowbloom;key_codec=whole_key}"}) {
    lines.push_back({text, FromText(text), compact, true});
  }
  lines.push_back({"NewRocksDbFilterPolicy({})", NewRocksDbFilterPolicy({}),
                   compact, true});
  lines.push_back({"{id=rowbloom;filter_spec=fast}",
                   FromText("{id=rowbloom;filter_spec=fast}"),
                   FilterSpec::BitsPerKey("fast", 10).expected_fpr()});
  lines.push_back({"{id=rowbloom;budget=balanced}",
                   FromText("{id=rowbloom;budget=balanced}"), compact});
  lines.push_back(
      {"rowbloom.Composed:10", FromText("rowbloom.Composed:10"), bloom});
  lines.push_back(
      {"rowbloom.Composed", FromText("rowbloom.Composed"), bloom, true});
  lines.push_back({"NewRocksDbComposedPolicy({})", NewRocksDbComposedPolicy({}),
                   bloom, true});
  return lines;
}

// A database in memory of one SST.
class ShapedDb {
 public:
  ShapedDb(const KeyShape& shape, PolicyPointer policy, bool partitioned)
      : shape_(shape), env_(rdb::NewMemEnv(rdb::Env::Default())) {
    rdb::BlockBasedTableOptions table;
    table.filter_policy = std::move(policy);
    if (partitioned) {
      table.partition_filters = true;
      table.index_type = rdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    }
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.statistics = rdb::CreateDBStatistics();
    options_.compression = rdb::kNoCompression;
    options_.disable_auto_compactions = true;
    options_.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
    if (shape.prefix_size > 0) {
      table.whole_key_filtering = shape.has_whole_keys;
      options_.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
      options_.prefix_extractor.reset(
          rdb::NewCappedPrefixTransform(shape.prefix_size));
    }
    if (shape.extractor != nullptr) {
      options_.prefix_extractor = shape.extractor;
    }
    if (shape.comparator != nullptr) options_.comparator = shape.comparator;
    if (shape.has_timestamps) {
      EXPECT_TRUE(
          rdb::Comparator::CreateFromString(
              {}, "leveldb.BytewiseComparator.u64ts", &options_.comparator)
              .ok());
    }
    const rdb::Status check = CheckRocksDbOptions(options_);
    EXPECT_TRUE(check.ok()) << check.ToString();
    const rdb::Status status = plugin::OpenDb(
        [&](auto* db) { return rdb::DB::Open(options_, "/db", db); }, &db_);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  rdb::DB* get() const { return db_.get(); }

  void Put(const std::string& key, uint64_t time = 1) {
    const std::string stamp = LittleEndian(time, 8);
    const rdb::Status status = shape_.has_timestamps
                                   ? db_->Put({}, key, stamp, "value")
                                   : db_->Put({}, key, "value");
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  void Flush() { EXPECT_TRUE(db_->Flush({}).ok()); }
  bool Has(const std::string& key) {
    const std::string stamp = LittleEndian(9, 8);
    const rdb::Slice slice(stamp);
    rdb::ReadOptions read;
    if (shape_.has_timestamps) read.timestamp = &slice;
    rdb::PinnableSlice value;
    return db_->Get(read, db_->DefaultColumnFamily(), key, &value).ok();
  }

  // True if a seek to the prefix reads the SST.
  bool PassesPrefixOf(const std::string& key) {
    rdb::ReadOptions read;
    read.prefix_same_as_start = true;
    const std::unique_ptr<rdb::Iterator> it(db_->NewIterator(read));
    const uint64_t before = SeeksStopped();
    it->Seek(key);
    return SeeksStopped() == before;
  }

  bool HasPrefix(const std::string& key) {
    rdb::ReadOptions read;
    read.prefix_same_as_start = true;
    const std::unique_ptr<rdb::Iterator> it(db_->NewIterator(read));
    it->Seek(key);
    return it->Valid() && it->key().starts_with(key);
  }

  // Stores every other key, and returns how many gets of the others read the
  // SST: its false positives.
  uint64_t FillAndAsk() {
    for (uint64_t i = 0; i < shape_.count; i += 2) Put(shape_.key(i));
    Flush();
    uint64_t lost = 0;
    for (uint64_t i = 0; i < shape_.count; i += 2) {
      lost += Has(shape_.key(i)) ? 0 : 1;
    }
    EXPECT_EQ(lost, 0u);
    const uint64_t before = Positives();
    for (uint64_t i = 1; i < shape_.count; i += 2) {
      EXPECT_FALSE(Has(shape_.key(i)));
    }
    return Positives() - before;
  }

  RocksDbFilterReport Verify() const {
    auto report = VerifyRocksDbFilters(db_.get(), db_->DefaultColumnFamily());
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : RocksDbFilterReport();
  }

 private:
  uint64_t SeeksStopped() const {
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 803
    return options_.statistics->getTickerCount(rdb::LAST_LEVEL_SEEK_FILTERED) +
           options_.statistics->getTickerCount(
               rdb::NON_LAST_LEVEL_SEEK_FILTERED);
#else
    return options_.statistics->getTickerCount(rdb::BLOOM_FILTER_PREFIX_USEFUL);
#endif
  }
  uint64_t Positives() const {
    return options_.statistics->getTickerCount(rdb::BLOOM_FILTER_FULL_POSITIVE);
  }

  const KeyShape shape_;
  const std::unique_ptr<rdb::Env> env_;
  rdb::Options options_;
  std::unique_ptr<rdb::DB> db_;
};

// At most `share` of `count` in 9999 of 10,000 cases (normal, and a few for
// small numbers).
double UpperBound(double share, uint64_t count) {
  const double mean = share * static_cast<double>(count);
  return mean + 3.72 * std::sqrt(mean) + 3;
}

TEST(FirstLine, StopsWhatItPromisesOnKeysOfEveryShape) {
  const std::vector<Line> lines = FirstLines();
  for (const KeyShape& shape : AllKeyShapes()) {
    for (const bool partitioned : {false, true}) {
      const PolicyPointer stock(rdb::NewBloomFilterPolicy(10));
      const uint64_t bloom = ShapedDb(shape, stock, partitioned).FillAndAsk();
      for (const Line& line : lines) {
        if (partitioned && line.is_repetition) continue;
        SCOPED_TRACE(shape.name + ", " + line.name +
                     (partitioned ? ", partitioned" : ""));
        ShapedDb db(shape, line.policy, partitioned);
        const uint64_t asked = shape.count / 2;
        const uint64_t passed = db.FillAndAsk();
        EXPECT_LE(static_cast<double>(passed),
                  UpperBound(1.3 * line.promised_fpr, asked));
        EXPECT_LE(passed, bloom + 3);
        const RocksDbFilterReport report = db.Verify();
        ASSERT_EQ(report.files.size(), 1u);
        EXPECT_THAT(report.warnings(), IsEmpty());
        EXPECT_GE(report.files[0].filter_key_count, shape.count / 2);
      }
    }
  }
}

TEST(Codec, ThatNobodyWroteTheKeysWithIsFound) {
  for (const KeyShape& shape : AllKeyShapes()) {
    for (const char* codec : {"ordered", "a.ordered,b.ordered,c.rest"}) {
      for (const bool partitioned : {false, true}) {
        ShapedDb db(
            shape,
            FromText(std::string("{id=rowbloom;key_codec=") + codec + "}"),
            partitioned);
        const uint64_t asked = shape.count / 2;
        const double passed = static_cast<double>(db.FillAndAsk());
        const double expected =
            FilterSpec::BitsPerKey("compact", 10).expected_fpr();
        SCOPED_TRACE(shape.name + " " + codec + " passes " +
                     std::to_string(100 * passed / static_cast<double>(asked)));
        const RocksDbFilterReport report = db.Verify();
        const std::vector<std::string> warnings = report.warnings();
        // Ten times the promised reads are worth a warning.
        if (passed > UpperBound(10 * expected, asked)) {
          EXPECT_THAT(warnings,
                      ElementsAre(AllOf(HasSubstr("does not fit"),
                                        HasSubstr("key_codec=whole_key"),
                                        HasSubstr("and compact"))));
        } else if (shape.name == "URLs" || shape.name == "UUIDs as text") {
          EXPECT_THAT(warnings, IsEmpty());  // Without a byte 00.
        }
      }
    }
  }
}

// A set-up in which many keys share a filter key by design, or look so.
struct Fitting {
  const char* name;
  const char* policy;
  void (*fill)(ShapedDb* db);
};

std::string Ordered(const std::string& row, const std::string& column) {
  std::string key;
  EXPECT_TRUE(KeyCodec::Ordered().Encode(row, column, &key).ok());
  return key;
}

const Fitting kFitting[] = {
    {"versions behind ordered columns", "{id=rowbloom;key_codec=ordered}",
     [](ShapedDb* db) {
       for (uint64_t i = 0; i < 5000; ++i) {
         db->Put(Ordered(BigEndian(i / 50, 8), "column") + BigEndian(i, 8));
       }
     }},
    {"rows of many cells", "{id=rowbloom;key_codec=fixed:8;bloom_type=ROW}",
     [](ShapedDb* db) {
       for (uint64_t i = 0; i < 5000; ++i) {
         db->Put(BigEndian(i / 50 * 7, 8) + BigEndian(i, 4));
       }
     }},
    {"rows and columns", "{id=rowbloom;key_codec=delimiter:/}",
     [](ShapedDb* db) {
       for (uint64_t i = 0; i < 5000; ++i) {
         db->Put(Format("row%06llu/", i / 50) + Format("column%02llu", i % 50));
       }
     }},
    {"rows, and bytes that are no column behind them",
     "{id=rowbloom;key_codec=ordered;bloom_type=ROW}",
     [](ShapedDb* db) {
       for (uint64_t i = 0; i < 5000; ++i) {
         const std::string row = Ordered(BigEndian(i / 5, 8), "");
         db->Put(row.substr(0, row.size() - 2) + BigEndian(i, 8));
       }
     }},
    {"keys of fewer key levels than the key codec has",
     "{id=rowbloom;key_codec=a.fixed:4,b.delimiter:/,c.ordered,d.rest}",
     [](ShapedDb* db) {
       for (uint64_t i = 0; i < 5000; ++i) {
         std::string key = BigEndian(i / 100, 4) + Format("user%llu/", i);
         if (i % 4 == 0) key += Ordered("row", "").substr(0, 5) + "rest";
         db->Put(key);
       }
     }},
    {"every number of a range", "rowbloom",
     [](ShapedDb* db) {
       for (uint64_t i = 0; i < 5000; ++i) db->Put(BigEndian(i, 8));
     }},
    {"tombstones between keys", "rowbloom",
     [](ShapedDb* db) {
       for (uint64_t i = 0; i < 6000; i += 2) {
         if (i % 20 < 10) {
           db->Put(BigEndian(i, 8));
         } else {
           EXPECT_TRUE(db->get()->Delete({}, BigEndian(i, 8)).ok());
         }
       }
       EXPECT_TRUE(db->get()
                       ->DeleteRange({}, db->get()->DefaultColumnFamily(),
                                     BigEndian(100, 8), BigEndian(400, 8))
                       .ok());
     }},
    {"one large row", "{id=rowbloom;key_codec=id.fixed:8,-cell.rest}",
     [](ShapedDb* db) {
       for (uint64_t i = 0; i < 5000; ++i) {
         db->Put(BigEndian(77, 8) + BigEndian(i, 4));
       }
     }},
    {"two large rows", "{id=rowbloom;key_codec=user.delimiter:|,-event.rest}",
     [](ShapedDb* db) {
       for (uint64_t i = 0; i < 5000; ++i) {
         db->Put(Format("user%llu|", i / 2500) + BigEndian(i, 4));
       }
     }},
    {"one key", "rowbloom", [](ShapedDb* db) { db->Put("key"); }},
    {"a key that is empty", "rowbloom", [](ShapedDb* db) { db->Put(""); }},
};

TEST(Codec, ThatFitsTheKeysIsNotWarnedOf) {
  for (const Fitting& fitting : kFitting) {
    for (const bool partitioned : {false, true}) {
      SCOPED_TRACE(fitting.name);
      ShapedDb db({}, FromText(fitting.policy), partitioned);
      fitting.fill(&db);
      db.Flush();
      const RocksDbFilterReport report = db.Verify();
      ASSERT_EQ(report.files.size(), 1u);
      EXPECT_THAT(report.warnings(), IsEmpty());
      const RocksDbFilterFile& file = report.files[0];
      if (file.entry_count < 2) continue;
      EXPECT_GT(file.neighbour_count, 100u) << file.unobserved;
      EXPECT_LT(*file.observed_fpr(), 0.02);
    }
  }
}

// As MyRocks is configured by default: filters hold prefixes alone, and gets
// ask for them.
TEST(FirstLine, FiltersPrefixesOfAnExtractorThatIsNotOurs) {
  for (const bool has_whole_keys : {false, true}) {
    KeyShape shape;
    shape.prefix_size = 12;
    shape.has_whole_keys = has_whole_keys;
    ShapedDb db(shape, FromText("rowbloom"), false);
    for (uint64_t i = 0; i < 5000; ++i) {
      db.Put(BigEndian(258, 4) + BigEndian(i / 5 * 2, 8) + BigEndian(i, 4));
    }
    db.Flush();
    // Every prefix of a range, each of many keys.
    ShapedDb dense(shape, FromText("rowbloom"), false);
    for (uint64_t i = 0; i < 5000; ++i) {
      dense.Put(BigEndian(258, 4) + BigEndian(i / 50, 8) + BigEndian(i, 4));
    }
    dense.Flush();
    EXPECT_THAT(dense.Verify().warnings(), IsEmpty());
    uint64_t passed = 0;
    for (uint64_t i = 0; i < 5000; ++i) {
      passed +=
          db.PassesPrefixOf(BigEndian(258, 4) + BigEndian(i / 5 * 2 + 1, 8));
    }
    EXPECT_LE(passed, 40u);  // 5.5 are expected.
    const RocksDbFilterReport report = db.Verify();
    ASSERT_EQ(report.files.size(), 1u);
    EXPECT_THAT(report.warnings(), IsEmpty());
    const RocksDbFilterFile& file = report.files[0];
    // RocksDB 7.8 adds an empty prefix behind the first one.
    EXPECT_NEAR(static_cast<double>(file.filter_key_count),
                has_whole_keys ? 6000 : 1000, 2);
    EXPECT_GT(file.neighbour_count, 300u) << file.unobserved;
    EXPECT_LT(*file.observed_fpr(), 0.01);
  }
}

// A comparator of an application, which orders keys by their bytes.
class OwnComparator final : public rdb::Comparator {
 public:
  explicit OwnComparator(bool is_reverse)
      : base_(is_reverse ? rdb::ReverseBytewiseComparator()
                         : rdb::BytewiseComparator()) {}
  const char* Name() const override { return "own"; }
  int Compare(const rdb::Slice& a, const rdb::Slice& b) const override {
    return base_->Compare(a, b);
  }
  bool CanKeysWithDifferentByteContentsBeEqual() const override {
    return false;
  }
  void FindShortestSeparator(std::string*, const rdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  const rdb::Comparator* const base_;
};

TEST(Codec, IsAskedAboutWithAComparatorOfOnesOwn) {
  for (const bool is_reverse : {false, true}) {
    const OwnComparator comparator(is_reverse);
    KeyShape shape;
    shape.comparator = &comparator;
    for (const bool fits : {false, true}) {
      ShapedDb db(
          shape,
          FromText(fits ? "rowbloom" : "{id=rowbloom;key_codec=ordered}"),
          false);
      for (uint64_t i = 0; i < 5000; ++i) db.Put(BigEndian(i, 8));
      db.Flush();
      const RocksDbFilterReport report = db.Verify();
      ASSERT_EQ(report.files.size(), 1u);
      EXPECT_EQ(report.warnings().empty(), fits);
      EXPECT_GT(report.files[0].neighbour_count, 100u)
          << report.files[0].unobserved;
    }
  }
}

// A filter of whole keys holds the rows that our extractor asks for, too.
TEST(FirstLine, GoesWithAnExtractorOfRows) {
  RocksDbOptions rows;
  rows.key_codec = KeyCodec::FixedRow(8);
  rows.bloom_type = BloomType::kRow;
  KeyShape shape;
  shape.extractor = NewRowPrefixExtractor(rows);
  ShapedDb db(shape, FromText("rowbloom:10"), true);
  for (uint64_t i = 0; i < 5000; ++i) {
    db.Put(BigEndian(i / 5 * 2, 8) + BigEndian(i, 4));
  }
  db.Flush();
  uint64_t passed = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    passed += db.PassesPrefixOf(BigEndian(i, 8)) && i % 2 == 1;
    ASSERT_EQ(db.HasPrefix(BigEndian(i, 8)), i % 2 == 0);
  }
  EXPECT_LE(passed, 20u);
  EXPECT_THAT(db.Verify().warnings(), IsEmpty());
}

// Timestamps make many versions of one key, which is one filter key.
TEST(Codec, ThatFitsKeysWithManyVersionsIsNotWarnedOf) {
  KeyShape shape;
  shape.has_timestamps = true;
  ShapedDb db(shape, FromText("rowbloom"), false);
  for (uint64_t i = 0; i < 300; ++i) {
    for (uint64_t time = 1; time < 20; ++time) {
      db.Put(BigEndian(2 * i, 8), time);
    }
  }
  db.Flush();
  const RocksDbFilterReport report = db.Verify();
  ASSERT_EQ(report.files.size(), 1u);
  EXPECT_THAT(report.warnings(), IsEmpty());
  EXPECT_EQ(report.files[0].filter_key_count, 300u);
  EXPECT_GT(report.files[0].neighbour_count, 100u)
      << report.files[0].unobserved;
}

}  // namespace
}  // namespace rowbloom::testing
