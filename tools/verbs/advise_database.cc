// SPDX-License-Identifier: Apache-2.0
//
// rowbloom advise on a RocksDB database: the reads that its gets waste, and the
// filters that make a get cheapest where data, indexes and filters share one
// block cache.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rowbloom/get_cost.h"
#include "tools/rocksdb/advice.h"
#include "tools/rocksdb/model_check.h"
#include "tools/rocksdb/read_counts.h"
#include "tools/rocksdb/tree.h"
#include "tools/text/arguments.h"
#include "tools/text/output.h"
#include "tools/verbs/advise.h"
#include "tools/verbs/report.h"

namespace rowbloom::tools {
namespace {

absl::StatusOr<std::vector<std::string>> ReadKeys(const std::string& path,
                                                  bool hex) {
  auto keys = ReadKeyLines("--gets", path, hex);
  if (!keys.ok() || keys->size() >= 2) return keys;
  return absl::InvalidArgumentError(
      path + ": has " + std::to_string(keys->size()) +
      " keys, one on each line; give 2 or more, as the first half only fills "
      "the cache");
}

// `best` is nullptr if there is no advice.
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
         {"bits_per_key", run.bits_per_key()}});
    if (best != nullptr) {
      rows.back()["best_bits"] = best->settings[i].bits_per_key;
    }
  }
  return rows;
}

constexpr char kAssumed[] = "assumed";

// The share of missing keys, and where it is from.
struct MissingShare {
  double value = GetCostOptions().missing_share;
  const char* source = kAssumed;
};

MissingShare MissingShareOf(const std::optional<double>& given,
                            const ReadCounts& counts, const RocksDbTree& tree) {
  if (given.has_value()) return {*given, "given"};
  if (const auto counted = counts.missing_share()) return {*counted, "counted"};
  const auto by_filters = counts.missing_share_of_one_run();
  if (tree.runs.size() == 1 && by_filters.has_value()) {
    return {*by_filters, "filter tickers"};
  }
  return {};
}

// Everything that the verb prints.
struct Advice {
  absl::Status unread;  // Why the database cannot be read.
  std::string source;
  std::optional<ReadCounts> counts;
  uint64_t counted_cache_bytes = 0;  // With this capacity.
  // Says what else is counted, or why nothing is; empty for gets alone.
  std::string counts_note;
  std::string plan;  // The last one of `auto`, empty without.
  RocksDbTree tree;
  MissingShare missing_share;
  GetCostOptions model;
  const char* popularity_source = kAssumed;
  std::vector<Candidate> candidates;
  // Set if there is no advice, as the model does not know the filters. `best`
  // is nullptr then, and `candidates` has the filters of the tree alone.
  std::optional<ModelExcess> excess;
  const Candidate* best = nullptr;
  std::optional<PlaceAdvice> places;  // nullopt if there is no advice.
  std::string option;                 // Empty if there is nothing to change.
  std::string listeners;              // Empty if the option needs none.
};

// Counts reads by the arguments, and sets what the LOG tells: the plan, and
// cache_bytes if it is not given. There are no counts if the LOG has no
// statistics, or if they are of no gets.
absl::Status Measure(AdviseArguments* arguments, Advice* advice) {
  const std::string& family = arguments->column_family;
  const bool is_log = arguments->gets.empty() && arguments->statistics.empty();
  constexpr size_t kOldLogs = 10;  // RocksDB keeps 1,000 by default.
  absl::StatusOr<LogFile> log =
      ReadLogsIn(arguments->paths.front(), family, is_log ? kOldLogs : 0);
  if (!log.ok()) return log.status();
  advice->plan = log->plan;
  std::optional<uint64_t>& cache_bytes = arguments->cache_bytes;
  if (!cache_bytes.has_value()) cache_bytes = log->block_cache_bytes;
  if (!cache_bytes.has_value()) {
    return absl::InvalidArgumentError(
        log->path +
        ": does not tell the capacity of the block cache; give it "
        "with --cache_bytes");
  }
  advice->counted_cache_bytes =
      arguments->gets.empty() ? log->counted_cache_bytes.value_or(*cache_bytes)
                              : *cache_bytes;
  if (!arguments->gets.empty()) {
    advice->source = arguments->gets;
    const auto keys = ReadKeys(arguments->gets, arguments->hex);
    if (!keys.ok()) return keys.status();
    auto counts = CountGets({arguments->paths.front(), arguments->db_paths},
                            family, *cache_bytes, *keys);
    if (!counts.ok()) return counts.status();
    advice->counts = *std::move(counts);
    return absl::OkStatus();
  }
  advice->source = is_log ? log->path : arguments->statistics;
  if (!is_log) log = ReadLogFile(advice->source, family);
  if (!log.ok()) return log.status();
  const ReadCounts counts = CountsOf(log->tickers);
  if (counts.are_of_no_gets()) {
    advice->counts_note = "The statistics in " + advice->source +
                          " count no gets: all numbers are the model's.";
    return absl::OkStatus();
  }
  if (counts.gets.has_value() || counts.data_reads.has_value() ||
      counts.lacks_gets) {
    advice->counts_note =
        "The statistics count all column families, and the blocks of scans and "
        "compactions, too.";
    advice->counts = counts;
    return absl::OkStatus();
  }
  if (is_log) {
    advice->counts_note =
        advice->source +
        " does not exist or has no statistics: all numbers are the "
        "model's. Set Options::statistics and stats_dump_period_sec, or "
        "give --gets.";
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      advice->source +
      ": has no line like \"rocksdb.number.keys.read COUNT : 1\"; "
      "give a LOG of RocksDB or the text of Statistics::ToString()");
}

