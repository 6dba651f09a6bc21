// SPDX-License-Identifier: Apache-2.0
//
// Writes the golden files that DIRECTORY does not have yet; keeps the others.
//
//   write_golden DIRECTORY

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "golden/cases.h"

namespace {

void WriteIfMissing(const std::filesystem::path& path,
                    const std::string& bytes) {
  if (std::filesystem::exists(path)) return;
  std::ofstream(path, std::ios::binary) << bytes;
  std::printf("%s: %zu bytes\n", path.c_str(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_golden DIRECTORY\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  for (const rowbloom::golden::Case& c : rowbloom::golden::BlockCases()) {
    std::string bytes;
    const auto sink = rowbloom::NewStringSink(&bytes);
    rowbloom::FilterBlockWriter writer(c.options, sink.get());
    for (const auto& cell : c.cells) writer.Add(cell.row, cell.qualifier);
    if (!writer.Finish().ok()) return 1;
    WriteIfMissing(directory / c.file, bytes);
  }
  WriteIfMissing(directory / rowbloom::golden::kBlobFiles[1],
                 rowbloom::golden::Blob());
  for (const auto& c : rowbloom::golden::MemFilterCases()) {
    WriteIfMissing(directory / c.file, c.filter->Save());
  }
  return 0;
}
