// SPDX-License-Identifier: Apache-2.0
//
// Writes small HFiles, and changes blocks of HFiles under right checksums.

#ifndef ROWBLOOM_TESTS_HOSTS_HFILE_TEST_HFILE_H_
#define ROWBLOOM_TESTS_HOSTS_HFILE_TEST_HFILE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hfile/block.h"
#include "hfile/trailer.h"
#include "rowbloom/hfile.h"
#include "rowbloom/hfile_writer.h"

namespace rowbloom::testing {

inline HFileCell Put(std::string_view row, std::string_view qualifier,
                     std::string_view value = "value") {
  HFileCell cell;
  cell.row = row;
  cell.family = "cf";
  cell.qualifier = qualifier;
  cell.timestamp = 1'700'000'000'000;
  cell.value = value;
  return cell;
}

inline HFileCell FamilyDelete(std::string_view row) {
  HFileCell cell = Put(row, "", "");
  cell.type = HFileCell::kDeleteFamily;
  return cell;
}

inline std::string WriteHFile(const HFileWriterOptions& options,
                              const std::vector<HFileCell>& cells) {
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  const auto writer = *HFileWriter::Make(options, sink.get());
  for (const HFileCell& cell : cells) {
    EXPECT_EQ(writer->Add(cell), absl::OkStatus());
  }
  EXPECT_EQ(writer->Finish(), absl::OkStatus());
  return bytes;
}

inline std::string SmallRow(int number) {
  const std::string digits = std::to_string(2 * number);
  return "row" + std::string(digits.size() < 2, '0') + digits;
}

// Writes rows row00, row02, ... with columns "a" and "b"; every fifth is
// deleted. The file has several data blocks, and several chunks if `options`
// make them small.
inline std::string SmallHFile(HFileWriterOptions options, int rows = 20) {
  options.block_size_bytes = 256;
  std::vector<std::string> names;
  for (int i = 0; i < rows; ++i) names.push_back(SmallRow(i));
  std::sort(names.begin(), names.end());
  std::vector<HFileCell> cells;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i % 5 == 0) cells.push_back(FamilyDelete(names[i]));
    cells.push_back(Put(names[i], "a"));
    cells.push_back(Put(names[i], "b"));
  }
  return WriteHFile(options, cells);
}

// A file with the objects that it needs. Its operators end the program if the
// file could not be opened.
struct OpenHFile {
  explicit OpenHFile(std::string file_bytes,
                     const HFileReaderOptions& options = {})
      : bytes(std::move(file_bytes)),
        source(NewMemorySource(bytes, "file")),
        reader(HFileReader::Open(source.get(), options)) {}
  const HFileReader& operator*() const { return **reader; }
  const HFileReader* operator->() const { return reader->get(); }

  const std::string bytes;
  const std::unique_ptr<RandomAccessSource> source;
  const absl::StatusOr<std::unique_ptr<HFileReader>> reader;
};

struct LoadedBlock {
  std::string magic;
  std::string payload;
};
using EditBlocks = std::function<void(std::vector<LoadedBlock>*)>;
using EditTrailer = std::function<void(hfile::Trailer*)>;

// Lets `edit` change payload and magic of the blocks that are loaded at open,
// and then the trailer. Either may be nullptr.
inline std::string EditHFile(const std::string& bytes, const EditBlocks& edit,
                             const EditTrailer& edit_trailer = nullptr) {
  const auto source = NewMemorySource(bytes);
  auto trailer = hfile::ReadTrailer(*source);
  hfile::BlockFormat format;
  format.source = source.get();
  format.end = trailer->offset;
  std::vector<LoadedBlock> blocks;
  for (uint64_t at = trailer->load_on_open_offset; at < trailer->offset;) {
    auto block = hfile::ReadBlock(format, at, "", 0);
    at += block->header.size;
    blocks.push_back({block->header.magic, block->payload});
  }
  if (edit != nullptr) edit(&blocks);
  std::string edited =
      bytes.substr(0, static_cast<size_t>(trailer->load_on_open_offset));
  for (const LoadedBlock& block : blocks) {
    if (block.magic == hfile::kFileInfoMagic) {
      trailer->file_info_offset = edited.size();
    }
    edited += *hfile::SerializeBlock({}, block.magic, -1, block.payload);
  }
  if (edit_trailer != nullptr) edit_trailer(&*trailer);
  return edited + hfile::SerializeTrailer(*trailer);
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_HOSTS_HFILE_TEST_HFILE_H_
