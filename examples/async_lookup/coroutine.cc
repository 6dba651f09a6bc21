// SPDX-License-Identifier: Apache-2.0
//
// 100 coroutines on one thread look rows up in 10 SSTs whose filters are not in
// memory. A lookup waits for its read, and lookups that want the same chunk
// share one: FilterLoads knows who waits for what. The reads of one SST fail:
// its lookups answer "maybe". Exit code 1 if a row is lost or a count is wrong.

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
  // Awaits the answer to a question.
  struct Answer {
    EventLoop* loop;
    const rowbloom::FilterQuestion question;
    bool may_contain = true;

    bool await_ready() const { return false; }
    bool await_suspend(std::coroutine_handle<> waiter) {
      return !loop->loads_.Ask({&question, 1}, &may_contain, waiter,
                               &loop->reads_);
    }
    bool await_resume() const { return may_contain; }
  };

  void Run(const std::vector<Sst>& ssts) {
    while (!reads_.empty()) {
      ++reads;
      const rowbloom::FilterRead read = reads_.back();
      reads_.pop_back();
      for (const Sst& sst : ssts) {
        if (sst.reader.get() != read.reader) continue;
        loads_.Offer(read, sst.Read(read.offset, read.size_bytes));
      }
    }
  }

  int reads = 0;

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

Task Lookup(EventLoop* loop, const Sst* sst, std::string row, bool* answer) {
  const auto key = rowbloom::FilterKey::Row(row);
  EventLoop::Answer asked{loop, {sst->reader.get(), &key}};
  *answer = co_await asked;
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
  loop.Run(ssts);
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
      "100 lookups, %d reads, %d chunks loaded, %d failed, %d maybe, %d "
      "rows lost\n",
      loop.reads, static_cast<int>(loads), static_cast<int>(errors), maybe,
      lost);
  return lost == 0 && loop.reads == kSsts && loads == kSsts - 1 &&
                 errors == 1 && maybe < 40
             ? 0
             : 1;
}
