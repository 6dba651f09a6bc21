// SPDX-License-Identifier: Apache-2.0
//
// SSTs in an object store, where a read (a GET) takes 50 ms. ReadMany() reads
// on a thread pool, and all SSTs are one read_group(): a point get that asks 20
// filters that are not in memory waits for about one GET. Ask() makes none.
// Exit code 1 if an answer or a count is wrong.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_reader.h"

constexpr std::chrono::milliseconds kGetTime(50);
constexpr int kSsts = 20;
std::atomic<int> gets{0}, waits{0};

class ReadPool {
 public:
  ReadPool() {
    for (int i = 0; i < kSsts; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~ReadPool() {
    std::vector<rowbloom::SourceRead> stops(threads_.size());
    ReadAll(absl::MakeSpan(stops));  // A read without a source ends one thread.
    for (std::thread& thread : threads_) thread.join();
  }
  void ReadAll(absl::Span<rowbloom::SourceRead> reads) {
    size_t left = reads.size();
    std::unique_lock<std::mutex> lock(mutex_);
    for (rowbloom::SourceRead& read : reads) queue_.push_back({&read, &left});
    wake_.notify_all();
    done_.wait(lock, [&left] { return left == 0; });
  }
  int most_at_once() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return most_at_once_;
  }

 private:
  void Work() {
    for (bool stops = false; !stops;) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [this] { return !queue_.empty(); });
      const auto [read, left] = queue_.front();
      queue_.pop_front();
      most_at_once_ = std::max(most_at_once_, ++under_way_);
      lock.unlock();
      stops = read->source == nullptr;
      if (!stops) {
        read->status = read->source->Read(read->offset, read->size_bytes,
                                          read->scratch, &read->result);
      }
      lock.lock();
      --under_way_;
      if (--*left == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  // Each read, and the number of unfinished reads of its ReadAll().
  std::deque<std::pair<rowbloom::SourceRead*, size_t*>> queue_;
  int under_way_ = 0, most_at_once_ = 0;
  std::vector<std::thread> threads_;
} pool;

struct Sst final : public rowbloom::RandomAccessSource {
  absl::Status Read(uint64_t offset, size_t size, char* /*scratch*/,
                    std::string_view* result) const override {
    ++gets;
    std::this_thread::sleep_for(kGetTime);
    *result = std::string_view(bytes).substr(offset, size);
    return absl::OkStatus();
  }
  void ReadMany(absl::Span<rowbloom::SourceRead> reads) const override {
    ++waits;
    pool.ReadAll(reads);
  }
  const void* read_group() const override { return &pool; }
  uint64_t size_bytes() const override { return bytes.size(); }
  std::string_view name() const override { return "sst"; }

  std::string bytes;  // A filter block and nothing else.
  std::unique_ptr<rowbloom::FilterReader> reader;
};

int main() {
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
    auto reader = rowbloom::FilterReader::Open(&ssts[i], {}, options);
    if (!reader.ok()) return 1;
    ssts[i].reader = *std::move(reader);
  }
  gets = 0;

  const auto key = rowbloom::FilterKey::Row("20007");  // In ssts[7].
  std::vector<rowbloom::FilterQuestion> questions;
  for (const Sst& sst : ssts) questions.push_back({sst.reader.get(), &key});
  const auto ask = [&](rowbloom::FilterAnswer expected) {
    int count = 0;
    rowbloom::FilterLoad load;
    for (const Sst& sst : ssts) {
      count += sst.reader->Ask(key, &load) == expected;
    }
    return count;
  };
  const int cold = ask(rowbloom::FilterAnswer::kNotInMemory);
  std::printf("Ask(): %d not in memory, %d GETs\n", cold, gets.load());
  bool right = cold == kSsts && gets == 0;

  bool may_contain[kSsts];
  const auto start = std::chrono::steady_clock::now();
  rowbloom::FilterReader::MayContain(questions, may_contain);
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - start;
  std::printf("batch: %d GETs in %d wait, %.1f times as long as one\n",
              gets.load(), waits.load(), time / kGetTime);
  right &= gets == kSsts && waits == 1 && pool.most_at_once() > 1;
  right &= may_contain[7];

  const int no = ask(rowbloom::FilterAnswer::kNo);
  std::printf("Ask(): %d no, %d GETs more\n", no, gets - kSsts);
  return right && no > kSsts / 2 && gets == kSsts ? 0 : 1;
}
