// SPDX-License-Identifier: Apache-2.0
//
// Compares the ways in which a lookup can keep a cached chunk from being freed
// while it reads the chunk. At the end, prints a table of medians.
//
//   epoch_bench --benchmark_repetitions=21
//       --benchmark_enable_random_interleaving=true
//
// Names: protection/chunks/order. All threads look up the same chunks; there is
// 1 thread, then up to as many as the machine has cores. An iteration is a
// round of 2048 lookups that all threads begin together. ns_per_lookup is the
// time of one lookup of one thread. Rounds that other programs disturb do not
// count; where too few are left, there is no result.
//
// The protections "urcu" and "urcu_call" need liburcu's memb flavour at build
// time (Debian's liburcu-dev) and are left out without it. Further flags are
// Google Benchmark's.

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "rowbloom/filter_cache.h"
#include "src/threads/epoch.h"
#ifdef ROWBLOOM_BENCH_URCU
#include "urcu/urcu-memb.h"
// The same functions inline, with a leading underscore.
#include "urcu/static/urcu-memb.h"
#endif

namespace {

using rowbloom::FilterCache;

// A lookup reads the four bytes of one line.
struct alignas(64) Line {
  uint32_t next = 0;  // The position that a dependent lookup reads after this.
};

// A reader keeps one for each chunk; it outlives the chunk.
struct alignas(64) Slot {
  std::atomic<const Line*> chunk{nullptr};
  std::atomic<bool> used{false};
  std::atomic<uint32_t> current_pins{0};  // The index of the count to pin with.
  std::array<std::atomic<uint32_t>, 2> pins{};
};

struct CachedChunk final : FilterCache::Value {
  explicit CachedChunk(const Line* first) : lines(first) {}
  const Line* const lines;
};

// Chunks of 2^line_bits lines each. A position is the number of a line, counted
// through all chunks.
class Chunks {
 public:
  Chunks(uint32_t chunk_count, int line_bits)
      : line_bits_(line_bits),
        lines_(size_t{chunk_count} << line_bits),
        slots_(chunk_count),
        cache_(rowbloom::NewShardedLruCache({size_t{1} << 30})) {
    for (uint32_t i = 0; i < chunk_count; ++i) {
      const Line* const chunk = &lines_[size_t{i} << line_bits];
      slots_[i].chunk.store(chunk);
      std::unique_ptr<FilterCache::Value> value =
          std::make_unique<CachedChunk>(chunk);
      FilterCache::EntryOptions options;
      options.charge_bytes = 1;
      cache_->Release(cache_->Insert({1, i}, &value, options));
    }
    std::vector<uint32_t> cycle(lines_.size());
    std::iota(cycle.begin(), cycle.end(), 0);
    std::mt19937 random(1);
    std::shuffle(cycle.begin(), cycle.end(), random);
    for (size_t i = 0; i < cycle.size(); ++i) {
      lines_[cycle[i]].next = cycle[(i + 1) % cycle.size()];
    }
    positions_.resize(std::max<size_t>(cycle.size(), 1 << 14));
    for (size_t i = 0; i < positions_.size(); ++i) {
      positions_[i] = cycle[i % cycle.size()];
    }
  }

  uint32_t ChunkAt(uint32_t position) const { return position >> line_bits_; }
  uint32_t LineAt(uint32_t position) const {
    return position & ((uint32_t{1} << line_bits_) - 1);
  }
  Slot& slot(uint32_t chunk) { return slots_[chunk]; }
  FilterCache& cache() { return *cache_; }
  // Random ones; their number is a power of two.
  const std::vector<uint32_t>& positions() const { return positions_; }

