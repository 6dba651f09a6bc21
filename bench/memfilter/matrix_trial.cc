// SPDX-License-Identifier: Apache-2.0
//
// The trial by which Yang and Huang (2018) compare the multi-way balanced
// matrix filter with the split and the two-way balanced dynamic filter, done
// again: keys held at saturation, times and rates, each claim beside what is
// measured here. "M-BMBF" gives a key to the first of equal rows, as the paper
// has it; "even M-BMBF" to the one that is filled less, as MatrixFilter does.
//
//   matrix_trial                          the tables, in markdown
//   matrix_trial --json FILE              for bench/plot.py matrix_trial
//
// All filters are asked through MemFilter: one virtual call for each.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "nlohmann/json.hpp"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/mem_filter.h"

namespace {

using rowbloom::AnyFilter;
using rowbloom::BloomShape;
using rowbloom::KeyDigest;
using rowbloom::MatrixTie;
using rowbloom::MemFilter;
using Json = nlohmann::ordered_json;

// The paper's.
constexpr BloomShape kRow = {131072, 10};
constexpr uint64_t kOffered = 200000;
constexpr uint32_t kRows = 8;
constexpr uint32_t kGroups = 2;

struct Options {
  std::vector<uint32_t> rows = {2, 4, 8, 16, 32};
  uint32_t seeds = 10;
  uint64_t lookups = 1000000;  // Of absent keys, for each rate.
  uint32_t rounds = 15;
  std::string json;
};

// SplitMix64 of (seed, i): distinct for distinct i.
std::vector<KeyDigest> Digests(uint64_t seed, uint64_t count) {
  std::vector<KeyDigest> digests(count);
  uint64_t state = seed << 40;
  for (KeyDigest& digest : digests) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    digest.value = z ^ (z >> 31);
  }
  return digests;
}

enum class Kind { kSplit, kBalanced, kMatrix };

struct Contender {
  std::string name;
  Kind kind;
  uint32_t groups = 1;  // Of a matrix.
  MatrixTie tie = MatrixTie::kLessFilled;
};

constexpr char kPapers[] = "M-BMBF";
constexpr char kOurs[] = "even M-BMBF";

const std::vector<Contender>& Contenders() {
  static const auto* const all = new std::vector<Contender>{
      {"split", Kind::kSplit},
      {"2BDBF", Kind::kBalanced},
      {kPapers, Kind::kMatrix, kGroups, MatrixTie::kFirst},
      {kOurs, Kind::kMatrix, kGroups, MatrixTie::kLessFilled},
      {"matrix", Kind::kMatrix, 1},
  };
  return *all;
}

struct Filled {
  std::unique_ptr<MemFilter> filter;
  uint64_t keys = 0;  // That changed it.
  // Of them, those before the first that found no room.
  uint64_t keys_before_refusal = 0;
};

template <typename Filter>
Filled OfferTo(Filter filter, const std::vector<KeyDigest>& keys,
               uint64_t limit) {
  Filled filled;
  bool refused = false;
  for (const KeyDigest key : keys) {
    if (filled.keys == limit) break;
    const absl::StatusOr<bool> added = filter.Add(key);
    if (!added.ok()) {
      refused = true;
      continue;
    }
    filled.keys += *added;
    if (!refused) filled.keys_before_refusal = filled.keys;
  }
  filled.filter = AnyFilter(std::move(filter));
  return filled;
}

