// SPDX-License-Identifier: Apache-2.0
//
// Tests that RocksDB with our filters answers as a map does, for random
// operations in random set-ups; with its own Bloom filter it does not always.
//
//   ROWBLOOM_OPERATIONS=5000000 rocksdb_db_test
//       --gtest_filter='DbDifferential.*' --gtest_random_seed=SEED

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/wide_columns.h"
#include "rocksdb_plugin/db/differential_model.h"
#include "rocksdb_plugin/db/differential_set_up.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb_verify.h"
#include "testing/key_codecs.h"
#include "testing/soak.h"
#if ROCKSDB_MAJOR >= 11
#include "rocksdb/multi_scan.h"
#endif

namespace rowbloom::testing {
namespace {

using rdb::Slice;
using rdb::Status;

// A few bytes, most of which codecs and comparators treat specially.
constexpr std::string_view kBytes(
    "\0\1\2\xff"
    "ab",
    6);
constexpr std::string_view kBytesWithoutDelimiter("{}~ab", 5);
// Holds no row for any codec.
constexpr char kNoRow[] = "x";

std::string RandomBytes(Dice* random, std::string_view bytes, size_t size) {
  std::string text(size, '\0');
  for (char& c : text) {
    c = bytes[random->Below(static_cast<uint32_t>(bytes.size()))];
  }
  return text;
}

bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

std::string Text(const VersionedMap::Entries& entries) {
  std::string text;
  for (const auto& [key, value] : entries) {
    text += "\n  " + absl::CHexEscape(key) + " = " + value;
  }
  return entries.empty() ? " nothing" : text;
}

// Encodes little-endian, as the comparator requires.
void EncodeTimestamp(uint64_t time, std::array<char, 8>* bytes) {
  for (size_t i = 0; i < bytes->size(); ++i) {
    (*bytes)[i] = static_cast<char>(time >> (8 * i) & 0xff);
  }
}

const rdb::Comparator* ComparatorOf(const RandomSetUp& set_up) {
  return set_up.comparator == nullptr ? rdb::BytewiseComparator()
                                      : set_up.comparator.get();
}

std::string NewDirectory() {
  std::string path =
      (std::filesystem::temp_directory_path() / "rowbloom_differential.XXXXXX")
          .string();
  EXPECT_NE(mkdtemp(path.data()), nullptr) << path;
  return path;
}

// Performs random operations on one database and on a map of all versions, and
// records where their answers differ. The same seed gives the same operations
// whatever the filters are.
//
//   DifferentialRun run(set_up, seed, /*reopen=*/true);
//   run.Operate(3000);
//   EXPECT_EQ(run.wrong_answers().size(), 0) << run.first_differences();
class DifferentialRun {
 public:
  // The set-up stays as it is if `reopen` is false.
  DifferentialRun(const RandomSetUp& set_up, uint64_t seed, bool reopen)
      : set_up_(set_up),
        reopen_(reopen),
        random_(seed),
        model_(ComparatorOf(set_up_)) {
    if (set_up_.mmap_reads) set_up_.db.directory = NewDirectory();
    MakeNames();
    Open();
  }

  ~DifferentialRun() {
    ReleaseSnapshots();
    db_.Close();
    if (set_up_.mmap_reads) std::filesystem::remove_all(set_up_.db.directory);
  }

  void Operate(int operations) {
    // Most writes come at once, so that there are files with many blocks.
    for (int i = 0; i < operations / 4; ++i) WriteOne();
    db_.Flush();
    for (int i = operations / 4; i < operations; ++i) {
      const uint32_t kind = random_.Below(1000);
      if (kind < 12) {
        Change();
      } else if (kind < 250) {
        WriteOne();
      } else {
        Ask();
      }
    }
    ExpectFiltersPassAllKeys();
  }

  // Returns the number of wrong answers by kind of question.
  const std::map<std::string, uint64_t>& wrong_answers() const {
    return wrong_answers_;
  }
  // Describes the first difference of each kind.
  const std::string& first_differences() const { return first_differences_; }
  // Returns how many times a filter said no.
  uint64_t useful() const { return db_.Useful(); }
  // Returns how many stored keys the verifier asked for.
  uint64_t asked_keys() const { return asked_keys_; }

 private:
  using Entries = VersionedMap::Entries;
  // The time of a question: now, that of a snapshot, or a timestamp.
  struct AsOf {
    uint64_t time;
    rdb::ReadOptions read;
  };

  void Open() { db_.Open(MakeOptions(&db_, set_up_)); }

  void ExpectFiltersPassAllKeys() {
    RocksDbVerifyOptions verify;
    verify.read_data_blocks = true;
    const auto report =
        VerifyRocksDbFilters(db_.get(), db_->DefaultColumnFamily(), verify);
    ASSERT_TRUE(report.ok()) << report.status();
    for (const RocksDbFilterFile& file : report->files) {
      EXPECT_TRUE(file.status.ok()) << set_up_.Name() << ": " << file.status;
      asked_keys_ += file.asked_key_count;
    }
  }

  const KeyCodec& codec() const { return set_up_.db.filter.key_codec; }

