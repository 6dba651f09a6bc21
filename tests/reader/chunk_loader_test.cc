// SPDX-License-Identifier: Apache-2.0

#include "reader/chunk_loader.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hash/digest.h"
#include "reader/test_block.h"
#include "testing/counting_source.h"
#include "testing/faulty_source.h"

namespace rowbloom::reader {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ReadRange;

constexpr size_t kPlace = 1000;  // The block's offset in the source.

struct ChunkLoad {
  size_t chunk = 0;
  uint32_t steps = 0;
};

struct LoadResult {
  absl::StatusOr<std::unique_ptr<ResidentChunk>> chunk =
      absl::UnknownError("not loaded");
  uint64_t read_bytes = 0;
};

std::vector<LoadResult> LoadAll(const ChunkLoader& loader,
                                absl::Span<const ChunkLoad> loads) {
  std::vector<PendingLoad> pending(loads.size());
  for (size_t i = 0; i < loads.size(); ++i) {
    pending[i].loader = &loader;
    pending[i].load = loader.LoadOf(loads[i].chunk, loads[i].steps);
  }
  ReadAll(absl::MakeSpan(pending));
  std::vector<LoadResult> results(loads.size());
  for (size_t i = 0; i < loads.size(); ++i) {
    if (!pending[i].bytes.ok()) {
      results[i].chunk = pending[i].bytes.status();
      continue;
    }
    results[i].read_bytes = pending[i].bytes->size();
    results[i].chunk = loader.Build(pending[i].load, *pending[i].bytes);
  }
  return results;
}

LoadResult Load(const ChunkLoader& loader, const ChunkLoad& load) {
  return std::move(LoadAll(loader, absl::MakeConstSpan(&load, 1)).front());
}

// A block of compact chunks of 2 KiB and more, each of three units.
class ChunkLoaderTest : public ::testing::Test {
 protected:
  ChunkLoaderTest() {
    FilterOptions options;
    options.filter_spec = FilterSpec::BitsPerKey("compact", 11);
    options.chunk_size_bytes = 12288;
    block_ = std::string(kPlace, 'x') +
             testing::WriteBlock(options, testing::EvenRows(60000));
    memory_ = NewMemorySource(block_, "f.sst");
    const auto reader =
        FilterReader::Open(memory_.get(), {kPlace, block_.size() - kPlace}, {});
    EXPECT_TRUE(reader.ok());
    for (const FilterChunkInfo& chunk : (*reader)->Chunks()) {
      block::ChunkEntry entry;
      entry.offset = chunk.offset - kPlace;
      entry.descriptor = chunk.descriptor;
      chunks_.push_back(entry);
    }
    source_ = std::make_unique<testing::FaultySource>(memory_.get());
    counting_ = std::make_unique<testing::CountingSource>(source_.get());
    loader_ = std::make_unique<ChunkLoader>(
        counting_.get(), block::BlockPlace{"f.sst", kPlace, block_.size()},
        /*identity=*/1, &chunks_, Kernel::kBest, nullptr);
    EXPECT_GE(chunks_.size(), 4u);
    EXPECT_EQ(Descriptor(0).unit_count, 3u);
  }

  const FilterDescriptor& Descriptor(size_t chunk) const {
    return chunks_[chunk].descriptor;
  }
  // Returns the bytes of units [first, last) of a chunk.
  ReadRange Units(size_t chunk, size_t first, size_t last) const {
    ReadRange range = {kPlace + chunks_[chunk].offset, 0};
    for (size_t u = 0; u < first; ++u) {
      range.offset += Descriptor(chunk).unit_size_bytes[u];
    }
    for (size_t u = first; u < last; ++u) {
      range.size_bytes += Descriptor(chunk).unit_size_bytes[u];
    }
    return range;
  }

  std::string block_;
  std::unique_ptr<RandomAccessSource> memory_;
  std::vector<block::ChunkEntry> chunks_;
  std::unique_ptr<testing::FaultySource> source_;
  std::unique_ptr<testing::CountingSource> counting_;
  std::unique_ptr<ChunkLoader> loader_;
};

TEST_F(ChunkLoaderTest, ReadsTheUnitsOfTheStepsOnly) {
  const uint32_t all = FilterSteps(Descriptor(1));
  for (uint32_t steps = 1; steps <= all; ++steps) {
    counting_->Reset();
    const LoadResult result = Load(*loader_, {1, steps});
    ASSERT_TRUE(result.chunk.ok()) << result.chunk.status();
    EXPECT_EQ((*result.chunk)->steps(), steps);
    const ReadRange expected = Units(1, 0, (steps + 3) / 4);
    EXPECT_THAT(counting_->reads(), ElementsAre(expected));
    EXPECT_EQ(result.read_bytes, expected.size_bytes);
    EXPECT_EQ(loader_->LoadOf(1, steps).size_bytes, expected.size_bytes);
  }
}

// A chunk of few keys that has its own source.
class SmallChunk {
 public:
  SmallChunk(uint64_t key_count, double bits_per_key) {
    const auto builder =
        NewFilterBuilder(FilterSpec::BitsPerKey("compact", bits_per_key));
    for (uint64_t i = 0; i < key_count; ++i) {
      digests_.push_back(DigestBytes(testing::NumberedRow(key_count + i)));
      builder->Add(digests_.back());
    }
    filter_ = builder->Finish();
    source_ = NewMemorySource(filter_.units);
    chunks_.resize(1);
    chunks_[0].descriptor = filter_.descriptor;
  }

