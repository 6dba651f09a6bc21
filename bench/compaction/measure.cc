// SPDX-License-Identifier: Apache-2.0

#include "measure.h"

#include <algorithm>
#include <memory>
#include <random>
#include <stdexcept>

#include "bench/machine.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb_plugin/open_db.h"
#include "rowbloom/key_codec.h"

namespace rowbloom::compaction_bench {
namespace {

constexpr uint64_t kSeed = 20;

void Check(const rocksdb::Status& status, const std::string& doing) {
  if (!status.ok()) {
    throw std::runtime_error(doing + ": " + status.ToString());
  }
}

rocksdb::Options MakeOptions(const Shape& shape, const reads::Policy& policy) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = policy.filter;
  if (shape.partition_filters) {
    table.partition_filters = true;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  }
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor = policy.prefix_extractor;
  options.create_if_missing = true;
  // Nothing runs but what is timed.
  options.disable_auto_compactions = true;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.max_subcompactions = 1;
  // Flushes come when they are asked for.
  options.write_buffer_size = size_t{4} << 30;
  // The most that filters can weigh.
  options.compression = rocksdb::kNoCompression;
  return options;
}

// Values that do not repeat, without the cost of making them.
class Values {
 public:
  explicit Values(uint32_t size) : size_(size) {
    std::mt19937_64 random(kSeed);
    bytes_.resize(size + kStarts);
    for (char& c : bytes_) c = static_cast<char>(random());
  }
  rocksdb::Slice Next() { return {bytes_.data() + next_++ % kStarts, size_}; }

 private:
  static constexpr size_t kStarts = 1 << 16;
  const size_t size_;
  std::string bytes_;
  size_t next_ = 0;
};

}  // namespace

std::vector<std::string> MakeKeys(const Shape& shape) {
  std::mt19937_64 random(kSeed);
  const KeyCodec codec = KeyCodec::Ordered();
  std::vector<std::string> keys;
  keys.reserve(shape.rows * shape.columns);
  for (uint64_t row = 0; row < shape.rows; ++row) {
    // 16 digits that look random, as of a user's id.
    std::string name = std::to_string(row * 0x9e3779b97f4a7c15u);
    name.resize(16, '0');
    for (uint32_t column = 0; column < shape.columns; ++column) {
      keys.emplace_back();
      const absl::Status status =
          codec.Encode(name, "col" + std::to_string(column), &keys.back());
      if (!status.ok()) throw std::runtime_error(status.ToString());
    }
  }
  std::shuffle(keys.begin(), keys.end(), random);
  return keys;
}

Costs MeasureWrites(const Shape& shape, const std::vector<std::string>& keys,
                    const reads::Policy& policy, const std::string& directory) {
  const rocksdb::Options options = MakeOptions(shape, policy);
  std::unique_ptr<rocksdb::DB> db;
  Check(rowbloom::OpenDb(
            [&](auto* opened) {
              return rocksdb::DB::Open(options, directory, opened);
            },
            &db),
        "open " + directory);

  Costs costs;
  Values values(shape.value_bytes);
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  for (uint32_t flush = 0; flush < shape.flushes; ++flush) {
    const size_t end = keys.size() * (flush + 1) / shape.flushes;
    for (size_t i = keys.size() * flush / shape.flushes; i < end; ++i) {
      Check(db->Put(write, keys[i], values.Next()), "put");
    }
    const double start = bench::ProcessCpuSeconds();
    Check(db->Flush({}), "flush");
    costs.flush_seconds += bench::ProcessCpuSeconds() - start;
  }
  const double start = bench::ProcessCpuSeconds();
  Check(db->CompactRange({}, nullptr, nullptr), "compact");
  costs.compaction_seconds = bench::ProcessCpuSeconds() - start;

  rocksdb::TablePropertiesCollection files;
  Check(db->GetPropertiesOfAllTables(&files), "properties");
  for (const auto& [name, file] : files) {
    costs.filter_bytes += file->filter_size;
    costs.filter_keys += file->num_filter_entries;
  }
  Check(db->Close(), "close");
  db.reset();
  Check(rocksdb::DestroyDB(directory, options), "remove " + directory);
  return costs;
}

}  // namespace rowbloom::compaction_bench