  // Adds a value such that the lower bound of its keys can be RocksDB's
  // separator behind those of the last one. False if there is none.
  static bool AddAdjacent(const KeyCodec::Segment& segment,
                          std::vector<std::string>* pool) {
    std::string value = pool->back();
    if (segment.kind == KeyCodec::Kind::kDelimiter) {
      if (segment.parameter == 0) return false;
      value.push_back(static_cast<char>(segment.parameter - 1));
    } else {
      if (value.empty() || value.back() == '\xff') return false;
      ++value.back();
    }
    pool->push_back(value);
    return true;
  }

  // Draws a segment between others whose values can be adjacent, so that the
  // boundary of two filter partitions is likely to be between two of them; 0 if
  // there is none.
  size_t DrawDenseSegment() {
    std::vector<size_t> drawn_from;
    for (size_t i = 1; i + 1 < codec().segment_count(); ++i) {
      const KeyCodec::Segment& segment = codec().segment(i);
      std::vector<std::string> pool{FitSegment(segment, "a")};
      if (segment.ends_key_level && segment.kind != KeyCodec::Kind::kOrdered &&
          AddAdjacent(segment, &pool)) {
        drawn_from.push_back(i);
      }
    }
    if (drawn_from.empty() || random_.OneIn(2)) return 0;
    return drawn_from[random_.Below(static_cast<uint32_t>(drawn_from.size()))];
  }

  // Draws `size` values or more, half of them adjacent to the one before.
  std::vector<std::string> DrawPool(const KeyCodec::Segment& segment,
                                    uint32_t size) {
    std::vector<std::string> pool;
    while (pool.size() < size) {
      pool.push_back(
          FitSegment(segment, RandomBytes(&random_, kBytes, random_.Below(6))));
      AddAdjacent(segment, &pool);
    }
    return pool;
  }

  // Keys of few distinct segments, so that they share prefixes of all levels.
  // If one segment has many adjacent values, the others have hardly any.
  void MakeKeys() {
    std::vector<std::vector<std::string>> pools(codec().segment_count());
    dense_ = DrawDenseSegment();
    for (size_t i = 0; i < pools.size(); ++i) {
      const KeyCodec::Segment& segment = codec().segment(i);
      if (dense_ == 0) {
        const uint32_t most = pools.size() < 3 ? 20 : 5;
        pools[i] = DrawPool(segment, 2 + random_.Below(most));
        continue;
      }
      pools[i] = DrawPool(segment, 2);
      if (i == dense_) {
        pools[i] = {FitSegment(segment, "a")};
        while (pools[i].size() < 60 && AddAdjacent(segment, &pools[i])) {
        }
      } else if (i != dense_ + 1) {
        pools[i].resize(1 + random_.Below(2));
      }
    }
    std::set<std::vector<std::string>> keys;
    for (uint32_t i = 0; i < 4 * set_up_.rows || keys.size() < 2; ++i) {
      std::vector<std::string> key;
      for (const std::vector<std::string>& pool : pools) {
        key.push_back(pool[random_.Below(static_cast<uint32_t>(pool.size()))]);
      }
      if (i > 100000) key.back() = std::to_string(i);
      keys.insert(key);
    }
    keys_.assign(keys.begin(), keys.end());
    for (const auto& key : keys_) rows_.push_back(key[0]);
    versions_ = {""};
    if (dense_ == 0 &&
        codec().segment(pools.size() - 1).kind != KeyCodec::Kind::kRest) {
      versions_.insert(versions_.end(), {"\1", "v1", "v2\xff"});
    }
  }

  // The flat key, or kNoRow if it is empty: RocksDB's hash index has no place
  // for that.
  std::string Encoded(const std::vector<std::string>& segments,
                      const std::string& version) const {
    std::string key;
    EXPECT_TRUE(codec().Encode(Views(segments), &key).ok());
    key += version;
    return key.empty() ? kNoRow : key;
  }

  // The first segments of a key, which need not be present.
  std::vector<std::string> AnyPrefix() {
    std::vector<std::string> segments =
        set_up_.any_codec
            ? keys_[random_.Below(static_cast<uint32_t>(keys_.size()))]
            : std::vector<std::string>{AnyRow(), AnyQualifier()};
    segments.resize(
        dense_ > 0 && random_.OneIn(2)
            ? dense_ + 1
            : 1 + random_.Below(static_cast<uint32_t>(segments.size())));
    return segments;
  }

  void MakeNames() {
    if (set_up_.any_codec) {
      MakeKeys();
      return;
    }
    const KeyCodec& codec = set_up_.db.filter.key_codec;
    const bool ordered = codec.segment(0).kind == KeyCodec::Kind::kOrdered;
    const std::string_view bytes =
        codec.segment(0).kind == KeyCodec::Kind::kDelimiter
            ? kBytesWithoutDelimiter
            : kBytes;
    std::set<std::string> rows;
    while (rows.size() < set_up_.rows) {
      rows.insert(RandomBytes(&random_, bytes,
                              codec.segment(0).kind == KeyCodec::Kind::kFixed
                                  ? 6
                                  : random_.Below(9)));
    }
    rows_.assign(rows.begin(), rows.end());
    qualifiers_ = {"", "q", std::string("q\0x", 3),
                   RandomBytes(&random_, kBytes, 2),
                   RandomBytes(&random_, kBytes, 5)};
    versions_ = {""};
    if (ordered) versions_.insert(versions_.end(), {"\1", "v1", "v2\xff"});
  }

  std::string AnyRow() {
    return rows_[random_.Below(static_cast<uint32_t>(rows_.size()))];
  }

