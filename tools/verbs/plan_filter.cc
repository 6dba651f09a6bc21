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

  // If false, the number of keys or a goal is missing, or the bits and probes
  // are those of a standard Bloom filter.
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

absl::StatusOr<Json> StandardFields(const Request& request) {
  BloomSizeRequest asked = request.standard;
  if (request.bits_per_key.has_value()) {
    // FilterChoices() refuses bits per key that are out of range, or NaN.
    const double bits = *request.bits_per_key > 0 ? *request.bits_per_key : 0;
    asked.bit_count = static_cast<uint64_t>(
        std::min(bits, 1e3) *
        std::min(static_cast<double>(*asked.key_count), 0x1p50));
  }
  const auto size = SolveBloomSize(asked);
  if (!size.ok()) return size.status();
  Json fields{{"key_count", size->key_count},
              {"bit_count", size->bit_count},
              {"probe_count", size->probe_count},
              {"fpr", size->fpr},
              {"size_bytes", size->bit_count / 8 + (size->bit_count % 8 != 0)},
              {"bits_per_key", Ratio(size->bit_count, size->key_count)}};
  if (request.has_choice() && asked.target_fpr.has_value()) {
    // The usual formula comes close to the rate; filters stay within it.
    const auto shape = ShapeFor(*asked.key_count, *asked.target_fpr);
    fields["shape_bit_count"] = shape.ok() ? Json(shape->bit_count) : Json();
    fields["shape_probe_count"] =
        shape.ok() ? Json(shape->probe_count) : Json();
  }
  return fields;
}

constexpr uint64_t kMostKeys = 10'000'000'000'000;

absl::StatusOr<std::vector<FilterChoice>> ChoicesFor(const Request& request) {
  constexpr char kAny[] = "compact";
  if (*request.standard.key_count > kMostKeys) {
    return absl::InvalidArgumentError("more than " + std::to_string(kMostKeys) +
                                      " keys");
  }
  return FilterChoices(
      *request.standard.key_count,
      request.bits_per_key.has_value()
          ? FilterSpec::BitsPerKey(kAny, *request.bits_per_key)
          : FilterSpec::TargetFpr(kAny, *request.standard.target_fpr));
}

// The fields of one request, with those of a standard Bloom filter and, if
// there is a choice, its candidates and the best one for each preference.
Json Answer(const Request& request) {
  const auto standard = StandardFields(request);
  if (!request.has_choice()) return {{"standard", ValueOf("plan", standard)}};
  const uint64_t key_count = *request.standard.key_count;
  const auto choices = ChoicesFor(request);
  Json fields{{"key_count", key_count}};
  const auto check = [&](const char* option) {
    ValueOf(key_count > kMostKeys ? "--keys" : option, choices);
  };
  if (request.bits_per_key.has_value()) {
    check("--bits_per_key");
    fields["bits_per_key"] = *request.bits_per_key;
  } else {
    // Standard Bloom filters have more rates than the families.
    if (!standard.ok()) check("--target_fpr");
    fields["target_fpr"] = *request.standard.target_fpr;
  }
  for (size_t i = 0; i < std::size(kFilterPreferences); ++i) {
    fields[std::string(kFilterPreferences[i])] =
        choices.ok()
            ? Json(BestChoice(*choices, static_cast<FilterPreference>(i))
                       .filter_spec.ToString())
            : Json();
  }
  if (!choices.ok()) {
    fields["no_family"] = std::string(choices.status().message());
  }
  fields["candidates"] = Json::array();
  for (const FilterChoice& choice :
       choices.value_or(std::vector<FilterChoice>())) {
    fields["candidates"].push_back(
        {{"filter_spec", choice.filter_spec.ToString()},
         {"expected_fpr", choice.expected_fpr},
         {"size_bytes", choice.size_bytes},
         {"bits_per_key", Ratio(8 * choice.size_bytes, key_count)},
         {"lookup_cost", choice.lookup_cost},
         {"build_cost", choice.build_cost}});
  }
  fields["standard"] = standard.ok() ? *standard : Json();
  return fields;
}

std::string FamilyOf(const Json& filter_spec) {
  const auto text = filter_spec.get<std::string>();
  return text.substr(0, text.find(':'));
}

// The line of one answer among several: the bits per key, or for a goal in
// bits per key the rate, of a standard Bloom filter and of each family, and
// what each preference chooses.
Json Line(const Json& answer) {
  const Json& standard = answer["standard"];
  if (!answer.contains("candidates")) return standard;
  Json line{{"key_count", answer["key_count"]}};
  const bool by_rate = answer.contains("target_fpr");
  if (by_rate) {
    line["target_fpr"] = answer["target_fpr"];
    line["limit"] = -std::log2(answer["target_fpr"].get<double>());
  } else {
    line["bits_per_key"] = answer["bits_per_key"];
  }
  line["standard"] =
      standard.is_null() ? Json() : standard[by_rate ? "bits_per_key" : "fpr"];
  for (const std::string_view family : FilterFamilyNames()) {
    if (family != "always_maybe") line[std::string(family)] = nullptr;
  }
  for (const Json& candidate : answer["candidates"]) {
    line[FamilyOf(candidate["filter_spec"])] =
        candidate[by_rate ? "bits_per_key" : "expected_fpr"];
  }
  for (const std::string_view name : kFilterPreferences) {
    const Json& best = answer[std::string(name)];
    line[std::string(name)] = best.is_null() ? Json() : Json(FamilyOf(best));
  }
  return line;
}

std::string AnswerText(const Json& answer) {
  std::string text = FieldLines(answer);
  if (answer.contains("candidates")) text += Table(answer["candidates"]);
  const Json& standard = answer["standard"];
  if (standard.is_null()) return text;
  if (!text.empty()) text += "a standard Bloom filter:\n";
  return text + FieldLines(standard);
}

}  // namespace

void PlanFilter(const PlanArguments& arguments) {
  Json answers = Json::array();
  for (const Request& request : RequestsOf(arguments)) {
    answers.push_back(Answer(request));
  }
  if (arguments.json) {
    PrintDocument("rowbloom-plan", {{"choices", std::move(answers)}});
  } else if (answers.size() == 1) {
    std::cout << AnswerText(answers[0]);
  } else {
    Json lines = Json::array();
    for (const Json& answer : answers) lines.push_back(Line(answer));
    std::cout << Table(lines);
  }
}

}  // namespace rowbloom::tools
