// SPDX-License-Identifier: Apache-2.0
//
// Tests that a caller's mistake is a Status, or a check that names the call.

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "rowbloom/filter_warmer.h"
#include "rowbloom/host_cache.h"

namespace rowbloom {
namespace {

using ::testing::HasSubstr;

class ReaderMisuse : public ::testing::Test {
 protected:
  const std::string block_ =
      testing::WriteBlock(FilterOptions(), testing::EvenRows(100));
  const std::unique_ptr<RandomAccessSource> source_ =
      NewMemorySource(block_, "000012.sst");
};
using ReaderMisuseDeathTest = ReaderMisuse;

TEST_F(ReaderMisuse, OpenSaysWhatIsWrong) {
  FilterReaderOptions unknown_priority;
  unknown_priority.priority = static_cast<FilterCachePriority>(9);
  const struct {
    absl::Status status;
    absl::StatusCode code;
    std::string message;
  } cases[] = {
      {FilterReader::Open(nullptr, {}, {}).status(),
       absl::StatusCode::kInvalidArgument, "source is null"},
      {FilterReader::Open(source_.get(), {}, unknown_priority).status(),
       absl::StatusCode::kInvalidArgument, "priority 9"},
      {FilterReader::Open(source_.get(), {10, 0}, {}).status(),
       absl::StatusCode::kNotFound, "000012.sst"}};
  for (const auto& c : cases) {
    EXPECT_EQ(c.status.code(), c.code);
    EXPECT_THAT(std::string(c.status.message()), HasSubstr(c.message));
  }
}

// An engine's own entry, which it should have under an id of NewFileId().
TEST_F(ReaderMisuse, AForeignEntryUnderAReadersKeyIsNoChunk) {
  const auto cache = NewShardedLruCache({1 << 20});
  auto value = std::make_unique<FilterCache::Value>();
  cache->Release(cache->Insert({7, 0}, &value, {512}));
  const std::string block =
      testing::WriteBlock(FilterOptions(), testing::EvenRows(2000));
  const auto source = NewMemorySource(block, "000007.sst");
  FilterReaderOptions options = testing::CachedIn(cache);
  options.file_id = 7;
  options.loading = FilterLoading::kAlways;
  const auto reader = testing::OpenOrDie(source.get(), options);
  EXPECT_TRUE(reader->MayContain(testing::NumberedRow(0)));
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], 1);
}

TEST_F(ReaderMisuseDeathTest, ACacheThatDiesBeforeAReaderSaysSo) {
  EXPECT_DEATH(
      {
        auto cache = NewShardedLruCache({1 << 20});
        const auto reader =
            testing::OpenOrDie(source_.get(), testing::CachedIn(cache));
        cache.reset();
      },
      "FilterCache is destroyed before a FilterReader");
}

TEST_F(ReaderMisuseDeathTest, StatisticsThatDieBeforeAReaderSaySo) {
  EXPECT_DEATH(
      {
        auto stats = std::make_unique<FilterStats>();
        FilterReaderOptions options;
        options.stats = stats.get();
        const auto reader = testing::OpenOrDie(source_.get(), options);
        stats.reset();
      },
      "FilterStats is destroyed before a FilterReader");
}

TEST_F(ReaderMisuseDeathTest, AQuestionWithoutAReaderNamesTheCall) {
  bool answer = false;
  const FilterQuestion question;
  EXPECT_DEATH(FilterReader::MayContain({&question, 1}, &answer),
               "a question without a reader or a key");
}

TEST_F(ReaderMisuseDeathTest, NullPointersNameTheCall) {
  // It does not depend on what is in memory.
  const auto reader = testing::OpenOrDie(source_.get(), {});
  const FilterKey row = FilterKey::Row("row");
  EXPECT_DEATH(reader->Ask(row, nullptr), "load is null");
  EXPECT_DEATH(reader->MayContain({&row, 1}, nullptr), "may_contain is null");
  const FilterQuestion question = {reader.get(), &row};
  EXPECT_DEATH(FilterReader::MayContain({&question, 1}, nullptr),
               "may_contain is null");
  EXPECT_DEATH(NewFilterWarmer(nullptr, {1}), "cache is null");
  EXPECT_DEATH((void)KeyCodec::Ordered().UpperBound({"row"}, nullptr),
               "bound is null");
  EXPECT_DEATH(NewStringSink(nullptr), "out is null");
  EXPECT_DEATH(NewHostedCache(nullptr), "host is null");
}

