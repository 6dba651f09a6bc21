// SPDX-License-Identifier: Apache-2.0

#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "rowbloom/key_codec.h"
#include "rowbloom/rocksdb_rows.h"

namespace rowbloom::point_get {
namespace {

constexpr uint64_t kProgressStep = 1000;
constexpr uint64_t kWrongAnswersTold = 3;

void Check(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error("reading: " + status.ToString());
}

// Asks one get at a time, as an application would.
class Asker {
 public:
  explicit Asker(rocksdb::DB* db)
      : rows_(db, db->DefaultColumnFamily(), KeyCodec::Ordered()) {
    read_options_.fill_cache = false;
  }

  bool RowExists(const PointGet& get) {
    bool exists = false;
    Check(rows_.RowExists(read_options_, get.row, &exists));
    return exists;
  }

  bool GetCell(const PointGet& get) {
    const rocksdb::Status status =
        rows_.GetCell(read_options_, get.row, get.qualifier, &value_);
    if (!status.IsNotFound()) Check(status);
    return status.ok();
  }

  const rocksdb::Slice& value() const { return value_; }

 private:
  const RocksDbRows rows_;
  rocksdb::ReadOptions read_options_;
  rocksdb::PinnableSlice value_;
};

// A Seek for a row reads one data block in each file whose filter says "maybe".
void CountFalsePositivesOfSeeks(ReadCounts* counts) {
  counts->false_positives_by_level = counts->data_reads_by_level;
}

}  // namespace

Measurement Measure(rocksdb::DB* db, Query query,
                    const std::vector<PointGet>& gets, size_t value_size_bytes,
                    int level_count, bench::Progress* progress) {
  using Clock = std::chrono::steady_clock;
  Measurement m;
  m.gets = gets.size();
  Asker asker(db);
  std::string expected_value;
  std::vector<uint32_t> nanoseconds;
  nanoseconds.reserve(gets.size());
  StartCounting();
  for (const PointGet& get : gets) {
    const Clock::time_point start = Clock::now();
    const bool found =
        IsRowQuery(query) ? asker.RowExists(get) : asker.GetCell(get);
    const std::chrono::nanoseconds took = Clock::now() - start;
    nanoseconds.push_back(
        static_cast<uint32_t>(std::min<int64_t>(took.count(), UINT32_MAX)));

    m.found += found;
    bool right = found == IsPresent(query);
    if (right && query == Query::kPresentCell) {
      MakeValue(EncodeKey(get.row, get.qualifier), value_size_bytes,
                &expected_value);
      right = asker.value() == expected_value;
    }
    if (!right && ++m.wrong_answers <= kWrongAnswersTold) {
      const std::string key = EncodeKey(get.row, get.qualifier);
      std::fprintf(stderr, "\nWRONG ANSWER: %s %s: %s\n",
                   std::string(QueryName(query)).c_str(),
                   rocksdb::Slice(key).ToString(/*hex=*/true).c_str(),
                   found ? "found" : "not found");
    }
    if (nanoseconds.size() % kProgressStep == 0) progress->Add(kProgressStep);
  }
  m.reads = StopCounting(level_count);
  if (query == Query::kPresentCell) {
    // Each cell is in one file, and that file's filter said "maybe" rightly.
    m.necessary_reads = m.found;
  }
  if (m.reads.filter_lookups != 0) {
    if (IsRowQuery(query)) CountFalsePositivesOfSeeks(&m.reads);
    m.false_positives = m.reads.filter_maybes - m.necessary_reads;
    m.false_positive_rate =
        static_cast<double>(m.false_positives) /
        static_cast<double>(m.reads.filter_lookups - m.necessary_reads);
  }
  m.p50_us = QuantileMicroseconds(&nanoseconds, 0.50);
  m.p99_us = QuantileMicroseconds(&nanoseconds, 0.99);
  return m;
}

}  // namespace rowbloom::point_get