  std::string AnyQualifier() {
    return qualifiers_[random_.Below(
        static_cast<uint32_t>(qualifiers_.size()))];
  }

  // Rows with an even number are never written; nor is the last qualifier.
  std::string AnyKey(bool written) {
    if (random_.OneIn(200)) return kNoRow;
    if (set_up_.any_codec) {
      const auto keys = static_cast<uint32_t>(keys_.size());
      return Encoded(
          keys_[written ? random_.Below(keys / 2) * 2 + 1
                        : random_.Below(keys)],
          versions_[random_.Below(static_cast<uint32_t>(versions_.size()))]);
    }
    const auto rows = static_cast<uint32_t>(rows_.size());
    const auto qualifiers = static_cast<uint32_t>(qualifiers_.size());
    const uint32_t row =
        written ? random_.Below(rows / 2) * 2 + 1 : random_.Below(rows);
    return db_.Key(
        rows_[row], qualifiers_[random_.Below(qualifiers - (written ? 1 : 0))],
        versions_[random_.Below(static_cast<uint32_t>(versions_.size()))]);
  }

  void Change() {
    switch (random_.Below(12)) {
      case 0:
        if (!reopen_) break;
        ReleaseSnapshots();
        Redraw(&random_, &set_up_);
        Open();
        break;
      case 1:
        db_.Compact();
        break;
      case 2: {
        std::string begin = AnyKey(false);
        std::string end = AnyKey(false);
        if (Before(end, begin)) std::swap(begin, end);
        const Slice from(begin);
        const Slice to(end);
        ExpectOk(db_->CompactRange({}, &from, &to), "CompactRange");
        break;
      }
      case 3:
        SetAnotherPolicy();
        break;
      case 4:
        Ingest();
        break;
      case 5:
      case 6:
      case 7:
        TakeOrReleaseSnapshot();
        break;
      default:
        db_.Flush();
        break;
    }
  }

  // Returns the timestamp of the model's next write.
  Slice NextTimestamp() {
    EncodeTimestamp(model_.now() + 1, &timestamp_);
    return Slice(timestamp_.data(), timestamp_.size());
  }

  void WriteOne() {
    // After a tombstone or a single delete, RocksDB seeks anew within a scan.
    const uint32_t kind =
        set_up_.only_rows ? 6 + random_.Below(94) : random_.Below(100);
    if (kind < 5) {
      PutOrSingleDelete();
      return;
    }
    if (kind < 6) {
      DeleteRange();
      return;
    }
    const std::string key = AnyKey(true);
    const std::string value = std::to_string(random_.Below(100000));
    if (kind < 20) {
      Delete(key);
    } else if (kind < 30 &&
               !set_up_.timestamps) {  // RocksDB has no such merge.
      ExpectOk(db_->Merge({}, key, value), "Merge");
      model_.Write(key, model_.Get(key, model_.now()).value_or("") + value);
    } else {
      Put(key, value);
    }
  }

  void Put(const std::string& key, const std::string& value) {
    if (kRocksDbRelease >= 803 && !set_up_.timestamps && random_.OneIn(8)) {
      ExpectOk(db_->PutEntity(
                   {}, db_->DefaultColumnFamily(), key,
                   {{rdb::kDefaultWideColumnName, value}, {"other", "column"}}),
               "PutEntity");
      model_.Write(key, value);
      return;
    }
    ExpectOk(set_up_.timestamps ? db_->Put({}, key, NextTimestamp(), value)
                                : db_->Put({}, key, value),
             "Put");
    model_.Write(key, value);
  }

  void Delete(const std::string& key) {
    ExpectOk(set_up_.timestamps ? db_->Delete({}, key, NextTimestamp())
                                : db_->Delete({}, key),
             "Delete");
    model_.Write(key, std::nullopt);
  }

  void PutOrSingleDelete() {
    const std::string key =
        set_up_.any_codec ? Encoded(keys_[random_.Below(static_cast<uint32_t>(
                                              (keys_.size() + 1) / 2)) *
                                          2],
                                    "")
                          : db_.Key(AnyRow(), "single");
    if (key == kNoRow) return;  // Others write it, too.
    bool& is_there = once_written_[key];
    // A range tombstone may have deleted it already.
    if (is_there && model_.Get(key, model_.now())) {
      ExpectOk(set_up_.timestamps ? db_->SingleDelete({}, key, NextTimestamp())
                                  : db_->SingleDelete({}, key),
               "SingleDelete");
      model_.Write(key, std::nullopt);
    } else if (!is_there) {
      Put(key, "single");
    }
    is_there = !is_there;
  }

