// SPDX-License-Identifier: Apache-2.0
//
// RocksDB with our filters answers as std::map does, in each set-up, for each
// way to ask, after each kind of write. Families take turns in the six blocks
// of sixteen set-ups, so that each meets each of the sixteen.

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/test_db.h"
#include "rocksdb/test_seed.h"

namespace rowbloom::testing {
namespace {

using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

// Appends the operand.
class AppendOperator : public ROCKSDB_NAMESPACE::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "append"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& operand,
             std::string* result, ROCKSDB_NAMESPACE::Logger*) const override {
    if (existing != nullptr) *result = existing->ToString();
    result->append(operand.data(), operand.size());
    return true;
  }
};

std::vector<DbSetUp> AllSetUps() {
  const std::vector<FilterPolicy> policies = PoliciesOfEachFamily();
  std::vector<DbSetUp> all;
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const KeyCodec& codec : {KeyCodec::Ordered(), KeyCodec::FixedRow(6),
                                  KeyCodec::Delimiter('|')}) {
      for (int bits = 0; bits < 16; ++bits) {
        DbSetUp set_up;
        set_up.filter.bloom_type = set_up.extractor_type = type;
        set_up.filter.key_codec = codec;
        const size_t block = all.size() / 16;
        set_up.filter.policy = policies[(bits + block) % policies.size()];
        set_up.extractor = bits & 1;
        set_up.whole_key_filtering = bits & 2;
        set_up.partitioned = bits & 4;
        set_up.cache_filter_blocks = bits & 8;
        set_up.shorten_separators = (bits + 2 * block) % 3 != 0;
        set_up.target_file_size_bytes = 8 << 10;
        all.push_back(set_up);
      }
    }
  }
  return all;
}

class Differential {
 public:
  Differential(const DbSetUp& set_up, uint32_t seed) : random_(seed) {
    db_.set_up = set_up;
    ROCKSDB_NAMESPACE::Options options = db_.MakeOptions();
    options.merge_operator = std::make_shared<AppendOperator>();
    db_.Open(options);
  }

  void Write(int count) {
    for (int i = 0; i < count; ++i) WriteOne();
  }
  void Flush() { db_.Flush(); }
  void Compact() { db_.Compact(); }
  // Keeps the versions of before in the files that are written from now on.
  void TakeSnapshot() { snapshots_.emplace_back(db_->GetSnapshot(), model_); }
  void CheckAll() {
    Check(nullptr, model_);
    for (const auto& [snapshot, model] : snapshots_) Check(snapshot, model);
  }
  void Finish() {
    for (const auto& [snapshot, model] : snapshots_) {
      db_->ReleaseSnapshot(snapshot);
    }
  }
  uint64_t lookups() const { return lookups_; }
  uint64_t useful() const {
    return db_.Ticker(ROCKSDB_NAMESPACE::BLOOM_FILTER_USEFUL) +
           db_.Ticker(ROCKSDB_NAMESPACE::BLOOM_FILTER_PREFIX_USEFUL);
  }

 private:
  using Model = std::map<std::string, std::string>;
  static constexpr int kRows = 120;

  std::string Row(int n) const {
    std::string row = "row" + std::to_string(n);
    row.resize(6, '.');
    return row;
  }
  std::string RandomKey() {
    const bool versions =
        db_.set_up.filter.key_codec.kind() == KeyCodec::Kind::kOrdered;
    // Half of the rows, the other half is asked for in vain.
    return db_.Key(Row(static_cast<int>(random_() % (kRows / 2)) * 2),
                   std::string(random_() % 3, 'q'),
                   versions ? std::to_string(random_() % 3) : "");
  }

  void WriteOne() {
    const std::string key = RandomKey();
    const std::string value = std::to_string(random_());
    const uint32_t kind = random_() % 100;
    if (kind < 70) {
      ASSERT_TRUE(db_->Put({}, key, value).ok());
      model_[key] = value;
    } else if (kind < 80) {
      ASSERT_TRUE(db_->Merge({}, key, value).ok());
      model_[key] += value;
    } else if (kind < 97) {
      ASSERT_TRUE(db_->Delete({}, key).ok());
      model_.erase(key);
    } else if (kind < 99) {
      DeleteRange(key, RandomKey());
    } else {
      // Holds no row for any codec but "fixed".
      ASSERT_TRUE(db_->Put({}, "x", value).ok());
      model_["x"] = value;
    }
  }
  void DeleteRange(std::string begin, std::string end) {
    if (end < begin) std::swap(begin, end);
    // Within a few rows: the rest must stay to be asked for.
    const auto from = model_.lower_bound(begin);
    auto to = from;
    for (int i = 0; i < 6 && to != model_.end() && to->first < end; ++i) ++to;
    if (to != model_.end() && to->first < end) end = to->first;
    ASSERT_TRUE(
        db_->DeleteRange({}, db_->DefaultColumnFamily(), begin, end).ok());
    model_.erase(from, to);
  }

  void Check(const ROCKSDB_NAMESPACE::Snapshot* snapshot, const Model& model) {
    ReadOptions read;
    read.snapshot = snapshot;
    CheckGets(read, model);
    for (int n = 0; n < kRows; ++n) {
      const Model row = CheckRow(read, model, Row(n));
      CheckSeekForPrev(read, row);
      for (int size = 0; size < 3; ++size) {
        CheckColumn(read, model, Row(n), std::string(size, 'q'));
      }
    }
  }

