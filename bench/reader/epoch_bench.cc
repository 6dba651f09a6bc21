// SPDX-License-Identifier: Apache-2.0
//
// Compares ways to keep a cached chunk from being freed while a lookup reads
// it.
//
// Names: PROTECTION/CHUNKS/ORDER/threads:N. Times are processor times of a
// lookup of one thread; all threads look up the same chunks. They show what two
// threads cost each other only if other programs let both run at once.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/micro.h"
#include "src/util/epoch.h"
#ifdef ROWBLOOM_BENCH_URCU
#include "urcu/urcu-memb.h"
// It has the same functions inline, with a leading underscore.
#include "urcu/static/urcu-memb.h"
#endif

namespace rowbloom::bench {
namespace {

constexpr size_t kLookups = 1 << 14;  // In an iteration.
struct alignas(64) Line {
  uint32_t next = 0;  // The position that a dependent lookup reads after this.
};
struct alignas(64) Slot {
  std::atomic<const Line*> chunk{nullptr};
  std::atomic<uint32_t> pins{0};
};

// Chunks of 2^line_bits lines each. A position is the number of a line, counted
// through all chunks.
struct Chunks {
  Chunks(size_t count, int bits)
      : line_bits(bits),
        lines(count << bits),
        slots(count),
        positions(std::max(lines.size(), kLookups)) {
    for (size_t i = 0; i < count; ++i) slots[i].chunk = &lines[i << bits];
    std::vector<uint32_t> cycle(lines.size());
    std::iota(cycle.begin(), cycle.end(), 0);
    std::shuffle(cycle.begin(), cycle.end(), std::mt19937(1));
    for (size_t i = 0; i < positions.size(); ++i) {
      positions[i] = cycle[i % cycle.size()];
      lines[positions[i]].next = cycle[(i + 1) % cycle.size()];
    }
  }
  const int line_bits;
  std::vector<Line> lines;
  std::vector<Slot> slots;
  std::vector<uint32_t> positions;  // 2^n random ones.
};

// Protects nothing.
uint32_t ReadPlainly(Slot* slot, uint32_t line) {
  return slot->chunk.load(std::memory_order_relaxed)[line].next;
}

uint32_t ReadUnderEpoch(Slot* slot, uint32_t line) {
  const util::EpochGuard guard;
  return slot->chunk.load(std::memory_order_seq_cst)[line].next;
}

// The thread that frees exchanges `chunk` and waits until the count is zero.
uint32_t ReadPinned(Slot* slot, uint32_t line) {
  slot->pins.fetch_add(1, std::memory_order_seq_cst);
  const uint32_t next = slot->chunk.load(std::memory_order_seq_cst)[line].next;
  slot->pins.fetch_sub(1, std::memory_order_release);
  return next;
}

#ifdef ROWBLOOM_BENCH_URCU
struct UrcuThread {
  UrcuThread() { urcu_memb_register_thread(); }
  ~UrcuThread() { urcu_memb_unregister_thread(); }
};
uint32_t ReadUnderUrcu(Slot* slot, uint32_t line) {
  thread_local const UrcuThread thread;
  _urcu_memb_read_lock();
  const uint32_t next = slot->chunk.load(std::memory_order_acquire)[line].next;
  _urcu_memb_read_unlock();
  return next;
}
#endif

// Looks up positions that are known in advance, so that the processor can
// overlap the lookups, or each at the position that the one before it read.
template <uint32_t (*kRead)(Slot*, uint32_t), bool kDependent>
void TimeLookups(benchmark::State& state, Chunks* chunks) {
  const auto& positions = chunks->positions;
  const uint32_t line_mask = (1u << chunks->line_bits) - 1;
  size_t i = static_cast<size_t>(state.thread_index()) * kLookups / 2;
  uint32_t position = positions[i];
  for (auto _ : state) {
    for (size_t n = 0; n < kLookups; ++n) {
      const uint32_t next = kRead(&chunks->slots[position >> chunks->line_bits],
                                  position & line_mask);
      position = kDependent ? next : positions[++i & (positions.size() - 1)];
      benchmark::DoNotOptimize(next);
    }
  }
  state.counters["time_per_lookup"] = TimeOfEach(kLookups);
}

using Cases = std::vector<std::pair<std::string, Chunks*>>;

template <uint32_t (*kRead)(Slot*, uint32_t)>
void Add(const std::string& protection, const Cases& cases) {
  for (const auto& [name, chunks] : cases) {
    const std::string all = protection + "/" + name;
    benchmark::RegisterBenchmark((all + "/independent").c_str(),
                                 TimeLookups<kRead, false>, chunks)
        ->ThreadRange(1, 2);
    benchmark::RegisterBenchmark((all + "/dependent").c_str(),
                                 TimeLookups<kRead, true>, chunks)
        ->ThreadRange(1, 2);
  }
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) {
  using namespace rowbloom::bench;
  CLI::App app("Ways in which a lookup keeps a cached chunk from being freed.");
  Chunks random(1024, 0);   // 64 KiB of chunks and as much of slots.
  Chunks memory(1024, 10);  // 64 MiB: most reads miss the caches.
  Chunks hot(1, 0);
  const Cases cases = {{"random", &random}, {"memory", &memory}, {"hot", &hot}};
  return RunMicro("epoch_bench", &app, argc, argv, [&] {
    Add<ReadPlainly>("pointer", cases);
    Add<ReadUnderEpoch>("epoch", cases);
    Add<ReadPinned>("pin", cases);
#ifdef ROWBLOOM_BENCH_URCU
    Add<ReadUnderUrcu>("urcu", cases);
#endif
  });
}