  // Deletes a few keys: the rest must stay to be asked for.
  void DeleteRange() {
    std::string begin = AnyKey(false);
    std::string end;
    Entries next;
    if (set_up_.bytewise() && random_.OneIn(3)) {
      // It may end where a prefix begins, or the next one, as users' do.
      const std::vector<std::string> prefix = AnyPrefix();
      end.clear();
      EXPECT_TRUE((random_.OneIn(2) ? codec().LowerBound(Views(prefix), &end)
                                    : codec().UpperBound(Views(prefix), &end))
                      .ok());
      next = model_.From(begin, model_.now(), 8,
                         [&](const auto& key) { return key < end; });
      if (end <= begin || next.size() == 8) return;
    } else if (!set_up_.any_codec && set_up_.bytewise() && random_.OneIn(3)) {
      const auto column = RocksDbDeletion::OfColumn(set_up_.db.filter.key_codec,
                                                    AnyRow(), AnyQualifier());
      ASSERT_TRUE(column.ok());
      begin = column->begin;
      end = column->end;
      next = model_.From(begin, model_.now(), 100,
                         [&](const auto& key) { return key < end; });
    } else {
      next = model_.From(begin, model_.now(), 1 + random_.Below(8),
                         [](const std::string&) { return true; });
      if (next.empty() || !Before(begin, next.back().first)) return;
      end = next.back().first;
      next.pop_back();
    }
    auto* family = db_->DefaultColumnFamily();
    ExpectOk(set_up_.timestamps
                 ? db_->DeleteRange({}, family, begin, end, NextTimestamp())
                 : db_->DeleteRange({}, family, begin, end),
             "DeleteRange");
    model_.Delete(next);
  }

  // Calls SetOptions(), which changes the files that are written from now on.
  void SetAnotherPolicy() {
    const DbSetUp& set_up = set_up_.db;
    const uint32_t bits = 2 + random_.Below(10);
    if (kRocksDbRelease < 908 || set_up_.filters != Filters::kOurs ||
        set_up_.other_policy || set_up_.only_rows) {
      return;
    }
    RegisterRocksDb();
    const std::string policy =
        "{filter_policy={id=rowbloom:" + std::to_string(bits) +
        ";key_codec=" + set_up.filter.key_codec.ToString() + ";bloom_type=" +
        std::string(BloomTypeName(set_up.filter.effective_bloom_type())) +
        ";filter_spec=" + set_up.filter.filter_spec.family() + "}}";
    ExpectOk(db_->SetOptions({{"block_based_table_factory", policy}}),
             "SetOptions");
  }

  void Ingest() {
    // RocksDB 9.1 and later ingest no files with timestamps that overlap
    // others.
    if (set_up_.timestamps && kRocksDbRelease >= 901) return;
    std::vector<std::string> keys;
    for (uint32_t i = 1 + random_.Below(30); i > 0; --i) {
      keys.push_back(AnyKey(true));
    }
    std::sort(keys.begin(), keys.end(),
              [this](const auto& a, const auto& b) { return Before(a, b); });
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    const rdb::Options options = MakeOptions(&db_, set_up_);
    rdb::SstFileWriter writer({}, options);
    const std::string path =
        db_.directory() + "/ingested" + std::to_string(ingested_++) + ".sst";
    ExpectOk(writer.Open(path), "SstFileWriter::Open");
    for (const std::string& key : keys) {
      if (random_.OneIn(4)) {
        ExpectOk(set_up_.timestamps ? writer.Delete(key, NextTimestamp())
                                    : writer.Delete(key),
                 "SstFileWriter::Delete");
        model_.Write(key, std::nullopt);
      } else {
        ExpectOk(set_up_.timestamps
                     ? writer.Put(key, NextTimestamp(), "ingested")
                     : writer.Put(key, "ingested"),
                 "SstFileWriter::Put");
        model_.Write(key, "ingested");
      }
    }
    ExpectOk(writer.Finish(), "SstFileWriter::Finish");
    ExpectOk(db_->IngestExternalFile({path}, {}), "IngestExternalFile");
  }

  // A snapshot keeps older versions in the files that are written from now on.
  // Databases with timestamps keep all versions.
  void TakeOrReleaseSnapshot() {
    if (set_up_.timestamps) return;
    if (snapshots_.size() < 3) {
      snapshots_.emplace_back(db_->GetSnapshot(), model_.now());
      return;
    }
    const uint32_t which = random_.Below(3);
    db_->ReleaseSnapshot(snapshots_[which].first);
    snapshots_.erase(snapshots_.begin() + which);
  }

  void ReleaseSnapshots() {
    for (const auto& [snapshot, time] : snapshots_) {
      db_->ReleaseSnapshot(snapshot);
    }
    snapshots_.clear();
  }

  AsOf DrawTime() {
    AsOf as_of = {model_.now(), {}};
    const bool past = random_.OneIn(3);
    if (set_up_.timestamps) {
      if (past) as_of.time = random_.Next() % (model_.now() + 1);
      EncodeTimestamp(as_of.time, &asked_timestamp_);
      asked_slice_ = Slice(asked_timestamp_.data(), asked_timestamp_.size());
      as_of.read.timestamp = &asked_slice_;
    } else if (past && !snapshots_.empty()) {
      const auto& [snapshot, time] =
          snapshots_[random_.Below(static_cast<uint32_t>(snapshots_.size()))];
      as_of.time = time;
      as_of.read.snapshot = snapshot;
    }
    return as_of;
  }

