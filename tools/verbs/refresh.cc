// SPDX-License-Identifier: Apache-2.0
//
// rowbloom refresh: rewrites the SSTs of a RocksDB database whose filters are
// not those that a filter policy would write.

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"
#include "rocksdb/options.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_budget.h"
#include "rowbloom/rocksdb_refresh.h"
#include "tools/rocksdb/open.h"
#include "tools/text/arguments.h"
#include "tools/text/output.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {
namespace {

namespace rdb = ROCKSDB_NAMESPACE;

struct RefreshArguments {
  std::string path;
  std::string column_family = "default";
  std::string filter_policy;
  std::string wal_dir;
  bool dry_run = false;
  uint64_t max_bytes_per_second = 0;
  double min_gain = RocksDbRefreshOptions().min_gain;
  bool json = false;
};

// From its construction on, a signal to end is only remembered.
class RememberedSignal {
 public:
  RememberedSignal() {
    struct sigaction action = {};
    action.sa_handler = [](int number) { number_ = number; };
    for (const int signal : kSignals) {
      struct sigaction before = {};
      sigaction(signal, nullptr, &before);
      // nohup ignores SIGHUP, a shell SIGINT in the background.
      if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
  }
  // Ends the process if there was a signal.
  static void Raise() {
    if (number_ == 0) return;
    signal(number_, SIG_DFL);
    raise(number_);
  }

  static bool is_set() { return number_ != 0; }

 private:
  static constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM};
  static inline volatile sig_atomic_t number_ = 0;
};

// Gives the column family the policy, and the listener that a budget needs.
absl::Status Configure(const RefreshArguments& arguments, AllOptions* options,
                       RocksDbExpectedFilter* expected) {
  const auto family =
      std::find_if(options->families.begin(), options->families.end(),
                   [&](const rdb::ColumnFamilyDescriptor& descriptor) {
                     return descriptor.name == arguments.column_family;
                   });
  if (family == options->families.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat(arguments.path, ": has no column family \"",
                     arguments.column_family, "\""));
  }
  const auto* table =
      family->options.table_factory->GetOptions<rdb::BlockBasedTableOptions>();
  if (table == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(arguments.path, ": its tables are not block based"));
  }
  if (!arguments.filter_policy.empty()) {
    rdb::BlockBasedTableOptions changed = *table;
    const rdb::Status parsed = ParseRocksDbFilterPolicy(arguments.filter_policy,
                                                        &changed.filter_policy);
    if (!parsed.ok()) {
      throw CLI::ValidationError("--filter_policy", parsed.ToString());
    }
    if (changed.filter_policy == nullptr) {
      throw CLI::ValidationError("--filter_policy",
                                 "\"" + arguments.filter_policy +
                                     "\" is no policy that builds filters");
    }
    family->options.table_factory.reset(
        rdb::NewBlockBasedTableFactory(changed));
  }
  *expected = ExpectedRocksDbFilter(family->options);
  if (expected->filter_policy.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(arguments.path,
                     ": its OPTIONS file has no filter_policy: name one with "
                     "--filter_policy"));
  }
  const bool has_budget = expected->composed.has_value() ||
                          (expected->rowbloom.has_value() &&
                           expected->rowbloom->effective_budget().has_value());
  // With auto_bits and statistics in which no gets are, filters keep their
  // average, which gets that are not seen here may have chosen.
  if ((expected->composed.has_value() && expected->composed->auto_bits) ||
      (expected->rowbloom.has_value() && expected->rowbloom->auto_bits)) {
    options->db.statistics = rdb::CreateDBStatistics();
  }
  const auto listener = NewRocksDbBudgetListener();
  const bool is_there =
      std::any_of(options->db.listeners.begin(), options->db.listeners.end(),
                  [&](const std::shared_ptr<rdb::EventListener>& other) {
                    return std::string(other->Name()) == listener->Name();
                  });
  if (has_budget && !is_there) options->db.listeners.push_back(listener);
  const rdb::Status checked =
      CheckRocksDbOptions(rdb::Options(options->db, family->options));
  if (checked.ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(arguments.path, ": ", checked.ToString()));
}