// Takes the popularity of keys from the arguments, or from the reads.
absl::Status SetPopularity(const AdviseArguments& arguments,
                           const ReadCounts& counts, Advice* advice) {
  if (arguments.zipf.has_value()) {
    advice->popularity_source = "given";
    return absl::OkStatus();
  }
  // Statistics have the sums of all column families, and filters that the model
  // does not know tell nothing of gets.
  if ((arguments.gets.empty() && advice->tree.column_family_count != 1) ||
      advice->excess.has_value()) {
    return absl::OkStatus();
  }
  const absl::StatusOr<bool> is_fitted = FitToCounts(
      advice->tree, counts, advice->counted_cache_bytes, &advice->model);
  if (!is_fitted.ok()) return is_fitted.status();
  if (*is_fitted) advice->popularity_source = "counted";
  return absl::OkStatus();
}

Json Notes(const Advice& advice) {
  const RocksDbTree& tree = advice.tree;
  Json notes = Json::array();
  int last_level = -1;  // Each SST of level 0 is a run.
  for (const RocksDbRun& run : tree.runs) {
    if (run.misfit.empty() || run.level == last_level) continue;
    last_level = run.level;
    notes.push_back("level " + std::to_string(run.level) + ": " +
                    EscapeControls(run.misfit) +
                    ". The model takes its filters to pass as many keys.");
  }
  if (!advice.counts_note.empty()) {
    notes.push_back(EscapeControls(advice.counts_note));
  }
  if (advice.counts.has_value() && advice.counts->lacks_gets) {
    notes.push_back(
        "The statistics have answers of filters and 0 gets: RocksDB does not "
        "keep the counts of gets of a database that is open for reading only "
        "(https://github.com/facebook/rocksdb/issues/15140). They are unknown "
        "here, not 0.");
  }
  if (!tree.runs.empty() && advice.missing_share.source == kAssumed) {
    notes.push_back(
        "The share of missing keys is unknown, and the default is assumed; "
        "give it with --missing_share.");
  }
  if (!advice.listeners.empty()) {
    notes.push_back(
        "listeners is an option of DBOptions. Without this listener the policy "
        "gives all SSTs the same bits.");
    if (advice.plan.empty() && tree.place == FilterPlace::kCachedPartitions) {
      notes.push_back(
          "filter_policy=rowbloom:auto, or rowbloom.Composed:auto, with this "
          "listener takes no number: it plans for the gets that Statistics "
          "count, and follows them.");
    }
  }
  if (tree.none_at_bottom && advice.best != nullptr &&
      advice.best->asked_bits_per_key > 0) {
    notes.push_back(
        "optimize_filters_for_hits is true: RocksDB writes no filter at the "
        "last level, whatever filter_policy it has. The advice is for false.");
  }
  if (tree.runs.empty()) {
    notes.push_back("The column family has no SSTs: there is no advice.");
  } else if (tree.place == FilterPlace::kTableReaders) {
    notes.push_back(
        "cache_index_and_filter_blocks is false: filters and indexes are read "
        "once, and take memory beside the cache. The model of filters has them "
        "in a cache that is as much larger.");
  } else if (std::none_of(tree.runs.begin(), tree.runs.end(),
                          [](const auto& run) { return run.is_partitioned; })) {
    notes.push_back(
        "No filter is partitioned: each of their reads is of a whole filter. "
        "The model has partitions.");
  }
  if (advice.places.has_value()) {
    for (const Json& note : advice.places->Notes()) notes.push_back(note);
  }
  return notes;
}