  void Ask() {
    if (set_up_.only_rows) {
      AskRows();
      return;
    }
    struct Kind {
      uint32_t below;
      void (DifferentialRun::*ask)();
    };
    constexpr Kind kKinds[] = {
        {25, &DifferentialRun::AskGet},
        {35, &DifferentialRun::AskMultiGet},
        {38, &DifferentialRun::AskMayExist},
        {55, &DifferentialRun::AskSeek},
        {60, &DifferentialRun::AskTotalOrder},
        {70, &DifferentialRun::AskAutoPrefixMode},
        {82, &DifferentialRun::AskSeekForPrev},
        {88, &DifferentialRun::AskRow},
        {91, &DifferentialRun::AskColumn},
        {94, &DifferentialRun::AskPrefix},
        {98, &DifferentialRun::AskRows},
        {100, &DifferentialRun::AskMultiScan},
    };
    const uint32_t drawn = random_.Below(100);
    const auto* kind = std::find_if(
        std::begin(kKinds), std::end(kKinds),
        [drawn](const Kind& candidate) { return drawn < candidate.below; });
    (this->*kind->ask)();
  }

  // Adds what a Get of the key should answer, and what it answers.
  void Collect(const std::string& key, uint64_t time, const Status& status,
               const Slice& value, Entries* expected, Entries* answer) {
    if (const auto present = model_.Get(key, time)) {
      expected->emplace_back(key, *present);
    }
    if (status.ok()) answer->emplace_back(key, value.ToString());
    if (!status.IsNotFound()) ExpectOk(status, "Get");
  }

  void AskGet() {
    const AsOf as_of = DrawTime();
    const std::string key = AnyKey(false);
    std::string value;
    Status status;
    if (kRocksDbRelease >= 803 && random_.OneIn(4)) {
      rdb::PinnableWideColumns columns;
      status =
          db_->GetEntity(as_of.read, db_->DefaultColumnFamily(), key, &columns);
      if (status.ok()) value = columns.columns().at(0).value().ToString();
    } else {
      status = db_->Get(as_of.read, key, &value);
    }
    Entries expected, answer;
    Collect(key, as_of.time, status, value, &expected, &answer);
    Compare("Get", key, expected, answer);
  }

  void AskMultiGet() {
    const AsOf as_of = DrawTime();
    std::vector<std::string> keys(1 + random_.Below(70));
    for (std::string& key : keys) key = AnyKey(false);
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<rdb::PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    // This form asks filters for many keys at once.
    db_->MultiGet(as_of.read, db_->DefaultColumnFamily(), keys.size(),
                  slices.data(), values.data(), statuses.data(),
                  /*sorted_input=*/false);
    Entries expected, answer;
    for (size_t i = 0; i < keys.size(); ++i) {
      Collect(keys[i], as_of.time, statuses[i], values[i], &expected, &answer);
    }
    Compare("MultiGet", "many", expected, answer);
  }

  // KeyMayExist() may err to one side.
  void AskMayExist() {
    const AsOf as_of = DrawTime();
    const std::string key = AnyKey(false);
    std::string value;
    const bool may_exist = db_->KeyMayExist(as_of.read, key, &value);
    if (may_exist || !model_.Get(key, as_of.time)) return;
    Compare("KeyMayExist", key, {{key, ""}}, {});
  }

  bool Before(const std::string& a, const std::string& b) const {
    return ComparatorOf(set_up_)->CompareWithoutTimestamp(a, false, b, false) <
           0;
  }

  // Returns an empty string if the key has no row.
  std::string RowPrefix(const std::string& key) const {
    return key.substr(0, set_up_.db.filter.key_codec.FirstPrefixSize(key));
  }

  // Reads from `target` on; within `row`, if it is not empty.
  Entries Read(const rdb::ReadOptions& read, const std::string& target,
               size_t limit, const std::string& row = "") {
    const auto it = db_.NewIterator(read);
    Entries entries;
    target.empty() ? it->SeekToFirst() : it->Seek(target);
    for (; it->Valid() && entries.size() < limit; it->Next()) {
      const std::string key = it->key().ToString();
      if (!row.empty() && RowPrefix(key) != row) break;
      entries.emplace_back(key, it->value().ToString());
    }
    ExpectOk(it->status(), "Iterator");
    return entries;
  }

  // Reads the rest of a row from one of its keys or bounds on; RocksDB promises
  // no more for a prefix seek.
  void AskSeek() {
    AsOf as_of = DrawTime();
    std::string target = AnyKey(false);
    if (set_up_.bytewise() && random_.OneIn(3)) {
      target.clear();
      EXPECT_TRUE(
          set_up_.db.filter.key_codec.LowerBound({AnyRow()}, &target).ok());
    }
    const std::string row = RowPrefix(target);
    if (row.empty()) return;
    as_of.read.prefix_same_as_start = random_.OneIn(2);
    Compare(as_of.read.prefix_same_as_start ? "prefix_same_as_start" : "Seek",
            target,
            model_.From(target, as_of.time, 100,
                        [&](const auto& key) { return RowPrefix(key) == row; }),
            Read(as_of.read, target, 100, row));
  }

  void AskTotalOrder() {
    AsOf as_of = DrawTime();
    const std::string target = AnyKey(false);
    as_of.read.total_order_seek = true;
    Compare(
        "total_order_seek", target,
        model_.From(target, as_of.time, 20, [](const auto&) { return true; }),
        Read(as_of.read, target, 20));
  }

  void AskAutoPrefixMode() {
    AsOf as_of = DrawTime();
    std::string target = AnyKey(false);
    std::string upper = random_.OneIn(2) ? AnyKey(false) : target + '\xff';
    if (Before(upper, target)) std::swap(upper, target);
    const Slice upper_slice(upper);
    as_of.read.auto_prefix_mode = true;
    as_of.read.iterate_upper_bound = &upper_slice;
    Compare("auto_prefix_mode", target,
            model_.From(target, as_of.time, 20,
                        [&](const auto& key) { return Before(key, upper); }),
            Read(as_of.read, target, 20));
  }

