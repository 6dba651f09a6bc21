// SPDX-License-Identifier: Apache-2.0
//
// Throughput of the filters in memory: keys added and asked per second, one by
// one and in batches, beside libbloom (Debian's libbloom-dev) if the build
// found it. At the end, ratios of medians.
//
//   memfilter_bench --benchmark_repetitions=9
//       --benchmark_enable_random_interleaving=true
//
// Names: filter/operation/keys. Keys are 16 bytes and all filters are made for
// a rate of 1%. "key" operations hash the key, "digest" operations are given
// its digest. Further flags are Google Benchmark's.

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/concurrent.h"
#include "rowbloom/memfilter/counting.h"
#include "rowbloom/memfilter/mem_filter.h"
#include "rowbloom/memfilter/scalable.h"
#include "rowbloom/memfilter/standard.h"
#ifdef ROWBLOOM_BENCH_LIBBLOOM
#include "bloom.h"
#endif

namespace {

using rowbloom::BloomShape;
using rowbloom::DigestBytes;
using rowbloom::KeyDigest;

constexpr double kFpr = 0.01;
constexpr size_t kKeySize = 16;

// Keys one behind the other, and their digests.
struct Keys {
  explicit Keys(uint64_t first, uint64_t count) {
    char key[kKeySize + 1];
    for (uint64_t i = first; i < first + count; ++i) {
      std::snprintf(key, sizeof(key), "key%013llu",
                    static_cast<unsigned long long>(i * 7919));
      bytes.append(key, kKeySize);
      digests.push_back(DigestBytes({key, kKeySize}));
    }
  }
  std::string_view key(size_t i) const {
    return std::string_view(bytes).substr(i * kKeySize, kKeySize);
  }
  std::string bytes;
  std::vector<KeyDigest> digests;
};

// Of each size, those in the filters and as many others.
const Keys& KeysOf(uint64_t count, bool present) {
  static auto* const all =
      new std::map<std::pair<uint64_t, bool>, std::unique_ptr<Keys>>;
  auto& keys = (*all)[{count, present}];
  if (keys == nullptr) {
    keys = std::make_unique<Keys>(present ? 0 : uint64_t{1} << 32, count);
  }
  return *keys;
}

template <typename Filter>
Filter NewFilter(uint64_t count) {
  const BloomShape shape = *rowbloom::ShapeFor(count, kFpr);
  if constexpr (std::is_same_v<Filter, rowbloom::CountingFilter>) {
    rowbloom::CountingOptions options;
    options.shape = shape;
    return *Filter::New(options);
  } else if constexpr (std::is_same_v<Filter, rowbloom::ScalableFilter>) {
    rowbloom::ScalableOptions options;
    options.target_fpr = kFpr;
    options.capacity = std::max<uint64_t>(1, count / 16);
    return *Filter::New(options);
  } else {
    return *Filter::New(shape);
  }
}

template <typename Filter>
Filter FullFilter(uint64_t count) {
  Filter filter = NewFilter<Filter>(count);
  for (const KeyDigest digest : KeysOf(count, true).digests) {
    static_cast<void>(filter.Add(digest));
  }
  return filter;
}

// An iteration adds all keys to a fresh filter: `add(filter, keys)`.
template <typename Filter, typename Add>
void TimeAdds(benchmark::State& state, const Add& add) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  const Keys& keys = KeysOf(count, true);
  for (auto _ : state) {
    state.PauseTiming();
    auto filter = std::make_unique<Filter>(NewFilter<Filter>(count));
    state.ResumeTiming();
    add(filter.get(), keys);
    state.PauseTiming();
    filter.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// An iteration asks for all keys that are there, or all that are not.
template <typename Filter, typename Ask>
void TimeLookups(benchmark::State& state, bool present, const Ask& ask) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  const Filter filter = FullFilter<Filter>(count);
  const Keys& keys = KeysOf(count, present);
  for (auto _ : state) benchmark::DoNotOptimize(ask(filter, keys));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <typename Filter>
uint64_t AskDigests(const Filter& filter, const Keys& keys) {
  uint64_t positives = 0;
  for (const KeyDigest digest : keys.digests) {
    positives += filter.MayContain(digest);
  }
  return positives;
}

template <typename Filter>
uint64_t AskKeys(const Filter& filter, const Keys& keys) {
  uint64_t positives = 0;
  for (size_t i = 0; i < keys.digests.size(); ++i) {
    positives += filter.MayContain(DigestBytes(keys.key(i)));
  }
  return positives;
}

// Calls use(digests) for the keys in groups of 64, hashed there.
template <typename Use>
void ForHashedGroups(const Keys& keys, const Use& use) {
  constexpr size_t kGroup = 64;
  KeyDigest digests[kGroup];
  for (size_t begin = 0; begin < keys.digests.size(); begin += kGroup) {
    const size_t size = std::min(kGroup, keys.digests.size() - begin);
    for (size_t i = 0; i < size; ++i) {
      digests[i] = DigestBytes(keys.key(begin + i));
    }
    use(absl::MakeConstSpan(digests, size));
  }
}

template <typename Filter>
uint64_t AskKeyBatches(const Filter& filter, const Keys& keys) {
  uint64_t positives = 0;
  bool answers[64];
  ForHashedGroups(keys, [&](absl::Span<const KeyDigest> digests) {
    filter.MayContain(digests, answers);
    for (size_t i = 0; i < digests.size(); ++i) positives += answers[i];
  });
  return positives;
}

constexpr int64_t kSizes[] = {10'000, 1'000'000, 8'000'000};

void Sizes(benchmark::internal::Benchmark* benchmark) {
  // Of processor time, which others on the machine disturb less.
  benchmark->Unit(benchmark::kMillisecond);
  for (const int64_t size : kSizes) benchmark->Arg(size);
}

template <typename Run>
void Register(const std::string& name, const Run& run) {
  Sizes(benchmark::RegisterBenchmark(name.c_str(), run));
}

template <typename Filter>
void RegisterKeyOperations(const std::string& filter) {
  Register(filter + "/add_key", [](benchmark::State& state) {
    TimeAdds<Filter>(state, [](Filter* into, const Keys& keys) {
      for (size_t i = 0; i < keys.digests.size(); ++i) {
        static_cast<void>(into->Add(DigestBytes(keys.key(i))));
      }
    });
  });
  Register(filter + "/add_key_batch", [](benchmark::State& state) {
    TimeAdds<Filter>(state, [](Filter* into, const Keys& keys) {
      ForHashedGroups(keys, [&](absl::Span<const KeyDigest> digests) {
        static_cast<void>(into->Add(digests));
      });
    });
  });
  for (const bool present : {false, true}) {
    const std::string which = present ? "present_key" : "absent_key";
    Register(filter + "/" + which, [present](benchmark::State& state) {
      TimeLookups<Filter>(state, present, AskKeys<Filter>);
    });
    Register(filter + "/" + which + "_batch",
             [present](benchmark::State& state) {
               TimeLookups<Filter>(state, present, AskKeyBatches<Filter>);
             });
  }
}

template <typename Filter>
void RegisterDigestOperations(const std::string& filter) {
  Register(filter + "/add_digest", [](benchmark::State& state) {
    TimeAdds<Filter>(state, [](Filter* into, const Keys& keys) {
      for (const KeyDigest digest : keys.digests) {
        static_cast<void>(into->Add(digest));
      }
    });
  });
  for (const bool present : {false, true}) {
    Register(filter + (present ? "/present_digest" : "/absent_digest"),
             [present](benchmark::State& state) {
               TimeLookups<Filter>(state, present, AskDigests<Filter>);
             });
  }
}

#ifdef ROWBLOOM_BENCH_LIBBLOOM
// As the filters above, with libbloom's own hash.
class LibBloom {
 public:
  explicit LibBloom(uint64_t count) {
    bloom_init(&bloom_, static_cast<int>(count), kFpr);
    bloom_reset(&bloom_);  // Its memory is there before anything is timed.
  }
  ~LibBloom() { bloom_free(&bloom_); }
  LibBloom(LibBloom&&) = delete;

  void Add(const Keys& keys) {
    for (size_t i = 0; i < keys.digests.size(); ++i) {
      bloom_add(&bloom_, keys.key(i).data(), kKeySize);
    }
  }
  uint64_t Ask(const Keys& keys) {
    uint64_t positives = 0;
    for (size_t i = 0; i < keys.digests.size(); ++i) {
      positives += static_cast<uint64_t>(
          bloom_check(&bloom_, keys.key(i).data(), kKeySize));
    }
    return positives;
  }

 private:
  bloom bloom_;
};

void RegisterLibBloom() {
  Register("libbloom/add_key", [](benchmark::State& state) {
    const uint64_t count = static_cast<uint64_t>(state.range(0));
    const Keys& keys = KeysOf(count, true);
    for (auto _ : state) {
      state.PauseTiming();
      auto filter = std::make_unique<LibBloom>(count);
      state.ResumeTiming();
      filter->Add(keys);
      state.PauseTiming();
      filter.reset();
      state.ResumeTiming();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
  });
  for (const bool present : {false, true}) {
    Register(present ? "libbloom/present_key" : "libbloom/absent_key",
             [present](benchmark::State& state) {
               const uint64_t count = static_cast<uint64_t>(state.range(0));
               LibBloom filter(count);
               filter.Add(KeysOf(count, true));
               const Keys& keys = KeysOf(count, present);
               for (auto _ : state) {
                 benchmark::DoNotOptimize(filter.Ask(keys));
               }
               state.SetItemsProcessed(state.iterations() * state.range(0));
             });
  }
}
#else
void RegisterLibBloom() {}
#endif

// Prints as usual, and keeps the time of a key: of each run, or its median.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      const bool is_median =
          run.run_type == Run::RT_Aggregate && run.aggregate_name == "median";
      const bool is_only = run.run_type == Run::RT_Iteration &&
                           run.repetitions <= 1 && !run.error_occurred;
      if (!is_median && !is_only) continue;
      const auto rate = run.counters.find("items_per_second");
      if (rate == run.counters.end()) continue;
      ns_[run.run_name.function_name + "/" + run.run_name.args] =
          1e9 / rate->second;
    }
  }

  void PrintRatios() const {
    std::printf(
        "\n| operation/keys | libbloom ns | ns | ratio | batch ns | "
        "ratio |\n|---|---|---|---|---|---|\n");
    for (const auto& [name, peer] : ns_) {
      if (name.rfind("libbloom/", 0) != 0) continue;
      const std::string operation = name.substr(std::strlen("libbloom/"));
      const size_t slash = operation.find('/');
      const double single = Of("standard/" + operation);
      const double batch = Of("standard/" + operation.substr(0, slash) +
                              "_batch" + operation.substr(slash));
      std::printf("| %s | %.1f | %.1f | %.2f | %.1f | %.2f |\n",
                  operation.c_str(), peer, single, single / peer, batch,
                  batch / peer);
    }
    std::printf("\n| filter/operation/keys | ns |\n|---|---|\n");
    for (const auto& [name, ns] : ns_) {
      std::printf("| %s | %.1f |\n", name.c_str(), ns);
    }
  }

 private:
  double Of(const std::string& name) const {
    const auto it = ns_.find(name);
    return it == ns_.end() ? 0 : it->second;
  }

  std::map<std::string, double> ns_;
};

struct AddTime {
  double wall_seconds = 0;
  double cpu_seconds = 0;  // Of the thread that took longest.
};

double ThreadCpuSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

// In which `threads` threads add all digests to one filter.
AddTime TimeToAdd(const std::vector<KeyDigest>& digests, size_t threads) {
  auto filter = NewFilter<rowbloom::ConcurrentFilter>(digests.size());
  const size_t share = digests.size() / threads;
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> cpu_seconds(threads);
  std::vector<std::thread> running;
  for (size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      const double cpu_start = ThreadCpuSeconds();
      for (const KeyDigest digest :
           absl::MakeConstSpan(digests).subspan(t * share, share)) {
        filter.Add(digest);
      }
      cpu_seconds[t] = ThreadCpuSeconds() - cpu_start;
    });
  }
  for (std::thread& thread : running) thread.join();
  return {
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count(),
      *std::max_element(cpu_seconds.begin(), cpu_seconds.end())};
}

