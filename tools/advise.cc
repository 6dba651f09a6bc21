// SPDX-License-Identifier: Apache-2.0
//
// rowbloom advise: counts the reads that gets of a RocksDB database waste, and
// finds the filters that make a get cheapest where data, indexes and filters
// share one block cache.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hex.h"
#include "output.h"
#include "read_counts.h"
#include "report.h"
#include "rocksdb_tree.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/get_cost.h"
#include "verbs.h"
#include "whole_number.h"

namespace rowbloom::tools {
namespace {

struct AdviseArguments {
  std::string path;
  std::string column_family = "default";
  std::string statistics;
  std::string gets;
  bool hex = false;
  std::optional<uint64_t> cache_bytes;
  std::optional<double> missing_share;
  double read_us = GetCostOptions().read_us;
  double zipf = 0;
  bool json = false;
};

// Filters of all runs, and the gets that the model expects with them.
struct Candidate {
  std::string name;
  std::vector<FilterSetting> settings;
  GetCost cost;
  double bits_per_key = 0;
  double wasted_reads = 0;

  Json Row() const {
    // Less than a read in a million gets is none.
    const auto rounded = [](double reads) {
      constexpr double kMillion = 1e6;
      return std::round(kMillion * reads) / kMillion;
    };
    return {{"filters", name},
            {"bits_per_key", bits_per_key},
            {"data_reads", rounded(cost.data.reads)},
            {"wasted_reads", rounded(wasted_reads)},
            {"filter_reads", rounded(cost.filter.reads)},
            {"index_reads", rounded(cost.index.reads)},
            {"us", cost.total_us}};
  }
};

absl::StatusOr<std::vector<std::string>> ReadKeys(const std::string& path,
                                                  bool hex) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::UnavailableError(path + ": cannot be read");
  std::vector<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    keys.push_back(hex ? FromHex("--gets", line) : line);
  }
  if (keys.size() >= 2) return keys;
  return absl::InvalidArgumentError(
      path + ": has " + std::to_string(keys.size()) +
      " keys, one on each line; give 2 or more, as the first half only fills "
      "the cache");
}

GetCostOptions ModelOf(const RocksDbTree& tree,
                       const AdviseArguments& arguments, double missing_share) {
  GetCostOptions options;
  options.cache_bytes = *arguments.cache_bytes;
  options.data_block_bytes = static_cast<double>(tree.data_block_bytes);
  options.metadata_block_bytes = static_cast<double>(tree.metadata_block_bytes);
  options.decoupled_partitions = tree.decoupled_partitions;
  options.missing_share = missing_share;
  options.zipf_exponent = arguments.zipf;
  options.read_us = arguments.read_us;
  RocksDbRun all;
  for (const RocksDbRun& run : tree.runs) {
    all.entry_count += run.entry_count;
    all.key_count += run.key_count;
    all.raw_key_bytes += run.raw_key_bytes;
    all.raw_value_bytes += run.raw_value_bytes;
  }
  if (all.entry_count == 0 || all.key_count == 0) return options;
  // A data block stores 3 lengths for an entry; an index block stores keys
  // without the sequence number.
  constexpr double kLengths = 3;
  constexpr double kSequence = 8;
  const auto entries = static_cast<double>(all.entry_count);
  options.entry_bytes =
      (static_cast<double>(all.raw_key_bytes + all.raw_value_bytes) +
       kLengths * entries) /
      static_cast<double>(all.key_count);
  options.key_bytes =
      std::clamp(static_cast<double>(all.raw_key_bytes) / entries - kSequence,
                 1.0, options.entry_bytes);
  return options;
}

std::vector<TreeRun> TreeRunsOf(const RocksDbTree& tree) {
  std::vector<TreeRun> runs;
  for (const RocksDbRun& run : tree.runs) runs.push_back({run.key_count});
  return runs;
}