  // Reads from a key, or from behind it, back to the beginning of its row.
  void AskSeekForPrev() {
    AsOf as_of = DrawTime();
    std::string target = AnyKey(false);
    if (set_up_.bytewise() && random_.OneIn(2)) {
      target.clear();
      EXPECT_TRUE(
          set_up_.db.filter.key_codec.UpperBound({AnyRow()}, &target).ok());
    }
    const std::string row = RowPrefix(target);
    if (row.empty()) return;
    const auto it = db_.NewIterator(as_of.read);
    Entries answer;
    for (it->SeekForPrev(target); it->Valid() && answer.size() < 100;
         it->Prev()) {
      const std::string key = it->key().ToString();
      if (RowPrefix(key) != row) break;
      answer.emplace_back(key, it->value().ToString());
    }
    ExpectOk(it->status(), "SeekForPrev");
    Compare("SeekForPrev", target,
            model_.Back(target, as_of.time, 100,
                        [&](const auto& key) { return RowPrefix(key) == row; }),
            answer);
  }

  // The bounds of a RocksDbScan are bytewise.
  void AskRow() {
    if (set_up_.any_codec) return AskPrefix();
    if (!set_up_.bytewise() && !set_up_.timestamps) return;
    AsOf as_of = DrawTime();
    const KeyCodec& codec = set_up_.db.filter.key_codec;
    const std::string row = AnyRow();
    auto scan = RocksDbScan::OfRow(codec, row);
    ASSERT_TRUE(scan.ok());
    scan->Configure(&as_of.read);
    std::string lower;
    ASSERT_TRUE(codec.LowerBound({row}, &lower).ok());
    Compare("row scan", lower,
            model_.From(lower, as_of.time, 100,
                        [&](const auto& key) {
                          return RowPrefix(key) == RowPrefix(lower);
                        }),
            Read(as_of.read, /*target=*/"", 100));
  }

  void AskColumn() {
    if (set_up_.any_codec) return AskPrefix();
    if (!set_up_.bytewise() && !set_up_.timestamps) return;
    AsOf as_of = DrawTime();
    const KeyCodec& codec = set_up_.db.filter.key_codec;
    const std::string row = AnyRow();
    const std::string qualifier = random_.OneIn(8) ? "single" : AnyQualifier();
    auto scan = RocksDbScan::OfColumn(codec, row, qualifier);
    ASSERT_TRUE(scan.ok());
    scan->Configure(&as_of.read);
    const std::string first = db_.Key(row, qualifier);
    Compare("column scan", first,
            model_.From(first, as_of.time, 100,
                        [&](const auto& key) { return IsOf(key, first); }),
            Read(as_of.read, /*target=*/"", 100));
  }

  // Asks for the keys that begin with some segments, in three ways.
  void AskPrefix() {
    if (set_up_.bytewise() || set_up_.timestamps) AskPrefix(DrawTime(), true);
  }

  // `configure`: also by a RocksDbScan, which leaves some of `as_of` as it is.
  void AskPrefix(AsOf as_of, bool configure) {
    const std::vector<std::string> segments = AnyPrefix();
    std::string lower, upper;
    ASSERT_TRUE(codec().LowerBound(Views(segments), &lower).ok());
    ASSERT_TRUE(codec().UpperBound(Views(segments), &upper).ok());
    const Entries expected = model_.From(
        lower, as_of.time, 100,
        [&](const auto& key) { return upper.empty() || key < upper; });
    const RocksDbRows rows = db_.Rows();
    Entries answer;
    auto scan = rows.Scan(as_of.read, Views(segments));
    for (; scan.Valid() && answer.size() < 100; scan.Next()) {
      answer.emplace_back(scan.key().ToString(), scan.value().ToString());
    }
    ExpectOk(scan.status(), "Scan");
    Compare("Scan", lower, expected, answer);
    bool exists = expected.empty();
    ExpectOk(rows.Exists(as_of.read, Views(segments), &exists), "Exists");
    if (exists == expected.empty()) {
      Compare("Exists", lower, expected, {{lower, "the opposite"}});
    }
    if (!configure) return;
    auto bounds = RocksDbScan::OfSegments(codec(), Views(segments));
    ASSERT_TRUE(bounds.ok());
    bounds->Configure(&as_of.read);
    Compare("scan of segments", lower, expected,
            Read(as_of.read, /*target=*/"", 100));
  }

  // Returns true if `key` is a version of the cell with the key `first`.
  bool IsOf(const std::string& key, const std::string& first) const {
    return set_up_.db.filter.key_codec.segment(0).kind ==
                   KeyCodec::Kind::kOrdered
               ? StartsWith(key, first)
               : key == first;
  }

