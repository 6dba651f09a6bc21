// SPDX-License-Identifier: Apache-2.0

#include "cost.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "bench/reader/tree.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_stats.h"

namespace rowbloom::reader_bench {
namespace {

constexpr size_t kQuestions = 1 << 16;
constexpr size_t kBatch = 32;
constexpr std::align_val_t kAlignment{64};

double ThreadSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct FreeAligned {
  void operator()(char* p) const { ::operator delete(p, kAlignment); }
};

// The filters of a file without a reader, aligned as the reader has them.
struct BareFile {
  std::vector<std::unique_ptr<char, FreeAligned>> units;
  std::vector<FilterView> views;
};

BareFile MakeBare(const std::string& block, const FilterReader& reader) {
  BareFile bare;
  for (const FilterChunkInfo& chunk : reader.Chunks()) {
    std::string_view rest = std::string_view(block).substr(chunk.offset);
    std::vector<std::string_view> units;
    for (size_t i = 0; i < chunk.descriptor.unit_count; ++i) {
      const auto size =
          static_cast<size_t>(chunk.descriptor.unit_size_bytes[i]);
      bare.units.emplace_back(
          static_cast<char*>(::operator new(size, kAlignment)));
      std::copy_n(rest.data(), size, bare.units.back().get());
      units.emplace_back(bare.units.back().get(), size);
      rest.remove_prefix(size);
    }
    const auto view = FilterView::Parse(chunk.descriptor, units);
    if (!view.ok()) throw std::runtime_error(view.status().ToString());
    bare.views.push_back(*view);
  }
  return bare;
}

// Readers over a cache that has room for everything, all of it loaded.
struct Readers {
  Readers(const Tree& tree, FilterStats* stats, uint64_t filter_bytes) {
    ShardedLruCacheOptions cache_options;
    cache_options.capacity_bytes = 2 * filter_bytes + (64 << 20);
    cache = NewShardedLruCache(cache_options);
    FilterReaderOptions options;
    options.cache = cache.get();
    options.stats = stats;
    options.prefetch = true;
    open = std::make_unique<OpenTree>(&tree, options);
  }
  std::unique_ptr<FilterCache> cache;
  std::unique_ptr<OpenTree> open;
};

struct Question {
  std::array<char, 8> row{};
  FilterKey key = FilterKey::Row("");
  size_t file = 0;
  size_t chunk = 0;
};

// All that is asked, and each way to ask it. The answers of a way are counted:
// all ways must agree.
class Contest {
 public:
  Contest(const CostOptions& options, const FilterPolicy& policy,
          uint64_t filter_bytes)
      : tree_(ShapeOf(options, policy, filter_bytes)),
        plain_(tree_, nullptr, filter_bytes),
        counted_(tree_, &stats_, filter_bytes),
        questions_(kQuestions) {
    for (size_t i = 0; i < tree_.level_count(); ++i) {
      bare_.push_back(MakeBare(tree_.block(i), plain_.open->reader(i)));
    }
    Random random(options.seed);
    for (size_t i = 0; i < kQuestions; ++i) {
      Question& q = questions_[i];
      // A batch is of one file.
      q.file = i % kBatch == 0 ? random.Next() % bare_.size()
                               : questions_[i - 1].file;
      const FilterReader& reader = plain_.open->reader(q.file);
      int64_t chunk = -1;
      while (chunk < 0) {  // What the index denies is no lookup.
        q.row = RowBytes(random.Next());
        q.key = FilterKey::Row({q.row.data(), q.row.size()});
        chunk = reader.ChunkOf(q.key);
      }
      q.chunk = static_cast<size_t>(chunk);
      keys_.push_back(q.key);
    }
  }
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  auto View() const {
    return [this](const Question& q) {
      return bare_[q.file].views[q.chunk].MayContain(q.key.digest());
    };
  }
  auto IndexAndView() const {
    return [this](const Question& q) {
      const int64_t chunk = plain_.open->reader(q.file).ChunkOf(q.key);
      return chunk >= 0 &&
             bare_[q.file].views[static_cast<size_t>(chunk)].MayContain(
                 q.key.digest());
    };
  }
  static auto Reader(const Readers& readers) {
    return [&readers](const Question& q) {
      return readers.open->reader(q.file).MayContain(q.key);
    };
  }

