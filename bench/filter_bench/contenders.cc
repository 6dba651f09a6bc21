// SPDX-License-Identifier: Apache-2.0

#include "contenders.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "bench/program.h"
#include "rocksdb_contender.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom_contender.h"

namespace rowbloom::filter_bench {
namespace {

struct NamedPolicy {
  std::string name;
  std::string policy;  // As FilterPolicy::Parse takes it.
};

// Points of comparison: 10 bits per key; 0.957 %, RocksDB's Bloom at 10 bits;
// 0.39 %, one in 256. Families that are not registered are skipped, and those
// that are not listed take part at 10 bits.
const NamedPolicy kPolicies[] = {
    {"rowbloom_blocked_bloom10", "blocked_bloom:bits_per_key=10"},
    {"rowbloom_fast10", "fast:bits_per_key=10"},
    {"rowbloom_fast_fpr0.39", "fast:target_fpr=0.00390625"},
    {"rowbloom_compact_fpr0.957", "compact:target_fpr=0.00957"},
    {"rowbloom_compact_fpr0.39", "compact:target_fpr=0.00390625"},
    {"rowbloom_compact10", "compact:bits_per_key=10"},
};

std::string_view FamilyOf(const NamedPolicy& named) {
  return std::string_view(named.policy).substr(0, named.policy.find(':'));
}

std::vector<NamedPolicy> DefaultPolicies() {
  std::vector<NamedPolicy> policies;
  for (const std::string_view family : FilterFamilyNames()) {
    if (family == "always_maybe") continue;
    const size_t count_before = policies.size();
    for (const NamedPolicy& named : kPolicies) {
      if (FamilyOf(named) == family) policies.push_back(named);
    }
    if (policies.size() == count_before) {
      const std::string name(family);
      policies.push_back(
          {"rowbloom_" + name + "10", name + ":bits_per_key=10"});
    }
  }
  return policies;
}

std::unique_ptr<Contender> MakeRowbloom(const NamedPolicy& named) {
  absl::StatusOr<FilterPolicy> policy = FilterPolicy::Parse(named.policy);
  if (!policy.ok()) {
    throw bench::UsageError(named.name + ": " +
                            std::string(policy.status().message()));
  }
  return NewRowbloomContender(named.name, *std::move(policy));
}

// What follows `prefix`, as a number; 0 if it is not that.
double NumberBehind(std::string_view prefix, std::string_view name) {
  if (name.substr(0, prefix.size()) != prefix) return 0;
  name.remove_prefix(prefix.size());
  double number = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : 0;
}

// Null if the name is none of RocksDB's.
std::unique_ptr<Contender> MakeRocksDb(const std::string& name,
                                       const RocksDbLibrary& library) {
  // Beyond, RocksDB takes other numbers than it is asked for.
  const auto usable = [](double bits) { return bits >= 1 && bits <= 100; };
  if (const double bits = NumberBehind("rocksdb_bloom", name); usable(bits)) {
    return NewRocksDbContender(name, library, library.NewBloomPolicy(bits));
  }
  if (const double bits = NumberBehind("rocksdb_ribbon", name); usable(bits)) {
    return NewRocksDbContender(name, library, library.NewRibbonPolicy(bits));
  }
  return nullptr;
}

std::unique_ptr<Contender> MakeNamed(const std::string& name,
                                     const RocksDbLibrary& library) {
  for (const NamedPolicy& named : DefaultPolicies()) {
    if (named.name == name) return MakeRowbloom(named);
  }
  if (auto contender = MakeRocksDb(name, library)) return contender;
  std::string known;
  for (const std::string& default_name : DefaultNames()) {
    known += " " + default_name;
  }
  throw bench::UsageError(
      "--filters: \"" + name + "\" is none of" + known +
      ", nor rocksdb_bloomX or rocksdb_ribbonX with 1 to 100 "
      "bits; add others with --policy NAME=POLICY");
}

}  // namespace

std::vector<std::string> DefaultNames() {
  std::vector<std::string> names = {kBloomReference, kRibbonReference};
  for (const NamedPolicy& named : DefaultPolicies()) {
    names.push_back(named.name);
  }
  return names;
}

std::vector<std::unique_ptr<Contender>> ChooseContenders(
    const std::vector<std::string>& names,
    const std::vector<std::string>& policies, const RocksDbLibrary& library) {
  std::vector<std::unique_ptr<Contender>> contenders;
  const auto add = [&](std::unique_ptr<Contender> contender) {
    for (const auto& other : contenders) {
      if (other->name() == contender->name()) {
        throw bench::UsageError("two filters are named " + other->name());
      }
    }
    contenders.push_back(std::move(contender));
  };
  for (const std::string& name : names.empty() ? DefaultNames() : names) {
    add(MakeNamed(name, library));
  }
  for (const std::string& text : policies) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw bench::UsageError("--policy: \"" + text + "\" is not NAME=POLICY");
    }
    add(MakeRowbloom({text.substr(0, equals), text.substr(equals + 1)}));
  }
  return contenders;
}

}  // namespace rowbloom::filter_bench
