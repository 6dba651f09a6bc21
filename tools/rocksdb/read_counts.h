// SPDX-License-Identifier: Apache-2.0
//
// Counts of gets and of the blocks that they read, by RocksDB's own statistics.
// A count that RocksDB did not write is unknown, not 0.
//
//   absl::StatusOr<LogFile> log = ReadLogsIn("db", "default", 10);
//   ReadCounts counts = CountsOf(log->tickers);

#ifndef ROWBLOOM_TOOLS_ROCKSDB_READ_COUNTS_H_
#define ROWBLOOM_TOOLS_ROCKSDB_READ_COUNTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "rowbloom/get_fit.h"
#include "tools/text/output.h"

namespace rowbloom::tools {

// Answers of filters of SSTs that do not have the key.
struct AbsentAnswers {
  uint64_t negatives = 0;
  uint64_t false_positives = 0;

  uint64_t lookups() const { return negatives + false_positives; }
};

struct ReadCounts {
  std::optional<uint64_t> gets;
  std::optional<uint64_t> memtable_hits;
  std::optional<uint64_t> sst_hits;          // Keys that were found in an SST.
  std::optional<uint64_t> filter_negatives;  // SSTs that a filter saved.
  std::optional<uint64_t> false_positives;
  std::optional<uint64_t> true_positives;
  std::optional<uint64_t> data_reads;  // Blocks that no cache had.
  std::optional<uint64_t> filter_reads;
  std::optional<uint64_t> index_reads;
  // Blocks asked of the block cache, and data blocks that entered it.
  std::optional<uint64_t> filter_asks;
  std::optional<uint64_t> data_asks;
  std::optional<uint64_t> data_inserts;
  // Seeks of iterators, and the bytes of the entries that they returned.
  std::optional<uint64_t> seeks;
  std::optional<uint64_t> scanned_bytes;
  // Data blocks that were read for false positives, estimated: the blocks that
  // a get asks for are assumed to be read equally often.
  std::optional<double> wasted_reads;
  // True if filters answered and no get is counted: RocksDB does not keep
  // counts of gets, and of the blocks that they read, for a database that is
  // open for reading only. They are unknown then.
  bool lacks_gets = false;
  // In a sample: the first get of each key alone. A filter answers the next one
  // as it did the first.
  std::optional<AbsentAnswers> of_distinct_keys;

  // True if 0 gets are counted, and no filter's answer: nothing was measured.
  bool are_of_no_gets() const;
  // Gets that memtables did not answer.
  std::optional<uint64_t> sst_gets() const;
  // The share of sst_gets() that found nothing.
  std::optional<double> missing_share() const;
  // The share by the answers of filters, if a get asks at most one filter.
  std::optional<double> missing_share_of_one_run() const;
  // For each of sst_gets(); nullopt if reads are unknown, or of few gets.
  std::optional<GetRates> rates() const;
  // A field for each count of gets, SSTs and reads; null if it is unknown.
  Json ToJson() const;
};

// The LOG of a database, or the text of Statistics::ToString().
struct LogFile {
  // The counters of the last dump of statistics, by RocksDB's names.
  std::map<std::string, uint64_t> tickers;
  // The capacity with which the column family was opened last.
  std::optional<uint64_t> block_cache_bytes;
  // The last plan of `auto`, with the counts behind it, if it made one.
  std::string plan;
  // The file that has the counters, and the capacity while it counted.
  std::string path;
  std::optional<uint64_t> counted_cache_bytes;
};

// Lines that are damaged or cut off are skipped. NotFound if there is no file.
absl::StatusOr<LogFile> ReadLogFile(const std::string& path,
                                    const std::string& column_family);

// The LOG in `directory`. If it counts too few gets, as that of a database that
// was opened just now, and one of the newest LOG.old.* counts enough, the
// counters are those of the newest of these; it reads `most_old` of them. Empty
// if there are none of them.
absl::StatusOr<LogFile> ReadLogsIn(const std::string& directory,
                                   const std::string& column_family,
                                   size_t most_old);

// The names are those of RocksDB 7.8 to 11.8. From 8.3 on filters without whole
// keys count as rocksdb.bloom.filter.prefix.*, in place of full.*: their false
// positives are unknown.
ReadCounts CountsOf(const std::map<std::string, uint64_t>& tickers);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_ROCKSDB_READ_COUNTS_H_