absl::StatusOr<Candidate> Now(const RocksDbTree& tree,
                              const GetCostOptions& options) {
  Candidate now{"now", {}, {}, 0, 0};
  const std::vector<TreeRun> runs = TreeRunsOf(tree);
  double keys = 0;
  for (const RocksDbRun& run : tree.runs) {
    const double bits = run.bits_per_key();
    now.settings.push_back({bits, bits, bits > 0 ? run.fpr() : 1});
    keys += static_cast<double>(run.key_count);
    now.bits_per_key += 8 * static_cast<double>(run.filter_bytes);
  }
  if (keys > 0) now.bits_per_key /= keys;
  absl::StatusOr<GetCost> cost = ExpectedGetCost(runs, now.settings, options);
  if (!cost.ok()) return cost.status();
  now.cost = *std::move(cost);
  const std::vector<double> asks = AbsentAsks(runs, options.missing_share);
  for (size_t i = 0; i < runs.size(); ++i) {
    // Without a filter there are no false positives.
    if (now.settings[i].bits_per_key == 0) continue;
    now.wasted_reads +=
        asks[i] * now.settings[i].fpr * now.cost.runs[i].data.miss_share;
  }
  return now;
}

absl::StatusOr<Candidate> Planned(const std::string& name,
                                  const FilterCost& cost,
                                  const RocksDbTree& tree,
                                  const GetCostOptions& get) {
  TotalMemoryOptions options;
  options.get = get;
  absl::StatusOr<TotalMemoryPlan> plan =
      PlanTotalMemory(cost, TreeRunsOf(tree), options);
  if (!plan.ok()) return plan.status();
  Candidate candidate{name,
                      {},
                      std::move(plan->cost),
                      plan->filters.bits_per_key,
                      plan->filters.wasted_reads};
  for (const RunBudget& run : plan->filters.runs) {
    candidate.settings.push_back(run.setting);
  }
  return candidate;
}

// The cheapest one, or the first if none is clearly cheaper.
const Candidate& Best(const std::vector<Candidate>& candidates) {
  constexpr double kClear = 0.98;
  const Candidate& cheapest = *std::min_element(
      candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
        return a.cost.total_us < b.cost.total_us;
      });
  const Candidate& first = candidates.front();
  return cheapest.cost.total_us < kClear * first.cost.total_us ? cheapest
                                                               : first;
}

std::string OptionText(const Candidate& best, double missing_share) {
  if (best.name == "now") return "";
  if (best.bits_per_key == 0) return "filter_policy=nullptr";
  constexpr double kLeast = FilterBudgetOptions::kMinMissingShare;
  char text[200];
  std::snprintf(text, sizeof(text),
                best.name == "compact"
                    ? "filter_policy={id=rowbloom;filter_spec=compact;"
                      "budget=balanced;budget_bits_per_key=%.3g;"
                      "missing_share=%.2g}"
                    : "filter_policy={id=rowbloom.Composed;bits_per_key=%.3g;"
                      "missing_share=%.2g}",
                best.bits_per_key, std::max(kLeast, missing_share));
  return text;
}

Json RunRows(const RocksDbTree& tree, const Candidate* best) {
  Json rows = Json::array();
  for (size_t i = 0; i < tree.runs.size(); ++i) {
    const RocksDbRun& run = tree.runs[i];
    const auto mean = [&run](uint64_t bytes) {
      return run.entry_count == 0 ? Json() : Json(bytes / run.entry_count);
    };
    rows.push_back(
        {{"level", run.level},
         {"files", run.file_count},
         {"entries", run.entry_count},
         {"data_bytes", run.data_bytes},
         {"key_bytes", mean(run.raw_key_bytes)},
         {"entry_bytes", mean(run.raw_key_bytes + run.raw_value_bytes)},
         {"filter_policy", EscapeControls(run.filter_policy)},
         {"partitioned", run.is_partitioned},
         {"bits_per_key", run.bits_per_key()},
         {"best_bits", best->settings[i].bits_per_key}});
  }
  return rows;
}