 private:
  const int line_bits_;
  std::vector<Line> lines_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> positions_;
  const std::unique_ptr<FilterCache> cache_;
};

// Tells the cache that the chunk is in use, so that it is not evicted next.
void MarkUsed(Slot* slot) {
  // Read first: the line stays shared among the threads that look.
  if (!slot->used.load(std::memory_order_relaxed)) {
    slot->used.store(true, std::memory_order_relaxed);
  }
}

// A protection has Read(), which reads one line of a chunk. An object of it
// belongs to one thread.

// Protects nothing: the lower bound.
struct Pointer {
  static uint32_t Read(Slot* slot, FilterCache*, uint32_t, uint32_t line) {
    return slot->chunk.load(std::memory_order_relaxed)[line].next;
  }
};

// What FilterReader does.
struct Epoch {
  static uint32_t Read(Slot* slot, FilterCache*, uint32_t, uint32_t line) {
    const rowbloom::threads::EpochGuard guard;
    const Line* const chunk = slot->chunk.load(std::memory_order_seq_cst);
    MarkUsed(slot);
    return chunk[line].next;
  }
};

// Who frees exchanges `chunk` and waits until the count is zero. A slot that
// always has a reader never gets there.
struct Pin {
  static uint32_t Read(Slot* slot, FilterCache*, uint32_t, uint32_t line) {
    return ReadPinned(slot, &slot->pins[0], line);
  }
  static uint32_t ReadPinned(Slot* slot, std::atomic<uint32_t>* pins,
                             uint32_t line) {
    pins->fetch_add(1, std::memory_order_seq_cst);
    const Line* const chunk = slot->chunk.load(std::memory_order_seq_cst);
    MarkUsed(slot);
    const uint32_t next = chunk[line].next;
    pins->fetch_sub(1, std::memory_order_release);
    return next;
  }
};

// Who frees also switches `current_pins`, so that the count which readers have
// left drains.
struct TwoPins {
  static uint32_t Read(Slot* slot, FilterCache*, uint32_t, uint32_t line) {
    const uint32_t current = slot->current_pins.load(std::memory_order_seq_cst);
    return Pin::ReadPinned(slot, &slot->pins[current], line);
  }
};

#ifdef ROWBLOOM_BENCH_URCU
struct UrcuThread {
  UrcuThread() { urcu_memb_register_thread(); }
  ~UrcuThread() { urcu_memb_unregister_thread(); }
  UrcuThread(const UrcuThread&) = delete;
  UrcuThread& operator=(const UrcuThread&) = delete;
};

// liburcu's functions, inlined.
struct Urcu : UrcuThread {
  static uint32_t Read(Slot* slot, FilterCache*, uint32_t, uint32_t line) {
    _urcu_memb_read_lock();
    // rcu_dereference() takes no std::atomic; this orders more than it does.
    const Line* const chunk = slot->chunk.load(std::memory_order_acquire);
    MarkUsed(slot);
    const uint32_t next = chunk[line].next;
    _urcu_memb_read_unlock();
    return next;
  }
};

// The same as calls into the shared library.
struct UrcuCall : UrcuThread {
  static uint32_t Read(Slot* slot, FilterCache*, uint32_t, uint32_t line) {
    urcu_memb_read_lock();
    const Line* const chunk = slot->chunk.load(std::memory_order_acquire);
    MarkUsed(slot);
    const uint32_t next = chunk[line].next;
    urcu_memb_read_unlock();
    return next;
  }
};
#endif

// Finds the chunk in the cache's table and holds it by a handle.
struct CacheHandle {
  static uint32_t Read(Slot*, FilterCache* cache, uint32_t chunk,
                       uint32_t line) {
    FilterCache::Handle* const handle = cache->Lookup({1, chunk});
    const uint32_t next =
        static_cast<const CachedChunk*>(cache->ValueOf(handle))
            ->lines[line]
            .next;
    cache->Release(handle);
    return next;
  }
};

using Clock = std::chrono::steady_clock;

constexpr int64_t kRounds = 200;
constexpr size_t kMinGoodRounds = 20;
constexpr size_t kLookupsPerRound = 2048;

std::chrono::nanoseconds ThreadCpuTime() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

// Keeps a thread on a core of its own while there are several, or the system
// may let all of them share one.
class OwnCore {
 public:
  explicit OwnCore(int thread) {
    pthread_getaffinity_np(pthread_self(), sizeof(before_), &before_);
    int cores_to_skip = thread % CPU_COUNT(&before_);
    cpu_set_t own;
    CPU_ZERO(&own);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &before_) && cores_to_skip-- == 0) CPU_SET(cpu, &own);
    }
    pthread_setaffinity_np(pthread_self(), sizeof(own), &own);
  }
  ~OwnCore() {
    pthread_setaffinity_np(pthread_self(), sizeof(before_), &before_);
  }
  OwnCore(const OwnCore&) = delete;
  OwnCore& operator=(const OwnCore&) = delete;

 private:
  cpu_set_t before_;
};

