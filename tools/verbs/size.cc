// SPDX-License-Identifier: Apache-2.0
//
// rowbloom size: the calculator of Bloom filters, for one filter or, over a
// range of one value, as a table and a plot.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/memfilter/redis_bloom.h"
#include "rowbloom/memfilter/redisson.h"
#include "rowbloom/memfilter/sizing.h"
#include "tools/text/arguments.h"
#include "tools/text/output.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {
namespace {

constexpr uint32_t kMostSteps = 1000;
constexpr int kBarColumns = 40;

struct SizeArguments {
  uint64_t key_count = 0;
  uint64_t bit_count = 0;
  double target_fpr = 0;
  uint32_t probe_count = 0;
  std::string vary;
  double to = 0;
  uint32_t steps = 10;
  bool redis = false;
  bool plot = false;
  bool json = false;
};

// Throws the error that CLI11 reports as wrong usage.
BloomSize Solve(const BloomSizeRequest& request) {
  const auto size = SolveBloomSize(request);
  if (!size.ok()) {
    throw CLI::ValidationError("size", std::string(size.status().message()));
  }
  return *size;
}

// The shapes that servers and clients of Redis choose: null if they refuse.
void AddRedisShapes(const BloomSizeRequest& request, Json* row) {
  const auto redisson = RedissonShape(*request.key_count, *request.target_fpr);
  (*row)["redisson_bit_count"] =
      redisson.ok() ? Json(redisson->bit_count) : Json();
  (*row)["redisson_probe_count"] =
      redisson.ok() ? Json(redisson->probe_count) : Json();
  const BloomShape layer = RedisBloomLayerShape(
      *request.key_count, std::min(*request.target_fpr, 0.25) / 2);
  (*row)["redis_bloom_bit_count"] = layer.bit_count;
  (*row)["redis_bloom_probe_count"] = layer.probe_count;
}

Json Row(const SizeArguments& arguments, const BloomSizeRequest& request) {
  const BloomSize size = Solve(request);
  const double bits = static_cast<double>(size.bit_count);
  Json row{{"key_count", size.key_count},
           {"bit_count", size.bit_count},
           {"probe_count", size.probe_count},
           {"fpr", size.fpr},
           {"size_bytes", size.bit_count / 8 + (size.bit_count % 8 != 0)},
           {"bits_per_key", bits / static_cast<double>(size.key_count)}};
  if (request.key_count && request.target_fpr && !request.bit_count &&
      !request.probe_count) {
    // The usual formula comes close to the rate; filters stay within it.
    const auto shape = ShapeFor(*request.key_count, *request.target_fpr);
    row["shape_bit_count"] = shape.ok() ? Json(shape->bit_count) : Json();
    row["shape_probe_count"] = shape.ok() ? Json(shape->probe_count) : Json();
    if (arguments.redis) AddRedisShapes(request, &row);
  }
  return row;
}

// The request at `share`, 0 to 1, of the range's geometric steps.
BloomSizeRequest At(const SizeArguments& arguments, BloomSizeRequest request,
                    double share) {
  const auto between = [&](double from) {
    return from * std::pow(arguments.to / from, share);
  };
  const auto whole = [&](uint64_t from) {
    // Beyond 2^62 the calculator reports the error.
    return static_cast<uint64_t>(
        std::llround(std::min(between(static_cast<double>(from)), 0x1.8p+62)));
  };
  if (arguments.vary == "keys") {
    request.key_count = whole(*request.key_count);
  } else if (arguments.vary == "bits") {
    request.bit_count = whole(*request.bit_count);
  } else if (arguments.vary == "probes") {
    request.probe_count = static_cast<uint32_t>(
        std::min<uint64_t>(whole(*request.probe_count), kMaxProbeCount + 1));
  } else {
    request.target_fpr = between(*request.target_fpr);
  }
  return request;
}

// The plotted field, which the other values decide.
const char* SolvedField(const BloomSizeRequest& request) {
  if (!request.bit_count) return "size_bytes";
  return request.key_count ? "fpr" : "key_count";
}

// Adds bars to the rows, on a logarithmic scale from the smallest to the
// largest value.
void AddBars(const char* field, Json* rows) {
  std::vector<double> logarithms;
  for (const Json& row : *rows) {
    // A rate may be below the smallest double.
    logarithms.push_back(std::log(std::max(
        row[field].get<double>(), std::numeric_limits<double>::min())));
  }
  const auto [least, most] =
      std::minmax_element(logarithms.begin(), logarithms.end());
  const double span = std::max(*most - *least, 1e-9);
  for (size_t i = 0; i < logarithms.size(); ++i) {
    const double share = (logarithms[i] - *least) / span;
    (*rows)[i][std::string("log ") + field] = std::string(
        1 + static_cast<size_t>(std::lround(share * (kBarColumns - 1))), '#');
  }
}

Json Rows(const SizeArguments& arguments, const BloomSizeRequest& request) {
  if (arguments.vary.empty()) return Json::array({Row(arguments, request)});
  Json rows = Json::array();
  for (uint32_t step = 0; step < arguments.steps; ++step) {
    Json row =
        Row(arguments, At(arguments, request,
                          static_cast<double>(step) / (arguments.steps - 1)));
    // Steps between whole numbers may have equal results.
    if (rows.empty() || row != rows.back()) rows.push_back(std::move(row));
  }
  return rows;
}

void Print(const SizeArguments& arguments, const BloomSizeRequest& request) {
  Json rows = Rows(arguments, request);
  if (arguments.json) {
    PrintDocument("rowbloom-size", {{"sizes", std::move(rows)}});
  } else if (arguments.vary.empty()) {
    std::cout << FieldLines(rows[0]);
  } else {
    if (arguments.plot) AddBars(SolvedField(request), &rows);
    std::cout << Table(rows);
  }
}

}  // namespace