// Of `row_count` rows; offers all keys, or until `limit` of them are in it. A
// split filter's rows are full with the keys that set half of their bits.
Filled Fill(const Contender& contender, uint32_t row_count,
            const std::vector<KeyDigest>& keys, uint64_t limit) {
  switch (contender.kind) {
    case Kind::kSplit: {
      rowbloom::BloomSizeRequest half;
      half.bit_count = kRow.bit_count;
      half.probe_count = kRow.probe_count;
      rowbloom::SplitOptions options;
      options.row = kRow;
      options.keys_per_row = rowbloom::SolveBloomSize(half)->key_count;
      options.row_count = row_count;
      return OfferTo(*rowbloom::SplitFilter::New(options), keys, limit);
    }
    case Kind::kMatrix: {
      rowbloom::MatrixOptions options;
      options.row = kRow;
      options.row_count = row_count;
      options.group_count = contender.groups;
      options.tie = contender.tie;
      return OfferTo(*rowbloom::MatrixFilter::New(options), keys, limit);
    }
    case Kind::kBalanced:
      break;
  }
  rowbloom::BalancedOptions options;
  options.layer = kRow;
  auto filter = rowbloom::BalancedFilter::New(options);
  Filled filled;
  for (const KeyDigest key : keys) {
    // It would grow: the trial holds it to as many rows as the others.
    if (filled.keys == limit ||
        (filter->layer_count() == row_count && filter->is_saturated())) {
      break;
    }
    filled.keys += *filter->Add(key);
  }
  filled.keys_before_refusal = filled.keys;
  filled.filter = AnyFilter(*std::move(filter));
  return filled;
}

// Nanoseconds a lookup, of each run of some keys: short beside the slices of a
// scheduler, so that most runs are whole ones on a busy machine, too.
void TimeLookups(const MemFilter& filter, const std::vector<KeyDigest>& keys,
                 std::vector<double>* ns) {
  constexpr size_t kRun = 1000;
  for (size_t begin = 0; begin + kRun <= keys.size(); begin += kRun) {
    const auto start = std::chrono::steady_clock::now();
    uint64_t positives = 0;
    for (size_t i = begin; i < begin + kRun; ++i) {
      positives += filter.MayContain(keys[i]);
    }
    const std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - start;
    volatile uint64_t sink = positives;  // So that the loop is not left out.
    static_cast<void>(sink);
    ns->push_back(time.count() / kRun);
  }
}

double Median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Times {
  double absent = 0;
  double present = 0;
};

// The filters in turn in each round, so that a disturbance meets all of them.
std::vector<Times> MedianTimes(const std::vector<Filled>& filters,
                               const std::vector<KeyDigest>& offered,
                               const Options& options) {
  constexpr uint64_t kAsked = 20000;
  const std::vector<KeyDigest> absent = Digests(999, kAsked);
  std::vector<std::vector<double>> absent_ns(filters.size());
  std::vector<std::vector<double>> present_ns(filters.size());
  for (uint32_t round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < filters.size(); ++i) {
      // From the first to the last of those offered before any was refused.
      const uint64_t keys = filters[i].keys_before_refusal;
      std::vector<KeyDigest> present(std::min(kAsked, keys));
      for (size_t j = 0; j < present.size(); ++j) {
        present[j] = offered[j * keys / present.size()];
      }
      TimeLookups(*filters[i].filter, absent, &absent_ns[i]);
      TimeLookups(*filters[i].filter, present, &present_ns[i]);
    }
  }
  std::vector<Times> times;
  for (size_t i = 0; i < filters.size(); ++i) {
    times.push_back({Median(absent_ns[i]), Median(present_ns[i])});
  }
  return times;
}

double ObservedFpr(const MemFilter& filter, uint64_t lookups) {
  uint64_t positives = 0;
  for (const KeyDigest key : Digests(998, lookups)) {
    positives += filter.MayContain(key);
  }
  return static_cast<double>(positives) / static_cast<double>(lookups);
}

// Keys held at saturation, as a mean over seeds.
Json Saturation(const std::vector<Contender>& contenders,
                const Options& options) {
  Json rows = Json::array();
  for (const Contender& contender : contenders) {
    double keys = 0;
    double before = 0;
    for (uint32_t seed = 1; seed <= options.seeds; ++seed) {
      const Filled filled =
          Fill(contender, kRows, Digests(seed, kOffered), kOffered);
      keys += static_cast<double>(filled.keys) / options.seeds;
      before += static_cast<double>(filled.keys_before_refusal) / options.seeds;
    }
    rows.push_back({{"filter", contender.name},
                    {"groups", contender.groups},
                    {"keys", keys},
                    {"keys_before_first_refusal", before}});
  }
  return rows;
}

