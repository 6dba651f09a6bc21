// SPDX-License-Identifier: Apache-2.0
//
// 10 gets on one thread, each a coroutine, look their row up in 20 SSTs whose
// filters are not in memory. A get waits for all of its reads at once, and gets
// that want the same chunk share one: FilterLoads knows who waits for what. The
// reads of one SST fail: its lookups answer "maybe". Exit code 1 if a row is
// lost or a count is wrong.

#include <coroutine>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_loads.h"
#include "rowbloom/filter_reader.h"

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
  // Awaits the answers to questions.
  struct Answers {
    EventLoop* loop;
    const std::vector<rowbloom::FilterQuestion>& questions;
    bool* may_contain;

    bool await_ready() const { return false; }
    bool await_suspend(std::coroutine_handle<> waiter) {
      return !loop->loads_.Ask(questions, may_contain, waiter, &loop->reads_);
    }
    void await_resume() const {}
  };

  void Run(const std::vector<Sst>& ssts) {
    while (!reads_.empty()) {
      ++groups;
      for (const rowbloom::FilterRead& read : std::exchange(reads_, {})) {
        ++reads;  // An engine on io_uring submits all of the group at once.
        for (const Sst& sst : ssts) {
          if (sst.reader.get() != read.reader) continue;
          loads_.Offer(read, sst.Read(read.offset, read.size_bytes));
        }
      }
    }
  }

  int reads = 0;
  int groups = 0;

 private:
  rowbloom::FilterLoads loads_;
  std::vector<rowbloom::FilterRead> reads_;
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

Task Get(EventLoop* loop, const std::vector<Sst>* ssts, std::string row,
         bool* may_contain) {
  const auto key = rowbloom::FilterKey::Row(row);
  std::vector<rowbloom::FilterQuestion> questions;
  for (const Sst& sst : *ssts) questions.push_back({sst.reader.get(), &key});
  co_await EventLoop::Answers{loop, questions, may_contain};
}

int main() {
  constexpr int kSsts = 20;
  constexpr int kGets = 10;
  const auto cache = rowbloom::NewShardedLruCache({64 << 20});
  rowbloom::FilterReaderOptions options;
  options.cache = cache.get();
  std::vector<Sst> ssts(kSsts);
  for (int i = 0; i < kSsts; ++i) {  // It holds rows i, i + 20, i + 40...
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
  bool may_contain[kGets][kSsts] = {};
  for (int get = 0; get < kGets; ++get) {
    Get(&loop, &ssts, std::to_string(20000 + get), may_contain[get]);
  }
  loop.Run(ssts);
  int lost = 0, maybe = 0;
  for (int get = 0; get < kGets; ++get) {
    for (const bool answer : may_contain[get]) maybe += answer;
    lost += !may_contain[get][get % kSsts];
  }
  uint64_t loads = 0, errors = 0;
  for (const Sst& sst : ssts) {
    loads += sst.reader->stats()[rowbloom::FilterCounter::kChunkLoads];
    errors += sst.reader->stats()[rowbloom::FilterCounter::kLoadErrors];
  }
  std::printf(
      "10 gets in 20 SSTs, %d reads in %d group, %d chunks loaded, %d failed, "
      "%d maybe, %d rows lost\n",
      loop.reads, loop.groups, static_cast<int>(loads),
      static_cast<int>(errors), maybe, lost);
  return lost == 0 && loop.reads == kSsts && loop.groups == 1 &&
                 loads == kSsts - 1 && errors == 1 && maybe < 2 * kGets + 10
             ? 0
             : 1;
}