  const FilterDescriptor& descriptor() const { return filter_.descriptor; }
  ChunkLoader Loader() const {
    return {source_.get(),  {"f.sst", 0, filter_.units.size()},
            /*identity=*/1, &chunks_,
            Kernel::kBest,  nullptr};
  }
  // Returns the units end to end, cut from the stored ones.
  std::string UnitsAtStep(uint32_t steps) const {
    const FilterDescriptor cut = FilterAtStep(descriptor(), steps);
    std::string units(cut.total_size_bytes(), 'x');
    std::string_view stored = filter_.units;
    char* out = units.data();
    for (uint32_t u = 0; u < cut.unit_count; ++u) {
      const uint64_t size = descriptor().unit_size_bytes[u];
      CopyUnitAtStep(descriptor(), steps, u, stored.substr(0, size), out);
      stored.remove_prefix(size);
      out += cut.unit_size_bytes[u];
    }
    return units;
  }
  uint64_t DeniedKeys(const ResidentChunk& chunk) const {
    uint64_t denied = 0;
    for (const KeyDigest& digest : digests_) {
      denied += !chunk.view().MayContain(digest);
    }
    return denied;
  }

 private:
  std::vector<KeyDigest> digests_;
  EncodedFilter filter_;
  std::unique_ptr<RandomAccessSource> source_;
  std::vector<block::ChunkEntry> chunks_;
};

std::string UnitsOf(const ResidentChunk& chunk, size_t unit_count) {
  std::string units;
  for (size_t u = 0; u < unit_count; ++u) units += chunk.units()[u]->view();
  return units;
}

TEST(ChunkLoaderOfSmallChunks, EveryStepIsCutFromWhatIsStored) {
  for (uint64_t keys = 1; keys <= 400; ++keys) {
    for (const double bits : {8.0, 9.5, 11.0, 14.0}) {
      const SmallChunk chunk(keys, bits);
      const ChunkLoader loader = chunk.Loader();
      const uint32_t all = FilterSteps(chunk.descriptor());
      ASSERT_GT(all, 4u);
      for (uint32_t steps = 1; steps <= all; ++steps) {
        const size_t units = FilterAtStep(chunk.descriptor(), steps).unit_count;
        const LoadResult result = Load(loader, {0, steps});
        const std::string where = std::to_string(keys) + " keys, " +
                                  std::to_string(bits) + " bits, " +
                                  std::to_string(steps) + " steps";
        ASSERT_TRUE(result.chunk.ok()) << result.chunk.status() << where;
        ASSERT_EQ(UnitsOf(**result.chunk, units), chunk.UnitsAtStep(steps))
            << where;
        ASSERT_EQ(chunk.DeniedKeys(**result.chunk), 0u) << where;
      }
    }
  }
}

TEST_F(ChunkLoaderTest, ChunksThatLieTogetherAreOneRead) {
  std::vector<ChunkLoad> loads;
  size_t size = 0;
  for (size_t i = 0; i < chunks_.size(); ++i) {
    loads.push_back({i, FilterSteps(Descriptor(i))});
    size += Descriptor(i).total_size_bytes();
  }
  const std::vector<LoadResult> results = LoadAll(*loader_, loads);
  for (size_t i = 0; i < results.size(); ++i) {
    ASSERT_TRUE(results[i].chunk.ok()) << results[i].chunk.status();
    EXPECT_EQ(results[i].read_bytes, Descriptor(i).total_size_bytes());
    EXPECT_EQ((*results[i].chunk)->origin().offset, chunks_[i].offset);
  }
  EXPECT_THAT(counting_->reads(), ElementsAre(ReadRange{kPlace, size}));
}

TEST_F(ChunkLoaderTest, GapsUpTo4KiBAreReadToo) {
  // A load of 8 steps leaves out the last unit of chunk 0.
  const ReadRange gap = Units(0, 2, 3);
  ASSERT_LE(gap.size_bytes, 4096u);
  ASSERT_GT(Units(0, 1, 3).size_bytes, 4096u);
  const std::vector<ChunkLoad> near = {{0, 8}, {1, 4}};
  std::vector<LoadResult> results = LoadAll(*loader_, near);
  EXPECT_THAT(counting_->reads(),
              ElementsAre(ReadRange{kPlace, Units(0, 0, 3).size_bytes +
                                                Units(1, 0, 1).size_bytes}));
  EXPECT_EQ(results[0].read_bytes, Units(0, 0, 2).size_bytes);
  ASSERT_TRUE(results[1].chunk.ok());
  counting_->Reset();
  const std::vector<ChunkLoad> far = {{0, 4}, {1, 4}, {3, 4}};
  results = LoadAll(*loader_, far);
  for (const LoadResult& result : results) EXPECT_TRUE(result.chunk.ok());
  EXPECT_THAT(counting_->reads(),
              ElementsAre(Units(0, 0, 1), Units(1, 0, 1), Units(3, 0, 1)));
}

TEST_F(ChunkLoaderTest, AReadIsOf4MiBAtMostUnlessOneChunkIsLarger) {
  constexpr size_t kChunk = 1 << 20;
  const std::string zeros(12 * kChunk, '\0');
  const auto memory = NewMemorySource(zeros);
  const testing::CountingSource counting(memory.get());
  const auto builder =
      NewFilterBuilder(FilterSpec::BitsPerKey("blocked_bloom", 10));
  builder->Add({17});
  const EncodedFilter small = builder->Finish();
  std::vector<block::ChunkEntry> chunks;
  const auto add = [&](uint64_t offset, uint64_t size) {
    block::ChunkEntry entry;
    entry.offset = offset;
    entry.descriptor = small.descriptor;
    entry.descriptor.unit_size_bytes[0] = size;
    entry.descriptor.unit_checksum[0] =
        hash::Checksum32(std::string_view(zeros).substr(0, size));
    chunks.push_back(entry);
  };
  for (uint64_t i = 0; i < 6; ++i) add(i * kChunk, kChunk);
  add(6 * kChunk, 5 * kChunk);
  add(11 * kChunk, kChunk);
  const ChunkLoader loader(&counting, {"f.sst", 0, zeros.size()},
                           /*identity=*/1, &chunks, Kernel::kBest, nullptr);
  std::vector<ChunkLoad> loads;
  for (size_t i = 0; i < chunks.size(); ++i) loads.push_back({i, 1});
  for (const LoadResult& result : LoadAll(loader, loads)) {
    EXPECT_TRUE(result.chunk.ok()) << result.chunk.status();
  }
  EXPECT_THAT(counting.reads(), ElementsAre(ReadRange{0, 4 * kChunk},
                                            ReadRange{4 * kChunk, 2 * kChunk},
                                            ReadRange{6 * kChunk, 5 * kChunk},
                                            ReadRange{11 * kChunk, kChunk}));
}

TEST_F(ChunkLoaderTest, DamageToAUnitFailsOnlyLoadsThatNeedIt) {
  const ReadRange second = Units(1, 1, 2);
  source_->FlipBit(second.offset + 5, 3);
  // The unit before the damaged one is intact.
  EXPECT_TRUE(Load(*loader_, {1, 4}).chunk.ok());
  const LoadResult result = Load(*loader_, {1, 8});
  EXPECT_EQ(result.chunk.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(
      std::string(result.chunk.status().message()),
      HasSubstr("f.sst: offset " + std::to_string(kPlace + chunks_[1].offset) +
                ": checksum of filter unit 1"));
  // The damaged unit was read nevertheless.
  EXPECT_EQ(result.read_bytes, Units(1, 0, 2).size_bytes);
  EXPECT_FALSE(loader_->Verify(1).ok());
  EXPECT_TRUE(loader_->Verify(0).ok());
  const std::vector<ChunkLoad> loads = {{0, 8}, {1, 8}, {2, 8}};
  const std::vector<LoadResult> results = LoadAll(*loader_, loads);
  EXPECT_TRUE(results[0].chunk.ok());
  EXPECT_FALSE(results[1].chunk.ok());
  EXPECT_TRUE(results[2].chunk.ok());
}

TEST_F(ChunkLoaderTest, AReadThatFailsFailsAllThatItWasFor) {
  const std::vector<ChunkLoad> loads = {{0, 11}, {1, 11}};
  source_->FailRead(1);
  for (const LoadResult& result : LoadAll(*loader_, loads)) {
    EXPECT_EQ(result.chunk.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(result.read_bytes, 0u);
  }
  source_->ShortenReads(1);
  for (const LoadResult& result : LoadAll(*loader_, loads)) {
    EXPECT_EQ(result.chunk.status().code(), absl::StatusCode::kDataLoss);
  }
  source_->Heal();
  for (const LoadResult& result : LoadAll(*loader_, loads)) {
    EXPECT_TRUE(result.chunk.ok());
  }
}

}  // namespace
}  // namespace rowbloom::reader
