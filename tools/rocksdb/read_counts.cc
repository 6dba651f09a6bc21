// SPDX-License-Identifier: Apache-2.0

#include "tools/rocksdb/read_counts.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace rowbloom::tools {
namespace {

using Count = std::optional<uint64_t>;

Count ParseCount(std::string_view text) {
  const absl::string_view digits(text.data(), text.size());
  uint64_t value = 0;
  return absl::SimpleAtoi(digits, &value) ? Count(value) : Count();
}

// The text behind the first `key` of the line.
std::optional<std::string_view> Behind(std::string_view line,
                                       std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  return line.substr(at + key.size());
}

// Nothing is less than a count that was read a moment later.
Count Difference(Count whole, Count part) {
  if (!whole.has_value() || !part.has_value()) return std::nullopt;
  return *whole - std::min(*whole, *part);
}

Count Sum(Count a, Count b) {
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  return *a + *b;
}

}  // namespace

bool ReadCounts::are_of_no_gets() const {
  return gets == Count(0) && !filter_negatives.has_value() &&
         !false_positives.has_value();
}

Count ReadCounts::sst_gets() const { return Difference(gets, memtable_hits); }

std::optional<double> ReadCounts::missing_share() const {
  const Count missing = Difference(sst_gets(), sst_hits);
  if (!missing.has_value() || *sst_gets() == 0) return std::nullopt;
  return static_cast<double>(*missing) / static_cast<double>(*sst_gets());
}

std::optional<double> ReadCounts::missing_share_of_one_run() const {
  if (!filter_negatives.has_value() || !false_positives.has_value() ||
      !true_positives.has_value()) {
    return std::nullopt;
  }
  const uint64_t missing = *filter_negatives + *false_positives;
  if (missing + *true_positives == 0) return std::nullopt;
  return static_cast<double>(missing) /
         static_cast<double>(missing + *true_positives);
}

std::optional<GetRates> ReadCounts::rates() const {
  if (sst_gets().value_or(0) < GetRates::kFewestGets ||
      !missing_share().has_value() || !data_reads.has_value()) {
    return std::nullopt;
  }
  const auto per_get = [this](Count count) {
    return static_cast<double>(count.value_or(0)) /
           static_cast<double>(*sst_gets());
  };
  GetRates rates;
  rates.missing_share = *missing_share();
  rates.filter_asks = per_get(filter_asks);
  rates.filter_reads = per_get(filter_reads);
  rates.data_asks = per_get(data_asks);
  rates.data_reads =
      per_get(data_inserts.has_value() ? data_inserts : data_reads);
  rates.seeks = per_get(seeks);
  rates.scanned_bytes = per_get(scanned_bytes);
  return rates;
}

Json ReadCounts::ToJson() const {
  return {
      {"gets", OrNull(gets)},
      {"memtable_hits", OrNull(memtable_hits)},
      {"sst_hits", OrNull(sst_hits)},
      {"filter_negatives", OrNull(filter_negatives)},
      {"false_positives", OrNull(false_positives)},
      {"true_positives", OrNull(true_positives)},
      {"data_reads", OrNull(data_reads)},
      {"filter_reads", OrNull(filter_reads)},
      {"index_reads", OrNull(index_reads)},
      {"wasted_reads",
       wasted_reads.has_value() ? Json(std::llround(*wasted_reads)) : Json()},
      {"missing_share", OrNull(missing_share())}};
}

absl::StatusOr<LogFile> ReadLogFile(const std::string& path,
                                    const std::string& column_family) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::string message = path + ": " + std::strerror(errno);
    return errno == ENOENT ? absl::NotFoundError(message)
                           : absl::UnavailableError(message);
  }
  LogFile log;
  log.path = path;
  bool in_family = false;
  const std::string plan_begin =
      "[" + column_family + "] rowbloom plans filters of ";
  // The last line of a file that is being written may be cut off.
  for (std::string text; std::getline(file, text) && !file.eof();) {
    std::string_view line = text;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.find("STATISTICS:") != std::string_view::npos) {
      log.tickers.clear();
    } else if (line.find(plan_begin) != std::string_view::npos) {
      log.plan = line.substr(line.find(plan_begin) + plan_begin.size());
    } else if (const auto family =
                   Behind(line, "Options for column family [")) {
      in_family = family->substr(0, family->find("]:")) == column_family;
    } else if (const auto capacity = Behind(line, "capacity : ")) {
      if (!in_family) continue;
      // Later ones are of a secondary cache.
      log.block_cache_bytes = ParseCount(*capacity);
      in_family = false;
    } else if (const auto count = Behind(line, " COUNT : ")) {
      const std::string name(line.substr(0, line.find(' ')));
      const Count value = ParseCount(*count);
      // Histograms have more words in front.
      if (line.size() - count->size() ==
              name.size() + std::strlen(" COUNT : ") &&
          value.has_value()) {
        log.tickers[name] = *value;
      }
    }
  }
  if (file.bad()) return absl::UnavailableError(path + ": cannot be read");
  log.counted_cache_bytes = log.block_cache_bytes;
  return log;
}

