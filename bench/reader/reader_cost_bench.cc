// SPDX-License-Identifier: Apache-2.0
//
// Times a lookup of an absent row in a random one of four files, of a bare
// filter and through a reader that has everything in its cache.
//
//   reader_cost_bench --filter_bytes 262144 --benchmark_filter=reader
//
// Names: WAY/POLICY/BYTES, with BYTES of all filters; dependent_WAY/..., where
// lookups cannot overlap; threads/WAY/... with one thread and two. All ways
// must answer alike, or the exit code is 1.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "bench/micro.h"
#include "bench/reader/tree.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/io.h"

namespace rowbloom::bench {
namespace {

constexpr size_t kFiles = 4;
constexpr size_t kLookups = 1 << 16;  // In an iteration.
constexpr size_t kBatch = 32;
constexpr std::align_val_t kAlignment{64};

struct FreeAligned {
  void operator()(char* p) const { ::operator delete(p, kAlignment); }
};

// The filter block of a file, in three forms.
class File {
 public:
  File(const std::string& block, FilterCache* cache, FilterStats* stats)
      : block_(block) {
    source_ = NewMemorySource(block_);
    FilterReaderOptions reader_options;
    reader_options.cache = cache;
    reader_options.prefetch = true;
    const auto open = [&] {
      return OrThrow(FilterReader::Open(source_.get(), {0, block_.size()},
                                        reader_options));
    };
    reader = open();
    reader_options.stats = stats;
    counted_reader = open();
    for (const FilterChunkInfo& chunk : reader->Chunks()) AddView(chunk);
  }

  std::unique_ptr<FilterReader> reader;
  std::unique_ptr<FilterReader> counted_reader;
  std::vector<FilterView> views;  // One for each chunk.

 private:
  // Aligns the units as a reader does.
  void AddView(const FilterChunkInfo& chunk) {
    std::string_view rest = std::string_view(block_).substr(chunk.offset);
    std::vector<std::string_view> units;
    for (size_t i = 0; i < chunk.descriptor.unit_count; ++i) {
      const auto size =
          static_cast<size_t>(chunk.descriptor.unit_size_bytes[i]);
      units_.emplace_back(static_cast<char*>(::operator new(size, kAlignment)));
      std::copy_n(rest.data(), size, units_.back().get());
      units.emplace_back(units_.back().get(), size);
      rest.remove_prefix(size);
    }
    views.push_back(OrThrow(FilterView::Parse(chunk.descriptor, units)));
  }

  const std::string& block_;
  std::unique_ptr<RandomAccessSource> source_;
  std::vector<std::unique_ptr<char, FreeAligned>> units_;
};

struct Question {
  std::array<char, 8> row{};
  FilterKey key = FilterKey::Row("");  // Views `row`.
  const File* file = nullptr;
  size_t chunk = 0;
};

// Holds what all ways of one policy and size share.
class Files {
 public:
  Files(const FilterSpec& policy, uint64_t filter_bytes) {
    ShardedLruCacheOptions options;
    options.capacity_bytes = 3 * filter_bytes + (64 << 20);  // For all.
    cache_ = NewShardedLruCache(options);
    const auto keys = static_cast<uint64_t>(
        8 * static_cast<double>(filter_bytes) / policy.bits_per_key() / kFiles);
    TreeShape shape;
    shape.filter_spec = policy;
    shape.level_keys.assign(kFiles, keys);
    tree_ = std::make_unique<Tree>(shape);
    for (size_t i = 0; i < kFiles; ++i) {
      files_.push_back(
          std::make_unique<File>(tree_->block(i), cache_.get(), &stats_));
    }
    Random random(kSeed);
    for (size_t i = 0; i < kLookups; ++i) {
      Question& q = questions_[i];
      // A batch is of one file.
      q.file = i % kBatch == 0 ? files_[random.Next() % kFiles].get()
                               : questions_[i - 1].file;
      int64_t chunk = -1;
      while (chunk < 0) {  // Lookups end before that if the index says "no".
        q.row = RowBytes(random.Next());
        q.key = FilterKey::Row({q.row.data(), q.row.size()});
        chunk = q.file->reader->ChunkOf(q.key);
      }
      q.chunk = static_cast<size_t>(chunk);
      keys_.push_back(q.key);
    }
    maybes_ = Ask(View);
  }

  static bool View(const Question& q) {
    return q.file->views[q.chunk].MayContain(q.key.digest());
  }
  static bool IndexAndView(const Question& q) {
    const int64_t chunk = q.file->reader->ChunkOf(q.key);
    return chunk >= 0 &&
           q.file->views[static_cast<size_t>(chunk)].MayContain(q.key.digest());
  }
  static bool Reader(const Question& q) {
    return q.file->reader->MayContain(q.key);
  }
  static bool ReaderWithStats(const Question& q) {
    return q.file->counted_reader->MayContain(q.key);
  }