// Counts reads by the arguments; nullopt if the LOG has no statistics. Sets
// cache_bytes, if it is not given, by the LOG.
absl::StatusOr<std::optional<ReadCounts>> Measure(AdviseArguments* arguments,
                                                  std::string* source) {
  const std::string log_path = arguments->path + "/LOG";
  const std::string& family = arguments->column_family;
  absl::StatusOr<LogFile> log = ReadLogFile(log_path, family);
  if (absl::IsNotFound(log.status())) log = LogFile();
  if (!log.ok()) return log.status();
  std::optional<uint64_t>& cache_bytes = arguments->cache_bytes;
  if (!cache_bytes.has_value()) cache_bytes = log->block_cache_bytes;
  if (!cache_bytes.has_value()) {
    return absl::InvalidArgumentError(
        log_path +
        ": does not tell the capacity of the block cache; give it "
        "with --cache_bytes");
  }
  if (!arguments->gets.empty()) {
    *source = arguments->gets;
    const auto keys = ReadKeys(arguments->gets, arguments->hex);
    if (!keys.ok()) return keys.status();
    return CountGets(arguments->path, family, *cache_bytes, *keys);
  }
  const bool is_log = arguments->statistics.empty();
  *source = is_log ? log_path : arguments->statistics;
  if (!is_log) log = ReadLogFile(*source, family);
  if (!log.ok()) return log.status();
  const ReadCounts counts = CountsOf(log->tickers);
  if (counts.gets.has_value() || counts.data_reads.has_value()) return counts;
  if (is_log) return std::nullopt;
  return absl::InvalidArgumentError(
      *source +
      ": has no line like \"rocksdb.number.keys.read COUNT : 1\"; "
      "give a LOG of RocksDB or the text of Statistics::ToString()");
}

Json Notes(const RocksDbTree& tree, const AdviseArguments& arguments,
           const std::optional<ReadCounts>& counts) {
  Json notes = Json::array();
  if (!counts.has_value()) {
    notes.push_back(
        EscapeControls(arguments.path) +
        "/LOG does not exist or has no statistics: all numbers are the "
        "model's. Set Options::statistics and stats_dump_period_sec, or give "
        "--gets.");
  } else if (arguments.gets.empty()) {
    notes.push_back(
        "The statistics count all column families, and the blocks of scans and "
        "compactions, too.");
  }
  if (tree.runs.empty()) {
    notes.push_back("The column family has no SSTs: there is no advice.");
  } else if (!tree.caches_metadata) {
    notes.push_back(
        "cache_index_and_filter_blocks is false: filters and indexes are read "
        "once, and take memory beside the cache. The model has them in it.");
  } else if (std::none_of(tree.runs.begin(), tree.runs.end(),
                          [](const auto& run) { return run.is_partitioned; })) {
    notes.push_back(
        "No filter is partitioned: each of their reads is of a whole filter. "
        "The model has partitions.");
  }
  return notes;
}

std::string Sentence(const Candidate& best, const Candidate& now,
                     uint64_t measured_gets) {
  constexpr uint64_t kMillion = 1000000;
  const auto gets =
      static_cast<double>(measured_gets > 0 ? measured_gets : kMillion);
  char text[400];
  std::snprintf(text, sizeof(text),
                "The model expects of %.0f gets, now: %.0f data blocks wasted, "
                "%.0f blocks of filters.\n"
                "With %.3g bits per key of %s: %.0f and %.0f.\n",
                gets, gets * now.wasted_reads, gets * now.cost.filter.reads,
                best.bits_per_key, best.name.c_str(), gets * best.wasted_reads,
                gets * best.cost.filter.reads);
  return text;
}

