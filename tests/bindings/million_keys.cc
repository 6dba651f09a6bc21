// SPDX-License-Identifier: Apache-2.0
//
// Prints what the programs of examples/ in other languages must print, from the
// C++ API.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/version.h"

namespace {

constexpr int kKeys = 1000000;
constexpr int kThreads = 4;

std::string Row(int i) {
  char row[16];
  std::snprintf(row, sizeof(row), "user%08d", i);
  return row;
}

}  // namespace

int main() {
  std::printf("rowbloom %s\n", rowbloom::Version());
  const absl::Status error = rowbloom::FilterSpec::Parse("ribbon").status();
  std::printf("error %d: %s\n", static_cast<int>(error.code()),
              std::string(error.message()).c_str());

  std::string file;
  const auto sink = rowbloom::NewStringSink(&file);
  rowbloom::FilterOptions options;
  options.filter_spec = rowbloom::FilterSpec::BitsPerKey("compact", 10);
  rowbloom::FilterBlockWriter writer(options, sink.get());
  for (int i = 0; i < 2 * kKeys; i += 2) writer.Add(Row(i), "");
  const auto info = writer.Finish();
  if (!info.ok()) return 1;
  std::printf("%ju keys in %ju bytes, %ju chunks\n", uintmax_t{info->key_count},
              uintmax_t{info->size_bytes}, uintmax_t{info->chunk_count});

  const auto cache = rowbloom::NewShardedLruCache({64 << 20});
  const auto source = rowbloom::NewMemorySource(file);
  rowbloom::FilterStats stats;
  rowbloom::FilterReaderOptions reader_options;
  reader_options.cache = cache.get();
  reader_options.stats = &stats;
  reader_options.prefetch = true;
  const auto reader =
      rowbloom::FilterReader::Open(source.get(), {}, reader_options);
  if (!reader.ok()) return 1;
  std::atomic<int> false_negatives{0}, false_positives{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const int count = 2 * kKeys / kThreads;
      for (int i = t * count; i < (t + 1) * count; ++i) {
        const bool maybe = (*reader)->MayContain(Row(i));
        if (i % 2 == 0) {
          false_negatives += !maybe;
        } else {
          false_positives += maybe;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d threads: %d false negatives, %d false positives (%.3f%%)\n",
              kThreads, false_negatives.load(), false_positives.load(),
              100.0 * false_positives / kKeys);
  const auto counters = stats.Snapshot();
  std::printf("%ju lookups, %ju negatives\n",
              uintmax_t{counters[rowbloom::FilterCounter::kLookups]},
              uintmax_t{counters[rowbloom::FilterCounter::kNegatives]});
  return false_negatives == 0 ? 0 : 1;
}
