// SPDX-License-Identifier: Apache-2.0

#include "cache/chunk_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/platform.h"
#include "testing/keys.h"

namespace rowbloom::internal::cache {
namespace {

constexpr size_t kMiB = 1 << 20;

constexpr size_t kLine = 64;

// Pieces that are taken, with their number in the first line and the last.
class Pieces {
 public:
  explicit Pieces(ChunkMemory* memory) : memory_(memory) {}
  ~Pieces() {
    while (!pieces_.empty()) Return(0);
  }

  void Take(size_t size) {
    char* const bytes = memory_->Take(size);
    ASSERT_NE(bytes, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(bytes) % 64, 0u);
    std::memset(bytes, next_, kLine);
    std::memset(bytes + size - kLine, next_, kLine);
    pieces_.push_back({bytes, size, next_++});
    taken_bytes_ += size;
  }
  void Return(size_t i) {
    const Piece piece = std::exchange(pieces_[i], pieces_.back());
    pieces_.pop_back();
    for (const char* line : {piece.bytes, piece.bytes + piece.size - kLine}) {
      for (size_t b = 0; b < kLine; ++b) {
        ASSERT_EQ(static_cast<unsigned char>(line[b]), piece.number);
      }
    }
    memory_->Return(piece.bytes, piece.size);
    taken_bytes_ -= piece.size;
  }
  size_t count() const { return pieces_.size(); }
  size_t taken_bytes() const { return taken_bytes_; }

