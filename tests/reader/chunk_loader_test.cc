// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cache/chunk_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/resident_chunk.h"
#include "reader/test_block.h"
#include "testing/filters.h"
#include "util/digest.h"

namespace rowbloom::internal::reader {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReadRange;

MATCHER(IsLoaded, "") {
  *result_listener << arg.status().ToString();
  return arg.ok();
}

constexpr size_t kPlace = 1000;  // The block's offset in the source.

struct ChunkLoad {
  size_t chunk = 0;
  uint32_t steps = 0;
};

using LoadedChunk = absl::StatusOr<std::unique_ptr<ResidentChunk>>;

std::vector<LoadedChunk> LoadAll(const ChunkLoader& loader,
                                 const std::vector<ChunkLoad>& loads) {
  std::vector<PendingLoad> pending(loads.size());
  for (size_t i = 0; i < loads.size(); ++i) {
    pending[i].loader = &loader;
    pending[i].load = loader.LoadOf(loads[i].chunk, loads[i].steps);
  }
  ReadAll(absl::MakeSpan(pending));
  std::vector<LoadedChunk> chunks;
  for (const PendingLoad& p : pending) {
    chunks.push_back(p.bytes.ok() ? loader.Build(p.load, *p.bytes, nullptr,
                                                 Kernel::kBest, nullptr)
                                  : p.bytes.status());
  }
  return chunks;
}

// A block of chunks that follow each other, for a loader.
block::ParsedFilterBlock BlockOf(
    const std::vector<FilterDescriptor>& descriptors) {
  std::string index;
  std::string key;
  for (size_t i = 0; i < descriptors.size(); ++i) {
    key.clear();
    block::AppendKey({testing::NumberedRow(i), {}, false}, &key);
    index += key;
    descriptors[i].AppendTo(&index);
  }
  return {/*identity=*/1, false,
          block::ChunkIndex(descriptors.size(), index, key, key)};
}

LoadedChunk Load(const ChunkLoader& loader, const ChunkLoad& load) {
  return std::move(LoadAll(loader, {load}).front());
}

// A block of compact chunks of 2 KiB and more, each of three units.
class ChunkLoaderTest : public ::testing::Test {
 protected:
  ChunkLoaderTest() {
    const auto reader = testing::OpenOrDie(file_.memory.get(), {}, {kPlace});
    chunks_ = reader->Chunks();
    std::vector<FilterDescriptor> descriptors;
    for (const FilterChunkInfo& chunk : chunks_) {
      descriptors.push_back(chunk.descriptor);
    }
    loader_ = std::make_unique<const ChunkLoader>(&file_.source, kPlace,
                                                  BlockOf(descriptors));
    EXPECT_GE(chunks_.size(), 4u);
    EXPECT_EQ(Descriptor(0).unit_count, 3u);
  }

  const FilterDescriptor& Descriptor(size_t chunk) const {
    return chunks_[chunk].descriptor;
  }
  std::string Bytes(uint64_t offset, uint64_t size) const {
    std::string scratch(size, '\0');
    std::string_view bytes;
    EXPECT_TRUE(file_.memory->Read(offset, size, scratch.data(), &bytes).ok());
    return std::string(bytes);
  }
  // Returns the place of units [first, last) of a chunk.
  ReadRange Units(size_t chunk, size_t first, size_t last) const {
    ReadRange range = {chunks_[chunk].offset, 0};
    for (size_t u = 0; u < first; ++u) {
      range.offset += Descriptor(chunk).unit_size_bytes[u];
    }
    for (size_t u = first; u < last; ++u) {
      range.size_bytes += Descriptor(chunk).unit_size_bytes[u];
    }
    return range;
  }

