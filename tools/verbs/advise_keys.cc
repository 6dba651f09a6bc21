// SPDX-License-Identifier: Apache-2.0
//
// rowbloom advise on a file of keys: counts the filter keys of each key
// level of a key codec, and what they cost and save.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/key_codec.h"
#include "tools/text/arguments.h"
#include "tools/text/output.h"
#include "tools/verbs/advise.h"
#include "tools/verbs/plan.h"
#include "tools/verbs/report.h"

namespace rowbloom::tools {
namespace {

constexpr double kLookups = 1000;

// The distinct filter keys of each key level.
struct KeyLevelCounts {
  std::vector<uint64_t> keys;
  uint64_t incomplete_keys = 0;  // They lack the last key level.
  // The distinct keys that lack all key levels: RocksDB's filters hold them
  // whole.
  uint64_t whole_keys = 0;
};

uint64_t CountDistinct(std::vector<uint64_t>* digests) {
  std::sort(digests->begin(), digests->end());
  const auto end = std::unique(digests->begin(), digests->end());
  return static_cast<uint64_t>(end - digests->begin());
}

KeyLevelCounts CountKeys(const KeyCodec& codec,
                         const std::vector<std::string>& keys) {
  std::vector<std::vector<uint64_t>> digests(codec.key_level_count());
  std::vector<uint64_t> whole;
  KeyLevelCounts counts;
  for (const std::string& key : keys) {
    const KeyCodec::Prefixes prefixes = codec.PrefixesOf(key);
    for (size_t i = 0; i < prefixes.count; ++i) {
      const std::string_view prefix =
          std::string_view(key).substr(0, prefixes.sizes[i]);
      digests[i].push_back(DigestBytes(prefix).value);
    }
    if (prefixes.count == 0) whole.push_back(DigestBytes(key).value);
    if (prefixes.count < codec.key_level_count()) ++counts.incomplete_keys;
  }
  for (std::vector<uint64_t>& key_level : digests) {
    counts.keys.push_back(CountDistinct(&key_level));
  }
  counts.whole_keys = CountDistinct(&whole);
  return counts;
}

// Sets shares[i], of key level i + 1, from texts NAME=SHARE.
void SetShares(const char* option, const std::vector<std::string>& texts,
               const KeyCodec& codec, std::vector<double>* shares) {
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    double share = 0;
    if (equals == std::string::npos ||
        !absl::SimpleAtod(text.substr(equals + 1), &share) ||
        !(share >= 0 && share <= 1)) {
      throw CLI::ValidationError(
          option, "'" + EscapeControls(text) +
                      "' is not KEY_LEVEL=SHARE with a share of 0 to 1");
    }
    std::string known;
    bool is_known = false;
    for (size_t i = 0; i < codec.key_level_count(); ++i) {
      const std::string key_level = codec.KeyLevelName(i + 1);
      known += (i == 0 ? "" : ", ") + key_level;
      if (key_level != name) continue;
      (*shares)[i] = share;
      is_known = true;
    }
    if (!is_known) {
      throw CLI::ValidationError(
          option, "no key level of --key_codec is named '" +
                      EscapeControls(name) + "'; it has " + known);
    }
  }
}

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

FilterSetting SettingOf(const std::string& text) {
  constexpr char kOption[] = "--filter_spec";
  const FilterSpec spec = ValueOf(kOption, FilterSpec::Parse(text));
  return ValueOf(kOption, FilterCost::OfFamily(spec.family()))
      .ForBits(spec.bits_per_key());
}

// Fields, and the table "key_levels".
Json CountKeyLevels(const AdviseArguments& arguments) {
  const KeyCodec codec =
      ValueOf("--key_codec", KeyCodec::Parse(arguments.key_codec));
  const std::vector<std::string> keys = ValueOf(
      "PATH", ReadKeyLines("PATH", arguments.paths.front(), arguments.hex));
  const size_t key_level_count = codec.key_level_count();
  std::vector<double> ask(
      key_level_count,
      arguments.ask.empty() ? 1 / static_cast<double>(key_level_count) : 0);
  SetShares("--ask", arguments.ask, codec, &ask);
  if (Sum(ask) > 1 + 1e-9) {
    throw CLI::ValidationError("--ask", "the shares exceed 1 in sum");
  }
  std::vector<double> absent(key_level_count,
                             arguments.missing_share_or_default());
  SetShares("--absent", arguments.absent, codec, &absent);

  const FilterSetting setting = SettingOf(arguments.filter_spec);
  const KeyLevelCounts counts = CountKeys(codec, keys);
  uint64_t key_count = counts.whole_keys;
  double saved_reads = 0;
  Json key_levels = Json::array();
  for (size_t i = 0; i < key_level_count; ++i) {
    const uint64_t size_bytes = SizeBytes(setting.bits_per_key, counts.keys[i]);
    const double saved = kLookups * ask[i] * absent[i] * (1 - setting.fpr);
    key_levels.push_back(
        {{"key_level", codec.KeyLevelName(i + 1)},
         {"key_count", counts.keys[i]},
         {"size_bytes", size_bytes},
         {"ask_share", ask[i]},
         {"absent_share", absent[i]},
         {"saved_reads", saved},
         {"saved_reads_per_mb",
          size_bytes == 0
              ? Json()
              : Json(saved * 1e6 / static_cast<double>(size_bytes))}});
    key_count += counts.keys[i];
    saved_reads += saved;
  }
  Json fields = Json::object();
  fields["key_codec"] = codec.ToString();
  fields["sampled_keys"] = keys.size();
  fields["incomplete_keys"] = counts.incomplete_keys;
  fields["whole_keys"] = counts.whole_keys;
  fields["filter_spec"] = arguments.filter_spec;
  fields["bits_per_key"] = setting.bits_per_key;
  fields["expected_fpr"] = setting.fpr;
  fields["key_count"] = key_count;
  fields["size_bytes"] = SizeBytes(setting.bits_per_key, key_count);
  fields["lookups"] = kLookups;
  fields["saved_reads"] = saved_reads;
  fields["key_levels"] = std::move(key_levels);
  return fields;
}

}  // namespace

int AdviseKeys(const AdviseArguments& arguments) {
  const Json fields = CountKeyLevels(arguments);
  if (arguments.json) {
    PrintDocument("rowbloom-advise", fields);
  } else {
    std::cout << FieldLines(fields) << Table(fields["key_levels"]);
  }
  return FlushOutput(kExitOk);
}

}  // namespace rowbloom::tools
