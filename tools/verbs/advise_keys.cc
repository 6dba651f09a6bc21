// SPDX-License-Identifier: Apache-2.0
//
// rowbloom advise on a file of keys: counts the filter keys of each key level
// of a key codec, and the bytes that they take.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  const FilterSetting setting = SettingOf(arguments.filter_spec);
  const KeyLevelCounts counts = CountKeys(codec, keys);
  uint64_t key_count = counts.whole_keys;
  Json key_levels = Json::array();
  for (size_t i = 0; i < codec.key_level_count(); ++i) {
    key_count += counts.keys[i];
    key_levels.push_back(
        {{"key_level", codec.KeyLevelName(i + 1)},
         {"key_count", counts.keys[i]},
         {"size_bytes", SizeBytes(setting.bits_per_key, counts.keys[i])}});
  }
  return {{"key_codec", codec.ToString()},
          {"sampled_keys", keys.size()},
          {"incomplete_keys", counts.incomplete_keys},
          {"whole_keys", counts.whole_keys},
          {"filter_spec", arguments.filter_spec},
          {"bits_per_key", setting.bits_per_key},
          {"expected_fpr", setting.fpr},
          {"key_count", key_count},
          {"size_bytes", SizeBytes(setting.bits_per_key, key_count)},
          {"key_levels", std::move(key_levels)}};
}

}  // namespace

int AdviseKeys(const AdviseArguments& arguments) {
  const Json fields = CountKeyLevels(arguments);
  return PrintForm(arguments.form, "rowbloom-advise", fields,
                   FieldLines(fields) + Table(fields["key_levels"]), kExitOk);
}

}  // namespace rowbloom::tools