absl::StatusOr<LogFile> ReadLogsIn(const std::string& directory,
                                   const std::string& column_family,
                                   size_t most_old) {
  absl::StatusOr<LogFile> log = ReadLogFile(directory + "/LOG", column_family);
  if (absl::IsNotFound(log.status())) {
    log = LogFile();
    log->path = directory + "/LOG";
  }
  const auto counts_enough = [](const LogFile& file) {
    return CountsOf(file.tickers).rates().has_value();
  };
  if (!log.ok() || most_old == 0 || counts_enough(*log)) return log;
  // Their names end with the microseconds at which they were renamed.
  std::vector<std::string> old_names;
  std::error_code error;
  for (std::filesystem::directory_iterator file(directory, error), end;
       !error && file != end; file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (name.compare(0, std::strlen("LOG.old."), "LOG.old.") == 0) {
      old_names.push_back(name);
    }
  }
  std::sort(old_names.begin(), old_names.end(),
            [](const std::string& a, const std::string& b) {
              return std::make_pair(a.size(), a) > std::make_pair(b.size(), b);
            });
  old_names.resize(std::min(old_names.size(), most_old));
  for (const std::string& name : old_names) {
    absl::StatusOr<LogFile> old =
        ReadLogFile(directory + "/" + name, column_family);
    if (!old.ok() || !counts_enough(*old)) continue;
    if (log->block_cache_bytes.has_value()) {
      old->block_cache_bytes = log->block_cache_bytes;
    }
    if (!log->plan.empty()) old->plan = log->plan;
    return old;
  }
  return log;
}

ReadCounts CountsOf(const std::map<std::string, uint64_t>& tickers) {
  const auto ticker = [&tickers](const std::string& name) -> Count {
    const auto found = tickers.find("rocksdb." + name);
    return found == tickers.end() ? Count() : Count(found->second);
  };
  ReadCounts counts;
  counts.gets = ticker("number.keys.read");
  // The hits are those of MultiGet(), too.
  if (counts.gets.has_value()) {
    *counts.gets += ticker("number.multiget.keys.read").value_or(0);
  }
  counts.memtable_hits = ticker("memtable.hit");
  const Count l0 = ticker("l0.hit");
  const Count l1 = ticker("l1.hit");
  const Count deeper = ticker("l2andup.hit");
  if (l0.has_value() && l1.has_value() && deeper.has_value()) {
    counts.sst_hits = *l0 + *l1 + *deeper;
  }
  const Count positives = ticker("bloom.filter.full.positive");
  const Count useful = ticker("bloom.filter.useful");
  if (positives.value_or(0) + useful.value_or(0) > 0) {
    counts.true_positives = ticker("bloom.filter.full.true.positive");
    counts.false_positives = Difference(positives, counts.true_positives);
    counts.filter_negatives = useful;
  }
  counts.data_reads = ticker("block.cache.data.miss");
  counts.filter_reads = ticker("block.cache.filter.miss");
  counts.index_reads = ticker("block.cache.index.miss");
  const Count hits = ticker("block.cache.data.hit");
  counts.data_asks = Sum(counts.data_reads, hits);
  counts.filter_asks =
      Sum(counts.filter_reads, ticker("block.cache.filter.hit"));
  counts.data_inserts = ticker("block.cache.data.add");
  counts.seeks = ticker("number.db.seek");
  counts.scanned_bytes = ticker("db.iter.bytes.read");
  if (counts.gets == Count(0) && !counts.are_of_no_gets()) {
    counts.lacks_gets = true;
    counts.gets = counts.memtable_hits = counts.sst_hits = Count();
    counts.filter_reads = counts.index_reads = Count();
    if (counts.data_reads.value_or(0) + hits.value_or(0) == 0) {
      counts.data_reads = Count();
    }
  }
  if (!counts.data_reads.has_value() || !counts.data_asks.has_value() ||
      !counts.false_positives.has_value()) {
    return counts;
  }
  const auto asks = static_cast<double>(*counts.data_asks);
  const auto false_positives = static_cast<double>(*counts.false_positives);
  counts.wasted_reads = asks == 0 ? 0
                                  : std::min(1.0, false_positives / asks) *
                                        static_cast<double>(*counts.data_reads);
  return counts;
}

}  // namespace rowbloom::tools