  // Each returns the number of "maybe". In dependent ones the place of the next
  // question is computed from the answer, so lookups cannot overlap.
  uint64_t AskView() const { return AskAll(View()); }
  uint64_t AskViewDependently() const { return AskInTurn(View()); }
  uint64_t AskIndexAndView() const { return AskAll(IndexAndView()); }
  uint64_t AskIndexAndViewDependently() const {
    return AskInTurn(IndexAndView());
  }
  uint64_t AskPlainReader() const { return AskAll(Reader(plain_)); }
  uint64_t AskPlainReaderDependently() const {
    return AskInTurn(Reader(plain_));
  }
  uint64_t AskCountedReader() const { return AskAll(Reader(counted_)); }
  uint64_t AskBatches() const {
    uint64_t count = 0;
    std::array<bool, kBatch> answers{};
    for (size_t i = 0; i < kQuestions; i += kBatch) {
      plain_.open->reader(questions_[i].file)
          .MayContain(absl::MakeConstSpan(&keys_[i], kBatch), answers.data());
      for (const bool answer : answers) count += answer;
    }
    return count;
  }

 private:
  static TreeShape ShapeOf(const CostOptions& options,
                           const FilterPolicy& policy, uint64_t filter_bytes) {
    TreeShape shape;
    shape.policy = policy;
    const double keys = 8 * static_cast<double>(filter_bytes) /
                        policy.bits_per_key() / options.files;
    shape.level_keys.assign(static_cast<size_t>(options.files),
                            static_cast<uint64_t>(keys));
    return shape;
  }
  template <typename Ask>
  uint64_t AskAll(const Ask& ask) const {
    uint64_t count = 0;
    for (const Question& q : questions_) count += ask(q);
    return count;
  }
  template <typename Ask>
  uint64_t AskInTurn(const Ask& ask) const {
    uint64_t count = 0;
    size_t at = 0;
    for (size_t i = 0; i < kQuestions; ++i) {
      const uint64_t answer = ask(questions_[at]);
      count += answer;
      at = (at + 1 + answer) % kQuestions;
    }
    return count;
  }

  const Tree tree_;
  FilterStats stats_;
  const Readers plain_;
  const Readers counted_;
  std::vector<BareFile> bare_;
  std::vector<Question> questions_;
  std::vector<FilterKey> keys_;
};

using Way = uint64_t (Contest::*)() const;
struct NamedWay {
  const char* name;
  Way ask;
  Way same;  // Must count as many.
};
constexpr NamedWay kWays[] = {
    {"view", &Contest::AskView, &Contest::AskView},
    {"index_and_view", &Contest::AskIndexAndView, &Contest::AskView},
    {"reader", &Contest::AskPlainReader, &Contest::AskView},
    {"reader_with_stats", &Contest::AskCountedReader, &Contest::AskView},
    {"batch_of_32", &Contest::AskBatches, &Contest::AskView},
    {"dependent_view", &Contest::AskViewDependently,
     &Contest::AskViewDependently},
    {"dependent_index_and_view", &Contest::AskIndexAndViewDependently,
     &Contest::AskViewDependently},
    {"dependent_reader", &Contest::AskPlainReaderDependently,
     &Contest::AskViewDependently},
};
constexpr size_t kWayCount = std::size(kWays);

// Nanoseconds of a lookup, medians of the rounds, in which the ways take turns.
std::array<double, kWayCount> TimeWays(const Contest& contest, int rounds,
                                       bench::Progress* progress) {
  std::array<std::vector<double>, kWayCount> times;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < kWayCount; ++i) {
      (contest.*kWays[i].ask)();  // What fits into a cache is in it.
      const double begin = ThreadSeconds();
      const uint64_t count = (contest.*kWays[i].ask)();
      times[i].push_back((ThreadSeconds() - begin) * 1e9 / kQuestions);
      if (round == 0 && count != (contest.*kWays[i].same)()) {
        throw std::runtime_error(std::string(kWays[i].name) +
                                 " answers otherwise than view");
      }
    }
    progress->Add(1);
  }
  std::array<double, kWayCount> medians{};
  std::transform(times.begin(), times.end(), medians.begin(), Median);
  return medians;
}

struct ThreadTimes {
  double wall_ns = 0;  // Of a lookup of each thread.
  double cpu_ns = 0;
};

