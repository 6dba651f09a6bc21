// SPDX-License-Identifier: Apache-2.0
//
// The processor time of hits and first loads, of readers whose cache lies in
// huge pages and of readers whose cache does not, in turns; and of loads from
// an array of the same size, which no hit in memory of that size outruns.
//
//   pages_bench --mebibytes 80,125 --json pages_bench.json
//
// `huge_page_bytes` is what the system gave: it decides by
// /sys/kernel/mm/transparent_hugepage/enabled and by its free memory.

#include <sys/mman.h>
#include <time.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/or_throw.h"
#include "bench/program.h"
#include "bench/quantile.h"
#include "bench/reader/tree.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/io.h"

namespace rowbloom::bench {
namespace {

constexpr double kBitsPerKey = 10;

struct Options {
  std::vector<std::string> families = {"compact", "blocked_bloom"};
  // The first fits the second-level cache of a core.
  std::vector<double> mebibytes = {0.25, 80, 125};
  uint64_t lookups = 1000000;
  int rounds = 9;
};

// The anonymous memory of the process that is in huge pages.
uint64_t HugePageBytes() {
  std::ifstream smaps("/proc/self/smaps_rollup");
  for (std::string word; smaps >> word;) {
    uint64_t kib = 0;
    if (word == "AnonHugePages:" && smaps >> kib) return kib * 1024;
  }
  return 0;
}

// Processor time, the system's for page faults included.
double NanosecondsOf(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

double Median(const std::vector<double>& values) {
  return Quantile(values, 0.5);
}

// A block of filters. Each reader of it stands for a file of its own.
struct Block {
  Block(const std::string& family, double bytes) {
    FilterOptions options;
    options.filter_spec = FilterSpec::BitsPerKey(family, kBitsPerKey);
    const auto sink = NewStringSink(&bytes_of_block);
    FilterBlockWriter writer(options, sink.get());
    rows = static_cast<uint64_t>(8 * bytes / kBitsPerKey);
    for (uint64_t i = 0; i < rows; ++i) {
      const auto row = RowBytes(2 * i);
      writer.Add({row.data(), row.size()}, "");
    }
    CheckOk(writer.Finish().status());
    source = NewMemorySource(bytes_of_block);
  }
  FilterKey AbsentKey(uint64_t random, std::array<char, 8>* row) const {
    *row = RowBytes(2 * (random % (rows - 1)) + 1);
    return FilterKey::Row({row->data(), row->size()});
  }

  std::string bytes_of_block;
  uint64_t rows = 0;
  std::unique_ptr<RandomAccessSource> source;
};

// Readers with a cache that has room for all their chunks.
class Readers {
 public:
  Readers(const Block& block, size_t count, bool huge_pages) : block_(block) {
    ShardedLruCacheOptions options;
    options.capacity_bytes = 2 * count * block.bytes_of_block.size() +
                             (uint64_t{64} << 20);  // Enough for huge pages.
    options.huge_pages = huge_pages;
    cache_ = NewShardedLruCache(options);
    FilterReaderOptions reader_options;
    reader_options.cache = cache_.get();
    reader_options.loading = FilterLoading::kAlways;
    for (size_t i = 0; i < count; ++i) {
      readers_.push_back(
          OrThrow(FilterReader::Open(block.source.get(), {}, reader_options)));
    }
  }
  // Loads all chunks, and returns the nanoseconds of each.
  double Load() const {
    std::vector<FilterChunkInfo> chunks = readers_.front()->Chunks();
    const double all = NanosecondsOf([&] {
      for (const auto& reader : readers_) {
        for (const FilterChunkInfo& chunk : chunks) {
          reader->MayContain(FilterKey::Row(chunk.first_row));
        }
      }
    });
    for (const auto& reader : readers_) {
      if (reader->stats()[FilterCounter::kChunkLoads] != chunks.size()) {
        throw std::runtime_error("a chunk was not loaded once");
      }
    }
    return all / static_cast<double>(readers_.size() * chunks.size());
  }
  // Asks random readers for random absent rows; the nanoseconds of each.
  double Ask(uint64_t lookups) const {
    Random random(kSeed);
    std::array<char, 8> row{};
    uint64_t maybes = 0;
    const double all = NanosecondsOf([&] {
      for (uint64_t i = 0; i < lookups; ++i) {
        const FilterReader& reader = *readers_[random.Next() % readers_.size()];
        maybes += reader.MayContain(block_.AbsentKey(random.Next(), &row));
      }
    });
    if (maybes > lookups / 10) {
      throw std::runtime_error("filters are not asked");
    }
    return all / static_cast<double>(lookups);
  }

 private:
  const Block& block_;
  std::unique_ptr<FilterCache> cache_;
  std::vector<std::unique_ptr<FilterReader>> readers_;
};

// An array that random loads walk: the place of each is that of the one before
// and its value, so that they do not overlap.
class Array {
 public:
  Array(double bytes, bool huge_pages) : size_(static_cast<size_t>(bytes)) {
    const size_t pages = size_ / kPageBytes + 1;
    bytes_.reset(
        static_cast<char*>(std::aligned_alloc(kPageBytes, pages * kPageBytes)));
    if (bytes_ == nullptr) throw std::bad_alloc();
    madvise(bytes_.get(), pages * kPageBytes,
            huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::memset(bytes_.get(), 1, size_);
  }
  // The nanoseconds of each load.
  double Walk(uint64_t loads) const {
    Random random(kSeed);
    uint64_t value = 0;
    const double all = NanosecondsOf([&] {
      for (uint64_t i = 0; i < loads; ++i) {
        value = bytes_.get()[(random.Next() + value) % size_];
      }
    });
    if (value != 1) throw std::runtime_error("the array was not read");
    return all / static_cast<double>(loads);
  }

 private:
  static constexpr size_t kPageBytes = 2 << 20;
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  size_t size_;
  std::unique_ptr<char, Free> bytes_;
};

Json Measure(const std::string& family, double mebibytes, const Options& o) {
  constexpr double kMostBytesOfBlock = 5 << 20;
  const double bytes = mebibytes * (1 << 20);
  const double count = std::ceil(bytes / kMostBytesOfBlock);
  const Block block(family, bytes / count);
  const auto open = [&](bool huge_pages) {
    return std::make_unique<Readers>(block, static_cast<size_t>(count),
                                     huge_pages);
  };
  std::vector<double> loads[2];
  std::vector<double> hits[2];
  for (int round = 0; round < o.rounds; ++round) {
    for (const bool huge : {round % 2 == 0, round % 2 != 0}) {
      loads[huge].push_back(open(huge)->Load());
    }
  }
  const Array arrays[2] = {{bytes, false}, {bytes, true}};
  std::vector<double> walks[2];
  const auto small_pages = open(false);
  small_pages->Load();
  const uint64_t before = HugePageBytes();
  const auto huge_pages = open(true);
  huge_pages->Load();
  const uint64_t huge_page_bytes = HugePageBytes() - before;
  for (int round = 0; round < o.rounds; ++round) {
    for (const bool huge : {round % 2 == 0, round % 2 != 0}) {
      hits[huge].push_back((huge ? huge_pages : small_pages)->Ask(o.lookups));
      walks[huge].push_back(arrays[huge].Walk(o.lookups));
    }
  }
  const auto result = [&](const std::vector<double>(&times)[2]) -> Json {
    std::vector<double> ratios;
    for (size_t i = 0; i < times[0].size(); ++i) {
      ratios.push_back(times[0][i] / times[1][i]);
    }
    return {{"small_pages_ns", Median(times[0])},
            {"huge_pages_ns", Median(times[1])},
            {"times_as_fast", Median(ratios)}};
  };
  return {{"family", family},
          {"mebibytes", mebibytes},
          {"huge_page_bytes", huge_page_bytes},
          {"hit", result(hits)},
          {"load_from_array", result(walks)},
          {"first_load", result(loads)}};
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app(
      "Nanoseconds of hits and first loads, without and with huge pages.");
  app.option_defaults()->always_capture_default();
  app.add_option("--families", o.families, "Filter families")->delimiter(',');
  app.add_option("--mebibytes", o.mebibytes, "Of all filters together")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 10000.0));
  app.add_option("--lookups", o.lookups, "In a round")
      ->check(CLI::Range(1000, 1000000000));
  app.add_option("--rounds", o.rounds, "Of each, in turns")
      ->check(CLI::Range(1, 1000));
  return RunToJson("pages_bench", &app, argc, argv, [&]() -> Json {
    Json runs = Json::array();
    for (const std::string& family : o.families) {
      for (const double mebibytes : o.mebibytes) {
        runs.push_back(Measure(family, mebibytes, o));
      }
    }
    return {{"pages", std::move(runs)}};
  });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
