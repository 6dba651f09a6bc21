// SPDX-License-Identifier: Apache-2.0
//
// A stranger's program: writes an HFile and asks it.

#include <cstdio>
#include <string>

#include "rowbloom/hfile.h"
#include "rowbloom/hfile_types.h"
#include "rowbloom/hfile_writer.h"

int main() {
  rowbloom::HFileWriterOptions options;
  options.bloom_type = rowbloom::BloomType::kRowCol;
  options.compression = rowbloom::HFileCompression::kSnappy;
  std::string bytes;
  const auto sink = rowbloom::NewStringSink(&bytes);
  const auto writer = rowbloom::HFileWriter::Make(options, sink.get());
  if (!writer.ok()) return 1;
  rowbloom::HFileCell cell;
  cell.row = "row17";
  cell.family = "f";
  cell.qualifier = "email";
  if (!(*writer)->Add(cell).ok() || !(*writer)->Finish().ok()) return 2;

  const auto source = rowbloom::NewMemorySource(bytes);
  const auto reader = rowbloom::HFileReader::Open(source.get());
  if (!reader.ok()) return 3;
  if (!(*reader)->MayContain("row17", "email")) return 4;
  if ((*reader)->MayContain("row17", "phone")) return 5;
  if (!(*reader)->Verify(/*with_keys=*/true).ok()) return 6;
  std::printf("%d\n", (*reader)->properties().major_version);
  return 0;
}
