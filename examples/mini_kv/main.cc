// SPDX-License-Identifier: Apache-2.0
//
// mini_kv: a store from the command line. See --help.
//
// Exit codes: 0 fine; 1 no such row or cell; 2 usage; 3 failure.

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mini_kv.h"

namespace mini_kv {
namespace {

constexpr int kExitAbsent = 1;
constexpr int kExitUsage = 2;
constexpr int kExitFailure = 3;

constexpr char kHelp[] =
    "usage: mini_kv DIRECTORY COMMAND\n"
    "\n"
    "  put ROW QUALIFIER VALUE   write a cell; makes the store if there is "
    "none\n"
    "  get ROW QUALIFIER         print the value of a cell\n"
    "  get ROW                   print a row, QUALIFIER<TAB>VALUE lines\n"
    "  exists ROW                exit code 0 if the row has a cell, 1 if not\n"
    "  delete ROW QUALIFIER      delete a cell\n"
    "  scan [ROW]                print all cells [from ROW on]\n"
    "  flush                     write the memtable to an SST of level 0\n"
    "  compact                   merge all SSTs into one level\n"
    "  verify                    check every block and every filter\n"
    "  stats                     print levels and sizes\n"
    "\n"
    "get and exists say on stderr what they read.\n"
    "Exit codes: 0 fine, 1 no such row or cell, 2 usage, 3 failure.\n";

unsigned long long Printable(uint64_t number) { return number; }

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "mini_kv: %s\n", status.ToString().c_str());
  return kExitFailure;
}

int ExitCode(const absl::Status& status) {
  return status.ok() ? 0 : Fail(status);
}

void Print(std::string_view bytes, char end) {
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  std::putchar(end);
}

void PrintReads(const Stats& stats) {
  std::fprintf(
      stderr,
      "%llu SSTs considered, %llu ruled out by their filters, %llu data "
      "blocks (%llu bytes) read\n",
      Printable(stats.ssts_considered), Printable(stats.ssts_skipped),
      Printable(stats.reads.data_blocks), Printable(stats.reads.data_bytes));
}

int GetCell(MiniKv* store, const std::string& row,
            const std::string& qualifier) {
  const auto value = store->Get(row, qualifier);
  if (!value.ok()) return Fail(value.status());
  PrintReads(store->stats());
  if (!*value) return kExitAbsent;
  Print(**value, '\n');
  return 0;
}

int GetRow(MiniKv* store, const std::string& row) {
  const auto columns = store->GetRow(row);
  if (!columns.ok()) return Fail(columns.status());
  PrintReads(store->stats());
  for (const Column& column : *columns) {
    Print(column.qualifier, '\t');
    Print(column.value, '\n');
  }
  return columns->empty() ? kExitAbsent : 0;
}

int Exists(MiniKv* store, const std::string& row) {
  const auto exists = store->RowExists(row);
  if (!exists.ok()) return Fail(exists.status());
  PrintReads(store->stats());
  return *exists ? 0 : kExitAbsent;
}

int Scan(MiniKv* store, const std::string& first_row) {
  return ExitCode(store->Scan(first_row, [](const Cell& cell) {
    Print(cell.key.row, '\t');
    Print(cell.key.qualifier, '\t');
    Print(*cell.value, '\n');
    return true;
  }));
}

int PrintStats(const MiniKv& store) {
  std::printf("%-6s %8s %12s %12s %14s %14s\n", "level", "SSTs", "cells",
              "data blocks", "data bytes", "filter bytes");
  int level = 0;
  for (const LevelStats& stats : store.levels()) {
    std::printf("L%-5d %8llu %12llu %12llu %14llu %14llu\n", level++,
                Printable(stats.ssts), Printable(stats.cells),
                Printable(stats.data_blocks), Printable(stats.data_bytes),
                Printable(stats.filter_bytes));
  }
  const Stats stats = store.stats();
  std::printf("unreadable filters %llu\ncut off the log    %llu bytes\n",
              Printable(stats.unreadable_filters),
              Printable(stats.cut_wal_bytes));
  const auto waste = store.FilterWaste();
  if (waste.ok()) {
    std::printf("filters           %.2f bits per key, %.0f%% of the optimum\n",
                waste->bits_per_key, waste->percent_of_optimum());
  }
  return 0;
}

// `words` are the command and its arguments. nullopt if it is not a command.
std::optional<int> Run(MiniKv* store, const std::vector<std::string>& words) {
  const std::string& command = words[0];
  const size_t arguments = words.size() - 1;
  if (command == "put" && arguments == 3) {
    return ExitCode(store->Put(words[1], words[2], words[3]));
  }
  if (command == "delete" && arguments == 2) {
    return ExitCode(store->Delete(words[1], words[2]));
  }
  if (command == "get" && arguments == 2) {
    return GetCell(store, words[1], words[2]);
  }
  if (command == "get" && arguments == 1) return GetRow(store, words[1]);
  if (command == "exists" && arguments == 1) return Exists(store, words[1]);
  if (command == "scan" && arguments <= 1) {
    return Scan(store, arguments == 1 ? words[1] : "");
  }
  if (arguments != 0) return std::nullopt;
  if (command == "flush") return ExitCode(store->Flush());
  if (command == "compact") return ExitCode(store->Compact());
  if (command == "verify") return ExitCode(store->Verify());
  if (command == "stats") return PrintStats(*store);
  return std::nullopt;
}

int Usage() {
  std::fputs(kHelp, stderr);
  return kExitUsage;
}

int Main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (const std::string& word : words) {
    if (&word - words.data() > 1) break;  // Later words are rows or values.
    if (word == "--help" || word == "-h") {
      std::fputs(kHelp, stdout);
      return 0;
    }
  }
  if (words.size() < 2 || words[0].rfind("--", 0) == 0) return Usage();
  Options options;
  options.create_if_missing = words[1] == "put" && words.size() == 5;
  // A write from the command line must survive a power cut.
  options.sync_wal = true;
  const auto store = MiniKv::Open(options, words[0]);
  if (!store.ok()) return Fail(store.status());
  const std::optional<int> exit_code =
      Run(store->get(), {words.begin() + 1, words.end()});
  if (!exit_code) return Usage();
  if (std::fflush(stdout) != 0) return kExitFailure;
  return *exit_code;
}

}  // namespace
}  // namespace mini_kv

int main(int argc, char** argv) { return mini_kv::Main(argc, argv); }