ThreadTimes TimeThreads(const Contest& contest, Way ask, int thread_count) {
  constexpr int kLaps = 16;
  std::atomic<int> ready{0};
  std::atomic<uint64_t> maybes{0};
  using Clock = std::chrono::steady_clock;
  std::vector<Clock::time_point> begins(static_cast<size_t>(thread_count));
  std::vector<Clock::time_point> ends(begins.size());
  std::vector<double> cpu_seconds(begins.size());
  std::vector<std::thread> threads;
  for (size_t t = 0; t < begins.size(); ++t) {
    threads.emplace_back([&, t] {
      uint64_t count = (contest.*ask)();
      ++ready;
      while (ready < thread_count) {
      }
      begins[t] = Clock::now();
      const double begin = ThreadSeconds();
      for (int lap = 0; lap < kLaps; ++lap) count += (contest.*ask)();
      cpu_seconds[t] = ThreadSeconds() - begin;
      ends[t] = Clock::now();
      maybes += count;
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double, std::nano> wall =
      *std::max_element(ends.begin(), ends.end()) -
      *std::min_element(begins.begin(), begins.end());
  return {wall.count() / kLaps / kQuestions,
          *std::max_element(cpu_seconds.begin(), cpu_seconds.end()) * 1e9 /
              kLaps / kQuestions};
}

// Times the throughput of one thread that two have.
struct ThreadScale {
  double wall = 0;
  double cpu = 0;
};

constexpr Way kThreadedWays[] = {&Contest::AskIndexAndView,
                                 &Contest::AskPlainReader};
using ThreadScales = std::array<ThreadScale, std::size(kThreadedWays)>;

// The ways take turns, so that both meet what else the machine does.
ThreadScales ScaleThreads(const Contest& contest, int rounds,
                          bench::Progress* progress) {
  struct Times {
    std::array<std::vector<double>, 2> wall;  // Of one thread, of two.
    std::array<std::vector<double>, 2> cpu;
  };
  std::array<Times, std::size(kThreadedWays)> times;
  for (int round = 0; round < rounds; ++round) {
    for (size_t way = 0; way < times.size(); ++way) {
      for (size_t i = 0; i < 2; ++i) {
        const ThreadTimes t =
            TimeThreads(contest, kThreadedWays[way], static_cast<int>(i) + 1);
        times[way].wall[i].push_back(t.wall_ns);
        times[way].cpu[i].push_back(t.cpu_ns);
      }
    }
    progress->Add(1);
  }
  ThreadScales scales;
  std::transform(times.begin(), times.end(), scales.begin(), [](Times& t) {
    return ThreadScale{2 * Median(t.wall[0]) / Median(t.wall[1]),
                       2 * Median(t.cpu[0]) / Median(t.cpu[1])};
  });
  return scales;
}

}  // namespace

nlohmann::ordered_json MeasureCost(const CostOptions& options,
                                   bench::Progress* progress) {
  std::printf(
      "\nCost: ns of processor time of a lookup of an absent row in a random "
      "one of %d files.\n\n| policy | filter bytes |",
      options.files);
  for (const NamedWay& way : kWays) std::printf(" %s |", way.name);
  std::printf("\n|---|---|---|---|---|---|---|---|---|---|\n");
  std::string ratios;
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const std::string& text : options.policies) {
    const auto policy = FilterPolicy::Parse(text);
    if (!policy.ok()) throw std::invalid_argument(policy.status().ToString());
    for (const uint64_t filter_bytes : options.filter_bytes) {
      progress->Begin(
          "cost: " + text + ", " + std::to_string(filter_bytes) + " bytes",
          2 * static_cast<uint64_t>(options.rounds));
      const Contest contest(options, *policy, filter_bytes);
      const auto ns = TimeWays(contest, options.rounds, progress);
      const auto [bare, reader] =
          ScaleThreads(contest, options.rounds, progress);
      progress->End();
      std::printf("| %s | %llu |", text.c_str(),
                  static_cast<unsigned long long>(filter_bytes));
      nlohmann::ordered_json lookup_ns;
      for (size_t i = 0; i < kWayCount; ++i) {
        std::printf(" %.1f |", ns[i]);
        lookup_ns[kWays[i].name] = ns[i];
      }
      std::printf("\n");
      absl::StrAppendFormat(&ratios, "| %s | %d |", text, filter_bytes);
      for (const double ratio :
           {ns[2] / ns[1], ns[2] / ns[0], ns[7] / ns[6], ns[7] / ns[5],
            reader.wall, bare.wall, reader.cpu, bare.cpu}) {
        absl::StrAppendFormat(&ratios, " %.2f |", ratio);
      }
      ratios += "\n";
      std::fflush(stdout);
      runs.push_back({{"policy", text},
                      {"filter_bytes", filter_bytes},
                      {"lookup_ns", lookup_ns},
                      {"times_index_and_view", ns[2] / ns[1]},
                      {"times_view", ns[2] / ns[0]},
                      {"dependent_times_index_and_view", ns[7] / ns[6]},
                      {"dependent_times_view", ns[7] / ns[5]},
                      {"stats_times_reader", ns[3] / ns[2]},
                      {"two_threads_wall", reader.wall},
                      {"two_threads_cpu", reader.cpu},
                      {"two_threads_bare_wall", bare.wall},
                      {"two_threads_bare_cpu", bare.cpu}});
    }
  }
  std::printf(
      "\nWhat the reader takes of others, and times the throughput of one "
      "thread that two have.\n\n| policy | filter bytes | of index_and_view | "
      "of view | dependent: of index_and_view | of view | 2 threads, wall | "
      "index_and_view | 2 threads, cpu | index_and_view |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n%s",
      ratios.c_str());
  return {{"seed", options.seed},
          {"files", options.files},
          {"rounds", options.rounds},
          {"runs", runs}};
}

}  // namespace rowbloom::reader_bench
