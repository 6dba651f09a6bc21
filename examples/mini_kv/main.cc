// SPDX-License-Identifier: Apache-2.0
//
// mini_kv: a store from the command line. See --help.

#include <iostream>
#include <string>
#include <vector>

#include "mini_kv.h"

namespace mini_kv {
namespace {

constexpr int kAbsent = 1;
constexpr int kUsage = 2;
constexpr int kFailure = 3;

constexpr char kHelp[] = R"(usage: mini_kv DIRECTORY COMMAND

  put ROW QUALIFIER VALUE   write a cell
  get ROW QUALIFIER         print a cell
  get ROW                   print a row
  delete ROW QUALIFIER      delete a cell
  scan                      print all cells
  flush                     write the memtable to an SST of level 0
  compact                   merge all SSTs into the last level
  stats                     print the sizes of the levels

Any command makes a store where none is yet. A cell is a line: row, qualifier
and value, with tabs between. get says on stderr what it reads.
Exit codes: 0 fine, 1 no such row or cell, 2 usage, 3 failure.
)";

bool PrintCell(const Cell& cell) {
  std::cout << cell.key.row << '\t' << cell.key.qualifier << '\t' << *cell.value
            << '\n';
  return true;
}

int ExitCode(const absl::Status& status) {
  if (status.ok()) return 0;
  std::cerr << "mini_kv: " << status << '\n';
  return kFailure;
}

// `key` is a row, or a row and a qualifier.
int Get(MiniKv* store, const std::vector<std::string>& key) {
  bool exists = false;
  const auto print = [&](const Cell& cell) {
    exists = true;
    return PrintCell(cell);
  };
  absl::Status status;
  if (key.size() == 1) {
    status = store->ScanRow(key[0], print);
  } else {
    const auto value = store->Get(key[0], key[1]);
    status = value.status();
    if (value.ok() && *value) print({{key[0], key[1]}, **value});
  }
  const Stats stats = store->stats();
  std::cerr << stats.ssts_considered << " SSTs considered, "
            << stats.ssts_skipped << " ruled out by their filters, "
            << stats.reads.data_blocks << " data blocks ("
            << stats.reads.data_bytes << " bytes) read\n";
  return status.ok() && !exists ? kAbsent : ExitCode(status);
}

int PrintStats(const MiniKv& store) {
  std::cout << "level\tSSTs\tcells\tdata bytes\tfilter bytes\n";
  int level = 0;
  for (const LevelStats& stats : store.levels()) {
    std::cout << 'L' << level++ << '\t' << stats.ssts << '\t' << stats.cells
              << '\t' << stats.data_bytes << '\t' << stats.filter_bytes << '\n';
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
  if (call == "get1" || call == "get2") {
    return Get(store, {words.begin() + 1, words.end()});
  }
  if (call == "scan0") return ExitCode(store->Scan(PrintCell));
  if (call == "flush0") return ExitCode(store->Flush());
  if (call == "compact0") return ExitCode(store->Compact());
  if (call == "stats0") return PrintStats(*store);
  std::cerr << kHelp;
  return kUsage;
}

int Main(const std::vector<std::string>& words) {
  if (words.size() < 2) {
    const bool is_asked = words == std::vector<std::string>{"--help"};
    (is_asked ? std::cout : std::cerr) << kHelp;
    return is_asked ? 0 : kUsage;
  }
  const auto store = MiniKv::Open(Options(), words[0]);
  if (!store.ok()) return ExitCode(store.status());
  const int code = Run(store->get(), {words.begin() + 1, words.end()});
  return std::cout.flush() ? code : kFailure;
}

}  // namespace
}  // namespace mini_kv

int main(int argc, char** argv) {
  return mini_kv::Main({argv + 1, argv + argc});
}
