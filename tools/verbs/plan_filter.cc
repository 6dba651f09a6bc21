// SPDX-License-Identifier: Apache-2.0
//
// rowbloom plan for one filter: the family to choose, and the size of a
// standard Bloom filter, for one value of each option or for lists of them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rowbloom/filter.h"
#include "rowbloom/memfilter/redis_bloom.h"
#include "rowbloom/memfilter/redisson.h"
#include "rowbloom/memfilter/sizing.h"
#include "tools/text/arguments.h"
#include "tools/text/output.h"
#include "tools/verbs/filter_ranking.h"
#include "tools/verbs/plan.h"
#include "tools/verbs/report.h"

namespace rowbloom::tools {
namespace {

// One value of each option.
struct Request {
  BloomSizeRequest standard;
  std::optional<double> bits_per_key;

  // Else the number of keys or a goal is missing, or the bits and probes are
  // those of a standard Bloom filter.
  bool has_choice() const {
    return standard.key_count.has_value() && !standard.bit_count.has_value() &&
           !standard.probe_count.has_value() &&
           (bits_per_key.has_value() || standard.target_fpr.has_value());
  }
};

// A request for each combination of the values.
std::vector<Request> RequestsOf(const PlanArguments& arguments) {
  std::vector<Request> requests(1);
  const auto vary = [&](const auto& values, const auto& set) {
    if (values.empty()) return;
    std::vector<Request> varied;
    for (const Request& request : requests) {
      for (const auto value : values) {
        varied.push_back(request);
        set(value, &varied.back());
      }
    }
    requests = std::move(varied);
  };
  vary(arguments.keys, [](uint64_t value, Request* request) {
    request->standard.key_count = value;
  });
  vary(arguments.target_fprs, [](double value, Request* request) {
    request->standard.target_fpr = value;
  });
  vary(arguments.bits_per_key,
       [](double value, Request* request) { request->bits_per_key = value; });
  vary(arguments.bits, [](uint64_t value, Request* request) {
    request->standard.bit_count = value;
  });
  vary(arguments.probes, [](uint32_t value, Request* request) {
    request->standard.probe_count = value;
  });
  return requests;
}

// The shapes that servers and clients of Redis choose: null if they refuse.
void AddRedisShapes(uint64_t key_count, double target_fpr, Json* fields) {
  const auto redisson = RedissonShape(key_count, target_fpr);
  (*fields)["redisson_bit_count"] =
      redisson.ok() ? Json(redisson->bit_count) : Json();
  (*fields)["redisson_probe_count"] =
      redisson.ok() ? Json(redisson->probe_count) : Json();
  const BloomShape layer =
      RedisBloomLayerShape(key_count, std::min(target_fpr, 0.25) / 2);
  (*fields)["redis_bloom_bit_count"] = layer.bit_count;
  (*fields)["redis_bloom_probe_count"] = layer.probe_count;
}

absl::StatusOr<Json> StandardFields(const Request& request, bool redis) {
  BloomSizeRequest asked = request.standard;
  if (request.bits_per_key.has_value()) {
    // RankFilters() refuses bits per key that are out of range.
    asked.bit_count = static_cast<uint64_t>(
        std::clamp(*request.bits_per_key, 0.0, 1e3) *
        std::min(static_cast<double>(*asked.key_count), 0x1p50));
  }
  const auto size = SolveBloomSize(asked);
  if (!size.ok()) return size.status();
  const double bits = static_cast<double>(size->bit_count);
  Json fields{{"key_count", size->key_count},
              {"bit_count", size->bit_count},
              {"probe_count", size->probe_count},
              {"fpr", size->fpr},
              {"size_bytes", size->bit_count / 8 + (size->bit_count % 8 != 0)},
              {"bits_per_key", bits / static_cast<double>(size->key_count)}};
  if (request.has_choice() && asked.target_fpr.has_value()) {
    // The usual formula comes close to the rate; filters stay within it.
    const auto shape = ShapeFor(*asked.key_count, *asked.target_fpr);
    fields["shape_bit_count"] = shape.ok() ? Json(shape->bit_count) : Json();
    fields["shape_probe_count"] =
        shape.ok() ? Json(shape->probe_count) : Json();
    if (redis) AddRedisShapes(*asked.key_count, *asked.target_fpr, &fields);
  }
  return fields;
}

absl::StatusOr<std::vector<FilterChoice>> Rank(const Request& request,
                                               FilterPreference preference) {
  constexpr uint64_t kMostKeys = 10'000'000'000'000;
  constexpr char kAny[] = "compact";
  if (*request.standard.key_count > kMostKeys) {
    return absl::InvalidArgumentError("more than " + std::to_string(kMostKeys) +
                                      " keys");
  }
  return RankFilters(
      *request.standard.key_count,
      request.bits_per_key.has_value()
          ? FilterSpec::BitsPerKey(kAny, *request.bits_per_key)
          : FilterSpec::TargetFpr(kAny, *request.standard.target_fpr),
      preference);
}

Json BitsPerKey(const FilterChoice& choice, uint64_t key_count) {
  if (key_count == 0) return nullptr;
  return 8 * static_cast<double>(choice.size_bytes) /
         static_cast<double>(key_count);
}

FilterPreference PreferenceOf(const std::string& name) {
  const auto* const found = std::find(std::begin(kFilterPreferences),
                                      std::end(kFilterPreferences), name);
  return static_cast<FilterPreference>(found - std::begin(kFilterPreferences));
}

// The fields of one request, with those of a standard Bloom filter and, if
// there is a choice, its candidates.
Json Answer(const PlanArguments& arguments, const Request& request) {
  const auto standard = StandardFields(request, arguments.redis);
  if (!request.has_choice()) return {{"standard", ValueOf("plan", standard)}};
  const uint64_t key_count = *request.standard.key_count;
  const bool by_rate = !request.bits_per_key.has_value();
  const auto choices = Rank(request, PreferenceOf(arguments.preference));
  // Standard Bloom filters have more rates than the families.
  if (!by_rate) ValueOf("--bits_per_key", choices);
  if (!standard.ok()) ValueOf("--target_fpr", choices);
  Json fields{{"key_count", key_count}};
  if (by_rate) {
    fields["target_fpr"] = *request.standard.target_fpr;
  } else {
    fields["bits_per_key"] = *request.bits_per_key;
  }
  fields["preference"] = arguments.preference;
  fields["chosen"] = nullptr;
  if (!choices.ok()) {
    fields["no_family"] = std::string(choices.status().message());
  }
  Json candidates = Json::array();
  for (const FilterChoice& choice :
       choices.value_or(std::vector<FilterChoice>())) {
    if (candidates.empty()) fields["chosen"] = choice.filter_spec.ToString();
    candidates.push_back({{"filter_spec", choice.filter_spec.ToString()},
                          {"expected_fpr", choice.expected_fpr},
                          {"size_bytes", choice.size_bytes},
                          {"bits_per_key", BitsPerKey(choice, key_count)},
                          {"lookup_cost", choice.lookup_cost},
                          {"build_cost", choice.build_cost}});
  }
  fields["candidates"] = std::move(candidates);
  fields["standard"] = standard.ok() ? *standard : Json();
  return fields;
}

// The line of one request among several: the bits per key, or for a goal in
// bits per key the rate, of a standard Bloom filter and of each family, and
// what each preference chooses.
Json Line(const PlanArguments& arguments, const Request& request) {
  Json answer = Answer(arguments, request);
  if (!request.has_choice()) return std::move(answer["standard"]);
  const bool by_rate = !request.bits_per_key.has_value();
  Json line{{"key_count", answer["key_count"]}};
  if (by_rate) {
    line["target_fpr"] = answer["target_fpr"];
    line["limit"] = -std::log2(*request.standard.target_fpr);
  } else {
    line["bits_per_key"] = answer["bits_per_key"];
  }
  const Json& standard = answer["standard"];
  line["standard"] =
      standard.is_null() ? Json() : standard[by_rate ? "bits_per_key" : "fpr"];
  for (const std::string_view family : FilterFamilyNames()) {
    if (family != "always_maybe") line[std::string(family)] = nullptr;
  }
  for (const std::string_view name : kFilterPreferences) {
    const std::string preference(name);
    line[preference] = nullptr;
    const auto choices = Rank(request, PreferenceOf(preference));
    if (!choices.ok()) continue;
    for (const FilterChoice& choice : *choices) {
      line[choice.filter_spec.family()] =
          by_rate ? BitsPerKey(choice, *request.standard.key_count)
                  : Json(choice.expected_fpr);
    }
    line[preference] = choices->front().filter_spec.family();
  }
  return line;
}

std::string ChoiceText(Json answer) {
  const Json standard = std::move(answer["standard"]);
  answer.erase("standard");
  Json candidates = Json::array();
  if (answer.contains("candidates")) candidates.swap(answer["candidates"]);
  std::string table = Table(candidates);
  if (!table.empty()) table[table.find('\n') + 1] = '*';  // The best one.
  std::string text = FieldLines(answer) + table;
  if (standard.is_null()) return text;
  if (!text.empty()) text += "a standard Bloom filter:\n";
  return text + FieldLines(standard);
}

}  // namespace

void PlanFilter(const PlanArguments& arguments) {
  const std::vector<Request> requests = RequestsOf(arguments);
  Json rows = Json::array();
  for (const Request& request : requests) {
    rows.push_back(arguments.json || requests.size() == 1
                       ? Answer(arguments, request)
                       : Line(arguments, request));
  }
  if (arguments.json) {
    PrintDocument("rowbloom-plan", {{"choices", std::move(rows)}});
  } else {
    std::cout << (requests.size() == 1 ? ChoiceText(std::move(rows[0]))
                                       : Table(rows));
  }
}

}  // namespace rowbloom::tools
