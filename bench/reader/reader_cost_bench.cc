// SPDX-License-Identifier: Apache-2.0
//
// Times a lookup of an absent row in a random one of four files, of a bare
// filter and through a reader that has everything in its cache, or nothing.
//
//   reader_cost_bench --filter_bytes 262144 --benchmark_filter=reader
//
// Names: WAY/POLICY/BYTES, with BYTES of all filters; dependent_WAY/..., where
// lookups cannot overlap; threads/WAY/... with one thread and two. Lookups
// not_in_memory find no filter and do not read it; rows outside lie behind the
// last key of the file.
// point_get/POLICY/FILESxBYTES asks one row of all files, with filters of BYTES
// each, in a loop and by a batch, in paired rounds. All ways must answer alike,
// or the exit code is 1.

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

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "bench/micro.h"
#include "bench/paired.h"
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
  // `empty_cache` has no room.
  File(const std::string& block, FilterCache* cache, FilterCache* empty_cache,
       FilterStats* stats)
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
    reader_options.stats = nullptr;
    reader_options.cache = empty_cache;
    reader_options.prefetch = false;
    cold_reader = open();
    for (const FilterChunkInfo& chunk : reader->Chunks()) AddView(chunk);
  }

  std::unique_ptr<FilterReader> reader;
  std::unique_ptr<FilterReader> counted_reader;
  std::unique_ptr<FilterReader> cold_reader;
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
  // Behind the last row of each file.
  std::array<char, 16> outside_row{};
  FilterKey outside = FilterKey::Row("");  // Views `outside_row`.
  FilterKey key = FilterKey::Row("");      // Views `row`.
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
      files_.push_back(std::make_unique<File>(tree_->block(i), cache_.get(),
                                              empty_cache_.get(), &stats_));
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
      q.outside_row.fill('\xff');
      std::copy(q.row.begin(), q.row.end(), q.outside_row.begin() + 8);
      q.outside = FilterKey::Row({q.outside_row.data(), q.outside_row.size()});
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

  static bool NotInMemory(const Question& q) {
    return q.file->cold_reader->MayContain(q.key);
  }
  static bool Outside(const Question& q) {
    return q.file->reader->MayContain(q.outside);
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
  static ShardedLruCacheOptions EmptyCacheOptions() {
    ShardedLruCacheOptions options;
    options.capacity_bytes = 0;
    return options;
  }

  FilterStats stats_;
  std::unique_ptr<FilterCache> cache_;
  const std::unique_ptr<FilterCache> empty_cache_ =
      NewShardedLruCache(EmptyCacheOptions());
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
  const std::string name = way + "/" + set->name;
  return benchmark::RegisterBenchmark(
      name.c_str(), [name, set, ask, expected](benchmark::State& state) {
        const Files& files = set->Get();
        if (ask(files) != expected(files)) CountWrongAnswers(1);
        CountInstructions(name, kLookups,
                          [&] { benchmark::DoNotOptimize(ask(files)); });
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

// Absent rows that are asked of all files.
class PointGets {
 public:
  PointGets(const FilterSpec& policy, size_t file_count, uint64_t filter_bytes)
      : file_count_(file_count),
        get_count_(std::max<size_t>(kLookups / file_count, 8)) {
    ShardedLruCacheOptions options;
    options.capacity_bytes = 3 * file_count * filter_bytes + (64 << 20);
    cache_ = NewShardedLruCache(options);
    TreeShape shape;
    shape.filter_spec = policy;
    shape.level_keys.assign(
        file_count,
        static_cast<uint64_t>(8 * static_cast<double>(filter_bytes) /
                              policy.bits_per_key()));
    tree_ = std::make_unique<Tree>(shape);
    FilterReaderOptions reader_options;
    reader_options.cache = cache_.get();
    reader_options.prefetch = true;
    for (size_t i = 0; i < file_count; ++i) {
      sources_.push_back(NewMemorySource(tree_->block(i)));
      readers_.push_back(OrThrow(FilterReader::Open(
          sources_.back().get(), {0, tree_->block(i).size()}, reader_options)));
    }
    for (Asked* asked : {&by_loop_, &by_batch_}) {
      asked->rows.resize(get_count_);
      asked->keys.resize(get_count_, FilterKey::Row(""));
      asked->questions.resize(get_count_ * file_count);
      asked->answers = std::make_unique<bool[]>(asked->questions.size());
      Draw(asked);
    }
  }

  // Each way asks other rows in each round, so that what a row needs is in the
  // processor's cache by chance only.
  void Measure(benchmark::State* state) {
    Paired paired(
        {[this] { AskInLoop(&by_loop_); }, [this] { AskByBatch(&by_batch_); }});
    for (auto _ : *state) {
      Draw(&by_loop_);
      Draw(&by_batch_);
      paired.Round();
    }
    const std::vector<bool> answers(&by_batch_.answers[0],
                                    &by_batch_.answers[lookup_count()]);
    AskInLoop(&by_batch_);
    if (!std::equal(answers.begin(), answers.end(), &by_batch_.answers[0])) {
      CountWrongAnswers(1);
    }
    const auto lookups = static_cast<double>(lookup_count());
    state->counters["time_per_lookup_of_loop"] =
        paired.MedianSeconds(0) / lookups;
    state->counters["time_per_lookup_of_batch"] =
        paired.MedianSeconds(1) / lookups;
    state->counters["batch_to_loop"] = paired.Ratio(1, 0);
    state->counters["lower_quartile"] = paired.Ratio(1, 0, 0.25);
    state->counters["upper_quartile"] = paired.Ratio(1, 0, 0.75);
  }

 private:
  static constexpr size_t kLookups = 1024;  // In a round, or some more.

  struct Asked {
    std::vector<std::array<char, 8>> rows;
    std::vector<FilterKey> keys;
    std::vector<FilterQuestion> questions;  // One get after the other.
    std::unique_ptr<bool[]> answers;
  };

  size_t lookup_count() const { return by_loop_.questions.size(); }
  void Draw(Asked* asked) {
    for (size_t get = 0; get < get_count_; ++get) {
      auto& row = asked->rows[get];
      row = RowBytes(random_.Next());
      asked->keys[get] = FilterKey::Row({row.data(), row.size()});
      for (size_t i = 0; i < file_count_; ++i) {
        asked->questions[get * file_count_ + i] = {readers_[i].get(),
                                                   &asked->keys[get]};
      }
    }
  }
  void AskInLoop(Asked* asked) const {
    for (size_t i = 0; i < asked->questions.size(); ++i) {
      const FilterQuestion& q = asked->questions[i];
      asked->answers[i] = q.reader->MayContain(*q.key);
    }
  }
  void AskByBatch(Asked* asked) const {
    for (size_t i = 0; i < asked->questions.size(); i += file_count_) {
      FilterReader::MayContain(
          absl::MakeConstSpan(&asked->questions[i], file_count_),
          &asked->answers[i]);
    }
  }

  const size_t file_count_;
  const size_t get_count_;  // In a round.
  std::unique_ptr<FilterCache> cache_;
  std::unique_ptr<const Tree> tree_;
  std::vector<std::unique_ptr<RandomAccessSource>> sources_;
  std::vector<std::unique_ptr<FilterReader>> readers_;
  Random random_{kSeed};
  Asked by_loop_, by_batch_;
};

void AddPointGet(const FilterSpec& policy, size_t files, uint64_t bytes) {
  benchmark::RegisterBenchmark(
      absl::StrCat("point_get/", policy.ToString(), "/", files, "x", bytes)
          .c_str(),
      [policy, files, bytes](benchmark::State& state) {
        PointGets gets(policy, files, bytes);
        gets.Measure(&state);
      })
      // Google Benchmark would make the files anew to find a number.
      ->Iterations(1000);
}

int Main(int argc, char** argv) {
  std::vector<std::string> policies = {"blocked_bloom:bits_per_key=10",
                                       "fast:bits_per_key=10",
                                       "compact:bits_per_key=10"};
  // Within the second-level cache, the last-level cache, and beyond.
  std::vector<uint64_t> filter_bytes = {256 << 10, 8 << 20, 64 << 20};
  std::vector<uint64_t> file_counts = {1, 2, 3, 4, 8, 16, 64};
  std::vector<uint64_t> file_bytes = {25000, 1 << 20};
  std::vector<std::unique_ptr<Set>> sets;
  CLI::App app(
      "The time of a lookup of a bare filter, and through a FilterReader.");
  app.option_defaults()->always_capture_default();
  app.add_option("--policies", policies, "Filter policies")->delimiter(',');
  app.add_option("--filter_bytes", filter_bytes, "Of all files together")
      ->delimiter(',')
      ->check(CLI::Range(uint64_t{10000}, uint64_t{100000000000}));
  app.add_option("--file_counts", file_counts, "Files of a point_get")
      ->delimiter(',')
      ->check(CLI::Range(1, 10000));
  app.add_option("--file_bytes", file_bytes, "Filters of each of its files")
      ->delimiter(',')
      ->check(CLI::Range(uint64_t{1000}, uint64_t{1000000000}));
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
        const auto ask = [](auto way) {
          return [way](const Files& files) { return files.Ask(way); };
        };
        Add("not_in_memory", set, ask(Files::NotInMemory),
            [](const Files&) { return uint64_t{kLookups}; });
        Add("outside", set, ask(Files::Outside),
            [](const Files&) { return uint64_t{0}; });
      }
      for (const uint64_t bytes : file_bytes) {
        for (const uint64_t files : file_counts) {
          AddPointGet(policy, files, bytes);
        }
      }
    }
  });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
