// SPDX-License-Identifier: Apache-2.0
//
// The shortest program that writes a filter block and asks it. README.md shows
// it from its first #include on; the test `readme` keeps them equal.

#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_reader.h"

int Fail(const absl::Status& status) {
  std::puts(status.ToString().c_str());
  return 1;
}

int main() {
  // At flush: cells in key order. The block is stored beside the SST's data.
  rowbloom::FilterOptions options;
  options.bloom_type = rowbloom::BloomType::kRowCol;
  options.filter_spec = rowbloom::FilterSpec::BitsPerKey("compact", 10);
  std::string block;
  const auto sink = rowbloom::NewStringSink(&block);
  rowbloom::FilterBlockWriter writer(options, sink.get());
  writer.Add("user17", "name");
  writer.Add("user42", "name");
  const auto info = writer.Finish();
  if (!info.ok()) return Fail(info.status());

  // At open: one cache for all SSTs, which outlives their readers.
  const auto cache = rowbloom::NewShardedLruCache({64 << 20});
  const auto source = rowbloom::NewMemorySource(block, "000012.filter");
  rowbloom::FilterReaderOptions reader_options;
  reader_options.cache = cache.get();
  const auto reader =
      rowbloom::FilterReader::Open(source.get(), {}, reader_options);
  if (!reader.ok()) return Fail(reader.status());

  // At get: the key is hashed once, for all SSTs.
  const auto key = rowbloom::FilterKey::RowCol("user17", "phone");
  const bool may_contain = (*reader)->MayContain(key);
  std::puts(may_contain ? "maybe: read the SST" : "no");
  if (may_contain) (*reader)->TellOutcome(/*key_was_there=*/false);
}