  testing::TestFile file_{
      std::string(kPlace, 'x') +
      testing::WriteBlock(testing::BlockOptions("compact", 11, 12288),
                          testing::EvenRows(60000))};
  std::vector<FilterChunkInfo> chunks_;
  std::unique_ptr<const ChunkLoader> loader_;
};

TEST_F(ChunkLoaderTest, ReadsTheUnitsOfTheStepsOnly) {
  const uint32_t all = FilterSteps(Descriptor(1));
  for (uint32_t steps = 1; steps <= all; ++steps) {
    file_.source.Reset();
    const LoadedChunk chunk = Load(*loader_, {1, steps});
    ASSERT_TRUE(chunk.ok()) << chunk.status();
    EXPECT_EQ((*chunk)->steps(), steps);
    const ReadRange expected = Units(1, 0, (steps + 3) / 4);
    EXPECT_THAT(file_.source.reads(), ElementsAre(expected));
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
  }

  const FilterDescriptor& descriptor() const { return filter_.descriptor; }
  ChunkLoader Loader() const {
    return {source_.get(), 0, BlockOf({filter_.descriptor})};
  }
  std::string UnitsAtStep(uint32_t steps) const {
    return testing::CutFilter(filter_, steps).units;
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
        const LoadedChunk loaded = Load(loader, {0, steps});
        SCOPED_TRACE(
            absl::StrCat(keys, " keys, ", bits, " bits, ", steps, " steps"));
        ASSERT_TRUE(loaded.ok()) << loaded.status();
        ASSERT_EQ(UnitsOf(**loaded, units), chunk.UnitsAtStep(steps));
        ASSERT_EQ(chunk.DeniedKeys(**loaded), 0u);
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
  const std::vector<LoadedChunk> loaded = LoadAll(*loader_, loads);
  for (size_t i = 0; i < loaded.size(); ++i) {
    ASSERT_TRUE(loaded[i].ok()) << loaded[i].status();
    EXPECT_EQ(UnitsOf(**loaded[i], Descriptor(i).unit_count),
              Bytes(chunks_[i].offset, Descriptor(i).total_size_bytes()));
  }
  EXPECT_THAT(file_.source.reads(), ElementsAre(ReadRange{kPlace, size}));
}

TEST_F(ChunkLoaderTest, GapsUpTo4KiBAreReadToo) {
  // A load of 8 steps leaves out the last unit of chunk 0.
  const ReadRange gap = Units(0, 2, 3);
  ASSERT_LE(gap.size_bytes, 4096u);
  ASSERT_GT(Units(0, 1, 3).size_bytes, 4096u);
  std::vector<LoadedChunk> loaded = LoadAll(*loader_, {{0, 8}, {1, 4}});
  EXPECT_THAT(loaded, Each(IsLoaded()));
  EXPECT_THAT(file_.source.reads(),
              ElementsAre(ReadRange{kPlace, Units(0, 0, 3).size_bytes +
                                                Units(1, 0, 1).size_bytes}));
  file_.source.Reset();
  loaded = LoadAll(*loader_, {{0, 4}, {1, 4}, {3, 4}});
  EXPECT_THAT(loaded, Each(IsLoaded()));
  EXPECT_THAT(file_.source.reads(),
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
  std::vector<FilterDescriptor> chunks;
  const auto add = [&](uint64_t size) {
    FilterDescriptor descriptor = small.descriptor;
    descriptor.unit_size_bytes[0] = size;
    descriptor.unit_checksum[0] =
        util::Checksum32(std::string_view(zeros).substr(0, size));
    chunks.push_back(descriptor);
  };
  for (uint64_t i = 0; i < 6; ++i) add(kChunk);
  add(5 * kChunk);
  add(kChunk);
  const ChunkLoader loader(&counting, 0, BlockOf(chunks));
  std::vector<ChunkLoad> loads;
  for (size_t i = 0; i < chunks.size(); ++i) loads.push_back({i, 1});
  EXPECT_THAT(LoadAll(loader, loads), Each(IsLoaded()));
  EXPECT_THAT(counting.reads(), ElementsAre(ReadRange{0, 4 * kChunk},
                                            ReadRange{4 * kChunk, 2 * kChunk},
                                            ReadRange{6 * kChunk, 5 * kChunk},
                                            ReadRange{11 * kChunk, kChunk}));
}

TEST_F(ChunkLoaderTest, DamageToAUnitFailsOnlyLoadsThatNeedIt) {
  const ReadRange second = Units(1, 1, 2);
  file_.source.FlipBit(second.offset + 5, 3);
  // The unit before the damaged one is intact.
  EXPECT_TRUE(Load(*loader_, {1, 4}).ok());
  const absl::Status status = Load(*loader_, {1, 8}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("f.sst: offset " + std::to_string(chunks_[1].offset) +
                        ": checksum of filter unit 1"));
  EXPECT_FALSE(loader_->Verify(1, nullptr, Kernel::kBest).ok());
  EXPECT_TRUE(loader_->Verify(0, nullptr, Kernel::kBest).ok());
  EXPECT_THAT(LoadAll(*loader_, {{0, 8}, {1, 8}, {2, 8}}),
              ElementsAre(IsLoaded(), Not(IsLoaded()), IsLoaded()));
}

TEST_F(ChunkLoaderTest, AReadThatFailsFailsAllThatItWasFor) {
  const std::vector<ChunkLoad> loads = {{0, 11}, {1, 11}};
  file_.source.FailRead(1);
  for (const LoadedChunk& chunk : LoadAll(*loader_, loads)) {
    EXPECT_EQ(chunk.status().code(), absl::StatusCode::kUnavailable);
  }
  file_.source.ShortenReads(1);
  for (const LoadedChunk& chunk : LoadAll(*loader_, loads)) {
    EXPECT_EQ(chunk.status().code(), absl::StatusCode::kDataLoss);
  }
  file_.source.Heal();
  EXPECT_THAT(LoadAll(*loader_, loads), Each(IsLoaded()));
}

}  // namespace
}  // namespace rowbloom::internal::reader