  // All keys of the model, and as many others.
  void CheckGets(const ReadOptions& read, const Model& model) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : model) {
      keys.push_back(key);
      keys.push_back(key + "0");
    }
    for (int n = 1; n < kRows; n += 2) keys.push_back(db_.Key(Row(n), "q"));
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(read, slices, &values);
    for (size_t i = 0; i < keys.size(); ++i) {
      std::string value;
      const Status status = db_->Get(read, keys[i], &value);
      const auto expected = model.find(keys[i]);
      lookups_ += 2;
      if (expected == model.end()) {
        ASSERT_TRUE(status.IsNotFound()) << status.ToString();
        ASSERT_TRUE(statuses[i].IsNotFound());
      } else {
        ASSERT_TRUE(status.ok()) << status.ToString();
        ASSERT_EQ(value, expected->second);
        ASSERT_TRUE(statuses[i].ok());
        ASSERT_EQ(values[i], expected->second);
      }
    }
  }

  Model Read(const ReadOptions& read, const std::string& begin,
             const std::string& end) {
    const std::unique_ptr<ROCKSDB_NAMESPACE::Iterator> it(
        db_->NewIterator(read));
    Model found;
    for (it->Seek(begin); it->Valid() && it->key().ToString() < end;
         it->Next()) {
      found[it->key().ToString()] = it->value().ToString();
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    ++lookups_;
    return found;
  }

  Model CheckRow(const ReadOptions& read, const Model& model,
                 const std::string& row) {
    const KeyCodec& codec = db_.set_up.filter.key_codec;
    std::string begin, end;
    EXPECT_TRUE(codec.RowLowerBound(row, &begin).ok());
    EXPECT_TRUE(codec.RowUpperBound(row, &end).ok());
    const Model expected(model.lower_bound(begin), model.lower_bound(end));
    const Slice end_slice(end);
    for (int mode = 0; mode < 5; ++mode) {
      ReadOptions scan = read;
      if (mode == 1) scan.prefix_same_as_start = true;
      if (mode == 2) scan.total_order_seek = true;
      if (mode >= 3) scan.iterate_upper_bound = &end_slice;
      if (mode == 4) scan.auto_prefix_mode = true;
      EXPECT_EQ(Read(scan, begin, end), expected) << "mode " << mode;
    }
    auto helper = RocksDbScan::OfRow(codec, row);
    EXPECT_TRUE(helper.ok());
    ReadOptions scan = read;
    helper->Configure(&scan);
    EXPECT_EQ(Read(scan, helper->lower(), "\xff"), expected);
    return expected;
  }

  // To each key of the row, and to where the next would be.
  void CheckSeekForPrev(const ReadOptions& read, const Model& row) {
    for (const auto& [key, value] : row) {
      for (const std::string& target : {key, key + '\0'}) {
        const std::unique_ptr<ROCKSDB_NAMESPACE::Iterator> it(
            db_->NewIterator(read));
        it->SeekForPrev(target);
        ++lookups_;
        ASSERT_TRUE(it->Valid());
        ASSERT_EQ(it->key(), Slice(key));
        ASSERT_EQ(it->value(), Slice(value));
      }
    }
  }

  void CheckColumn(const ReadOptions& read, const Model& model,
                   const std::string& row, const std::string& qualifier) {
    const KeyCodec& codec = db_.set_up.filter.key_codec;
    auto scan = RocksDbScan::OfColumn(codec, row, qualifier);
    ASSERT_TRUE(scan.ok());
    const std::string first = db_.Key(row, qualifier);
    Model expected;
    if (codec.kind() == KeyCodec::Kind::kOrdered) {
      for (auto it = model.lower_bound(first);
           it != model.end() && it->first.compare(0, first.size(), first) == 0;
           ++it) {
        expected.insert(*it);
      }
    } else if (const auto it = model.find(first); it != model.end()) {
      expected.insert(*it);
    }
    ReadOptions configured = read;
    scan->Configure(&configured);
    ASSERT_EQ(Read(configured, scan->lower(), "\xff"), expected);
    // A plain seek to the first key asks for the row.
    std::string end = first + '\xff';
    if (codec.kind() != KeyCodec::Kind::kOrdered) end = first + '\0';
    ASSERT_EQ(Read(read, first, end), expected);
  }

  std::mt19937 random_;
  TestDb db_;
  Model model_;
  std::vector<std::pair<const ROCKSDB_NAMESPACE::Snapshot*, Model>> snapshots_;
  uint64_t lookups_ = 0;
};

TEST(DbDifferential, AnswersAsAMapDoesInEachSetUp) {
  const uint32_t seed = TestSeed();
  uint64_t lookups = 0;
  for (const DbSetUp& set_up : AllSetUps()) {
    SCOPED_TRACE(SetUpName(set_up));
    Differential differential(set_up, seed);
    for (int file = 0; file < 4; ++file) {
      differential.Write(250);
      differential.Flush();
    }
    differential.CheckAll();
    differential.TakeSnapshot();
    differential.Compact();
    differential.Write(300);
    differential.Flush();
    differential.Compact();  // Keeps tombstones, for the snapshot's sake.
    differential.Write(200);
    differential.Flush();
    differential.Write(100);  // These stay in the memtable.
    differential.CheckAll();
    differential.Finish();
    lookups += differential.lookups();
    // The test asks filters, not merely blocks.
    if (set_up.extractor || set_up.whole_key_filtering) {
      EXPECT_GT(differential.useful(), 0);
    } else {
      EXPECT_EQ(differential.useful(), 0);
    }
    if (HasFailure()) return;
  }
  std::cout << lookups << " lookups" << std::endl;
  EXPECT_GT(lookups, 400000);
}

}  // namespace
}  // namespace rowbloom::testing
