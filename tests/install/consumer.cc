// SPDX-License-Identifier: Apache-2.0
//
// A stranger's program: a filter block written and asked, in memory.

#include <cstdio>
#include <memory>
#include <string>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/io.h"
#include "rowbloom/version.h"

int main() {
  std::string block;
  const auto sink = rowbloom::NewStringSink(&block);
  rowbloom::FilterOptions options;
  options.bloom_type = rowbloom::BloomType::kRowCol;
  rowbloom::FilterBlockWriter writer(options, sink.get());
  writer.Add("row1", "email");
  writer.Add("row2", "email");
  const auto info = writer.Finish();
  if (!info.ok()) return 1;

  const auto source = rowbloom::NewMemorySource(block);
  const auto cache = rowbloom::NewShardedLruCache({});
  rowbloom::FilterReaderOptions reader_options;
  reader_options.cache = cache.get();
  const auto reader =
      rowbloom::FilterReader::Open(source.get(), {}, reader_options);
  if (!reader.ok()) return 2;
  if (!(*reader)->MayContain("row1")) return 3;
  if (!(*reader)->MayContain("row2", "email")) return 4;
  if ((*reader)->MayContain("row3")) return 5;  // Beyond the last row.
  std::printf("rowbloom %s\n", ROWBLOOM_VERSION_STRING);
  return 0;
}
