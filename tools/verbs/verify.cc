// SPDX-License-Identifier: Apache-2.0
//
// rowbloom verify: checks every checksum and invariant, and for a database also
// that its files carry the filters that its options ask for.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/text/arguments.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {
void AddVerify(CLI::App* app, int* exit_code) {
  struct VerifyArguments {
    std::vector<std::string> paths;
    std::vector<std::string> db_paths;
    ReportForm form;
    bool cells = false;
    bool strict = false;
    std::optional<uint64_t> block_cache_bytes;
  };
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* verb = app->add_subcommand(
      "verify",
      "Check every checksum and invariant, and databases for their filters");
  verb->add_option("PATH", arguments->paths,
                   "Filter blocks, SSTs, HFiles, saved mem filters, or "
                   "directories of them")
      ->required();
  verb->add_flag("--cells", arguments->cells,
                 "Also look up every cell of an HFile in its filters");
  AddReportForm(verb, "rowbloom-verify", &arguments->form);
  verb->add_flag("--strict", arguments->strict,
                 "Exit with 1 if a database or an SST gives a warning, too");
  AddDbPath(verb, &arguments->db_paths);
  verb->add_option("--block_cache_bytes", arguments->block_cache_bytes,
                   "Capacity of the block cache, which no OPTIONS file holds, "
                   "to compare whole filters with")
      ->transform(WholeNumber());
  verb->callback([arguments, exit_code] {
    Report report;
    report.format = "rowbloom-verify";
    report.ask = [arguments](const TargetFile& target, const FilterFile& file,
                             Json* entry) {
      return target.family != nullptr ? target.family->Verify(target, entry)
                                      : file.Verify(arguments->cells, entry);
    };
    report.text = NotedStatusLine;
    report.sums_up_families = true;
    report.warns_of_databases = true;
    report.is_strict = arguments->strict;
    report.db_paths = arguments->db_paths;
    report.block_cache_bytes = arguments->block_cache_bytes;
    *exit_code = RunReport(report, arguments->paths, arguments->form);
  });
}

}  // namespace rowbloom::tools
