// SPDX-License-Identifier: Apache-2.0
//
// Random ways to set up RocksDB around a filter: those that a user may choose
// and that CheckRocksDbOptions() does not refuse for losing rows.
//
//   RandomSetUp set_up = DrawSetUp(&random);
//   Redraw(&random, &set_up);  // What may change when a database is reopened.
//   db.Open(MakeOptions(db, set_up));
//
// Policies do not influence what is drawn: a run can be repeated with others.

#ifndef ROWBLOOM_TESTS_ROCKSDB_DIFFERENTIAL_SET_UP_H_
#define ROWBLOOM_TESTS_ROCKSDB_DIFFERENTIAL_SET_UP_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "rocksdb/comparator.h"
#include "rocksdb/test_db.h"

namespace rowbloom::testing {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Next() { return engine_(); }
  // From 0 to limit - 1.
  uint32_t Below(uint32_t limit) {
    return static_cast<uint32_t>(engine_() % limit);
  }
  bool OneIn(uint32_t count) { return Below(count) == 0; }

 private:
  std::mt19937_64 engine_;
};

// Which filters a run has; nothing else differs.
enum class Filters { kOurs, kStockBloom, kNone };

struct RandomSetUp {
  DbSetUp db;
  Filters filters = Filters::kOurs;
  // Of this opening; the run goes on with the filters of above.
  bool other_policy = false;
  // Bytewise, unless given.
  std::shared_ptr<const ROCKSDB_NAMESPACE::Comparator> comparator;
  bool timestamps = false;
  bool mmap_reads = false;
  bool universal_compaction = false;
  uint32_t rows = 0;  // Half of them are only asked for.

  // Redrawn, by number: see MakeOptions().
  uint64_t table_choices = 0;

  bool bytewise() const { return comparator == nullptr; }
  bool maps_columns() const {
    return db.extractor && db.extractor_type == BloomType::kRowCol &&
           db.filter.key_codec.kind() == KeyCodec::Kind::kOrdered;
  }
  std::string Name() const;
};

RandomSetUp DrawSetUp(Random* random);
void Redraw(Random* random, RandomSetUp* set_up);

// Of prefixes only, in partitions, with whole keys as separators: where
// SeekForPrev loses rows in RocksDB before 9.5.
void MakeProneToLoseBackwards(RandomSetUp* set_up);
// With an extractor for rows and columns, which only our filters know how to
// answer.
void MakeProneToLoseColumns(RandomSetUp* set_up);

ROCKSDB_NAMESPACE::Options MakeOptions(TestDb* db, const RandomSetUp& set_up);

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_DIFFERENTIAL_SET_UP_H_
