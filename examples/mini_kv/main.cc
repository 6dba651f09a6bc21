// SPDX-License-Identifier: Apache-2.0
//
// mini_kv: a store from the command line. See --help.

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "mini_kv.h"

namespace mini_kv {
namespace {

constexpr int kAbsent = 1;
constexpr int kUsage = 2;
constexpr int kFailure = 3;

constexpr char kHelp[] =
    "usage: mini_kv DIRECTORY COMMAND\n"
    "\n"
    "  put ROW QUALIFIER VALUE   write a cell; makes the store if there is "
    "none\n"
    "  get ROW QUALIFIER         print a cell\n"
    "  get ROW                   print a row\n"
    "  delete ROW QUALIFIER      delete a cell\n"
    "  scan                      print all cells\n"
    "  flush                     write the memtable to an SST of level 0\n"
    "  compact                   merge all SSTs into the last level\n"
    "  stats                     print the sizes of the levels\n"
    "\n"
    "A cell is a line: row, qualifier and value, with tabs between. get says "
    "on\n"
    "stderr what it reads.\n"
    "Exit codes: 0 fine, 1 no such row or cell, 2 usage, 3 failure.\n";

unsigned long long Printable(uint64_t number) { return number; }

bool PrintCell(const Cell& cell) {
  for (const auto bytes : {cell.key.row, cell.key.qualifier, *cell.value}) {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::putchar(bytes.data() == cell.value->data() ? '\n' : '\t');
  }
  return true;
}

int ExitCode(const absl::Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "mini_kv: %s\n", status.ToString().c_str());
  return kFailure;
}

int Get(MiniKv* store, const std::string& row, const std::string* qualifier) {
  bool exists = false;
  absl::Status status;
  if (qualifier == nullptr) {
    status = store->ScanRow(row, [&](const Cell& cell) {
      exists = true;
      return PrintCell(cell);
    });
  } else if (const auto value = store->Get(row, *qualifier); value.ok()) {
    exists = value->has_value();
    if (exists) PrintCell({{row, *qualifier}, **value});
  } else {
    status = value.status();
  }
  const Stats stats = store->stats();
  std::fprintf(
      stderr,
      "%llu SSTs considered, %llu ruled out by their filters, %llu data "
      "blocks (%llu bytes) read\n",
      Printable(stats.ssts_considered), Printable(stats.ssts_skipped),
      Printable(stats.reads.data_blocks), Printable(stats.reads.data_bytes));
  return status.ok() && !exists ? kAbsent : ExitCode(status);
}

int PrintStats(const MiniKv& store) {
  std::printf("%-6s %8s %12s %14s %14s\n", "level", "SSTs", "cells",
              "data bytes", "filter bytes");
  int level = 0;
  for (const LevelStats& stats : store.levels()) {
    std::printf("L%-5d %8llu %12llu %14llu %14llu\n", level++,
                Printable(stats.ssts), Printable(stats.cells),
                Printable(stats.data_bytes), Printable(stats.filter_bytes));
  }
  return 0;
}

// `words` are the command and its arguments.
int Run(MiniKv* store, const std::vector<std::string>& words) {
  const std::string call = words[0] + std::to_string(words.size() - 1);
  if (call == "put3") {
    return ExitCode(store->Put(words[1], words[2], words[3]));
  }
  if (call == "delete2") return ExitCode(store->Delete(words[1], words[2]));
  if (call == "get2") return Get(store, words[1], &words[2]);
  if (call == "get1") return Get(store, words[1], nullptr);
  if (call == "scan0") return ExitCode(store->Scan(PrintCell));
  if (call == "flush0") return ExitCode(store->Flush());
  if (call == "compact0") return ExitCode(store->Compact());
  if (call == "stats0") return PrintStats(*store);
  std::fputs(kHelp, stderr);
  return kUsage;
}

int Main(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (words.size() < 2) {
    std::fputs(kHelp, stderr);
    return kUsage;
  }
  Options options;
  options.create_if_missing = words[1] == "put" && words.size() == 5;
  const auto store = MiniKv::Open(options, words[0]);
  if (!store.ok()) return ExitCode(store.status());
  const int code = Run(store->get(), {words.begin() + 1, words.end()});
  return std::fflush(stdout) == 0 ? code : kFailure;
}

}  // namespace
}  // namespace mini_kv

int main(int argc, char** argv) {
  return mini_kv::Main({argv + 1, argv + argc});
}