Json FileJson(const RocksDbRefreshFile& file) {
  Json entry{
      {"path", EscapeControls(file.path)},
      {"level", file.level},
      {"result", std::string(RocksDbRefreshResultName(file.result))},
      {"filter", std::string(RocksDbFilterStateName(file.filter))},
      {"size_bytes", file.size_bytes},
      {"key_count", file.key_count},
      {"bits_per_key", file.bits_per_key},
      {"planned_bits_per_key", file.planned_bits_per_key},
      {"written_bits_per_key", file.result == RocksDbRefreshResult::kRewritten
                                   ? Json(file.written_bits_per_key)
                                   : Json()},
      {"wasted_reads", file.wasted_reads},
      {"planned_wasted_reads", file.planned_wasted_reads},
      {"read_bytes", file.read_bytes},
      {"written_bytes", file.written_bytes}};
  if (!file.note.empty()) entry["note"] = EscapeControls(file.note);
  if (!file.status.ok()) entry["error"] = ErrorText(file.status);
  return entry;
}

// A line for each result and level.
Json LevelRows(const RocksDbRefreshReport& report) {
  struct Sum {
    uint64_t files = 0, read_bytes = 0, written_bytes = 0;
    double keys = 0, bits = 0, planned_bits = 0, wasted = 0, planned_wasted = 0;
  };
  std::map<std::pair<int, RocksDbRefreshResult>, Sum> sums;
  for (const RocksDbRefreshFile& file : report.files) {
    Sum& sum = sums[{file.level, file.result}];
    const auto keys = static_cast<double>(file.key_count);
    ++sum.files;
    sum.read_bytes += file.read_bytes;
    sum.written_bytes += file.written_bytes;
    sum.keys += keys;
    sum.bits += keys * file.bits_per_key;
    sum.planned_bits += keys * file.planned_bits_per_key;
    sum.wasted += file.wasted_reads;
    sum.planned_wasted += file.planned_wasted_reads;
  }
  Json rows = Json::array();
  for (const auto& [place, sum] : sums) {
    rows.push_back(
        {{"level", place.first},
         {"files", sum.files},
         {"result", std::string(RocksDbRefreshResultName(place.second))},
         {"read_bytes", sum.read_bytes},
         {"written_bytes", sum.written_bytes},
         {"bits_per_key", Ratio(sum.bits, sum.keys)},
         {"planned_bits_per_key", Ratio(sum.planned_bits, sum.keys)},
         {"wasted_reads", sum.wasted},
         {"planned_wasted_reads", sum.planned_wasted}});
  }
  return rows;
}

Json SummaryOf(const RocksDbRefreshReport& report, bool dry_run,
               double seconds) {
  using Result = RocksDbRefreshResult;
  const Result counted = dry_run ? Result::kPlanned : Result::kRewritten;
  return {{"planned", report.CountOf(Result::kPlanned)},
          {"rewritten", report.CountOf(Result::kRewritten)},
          {"skipped", report.CountOf(Result::kSkipped)},
          {"failed", report.CountOf(Result::kFailed)},
          {"kept", report.kept_file_count},
          {"kept_bytes", report.kept_bytes},
          {"read_bytes", report.ReadBytes(counted)},
          {"written_bytes", report.WrittenBytes(counted)},
          {"wasted_reads", report.wasted_reads},
          {"planned_wasted_reads", report.planned_wasted_reads},
          {"seconds", dry_run ? Json() : Json(seconds)}};
}

int Print(const RefreshArguments& arguments,
          const RocksDbExpectedFilter& expected,
          const RocksDbRefreshReport& report, double seconds) {
  Json fields{{"path", EscapeControls(arguments.path)},
              {"column_family", EscapeBytes(arguments.column_family)},
              {"filter", EscapeControls(expected.ToString())}};
  const Json summary = SummaryOf(report, arguments.dry_run, seconds);
  int exit_code = kExitOk;
  Json files = Json::array();
  for (const RocksDbRefreshFile& file : report.files) {
    exit_code = WorseExitCode(exit_code, ExitCodeOf(file.status));
    if (!file.status.ok()) {
      PrintError(absl::Status(
          file.status.code(),
          absl::StrCat(file.path, ": ",
                       std::string(RocksDbRefreshResultName(file.result)), ": ",
                       file.status.message())));
    }
    files.push_back(FileJson(file));
  }
  if (arguments.json) {
    fields["files"] = std::move(files);
    fields["summary"] = summary;
    PrintDocument("rowbloom-refresh", fields);
  } else {
    std::cout << FieldLines(fields) << Table(LevelRows(report)) << "sum\n"
              << FieldLines(summary);
    if (!arguments.dry_run && summary["planned"] > 0) {
      std::cout << "Run it again to rewrite the SSTs that are planned.\n";
    }
  }
  return FlushOutput(exit_code);
}

