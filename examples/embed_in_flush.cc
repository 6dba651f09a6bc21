// SPDX-License-Identifier: Apache-2.0
//
// A filter block written into an SST at flush and asked at get.
// docs/embedding.md quotes the part between lines of dashes; the test `readme`
// keeps them equal.

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_reader.h"

struct Cell {
  std::string row, qualifier, value;
};

int main() {
  const std::vector<Cell> memtable = {{"user17", "email", "u17@example.org"},
                                      {"user17", "name", "Ada"},
                                      {"user42", "name", "Grace"}};
  // --------------------------------------------------------------------------
  std::string sst;  // The engine's file.

  // At flush: cells in key order. The filter block grows beside the data.
  std::string block;
  const auto sink = rowbloom::NewStringSink(&block);
  rowbloom::FilterOptions options;
  options.bloom_type = rowbloom::BloomType::kRowCol;
  rowbloom::FilterBlockWriter writer(options, sink.get());
  for (const Cell& cell : memtable) {
    sst += cell.row + cell.qualifier + cell.value;  // The engine's own format.
    writer.Add(cell.row, cell.qualifier);
  }
  const auto info = writer.Finish();
  if (!info.ok()) block.clear();  // An SST without a filter.
  const rowbloom::FilterBlockRange range = {sst.size(), block.size()};
  sst += block;  // The range goes into the SST's footer.

  // At open: a reader for each SST, one cache for all, which outlives them.
  const auto cache = rowbloom::NewShardedLruCache({64 << 20});
  const auto source = rowbloom::NewMemorySource(sst, "000012.sst");
  rowbloom::FilterReaderOptions reader_options;
  reader_options.cache = cache.get();
  std::unique_ptr<rowbloom::FilterReader> reader;
  if (range.size_bytes > 0) {
    auto opened =
        rowbloom::FilterReader::Open(source.get(), range, reader_options);
    if (opened.ok()) reader = *std::move(opened);  // Else: log, go on without.
  }

  // At get: the key is hashed once, for all SSTs. No phone here: skip this one.
  const auto key = rowbloom::FilterKey::RowCol("user17", "phone");
  const bool must_read = reader == nullptr || reader->MayContain(key);
  if (must_read && reader != nullptr) {
    // After the read: the reader learns whether it was worth it.
    reader->TellOutcome(sst.find("user17phone") != std::string::npos);
  }
  // --------------------------------------------------------------------------
  std::printf("%s\n", must_read ? "maybe" : "no");
  return 0;
}