  // Asks RocksDbRows, which takes only time and snapshot from the read.
  void AskRows() {
    if (!set_up_.bytewise() && !set_up_.timestamps) return;
    AsOf as_of = DrawTime();
    const Slice junk("row1z");
    const std::array<char, 8> first_time{};
    const Slice first_time_slice(first_time.data(), first_time.size());
    if (random_.OneIn(3)) as_of.read.iterate_upper_bound = &junk;
    if (random_.OneIn(3)) as_of.read.iterate_lower_bound = &junk;
    as_of.read.prefix_same_as_start = random_.OneIn(3);
    as_of.read.total_order_seek = random_.OneIn(3);
    as_of.read.auto_prefix_mode = random_.OneIn(3);
    as_of.read.tailing = random_.OneIn(3);
    if (set_up_.timestamps && random_.OneIn(3)) {
      as_of.read.iter_start_ts = &first_time_slice;
    }
    const RocksDbRows rows = db_.Rows();
    if (!set_up_.any_codec) {
      AskWholeRow(rows, as_of);
      AskCell(rows, as_of);
    }
    AskPrefix(as_of, /*configure=*/false);
  }

  void AskWholeRow(const RocksDbRows& rows, const AsOf& as_of) {
    const std::string row = AnyRow();
    std::string lower;
    ASSERT_TRUE(set_up_.db.filter.key_codec.LowerBound({row}, &lower).ok());
    const Entries expected = model_.From(
        lower, as_of.time, 100,
        [&](const auto& key) { return RowPrefix(key) == RowPrefix(lower); });
    bool exists = expected.empty();
    ExpectOk(rows.RowExists(as_of.read, row, &exists), "RowExists");
    if (exists == expected.empty()) {
      Compare("RowExists", lower, expected, {{lower, "the opposite"}});
    }
    std::vector<RocksDbCell> cells(1);
    ExpectOk(rows.GetRow(as_of.read, row, &cells), "GetRow");
    Entries answer;
    for (const RocksDbCell& cell : cells) {
      answer.emplace_back(db_.Key(row, cell.qualifier, cell.version),
                          cell.value);
    }
    Compare("GetRow", lower, expected, answer);
  }

  void AskCell(const RocksDbRows& rows, const AsOf& as_of) {
    const std::string row = AnyRow();
    const std::string qualifier = AnyQualifier();
    const std::string first = db_.Key(row, qualifier);
    rdb::PinnableSlice value;
    Entries expected, answer;
    Status status = rows.GetCell(as_of.read, row, qualifier, &value);
    Collect(first, as_of.time, status, value, &expected, &answer);
    Compare("GetCell", first, expected, answer);

    std::string version = "before";
    status = rows.GetNewestCell(as_of.read, row, qualifier, &value, &version);
    answer.clear();
    if (status.ok()) {
      answer.emplace_back(first + version, value.ToString());
    } else {
      EXPECT_TRUE(status.IsNotFound()) << status.ToString();
      EXPECT_EQ(version, "");
    }
    Compare("GetNewestCell", first,
            model_.From(first, as_of.time, 1,
                        [&](const auto& key) { return IsOf(key, first); }),
            answer);
  }

  // Scans some rows at once, in iterator modes that are right for many rows.
  void AskMultiScan() {
    // The MultiScan of RocksDB 10.10 fails its own assertions, even without a
    // filter and without a block cache.
#if ROCKSDB_MAJOR >= 11
    if (!set_up_.bytewise()) return;
    AsOf as_of = DrawTime();
    const KeyCodec& codec = set_up_.db.filter.key_codec;
    std::set<std::string> rows;
    for (uint32_t i = 1 + random_.Below(5); i > 0; --i) rows.insert(AnyRow());
    std::map<std::string, std::string> ranges;  // Range ends by range starts.
    Entries expected;
    constexpr size_t kEverything = std::numeric_limits<size_t>::max();
    for (const std::string& row : rows) {
      std::string lower, upper;
      ASSERT_TRUE(codec.LowerBound({row}, &lower).ok());
      ASSERT_TRUE(codec.UpperBound({row}, &upper).ok());
      if (!upper.empty()) ranges[lower] = upper;
    }
    rdb::MultiScanArgs args(ComparatorOf(set_up_));
    for (const auto& [lower, upper] : ranges) {
      args.insert(lower, upper);
      for (auto& entry :
           model_.From(lower, as_of.time, kEverything,
                       [&end = upper](const auto& key) { return key < end; })) {
        expected.push_back(std::move(entry));
      }
    }
    if (ranges.empty()) return;
    (random_.OneIn(2) ? as_of.read.auto_prefix_mode
                      : as_of.read.total_order_seek) = true;
    Entries answer;
    const auto multi_scan =
        db_->NewMultiScan(as_of.read, db_->DefaultColumnFamily(), args);
    for (auto range : *multi_scan) {
      for (auto [key, value] : range) {
        answer.emplace_back(key.ToString(), value.ToString());
      }
    }
    Compare("MultiScan", ranges.begin()->first, expected, answer);
#endif
  }

  void Compare(const std::string& kind, const std::string& asked,
               const Entries& expected, const Entries& answer) {
    if (answer == expected) return;
    if (wrong_answers_[kind]++ > 0) return;
    first_differences_ += kind + " of " + absl::CHexEscape(asked) + " in " +
                          set_up_.Name() + "\nexpected:" + Text(expected) +
                          "\nanswer:" + Text(answer) + "\n";
  }

  void ExpectOk(const Status& status, const char* doing) {
    EXPECT_TRUE(status.ok())
        << doing << ": " << status.ToString() << " in " << set_up_.Name();
  }

