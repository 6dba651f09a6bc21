// SPDX-License-Identifier: Apache-2.0

#include "report.h"

#include <cmath>
#include <ostream>

#include "absl/strings/str_format.h"
#include "bench/machine.h"
#include "contenders.h"
#include "nlohmann/json.hpp"

namespace rowbloom::filter_bench {
namespace {

using Json = nlohmann::ordered_json;

template <class Result>
const Result* FindFilter(const std::vector<Result>& results,
                         const char* filter) {
  for (const Result& result : results) {
    if (result.filter == filter) return &result;
  }
  return nullptr;
}

// Of the two filters that the others are compared with; null if absent.
template <class Result>
struct References {
  explicit References(const std::vector<Result>& results)
      : bloom(FindFilter(results, kBloomReference)),
        ribbon(FindFilter(results, kRibbonReference)) {}
  const Result* bloom;
  const Result* ribbon;
};

// "3.56 (0.71 B, 0.16 R)": a time and its ratios to the references.
template <class Result, class Time>
std::string Compared(const Result& result, const References<Result>& references,
                     const Time& time) {
  std::string text = absl::StrFormat("%.2f", time(result));
  std::string ratios;
  if (references.bloom != nullptr) {
    ratios += absl::StrFormat("%.2f B", time(result) / time(*references.bloom));
  }
  if (references.ribbon != nullptr) {
    ratios += ratios.empty() ? "" : ", ";
    ratios +=
        absl::StrFormat("%.2f R", time(result) / time(*references.ribbon));
  }
  return ratios.empty() ? text : text + " (" + ratios + ")";
}

std::string Percent(double share, int digits) {
  return std::isfinite(share) ? absl::StrFormat("%.*f%%", digits, 100 * share)
                              : "-";
}

void PrintSpaceAndBuild(const std::vector<Run>& runs, std::ostream& out) {
  const References<Run> references(runs);
  out << "\n| filter | bits/key | rate | expected | over the limit | build "
         "digests, ns/key | build strings, ns/key | peak build, bytes/key |\n"
         "|---|---|---|---|---|---|---|---|\n";
  for (const Run& run : runs) {
    const auto build = [](KeyForm form) {
      return [form](const Run& r) { return r.build_ns_per_key[Index(form)]; };
    };
    out << "| " << run.filter << " | "
        << absl::StrFormat("%.3f", run.bits_per_key) << " | "
        << absl::StrFormat("%.4f%%", 100 * run.fpr);
    if (references.bloom != nullptr) {
      out << absl::StrFormat(" (%.3f B)", run.fpr / references.bloom->fpr);
    }
    out << " | "
        << (run.expected_fpr == 0 ? "-"
                                  : Percent(run.expected_fpr / run.fpr - 1, 1))
        << " | " << Percent(run.overhead(), 1) << " | "
        << Compared(run, references, build(KeyForm::kDigest)) << " | "
        << Compared(run, references, build(KeyForm::kString)) << " | "
        << absl::StrFormat("%.1f", run.peak_build_bytes_per_key) << " |\n";
  }
}

void PrintLookups(const std::vector<Run>& runs, KeyForm form,
                  std::ostream& out) {
  const References<Run> references(runs);
  out << "\n| lookup of " << (form == KeyForm::kDigest ? "digests" : "strings")
      << ", ns | negative independent | negative dependent | positive "
         "independent | positive dependent | batch of "
      << kBatchSize << " |\n|---|---|---|---|---|---|\n";
  for (const Run& run : runs) {
    out << "| " << run.filter;
    for (double LookupTimes::*kind :
         {&LookupTimes::negative_independent, &LookupTimes::negative_dependent,
          &LookupTimes::positive_independent, &LookupTimes::positive_dependent,
          &LookupTimes::batch}) {
      out << " | " << Compared(run, references, [&](const Run& r) {
        return r.lookup_ns[Index(form)].*kind;
      });
    }
    out << " |\n";
  }
}

Json TimesJson(const LookupTimes& times) {
  return {{"negative_independent", times.negative_independent},
          {"negative_dependent", times.negative_dependent},
          {"positive_independent", times.positive_independent},
          {"positive_dependent", times.positive_dependent},
          {"batch", times.batch}};
}

Json TimesJson(const HashTimes& times) {
  return {{"independent", times.independent_ns},
          {"dependent", times.dependent_ns}};
}

Json NumberOrNull(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json RunJson(const Run& run) {
  return {
      {"filter", run.filter},
      {"policy", run.policy},
      {"n", run.key_count},
      {"filters", run.filter_count},
      {"bits_per_key", run.bits_per_key},
      {"fpr", run.fpr},
      {"fpr_lookups", run.fpr_lookups},
      {"expected_fpr", run.expected_fpr == 0 ? Json() : Json(run.expected_fpr)},
      {"overhead", NumberOrNull(run.overhead())},
      {"present_lookups", run.present_lookups},
      {"false_negatives", run.false_negatives},
      {"build_ns_per_key", run.build_ns_per_key[Index(KeyForm::kDigest)]},
      {"build_ns_per_key_strings",
       run.build_ns_per_key[Index(KeyForm::kString)]},
      {"peak_build_bytes_per_key", run.peak_build_bytes_per_key},
      {"lookup_ns", TimesJson(run.lookup_ns[Index(KeyForm::kDigest)])},
      {"lookup_ns_strings", TimesJson(run.lookup_ns[Index(KeyForm::kString)])},
  };
}

Json BlockCacheJson(const BlockCacheRun& run) {
  return {{"filter", run.filter},
          {"n", run.shape.key_count},
          {"filters", run.shape.filter_count},
          {"total_bytes", run.total_size_bytes},
          {"present_lookups", run.present_lookups},
          {"false_negatives", run.false_negatives},
          {"lookup_ns",
           {{"negative_independent", run.independent_ns},
            {"negative_dependent", run.dependent_ns}}}};
}

}  // namespace

void PrintHeader(const RocksDbLibrary& library, const HashCosts& costs,
                 std::ostream& out) {
  const auto times = [](const HashTimes& t) {
    return absl::StrFormat("%.2f ns (dependent %.2f)", t.independent_ns,
                           t.dependent_ns);
  };
  out << "RocksDB " << library.version() << " from " << library.file_name()
      << ", whose Bloom "
      << (library.bloom_uses_avx2()
              ? "uses AVX2.\n"
              : "does not use AVX2: a native build is several times\nfaster, "
                "see --rocksdb-lib.\n")
      << "\nB is " << kBloomReference << ", R " << kRibbonReference
      << ". RocksDB takes digests as keys of 8 bytes and hashes\nthem, which "
         "alone costs "
      << times(costs.rocksdb_digests)
      << ". Hashing a string of 24 bytes\ncosts "
      << times(costs.rocksdb_strings) << " in RocksDB, "
      << times(costs.rowbloom_strings) << " in rowbloom.\n";
}

void PrintSize(const std::vector<Run>& runs, std::ostream& out) {
  if (runs.empty()) return;
  out << "\n## n = " << runs.front().key_count << "\n";
  PrintSpaceAndBuild(runs, out);
  for (const KeyForm form : kKeyForms) PrintLookups(runs, form, out);
  out << std::flush;
}

void PrintBlockCache(const std::vector<BlockCacheRun>& runs,
                     std::ostream& out) {
  if (runs.empty()) return;
  const BlockCacheShape& shape = runs.front().shape;
  const References<BlockCacheRun> references(runs);
  out << "\n## Block cache: " << shape.filter_count
      << " filters of n = " << shape.key_count
      << "\n\n| each lookup in a random filter, ns | MB | negative independent "
         "| negative dependent |\n|---|---|---|---|\n";
  for (const BlockCacheRun& run : runs) {
    const auto compared = [&](double BlockCacheRun::*time) {
      return Compared(run, references,
                      [time](const BlockCacheRun& r) { return r.*time; });
    };
    out << "| " << run.filter << " | "
        << absl::StrFormat("%.1f",
                           static_cast<double>(run.total_size_bytes) / 1e6)
        << " | " << compared(&BlockCacheRun::independent_ns) << " | "
        << compared(&BlockCacheRun::dependent_ns) << " |\n";
  }
  out << std::flush;
}

uint64_t Report::present_lookups() const {
  uint64_t sum = 0;
  for (const Run& run : runs) sum += run.present_lookups;
  for (const BlockCacheRun& run : block_cache) sum += run.present_lookups;
  return sum;
}

uint64_t Report::false_negatives() const {
  uint64_t sum = 0;
  for (const Run& run : runs) sum += run.false_negatives;
  for (const BlockCacheRun& run : block_cache) sum += run.false_negatives;
  return sum;
}

nlohmann::ordered_json ToJson(const Options& options,
                              const RocksDbLibrary& library,
                              const Report& report) {
  Json runs = Json::array();
  for (const Run& run : report.runs) runs.push_back(RunJson(run));
  Json block_cache = Json::array();
  for (const BlockCacheRun& run : report.block_cache) {
    block_cache.push_back(BlockCacheJson(run));
  }
  const Json json = {
      {"benchmark", "filter"},
      {"format_version", 1},
      {"machine", bench::MachineJson()},
      {"rocksdb",
       {{"library", library.file_name()},
        {"version", library.version()},
        {"bloom_uses_avx2", library.bloom_uses_avx2()}}},
      {"options",
       {{"rounds", options.rounds},
        {"build_rounds", options.build_rounds},
        {"lookups", options.lookups},
        {"misalignment_bytes", options.misalignment_bytes},
        {"seed", options.seed}}},
      {"hash_ns",
       {{"rocksdb_digests", TimesJson(report.hash_costs.rocksdb_digests)},
        {"rocksdb_strings", TimesJson(report.hash_costs.rocksdb_strings)},
        {"rowbloom_strings", TimesJson(report.hash_costs.rowbloom_strings)}}},
      {"present_lookups", report.present_lookups()},
      {"false_negatives", report.false_negatives()},
      {"runs", std::move(runs)},
      {"block_cache", std::move(block_cache)},
  };
  return json;
}

}  // namespace rowbloom::filter_bench
