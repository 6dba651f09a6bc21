// SPDX-License-Identifier: Apache-2.0

#include "tools/verbs/plan.h"

#include <memory>
#include <string_view>

#include "rowbloom/filter.h"
#include "tools/text/arguments.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {
namespace {

// Groups of options.
constexpr char kTree[] = "A tree";
constexpr char kCache[] = "A block cache of the tree";

// Adds the options of one filter; the first three are also those of a tree.
void AddFilterOptions(CLI::App* verb, PlanArguments* arguments) {
  AddList(verb, "--keys", &arguments->keys,
          "Keys of the filter, or of the tree")
      ->transform(WholeNumber());
  CLI::Option* bits_per_key =
      AddList(verb, "--bits_per_key", &arguments->bits_per_key,
              "Limit of the size; of a tree on average, 10 if not given");
  AddList(verb, "--bits", &arguments->bits,
          "Bits of a standard Bloom filter, or of all filters of a tree")
      ->transform(WholeNumber())
      ->excludes(bits_per_key);
  AddList(verb, "--target_fpr", &arguments->target_fprs,
          "Limit of the false positive rate")
      ->excludes(bits_per_key);
  AddList(verb, "--probes", &arguments->probes,
          "Bits that a standard Bloom filter sets for each key")
      ->transform(WholeNumber())
      ->excludes(bits_per_key);
}

// Adds the options of a tree, which all need --tree or --runs.
void AddTreeOptions(CLI::App* verb, PlanArguments* arguments) {
  TreeShape& shape = arguments->shape;
  CLI::Option* tree =
      verb->add_option("--tree", arguments->tree,
                       "leveled, tiered, lazy_leveled or universal")
          ->check(
              CLI::IsMember({"leveled", "tiered", "lazy_leveled", "universal"}))
          ->needs("--keys")
          ->group(kTree);
  AddList(verb, "--runs", &arguments->run_keys,
          "Instead the keys of each run, the newest first")
      ->transform(WholeNumber())
      ->check(CLI::Range(uint64_t{0}, kMaxTreeKeys))
      ->excludes(tree, verb->get_option("--keys"))
      ->group(kTree);
  const auto of_shape = [&](const char* name, auto* value, const char* text) {
    return verb->add_option(name, *value, text)
        ->needs(tree)
        ->capture_default_str()
        ->group(kTree);
  };
  of_shape("--levels", &shape.level_count, "Levels")->transform(WholeNumber());
  of_shape("--size_ratio", &shape.size_ratio,
           "Keys of a level for each key of the level above");
  of_shape("--runs_per_level", &shape.runs_per_level, "Runs of a tiered level")
      ->transform(WholeNumber());
  of_shape("--flush_runs", &shape.flush_runs, "Files above the levels")
      ->transform(WholeNumber());
  const auto of_any = [&](const char* name, auto* value, const char* text) {
    return verb->add_option(name, *value, text)
        ->capture_default_str()
        ->group(kTree);
  };
  of_any("--missing_share", &arguments->missing_share,
         "Share of gets whose key is nowhere");
  of_any("--budget", &arguments->budget,
         "balanced, hits_only (no filter in the oldest run) or fixed")
      ->check(CLI::IsMember({"balanced", "hits_only", "fixed"}));
  of_any("--filter", &arguments->filter,
         "A family, rocksdb_bloom or rocksdb_ribbon")
      ->check(CLI::IsMember(PlanFilterNames()));
}

// Adds the options of the block cache of a tree; all need the first.
void AddCacheOptions(CLI::App* verb, GetCostOptions* get) {
  CLI::Option* cache =
      verb->add_option("--cache_bytes", get->cache_bytes,
                       "Its capacity; the plan finds the bits per key")
          ->transform(WholeNumber())
          ->check(CLI::Range(uint64_t{1}, kMaxTreeKeys))
          ->excludes("--bits_per_key", "--bits")
          ->group(kCache);
  const auto add = [&](const char* name, double* value, const char* text) {
    verb->add_option(name, *value, text)
        ->needs(cache)
        ->capture_default_str()
        ->group(kCache);
  };
  add("--entry_bytes", &get->entry_bytes, "Key and value, uncompressed");
  add("--key_bytes", &get->key_bytes, "The key");
  add("--data_block_bytes", &get->data_block_bytes, "A data block");
  add("--metadata_block_bytes", &get->metadata_block_bytes,
      "A partition of filters or indexes");
  add("--zipf", &get->zipf_exponent,
      "Gets of the key of rank r are as 1 / r^ZIPF");
  add("--read_us", &get->read_us, "Microseconds of a read of a block");
}

// Refuses options of the group "A tree" and of its cache without a tree, and
// those of one filter with one.
void CheckCombination(const CLI::App& verb, bool is_tree) {
  for (const CLI::Option* option : verb.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    const std::string& group = option->get_group();
    const bool of_tree = group == kTree || group == kCache;
    const bool of_filter = name == "--target_fpr" || name == "--probes";
    if (of_tree && !is_tree) {
      throw CLI::ValidationError(name, "needs a tree: --tree or --runs");
    }
    if (of_filter && is_tree) {
      throw CLI::ValidationError(
          name, "is for one filter: leave it out, or --tree and --runs");
    }
  }
}

}  // namespace

std::vector<std::string> PlanFilterNames() {
  std::vector<std::string> names = {"rocksdb_bloom", "rocksdb_ribbon"};
  for (const std::string_view family : FilterFamilyNames()) {
    if (family != "always_maybe") names.emplace_back(family);
  }
  return names;
}

void AddPlan(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<PlanArguments>();
  arguments->get.cache_bytes = 0;
  CLI::App* verb = app->add_subcommand(
      "plan",
      "Find the filter and its bits by numbers: for one filter or a tree");
  AddFilterOptions(verb, arguments.get());
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-plan)");
  AddTreeOptions(verb, arguments.get());
  AddCacheOptions(verb, &arguments->get);
  verb->callback([arguments, verb, exit_code] {
    const bool is_tree =
        !arguments->tree.empty() || !arguments->run_keys.empty();
    CheckCombination(*verb, is_tree);
    const size_t values = (arguments->keys.empty() ? 0 : 1) +
                          (arguments->bits.empty() ? 0 : 1) +
                          (arguments->target_fprs.empty() ? 0 : 1) +
                          (arguments->probes.empty() ? 0 : 1) +
                          (arguments->bits_per_key.empty() ? 0 : 1);
    if (is_tree) {
      PlanTree(*arguments);
    } else if (values < 2 ||
               (arguments->keys.empty() && arguments->bits.empty())) {
      throw CLI::ValidationError(
          "plan",
          "needs --keys and --target_fpr or --bits_per_key for one filter "
          "(or two of --keys, --bits, --target_fpr and --probes), and --tree "
          "or --runs for a tree");
    } else {
      PlanFilter(*arguments);
    }
    *exit_code = FlushOutput(kExitOk);
  });
}

}  // namespace rowbloom::tools