 private:
  struct Piece {
    char* bytes;
    size_t size;
    unsigned char number;
  };
  ChunkMemory* const memory_;
  std::vector<Piece> pieces_;
  size_t taken_bytes_ = 0;
  unsigned char next_ = 0;
};

TEST(ChunkMemory, SmallAndLargePiecesAreForTheHeap) {
  ChunkMemory memory(false);
  EXPECT_EQ(memory.Take(ChunkMemory::kMinBytes - 1), nullptr);
  EXPECT_EQ(memory.Take(ChunkMemory::kSlabBytes + 1), nullptr);
  EXPECT_EQ(memory.resident_bytes(), 0u);
  for (const size_t size : {ChunkMemory::kMinBytes, ChunkMemory::kSlabBytes}) {
    char* const bytes = memory.Take(size);
    ASSERT_NE(bytes, nullptr);
    memory.Return(bytes, size);
  }
}

TEST(ChunkMemory, WhatIsTakenAgainIsWhatWasReturned) {
  ChunkMemory memory(false);
  char* const first = memory.Take(50000);
  char* const second = memory.Take(50000);
  memory.Return(first, 50000);
  EXPECT_EQ(memory.Take(50000), first);
  memory.Return(second, 50000);
  memory.Return(first, 50000);
}

TEST(ChunkMemory, FreeNeighboursBecomeOneRun) {
  ChunkMemory memory(false);
  constexpr size_t kPart = ChunkMemory::kSlabBytes / 4;
  char* parts[4];
  for (char*& part : parts) part = memory.Take(kPart);
  for (const int i : {1, 3, 0, 2}) memory.Return(parts[i], kPart);
  EXPECT_EQ(memory.Take(ChunkMemory::kSlabBytes), parts[0]);
  memory.Return(parts[0], ChunkMemory::kSlabBytes);
}

// Sizes, and the share of them that a wave keeps, change from wave to wave.
TEST(ChunkMemory, FreeBytesAreBoundedUnderAnyMixOfSizes) {
  for (const bool huge : {false, true}) {
    constexpr size_t kCapacity = 64 * kMiB;
    ChunkMemory memory(huge);
    memory.SetCapacity(kCapacity);
    Pieces pieces(&memory);
    testing::Random random(3);
    for (int wave = 0; wave < 40; ++wave) {
      const size_t least = ChunkMemory::kMinBytes << random.Below(8);
      const size_t spread = 1 + random.Below(8 * least);
      for (int i = 0; i < 300; ++i) {
        const size_t size =
            std::min(least + random.Below(spread), ChunkMemory::kSlabBytes);
        while (pieces.taken_bytes() + size > kCapacity) {
          pieces.Return(random.Below(pieces.count()));
        }
        pieces.Take(size);
        ASSERT_GE(memory.taken_bytes(), pieces.taken_bytes());
        // Pieces are rounded to cache lines.
        ASSERT_LE(memory.taken_bytes(),
                  pieces.taken_bytes() + 64 * pieces.count());
        // Pages that hold a piece and free bytes belong to no free run.
        ASSERT_LE(
            memory.resident_bytes(),
            memory.taken_bytes() + kCapacity / 16 + 2 * 4096 * pieces.count());
      }
    }
  }
}

TEST(ChunkMemory, ASmallerCapacityGivesPagesBack) {
  ChunkMemory memory(false);
  memory.SetCapacity(100 * kMiB);
  {
    Pieces pieces(&memory);
    for (int i = 0; i < 80; ++i) pieces.Take(100000);
  }
  EXPECT_GE(memory.resident_bytes(), 5 * kMiB);  // Kept.
  memory.SetCapacity(10 * kMiB);
  EXPECT_LE(memory.resident_bytes(), 2 * kMiB);
}

// True if the system may put the memory at this address into a huge page; false
// also if it does not say.
bool MayBeHuge(const char* address) {
  std::ifstream smaps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(smaps, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char dash = 0;
    std::istringstream range(line);
    if (range >> std::hex >> begin >> dash >> end && dash == '-') {
      const auto at = reinterpret_cast<uintptr_t>(address);
      is_here = begin <= at && at < end;
    }
    if (is_here && line.rfind("VmFlags:", 0) == 0) {
      return line.find(" hg") != std::string::npos;
    }
  }
  return false;
}

bool SystemSaysWhatMayBeHuge() {
  char* const bytes = platform::MapAligned(ChunkMemory::kSlabBytes);
  platform::UseHugePages(bytes, ChunkMemory::kSlabBytes, true);
  const bool says = MayBeHuge(bytes);
  platform::Unmap(bytes, ChunkMemory::kSlabBytes);
  return says;
}

TEST(ChunkMemory, ASlabIsForHugePagesWhileAllOfItIsResident) {
  if (!SystemSaysWhatMayBeHuge()) GTEST_SKIP() << "no VmFlags with hg";
  for (const size_t page_bytes : {4096, 16384, 65536}) {
    ChunkMemory memory(true, page_bytes);
    memory.SetCapacity(kMiB);  // So that a slab of free bytes may stay.
    std::vector<char*> halves;
    for (int i = 0; i < 6; ++i) halves.push_back(memory.Take(kMiB));
    const auto huge_slabs = [&] {
      return MayBeHuge(halves[0]) + MayBeHuge(halves[2]) + MayBeHuge(halves[4]);
    };
    EXPECT_EQ(huge_slabs(), 3);
    for (const size_t i : {1, 3, 5}) memory.Return(halves[i], kMiB);
    EXPECT_EQ(memory.resident_bytes(), 5 * kMiB);
    EXPECT_EQ(huge_slabs(), 2);
    for (const size_t i : {1, 3, 5}) halves[i] = memory.Take(kMiB);
    EXPECT_EQ(huge_slabs(), 3) << page_bytes;
    for (char* half : halves) memory.Return(half, kMiB);
  }
}

TEST(ChunkMemoryThreads, PiecesOfThreadsDoNotOverlap) {
  ChunkMemory memory(false);
  memory.SetCapacity(4 * kMiB);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&memory, t] {
      testing::Random random(t);
      Pieces pieces(&memory);
      for (int i = 0; i < 3000; ++i) {
        if (pieces.count() < 10) pieces.Take(1024 + random.Below(60000));
        if (random.Below(2) == 0) pieces.Return(random.Below(pieces.count()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.taken_bytes(), 0u);
}

TEST(ChunkBytes, LieOnCacheLines) {
  ChunkMemory memory(false);
  for (ChunkMemory* where : {&memory, static_cast<ChunkMemory*>(nullptr)}) {
    for (const size_t size : {0, 1, 100, 4096, 3000000}) {
      ChunkBytes bytes(size, where);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.bytes()) % 64, 0u);
      EXPECT_EQ(bytes.view().size(), size);
    }
  }
  EXPECT_EQ(memory.taken_bytes(), 0u);
}

}  // namespace
}  // namespace rowbloom::internal::cache