// When each thread ran each of its rounds. All threads begin a round together.
struct Rounds {
  struct Round {
    Clock::time_point begin;
    Clock::time_point end;
    std::chrono::nanoseconds cpu{0};
  };

  void WaitForAllThreads() {
    const uint64_t all = threads.size();
    const uint64_t wanted = (arrived.fetch_add(1) / all + 1) * all;
    while (arrived.load() < wanted) {
    }
  }

  // The median over the good rounds, in which all threads ran at the same time
  // and none had to give its core to another program; 0 if these are too few.
  double NsPerLookup(size_t thread) const {
    std::vector<double> ns;
    for (size_t i = 0; i < threads[0].size(); ++i) {
      Round shared = threads[0][i];
      Round whole = shared;
      bool is_good = true;
      for (const std::vector<Round>& rounds : threads) {
        shared.begin = std::max(shared.begin, rounds[i].begin);
        shared.end = std::min(shared.end, rounds[i].end);
        whole.begin = std::min(whole.begin, rounds[i].begin);
        whole.end = std::max(whole.end, rounds[i].end);
        is_good &= rounds[i].cpu > (rounds[i].end - rounds[i].begin) * 3 / 4;
      }
      is_good &= shared.end - shared.begin > (whole.end - whole.begin) * 3 / 4;
      if (!is_good) continue;
      const std::chrono::duration<double, std::nano> time =
          threads[thread][i].end - threads[thread][i].begin;
      ns.push_back(time.count() / kLookupsPerRound);
    }
    if (ns.size() < kMinGoodRounds) return 0;
    const auto median = ns.begin() + static_cast<ptrdiff_t>(ns.size() / 2);
    std::nth_element(ns.begin(), median, ns.end());
    return *median;
  }

  std::vector<std::vector<Round>> threads;
  alignas(64) std::atomic<uint64_t> arrived{0};
};

// Looks up positions that are known in advance, so that the processor can
// overlap the lookups, or each at the position that the one before it read.
template <typename Protection, bool kDependent>
void TimeLookups(benchmark::State& state, Chunks* chunks) {
  static auto* const rounds = new Rounds;
  const auto thread = static_cast<size_t>(state.thread_index());
  const auto thread_count = static_cast<size_t>(state.threads());
  if (thread == 0) {  // The others wait at the loop below.
    rounds->threads.assign(thread_count, {});
    rounds->arrived = 0;
  }
  std::vector<Rounds::Round> own;
  own.reserve(kRounds);
  const OwnCore own_core(state.thread_index());
  const Protection protection;
  const std::vector<uint32_t>& positions = chunks->positions();
  const size_t mask = positions.size() - 1;
  size_t i = positions.size() / thread_count * thread;
  uint32_t position = positions[i];
  uint32_t sum = 0;
  for (auto _ : state) {
    rounds->WaitForAllThreads();
    Rounds::Round round;
    const auto cpu_begin = ThreadCpuTime();
    round.begin = Clock::now();
    for (size_t n = 0; n < kLookupsPerRound; ++n) {
      const uint32_t chunk = chunks->ChunkAt(position);
      const uint32_t next =
          protection.Read(&chunks->slot(chunk), &chunks->cache(), chunk,
                          chunks->LineAt(position));
      sum += next;
      position = kDependent ? next : positions[++i & mask];
    }
    benchmark::DoNotOptimize(sum);
    round.end = Clock::now();
    round.cpu = ThreadCpuTime() - cpu_begin;
    own.push_back(round);
  }
  rounds->threads[thread] = std::move(own);
  rounds->WaitForAllThreads();
  const double ns = rounds->NsPerLookup(thread);
  rounds->WaitForAllThreads();
  if (ns == 0) {
    state.SkipWithError("other programs disturb it");
    return;
  }
  state.counters["ns_per_lookup"] =
      benchmark::Counter(ns, benchmark::Counter::kAvgThreads);
}