// One thread and two in turn, and the medians of the ratios of neighbours. On a
// machine with other work the ratio of processor times says more.
void PrintConcurrentAdds() {
  constexpr int kRounds = 15;
  std::printf(
      "\n| keys | ns, 1 thread | times as fast, 2 threads | by "
      "processor time |\n|---|---|---|---|\n");
  for (const uint64_t size : {1'000'000, 8'000'000}) {
    const std::vector<KeyDigest>& digests = KeysOf(size, true).digests;
    std::vector<double> ns;
    std::vector<double> wall;
    std::vector<double> cpu;
    for (int round = 0; round < kRounds; ++round) {
      const AddTime one = TimeToAdd(digests, 1);
      const AddTime two = TimeToAdd(digests, 2);
      ns.push_back(1e9 * one.cpu_seconds / static_cast<double>(size));
      wall.push_back(one.wall_seconds / two.wall_seconds);
      cpu.push_back(one.cpu_seconds / two.cpu_seconds);
    }
    const auto median = [](std::vector<double> values) {
      std::sort(values.begin(), values.end());
      return values[values.size() / 2];
    };
    std::printf("| %llu | %.1f | %.2f | %.2f |\n",
                static_cast<unsigned long long>(size), median(ns), median(wall),
                median(cpu));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  RegisterLibBloom();
  RegisterKeyOperations<rowbloom::StandardFilter>("standard");
  RegisterDigestOperations<rowbloom::StandardFilter>("standard");
  RegisterDigestOperations<rowbloom::ConcurrentFilter>("concurrent");
  RegisterDigestOperations<rowbloom::CountingFilter>("counting");
  RegisterDigestOperations<rowbloom::ScalableFilter>("scalable");
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.PrintRatios();
  PrintConcurrentAdds();
  return 0;
}
