// SPDX-License-Identifier: Apache-2.0
//
// mini_kv_bench: what point gets read of examples/mini_kv, without filters and
// with those of each family. See bench/README.md.
//
// Exit codes: 0 fine; 1 a wrong answer or a failure; 2 usage; 130 interrupted.

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/json_file.h"
#include "bench/point_get/dataset.h"
#include "bench/program.h"
#include "bench/progress.h"
#include "bench/work_directory.h"
#include "measure.h"
#include "options.h"
#include "report.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom::mini_kv_bench {
namespace {

void DefineFlags(CLI::App* app, Options* o) {
  app->add_option("--words", o->words,
                  "File of words; each is a row with some of eight columns")
      ->capture_default_str();
  app->add_option("--rows", o->row_count, "Rows to load; 0 means all")
      ->capture_default_str();
  app->add_option("--gets", o->get_count, "Point gets per policy and query")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100000000}))
      ->capture_default_str();
  const auto families = FilterFamilyNames();
  app->add_option("--families", o->families, "Filter families")
      ->delimiter(',')
      ->check(CLI::IsMember(
          std::vector<std::string>(families.begin(), families.end())))
      ->capture_default_str();
  app->add_option("--budget_families", o->budget_families,
                  "The same, with a budget of as many bits")
      ->delimiter(',')
      ->check(CLI::IsMember(
          std::vector<std::string>(families.begin(), families.end())))
      ->capture_default_str();
  app->add_option("--bits_per_key", o->bits_per_key, "Bits per filter key")
      ->check(CLI::Range(FilterPolicy::kMinBitsPerKey,
                         FilterPolicy::kMaxBitsPerKey))
      ->capture_default_str();
  const CLI::Range sizes(uint64_t{1} << 10, uint64_t{1} << 40);
  app->add_option("--memtable_size_bytes", o->memtable_size_bytes,
                  "Size at which the memtable is flushed")
      ->check(sizes)
      ->capture_default_str();
  app->add_option("--file_size_bytes", o->file_size_bytes,
                  "Data blocks of an SST that a compaction writes")
      ->check(sizes)
      ->capture_default_str();
  app->add_option("--level1_size_bytes", o->level1_size_bytes,
                  "Data blocks of level 1")
      ->check(sizes)
      ->capture_default_str();
  app->add_option("--level_ratio", o->level_ratio,
                  "How many times larger each further level is")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100}))
      ->capture_default_str();
  app->add_option("--block_size_bytes", o->block_size_bytes, "Of data blocks")
      ->check(CLI::Range(uint64_t{256}, uint64_t{1} << 20))
      ->capture_default_str();
  app->add_option("--value_size_bytes", o->value_size_bytes, "Size of values")
      ->check(CLI::Range(uint64_t{8}, uint64_t{1} << 16))
      ->capture_default_str();
  app->add_option("--filter_cache_bytes", o->filter_cache_bytes,
                  "Capacity of the cache of filter chunks")
      ->capture_default_str();
  app->add_option("--directory", o->directory,
                  "Where to put the stores (default: a temporary directory)");
  app->add_option("--json", o->json, "Write the results to this file too");
}

void CheckShape(const std::vector<LevelStats>& levels,
                const std::vector<LevelStats>& others) {
  const auto same = [](const LevelStats& a, const LevelStats& b) {
    return a.ssts == b.ssts && a.cells == b.cells &&
           a.data_blocks == b.data_blocks && a.data_bytes == b.data_bytes;
  };
  if (!std::equal(levels.begin(), levels.end(), others.begin(), others.end(),
                  same)) {
    throw std::runtime_error("two policies made different trees");
  }
}

std::vector<Filters> AllFilters(const Options& options) {
  std::vector<Filters> all = {{"none", {}, {}}};
  all[0].filter.bloom_type = BloomType::kNone;
  FilterOptions filter;
  filter.bloom_type = BloomType::kRowCol;
  for (const std::string& family : options.families) {
    filter.policy = FilterPolicy::BitsPerKey(family, options.bits_per_key);
    all.push_back({filter.policy.ToString(), filter, {}});
  }
  FileBudgetOptions budget;
  budget.budget.memory = FilterMemory::BitsPerKey(options.bits_per_key);
  budget.size_ratio =
      static_cast<double>(std::max<uint64_t>(options.level_ratio, 2));
  for (const std::string& family : options.budget_families) {
    filter.policy = FilterPolicy::BitsPerKey(family, options.bits_per_key);
    all.push_back({filter.policy.ToString() + ", by run", filter, budget});
  }
  return all;
}

// The store of one policy, from its first cell to its removal.
PolicyResult Measure(const Options& options, const Dataset& data,
                     const Filters& filters, const std::string& directory,
                     Progress* progress) {
  const std::string path = directory + "/store";
  PolicyResult result;
  result.policy = filters.name;
  progress->Begin("load " + filters.name, data.cell_count());
  result.levels = Load(options, data, filters, path, progress);
  progress->End();
  progress->Begin("ask " + filters.name,
                  options.get_count * std::size(kQueries));
  for (const Query query : kQueries) {
    result.runs.push_back(Ask(options, data, query, path, progress));
  }
  progress->End();
  std::filesystem::remove_all(path);
  return result;
}

Report Run(const Options& options) {
  Progress progress;
  progress.Begin("read the input", 0);
  const Dataset data = Dataset::FromWords(options.words, options.row_count);
  progress.End();
  const bench::WorkDirectory directory(options.directory, "mini_kv_bench",
                                       /*keep=*/false);
  Report report;
  report.row_count = data.row_count();
  report.cell_count = data.cell_count();
  for (const Filters& filters : AllFilters(options)) {
    report.results.push_back(
        Measure(options, data, filters, directory.path(), &progress));
    CheckShape(report.results.front().levels, report.results.back().levels);
  }
  return report;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Point gets in mini_kv, the example store: how many data blocks and "
      "bytes are read\nwithout filters, and with filters of each family.");
  DefineFlags(&app, &options);
  return bench::RunProgram("mini_kv_bench", &app, argc, argv, [&] {
    const bench::JsonFile json(options.json);

    const Report report = Run(options);
    Print(report);
    json.Write(ToJson(options, report));
    return report.wrong_answers() == 0 ? 0 : bench::kExitFailure;
  });
}

}  // namespace
}  // namespace rowbloom::mini_kv_bench

int main(int argc, char** argv) {
  return rowbloom::mini_kv_bench::Main(argc, argv);
}