struct Case {
  const char* name;
  uint32_t chunk_count;
  int line_bits;
};
constexpr Case kCases[] = {
    {"random", 1024, 0},   // 64 KiB of chunks and as much of slots.
    {"memory", 1024, 10},  // 64 MiB, so that most reads miss the caches.
    {"hot", 1, 0},
};
constexpr const char* kOrders[] = {"independent", "dependent"};

template <typename Protection>
void Register(const std::string& name,
              const std::vector<std::unique_ptr<Chunks>>& all_chunks) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  for (size_t i = 0; i < all_chunks.size(); ++i) {
    Chunks* const chunks = all_chunks[i].get();
    const auto add = [&](const char* order,
                         void (*run)(benchmark::State&, Chunks*)) {
      benchmark::RegisterBenchmark(
          (name + "/" + kCases[i].name + "/" + order).c_str(),
          [run, chunks](benchmark::State& state) { run(state, chunks); })
          ->Iterations(kRounds)
          ->ThreadRange(1, std::max(2, cores));
    };
    add(kOrders[0], TimeLookups<Protection, false>);
    add(kOrders[1], TimeLookups<Protection, true>);
  }
}

// Prints the medians, or what was measured once, in a table.
class TableReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      const bool is_median =
          run.run_type == Run::RT_Aggregate && run.aggregate_name == "median";
      const bool is_only =
          run.run_type == Run::RT_Iteration && run.repetitions <= 1;
      const auto ns = run.counters.find("ns_per_lookup");
      if ((!is_median && !is_only) || ns == run.counters.end()) continue;
      const std::string& name = run.run_name.function_name;
      const std::string protection = name.substr(0, name.find('/'));
      ns_[protection][{name.substr(protection.size() + 1), run.threads}] =
          ns->second;
      most_threads_ = std::max<int64_t>(most_threads_, run.threads);
    }
  }

  void PrintTable() const {
    std::printf("\n| threads | protection |");
    for (const Case& c : kCases) {
      for (const char* order : kOrders) std::printf(" %s, %s |", c.name, order);
    }
    std::printf("\n|---|---|---|---|---|---|---|---|\n");
    for (int64_t threads = 1; threads <= most_threads_; ++threads) {
      for (const auto& [protection, row] : ns_) {
        PrintRow(threads, protection, row);
      }
    }
  }

 private:
  // By case and order, and threads.
  using Medians = std::map<std::pair<std::string, int64_t>, double>;

  static void PrintRow(int64_t threads, const std::string& protection,
                       const Medians& row) {
    std::string cells;
    bool is_empty = true;
    for (const Case& c : kCases) {
      for (const char* order : kOrders) {
        const auto ns = row.find({std::string(c.name) + "/" + order, threads});
        char cell[32] = " - |";
        if (ns != row.end()) {
          std::snprintf(cell, sizeof(cell), " %.1f |", ns->second);
          is_empty = false;
        }
        cells += cell;
      }
    }
    if (is_empty) return;
    std::printf("| %lld | %s |%s\n", static_cast<long long>(threads),
                protection.c_str(), cells.c_str());
  }

  std::map<std::string, Medians> ns_;
  int64_t most_threads_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  std::vector<std::unique_ptr<Chunks>> chunks;
  for (const Case& c : kCases) {
    chunks.push_back(std::make_unique<Chunks>(c.chunk_count, c.line_bits));
  }
  Register<Pointer>("pointer", chunks);
  Register<Epoch>("epoch", chunks);
  Register<Pin>("pin", chunks);
  Register<TwoPins>("two_pins", chunks);
#ifdef ROWBLOOM_BENCH_URCU
  Register<Urcu>("urcu", chunks);
  Register<UrcuCall>("urcu_call", chunks);
#else
  std::printf(
      "This program was built without liburcu (Debian's liburcu-dev): urcu and "
      "urcu_call are left out.\n");
#endif
  Register<CacheHandle>("cache_handle", chunks);
  TableReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.PrintTable();
  return 0;
}