absl::Status Refresh(const RefreshArguments& arguments, int* exit_code) {
  absl::StatusOr<AllOptions> options =
      LoadAllOptions(arguments.path, arguments.wal_dir);
  if (!options.ok()) return options.status();
  RocksDbExpectedFilter expected;
  absl::Status status = Configure(arguments, &*options, &expected);
  if (!status.ok()) return status;
  absl::StatusOr<OpenedDb> opened =
      OpenWith(arguments.path, *std::move(options), arguments.dry_run);
  if (!opened.ok()) return opened.status();
  rdb::DB* const db = opened->db.get();
  const auto handle =
      std::find_if(opened->families.begin(), opened->families.end(),
                   [&](rdb::ColumnFamilyHandle* family) {
                     return family->GetName() == arguments.column_family;
                   });
  ProgressLine line;
  RocksDbRefreshOptions refresh;
  refresh.dry_run = arguments.dry_run;
  refresh.max_bytes_per_second = arguments.max_bytes_per_second;
  refresh.min_gain = arguments.min_gain;
  refresh.reading = [&](size_t done, size_t total) {
    line.ShowCount("filters read of files", done, total);
  };
  refresh.progress = [&](const RocksDbRefreshReport& so_far) {
    line.Show(so_far.done, so_far.files.size(), so_far.files[so_far.done].path);
    return !RememberedSignal::is_set();
  };
  const RememberedSignal remembered;
  // The plan is of the tree as it is: nothing else compacts it.
  if (!arguments.dry_run) db->PauseBackgroundWork();
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<RocksDbRefreshReport> report =
      RefreshRocksDbFilters(db, *handle, refresh);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  if (!arguments.dry_run) db->ContinueBackgroundWork();
  line.Clear();
  if (!report.ok()) return report.status();
  *exit_code = Print(arguments, expected, *report, took.count());
  return absl::OkStatus();
}

}  // namespace

void AddRefresh(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<RefreshArguments>();
  CLI::App* verb = app->add_subcommand("refresh",
                                       "Rewrite the SSTs of a RocksDB database "
                                       "that lack their policy's filters");
  verb->add_option("DATABASE", arguments->path,
                   "Its directory; without --dry_run no other program may have "
                   "it open")
      ->required();
  verb->add_option("--column_family", arguments->column_family,
                   "The column family")
      ->capture_default_str();
  verb->add_option("--filter_policy", arguments->filter_policy,
                   "As in an options string, for example rowbloom:10; by "
                   "default that of the OPTIONS file");
  verb->add_option("--wal_dir", arguments->wal_dir,
                   "The directory of the database's WAL, if not its own")
      ->check(CLI::ExistingDirectory);
  verb->add_flag("--dry_run", arguments->dry_run,
                 "Say what would be read, written and gained; write nothing");
  verb->add_option("--max_bytes_per_second", arguments->max_bytes_per_second,
                   "Bytes to read and write per second; by default any")
      ->transform(WholeNumber());
  verb->add_option("--min_gain", arguments->min_gain,
                   "Keep filters that waste at most this share of reads more "
                   "than planned; 0.25 is about one bit per key")
      ->check(NotNan())
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-refresh)");
  verb->callback([arguments, exit_code] {
    const absl::Status status = Refresh(*arguments, exit_code);
    if (!status.ok()) {
      PrintError(status);
      *exit_code =
          absl::IsFailedPrecondition(status) ? kExitUsage : ExitCodeOf(status);
    }
    RememberedSignal::Raise();
  });
}

}  // namespace rowbloom::tools
