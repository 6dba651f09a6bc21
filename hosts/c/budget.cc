// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "c/boundary.h"
#include "c/options.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "util/absl_view.h"

using namespace rowbloom;
using namespace rowbloom::c;
using rowbloom::util::AbslView;

struct rowbloom_budget {
  std::string family;
  FileBudget budget;
};

namespace {

absl::StatusOr<BudgetMode> ParseMode(std::string_view text) {
  if (text == "balanced") return BudgetMode::kBalanced;
  if (text == "hits_only") return BudgetMode::kHitsOnly;
  if (text == "fixed") return BudgetMode::kFixed;
  return absl::InvalidArgumentError(
      absl::StrCat("unknown mode \"", AbslView(text),
                   "\" of a budget; known: balanced, hits_only, fixed"));
}

absl::StatusOr<std::unique_ptr<rowbloom_budget>> NewBudget(const char* text) {
  FileBudgetOptions options;
  std::string family = "compact", mode = "balanced";
  std::optional<double> bits_per_key;
  std::optional<uint64_t> memory_bytes;
  Options given("budget", text);
  given.Take("family", &family);
  given.Take("bits_per_key", &bits_per_key);
  given.Take("memory_bytes", &memory_bytes);
  given.Take("mode", &mode);
  given.Take("missing_share", &options.budget.missing_share);
  given.Take("max_bits_per_key", &options.budget.max_bits_per_key);
  given.Take("size_ratio", &options.size_ratio);
  given.Take("level_count", &options.level_count);
  if (absl::Status status = given.Finish(); !status.ok()) return status;
  absl::StatusOr<BudgetMode> parsed = ParseMode(mode);
  if (!parsed.ok()) return parsed.status();
  options.budget.mode = *parsed;
  if (bits_per_key) {
    options.budget.memory = FilterMemory::BitsPerKey(*bits_per_key);
  }
  if (memory_bytes) {
    options.budget.memory =
        bits_per_key ? options.budget.memory.AtMostBytes(*memory_bytes)
                     : FilterMemory::Bytes(*memory_bytes);
  }
  absl::StatusOr<FilterCost> cost = FilterCost::OfFamily(family);
  if (!cost.ok()) return cost.status();
  absl::StatusOr<FileBudget> budget = FileBudget::Create(*cost, options);
  if (!budget.ok()) return budget.status();
  return std::make_unique<rowbloom_budget>(
      rowbloom_budget{std::move(family), *std::move(budget)});
}

absl::StatusOr<FileFacts> ParseFacts(const char* text) {
  FileFacts facts;
  Options given("file", text);
  given.Take("is_flush", &facts.is_flush);
  given.Take("is_bottommost", &facts.is_bottommost);
  given.Take("level", &facts.level);
  given.Take("level_count", &facts.level_count);
  given.Take("run_share", &facts.run_share);
  if (absl::Status status = given.Finish(); !status.ok()) return status;
  if (facts.run_share && !(*facts.run_share >= 0 && *facts.run_share <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "file options: run_share=", *facts.run_share, " is not 0 to 1"));
  }
  return facts;
}

// FilterSpec::ToString() allocates in Abseil's StrFormat(), which ends the
// process if there is no memory.
std::string SpecOf(const std::string& family, double bits) {
  if (bits == 0) return "";
  char digits[32];
  absl::SNPrintF(digits, sizeof(digits), "%.17g", bits);
  return absl::StrCat(family, ":bits_per_key=", digits);
}

}  // namespace

extern "C" {

rowbloom_code rowbloom_budget_new(const char* options, rowbloom_budget** out,
                                  rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    absl::StatusOr<std::unique_ptr<rowbloom_budget>> budget =
        NewBudget(options);
    if (!budget.ok()) return budget.status();
    return Give(*std::move(budget), out);
  });
}

rowbloom_code rowbloom_budget_set_live(rowbloom_budget* budget,
                                       const char* options,
                                       const rowbloom_run* runs, size_t count,
                                       rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    if (budget == nullptr) return NullArgument("budget");
    if (runs == nullptr && count > 0) return NullArgument("runs");
    if (count > kMaxTreeRuns) {
      return absl::InvalidArgumentError(
          absl::StrCat(count, " runs; a budget takes up to ", kMaxTreeRuns));
    }
    LiveFilters live;
    Options given("live filter", options);
    given.Take("key_count", &live.key_count);
    given.Take("filter_bytes", &live.filter_bytes);
    given.Take("moved_share", &live.moved_share);
    given.Take("missing_share", &live.missing_share);
    if (absl::Status status = given.Finish(); !status.ok()) return status;
    for (size_t i = 0; i < count; ++i) {
      TreeRun run;
      run.key_count = runs[i].key_count;
      run.block_miss_share = runs[i].block_miss_share;
      if (runs[i].absent_asks != ROWBLOOM_UNKNOWN_SHARE) {
        run.absent_asks = runs[i].absent_asks;
      }
      live.runs.push_back(run);
    }
    return budget->budget.SetLive(live);
  });
}

rowbloom_code rowbloom_budget_for_file(const rowbloom_budget* budget,
                                       const char* options,
                                       rowbloom_buffer* filter_spec,
                                       rowbloom_error* error) {
  return CallFilling({filter_spec}, error, [&]() -> absl::Status {
    if (filter_spec == nullptr) return NullArgument("filter_spec");
    if (budget == nullptr) return NullArgument("budget");
    absl::StatusOr<FileFacts> facts = ParseFacts(options);
    if (!facts.ok()) return facts.status();
    return Fill(
        SpecOf(budget->family, budget->budget.ForFile(*facts).builder_bits),
        filter_spec);
  });
}

void rowbloom_budget_free(rowbloom_budget* budget) { delete budget; }

}  // extern "C"