Json Measured(const std::vector<Contender>& contenders, uint32_t row_count,
              uint64_t limit, const Options& options) {
  const std::vector<KeyDigest> offered = Digests(1, kOffered * row_count / 8);
  std::vector<Filled> filters;
  for (const Contender& contender : contenders) {
    filters.push_back(Fill(contender, row_count, offered, limit));
  }
  const std::vector<Times> times = MedianTimes(filters, offered, options);
  Json rows = Json::array();
  for (size_t i = 0; i < filters.size(); ++i) {
    const MemFilter& filter = *filters[i].filter;
    rows.push_back({{"filter", contenders[i].name},
                    {"rows", row_count},
                    {"groups", contenders[i].groups},
                    {"keys", filters[i].keys},
                    {"ns_absent", times[i].absent},
                    {"ns_present", times[i].present},
                    {"expected_fpr", filter.expected_fpr()},
                    {"observed_fpr", ObservedFpr(filter, options.lookups)}});
  }
  return rows;
}

void Append(const Json& rows, Json* all) {
  all->insert(all->end(), rows.begin(), rows.end());
}

std::string Cell(const Json& value) {
  if (!value.is_number_float()) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
  char text[32];
  const double number = value.get<double>();
  std::snprintf(text, sizeof(text), number < 1 ? "%.3g" : "%.1f", number);
  return text;
}

void PrintTable(const char* title, const Json& rows) {
  std::printf("\n%s\n\n|", title);
  for (const auto& [name, value] : rows[0].items()) {
    std::printf(" %s |", name.c_str());
  }
  std::printf("\n|");
  for (size_t i = 0; i < rows[0].size(); ++i) std::printf("---|");
  std::printf("\n");
  for (const Json& row : rows) {
    std::printf("|");
    for (const auto& [name, value] : row.items()) {
      std::printf(" %s |", Cell(value).c_str());
    }
    std::printf("\n");
  }
}

// The row of a filter at the first or the last place where it is.
const Json& Of(const Json& rows, const std::string& filter, bool last) {
  const Json* found = nullptr;
  for (const Json& row : rows) {
    if (row["filter"] != filter || (found != nullptr && !last)) continue;
    found = &row;
  }
  return *found;
}

std::string Format(const char* format, double a, double b = 0, double c = 0,
                   double d = 0) {
  char text[200];
  std::snprintf(text, sizeof(text), format, a, b, c, d);
  return text;
}

// Each claim of the paper beside what is measured, of the filter by this name.
Json VerdictOn(const std::string& name, const Json& results) {
  const Json& held = results["saturation"];
  const auto gain = [&](const char* field, const char* than) {
    return 100 * (Of(held, name, false)[field].get<double>() /
                      Of(held, than, false)[field].get<double>() -
                  1);
  };
  const auto growth = [&](const std::string& filter) {
    return filter + " " +
           Format("%.0f to %.0f ns",
                  Of(results["by_rows"], filter, false)["ns_absent"],
                  Of(results["by_rows"], filter, true)["ns_absent"]);
  };
  // At how many numbers of keys its rate is the lower one.
  const auto below = [&](const char* than) {
    std::map<uint64_t, double> rates;
    for (const Json& row : results["by_keys"]) {
      if (row["filter"] == than) rates[row["keys"]] = row["expected_fpr"];
    }
    double count = 0;
    for (const Json& row : results["by_keys"]) {
      count +=
          row["filter"] == name && row["expected_fpr"] < rates[row["keys"]];
    }
    return count;
  };
  const auto ratio = [&](const char* rows, const char* field) {
    return Of(results[rows], name, true)[field].get<double>() /
           Of(results[rows], name, false)[field].get<double>();
  };
  const auto verdict = [&](const char* claim, const std::string& measured) {
    return Json{{"filter", name}, {"claim", claim}, {"measured", measured}};
  };
  return Json::array(
      {verdict("M-BMBF holds more keys at saturation",
               Format("%+.2f%% beside split, %+.2f%% beside 2BDBF; until the "
                      "first key without room %+.2f%% and %+.2f%%",
                      gain("keys", "split"), gain("keys", "2BDBF"),
                      gain("keys_before_first_refusal", "split"),
                      gain("keys_before_first_refusal", "2BDBF"))),
       verdict("its lookups stay as fast with more rows, the others do not",
               "absent keys, fewest to most rows: " + growth(name) + ", " +
                   growth("split") + ", " + growth("2BDBF") + ", " +
                   growth("matrix")),
       verdict("its rate is the lowest at equal keys",
               Format("of 7 numbers of keys, lower than split's at %.0f, than "
                      "2BDBF's at %.0f, than the plain matrix's at %.0f",
                      below("split"), below("2BDBF"), below("matrix"))),
       verdict("capacity and time do not depend on s, the rate grows",
               Format("8 groups beside 1: %.3f times the keys, %.1f times the "
                      "time of absent keys, %.1f times the rate",
                      ratio("saturation_by_groups", "keys"),
                      ratio("by_groups", "ns_absent"),
                      ratio("by_groups", "expected_fpr")))});
}

