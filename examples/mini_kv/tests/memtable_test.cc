// SPDX-License-Identifier: Apache-2.0
//
// Other threads ask the memtable's filter while one thread sets cells. Also run
// it under ThreadSanitizer.

#include "../memtable.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rowbloom/filter_key.h"

namespace mini_kv {
namespace {

std::string Row(uint64_t i) { return "row" + std::to_string(i); }

TEST(MemtableThreads, ACellThatAReaderMayKnowOfIsInTheFilter) {
  constexpr uint64_t kCells = 20000;
  Memtable memtable(kCells * 128);
  std::atomic<uint64_t> known{0};
  std::atomic<uint64_t> lost{0};
  std::atomic<uint64_t> skipped{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      for (uint64_t asked = 0; asked < 1000 || known < kCells;) {
        const uint64_t count = known.load(std::memory_order_acquire);
        if (count == 0) continue;
        const std::string row = Row(++asked % count);
        lost += !memtable.MayContain(rowbloom::FilterKey::Row(row));
        lost += !memtable.MayContain(rowbloom::FilterKey::RowCol(row, "name"));
        skipped += !memtable.MayContain(rowbloom::FilterKey::RowCol(row, "?"));
      }
    });
  }
  for (uint64_t i = 0; i < kCells; ++i) {
    const std::string row = Row(i);
    memtable.Set({{row, "name"}, "value"});
    known.store(i + 1, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(lost, 0u);
  EXPECT_GT(skipped, 0u);
}

}  // namespace
}  // namespace mini_kv
