// SPDX-License-Identifier: Apache-2.0
//
// rowbloom choose: the best filter family for a number of keys, and a chart.

#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rowbloom/filter.h"
#include "rowbloom/filter_chooser.h"
#include "tools/text/arguments.h"
#include "tools/text/output.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {
namespace {

constexpr uint64_t kMostKeys = 10'000'000'000'000;

// The keys of one data block up to those of a store; beyond a million keys the
// bits per key stay the same.
constexpr uint64_t kChartKeys[] = {100,     1000,      10'000,
                                   100'000, 1'000'000, 1'000'000'000};
constexpr double kChartRates[] = {0.1,   0.03,   0.01,       0.003,
                                  0.001, 0.0001, 1.0 / 65536};
constexpr FilterPreference kPreferences[] = {FilterPreference::kCpu,
                                             FilterPreference::kBalanced,
                                             FilterPreference::kSpace};

struct ChooseArguments {
  uint64_t key_count = 0;
  double bits_per_key = 0;
  double target_fpr = 0;
  std::string preference = "balanced";
  bool chart = false;
  bool json = false;
};

Json BitsPerKey(const FilterChoice& choice, uint64_t key_count) {
  if (key_count == 0) return nullptr;
  return 8 * static_cast<double>(choice.size_bytes) /
         static_cast<double>(key_count);
}

Json Candidates(const std::vector<FilterChoice>& choices, uint64_t key_count) {
  Json candidates = Json::array();
  for (const FilterChoice& choice : choices) {
    candidates.push_back({{"filter_spec", choice.filter_spec.ToString()},
                          {"expected_fpr", choice.expected_fpr},
                          {"size_bytes", choice.size_bytes},
                          {"bits_per_key", BitsPerKey(choice, key_count)},
                          {"lookup_cost", choice.lookup_cost},
                          {"build_cost", choice.build_cost}});
  }
  return candidates;
}

// Bits per key of each family that reaches the rate, and the choice of each
// preference.
Json ChartRow(uint64_t key_count, double target_fpr) {
  Json row{{"key_count", key_count},
           {"target_fpr", target_fpr},
           {"limit", -std::log2(target_fpr)}};
  for (const std::string_view family : FilterFamilyNames()) {
    if (family != "always_maybe") row[std::string(family)] = nullptr;
  }
  FilterRequest request;
  request.key_count = key_count;
  request.goal = FilterSpec::TargetFpr(request.goal.family(), target_fpr);
  for (const FilterPreference preference : kPreferences) {
    request.preference = preference;
    const auto choices = RankFilters(request);
    if (!choices.ok()) continue;  // No family reaches this rate.
    for (const FilterChoice& choice : *choices) {
      row[choice.filter_spec.family()] = BitsPerKey(choice, key_count);
    }
    row[std::string(FilterPreferenceName(preference))] =
        choices->front().filter_spec.family();
  }
  return row;
}

Json Chart() {
  Json chart = Json::array();
  for (const uint64_t key_count : kChartKeys) {
    for (const double target_fpr : kChartRates) {
      chart.push_back(ChartRow(key_count, target_fpr));
    }
  }
  return chart;
}

void PrintChart(bool as_json) {
  if (as_json) {
    PrintDocument("rowbloom-choose", {{"chart", Chart()}});
  } else {
    std::cout << Table(Chart());
  }
}

void PrintCandidates(const ChooseArguments& arguments, bool by_rate) {
  FilterRequest request;
  request.key_count = arguments.key_count;
  const std::string family = request.goal.family();
  request.goal = by_rate
                     ? FilterSpec::TargetFpr(family, arguments.target_fpr)
                     : FilterSpec::BitsPerKey(family, arguments.bits_per_key);
  request.preference = *ParseFilterPreference(arguments.preference);
  const auto choices = RankFilters(request);
  if (!choices.ok()) {
    throw CLI::ValidationError(by_rate ? "--target_fpr" : "--bits_per_key",
                               std::string(choices.status().message()));
  }
  Json fields{{"key_count", arguments.key_count}};
  if (by_rate) {
    fields["target_fpr"] = arguments.target_fpr;
  } else {
    fields["bits_per_key"] = arguments.bits_per_key;
  }
  fields["preference"] = arguments.preference;
  fields["chosen"] = choices->front().filter_spec.ToString();
  Json candidates = Candidates(*choices, arguments.key_count);
  if (arguments.json) {
    fields["candidates"] = std::move(candidates);
    PrintDocument("rowbloom-choose", fields);
    return;
  }
  std::string table = Table(candidates);
  table[table.find('\n') + 1] = '*';  // The first line after the header.
  std::cout << FieldLines(fields) << table;
}

}  // namespace

void AddChoose(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<ChooseArguments>();
  CLI::App* verb = app->add_subcommand(
      "choose", "Rank the filter families for a number of keys");
  std::vector<std::string> preferences;
  for (const FilterPreference preference : kPreferences) {
    preferences.emplace_back(FilterPreferenceName(preference));
  }
  CLI::Option* keys =
      verb->add_option("--keys", arguments->key_count, "Keys of the filter")
          ->transform(WholeNumber())
          ->check(CLI::Range(uint64_t{0}, kMostKeys));
  CLI::Option* bits =
      verb->add_option("--bits_per_key", arguments->bits_per_key,
                       "Limit of the size, in bits per key");
  CLI::Option* rate = verb->add_option("--target_fpr", arguments->target_fpr,
                                       "Limit of the false positive rate")
                          ->excludes(bits);
  CLI::Option* preference =
      verb->add_option("--preference", arguments->preference,
                       "Resource to save: cpu, balanced or space")
          ->check(CLI::IsMember(preferences))
          ->capture_default_str();
  verb->add_flag("--chart", arguments->chart,
                 "Show the choices for many numbers of keys and rates instead")
      ->excludes(keys, bits, rate, preference);
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-choose)");
  verb->callback([arguments, keys, bits, rate, exit_code] {
    if (arguments->chart) {
      PrintChart(arguments->json);
    } else if (keys->count() == 0 || bits->count() + rate->count() == 0) {
      throw CLI::ValidationError(
          "choose",
          "needs --keys and --bits_per_key or --target_fpr; or --chart");
    } else {
      PrintCandidates(*arguments, rate->count() > 0);
    }
    *exit_code = FlushOutput(kExitOk);
  });
}

}  // namespace rowbloom::tools
