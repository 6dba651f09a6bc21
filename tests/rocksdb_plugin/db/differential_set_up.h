// SPDX-License-Identifier: Apache-2.0
//
// Draws random ways to set up RocksDB around a filter: those that a user may
// choose and that CheckRocksDbOptions() does not refuse for losing rows.
//
//   RandomSetUp set_up = DrawSetUp(&random);
//   Redraw(&random, &set_up);  // What may change when a database is reopened.
//   db.Open(MakeOptions(db, set_up));
//
// Policies do not influence the draw: a run can be repeated with others.

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_DB_DIFFERENTIAL_SET_UP_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_DB_DIFFERENTIAL_SET_UP_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "rocksdb/comparator.h"
#include "rocksdb_plugin/test_db.h"

namespace rowbloom::testing {

// Not testing::Random: seeds of reported failures stay what they were.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  uint64_t Next() { return engine_(); }
  // Returns a number from 0 to limit - 1.
  uint32_t Below(uint32_t limit) {
    return static_cast<uint32_t>(engine_() % limit);
  }
  bool OneIn(uint32_t count) { return Below(count) == 0; }

 private:
  std::mt19937_64 engine_;
};

// The kind of filters of a run; nothing else differs.
enum class Filters { kOurs, kStockBloom, kNone };

struct RandomSetUp {
  DbSetUp db;
  Filters filters = Filters::kOurs;
  // This opening uses another policy; the run goes on with the filters above.
  bool other_policy = false;
  // Null means bytewise.
  std::shared_ptr<const rdb::Comparator> comparator;
  bool timestamps = false;
  bool mmap_reads = false;
  bool universal_compaction = false;
  uint32_t rows = 0;  // Half of them are only asked for.
  // The codec was drawn from all key codecs, not from those of row and column.
  bool any_codec = false;

  // Draws set-ups that CheckRocksDbOptions() refuses, too: iterators lose rows
  // there, but RocksDbRows does not.
  bool only_rows = false;

  // Redrawn, by number: see MakeOptions().
  uint64_t table_choices = 0;

  bool bytewise() const { return comparator == nullptr; }
  bool maps_columns() const {
    return db.extractor && db.extractor_type == BloomType::kRowCol &&
           db.filter.key_codec == KeyCodec::Ordered();
  }
  std::string Name() const;
};

RandomSetUp DrawSetUp(Dice* random);
void Redraw(Dice* random, RandomSetUp* set_up);

// Chooses an extractor for rows and columns, which only our filters can answer.
void MakeProneToLoseColumns(RandomSetUp* set_up);

// Chooses partitions that hold all levels of a key codec of 3 to 8 segments.
// Files have many of them, whose boundaries scans of each level must survive.
void MakeProneToLosePrefixes(RandomSetUp* set_up);

// Leaves the comparator to RocksDB, and sets only_rows.
void MakeOnlyRows(RandomSetUp* set_up);

rdb::Options MakeOptions(TestDb* db, const RandomSetUp& set_up);

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_DB_DIFFERENTIAL_SET_UP_H_
