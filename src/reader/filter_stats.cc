// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_stats.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "reader/counted_files.h"
#include "reader/file_counters.h"
#include "util/absl_view.h"
#include "util/check.h"

namespace rowbloom {

namespace {

constexpr size_t kCounters = static_cast<size_t>(FilterCounter::kCount);

std::string LevelName(int level) {
  return level == FilterStats::kUnknownLevel ? "unknown" : absl::StrCat(level);
}

struct CounterText {
  std::string_view name;
  std::string_view help;  // The HELP line for Prometheus.
};
// The order is that of FilterCounter.
constexpr std::array<CounterText, kCounters> kTexts = {{
    {"lookups", "Questions asked."},
    {"negatives", "Questions answered no."},
    {"true_positives", "Questions answered maybe whose key was there."},
    {"false_positives", "Questions answered maybe whose key was not there."},
    {"unloaded",
     "Questions answered maybe because their chunk was not loaded."},
    {"chunk_loads", "Reads of filter chunks."},
    {"chunk_load_bytes", "Bytes of filter chunks read."},
    {"load_errors", "Filter chunks that could not be read or were damaged."},
    {"open_errors", "Files read without a filter."},
    {"prefix_lookups", "Questions for a prefix of rows, or of key levels."},
    {"prefix_negatives", "Questions for a prefix of rows answered no."},
}};

void AppendRow(std::string_view name, const FilterStatsSnapshot& s,
               std::string* out) {
  using C = FilterCounter;
  absl::StrAppendFormat(
      out, "%-8s %14d %14d %14d %14d %9.4f%% %12d %10d %14d %8d\n",
      util::AbslView(name), s[C::kLookups], s[C::kNegatives],
      s[C::kTruePositives], s[C::kFalsePositives], 100 * s.observed_fpr(),
      s[C::kUnloaded], s[C::kChunkLoads], s[C::kChunkLoadBytes],
      s[C::kLoadErrors] + s[C::kOpenErrors]);
}

void AppendPrefixLevels(absl::string_view counter, absl::string_view help,
                        const std::map<int, FilterStatsSnapshot>& levels,
                        uint64_t FilterStatsSnapshot::PrefixLevel::*value,
                        std::string* out) {
  const std::string name =
      absl::StrCat("rowbloom_prefix_level_", counter, "_total");
  std::string lines;
  for (const auto& [level, counters] : levels) {
    for (size_t i = 0; i < counters.prefix_levels.size(); ++i) {
      if (counters.prefix_levels[i].lookups == 0) continue;
      absl::StrAppend(&lines, name, "{level=\"", LevelName(level),
                      "\",prefix_level=\"", i + 1, "\"} ",
                      counters.prefix_levels[i].*value, "\n");
    }
  }
  if (lines.empty()) return;
  absl::StrAppend(out, "# HELP ", name, " ", help, "\n# TYPE ", name,
                  " counter\n", lines);
}

}  // namespace

FilterStatsSnapshot& FilterStatsSnapshot::operator+=(
    const FilterStatsSnapshot& other) {
  for (size_t i = 0; i < kCounters; ++i) values[i] += other.values[i];
  for (size_t i = 0; i < prefix_levels.size(); ++i) {
    prefix_levels[i].lookups += other.prefix_levels[i].lookups;
    prefix_levels[i].negatives += other.prefix_levels[i].negatives;
  }
  return *this;
}

double FilterStatsSnapshot::observed_fpr() const {
  const uint64_t passed = (*this)[FilterCounter::kFalsePositives];
  const uint64_t absent = passed + (*this)[FilterCounter::kNegatives];
  return absent == 0
             ? 0
             : static_cast<double>(passed) / static_cast<double>(absent);
}

double FilterStatsSnapshot::observed_filter_fpr() const {
  const auto positives_count = static_cast<double>(positives());
  if (positives_count == 0) return 0;
  const double asked_share =
      1 - std::min(1.0, static_cast<double>((*this)[FilterCounter::kUnloaded]) /
                            positives_count);
  const double passed =
      asked_share *
      static_cast<double>((*this)[FilterCounter::kFalsePositives]);
  const double absent =
      passed + static_cast<double>((*this)[FilterCounter::kNegatives]);
  return absent == 0 ? 0 : passed / absent;
}

std::string FilterStatsSnapshot::ToString() const {
  std::string out;
  for (size_t i = 0; i < kCounters; ++i) {
    absl::StrAppend(&out, util::AbslView(kTexts[i].name), " ", values[i], "\n");
  }
  for (size_t i = 0; i < prefix_levels.size(); ++i) {
    const PrefixLevel& level = prefix_levels[i];
    if (level.lookups == 0) continue;
    absl::StrAppend(&out, "prefix_level_", i + 1, "_lookups ", level.lookups,
                    "\nprefix_level_", i + 1, "_negatives ", level.negatives,
                    "\n");
  }
  return out;
}

namespace internal::reader {

void CountedFiles::Open(const FileCounters* counters, int level) {
  std::lock_guard<std::mutex> lock(mutex_);
  files_.emplace(counters, level);
}

void CountedFiles::Close(const FileCounters* counters) {
  const FilterStatsSnapshot last = counters->Snapshot();
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = files_.find(counters);
  closed_[it->second] += last;
  files_.erase(it);
}

void CountedFiles::Add(FilterCounter counter, uint64_t delta, int level) {
  RB_CHECK(counter < FilterCounter::kCount,
           "FilterStats::Add(): no such counter");
  unattributed_[level >= 0 && level < kLevels ? level : kLevels]
               [static_cast<size_t>(counter)]
                   .fetch_add(delta, std::memory_order_relaxed);
}

std::map<int, FilterStatsSnapshot> CountedFiles::Levels() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::map<int, FilterStatsSnapshot> levels = closed_;
  for (const auto& [counters, level] : files_) {
    levels[level] += counters->Snapshot();
  }
  for (int i = 0; i <= kLevels; ++i) {
    FilterStatsSnapshot rest;
    for (size_t counter = 0; counter < kCounters; ++counter) {
      rest.values[counter] =
          unattributed_[i][counter].load(std::memory_order_relaxed);
    }
    if (rest.values == FilterStatsSnapshot().values) continue;
    levels[i < kLevels ? i : FilterStats::kUnknownLevel] += rest;
  }
  return levels;
}

CountedFiles::~CountedFiles() {
  RB_CHECK(files_.empty(),
           "a FilterStats is destroyed before a FilterReader that uses "
           "it; declare the statistics first");
}

}  // namespace internal::reader

