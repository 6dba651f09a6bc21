// SPDX-License-Identifier: Apache-2.0
//
// Times filters in memory: keys added and looked up, one by one and in batches,
// beside libbloom (Debian's libbloom-dev) if the build found it.
//
//   memfilter_bench --benchmark_filter=key --benchmark_repetitions=5
//
// Names: FILTER/OPERATION/KEYS. Keys are 16 bytes and all filters are made for
// a rate of 1%. "key" operations hash the key, "digest" operations are given
// its digest. In concurrent/add_together, one thread or two add all keys to one
// filter. A present key that is not found makes the program exit with 1.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "bench/micro.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/concurrent.h"
#include "rowbloom/memfilter/counting.h"
#include "rowbloom/memfilter/mem_filter.h"
#include "rowbloom/memfilter/scalable.h"
#include "rowbloom/memfilter/standard.h"
#ifdef ROWBLOOM_BENCH_LIBBLOOM
#include "bloom.h"
#endif

namespace rowbloom::bench {
namespace {

constexpr double kFpr = 0.01;
constexpr size_t kKeySize = 16;
constexpr size_t kBatch = 64;

// One key after another, and their digests.
struct Keys {
  Keys(uint64_t first, uint64_t count) {
    char key[kKeySize + 1];
    for (uint64_t i = first; i < first + count; ++i) {
      std::snprintf(key, sizeof(key), "key%013llu",
                    static_cast<unsigned long long>(i * 7919));
      bytes.append(key, kKeySize);
      digests.push_back(DigestBytes({key, kKeySize}));
    }
  }
  size_t size() const { return digests.size(); }
  std::string_view key(size_t i) const {
    return std::string_view(bytes).substr(i * kKeySize, kKeySize);
  }
  std::string bytes;
  std::vector<KeyDigest> digests;
};

// Returns the keys in the filters of this size, or as many others.
const Keys& KeysOf(uint64_t count, bool present) {
  static auto* const all = new std::map<std::pair<uint64_t, bool>, Keys>;
  return all
      ->try_emplace({count, present}, present ? 0 : uint64_t{1} << 32, count)
      .first->second;
}

#ifdef ROWBLOOM_BENCH_LIBBLOOM
struct LibBloom {
  explicit LibBloom(uint64_t count) {
    bloom_init(&bloom, static_cast<int>(count), kFpr);
    bloom_reset(&bloom);  // Its memory is there before anything is timed.
  }
  ~LibBloom() { bloom_free(&bloom); }
  LibBloom(LibBloom&&) = delete;
  int Add(std::string_view key) {
    return bloom_add(&bloom, key.data(), kKeySize);
  }
  bool MayContain(std::string_view key) {
    return bloom_check(&bloom, key.data(), kKeySize) == 1;
  }
  ::bloom bloom;
};
#endif

template <typename Filter>
std::unique_ptr<Filter> NewFilter(uint64_t count) {
  const BloomShape shape = OrThrow(ShapeFor(count, kFpr));
  if constexpr (std::is_same_v<Filter, CountingFilter>) {
    CountingOptions options;
    options.shape = shape;
    return std::make_unique<Filter>(OrThrow(Filter::New(options)));
  } else if constexpr (std::is_same_v<Filter, ScalableFilter>) {
    ScalableOptions options;
    options.target_fpr = kFpr;
    options.capacity = std::max<uint64_t>(1, count / 16);
    return std::make_unique<Filter>(OrThrow(Filter::New(options)));
  } else if constexpr (std::is_constructible_v<Filter, uint64_t>) {
    return std::make_unique<Filter>(count);
  } else {
    return std::make_unique<Filter>(OrThrow(Filter::New(shape)));
  }
}

// Calls use(digests) for the keys in batches, hashed there.
template <typename Use>
void ForHashedBatches(const Keys& keys, const Use& use) {
  KeyDigest digests[kBatch];
  for (size_t begin = 0; begin < keys.size(); begin += kBatch) {
    const size_t size = std::min(kBatch, keys.size() - begin);
    for (size_t i = 0; i < size; ++i) {
      digests[i] = DigestBytes(keys.key(begin + i));
    }
    use(absl::MakeConstSpan(digests, size));
  }
}

// Each way has a name, adds all keys, and counts the answers "maybe".

// One by one, as what Way::At() returns.
template <typename Way>
struct OneByOne {
  template <typename Filter>
  static void Add(Filter* filter, const Keys& keys) {
    for (size_t i = 0; i < keys.size(); ++i) {
      static_cast<void>(filter->Add(Way::At(keys, i)));
    }
  }
  template <typename Filter>
  static uint64_t Ask(Filter* filter, const Keys& keys) {
    uint64_t maybes = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      maybes += filter->MayContain(Way::At(keys, i));
    }
    return maybes;
  }
};

struct ByDigest : OneByOne<ByDigest> {
  static constexpr const char* kName = "digest";
  static KeyDigest At(const Keys& keys, size_t i) { return keys.digests[i]; }
};

struct ByKey : OneByOne<ByKey> {
  static constexpr const char* kName = "key";
  static KeyDigest At(const Keys& keys, size_t i) {
    return DigestBytes(keys.key(i));
  }
};

struct ByKeyOfItsHash : OneByOne<ByKeyOfItsHash> {
  static constexpr const char* kName = "key";  // The filter hashes it.
  static std::string_view At(const Keys& keys, size_t i) { return keys.key(i); }
};

struct ByKeyBatch {
  static constexpr const char* kName = "key_batch";
  template <typename Filter>
  static void Add(Filter* filter, const Keys& keys) {
    ForHashedBatches(keys, [&](absl::Span<const KeyDigest> digests) {
      static_cast<void>(filter->Add(digests));
    });
  }
  template <typename Filter>
  static uint64_t Ask(Filter* filter, const Keys& keys) {
    uint64_t maybes = 0;
    bool answers[kBatch];
    ForHashedBatches(keys, [&](absl::Span<const KeyDigest> digests) {
      filter->MayContain(digests, answers);
      for (size_t i = 0; i < digests.size(); ++i) maybes += answers[i];
    });
    return maybes;
  }
};

// An iteration adds all keys to a fresh filter.
template <typename Filter, typename Way>
void TimeAdds(benchmark::State& state) {
  const auto count = static_cast<uint64_t>(state.range(0));
  const Keys& keys = KeysOf(count, true);
  for (auto _ : state) {
    state.PauseTiming();
    auto filter = NewFilter<Filter>(count);
    state.ResumeTiming();
    Way::Add(filter.get(), keys);
    state.PauseTiming();
    filter.reset();
    state.ResumeTiming();
  }
  state.counters["time_per_key"] = TimeOfEach(count);
}

// An iteration asks for all keys that are there, or for as many others.
template <typename Filter, typename Way>
void TimeLookups(benchmark::State& state, bool present) {
  const auto count = static_cast<uint64_t>(state.range(0));
  const auto filter = NewFilter<Filter>(count);
  Way::Add(filter.get(), KeysOf(count, true));
  const Keys& keys = KeysOf(count, present);
  uint64_t maybes = count;
  for (auto _ : state) maybes = Way::Ask(filter.get(), keys);
  if (present) CountWrongAnswers(count - maybes);
  state.counters["time_per_key"] = TimeOfEach(count);
}

// Each thread adds its share. There is one iteration, because only the
// beginning of the loop waits for the thread that makes the filter.
void TimeAddsTogether(benchmark::State& state) {
  static std::unique_ptr<ConcurrentFilter> filter;
  const auto count = static_cast<uint64_t>(state.range(0));
  if (state.thread_index() == 0) {
    filter = NewFilter<ConcurrentFilter>(count);
    KeysOf(count, true);
  }
  const size_t share = count / static_cast<size_t>(state.threads());
  for (auto _ : state) {
    for (const KeyDigest digest :
         absl::MakeConstSpan(KeysOf(count, true).digests)
             .subspan(static_cast<size_t>(state.thread_index()) * share,
                      share)) {
      filter->Add(digest);
    }
  }
  state.counters["time_per_key"] = TimeOfEach(share);
}

template <typename Run>
benchmark::internal::Benchmark* Add(const std::string& name,
                                    const std::vector<int64_t>& sizes,
                                    const Run& run) {
  auto* const added = benchmark::RegisterBenchmark(name.c_str(), run);
  for (const int64_t size : sizes) added->Arg(size);
  return added->Unit(benchmark::kMillisecond);
}

template <typename Filter, typename Way>
void AddOperations(const std::string& filter,
                   const std::vector<int64_t>& sizes) {
  const std::string way = Way::kName;
  Add(filter + "/add_" + way, sizes, TimeAdds<Filter, Way>);
  for (const bool present : {false, true}) {
    Add(filter + (present ? "/present_" : "/absent_") + way, sizes,
        [present](benchmark::State& state) {
          TimeLookups<Filter, Way>(state, present);
        });
  }
}

int Main(int argc, char** argv) {
  std::vector<int64_t> sizes = {10'000, 1'000'000, 8'000'000};
  CLI::App app(
      "The time to add a key to a filter in memory, and to ask for it.");
  app.add_option("--keys", sizes, "Of a filter, or a list: 10000,1000000")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{100}, int64_t{1000000000}))
      ->capture_default_str();
  return RunMicro("memfilter_bench", &app, argc, argv, [&] {
#ifdef ROWBLOOM_BENCH_LIBBLOOM
    AddOperations<LibBloom, ByKeyOfItsHash>("libbloom", sizes);
#endif
    AddOperations<StandardFilter, ByKey>("standard", sizes);
    AddOperations<StandardFilter, ByKeyBatch>("standard", sizes);
    AddOperations<StandardFilter, ByDigest>("standard", sizes);
    AddOperations<ConcurrentFilter, ByDigest>("concurrent", sizes);
    AddOperations<CountingFilter, ByDigest>("counting", sizes);
    AddOperations<ScalableFilter, ByDigest>("scalable", sizes);
    Add("concurrent/add_together", sizes, TimeAddsTogether)
        ->ThreadRange(1, 2)
        ->Iterations(1)
        ->UseRealTime();
  });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
