// SPDX-License-Identifier: Apache-2.0
//
// A filter block written at flush and asked at get. README.md shows the part
// between the lines of dashes; the test `readme` keeps them equal.

#include <cstdio>
#include <memory>
#include <string>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_reader.h"

int main() {
  // --------------------------------------------------------------------------
  // At flush: cells in key order, into the SST or a file of its own.
  std::string file;
  std::unique_ptr<rowbloom::ByteSink> sink = rowbloom::NewStringSink(&file);
  rowbloom::FilterOptions options;
  options.bloom_type = rowbloom::BloomType::kRowCol;
  rowbloom::FilterBlockWriter writer(options, sink.get());
  writer.Add("user17", "email");
  writer.Add("user17", "name");
  if (!writer.Finish().ok()) return 1;

  // At get: a reader for each SST, one cache for all.
  auto source = rowbloom::NewMemorySource(file);
  auto cache = rowbloom::NewShardedLruCache({32 << 20});
  rowbloom::FilterReaderOptions reader_options;
  reader_options.cache = cache.get();
  auto reader = rowbloom::FilterReader::Open(source.get(), {}, reader_options);
  if (!reader.ok()) return 1;  // A real engine now reads without a filter.
  bool must_read = (*reader)->MayContain("user17", "phone");  // No: skip it.
  // --------------------------------------------------------------------------
  std::printf("%s\n", must_read ? "maybe" : "no");
  return 0;
}