absl::Status Advise(AdviseArguments* arguments, Advice* advice) {
  absl::StatusOr<RocksDbTree> tree =
      ReadRocksDbTree({arguments->paths.front(), arguments->db_paths},
                      arguments->column_family);
  if (!tree.ok()) {
    advice->unread = tree.status();
    return tree.status();
  }
  advice->tree = *std::move(tree);
  if (absl::Status status = Measure(arguments, advice); !status.ok()) {
    return status;
  }
  const ReadCounts counts = advice->counts.value_or(ReadCounts());
  advice->missing_share =
      MissingShareOf(arguments->missing_share, counts, advice->tree);
  GetCostOptions& model = advice->model;
  model = ModelOf(advice->tree);
  model.missing_share = advice->missing_share.value;
  model.cache_bytes = *arguments->cache_bytes;
  model.zipf_exponent = arguments->zipf.value_or(0);
  model.read_us = arguments->read_us;
  const absl::StatusOr<uint64_t> memory = MemoryOf(advice->tree, model);
  if (!memory.ok()) return memory.status();
  model.cache_bytes = *memory;
  advice->excess = ExcessOverModel(counts, advice->tree, model.zipf_exponent);
  if (absl::Status status = SetPopularity(*arguments, counts, advice);
      !status.ok()) {
    return status;
  }
  absl::StatusOr<std::vector<Candidate>> candidates =
      CandidatesFor(advice->tree, model);
  if (!candidates.ok()) return candidates.status();
  advice->candidates = *std::move(candidates);
  if (advice->excess.has_value()) {
    advice->candidates.resize(1);
    return absl::OkStatus();
  }
  advice->best = &Best(advice->candidates);
  if (!advice->tree.runs.empty()) {
    advice->option = OptionText(*advice->best, model.missing_share,
                                KeyLayoutOption(advice->tree));
    advice->listeners = ListenersText(*advice->best);
    absl::StatusOr<PlaceAdvice> places =
        PlacesFor(advice->tree, advice->candidates, model);
    if (!places.ok()) return places.status();
    advice->places = *std::move(places);
  }
  return absl::OkStatus();
}

Json DocumentOf(const AdviseArguments& arguments, const Advice& advice) {
  Json filters = Json::array();
  for (const Candidate& candidate : advice.candidates) {
    filters.push_back(candidate.Row());
  }
  const bool is_counted = advice.counts.has_value();
  const std::optional<PlaceAdvice>& places = advice.places;
  return {
      {"path", EscapeControls(arguments.paths.front())},
      {"column_family", EscapeBytes(arguments.column_family)},
      {"cache_bytes", *arguments.cache_bytes},
      {"missing_share", advice.missing_share.value},
      {"missing_share_source", advice.missing_share.source},
      {"zipf", advice.model.zipf_exponent},
      {"range_keys", advice.model.range_keys},
      {"popularity_source", advice.popularity_source},
      {"read_us", arguments.read_us},
      {"source", is_counted ? Json(EscapeControls(advice.source)) : Json()},
      {"last_plan", OrNull(EscapeControls(advice.plan))},
      {"measured", is_counted ? advice.counts->ToJson() : Json()},
      {"runs", RunRows(advice.tree, advice.best)},
      {"filters", std::move(filters)},
      {"model_excess",
       advice.excess.has_value() ? advice.excess->ToJson() : Json()},
      {"best", advice.best == nullptr ? Json() : Json(advice.best->name)},
      {"option", OrNull(advice.option)},
      {"listeners", OrNull(advice.listeners)},
      {"memory_bytes",
       places.has_value() ? Json(places->memory_bytes) : Json()},
      {"places", places.has_value() ? places->Rows() : Json::array()},
      {"place_option", places.has_value() ? OrNull(places->option) : Json()},
      {"notes", Notes(advice)}};
}

std::string Text(const Json& document, const Advice& advice) {
  Json fields = document;
  for (const char* below : {"measured", "model_excess", "best", "option",
                            "listeners", "memory_bytes", "place_option"}) {
    fields.erase(below);
  }
  if (advice.plan.empty()) fields.erase("last_plan");
  std::string text = FieldLines(fields);
  if (advice.counts.has_value()) {
    text += "measured:\n" + FieldLines(document["measured"]);
  }
  if (!advice.tree.runs.empty()) {
    text += Table(document["runs"]) + Table(document["filters"]);
    if (advice.excess.has_value()) {
      text += advice.excess->ToString(document["path"].get<std::string>());
    } else if (advice.option.empty()) {
      text += "Keep these filters: no others make a get 2% cheaper.\n";
    }
  }
  for (const std::string& option : {advice.option, advice.listeners}) {
    if (!option.empty()) text += "Set " + option + "\n";
  }
  if (advice.places.has_value()) {
    text +=
        "The best of these filters, in " +
        std::to_string(advice.places->memory_bytes) +
        " bytes with indexes and data, by where filters and indexes live:\n" +
        Table(document["places"]);
    if (!advice.places->option.empty()) {
      text += "Set " + advice.places->option + "\n";
    }
  }
  for (const Json& note : document["notes"]) {
    text += "note: " + note.get<std::string>() + "\n";
  }
  return text;
}

}  // namespace

int AdviseDatabase(AdviseArguments* arguments) {
  Advice advice;
  const absl::Status status = Advise(arguments, &advice);
  if (status.ok()) {
    const Json document = DocumentOf(*arguments, advice);
    return PrintForm(arguments->form, "rowbloom-advise", document,
                     Text(document, advice), kExitOk);
  }
  // Other errors than these are of the arguments.
  const bool is_of_file = !advice.unread.ok() || absl::IsDataLoss(status) ||
                          absl::IsUnimplemented(status);
  if (!is_of_file || absl::IsFailedPrecondition(status)) {
    PrintError(status);
    return kExitUsage;
  }
  Json entry{{"path", EscapeControls(arguments->paths.front())}};
  SetStatus(status, &entry);
  std::cerr << "rowbloom: " << StatusLine(entry);
  return ExitCodeOf(status);
}

}  // namespace rowbloom::tools