Json Trial(const Options& options) {
  Json results{{"format_version", 1},
               {"machine", rowbloom::bench::MachineJson()}};
  std::cerr << "keys at saturation\n";
  results["saturation"] = Saturation(Contenders(), options);
  results["by_rows"] = Json::array();
  for (const uint32_t rows : options.rows) {
    std::cerr << rows << " rows\n";
    Append(Measured(Contenders(), rows, kOffered * rows, options),
           &results["by_rows"]);
  }
  results["by_keys"] = Json::array();
  for (uint64_t keys = 10000; keys <= 70000; keys += 10000) {
    std::cerr << keys << " keys\n";
    Append(Measured(Contenders(), kRows, keys, options), &results["by_keys"]);
  }
  std::vector<Contender> matrices;
  for (const uint32_t groups : {1, 2, 4, 8}) {
    matrices.push_back({kPapers, Kind::kMatrix, groups, MatrixTie::kFirst});
    matrices.push_back({kOurs, Kind::kMatrix, groups, MatrixTie::kLessFilled});
  }
  std::cerr << "groups\n";
  results["saturation_by_groups"] = Saturation(matrices, options);
  results["by_groups"] = Measured(matrices, kRows, 70000, options);
  results["verdict"] = VerdictOn(kPapers, results);
  Append(VerdictOn(kOurs, results), &results["verdict"]);
  return results;
}

// Throws what JsonFile throws.
void Run(const Options& options) {
  const rowbloom::bench::JsonFile json(options.json);
  const Json results = Trial(options);
  PrintTable("Keys held by 8 rows, mean over seeds", results["saturation"]);
  PrintTable("At saturation, by rows", results["by_rows"]);
  PrintTable("8 rows, by keys", results["by_keys"]);
  PrintTable("Keys held by 8 rows, by groups", results["saturation_by_groups"]);
  PrintTable("8 rows with 70,000 keys, by groups", results["by_groups"]);
  PrintTable("The paper's claims", results["verdict"]);
  json.Write(results);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("The trial of the matrix filter, done again.");
  app.add_option("--rows", options.rows, "Numbers of rows, even")
      ->check(CLI::Range(2u, 256u))
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "Sets of keys for a capacity")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  app.add_option("--lookups", options.lookups, "Absent keys for each rate")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rounds", options.rounds,
                 "Rounds of which medians are taken")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  app.add_option("--json", options.json, "Write the results to this file");
  return rowbloom::bench::RunProgram("matrix_trial", &app, argc, argv, [&] {
    for (const uint32_t rows : options.rows) {
      if (rows % 2 != 0) {
        throw rowbloom::bench::UsageError("--rows " + std::to_string(rows) +
                                          ": must be even");
      }
    }
    Run(options);
    return 0;
  });
}
