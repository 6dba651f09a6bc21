// SPDX-License-Identifier: Apache-2.0

#include "tools/verbs/advise.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "tools/text/arguments.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {
namespace {

// The kinds of things to advise on are the groups of their options.
constexpr char kDatabase[] = "A RocksDB database";
constexpr char kHFiles[] = "HFiles";
constexpr char kKeys[] = "A file of keys";

void AddDatabaseOptions(CLI::App* verb, AdviseArguments* arguments) {
  const auto add = [verb](const char* name, auto* value, const char* text) {
    return verb->add_option(name, *value, text)->group(kDatabase);
  };
  add("--column_family", &arguments->column_family, "The column family")
      ->capture_default_str();
  AddDbPath(verb, &arguments->db_paths)->group(kDatabase);
  CLI::Option* statistics =
      add("--statistics", &arguments->statistics,
          "A LOG of RocksDB, or the text of its statistics, in place of "
          "PATH/LOG");
  add("--gets", &arguments->gets,
      "A file of keys to get; the second half is counted")
      ->excludes(statistics);
  add("--cache_bytes", &arguments->cache_bytes,
      "Capacity of the block cache; by default the LOG's")
      ->transform(WholeNumber());
  add("--read_us", &arguments->read_us, "Microseconds of a read of a block")
      ->capture_default_str();
  add("--zipf", &arguments->zipf,
      "Gets of the key of rank r are as 1 / r^ZIPF; by default as reads tell")
      ->check(CLI::Range(0.0, GetCostOptions::kMaxZipfExponent));
}

void AddHFileOptions(CLI::App* verb, AdviseArguments* arguments) {
  const auto add = [verb](const char* name, auto* values, const char* text) {
    return AddList(verb, name, values, text)
        ->capture_default_str()
        ->group(kHFiles);
  };
  PlanQuestion* hfiles = &arguments->hfiles;
  add("--error_rate", &hfiles->error_rates, "Rates of the filters")
      ->check(ErrorRate());
  add("--chunk_size", &hfiles->chunk_sizes, "Bytes of their chunks")
      ->transform(WholeNumber());
  add("--prefix_length", &hfiles->prefix_lengths,
      "Bytes of their prefixes; by default the file's")
      ->transform(WholeNumber())
      ->check(CLI::Range(1, 32767));
  verb->add_option("--column_share", arguments->column_share,
                   "Share of gets of one column: says whether ROWCOL pays")
      ->check(NotNan())
      ->check(CLI::Range(0.0, 1.0))
      ->group(kHFiles);
}

void AddKeyOptions(CLI::App* verb, AdviseArguments* arguments) {
  CLI::Option* codec =
      verb->add_option(
              "--key_codec", arguments->key_codec,
              "Their key codec: tenant.fixed:4,user.delimiter:/,at.rest")
          ->group(kKeys);
  verb->add_option("--filter_spec", arguments->filter_spec, "Their filter")
      ->needs(codec)
      ->capture_default_str()
      ->group(kKeys);
}

// Returns the group of the options that serve for these paths.
std::string KindOf(const AdviseArguments& arguments) {
  if (!arguments.key_codec.empty()) return kKeys;
  std::error_code error;
  for (const std::string& path : arguments.paths) {
    if (std::filesystem::exists(path + "/CURRENT", error)) return kDatabase;
  }
  return kHFiles;
}

void CheckCombination(const CLI::App& verb, const AdviseArguments& arguments,
                      const std::string& kind) {
  if (kind != kHFiles && arguments.paths.size() > 1) {
    throw CLI::ValidationError("PATH", "several are for HFiles only; name one");
  }
  if (arguments.hex && arguments.gets.empty() && kind != kKeys) {
    throw CLI::ValidationError("--hex", "needs --gets or --key_codec");
  }
  if (kind == kKeys && arguments.missing_share.has_value()) {
    throw CLI::ValidationError("--missing_share", "is not for a file of keys");
  }
  for (const CLI::Option* option : verb.get_options()) {
    const std::string& group = option->get_group();
    if (option->count() == 0 || group == kind ||
        (group != kDatabase && group != kHFiles && group != kKeys)) {
      continue;
    }
    std::string why = "is for HFiles: PATH is a RocksDB database";
    if (group == kDatabase && kind == kHFiles) {
      why = "needs the directory of a RocksDB database: " +
            arguments.paths.front() + " has no file CURRENT";
    } else if (kind == kKeys) {
      why = "is not for a file of keys: leave out --key_codec";
    }
    throw CLI::ValidationError(option->get_name(), why);
  }
}

}  // namespace

void AddAdvise(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<AdviseArguments>();
  CLI::App* verb = app->add_subcommand(
      "advise", "Find the filters for what is there, and what gets read");
  verb->add_option("PATH", arguments->paths,
                   "A RocksDB database; HFiles or directories of them; or, "
                   "with --key_codec, a file of keys")
      ->required();
  verb->add_option("--missing_share", arguments->missing_share,
                   "Share of gets whose key is nowhere; by default as counted, "
                   "or 0.5")
      ->check(NotNan())
      ->check(CLI::Range(0.0, 1.0));
  verb->add_flag("--hex", arguments->hex, "Keys are hexadecimal bytes");
  AddReportForm(verb, "rowbloom-advise", &arguments->form);
  AddDatabaseOptions(verb, arguments.get());
  AddHFileOptions(verb, arguments.get());
  AddKeyOptions(verb, arguments.get());
  verb->callback([arguments, verb, exit_code] {
    const std::string kind = KindOf(*arguments);
    CheckCombination(*verb, *arguments, kind);
    *exit_code = kind == kDatabase ? AdviseDatabase(arguments.get())
                 : kind == kKeys   ? AdviseKeys(*arguments)
                                   : AdviseHFiles(*arguments);
  });
}

}  // namespace rowbloom::tools
