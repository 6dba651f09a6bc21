// SPDX-License-Identifier: Apache-2.0
//
// 100 coroutines on one thread look rows up in 10 SSTs whose filters are not in
// memory. A lookup waits for its read between Ask() and Offer(), and the event
// loop makes one read of all loads of a chunk. The reads of one SST fail: its
// lookups answer "maybe". Exit code 1 if a row is lost or a count is wrong.

#include <coroutine>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_reader.h"

using rowbloom::FilterAnswer;
using rowbloom::FilterLoad;

struct Sst {
  absl::StatusOr<std::string_view> Read(uint64_t offset, uint64_t size) const {
    if (is_broken) return absl::UnavailableError("sst: no answer");
    return std::string_view(bytes).substr(offset, size);
  }

  std::string bytes;  // A filter block and nothing else.
  bool is_broken = false;
  std::unique_ptr<rowbloom::RandomAccessSource> source;
  std::unique_ptr<rowbloom::FilterReader> reader;
};

// Completes reads when all coroutines wait.
class EventLoop {
 public:
  struct Read {
    EventLoop* loop;
    const Sst* sst;
    const FilterLoad load;

    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiter) {
      loop->waiters_[{sst, load.offset, load.size_bytes}].push_back(waiter);
    }
    const absl::StatusOr<std::string_view>& await_resume() const {
      return loop->result_;
    }
  };

  Read ReadOf(const Sst& sst, const FilterLoad& load) {
    return {this, &sst, load};
  }
  void Run() {
    while (!waiters_.empty()) {
      ++reads;
      const auto [sst, offset, size] = waiters_.begin()->first;
      const auto waiters = std::move(waiters_.begin()->second);
      waiters_.erase(waiters_.begin());
      result_ = sst->Read(offset, size);
      for (const std::coroutine_handle<> waiter : waiters) waiter.resume();
    }
  }

  int reads = 0;

 private:
  // By SST, offset and size: one read serves all coroutines that wait for it.
  std::map<std::tuple<const Sst*, uint64_t, uint64_t>,
           std::vector<std::coroutine_handle<>>>
      waiters_;
  absl::StatusOr<std::string_view> result_;
};

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Task Lookup(EventLoop* loop, const Sst* sst, std::string row, bool* answer) {
  const auto key = rowbloom::FilterKey::Row(row);
  FilterLoad load;
  FilterAnswer found = sst->reader->Ask(key, &load);
  if (found == FilterAnswer::kNotInMemory) {
    const auto bytes = co_await loop->ReadOf(*sst, load);
    found = sst->reader->Offer(load, bytes, key);
  }
  *answer = found == FilterAnswer::kMaybe;
}

int main() {
  constexpr int kSsts = 10;
  const auto cache = rowbloom::NewShardedLruCache({64 << 20});
  rowbloom::FilterReaderOptions options;
  options.cache = cache.get();
  std::vector<Sst> ssts(kSsts);
  for (int i = 0; i < kSsts; ++i) {  // It holds rows i, i + 10, i + 20...
    const auto sink = rowbloom::NewStringSink(&ssts[i].bytes);
    rowbloom::FilterBlockWriter writer({}, sink.get());
    for (int r = 10000 + i; r < 30000; r += kSsts) {
      writer.Add(std::to_string(r), "");
    }
    if (!writer.Finish().ok()) return 1;
    ssts[i].source = rowbloom::NewMemorySource(ssts[i].bytes);
    auto reader =
        rowbloom::FilterReader::Open(ssts[i].source.get(), {}, options);
    if (!reader.ok()) return 1;
    ssts[i].reader = *std::move(reader);
  }

  ssts[7].is_broken = true;

  EventLoop loop;
  bool answers[10 * kSsts] = {};
  for (int i = 0; i < 10 * kSsts; ++i) {  // Row 20000 + i / 10, in each SST.
    Lookup(&loop, &ssts[i % kSsts], std::to_string(20000 + i / 10),
           &answers[i]);
  }
  loop.Run();
  int lost = 0, maybe = 0;
  for (int i = 0; i < 10 * kSsts; ++i) {
    maybe += answers[i];
    lost += i / 10 == i % kSsts && !answers[i];
  }
  uint64_t loads = 0, errors = 0;
  for (const Sst& sst : ssts) {
    loads += sst.reader->stats()[rowbloom::FilterCounter::kChunkLoads];
    errors += sst.reader->stats()[rowbloom::FilterCounter::kLoadErrors];
  }
  std::printf(
      "100 lookups, %d reads, %d chunks loaded, %d errors told, %d maybe, %d "
      "rows lost\n",
      loop.reads, static_cast<int>(loads), static_cast<int>(errors), maybe,
      lost);
  return lost == 0 && loop.reads == kSsts && loads == kSsts - 1 &&
                 errors == kSsts && maybe < 40
             ? 0
             : 1;
}