void AddSize(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<SizeArguments>();
  CLI::App* verb = app->add_subcommand(
      "size",
      "Calculate the size of Bloom filters from two or three of its options");
  CLI::Option* keys =
      verb->add_option("--keys", arguments->key_count, "Keys of the filter")
          ->transform(WholeNumber());
  CLI::Option* rate = verb->add_option("--target_fpr", arguments->target_fpr,
                                       "False positive rate of the filter");
  CLI::Option* bits = verb->add_option("--bits", arguments->bit_count,
                                       "Size of the filter in bits")
                          ->transform(WholeNumber());
  CLI::Option* probes = verb->add_option("--probes", arguments->probe_count,
                                         "Probes for each key")
                            ->transform(WholeNumber());
  CLI::Option* vary =
      verb->add_option("--vary", arguments->vary,
                       "Make a table: over keys, target_fpr, bits or probes")
          ->check(CLI::IsMember({"keys", "target_fpr", "bits", "probes"}));
  CLI::Option* to =
      verb->add_option("--to", arguments->to, "Last value of the varied option")
          ->check(
              [](const std::string& text) -> std::string {
                double value = 0;
                return CLI::detail::lexical_cast(text, value) && value > 0
                           ? ""
                           : text + " is not above 0";
              },
              "POSITIVE")
          ->needs(vary);
  vary->needs(to);
  verb->add_option("--steps", arguments->steps, "Lines of the table")
      ->transform(WholeNumber())
      ->check(CLI::Range(2u, kMostSteps))
      ->capture_default_str()
      ->needs(vary);
  verb->add_flag("--redis", arguments->redis,
                 "Also print the shapes of Redisson and of a first layer of "
                 "BF.RESERVE")
      ->needs(keys)
      ->needs(rate);
  CLI::Option* plot =
      verb->add_flag("--plot", arguments->plot,
                     "Draw the calculated values beside the table")
          ->needs(vary);
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-size)")
      ->excludes(plot);
  verb->callback([arguments, keys, rate, bits, probes, exit_code] {
    BloomSizeRequest request;
    if (keys->count() > 0) request.key_count = arguments->key_count;
    if (rate->count() > 0) request.target_fpr = arguments->target_fpr;
    if (bits->count() > 0) request.bit_count = arguments->bit_count;
    if (probes->count() > 0) request.probe_count = arguments->probe_count;
    const std::string& varied = arguments->vary;
    if ((varied == "keys" && !request.key_count) ||
        (varied == "target_fpr" && !request.target_fpr) ||
        (varied == "bits" && !request.bit_count) ||
        (varied == "probes" && !request.probe_count)) {
      throw CLI::ValidationError("--vary",
                                 "needs --" + varied + ", its first value");
    }
    Print(*arguments, request);
    *exit_code = FlushOutput(kExitOk);
  });
}

}  // namespace rowbloom::tools