  RandomSetUp set_up_;
  const bool reopen_;
  Dice random_;
  TestDb db_;
  VersionedMap model_;
  std::vector<std::vector<std::string>> keys_;  // If any_codec, in order.
  size_t dense_ = 0;  // The segment with adjacent values; 0 if there is none.
  std::vector<std::string> rows_;
  std::vector<std::string> qualifiers_;
  std::vector<std::string> versions_;
  // Single deletes need keys of their own; the value says whether one is
  // present.
  std::map<std::string, bool> once_written_;
  std::vector<std::pair<const rdb::Snapshot*, uint64_t>> snapshots_;
  int ingested_ = 0;
  std::array<char, 8> timestamp_{};        // The time of a write.
  std::array<char, 8> asked_timestamp_{};  // The time of a question.
  rdb::Slice asked_slice_;
  std::map<std::string, uint64_t> wrong_answers_;
  std::string first_differences_;
  uint64_t asked_keys_ = 0;
};

constexpr int kOperationsOfARun = 3000;

// The answers of databases with one kind of filters, over many set-ups.
struct Outcome {
  uint64_t operations = 0;
  uint64_t useful = 0;
  uint64_t asked_keys = 0;
  std::map<std::string, uint64_t> wrong_answers;  // By kind of question.
  std::string first_differences;

  uint64_t wrong() const {
    uint64_t sum = 0;
    for (const auto& [kind, count] : wrong_answers) sum += count;
    return sum;
  }
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  out << outcome.operations << " operations, " << outcome.useful
      << " times a filter said no, " << outcome.wrong() << " wrong answers";
  for (const auto& [kind, count] : outcome.wrong_answers) {
    out << ", " << count << " of " << kind;
  }
  return out;
}

// If `prone` is null, each set-up is random and changes when the database is
// reopened.
Outcome RunAll(const char* name, Filters filters, uint64_t operations,
               void (*prone)(RandomSetUp*)) {
  const uint32_t seed = TestSeed();
  Outcome outcome;
  for (uint64_t run = 0; outcome.operations < operations; ++run) {
    const uint64_t run_seed = (uint64_t{seed} << 32) + run;
    Dice random(run_seed);
    RandomSetUp set_up = DrawSetUp(&random);
    set_up.filters = filters;
    if (prone != nullptr) prone(&set_up);
    DifferentialRun database(set_up, run_seed + 1, prone == nullptr);
    // A question to RocksDbRows is about many cells, so runs may be short.
    const int operations_of_run =
        set_up.only_rows ? kOperationsOfARun / 5 : kOperationsOfARun;
    database.Operate(operations_of_run);
    outcome.operations += operations_of_run;
    outcome.useful += database.useful();
    outcome.asked_keys += database.asked_keys();
    for (const auto& [kind, count] : database.wrong_answers()) {
      outcome.wrong_answers[kind] += count;
    }
    if (outcome.first_differences.empty()) {
      outcome.first_differences = database.first_differences();
    }
    if (::testing::Test::HasFailure()) break;
  }
  std::cout << name << ": " << outcome << std::endl;
  return outcome;
}

TEST(DbDifferential, AnswersAsAMapDoes) {
  const Outcome ours =
      RunAll("ours", Filters::kOurs, Operations(100000), nullptr);
  EXPECT_EQ(ours.wrong(), 0) << ours.first_differences;
  // The test asks filters, not merely blocks.
  EXPECT_GT(ours.useful, ours.operations / 10);
  EXPECT_GT(ours.asked_keys, ours.operations / 100);
}

// Tests that the map and the answers expected of RocksDB are right.
TEST(DbDifferential, ControlWithoutFiltersAnswersAsAMapDoes) {
  const Outcome none =
      RunAll("no filters", Filters::kNone, Operations(25000), nullptr);
  EXPECT_EQ(none.wrong(), 0) << none.first_differences;
  EXPECT_EQ(none.useful, 0);
}

TEST(DbDifferential, RocksDbRowsAnswersAsAMapDoesInAnySetUp) {
  const Outcome rows =
      RunAll("RocksDbRows", Filters::kOurs, Operations(50000), MakeOnlyRows);
  EXPECT_EQ(rows.wrong(), 0) << rows.first_differences;
  EXPECT_GT(rows.useful, rows.operations / 10);
}

// A builder that adds no separators (row_filter_builder.h) loses prefixes here.
TEST(DbDifferential, ScansFindPrefixesAtPartitionBoundaries) {
  const Outcome ours = RunAll("ours", Filters::kOurs, Operations(50000),
                              MakeProneToLosePrefixes);
  EXPECT_EQ(ours.wrong(), 0) << ours.first_differences;
  EXPECT_GT(ours.useful, ours.operations / 10);
}

// In partition_test.cc RocksDB's Bloom filter loses rows backwards, too.
TEST(DbDifferential, ControlWithStockBloomLosesColumns) {
  const uint64_t operations = Operations(25000);
  const Outcome stock = RunAll("stock Bloom", Filters::kStockBloom, operations,
                               MakeProneToLoseColumns);
  EXPECT_GT(stock.wrong(), operations / 1000);
  const Outcome ours =
      RunAll("ours", Filters::kOurs, operations, MakeProneToLoseColumns);
  EXPECT_EQ(ours.wrong(), 0) << ours.first_differences;
  EXPECT_GT(ours.useful, 0);
}

}  // namespace
}  // namespace rowbloom::testing