  // These return the number of answers "maybe".
  template <typename Way>
  uint64_t Ask(const Way& way) const {
    uint64_t count = 0;
    for (const Question& q : questions_) count += way(q);
    return count;
  }
  // The place of the next question is computed from the answer, so that lookups
  // cannot overlap.
  template <typename Way>
  uint64_t AskDependently(const Way& way) const {
    uint64_t count = 0;
    size_t at = 0;
    for (size_t i = 0; i < kLookups; ++i) {
      const uint64_t answer = way(questions_[at]);
      count += answer;
      at = (at + 1 + answer) % kLookups;
    }
    return count;
  }
  uint64_t AskBatches() const {
    uint64_t count = 0;
    std::array<bool, kBatch> answers{};
    for (size_t i = 0; i < kLookups; i += kBatch) {
      questions_[i].file->reader->MayContain(
          absl::MakeConstSpan(&keys_[i], kBatch), answers.data());
      for (const bool answer : answers) count += answer;
    }
    return count;
  }

  uint64_t maybes() const { return maybes_; }

 private:
  FilterStats stats_;
  std::unique_ptr<FilterCache> cache_;
  std::unique_ptr<const Tree> tree_;
  std::vector<std::unique_ptr<File>> files_;
  std::vector<Question> questions_ = std::vector<Question>(kLookups);
  std::vector<FilterKey> keys_;
  uint64_t maybes_ = 0;
};

// Files are made when a benchmark first needs them.
struct Set {
  const Files& Get() {
    const std::lock_guard<std::mutex> lock(mutex);
    if (files == nullptr) files = std::make_unique<Files>(policy, filter_bytes);
    return *files;
  }
  const std::string name;
  const FilterSpec policy;
  const uint64_t filter_bytes = 0;
  std::mutex mutex;
  std::unique_ptr<Files> files;
};

// `ask(files)` returns the number of answers "maybe", as does
// `expected(files)`.
template <typename Ask, typename Expected>
benchmark::internal::Benchmark* Add(const std::string& way, Set* set,
                                    const Ask& ask, const Expected& expected) {
  return benchmark::RegisterBenchmark(
      (way + "/" + set->name).c_str(),
      [set, ask, expected](benchmark::State& state) {
        const Files& files = set->Get();
        if (ask(files) != expected(files)) CountWrongAnswers(1);
        for (auto _ : state) benchmark::DoNotOptimize(ask(files));
        state.counters["time_per_lookup"] = TimeOfEach(kLookups);
      });
}

template <typename Way>
void AddWay(const std::string& name, Set* set, const Way& way) {
  const auto ask = [way](const Files& files) { return files.Ask(way); };
  const auto maybes = [](const Files& files) { return files.maybes(); };
  Add(name, set, ask, maybes);
  Add(
      "dependent_" + name, set,
      [way](const Files& files) { return files.AskDependently(way); },
      [](const Files& files) { return files.AskDependently(Files::View); });
  Add("threads/" + name, set, ask, maybes)->ThreadRange(1, 2)->UseRealTime();
}

int Main(int argc, char** argv) {
  std::vector<std::string> policies = {"blocked_bloom:bits_per_key=10",
                                       "fast:bits_per_key=10",
                                       "compact:bits_per_key=10"};
  // Within the second-level cache, the last-level cache, and beyond.
  std::vector<uint64_t> filter_bytes = {256 << 10, 8 << 20, 64 << 20};
  std::vector<std::unique_ptr<Set>> sets;
  CLI::App app(
      "The time of a lookup of a bare filter, and through a FilterReader.");
  app.option_defaults()->always_capture_default();
  app.add_option("--policies", policies, "Filter policies")->delimiter(',');
  app.add_option("--filter_bytes", filter_bytes, "Of all files together")
      ->delimiter(',')
      ->check(CLI::Range(uint64_t{10000}, uint64_t{100000000000}));
  return RunMicro("reader_cost_bench", &app, argc, argv, [&] {
    for (const std::string& text : policies) {
      const FilterSpec policy = OrThrow(FilterSpec::Parse(text));
      for (const uint64_t bytes : filter_bytes) {
        const std::string name = text + "/" + std::to_string(bytes);
        Set* const set =
            sets.emplace_back(new Set{name, policy, bytes, {}, {}}).get();
        AddWay("view", set, Files::View);
        AddWay("index_and_view", set, Files::IndexAndView);
        AddWay("reader", set, Files::Reader);
        AddWay("reader_with_stats", set, Files::ReaderWithStats);
        Add(
            "batch_of_32", set,
            [](const Files& files) { return files.AskBatches(); },
            [](const Files& files) { return files.maybes(); });
      }
    }
  });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