absl::Status Advise(AdviseArguments arguments) {
  absl::StatusOr<RocksDbTree> tree =
      ReadRocksDbTree(arguments.path, arguments.column_family);
  if (!tree.ok()) return tree.status();
  std::string source;
  const auto counts = Measure(&arguments, &source);
  if (!counts.ok()) return counts.status();
  const auto measured_share =
      counts->has_value() ? (*counts)->missing_share() : std::nullopt;
  const double missing_share =
      arguments.missing_share.value_or(measured_share.value_or(0.5));
  const GetCostOptions model = ModelOf(*tree, arguments, missing_share);

  std::vector<Candidate> candidates;
  const auto add = [&](absl::StatusOr<Candidate> candidate) {
    if (candidate.ok()) candidates.push_back(*std::move(candidate));
    return candidate.status();
  };
  if (absl::Status s = add(Now(*tree, model)); !s.ok()) return s;
  const absl::StatusOr<FilterCost> compact = FilterCost::OfFamily("compact");
  if (!compact.ok()) return compact.status();
  if (absl::Status s = add(Planned("compact", *compact, *tree, model));
      !s.ok()) {
    return s;
  }
  if (absl::Status s = add(Planned(
          "composed Ribbon", FilterCost::OfRocksDbRibbon(), *tree, model));
      !s.ok()) {
    return s;
  }
  const Candidate& best = Best(candidates);

  Json fields{{"path", EscapeControls(arguments.path)},
              {"column_family", EscapeBytes(arguments.column_family)},
              {"cache_bytes", *arguments.cache_bytes},
              {"missing_share", missing_share},
              {"zipf", arguments.zipf},
              {"read_us", arguments.read_us}};
  const Json runs = RunRows(*tree, &best);
  Json rows = Json::array();
  for (const Candidate& candidate : candidates) rows.push_back(candidate.Row());
  const std::string option =
      tree->runs.empty() ? "" : OptionText(best, missing_share);
  const Json notes = Notes(*tree, arguments, *counts);
  if (arguments.json) {
    Json document{{"format", "rowbloom-advise"}, {"version", kReportVersion}};
    document.update(fields);
    document["source"] =
        counts->has_value() ? Json(EscapeControls(source)) : Json();
    document["measured"] = counts->has_value() ? (*counts)->ToJson() : Json();
    document["runs"] = runs;
    document["filters"] = std::move(rows);
    document["best"] = best.name;
    document["option"] = option.empty() ? Json() : Json(option);
    document["notes"] = notes;
    std::cout << document.dump(2, ' ', false, Json::error_handler_t::replace)
              << "\n";
    return absl::OkStatus();
  }
  std::cout << FieldLines(fields);
  if (counts->has_value()) {
    std::cout << EscapeControls(source) << ":\n" << (*counts)->ToString();
  }
  if (!tree->runs.empty()) {
    const auto gets = (*counts).value_or(ReadCounts()).sst_gets();
    std::cout << Table(runs) << Table(rows)
              << (option.empty()
                      ? "Keep the filters as they are: none are 2% cheaper.\n"
                      : Sentence(best, candidates.front(), gets.value_or(0)) +
                            "Set " + option + "\n");
  }
  for (const Json& note : notes) {
    std::cout << "note: " << note.get<std::string>() << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

void AddAdvise(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<AdviseArguments>();
  CLI::App* verb = app->add_subcommand(
      "advise",
      "Count the reads that gets of a RocksDB database waste, and find the "
      "filters that make a get cheapest");
  verb->add_option("DB", arguments->path, "The directory of the database")
      ->required();
  verb->add_option("--column_family", arguments->column_family,
                   "The column family")
      ->capture_default_str();
  CLI::Option* statistics = verb->add_option(
      "--statistics", arguments->statistics,
      "A LOG of RocksDB, or the text of its statistics, instead of DB/LOG");
  CLI::Option* gets =
      verb->add_option("--gets", arguments->gets,
                       "A file of keys, one on each line, that are read; the "
                       "second half is counted")
          ->excludes(statistics);
  verb->add_flag("--hex", arguments->hex, "The keys are hexadecimal bytes")
      ->needs(gets);
  verb->add_option("--cache_bytes", arguments->cache_bytes,
                   "Capacity of the block cache; default: by the LOG")
      ->transform(WholeNumber());
  verb->add_option("--missing_share", arguments->missing_share,
                   "Share of gets whose key is nowhere in the tree; default: "
                   "as counted, or 0.5")
      ->check(CLI::Range(0.0, 1.0));
  verb->add_option("--read_us", arguments->read_us,
                   "Microseconds of the read of one block")
      ->capture_default_str();
  verb->add_option("--zipf", arguments->zipf,
                   "Exponent of the popularity of keys; 0: all are equal")
      ->check(CLI::Range(0.0, GetCostOptions::kMaxZipfExponent))
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-advise)");
  verb->callback([arguments, exit_code] {
    const absl::Status status = Advise(*arguments);
    if (status.ok()) {
      *exit_code = FlushOutput(kExitOk);
      return;
    }
    std::cerr << "rowbloom: " << EscapeControls(std::string(status.message()))
              << "\n";
    const bool is_damage =
        absl::IsDataLoss(status) || absl::IsUnimplemented(status);
    *exit_code = is_damage ? kExitDamaged : kExitUsage;
  });
}

}  // namespace rowbloom::tools
