// SPDX-License-Identifier: Apache-2.0
//
// cache: the memory of a process whose readers share a cache that is smaller
// than their filters, which its threads ask at random; then a smaller one.
// readers: the memory of many open readers of small files.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/memory/child.h"
#include "bench/memory/measures.h"
#include "bench/or_throw.h"
#include "bench/split_mix.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/io.h"

namespace rowbloom::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::string RowOf(uint64_t number) {
  std::string row(9, 'k');
  for (size_t i = row.size(); --i > 0; number /= 10) {
    row[i] = static_cast<char>('0' + number % 10);
  }
  return row;
}

// Returns the size of the block's tail.
uint64_t WriteBlock(ByteSink* sink, const FilterOptions& options,
                    uint64_t rows) {
  FilterBlockWriter writer(options, sink);
  for (uint64_t i = 0; i < rows; ++i) writer.Add(RowOf(i), "");
  return OrThrow(writer.Finish()).tail_size_bytes;
}

// A file of filters and its readers. Each reader stands for a file of its own:
// the cache tells them apart.
struct File {
  std::unique_ptr<RandomAccessSource> source;
  uint64_t tail_size_bytes = 0;
};

constexpr uint64_t kRows = 400000;

// Chunks of many sizes.
std::vector<File> WriteFiles(const std::string& directory) {
  std::vector<File> files;
  for (int i = 0; i < 12; ++i) {
    const std::string path = directory + "/" + std::to_string(i);
    FilterOptions options;
    options.filter_spec = FilterSpec::BitsPerKey(
        i % 2 == 0 ? "compact" : "blocked_bloom", 8 + i % 5 * 2);
    options.chunk_size_bytes = (16 << 10) << (i % 4);
    const auto sink = OrThrow(OpenFileSink(path));
    File file;
    file.tail_size_bytes = WriteBlock(sink.get(), options, kRows);
    CheckOk(sink->SyncAndClose());
    file.source = OrThrow(OpenFileSource(path));
    files.push_back(std::move(file));
  }
  return files;
}

struct CacheRun {
  uint64_t capacity_bytes = 0;
  int threads = 0;
  FilterLoading loading = FilterLoading::kWhenItPays;
  double seconds = 0;
};

Json RunCache(const CacheRun& run, const std::vector<File>& files) {
  const Memory memory;
  const auto cache = NewShardedLruCache({run.capacity_bytes});
  std::vector<std::unique_ptr<FilterReader>> readers;
  // Twice as many filters as the cache has room for, at about 11 bits.
  const uint64_t count =
      std::max<uint64_t>(24, 2 * run.capacity_bytes / (kRows * 11 / 8));
  for (uint64_t i = 0; i < count; ++i) {
    const File& file = files[i % files.size()];
    FilterReaderOptions options;
    options.cache = cache.get();
    options.loading = run.loading;
    options.tail_size_bytes = file.tail_size_bytes;
    readers.push_back(
        OrThrow(FilterReader::Open(file.source.get(), {}, options)));
  }
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> lookups{0};
  std::atomic<uint64_t> lost{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < run.threads; ++t) {
    threads.emplace_back([&, t] {
      uint64_t state = static_cast<uint64_t>(t);
      uint64_t asked = 0;
      for (; !stop; ++asked) {
        const auto& reader = readers[NextSplitMix(&state) % readers.size()];
        std::string row = RowOf(NextSplitMix(&state) % kRows);
        const bool is_there = NextSplitMix(&state) % 4 == 0;
        if (!is_there) row += 'x';
        if (!reader->MayContain(row) && is_there) ++lost;
      }
      lookups += asked;
    });
  }
  const auto pass = [](double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
  pass(run.seconds);
  const int64_t peak = memory.PeakBytes();
  const auto usage = cache->GetUsage();
  cache->SetCapacity(run.capacity_bytes / 8);
  pass(std::min(run.seconds, 2.0));
  const int64_t smaller = memory.ResidentBytes();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  if (lost > 0) throw std::runtime_error("rows were lost");
  return {{"readers", count},
          {"lookups", lookups.load()},
          {"peak_bytes", peak},
          {"counted_bytes", usage.usage_bytes},
          {"loads_evicted", usage.evictions},
          {"resident_at_an_eighth_bytes", smaller}};
}

Json RunReaders(uint64_t count, uint64_t rows) {
  std::string block;
  uint64_t tail_size_bytes = 0;
  {
    const auto sink = NewStringSink(&block);
    tail_size_bytes = WriteBlock(sink.get(), FilterOptions(), rows);
  }
  const auto source = NewMemorySource(block);
  const auto cache = NewShardedLruCache({uint64_t{64} << 20});
  std::vector<std::unique_ptr<FilterReader>> readers(count);
  const Memory memory;
  for (uint64_t i = 0; i < count; ++i) {
    FilterReaderOptions options;
    options.cache = cache.get();
    options.tail_size_bytes = tail_size_bytes;
    readers[i] = OrThrow(FilterReader::Open(source.get(), {}, options));
  }
  const int64_t resident = memory.ResidentBytes();
  const auto usage = cache->GetUsage();
  uint64_t denied = 0;
  const std::string absent = RowOf(0) + 'x';
  for (int round = 0; round < 2; ++round) {
    denied = 0;
    for (const auto& reader : readers) denied += !reader->MayContain(absent);
  }
  const auto per_reader = [count](int64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(count);
  };
  return {{"block_bytes", block.size()},
          {"resident_bytes_a_reader", per_reader(resident)},
          {"counted_bytes_a_reader",
           per_reader(static_cast<int64_t>(usage.usage_bytes +
                                           usage.index_bytes_outside))},
          {"denied_share_of_an_absent_row",
           per_reader(static_cast<int64_t>(denied))}};
}

}  // namespace

Json MeasureCaches(const MemoryOptions& options) {
  const TempDirectory directory = MemoryBenchDirectory();
  const std::vector<File> files = WriteFiles(directory.path());
  Json runs = Json::array();
  const std::vector<uint64_t> capacities =
      options.quick ? std::vector<uint64_t>{16}
                    : std::vector<uint64_t>{16, 64, 512};
  const std::vector<int> threads =
      options.quick ? std::vector<int>{4} : std::vector<int>{1, 4, 16};
  for (const uint64_t mib : capacities) {
    for (const int count : threads) {
      for (const bool always : {false, true}) {
        CacheRun run;
        run.capacity_bytes = mib << 20;
        run.threads = count;
        run.loading =
            always ? FilterLoading::kAlways : FilterLoading::kWhenItPays;
        run.seconds = options.quick ? 0.3 : mib < 512 ? 5 : 15;
        Json result = {{"capacity_bytes", run.capacity_bytes},
                       {"threads", count},
                       {"loading", always ? "always" : "when_it_pays"}};
        result.update(InChild([&] { return RunCache(run, files); }));
        runs.push_back(std::move(result));
      }
    }
  }
  return {{"caches", std::move(runs)}};
}

Json MeasureReaders(const MemoryOptions& options) {
  Json runs = Json::array();
  for (const uint64_t count :
       {uint64_t{10000}, uint64_t{options.quick ? 20000u : 1000000u}}) {
    for (const uint64_t rows : {uint64_t{20}, uint64_t{1000}}) {
      Json result = {{"readers", count}, {"rows", rows}};
      result.update(InChild([&] { return RunReaders(count, rows); }));
      runs.push_back(std::move(result));
    }
  }
  return {{"open_readers", std::move(runs)}};
}

}  // namespace rowbloom::bench