// Calls `call`, as an engine that believes that exceptions of its own come back
// to it.
template <typename Call>
void CatchAll(const Call& call) {
  try {
    call();
  } catch (...) {
  }
}

[[noreturn]] void Throw() { throw std::runtime_error("from the engine"); }

// Throws wherever it is told to.
struct ThrowingSource final : RandomAccessSource {
  explicit ThrowingSource(const RandomAccessSource* all) : source(all) {}
  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    if (throws_in_read) Throw();
    return source->Read(offset, size_bytes, scratch, result);
  }
  void ReadMany(absl::Span<SourceRead> reads) const override {
    if (throws_in_read_many) Throw();
    RandomAccessSource::ReadMany(reads);
  }
  const void* read_group() const override {
    if (throws_in_read_group) Throw();
    return nullptr;
  }
  uint64_t size_bytes() const override {
    if (throws_in_size) Throw();
    return source->size_bytes();
  }
  std::string_view name() const override {
    if (throws_in_name) Throw();
    return source->name();
  }

  const RandomAccessSource* const source;
  bool throws_in_read = false, throws_in_read_many = false,
       throws_in_read_group = false, throws_in_size = false,
       throws_in_name = false;
};

TEST_F(ReaderMisuseDeathTest, AnExceptionOfASourceEndsTheProcess) {
  ThrowingSource source(source_.get());
  for (bool* throws : {&source.throws_in_read, &source.throws_in_size,
                       &source.throws_in_name}) {
    *throws = true;
    EXPECT_DEATH(CatchAll([&] { (void)FilterReader::Open(&source, {}, {}); }),
                 "terminat");
    *throws = false;
  }
  // The reader holds no filter of more than 256 bytes: it is loaded.
  const std::string large =
      testing::WriteBlock(FilterOptions(), testing::EvenRows(1000));
  const auto memory = NewMemorySource(large);
  ThrowingSource large_source(memory.get());
  const auto reader = testing::OpenOrDie(&large_source, {});
  for (bool* throws :
       {&large_source.throws_in_read, &large_source.throws_in_read_many,
        &large_source.throws_in_read_group}) {
    *throws = true;
    EXPECT_DEATH(CatchAll([&] { reader->MayContain(testing::NumberedRow(1)); }),
                 "terminat");
    *throws = false;
  }
}

struct ThrowingSink final : ByteSink {
  absl::Status Append(std::string_view) override { Throw(); }
};

struct ThrowingObserver final : FilterChunkObserver {
  explicit ThrowingObserver(bool when_finished) : at_finish(when_finished) {}
  void OnChunk(uint64_t, const EncodedFilter&) override {
    if (!at_finish) Throw();
  }
  void OnFinish(uint64_t) override { Throw(); }
  const bool at_finish;
};

TEST(WriterMisuseDeathTest, AnExceptionOfASinkOrAnObserverEndsTheProcess) {
  const auto finish = [](ByteSink* sink, FilterChunkObserver* observer) {
    CatchAll([&] {
      FilterBlockWriter writer({}, sink, observer);
      writer.Add("row", "");
      (void)writer.Finish();
    });
  };
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  ThrowingSink throwing_sink;
  ThrowingObserver at_chunk(false), at_finish(true);
  EXPECT_DEATH(finish(&throwing_sink, nullptr), "terminat");
  EXPECT_DEATH(finish(sink.get(), &at_chunk), "terminat");
  EXPECT_DEATH(finish(sink.get(), &at_finish), "terminat");
}

}  // namespace
}  // namespace rowbloom