FilterStats::FilterStats()
    : files_(std::make_unique<internal::reader::CountedFiles>()) {}
FilterStats::~FilterStats() = default;

void FilterStats::Add(FilterCounter counter, uint64_t delta, int level) {
  files_->Add(counter, delta, level);
}

std::map<int, FilterStatsSnapshot> FilterStats::Levels() const {
  return files_->Levels();
}

FilterStatsSnapshot FilterStats::Snapshot() const {
  FilterStatsSnapshot sum;
  for (const auto& [level, counters] : Levels()) sum += counters;
  return sum;
}

std::string FilterStats::ToString() const {
  std::string out = absl::StrFormat(
      "%-8s %14s %14s %14s %14s %10s %12s %10s %14s %8s\n", "level", "lookups",
      "negatives", "true pos.", "false pos.", "fpr", "unloaded", "loads",
      "loaded bytes", "errors");
  FilterStatsSnapshot sum;
  for (const auto& [level, counters] : Levels()) {
    AppendRow(LevelName(level), counters, &out);
    sum += counters;
  }
  AppendRow("all", sum, &out);
  if (sum[FilterCounter::kPrefixLookups] == 0) return out;
  absl::StrAppendFormat(&out, "%-8s %14s %14s\n", "prefix", "lookups",
                        "negatives");
  for (size_t i = 0; i < sum.prefix_levels.size(); ++i) {
    const FilterStatsSnapshot::PrefixLevel& level = sum.prefix_levels[i];
    if (level.lookups == 0) continue;
    absl::StrAppendFormat(&out, "%-8d %14d %14d\n", i + 1, level.lookups,
                          level.negatives);
  }
  absl::StrAppendFormat(&out, "%-8s %14d %14d\n", "all",
                        sum[FilterCounter::kPrefixLookups],
                        sum[FilterCounter::kPrefixNegatives]);
  return out;
}

std::string FilterStats::ToPrometheus() const {
  const std::map<int, FilterStatsSnapshot> levels = Levels();
  std::string out;
  for (size_t i = 0; i < kCounters; ++i) {
    const std::string name =
        absl::StrCat("rowbloom_", util::AbslView(kTexts[i].name), "_total");
    absl::StrAppend(&out, "# HELP ", name, " ", util::AbslView(kTexts[i].help),
                    "\n# TYPE ", name, " counter\n");
    for (const auto& [level, counters] : levels) {
      absl::StrAppend(&out, name, "{level=\"", LevelName(level), "\"} ",
                      counters.values[i], "\n");
    }
  }
  AppendPrefixLevels("lookups", "Questions for a prefix that a level answered.",
                     levels, &FilterStatsSnapshot::PrefixLevel::lookups, &out);
  AppendPrefixLevels("negatives",
                     "Questions for a prefix that a level answered no.", levels,
                     &FilterStatsSnapshot::PrefixLevel::negatives, &out);
  return out;
}

}  // namespace rowbloom
