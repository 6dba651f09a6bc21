// SPDX-License-Identifier: Apache-2.0
//
// Each function of c.h: with good arguments, where the result is that of
// C++; with odd ones; and with NULL. check_abi.py sees that none is left out.

#include "rowbloom/c.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/filter.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/key_codec.h"
#include "rowbloom/memfilter/concurrent.h"
#include "rowbloom/memfilter/counting.h"
#include "rowbloom/memfilter/mem_filter.h"
#include "rowbloom/memfilter/scalable.h"
#include "rowbloom/version.h"
#include "testing/fpr.h"
#include "testing/keys.h"
#include "testing/threads.h"

namespace rowbloom {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::NumberedRow;
using testing::RunThreads;
using ::testing::StartsWith;

constexpr size_t kAbsurdSize = std::numeric_limits<size_t>::max();

std::string Text(const rowbloom_buffer& buffer) {
  EXPECT_TRUE(buffer.data == nullptr || buffer.data[buffer.size] == '\0');
  return std::string(buffer.data, buffer.data + buffer.size);
}

// The message equals that of C++.
void ExpectError(const rowbloom_error& error, const absl::Status& status) {
  EXPECT_EQ(error.code, static_cast<int>(status.code()));
  EXPECT_EQ(std::string(error.message), status.message());
}

void ExpectNull(rowbloom_code code, const rowbloom_error& error,
                const char* name) {
  EXPECT_EQ(code, ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(error.code, ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(error.message), std::string(name) + " is NULL");
}

TEST(C, VersionIsThatOfTheLibrary) {
  EXPECT_STREQ(rowbloom_version(), ROWBLOOM_VERSION_STRING);
  EXPECT_EQ(rowbloom_abi(), uint32_t{ROWBLOOM_ABI});
}

// ----- Filters -----

class CFilter : public ::testing::Test {
 protected:
  ~CFilter() override {
    rowbloom_filter_free(filter_);
    rowbloom_builder_free(builder_);
    rowbloom_buffer_free(&bytes_);
  }

  void New(const char* spec) {
    rowbloom_builder_free(builder_);
    ASSERT_EQ(rowbloom_builder_new(spec, &builder_, &error_), ROWBLOOM_OK)
        << error_.message;
    EXPECT_STREQ(error_.message, "");
  }
  void Add(std::string_view row) {
    rowbloom_builder_add(builder_, row.data(), row.size(), nullptr, 0);
  }
  void Add(std::string_view row, std::string_view qualifier) {
    rowbloom_builder_add(builder_, row.data(), row.size(), qualifier.data(),
                         qualifier.size());
  }
  rowbloom_code Finish() {
    return rowbloom_builder_finish(builder_, &bytes_, &error_);
  }
  rowbloom_code Open() {
    rowbloom_filter_free(filter_);
    return rowbloom_filter_open(bytes_.data, bytes_.size, &filter_, &error_);
  }
  bool MayContain(std::string_view row) {
    return rowbloom_filter_may_contain(filter_, row.data(), row.size(), nullptr,
                                       0);
  }
  bool MayContain(std::string_view row, std::string_view qualifier) {
    return rowbloom_filter_may_contain(filter_, row.data(), row.size(),
                                       qualifier.data(), qualifier.size());
  }

  rowbloom_builder* builder_ = nullptr;
  rowbloom_filter* filter_ = nullptr;
  rowbloom_buffer bytes_ = {};
  rowbloom_error error_ = {};
};

TEST_F(CFilter, BytesAndAnswersAreThoseOfCpp) {
  constexpr uint64_t kKeys = 20000;
  for (const std::string_view family : FilterFamilyNames()) {
    SCOPED_TRACE(family);
    const std::string spec = std::string(family) + ":bits_per_key=10";
    const auto cpp = NewFilterBuilder(*FilterSpec::Parse(spec));
    New(spec.c_str());
    for (uint64_t i = 0; i < kKeys; ++i) {
      Add(NumberedRow(i));
      cpp->Add(FilterKey::Row(NumberedRow(i)).digest());
      Add(NumberedRow(i), "");
      cpp->Add(FilterKey::RowCol(NumberedRow(i), "").digest());
    }
    ASSERT_EQ(Finish(), ROWBLOOM_OK) << error_.message;
    EXPECT_EQ(Text(bytes_), EncodeFilterBlob(cpp->Finish(), ""));
    EXPECT_EQ(rowbloom_filter_verify(bytes_.data, bytes_.size, &error_),
              ROWBLOOM_OK);
    ASSERT_EQ(Open(), ROWBLOOM_OK) << error_.message;
    uint64_t positives = 0;
    for (uint64_t i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(MayContain(NumberedRow(i)));
      ASSERT_TRUE(MayContain(NumberedRow(i), ""));
      positives += MayContain(NumberedRow(i), "absent");
    }
    const std::string blob = Text(bytes_);
    const double rate = ParseFilterBlob(blob)->view.expected_fpr();
    EXPECT_TRUE(testing::WithinBinomialBound(positives, kKeys, rate, 0.03));
  }
}

TEST_F(CFilter, BuilderIsUsedAgain) {
  New(nullptr);
  Add("first");
  ASSERT_EQ(Finish(), ROWBLOOM_OK);
  const std::string first = Text(bytes_);
  ASSERT_EQ(Finish(), ROWBLOOM_OK);
  EXPECT_LT(bytes_.size, first.size());
  ASSERT_EQ(Open(), ROWBLOOM_OK);
  EXPECT_TRUE(MayContain("anything"));  // A filter without keys.
  Add("first");
  ASSERT_EQ(Finish(), ROWBLOOM_OK);
  EXPECT_EQ(Text(bytes_), first);
}

TEST_F(CFilter, BadSpecHasTheErrorOfCpp) {
  for (const char* spec :
       {"", "ribbon", "compact:bits_per_key=99", "compact:bits_per_key=nan",
        "compact:target_fpr=2", "compact:bits_per_key", "compact:x=1",
        "compact:", ":bits_per_key=10"}) {
    SCOPED_TRACE(spec);
    builder_ = reinterpret_cast<rowbloom_builder*>(this);
    EXPECT_EQ(rowbloom_builder_new(spec, &builder_, &error_),
              ROWBLOOM_INVALID_ARGUMENT);
    EXPECT_EQ(builder_, nullptr);
    ExpectError(error_, FilterSpec::Parse(spec).status());
    EXPECT_EQ(rowbloom_builder_new(spec, &builder_, nullptr),
              ROWBLOOM_INVALID_ARGUMENT);
  }
}

TEST_F(CFilter, LongMessageIsCutBetweenCharacters) {
  for (size_t padding = 0; padding < 4; ++padding) {
    std::string spec(padding, 'x');
    for (int i = 0; i < 1000; ++i) spec += "\xe2\x82\xac";  // The sign of euro.
    EXPECT_EQ(rowbloom_builder_new(spec.c_str(), &builder_, &error_),
              ROWBLOOM_INVALID_ARGUMENT);
    const std::string message = error_.message;
    EXPECT_GE(message.size(), sizeof(error_.message) - 4);
    EXPECT_LT(message.size(), sizeof(error_.message));
    EXPECT_THAT(message, StartsWith("unknown filter family \""));
    EXPECT_THAT(message, EndsWith("\xe2\x82\xac..."));
  }
}

TEST_F(CFilter, KeyThatIsLostFailsTheFilter) {
  New("fast");
  Add("before");
  rowbloom_builder_add(builder_, nullptr, 7, nullptr, 0);
  Add("after");
  rowbloom_builder_add(builder_, "row", 3, nullptr, 9);
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "row is NULL, with size 7");
  EXPECT_EQ(bytes_.size, 0u);
  rowbloom_builder_add(builder_, "row", 3, "q", kAbsurdSize);
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, StartsWith("qualifier has size 18446744073709"));
  Add("later");
  EXPECT_EQ(Finish(), ROWBLOOM_OK);  // The mistake was told.
}

TEST_F(CFilter, ManyKeysAreThoseOfSingleAdds) {
  const rowbloom_key keys[] = {
      {"a", 1, nullptr, 0}, {"a", 1, "", 0}, {"b", 1, "q", 1}};
  New("compact");
  for (const rowbloom_key& key : keys) {
    rowbloom_builder_add(builder_, key.row, key.row_size, key.qualifier,
                         key.qualifier_size);
  }
  ASSERT_EQ(Finish(), ROWBLOOM_OK);
  const std::string one_by_one = Text(bytes_);
  rowbloom_builder_add_many(builder_, keys, 3);
  rowbloom_builder_add_many(builder_, keys, 0);
  rowbloom_builder_add_many(builder_, nullptr, 0);
  ASSERT_EQ(Finish(), ROWBLOOM_OK);
  EXPECT_EQ(Text(bytes_), one_by_one);

  const rowbloom_key lost[] = {{"a", 1, nullptr, 0}, {nullptr, 7, nullptr, 0}};
  rowbloom_builder_add_many(builder_, lost, 2);
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "row is NULL, with size 7");
  rowbloom_builder_add_many(builder_, nullptr, 2);
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, StartsWith("keys is NULL, with size "));
  rowbloom_builder_add_many(builder_, keys, kAbsurdSize);
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, StartsWith("keys has size "));
  rowbloom_builder_add_many(nullptr, keys, 3);
}

TEST_F(CFilter, EmptyRowAndEmptyQualifierAreKeys) {
  New("compact:bits_per_key=20");
  rowbloom_builder_add(builder_, nullptr, 0, nullptr, 0);
  Add("", "");
  ASSERT_EQ(Finish(), ROWBLOOM_OK);
  ASSERT_EQ(Open(), ROWBLOOM_OK);
  EXPECT_TRUE(rowbloom_filter_may_contain(filter_, nullptr, 0, nullptr, 0));
  EXPECT_TRUE(MayContain(""));
  EXPECT_TRUE(MayContain("", ""));
  EXPECT_FALSE(MayContain("absent"));
}

TEST_F(CFilter, DamageHasTheErrorOfCpp) {
  New("blocked_bloom");
  for (int i = 0; i < 100; ++i) Add(NumberedRow(i));
  ASSERT_EQ(Finish(), ROWBLOOM_OK);
  const std::string good = Text(bytes_);
  for (size_t size = 0; size < good.size(); ++size) {
    const std::string_view cut(good.data(), size);
    ASSERT_EQ(rowbloom_filter_open(cut.data(), size, &filter_, &error_),
              static_cast<int>(ParseFilterBlob(cut).status().code()));
    ASSERT_EQ(filter_, nullptr);
    ExpectError(error_, ParseFilterBlob(cut).status());
    rowbloom_filter_verify(cut.data(), size, &error_);
    ExpectError(error_, VerifyFilterBlob(cut));
  }
  std::string damaged = good;
  damaged[3] ^= 1;
  EXPECT_EQ(rowbloom_filter_verify(damaged.data(), damaged.size(), &error_),
            ROWBLOOM_DATA_LOSS);
  ExpectError(error_, VerifyFilterBlob(damaged));
}

TEST_F(CFilter, NullIsToldAndAnswersMaybe) {
  ExpectNull(rowbloom_builder_new("fast", nullptr, &error_), error_, "out");
  rowbloom_builder_add(nullptr, "row", 3, nullptr, 0);
  ExpectNull(rowbloom_builder_finish(nullptr, &bytes_, &error_), error_,
             "builder");
  New("fast");
  ExpectNull(rowbloom_builder_finish(builder_, nullptr, &error_), error_,
             "filter");
  ExpectNull(rowbloom_filter_open("", 0, nullptr, &error_), error_, "out");
  EXPECT_EQ(rowbloom_filter_open(nullptr, 0, &filter_, &error_),
            ROWBLOOM_DATA_LOSS);
  EXPECT_EQ(rowbloom_filter_open(nullptr, 1, &filter_, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(rowbloom_filter_open("x", kAbsurdSize, &filter_, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(rowbloom_filter_verify(nullptr, 9, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(rowbloom_filter_verify(nullptr, 0, nullptr), ROWBLOOM_DATA_LOSS);
  EXPECT_TRUE(rowbloom_filter_may_contain(nullptr, "row", 3, nullptr, 0));
  Add("row");
  ASSERT_EQ(Finish(), ROWBLOOM_OK);
  ASSERT_EQ(Open(), ROWBLOOM_OK);
  EXPECT_TRUE(rowbloom_filter_may_contain(filter_, nullptr, 3, nullptr, 0));
  EXPECT_TRUE(rowbloom_filter_may_contain(filter_, "x", kAbsurdSize, "", 0));
  EXPECT_TRUE(rowbloom_filter_may_contain(filter_, "x", 1, nullptr, 1));
  rowbloom_builder_free(nullptr);
  rowbloom_filter_free(nullptr);
  rowbloom_buffer_free(nullptr);
  rowbloom_buffer_free(&bytes_);
  EXPECT_EQ(bytes_.data, nullptr);
  rowbloom_buffer_free(&bytes_);
}

// ----- Filter blocks -----

rowbloom_code AppendTo(void* context, const void* bytes, size_t size,
                       rowbloom_error* error) {
  EXPECT_NE(error, nullptr);
  static_cast<std::string*>(context)->append(static_cast<const char*>(bytes),
                                             size);
  return ROWBLOOM_OK;
}

// A source that can fail, and counts its reads.
struct Source {
  std::string bytes;
  std::atomic<int> reads{0};
  std::atomic<rowbloom_code> code{ROWBLOOM_OK};
  std::string message;

  rowbloom_source AsC(const char* name = "000012.sst") {
    return {&Source::Read, this, bytes.size(), name};
  }
  static rowbloom_code Read(void* context, uint64_t offset, void* to,
                            size_t size, rowbloom_error* error) {
    auto* source = static_cast<Source*>(context);
    ++source->reads;
    if (source->code != ROWBLOOM_OK) {
      source->message.copy(error->message, sizeof(error->message) - 1);
      return source->code;
    }
    if (offset + size > source->bytes.size()) return ROWBLOOM_OUT_OF_RANGE;
    std::memcpy(to, source->bytes.data() + offset, size);
    return ROWBLOOM_OK;
  }
};

constexpr char kWriterOptions[] =
    "bloom_type=ROWCOL;filter_spec=compact:bits_per_key=12;"
    "chunk_size_bytes=4096";
constexpr uint64_t kRows = 20000;

// Rows of even numbers, with the qualifiers "a" and "c".
std::string Block(const char* options, rowbloom_block_info* info) {
  std::string block;
  rowbloom_writer* writer = nullptr;
  rowbloom_error error;
  EXPECT_EQ(rowbloom_writer_new(options, AppendTo, &block, &writer, &error),
            ROWBLOOM_OK)
      << error.message;
  for (uint64_t i = 0; i < kRows; i += 2) {
    const std::string row = NumberedRow(i);
    rowbloom_writer_add(writer, row.data(), row.size(), "a", 1);
    rowbloom_writer_add(writer, row.data(), row.size(), "c", 1);
  }
  EXPECT_EQ(rowbloom_writer_finish(writer, info, &error), ROWBLOOM_OK)
      << error.message;
  EXPECT_STREQ(error.message, "");
  rowbloom_writer_free(writer);
  return block;
}

TEST(CBlock, IsThatOfCpp) {
  rowbloom_block_info info;
  const std::string block = Block(kWriterOptions, &info);
  std::string cpp_block;
  const auto sink = NewStringSink(&cpp_block);
  FilterOptions options;
  options.bloom_type = BloomType::kRowCol;
  options.filter_spec = FilterSpec::BitsPerKey("compact", 12);
  options.chunk_size_bytes = 4096;
  FilterBlockWriter cpp(options, sink.get());
  for (uint64_t i = 0; i < kRows; i += 2) {
    cpp.Add(NumberedRow(i), "a");
    cpp.Add(NumberedRow(i), "c");
  }
  const auto cpp_info = cpp.Finish();
  EXPECT_EQ(block, cpp_block);
  EXPECT_EQ(info.size_bytes, block.size());
  EXPECT_EQ(info.tail_size_bytes, cpp_info->tail_size_bytes);
  EXPECT_EQ(info.key_count, kRows / 2 * 3);
  EXPECT_EQ(info.chunk_count, cpp_info->chunk_count);
}

class CWriter : public ::testing::Test {
 protected:
  ~CWriter() override { rowbloom_writer_free(writer_); }

  rowbloom_code New(const char* options, rowbloom_append_fn append = AppendTo) {
    rowbloom_writer_free(writer_);
    return rowbloom_writer_new(options, append, &block_, &writer_, &error_);
  }
  void Add(const char* row, const char* qualifier) {
    rowbloom_writer_add(writer_, row, std::strlen(row), qualifier,
                        qualifier == nullptr ? 0 : std::strlen(qualifier));
  }
  rowbloom_code Finish() {
    return rowbloom_writer_finish(writer_, nullptr, &error_);
  }

  std::string block_;
  rowbloom_writer* writer_ = nullptr;
  rowbloom_error error_ = {};
};

TEST_F(CWriter, BadOptionsAreTold) {
  const struct {
    const char* options;
    const char* message;
  } kCases[] = {
      {"bloom_type", "writer options: option 1 is not name=value"},
      {"bloom_type=row;bloom_type=ROW",
       "writer options: bloom_type is given twice"},
      {"bloom=ROW",
       "writer options: unknown option \"bloom\"; known: bloom_type, "
       "prefix_length_bytes, filter_spec, chunk_size_bytes, rowcol_adds_rows, "
       "secret, key_codec"},
      {"chunk_size_bytes=4k",
       "writer options: chunk_size_bytes=4k is not a whole number from 0 to "
       "4294967295"},
      {"chunk_size_bytes=-1",
       "writer options: chunk_size_bytes=-1 is not a whole number from 0 to "
       "4294967295"},
      {"rowcol_adds_rows=maybe",
       "writer options: rowcol_adds_rows=maybe is not true or false"},
      {"secret=00112233445566778899aabbccddeef",
       "writer options: secret is not 32 hexadecimal digits"},
      {"secret=-0112233445566778899aabbccddeeff",
       "writer options: secret is not 32 hexadecimal digits"},
      {"=",
       "writer options: unknown option \"\"; known: bloom_type, "
       "prefix_length_bytes, filter_spec, chunk_size_bytes, "
       "rowcol_adds_rows, secret, key_codec"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(New(c.options), ROWBLOOM_INVALID_ARGUMENT);
    EXPECT_STREQ(error_.message, c.message);
    EXPECT_EQ(writer_, nullptr);
  }
  // The values have the errors of C++.
  EXPECT_EQ(New("bloom_type=COLUMN"), ROWBLOOM_INVALID_ARGUMENT);
  ExpectError(error_, ParseBloomType("COLUMN").status());
  // An empty value does not stand for the default.
  EXPECT_EQ(New("bloom_type="), ROWBLOOM_INVALID_ARGUMENT);
  ExpectError(error_, ParseBloomType("").status());
  EXPECT_EQ(New("key_codec="), ROWBLOOM_INVALID_ARGUMENT);
  ExpectError(error_, KeyCodec::Parse("").status());
  EXPECT_EQ(New("secret="), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(New("chunk_size_bytes="), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(New("filter_spec=fast:bits_per_key=0"), ROWBLOOM_INVALID_ARGUMENT);
  ExpectError(error_, FilterSpec::Parse("fast:bits_per_key=0").status());
  FilterOptions options;
  options.chunk_size_bytes = 7;
  EXPECT_EQ(New("chunk_size_bytes=7"), ROWBLOOM_INVALID_ARGUMENT);
  ExpectError(error_, ValidateFilterOptions(options));
  EXPECT_EQ(New("key_codec=row.fixed:0"), ROWBLOOM_INVALID_ARGUMENT);
  ExpectError(error_, KeyCodec::Parse("row.fixed:0").status());
  options = {};
  options.bloom_type = BloomType::kRowPrefixFixedLength;
  options.prefix_length_bytes = 4;
  options.key_codec = KeyCodec::Ordered();
  EXPECT_EQ(New("bloom_type=ROWPREFIX_FIXED_LENGTH;prefix_length_bytes=4;"
                "key_codec=ordered"),
            ROWBLOOM_INVALID_ARGUMENT);
  ExpectError(error_, ValidateFilterOptions(options));
  EXPECT_EQ(New("key_codec=row.delimiter:=,at.rest"), ROWBLOOM_OK);
  EXPECT_EQ(New(nullptr), ROWBLOOM_OK);
  EXPECT_EQ(New(";;bloom_type=none;"), ROWBLOOM_OK);
  EXPECT_EQ(New("bloom_type=ROWPREFIX_FIXED_LENGTH;prefix_length_bytes=4"),
            ROWBLOOM_OK);
}

TEST_F(CWriter, MistakesAreToldByFinish) {
  ASSERT_EQ(New("bloom_type=ROWCOL"), ROWBLOOM_OK);
  Add("row", "q");
  Add("row", nullptr);
  Add("sow", "q");
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("without a qualifier"));
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);

  ASSERT_EQ(New("bloom_type=ROWCOL"), ROWBLOOM_OK);
  Add("row", "q");
  rowbloom_writer_add(writer_, "row", 3, nullptr, 2);
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "qualifier is NULL, with size 2");

  ASSERT_EQ(New(nullptr), ROWBLOOM_OK);
  rowbloom_writer_add(writer_, "row", 3, nullptr, ROWBLOOM_PREFIX);
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message,
               "a prefix is no key to add: only lookups of readers take "
               "ROWBLOOM_PREFIX");

  ASSERT_EQ(New("bloom_type=ROW"), ROWBLOOM_OK);
  Add("row", nullptr);  // Rows need no qualifier.
  EXPECT_EQ(Finish(), ROWBLOOM_OK) << error_.message;
  EXPECT_EQ(Finish(), ROWBLOOM_FAILED_PRECONDITION);
  Add("sow", nullptr);
  EXPECT_EQ(Finish(), ROWBLOOM_FAILED_PRECONDITION);
  EXPECT_THAT(error_.message, HasSubstr("make a new writer for each block"));

  ASSERT_EQ(New("bloom_type=ROWCOL"), ROWBLOOM_OK);
  Add("b", "q");
  Add("a", "q");
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  std::string cpp_block;
  const auto sink = NewStringSink(&cpp_block);
  FilterOptions options;
  options.bloom_type = BloomType::kRowCol;
  FilterBlockWriter cpp(options, sink.get());
  cpp.Add("b", "q");
  cpp.Add("a", "q");
  ExpectError(error_, cpp.Finish().status());
}

TEST_F(CWriter, ErrorsOfTheCallbackArePassedOn) {
  ASSERT_EQ(New(nullptr,
                [](void*, const void*, size_t, rowbloom_error* error) {
                  std::strcpy(error->message, "disk full");
                  return rowbloom_code{ROWBLOOM_RESOURCE_EXHAUSTED};
                }),
            ROWBLOOM_OK);
  Add("row", nullptr);
  EXPECT_EQ(Finish(), ROWBLOOM_RESOURCE_EXHAUSTED);
  EXPECT_STREQ(error_.message, "disk full");

  ASSERT_EQ(New(nullptr,
                [](void*, const void*, size_t, rowbloom_error*) {
                  return rowbloom_code{ROWBLOOM_UNAVAILABLE};
                }),
            ROWBLOOM_OK);
  EXPECT_EQ(Finish(), ROWBLOOM_UNAVAILABLE);
  EXPECT_STREQ(error_.message, "append callback returned code 14");

  ASSERT_EQ(New(nullptr,
                [](void*, const void*, size_t, rowbloom_error* error) {
                  std::memset(error->message, 'x', sizeof(error->message));
                  return rowbloom_code{-7};
                }),
            ROWBLOOM_OK);
  EXPECT_EQ(Finish(), ROWBLOOM_UNKNOWN);
  EXPECT_EQ(std::strlen(error_.message), sizeof(error_.message) - 1);
}

TEST_F(CWriter, ManyCellsAreThoseOfSingleAdds) {
  const rowbloom_key cells[] = {{"a", 1, "", 0}, {"b", 1, "q", 1}};
  ASSERT_EQ(New("bloom_type=ROWCOL"), ROWBLOOM_OK);
  Add("a", "");
  Add("b", "q");
  ASSERT_EQ(Finish(), ROWBLOOM_OK);
  const std::string one_by_one = std::exchange(block_, "");
  ASSERT_EQ(New("bloom_type=ROWCOL"), ROWBLOOM_OK);
  rowbloom_writer_add_many(writer_, cells, 2);
  rowbloom_writer_add_many(writer_, nullptr, 0);
  ASSERT_EQ(Finish(), ROWBLOOM_OK);
  EXPECT_EQ(block_, one_by_one);

  const rowbloom_key row[] = {{"a", 1, "", 0}, {"b", 1, nullptr, 0}};
  ASSERT_EQ(New("bloom_type=ROWCOL"), ROWBLOOM_OK);
  rowbloom_writer_add_many(writer_, row, 2);
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("without a qualifier"));
  ASSERT_EQ(New(nullptr), ROWBLOOM_OK);
  rowbloom_writer_add_many(writer_, nullptr, 2);
  rowbloom_writer_add_many(writer_, cells, 2);
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, StartsWith("cells is NULL, with size "));
  ASSERT_EQ(New(nullptr), ROWBLOOM_OK);
  rowbloom_writer_add_many(writer_, cells, kAbsurdSize);
  EXPECT_EQ(Finish(), ROWBLOOM_INVALID_ARGUMENT);
  rowbloom_writer_add_many(nullptr, cells, 2);
}

TEST_F(CWriter, NullIsTold) {
  ExpectNull(rowbloom_writer_new(nullptr, AppendTo, &block_, nullptr, &error_),
             error_, "out");
  ExpectNull(New(nullptr, nullptr), error_, "append");
  rowbloom_writer_add(nullptr, "row", 3, nullptr, 0);
  rowbloom_block_info info = {1, 1, 1, 1};
  ExpectNull(rowbloom_writer_finish(nullptr, &info, &error_), error_, "writer");
  EXPECT_EQ(info.size_bytes, 0u);
  ASSERT_EQ(New(nullptr), ROWBLOOM_OK);
  rowbloom_writer_add(writer_, nullptr, 3, nullptr, 0);
  EXPECT_EQ(rowbloom_writer_finish(writer_, &info, nullptr),
            ROWBLOOM_INVALID_ARGUMENT);
  rowbloom_writer_free(nullptr);
}

class CReader : public ::testing::Test {
 protected:
  CReader() { source_.bytes = Block(kWriterOptions, &info_); }
  ~CReader() override {
    rowbloom_reader_free(reader_);
    rowbloom_cache_free(cache_);
    rowbloom_stats_free(stats_);
  }

  void ShareCacheAndStats() {
    ASSERT_EQ(rowbloom_cache_new(1 << 20, &cache_, &error_), ROWBLOOM_OK);
    ASSERT_EQ(rowbloom_stats_new(&stats_, &error_), ROWBLOOM_OK);
  }
  rowbloom_code Open(const char* options) {
    rowbloom_reader_free(reader_);
    const rowbloom_source source = source_.AsC();
    return rowbloom_reader_open(&source, 0, source_.bytes.size(), options,
                                cache_, stats_, &reader_, &error_);
  }
  bool MayContain(std::string_view row, const char* qualifier = nullptr) {
    return rowbloom_reader_may_contain(
        reader_, row.data(), row.size(), qualifier,
        qualifier == nullptr ? 0 : std::strlen(qualifier));
  }
  int32_t Ask(std::string_view row, rowbloom_load* load) {
    return rowbloom_reader_ask(reader_, row.data(), row.size(), nullptr, 0,
                               load);
  }
  int32_t Offer(std::string_view row, const rowbloom_load& load,
                std::string_view bytes) {
    return rowbloom_reader_offer(reader_, &load, ROWBLOOM_OK, bytes.data(),
                                 bytes.size(), row.data(), row.size(), nullptr,
                                 0);
  }
  uint64_t Count(int32_t counter) {
    return rowbloom_stats_get(stats_, counter);
  }

  rowbloom_block_info info_;
  Source source_;
  rowbloom_cache* cache_ = nullptr;
  rowbloom_stats* stats_ = nullptr;
  rowbloom_reader* reader_ = nullptr;
  rowbloom_error error_ = {};
};

TEST_F(CReader, LosesNoKeyOnFourThreads) {
  ShareCacheAndStats();
  ASSERT_EQ(Open("always_load=true;level=3;file_id=12"), ROWBLOOM_OK)
      << error_.message;
  std::atomic<uint64_t> false_positives{0}, lookups{0};
  RunThreads(4, [&](int) {
    for (uint64_t i = 0; i < kRows; ++i) {
      const bool there = i % 2 == 0;
      for (const char* column : {"a", "b", "c", ""}) {
        const std::string row = NumberedRow(i);
        const bool has = there && (*column == 'a' || *column == 'c');
        const bool answer = MayContain(row, *column == '\0' ? nullptr : column);
        const bool expected = *column == '\0' ? there : has;
        if (expected) {
          ASSERT_TRUE(answer) << row << column;
        } else {
          ++lookups;
          false_positives += answer;
        }
      }
    }
  });
  EXPECT_LT(false_positives, lookups / 100);
  EXPECT_EQ(Count(ROWBLOOM_LOOKUPS), 4 * 4 * kRows);
  EXPECT_EQ(Count(ROWBLOOM_NEGATIVES), lookups - false_positives);
  EXPECT_GT(Count(ROWBLOOM_CHUNK_LOADS), 0u);
  EXPECT_EQ(rowbloom_reader_verify(reader_, &error_), ROWBLOOM_OK);

  rowbloom_buffer text = {};
  EXPECT_EQ(rowbloom_cache_usage(cache_, &text, &error_), ROWBLOOM_OK);
  EXPECT_THAT(Text(text), HasSubstr("capacity_bytes 1048576\n"));
  EXPECT_EQ(rowbloom_stats_prometheus(stats_, &text, &error_), ROWBLOOM_OK);
  EXPECT_THAT(Text(text),
              HasSubstr("rowbloom_lookups_total{level=\"3\"} 320000\n"));
  rowbloom_cache_erase_file(cache_, 12);
  rowbloom_cache_set_capacity(cache_, 1 << 19);
  EXPECT_EQ(rowbloom_cache_usage(cache_, &text, &error_), ROWBLOOM_OK);
  EXPECT_THAT(Text(text), HasSubstr("capacity_bytes 524288\n"));
  EXPECT_THAT(Text(text), HasSubstr("chunk_bytes 0\n"));
  rowbloom_buffer_free(&text);
}

TEST_F(CReader, OneKeyIsAskedOfManyReaders) {
  ASSERT_EQ(Open("always_load=true"), ROWBLOOM_OK);
  const rowbloom_reader* const readers[] = {reader_, nullptr, reader_};
  for (uint64_t i = 0; i < kRows; ++i) {
    const std::string row = NumberedRow(i);
    bool answers[3] = {};
    rowbloom_readers_may_contain(readers, 3, row.data(), row.size(), "a", 1,
                                 answers);
    ASSERT_EQ(answers[0], MayContain(row, "a"));
    ASSERT_TRUE(answers[1]);
    ASSERT_EQ(answers[2], answers[0]);
  }
  bool answers[3] = {};
  rowbloom_readers_may_contain(readers, 2, nullptr, 1, nullptr, 0, answers);
  EXPECT_THAT(answers, ::testing::ElementsAre(true, true, false));
  rowbloom_readers_may_contain(nullptr, 3, "r", 1, nullptr, 0, answers);
  EXPECT_TRUE(answers[2]);
  rowbloom_readers_may_contain(readers, 3, "r", 1, nullptr, 0, nullptr);
  rowbloom_readers_may_contain(readers, kAbsurdSize, "r", 1, nullptr, 0,
                               answers);
  rowbloom_readers_may_contain(readers, 0, "r", 1, nullptr, 0, answers);
}

// Files of one group, whose reads are counted in calls.
class CMany : public CReader {
 protected:
  static constexpr int kFiles = 3;

  ~CMany() override {
    for (rowbloom_reader* reader : readers_) rowbloom_reader_free(reader);
  }

  static void ReadMany(void* context, rowbloom_read* reads, size_t count) {
    auto* test = static_cast<CMany*>(context);
    ++test->calls_;
    for (rowbloom_read* read = reads; read < reads + count; ++read) {
      EXPECT_EQ(read->code, ROWBLOOM_UNKNOWN);
      if (test->forgets_) continue;
      rowbloom_error error = {};
      read->code = Source::Read(read->context, read->offset, read->to,
                                read->size, &error);
    }
  }
  void OpenFiles(const char* options, bool in_group = true) {
    const rowbloom_read_group group = {&CMany::ReadMany, this};
    for (int i = 0; i < kFiles; ++i) {
      files_[i].bytes = source_.bytes;
      const rowbloom_source source = files_[i].AsC();
      const uint64_t size = source.size_bytes;
      ASSERT_EQ(in_group
                    ? rowbloom_reader_open_in_group(&source, &group, 0, size,
                                                    options, cache_, stats_,
                                                    &readers_[i], &error_)
                    : rowbloom_reader_open(&source, 0, size, options, cache_,
                                           stats_, &readers_[i], &error_),
                ROWBLOOM_OK)
          << error_.message;
    }
  }
  // Asks each file for each row; those of odd numbers are absent.
  void Ask() {
    for (int i = 0; i < kFiles; ++i) {
      for (size_t key = 0; key < rows_.size(); ++key) {
        questions_.push_back({readers_[i], key});
      }
    }
    for (const std::string& row : rows_) {
      keys_.push_back({row.data(), row.size(), "a", 1});
    }
    rowbloom_may_contain_many(keys_.data(), keys_.size(), questions_.data(),
                              questions_.size(), answers_);
  }

  Source files_[kFiles];
  rowbloom_reader* readers_[kFiles] = {};
  int calls_ = 0;
  bool forgets_ = false;
  const std::vector<std::string> rows_ = {NumberedRow(0), NumberedRow(1),
                                          NumberedRow(kRows - 2),
                                          NumberedRow(kRows - 3)};
  std::vector<rowbloom_key> keys_;
  std::vector<rowbloom_question> questions_;
  bool answers_[64] = {};
};

TEST_F(CMany, ColdFilesAreReadByOneCall) {
  ShareCacheAndStats();
  OpenFiles("always_load=true");
  Ask();
  EXPECT_EQ(calls_, 1);
  for (size_t i = 0; i < questions_.size(); ++i) {
    const bool expected = rowbloom_reader_may_contain(
        questions_[i].reader, keys_[questions_[i].key].row,
        keys_[questions_[i].key].row_size, "a", 1);
    EXPECT_EQ(answers_[i], expected) << i;
    EXPECT_TRUE(answers_[i] || questions_[i].key % 2 == 1);
  }
  EXPECT_FALSE(answers_[1]);
  EXPECT_EQ(Count(ROWBLOOM_CHUNK_LOADS), 2u * kFiles);
  EXPECT_EQ(Count(ROWBLOOM_LOAD_ERRORS), 0u);
}

TEST_F(CMany, WithoutAGroupTheSourcesRead) {
  ShareCacheAndStats();
  OpenFiles("always_load=true", /*in_group=*/false);
  Ask();
  EXPECT_EQ(calls_, 0);
  EXPECT_FALSE(answers_[1]);
  EXPECT_EQ(Count(ROWBLOOM_CHUNK_LOADS), 2u * kFiles);
}

TEST_F(CMany, ReadsThatFailOrAreForgottenAnswerMaybe) {
  ShareCacheAndStats();
  OpenFiles("always_load=true");
  files_[1].code = ROWBLOOM_UNAVAILABLE;
  Ask();
  EXPECT_FALSE(answers_[1]);
  EXPECT_TRUE(answers_[5]);
  EXPECT_EQ(Count(ROWBLOOM_LOAD_ERRORS), 2u);
  for (rowbloom_reader*& reader : readers_) {
    rowbloom_reader_free(reader);
    reader = nullptr;
  }
  files_[1].code = ROWBLOOM_OK;
  OpenFiles("always_load=true");
  forgets_ = true;
  questions_.clear();
  keys_.clear();
  Ask();
  EXPECT_EQ(std::count(answers_, answers_ + questions_.size(), true),
            static_cast<int>(questions_.size()));
  EXPECT_EQ(Count(ROWBLOOM_LOAD_ERRORS), 2u + 2 * kFiles);
}

TEST_F(CMany, OddQuestionsAnswerMaybe) {
  OpenFiles("prefetch=true");
  const std::string absent = NumberedRow(1);
  const rowbloom_key keys[] = {{absent.data(), absent.size(), nullptr, 0},
                               {nullptr, 5, nullptr, 0},
                               {"x", kAbsurdSize, nullptr, 0},
                               {"x", 1, nullptr, ROWBLOOM_PREFIX}};
  const rowbloom_question questions[] = {
      {readers_[0], 0}, {nullptr, 0},     {readers_[0], 1}, {readers_[0], 2},
      {readers_[0], 3}, {readers_[0], 4}, {readers_[2], 0}};
  bool answers[7] = {};
  rowbloom_may_contain_many(keys, 4, questions, 7, answers);
  EXPECT_THAT(answers, ::testing::ElementsAre(false, true, true, true, true,
                                              true, false));
  rowbloom_may_contain_many(nullptr, 4, questions, 7, answers);
  EXPECT_THAT(answers, ::testing::Each(true));
  std::fill_n(answers, 7, false);
  rowbloom_may_contain_many(keys, 4, nullptr, 7, answers);
  EXPECT_THAT(answers, ::testing::Each(true));
  std::fill_n(answers, 7, false);
  rowbloom_may_contain_many(keys, kAbsurdSize, questions, 7, answers);
  EXPECT_THAT(answers, ::testing::Each(true));
  rowbloom_may_contain_many(keys, 4, questions, kAbsurdSize, answers);
  rowbloom_may_contain_many(keys, 4, questions, 7, nullptr);
  rowbloom_may_contain_many(keys, 0, questions, 0, answers);

  rowbloom_source source = source_.AsC();
  rowbloom_read_group group = {&CMany::ReadMany, nullptr};
  const auto open = [&](const rowbloom_source* from,
                        const rowbloom_read_group* in, rowbloom_reader** out) {
    return rowbloom_reader_open_in_group(from, in, 0, source.size_bytes,
                                         nullptr, nullptr, nullptr, out,
                                         &error_);
  };
  ExpectNull(open(&source, nullptr, &reader_), error_, "group");
  ExpectNull(open(nullptr, &group, &reader_), error_, "source");
  ExpectNull(open(&source, &group, nullptr), error_, "out");
  group.read_many = nullptr;
  ExpectNull(open(&source, &group, &reader_), error_, "group->read_many");
  EXPECT_EQ(reader_, nullptr);
}

class CWarm : public CReader {
 protected:
  ~CWarm() override { rowbloom_writer_free(writer_); }

  rowbloom_code New(const char* options) {
    rowbloom_writer_free(writer_);
    block_.clear();
    return rowbloom_writer_new_warm(options, AppendTo, &block_, cache_,
                                    &writer_, &error_);
  }
  rowbloom_code Write(const char* options) {
    EXPECT_EQ(New(options), ROWBLOOM_OK) << error_.message;
    for (uint64_t i = 0; i < kRows; i += 2) {
      const std::string row = NumberedRow(i);
      rowbloom_writer_add(writer_, row.data(), row.size(), "a", 1);
      rowbloom_writer_add(writer_, row.data(), row.size(), "c", 1);
    }
    return rowbloom_writer_finish(writer_, nullptr, &error_);
  }

  std::string block_;
  rowbloom_writer* writer_ = nullptr;
};

TEST_F(CWarm, LookupsOfANewFileReadNothing) {
  ShareCacheAndStats();
  for (const char* more :
       {"", ";pinned=true", ";secret=00112233445566778899aabbccddeeff"}) {
    SCOPED_TRACE(more);
    const std::string options = std::string(kWriterOptions) + more;
    ASSERT_EQ(Write((options + ";file_id=7").c_str()), ROWBLOOM_OK);
    if (std::strstr(more, "secret") == nullptr) {
      EXPECT_EQ(block_, source_.bytes);  // That of rowbloom_writer_new().
    }
    Source written;
    written.bytes = block_;
    const rowbloom_source source = written.AsC();
    rowbloom_reader_free(reader_);
    const std::string reader_options =
        std::string("file_id=7") + (std::strstr(more, "secret") ? more : "");
    ASSERT_EQ(
        rowbloom_reader_open(&source, 0, block_.size(), reader_options.c_str(),
                             cache_, stats_, &reader_, &error_),
        ROWBLOOM_OK)
        << error_.message;
    const int reads = written.reads;
    uint64_t negatives = 0;
    for (uint64_t i = 0; i < kRows; ++i) {
      const bool answer = MayContain(NumberedRow(i), "a");
      ASSERT_TRUE(answer || i % 2 == 1);
      negatives += !answer;
    }
    EXPECT_GT(negatives, kRows / 2 - kRows / 100);
    EXPECT_EQ(written.reads, reads);
    rowbloom_reader_free(reader_);
    reader_ = nullptr;
    rowbloom_cache_erase_file(cache_, 7);
  }
}

TEST_F(CWarm, CacheMayBeFreedBeforeTheWriter) {
  ShareCacheAndStats();
  ASSERT_EQ(New("file_id=9223372036854775807"), ROWBLOOM_OK);
  rowbloom_cache_free(cache_);
  cache_ = nullptr;
  rowbloom_writer_add(writer_, "row", 3, nullptr, 0);
  EXPECT_EQ(rowbloom_writer_finish(writer_, nullptr, &error_), ROWBLOOM_OK);
}

TEST_F(CWarm, MistakesAreTold) {
  ExpectNull(New("file_id=1"), error_, "cache");
  ShareCacheAndStats();
  for (const char* options : {"", "file_id=0"}) {
    EXPECT_EQ(New(options), ROWBLOOM_INVALID_ARGUMENT);
    EXPECT_STREQ(error_.message,
                 "writer options: file_id=0 is not 1 to 2^63 - 1: a block that "
                 "is warm needs its reader's");
    EXPECT_EQ(writer_, nullptr);
  }
  EXPECT_EQ(New("file_id=9223372036854775808"), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(New("file_id=1;chunk_size_bytes=7"), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(New("file_id=1;level=2"), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_THAT(std::string(error_.message),
              EndsWith("secret, key_codec, file_id, pinned"));
  ExpectNull(rowbloom_writer_new_warm("file_id=1", AppendTo, &block_, cache_,
                                      nullptr, &error_),
             error_, "out");
  ExpectNull(rowbloom_writer_new_warm("file_id=1", nullptr, &block_, cache_,
                                      &writer_, &error_),
             error_, "append");
  ASSERT_EQ(New("file_id=1;bloom_type=ROWCOL"), ROWBLOOM_OK);
  rowbloom_writer_add(writer_, "row", 3, nullptr, 0);
  EXPECT_EQ(rowbloom_writer_finish(writer_, nullptr, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
}

// Tenants of four bytes, users and times; of those, every second one is there.
constexpr char kEventCodec[] = "tenant.fixed:4,user.delimiter:/,at.rest";

std::string EventBlock(const char* options) {
  std::string block;
  rowbloom_writer* writer = nullptr;
  EXPECT_EQ(rowbloom_writer_new(options, AppendTo, &block, &writer, nullptr),
            ROWBLOOM_OK);
  for (int tenant = 1000; tenant < 1100; tenant += 2) {
    for (int user = 100; user < 200; user += 2) {
      const std::string key =
          std::to_string(tenant) + std::to_string(user) + "/17:04";
      rowbloom_writer_add(writer, key.data(), key.size(), nullptr, 0);
    }
  }
  EXPECT_EQ(rowbloom_writer_finish(writer, nullptr, nullptr), ROWBLOOM_OK);
  rowbloom_writer_free(writer);
  return block;
}

class CPrefix : public CReader {
 protected:
  void OpenEvents(const std::string& options) {
    source_.bytes = EventBlock(options.c_str());
    ASSERT_EQ(Open("always_load=true"), ROWBLOOM_OK) << error_.message;
  }
  bool HasPrefix(std::string_view prefix) {
    return rowbloom_reader_may_contain(reader_, prefix.data(), prefix.size(),
                                       nullptr, ROWBLOOM_PREFIX);
  }
};

TEST_F(CPrefix, EachKeyLevelIsAnswered) {
  ShareCacheAndStats();
  OpenEvents(std::string("filter_spec=compact:bits_per_key=20;key_codec=") +
             kEventCodec);
  const auto memory = NewMemorySource(source_.bytes);
  FilterReaderOptions options;
  options.loading = FilterLoading::kAlways;
  const auto cpp = FilterReader::Open(memory.get(), {}, options);
  uint64_t negatives = 0, asked = 0;
  const auto ask = [&](const std::string& prefix, bool is_there) {
    const bool answer = HasPrefix(prefix);
    ASSERT_TRUE(answer || !is_there) << prefix;
    ASSERT_EQ(answer, (*cpp)->MayContain(FilterKey::Prefix(prefix)));
    negatives += !answer;
    ++asked;
  };
  for (int tenant = 1000; tenant < 1100; ++tenant) {
    ask(std::to_string(tenant), tenant % 2 == 0);
    for (int user = 100; user < 200; ++user) {
      ask(std::to_string(tenant) + std::to_string(user) + "/",
          tenant % 2 + user % 2 == 0);
    }
  }
  EXPECT_GT(negatives, asked / 2);
  EXPECT_EQ(Count(ROWBLOOM_PREFIX_LOOKUPS), asked);
  EXPECT_EQ(Count(ROWBLOOM_PREFIX_NEGATIVES), negatives);

  // Each lookup of a reader takes prefixes.
  bool answers[2] = {};
  const rowbloom_reader* const readers[] = {reader_, reader_};
  rowbloom_readers_may_contain(readers, 2, "1001", 4, nullptr, ROWBLOOM_PREFIX,
                               answers);
  EXPECT_THAT(answers, ::testing::ElementsAre(false, false));
  rowbloom_load load;
  EXPECT_EQ(
      rowbloom_reader_ask(reader_, "1001", 4, nullptr, ROWBLOOM_PREFIX, &load),
      ROWBLOOM_NO);
  EXPECT_EQ(
      rowbloom_reader_ask(reader_, "1002", 4, nullptr, ROWBLOOM_PREFIX, &load),
      ROWBLOOM_MAYBE);
  EXPECT_EQ(rowbloom_reader_offer(reader_, &load, ROWBLOOM_OK, "", 0, "1001", 4,
                                  nullptr, ROWBLOOM_PREFIX),
            ROWBLOOM_NO);
}

TEST_F(CPrefix, KeyLevelsAreCounted) {
  ShareCacheAndStats();
  OpenEvents(std::string("key_codec=") + kEventCodec);
  for (const char* prefix : {"1001", "1002", "1004", "1002101/", "100"}) {
    HasPrefix(prefix);
  }
  const auto count = [&](size_t key_level, int32_t counter) {
    return rowbloom_stats_get_of_key_level(stats_, key_level, counter);
  };
  EXPECT_EQ(count(1, ROWBLOOM_PREFIX_LOOKUPS), 3u);
  EXPECT_EQ(count(1, ROWBLOOM_PREFIX_NEGATIVES), 1u);
  EXPECT_EQ(count(2, ROWBLOOM_PREFIX_LOOKUPS), 1u);
  EXPECT_EQ(count(2, ROWBLOOM_PREFIX_NEGATIVES), 1u);
  for (const size_t odd : {size_t{0}, size_t{3}, size_t{9}, kAbsurdSize}) {
    EXPECT_EQ(count(odd, ROWBLOOM_PREFIX_LOOKUPS), 0u);
  }
  EXPECT_EQ(count(1, ROWBLOOM_LOOKUPS), 0u);
  EXPECT_EQ(rowbloom_stats_get_of_key_level(nullptr, 1, 9), 0u);
}

TEST_F(CPrefix, BlockOfPrefixesOfFixedLengthAnswers) {
  OpenEvents("bloom_type=ROWPREFIX_FIXED_LENGTH;prefix_length_bytes=4");
  EXPECT_TRUE(HasPrefix("1002"));
  EXPECT_TRUE(HasPrefix("100"));
  EXPECT_FALSE(HasPrefix("1001"));
}

TEST_F(CPrefix, WithoutAnAnswerIsMaybe) {
  OpenEvents(std::string("key_codec=") + kEventCodec);
  for (const char* prefix : {"", "1", "100"}) EXPECT_TRUE(HasPrefix(prefix));
  EXPECT_TRUE(rowbloom_reader_may_contain(reader_, nullptr, 4, nullptr,
                                          ROWBLOOM_PREFIX));
  EXPECT_TRUE(rowbloom_reader_may_contain(reader_, nullptr, 0, nullptr,
                                          ROWBLOOM_PREFIX));
  EXPECT_TRUE(rowbloom_reader_may_contain(reader_, "1001", kAbsurdSize, nullptr,
                                          ROWBLOOM_PREFIX));
  EXPECT_TRUE(rowbloom_reader_may_contain(nullptr, "1001", 4, nullptr,
                                          ROWBLOOM_PREFIX));
  OpenEvents("bloom_type=ROW");
  EXPECT_TRUE(HasPrefix("1001"));
  EXPECT_FALSE(MayContain("1001"));

  // Filters and memory filters have digests, of which none is a prefix.
  rowbloom_builder* builder = nullptr;
  rowbloom_filter* filter = nullptr;
  rowbloom_memfilter* memfilter = nullptr;
  rowbloom_buffer bytes = {};
  ASSERT_EQ(rowbloom_builder_new(nullptr, &builder, &error_), ROWBLOOM_OK);
  rowbloom_builder_add(builder, "1001/a", 6, nullptr, ROWBLOOM_PREFIX);
  EXPECT_EQ(rowbloom_builder_finish(builder, &bytes, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  rowbloom_builder_add(builder, "1001/a", 6, nullptr, 0);
  ASSERT_EQ(rowbloom_builder_finish(builder, &bytes, &error_), ROWBLOOM_OK);
  ASSERT_EQ(rowbloom_filter_open(bytes.data, bytes.size, &filter, &error_),
            ROWBLOOM_OK);
  EXPECT_TRUE(
      rowbloom_filter_may_contain(filter, "1001", 4, nullptr, ROWBLOOM_PREFIX));
  ASSERT_EQ(rowbloom_memfilter_new(nullptr, &memfilter, &error_), ROWBLOOM_OK);
  EXPECT_EQ(rowbloom_memfilter_add(memfilter, "1001", 4, nullptr,
                                   ROWBLOOM_PREFIX, nullptr, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_TRUE(rowbloom_memfilter_may_contain(memfilter, "1001", 4, nullptr,
                                             ROWBLOOM_PREFIX));
  rowbloom_memfilter_free(memfilter);
  rowbloom_filter_free(filter);
  rowbloom_builder_free(builder);
  rowbloom_buffer_free(&bytes);
}

TEST_F(CReader, TailSizeMakesOpenOneRead) {
  ASSERT_EQ(
      Open(
          ("tail_size_bytes=" + std::to_string(info_.tail_size_bytes)).c_str()),
      ROWBLOOM_OK);
  EXPECT_EQ(source_.reads, 1);
}

TEST_F(CReader, AbsurdSizesAreRefused) {
  source_.bytes.resize(100);
  rowbloom_source source = source_.AsC();
  source.size_bytes = uint64_t{1} << 62;
  for (const char* options : {"tail_size_bytes=1099511627776",
                              "tail_size_bytes=4611686018427387904"}) {
    EXPECT_EQ(rowbloom_reader_open(&source, 0, source.size_bytes, options,
                                   cache_, stats_, &reader_, &error_),
              ROWBLOOM_OUT_OF_RANGE);
    EXPECT_EQ(reader_, nullptr);
  }
}

TEST_F(CReader, AskDoesNoReadAndOfferAnswers) {
  ShareCacheAndStats();
  ASSERT_EQ(Open("always_load=true"), ROWBLOOM_OK);
  const int reads = source_.reads;
  const std::string absent = NumberedRow(1), present = NumberedRow(2);
  rowbloom_load load;
  ASSERT_EQ(Ask(absent, &load), ROWBLOOM_NOT_IN_MEMORY);
  EXPECT_GT(load.size_bytes, 0u);
  const std::string_view bytes =
      std::string_view(source_.bytes).substr(load.offset, load.size_bytes);
  // A failed read, damaged bytes and none at all.
  EXPECT_EQ(rowbloom_reader_offer(reader_, &load, ROWBLOOM_UNAVAILABLE, nullptr,
                                  0, absent.data(), absent.size(), nullptr, 0),
            ROWBLOOM_MAYBE);
  EXPECT_EQ(Count(ROWBLOOM_LOAD_ERRORS), 1u);
  EXPECT_EQ(Offer(absent, load, std::string(bytes.size(), 'x')),
            ROWBLOOM_MAYBE);
  EXPECT_EQ(Offer(absent, load, bytes.substr(1)), ROWBLOOM_MAYBE);
  EXPECT_EQ(rowbloom_reader_offer(reader_, &load, ROWBLOOM_OK, nullptr, 99,
                                  absent.data(), absent.size(), nullptr, 0),
            ROWBLOOM_MAYBE);
  const rowbloom_load odd = {kAbsurdSize, kAbsurdSize, kAbsurdSize, 77};
  EXPECT_EQ(Offer(absent, odd, bytes), ROWBLOOM_MAYBE);
  EXPECT_EQ(Count(ROWBLOOM_LOAD_ERRORS), 5u);

  EXPECT_EQ(Offer(absent, load, bytes), ROWBLOOM_NO);
  EXPECT_EQ(Ask(absent, &load), ROWBLOOM_NO);
  EXPECT_EQ(Ask(present, &load), ROWBLOOM_MAYBE);
  EXPECT_EQ(load.size_bytes, 0u);
  EXPECT_EQ(source_.reads, reads);
}

TEST_F(CReader, OutcomesAreCounted) {
  ShareCacheAndStats();
  ASSERT_EQ(Open("always_load=true;pinned=true"), ROWBLOOM_OK);
  const std::string row = NumberedRow(2);
  EXPECT_TRUE(MayContain(row));
  rowbloom_reader_tell_outcome(reader_, true, 4096);
  rowbloom_reader_tell_outcome(reader_, false, ROWBLOOM_UNKNOWN_BYTES);
  EXPECT_EQ(Count(ROWBLOOM_TRUE_POSITIVES), 1u);
  EXPECT_EQ(Count(ROWBLOOM_FALSE_POSITIVES), 1u);
  rowbloom_stats_add(stats_, ROWBLOOM_OPEN_ERRORS, 3);
  rowbloom_stats_add(stats_, ROWBLOOM_PREFIX_NEGATIVES + 1, 3);
  rowbloom_stats_add(stats_, -1, 3);
  EXPECT_EQ(Count(ROWBLOOM_OPEN_ERRORS), 3u);
  EXPECT_EQ(Count(ROWBLOOM_PREFIX_NEGATIVES + 1), 0u);
  EXPECT_EQ(Count(-1), 0u);
}

TEST_F(CReader, NumbersAreThoseOfCpp) {
  ShareCacheAndStats();
  ASSERT_EQ(Open("prefetch=true;level=3;file_id=12"), ROWBLOOM_OK);
  for (uint64_t i = 0; i < 100; ++i) MayContain(NumberedRow(i));
  rowbloom_stats_add(stats_, ROWBLOOM_OPEN_ERRORS, 2);

  int32_t levels[3] = {7, 7, 7};
  ASSERT_EQ(rowbloom_stats_levels(stats_, levels, 3), 2u);
  EXPECT_THAT(levels, ::testing::ElementsAre(-1, 3, 7));
  EXPECT_EQ(rowbloom_stats_levels(stats_, levels, 1), 2u);
  EXPECT_EQ(rowbloom_stats_levels(stats_, nullptr, 0), 2u);
  EXPECT_EQ(rowbloom_stats_levels(nullptr, levels, 3), 0u);
  const auto of_level = [&](int32_t level, int32_t counter) {
    return rowbloom_stats_get_of_level(stats_, level, counter);
  };
  EXPECT_EQ(of_level(3, ROWBLOOM_LOOKUPS), 100u);
  EXPECT_EQ(of_level(3, ROWBLOOM_OPEN_ERRORS), 0u);
  EXPECT_EQ(of_level(-1, ROWBLOOM_OPEN_ERRORS), 2u);
  EXPECT_EQ(of_level(2, ROWBLOOM_LOOKUPS), 0u);
  EXPECT_EQ(of_level(3, 99), 0u);
  EXPECT_EQ(rowbloom_stats_get_of_level(nullptr, 3, 0), 0u);
  EXPECT_EQ(rowbloom_reader_get(reader_, ROWBLOOM_LOOKUPS), 100u);
  EXPECT_EQ(rowbloom_reader_get(reader_, ROWBLOOM_NEGATIVES),
            Count(ROWBLOOM_NEGATIVES));
  EXPECT_EQ(rowbloom_reader_get(reader_, -1), 0u);
  EXPECT_EQ(rowbloom_reader_get(nullptr, ROWBLOOM_LOOKUPS), 0u);

  // Each number has the line of the text.
  rowbloom_buffer text = {};
  ASSERT_EQ(rowbloom_cache_usage(cache_, &text, &error_), ROWBLOOM_OK);
  uint64_t numbers[20];
  ASSERT_EQ(rowbloom_cache_numbers(cache_, numbers, 20), 15u);
  const char* const names[] = {
      "capacity_bytes",      "usage_bytes",    "pinned_bytes", "retired_bytes",
      "index_bytes_outside", "resident_bytes", "chunk_bytes",  "index_bytes",
      "entry_count",         "hits",           "misses",       "inserts",
      "evictions",           "shrinks",        "rejections"};
  for (size_t i = 0; i < std::size(names); ++i) {
    EXPECT_THAT("\n" + Text(text),
                HasSubstr("\n" + std::string(names[i]) + " " +
                          std::to_string(numbers[i]) + "\n"));
  }
  EXPECT_EQ(numbers[15], 0u);
  EXPECT_GT(numbers[ROWBLOOM_CHUNK_BYTES], 0u);
  numbers[1] = 7;
  EXPECT_EQ(rowbloom_cache_numbers(cache_, numbers, 1), 15u);
  EXPECT_EQ(numbers[1], 7u);
  EXPECT_EQ(rowbloom_cache_numbers(cache_, nullptr, 3), 15u);
  EXPECT_EQ(rowbloom_cache_numbers(nullptr, numbers, 2), 0u);
  EXPECT_EQ(numbers[1], 0u);
  rowbloom_buffer_free(&text);
}

TEST_F(CReader, PropertiesAreThoseOfCpp) {
  const std::string codec = "row.fixed:9,-column.rest";
  source_.bytes = Block(
      (std::string(kWriterOptions) + ";key_codec=" + codec).c_str(), &info_);
  ShareCacheAndStats();
  ASSERT_EQ(Open("file_id=12"), ROWBLOOM_OK);
  const auto memory = NewMemorySource(source_.bytes);
  const auto cpp = FilterReader::Open(memory.get(), {}, {});
  const FilterBlockProperties properties = (*cpp)->properties();
  const auto number = [&](int32_t property) {
    uint64_t value = 77;
    EXPECT_EQ(rowbloom_reader_number(reader_, property, &value, &error_),
              ROWBLOOM_OK);
    return value;
  };
  EXPECT_EQ(number(ROWBLOOM_BLOCK_CELLS), kRows);
  EXPECT_EQ(number(ROWBLOOM_BLOCK_KEYS), properties.key_count);
  EXPECT_EQ(number(ROWBLOOM_BLOCK_CHUNKS), info_.chunk_count);
  EXPECT_EQ(number(ROWBLOOM_BLOCK_FILTER_BYTES), properties.filter_size_bytes);
  EXPECT_EQ(number(ROWBLOOM_BLOCK_PREFIX_LENGTH_BYTES), 0u);
  EXPECT_EQ(number(ROWBLOOM_BLOCK_HAS_ROW_KEYS), 1u);
  EXPECT_EQ(number(ROWBLOOM_BLOCK_FILE_ID), 12u);
  EXPECT_EQ(number(ROWBLOOM_BLOCK_IS_WITHIN_CAPACITY), 1u);
  rowbloom_buffer buffer = {};
  const auto bytes = [&](int32_t property) {
    EXPECT_EQ(rowbloom_reader_bytes(reader_, property, &buffer, &error_),
              ROWBLOOM_OK);
    return Text(buffer);
  };
  EXPECT_EQ(bytes(ROWBLOOM_BLOCK_BLOOM_TYPE), "ROWCOL");
  EXPECT_EQ(bytes(ROWBLOOM_BLOCK_KEY_CODEC), properties.key_codec);
  EXPECT_EQ(bytes(ROWBLOOM_BLOCK_KEY_CODEC), codec);
  EXPECT_EQ(bytes(ROWBLOOM_BLOCK_FILTER_SPEC), properties.filter_spec);
  EXPECT_EQ(bytes(ROWBLOOM_BLOCK_WRITER), properties.writer);
  EXPECT_EQ(bytes(ROWBLOOM_BLOCK_FIRST_ROW), properties.first_row);
  EXPECT_EQ(bytes(ROWBLOOM_BLOCK_FIRST_QUALIFIER), properties.first_qualifier);
  EXPECT_EQ(bytes(ROWBLOOM_BLOCK_LAST_ROW), NumberedRow(kRows - 2));
  EXPECT_EQ(bytes(ROWBLOOM_BLOCK_LAST_QUALIFIER), "c");

  uint64_t value = 77;
  EXPECT_EQ(rowbloom_reader_number(reader_, ROWBLOOM_BLOCK_KEY_CODEC, &value,
                                   &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "property 101 is no number");
  EXPECT_EQ(value, 0u);
  EXPECT_EQ(rowbloom_reader_bytes(reader_, -1, &buffer, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(buffer.size, 0u);
  ExpectNull(rowbloom_reader_number(nullptr, 0, &value, &error_), error_,
             "reader");
  ExpectNull(rowbloom_reader_number(reader_, 0, nullptr, &error_), error_,
             "number");
  ExpectNull(rowbloom_reader_bytes(nullptr, 100, &buffer, &error_), error_,
             "reader");
  ExpectNull(rowbloom_reader_bytes(reader_, 100, nullptr, &error_), error_,
             "bytes");
  rowbloom_buffer_free(&buffer);
}

TEST_F(CReader, CacheAndStatsMayBeFreedFirst) {
  ShareCacheAndStats();
  ASSERT_EQ(Open("always_load=true"), ROWBLOOM_OK);
  rowbloom_cache_free(cache_);
  rowbloom_stats_free(stats_);
  cache_ = nullptr;
  stats_ = nullptr;
  EXPECT_TRUE(MayContain(NumberedRow(4)));
  EXPECT_FALSE(MayContain("r00000001"));
}

TEST_F(CReader, ErrorsAreThoseOfCpp) {
  const auto memory = NewMemorySource(source_.bytes, "000012.sst");
  EXPECT_EQ(Open("file_id=9223372036854775808"), ROWBLOOM_INVALID_ARGUMENT);
  FilterReaderOptions options;
  options.file_id = uint64_t{1} << 63;
  ExpectError(error_, FilterReader::Open(memory.get(), {}, options).status());

  const rowbloom_source source = source_.AsC();
  const struct {
    uint64_t offset, size;
  } kRanges[] = {{0, 0},
                 {0, source_.bytes.size() - 1},
                 {1, source_.bytes.size()},
                 {kAbsurdSize, 1},
                 {0, 3},
                 {7, kAbsurdSize}};
  for (const auto& range : kRanges) {
    const absl::Status expected =
        FilterReader::Open(memory.get(), {range.offset, range.size}, {})
            .status();
    EXPECT_EQ(rowbloom_reader_open(&source, range.offset, range.size, nullptr,
                                   nullptr, nullptr, &reader_, &error_),
              static_cast<int>(expected.code()));
    ExpectError(error_, expected);
    EXPECT_EQ(reader_, nullptr);
  }

  ASSERT_EQ(Open(nullptr), ROWBLOOM_OK);
  source_.bytes[100] ^= 1;
  EXPECT_EQ(rowbloom_reader_verify(reader_, &error_), ROWBLOOM_DATA_LOSS);
  const auto damaged = NewMemorySource(source_.bytes, "000012.sst");
  const auto cpp = FilterReader::Open(damaged.get(), {}, {});
  ExpectError(error_, (*cpp)->Verify());
}

TEST_F(CReader, ErrorsOfTheSourceArePassedOn) {
  source_.code = ROWBLOOM_UNAVAILABLE;
  source_.message = "EIO";
  EXPECT_EQ(Open(nullptr), ROWBLOOM_UNAVAILABLE);
  EXPECT_THAT(error_.message, HasSubstr("EIO"));
  source_.message = "";
  EXPECT_EQ(Open(nullptr), ROWBLOOM_UNAVAILABLE);
  EXPECT_THAT(error_.message,
              HasSubstr("000012.sst: read callback returned code 14"));
  source_.code = ROWBLOOM_OK;
  ShareCacheAndStats();
  ASSERT_EQ(Open("always_load=true"), ROWBLOOM_OK);
  source_.code = 12345;
  EXPECT_TRUE(MayContain(NumberedRow(1)));
  EXPECT_EQ(Count(ROWBLOOM_LOAD_ERRORS), 1u);
}

TEST_F(CReader, BlockWithASecretNeedsIt) {
  const std::string secret = "secret=00112233445566778899aAbBcCdDeEfF";
  const std::string options = std::string(kWriterOptions) + ";" + secret;
  source_.bytes = Block(options.c_str(), &info_);
  EXPECT_EQ(Open(nullptr), ROWBLOOM_FAILED_PRECONDITION);
  EXPECT_EQ(Open("secret=00112233445566778899aabbccddeef0"),
            ROWBLOOM_FAILED_PRECONDITION);
  ASSERT_EQ(Open((secret + ";prefetch=true").c_str()), ROWBLOOM_OK)
      << error_.message;
  for (uint64_t i = 0; i < kRows; i += 2) {
    ASSERT_TRUE(MayContain(NumberedRow(i), "c"));
  }
  EXPECT_FALSE(MayContain(NumberedRow(1), "c"));
}

TEST_F(CReader, NullIsToldAndAnswersMaybe) {
  rowbloom_source source = source_.AsC(nullptr);
  ExpectNull(rowbloom_reader_open(nullptr, 0, 1, nullptr, nullptr, nullptr,
                                  &reader_, &error_),
             error_, "source");
  ExpectNull(rowbloom_reader_open(&source, 0, 1, nullptr, nullptr, nullptr,
                                  nullptr, &error_),
             error_, "out");
  EXPECT_EQ(Open("pinned=2;level=x"), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message,
               "reader options: level=x is not a whole number within 32 bits");
  ASSERT_EQ(rowbloom_reader_open(&source, 0, source.size_bytes,
                                 "level=-5;data_block_size_bytes=0", nullptr,
                                 nullptr, &reader_, nullptr),
            ROWBLOOM_OK);
  source.read = nullptr;
  rowbloom_reader* other = nullptr;
  ExpectNull(rowbloom_reader_open(&source, 0, 1, nullptr, nullptr, nullptr,
                                  &other, &error_),
             error_, "source->read");

  rowbloom_load load = {1, 1, 1, 1};
  EXPECT_TRUE(rowbloom_reader_may_contain(nullptr, "r", 1, nullptr, 0));
  EXPECT_TRUE(rowbloom_reader_may_contain(reader_, nullptr, 1, nullptr, 0));
  EXPECT_TRUE(rowbloom_reader_may_contain(reader_, "r", 1, "q", kAbsurdSize));
  EXPECT_EQ(rowbloom_reader_ask(nullptr, "r", 1, nullptr, 0, &load),
            ROWBLOOM_MAYBE);
  EXPECT_EQ(load.size_bytes, 0u);
  EXPECT_EQ(rowbloom_reader_ask(reader_, nullptr, 1, nullptr, 0, &load),
            ROWBLOOM_MAYBE);
  EXPECT_EQ(rowbloom_reader_ask(reader_, "r00000001", 9, nullptr, 0, nullptr),
            ROWBLOOM_MAYBE);
  EXPECT_EQ(rowbloom_reader_offer(nullptr, &load, 0, "", 0, "r", 1, nullptr, 0),
            ROWBLOOM_MAYBE);
  EXPECT_EQ(
      rowbloom_reader_offer(reader_, nullptr, 0, "", 0, "r", 1, nullptr, 0),
      ROWBLOOM_MAYBE);
  EXPECT_EQ(rowbloom_reader_offer(reader_, &load, 0, "", 0, "r", 1, nullptr, 7),
            ROWBLOOM_MAYBE);
  rowbloom_reader_tell_outcome(nullptr, true, 0);
  ExpectNull(rowbloom_reader_verify(nullptr, &error_), error_, "reader");
  rowbloom_reader_free(nullptr);

  rowbloom_buffer text = {};
  ExpectNull(rowbloom_cache_new(1, nullptr, &error_), error_, "out");
  ExpectNull(rowbloom_cache_usage(nullptr, &text, &error_), error_, "cache");
  rowbloom_cache_set_capacity(nullptr, 1);
  rowbloom_cache_erase_file(nullptr, 1);
  rowbloom_cache_free(nullptr);
  ExpectNull(rowbloom_stats_new(nullptr, &error_), error_, "out");
  rowbloom_stats_add(nullptr, ROWBLOOM_LOOKUPS, 1);
  EXPECT_EQ(rowbloom_stats_get(nullptr, ROWBLOOM_LOOKUPS), 0u);
  ExpectNull(rowbloom_stats_prometheus(nullptr, &text, &error_), error_,
             "stats");
  rowbloom_stats_free(nullptr);
  ShareCacheAndStats();
  ExpectNull(rowbloom_cache_usage(cache_, nullptr, &error_), error_, "text");
  ExpectNull(rowbloom_stats_prometheus(stats_, nullptr, &error_), error_,
             "text");
  rowbloom_cache_set_capacity(cache_, std::numeric_limits<uint64_t>::max());
  rowbloom_cache_set_capacity(cache_, 0);
  rowbloom_cache_erase_file(cache_, std::numeric_limits<uint64_t>::max());
}

// ----- Memos and budgets -----

class CMemo : public ::testing::Test {
 protected:
  CMemo() { rowbloom_memo_new(1 << 20, &memo_, &error_); }
  ~CMemo() override { rowbloom_memo_free(memo_); }

  bool Denies(uint64_t file_id, std::string_view row,
              const char* qualifier = nullptr, size_t qualifier_size = 0) {
    return rowbloom_memo_denies(memo_, file_id, row.data(), row.size(),
                                qualifier, qualifier_size);
  }

  rowbloom_memo* memo_ = nullptr;
  rowbloom_error error_ = {};
};

TEST_F(CMemo, DeniesWhatWasRemembered) {
  rowbloom_memo_remember(memo_, 7, "row", 3, nullptr, 0);
  rowbloom_memo_remember(memo_, 7, "row", 3, "q", 1);
  rowbloom_memo_remember(memo_, 8, "row", 3, nullptr, ROWBLOOM_PREFIX);
  EXPECT_TRUE(Denies(7, "row"));
  EXPECT_TRUE(Denies(7, "row", "q", 1));
  EXPECT_TRUE(Denies(8, "row", nullptr, ROWBLOOM_PREFIX));
  EXPECT_FALSE(Denies(7, "row", "", 0));
  EXPECT_FALSE(Denies(7, "row", nullptr, ROWBLOOM_PREFIX));
  EXPECT_FALSE(Denies(8, "row"));
  EXPECT_FALSE(Denies(7, "rov"));
  rowbloom_memo_erase_file(memo_, 7);
  EXPECT_FALSE(Denies(7, "row"));
  EXPECT_TRUE(Denies(8, "row", nullptr, ROWBLOOM_PREFIX));
}

TEST_F(CMemo, CapacityBoundsIt) {
  rowbloom_memo_free(memo_);
  ASSERT_EQ(rowbloom_memo_new(10000, &memo_, &error_), ROWBLOOM_OK);
  int denied = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string row = NumberedRow(i);
    rowbloom_memo_remember(memo_, 1, row.data(), row.size(), nullptr, 0);
  }
  for (int i = 0; i < 1000; ++i) denied += Denies(1, NumberedRow(i));
  EXPECT_GT(denied, 0);
  EXPECT_LT(denied, 200);
  rowbloom_memo_free(memo_);
  ASSERT_EQ(rowbloom_memo_new(0, &memo_, &error_), ROWBLOOM_OK);
  rowbloom_memo_remember(memo_, 1, "row", 3, nullptr, 0);
  EXPECT_FALSE(Denies(1, "row"));
}

TEST_F(CMemo, MistakesDenyNothing) {
  rowbloom_memo_remember(memo_, 1, nullptr, 3, nullptr, 0);
  rowbloom_memo_remember(memo_, 1, "row", 3, nullptr, 2);
  rowbloom_memo_remember(nullptr, 1, "row", 3, nullptr, 0);
  EXPECT_FALSE(rowbloom_memo_denies(memo_, 1, nullptr, 3, nullptr, 0));
  EXPECT_FALSE(Denies(1, "row", nullptr, 2));
  EXPECT_FALSE(rowbloom_memo_denies(nullptr, 1, "row", 3, nullptr, 0));
  rowbloom_memo_erase_file(nullptr, 1);
  rowbloom_memo_free(nullptr);
  ExpectNull(rowbloom_memo_new(1, nullptr, &error_), error_, "out");
}

class CBudget : public ::testing::Test {
 protected:
  ~CBudget() override {
    rowbloom_budget_free(budget_);
    rowbloom_buffer_free(&spec_);
  }
  rowbloom_code New(const char* options) {
    rowbloom_budget_free(budget_);
    return rowbloom_budget_new(options, &budget_, &error_);
  }
  rowbloom_code SetLive(const char* options,
                        const std::vector<rowbloom_run>& runs) {
    return rowbloom_budget_set_live(budget_, options, runs.data(), runs.size(),
                                    &error_);
  }
  std::string ForFile(const char* facts) {
    EXPECT_EQ(rowbloom_budget_for_file(budget_, facts, &spec_, &error_),
              ROWBLOOM_OK)
        << error_.message;
    // The digits may be others, the number may not.
    return spec_.size == 0 ? "" : FilterSpec::Parse(Text(spec_))->ToString();
  }
  static std::string Spec(const FileBudget& cpp, const FileFacts& facts) {
    const double bits = cpp.ForFile(facts).builder_bits;
    return bits == 0 ? "" : FilterSpec::BitsPerKey("compact", bits).ToString();
  }

  rowbloom_budget* budget_ = nullptr;
  rowbloom_buffer spec_ = {};
  rowbloom_error error_ = {};
};

TEST_F(CBudget, SpecsAreThoseOfCpp) {
  ASSERT_EQ(New(nullptr), ROWBLOOM_OK) << error_.message;
  FileBudget cpp = *FileBudget::Create(*FilterCost::OfFamily("compact"), {});
  FileFacts flush, level, share, bottommost;
  flush.is_flush = true;
  level.level = 2;
  level.level_count = 5;
  share.run_share = 0.3;
  bottommost.is_bottommost = true;
  for (const bool is_live : {false, true}) {
    if (is_live) {
      LiveFilters live;
      live.key_count = 1000000;
      live.filter_bytes = 900000;
      live.runs = {{1000}, {20000, 0.5}, {979000, 1, 0.25}};
      live.moved_share = 0.1;
      live.missing_share = 0.75;
      ASSERT_TRUE(cpp.SetLive(live).ok());
      ASSERT_EQ(SetLive("key_count=1000000;filter_bytes=900000;moved_share=0.1;"
                        "missing_share=0.75",
                        {{1000, 1, ROWBLOOM_UNKNOWN_SHARE},
                         {20000, 0.5, ROWBLOOM_UNKNOWN_SHARE},
                         {979000, 1, 0.25}}),
                ROWBLOOM_OK)
          << error_.message;
    }
    EXPECT_EQ(ForFile("is_flush=true"), Spec(cpp, flush));
    EXPECT_EQ(ForFile("level=2;level_count=5"), Spec(cpp, level));
    EXPECT_EQ(ForFile("run_share=0.3"), Spec(cpp, share));
    EXPECT_EQ(ForFile("is_bottommost=true"), Spec(cpp, bottommost));
    EXPECT_EQ(ForFile(nullptr), Spec(cpp, {}));
    EXPECT_NE(ForFile("is_flush=true"), ForFile("is_bottommost=true"));
  }
  // A writer takes it.
  std::string block;
  rowbloom_writer* writer = nullptr;
  EXPECT_EQ(rowbloom_writer_new(("filter_spec=" + ForFile(nullptr)).c_str(),
                                AppendTo, &block, &writer, &error_),
            ROWBLOOM_OK);
  rowbloom_writer_free(writer);
}

TEST_F(CBudget, EmptySpecWritesABlockWithoutFilter) {
  ASSERT_EQ(New("bits_per_key=0"), ROWBLOOM_OK) << error_.message;
  ASSERT_EQ(ForFile("is_flush=true"), "");
  for (const std::string bloom_type : {"ROW", "ROWCOL"}) {
    std::string block;
    rowbloom_writer* writer = nullptr;
    const std::string options =
        "bloom_type=" + bloom_type +
        ";key_codec=delimiter:/;filter_spec=" + ForFile("is_flush=true");
    ASSERT_EQ(rowbloom_writer_new(options.c_str(), AppendTo, &block, &writer,
                                  &error_),
              ROWBLOOM_OK)
        << error_.message;
    rowbloom_writer_add(writer, "row/a", 5, "", 0);
    rowbloom_block_info info;
    EXPECT_EQ(rowbloom_writer_finish(writer, &info, &error_), ROWBLOOM_OK)
        << error_.message;
    EXPECT_EQ(info.chunk_count, 0u);
    rowbloom_writer_free(writer);
  }
}

TEST_F(CBudget, OptionsAreThoseOfCpp) {
  ASSERT_EQ(New("mode=fixed;bits_per_key=12;family=blocked_bloom"),
            ROWBLOOM_OK);
  EXPECT_THAT(ForFile(nullptr), StartsWith("blocked_bloom:bits_per_key=12"));
  // The oldest run has no filter.
  ASSERT_EQ(New("mode=hits_only;bits_per_key=1"), ROWBLOOM_OK);
  EXPECT_EQ(ForFile("is_bottommost=true"), "");

  FileBudgetOptions options;
  options.budget.memory = FilterMemory::BitsPerKey(14).AtMostBytes(1 << 20);
  options.budget.missing_share = 0.25;
  options.budget.max_bits_per_key = 20;
  options.size_ratio = 4;
  options.level_count = 6;
  FileBudget cpp =
      *FileBudget::Create(*FilterCost::OfFamily("compact"), options);
  ASSERT_EQ(New("bits_per_key=14;memory_bytes=1048576;missing_share=0.25;"
                "max_bits_per_key=20;size_ratio=4;level_count=6"),
            ROWBLOOM_OK)
      << error_.message;
  for (const uint64_t keys : {500000, 5000000}) {
    LiveFilters live;
    live.key_count = keys;
    live.filter_bytes = keys;
    ASSERT_TRUE(cpp.SetLive(live).ok());
    const std::string text = "key_count=" + std::to_string(keys) +
                             ";filter_bytes=" + std::to_string(keys);
    ASSERT_EQ(SetLive(text.c_str(), {}), ROWBLOOM_OK);
    FileFacts flush;
    flush.is_flush = true;
    EXPECT_EQ(ForFile("is_flush=true"), Spec(cpp, flush));
    EXPECT_EQ(ForFile(nullptr), Spec(cpp, {}));
  }
  ASSERT_EQ(New("memory_bytes=1048576"), ROWBLOOM_OK);
  LiveFilters live;
  live.key_count = 600000;
  ASSERT_EQ(SetLive("key_count=600000", {}), ROWBLOOM_OK);
  FileBudgetOptions bytes;
  bytes.budget.memory = FilterMemory::Bytes(1 << 20);
  cpp = *FileBudget::Create(*FilterCost::OfFamily("compact"), bytes);
  ASSERT_TRUE(cpp.SetLive(live).ok());
  EXPECT_EQ(ForFile(nullptr), Spec(cpp, {}));
}

TEST_F(CBudget, MistakesAreTold) {
  EXPECT_EQ(New("mode=greedy"), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message,
               "unknown mode \"greedy\" of a budget; known: balanced, "
               "hits_only, fixed");
  EXPECT_EQ(New("family=ribbon"), ROWBLOOM_INVALID_ARGUMENT);
  ExpectError(error_, FilterCost::OfFamily("ribbon").status());
  EXPECT_EQ(New("missing_share=2"), ROWBLOOM_INVALID_ARGUMENT);
  FileBudgetOptions options;
  options.budget.missing_share = 2;
  const FilterCost cost = *FilterCost::OfFamily("compact");
  ExpectError(error_, FileBudget::Create(cost, options).status());
  EXPECT_EQ(New("bits_per_key=ten"), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message,
               "budget options: bits_per_key=ten is not a number");
  EXPECT_EQ(budget_, nullptr);
  ExpectNull(rowbloom_budget_new(nullptr, nullptr, &error_), error_, "out");

  ASSERT_EQ(New(nullptr), ROWBLOOM_OK);
  const std::string before = ForFile("is_flush=true");
  EXPECT_EQ(SetLive("key_count=10", {{10, 7, 0}}), ROWBLOOM_INVALID_ARGUMENT);
  LiveFilters live;
  live.key_count = 10;
  live.runs = {{10, 7, 0}};
  ExpectError(error_, FileBudget::Create(cost, {})->SetLive(live));
  for (const double asks : {-0.5, std::nan("")}) {
    EXPECT_EQ(SetLive("key_count=10", {{10, 1, asks}}),
              ROWBLOOM_INVALID_ARGUMENT);
  }
  EXPECT_EQ(SetLive("key_count=10;moved_share=nan", {}),
            ROWBLOOM_INVALID_ARGUMENT);
  ExpectNull(rowbloom_budget_set_live(nullptr, nullptr, nullptr, 0, &error_),
             error_, "budget");
  ExpectNull(rowbloom_budget_set_live(budget_, nullptr, nullptr, 1, &error_),
             error_, "runs");
  const rowbloom_run run = {1, 1, 1};
  EXPECT_EQ(
      rowbloom_budget_set_live(budget_, nullptr, &run, kAbsurdSize, &error_),
      ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(ForFile("is_flush=true"), before);

  for (const char* facts : {"run_share=nan", "run_share=1.5", "run_share=-1"}) {
    EXPECT_EQ(rowbloom_budget_for_file(budget_, facts, &spec_, &error_),
              ROWBLOOM_INVALID_ARGUMENT);
    EXPECT_THAT(std::string(error_.message), EndsWith(" is not 0 to 1"));
    EXPECT_EQ(spec_.size, 0u);
  }
  EXPECT_EQ(rowbloom_budget_for_file(budget_, "level=-1", &spec_, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  ExpectNull(rowbloom_budget_for_file(budget_, nullptr, nullptr, &error_),
             error_, "filter_spec");
  ExpectNull(rowbloom_budget_for_file(nullptr, nullptr, &spec_, &error_),
             error_, "budget");
  rowbloom_budget_free(nullptr);
}

// ----- Key codecs -----

class CCodec : public ::testing::Test {
 protected:
  ~CCodec() override {
    rowbloom_codec_free(codec_);
    for (rowbloom_buffer* buffer : {&a_, &b_}) rowbloom_buffer_free(buffer);
  }
  void New(const char* text) {
    rowbloom_codec_free(codec_);
    ASSERT_EQ(rowbloom_codec_new(text, &codec_, &error_), ROWBLOOM_OK)
        << error_.message;
  }

  rowbloom_codec* codec_ = nullptr;
  rowbloom_buffer a_ = {}, b_ = {};
  rowbloom_error error_ = {};
};

TEST_F(CCodec, KeysBoundsAndPrefixesAreThoseOfCpp) {
  testing::Random random(1);
  for (const char* text : {"ordered", "fixed:8", "delimiter:|"}) {
    SCOPED_TRACE(text);
    New(text);
    const KeyCodec cpp = *KeyCodec::Parse(text);
    for (int i = 0; i < 1000; ++i) {
      const std::string row =
          i % 2 == 0 ? NumberedRow(i).substr(1) : random.Bytes(12);
      const std::string qualifier = random.Bytes(9);
      std::string key, lower, upper;
      const absl::Status status = cpp.Encode(row, qualifier, &key);
      EXPECT_EQ(rowbloom_codec_encode(codec_, row.data(), row.size(),
                                      qualifier.data(), qualifier.size(), &a_,
                                      &error_),
                static_cast<int>(status.code()));
      ExpectError(error_, status);
      EXPECT_EQ(Text(a_), key);
      if (!status.ok()) continue;
      size_t row_prefix = 1, column_prefix = 1, cpp_row_prefix = 0;
      rowbloom_codec_prefix_sizes(codec_, key.data(), key.size(), &row_prefix,
                                  &column_prefix);
      EXPECT_EQ(column_prefix, cpp.SecondPrefixSize(key, &cpp_row_prefix));
      EXPECT_EQ(row_prefix, cpp_row_prefix);
      ASSERT_EQ(rowbloom_codec_decode(codec_, key.data(), key.size(), &a_, &b_,
                                      &error_),
                ROWBLOOM_OK);
      EXPECT_EQ(Text(a_), row);
      EXPECT_EQ(Text(b_), qualifier);
      ASSERT_TRUE(cpp.LowerBound({row}, &lower).ok());
      ASSERT_TRUE(cpp.UpperBound({row}, &upper).ok());
      ASSERT_EQ(rowbloom_codec_bounds(codec_, row.data(), row.size(), &a_, &b_,
                                      &error_),
                ROWBLOOM_OK);
      EXPECT_EQ(Text(a_), lower);
      EXPECT_EQ(Text(b_), upper);
    }
  }
}

TEST_F(CCodec, MistakesHaveTheErrorsOfCpp) {
  for (const char* text :
       {"", "fixed:0", "fixed:", "delimiter:", "x", "fixed:-1"}) {
    EXPECT_EQ(rowbloom_codec_new(text, &codec_, &error_),
              ROWBLOOM_INVALID_ARGUMENT);
    EXPECT_EQ(codec_, nullptr);
    ExpectError(error_, KeyCodec::Parse(text).status());
  }
  New("ordered");
  std::string row, qualifier;
  EXPECT_EQ(rowbloom_codec_decode(codec_, "no end", 6, &a_, &b_, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  ExpectError(error_, KeyCodec::Ordered().Decode("no end", &row, &qualifier));
  New("fixed:3");
  EXPECT_EQ(rowbloom_codec_bounds(codec_, "four", 4, &a_, &b_, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
}

TEST_F(CCodec, OtherNumbersOfSegmentsAreRefused) {
  for (const char* text : {"row.rest", "t.fixed:4,u.fixed:4,at.rest",
                           "t.fixed:1,u.fixed:1,v.delimiter:/,w.ordered"}) {
    SCOPED_TRACE(text);
    New(text);
    EXPECT_EQ(rowbloom_codec_encode(codec_, "rows", 4, "qual", 4, &a_, &error_),
              ROWBLOOM_INVALID_ARGUMENT);
    EXPECT_THAT(std::string(error_.message),
                HasSubstr("a row and a qualifier are two segments, and "));
    EXPECT_EQ(
        rowbloom_codec_decode(codec_, "rowsqual/at", 11, &a_, &b_, &error_),
        ROWBLOOM_INVALID_ARGUMENT);
    EXPECT_EQ(a_.size + b_.size, 0u);
  }
  New("t.fixed:4,u.ordered");
  ASSERT_EQ(rowbloom_codec_encode(codec_, "rows", 4, "q", 1, &a_, &error_),
            ROWBLOOM_OK);
  EXPECT_EQ(Text(a_), std::string("rowsq\0\1", 7));
}

TEST_F(CCodec, SegmentsPrefixesAndBoundsAreThoseOfCpp) {
  testing::Random random(2);
  for (const char* text :
       {"row.rest", "ordered", "-tenant.fixed:2,row.ordered,at.fixed:3",
        "t.fixed:1,u.length:1,-v.length:4,w.delimiter:0x1f,x.rest"}) {
    SCOPED_TRACE(text);
    New(text);
    const KeyCodec cpp = *KeyCodec::Parse(text);
    const size_t count = rowbloom_codec_segment_count(codec_);
    ASSERT_EQ(count, cpp.segment_count());
    for (int i = 0; i < 1000; ++i) {
      std::vector<std::string> parts;
      std::vector<std::string_view> views;
      std::vector<rowbloom_bytes> segments;
      for (size_t s = 0; s < count; ++s) {
        const KeyCodec::Segment& segment = cpp.segment(s);
        parts.push_back(random.Bytes(
            segment.kind == KeyCodec::Kind::kFixed ? segment.parameter : 5));
      }
      for (const std::string& part : parts) {
        views.push_back(part);
        segments.push_back({part.data(), part.size()});
      }
      for (size_t n = 0; n <= count; ++n) {
        const absl::Span<const std::string_view> some(views.data(), n);
        std::string key, prefix, lower, upper;
        absl::Status status = cpp.Encode(some, &key);
        rowbloom_codec_encode_segments(codec_, segments.data(), n, &a_,
                                       &error_);
        ExpectError(error_, status);
        EXPECT_EQ(Text(a_), key);
        status = cpp.EncodePrefix(some, &prefix);
        rowbloom_codec_encode_prefix(codec_, segments.data(), n, &a_, &error_);
        ExpectError(error_, status);
        EXPECT_EQ(Text(a_), prefix);
        status = cpp.UpperBound(some, &upper);
        if (status.ok()) status = cpp.LowerBound(some, &lower);
        rowbloom_codec_bounds_of_segments(codec_, segments.data(), n, &a_, &b_,
                                          &error_);
        ExpectError(error_, status);
        EXPECT_EQ(Text(a_), lower);
        EXPECT_EQ(Text(b_), upper);

        const KeyCodec::Prefixes found = cpp.PrefixesOf(key);
        size_t sizes[8];
        ASSERT_EQ(
            rowbloom_codec_key_levels(codec_, key.data(), key.size(), sizes, 8),
            found.count);
        for (size_t level = 0; level < 8; ++level) {
          EXPECT_EQ(sizes[level], level < found.count ? found.sizes[level] : 0);
        }
        rowbloom_buffer decoded[8] = {};
        std::vector<std::string> cpp_decoded;
        status = cpp.Decode(key, &cpp_decoded);
        rowbloom_codec_decode_segments(codec_, key.data(), key.size(), decoded,
                                       count, &error_);
        ExpectError(error_, status);
        for (size_t s = 0; s < count; ++s) {
          EXPECT_EQ(Text(decoded[s]), status.ok() ? cpp_decoded[s] : "");
          rowbloom_buffer_free(&decoded[s]);
        }
      }
    }
  }
}

TEST_F(CCodec, OddSegmentsAreTold) {
  New("t.fixed:1,u.rest");
  const rowbloom_bytes segments[9] = {{"t", 1}, {nullptr, 0}, {nullptr, 3}};
  EXPECT_EQ(rowbloom_codec_encode_segments(codec_, segments, 2, &a_, &error_),
            ROWBLOOM_OK);
  EXPECT_EQ(Text(a_), "t");
  EXPECT_EQ(rowbloom_codec_encode_segments(codec_, segments, 3, &a_, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "segment is NULL, with size 3");
  for (const size_t count : {size_t{9}, kAbsurdSize}) {
    EXPECT_EQ(
        rowbloom_codec_encode_prefix(codec_, segments, count, &a_, &error_),
        ROWBLOOM_INVALID_ARGUMENT);
    EXPECT_THAT(std::string(error_.message),
                EndsWith(" segments; a codec has at most 8"));
    EXPECT_EQ(
        rowbloom_codec_decode_segments(codec_, "tu", 2, &a_, count, &error_),
        ROWBLOOM_INVALID_ARGUMENT);
  }
  ASSERT_EQ(rowbloom_codec_encode_segments(codec_, segments, 2, &a_, &error_),
            ROWBLOOM_OK);
  EXPECT_EQ(rowbloom_codec_decode_segments(codec_, "tu", 2, &a_, 1, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message,
               "1 buffers for the 2 segments of codec t.fixed:1,u.rest");
  EXPECT_EQ(a_.size, 0u);

  ExpectNull(rowbloom_codec_encode_segments(codec_, nullptr, 1, &a_, &error_),
             error_, "segments");
  ExpectNull(
      rowbloom_codec_encode_segments(codec_, segments, 1, nullptr, &error_),
      error_, "key");
  ExpectNull(rowbloom_codec_encode_segments(nullptr, segments, 1, &a_, &error_),
             error_, "codec");
  ExpectNull(
      rowbloom_codec_encode_prefix(codec_, segments, 1, nullptr, &error_),
      error_, "prefix");
  ExpectNull(
      rowbloom_codec_decode_segments(codec_, "tu", 2, nullptr, 2, &error_),
      error_, "segments");
  ExpectNull(rowbloom_codec_decode_segments(nullptr, "tu", 2, &a_, 1, &error_),
             error_, "codec");
  EXPECT_EQ(rowbloom_codec_decode_segments(codec_, nullptr, 2, &a_, 1, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  ExpectNull(rowbloom_codec_bounds_of_segments(nullptr, segments, 1, &a_, &b_,
                                               &error_),
             error_, "codec");
  ExpectNull(rowbloom_codec_bounds_of_segments(codec_, segments, 1, nullptr,
                                               &b_, &error_),
             error_, "lower");
  EXPECT_EQ(rowbloom_codec_segment_count(nullptr), 0u);
  size_t sizes[2] = {7, 7};
  EXPECT_EQ(rowbloom_codec_key_levels(nullptr, "tu", 2, sizes, 1), 0u);
  EXPECT_THAT(sizes, ::testing::ElementsAre(0, 7));
  EXPECT_EQ(rowbloom_codec_key_levels(codec_, nullptr, 2, sizes, 2), 0u);
  EXPECT_EQ(rowbloom_codec_key_levels(codec_, "tu", 2, sizes, 1), 2u);
  EXPECT_THAT(sizes, ::testing::ElementsAre(1, 0));
  EXPECT_EQ(rowbloom_codec_key_levels(codec_, "tu", 2, nullptr, 5), 2u);
  size_t more[11];
  std::fill_n(more, 11, size_t{7});
  EXPECT_EQ(rowbloom_codec_key_levels(codec_, "tu", 2, more, 10), 2u);
  EXPECT_THAT(more, ::testing::ElementsAre(1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 7));
  EXPECT_EQ(rowbloom_codec_key_levels(nullptr, "tu", 2, more, 11), 0u);
  EXPECT_THAT(more, ::testing::Each(0));
}

TEST_F(CCodec, ABufferMayHoldTheInput) {
  New("delimiter:|");
  ASSERT_EQ(rowbloom_codec_encode(codec_, "row", 3, "q", 1, &a_, &error_),
            ROWBLOOM_OK);
  ASSERT_EQ(rowbloom_codec_decode(codec_, a_.data, a_.size, &a_, &b_, &error_),
            ROWBLOOM_OK);
  EXPECT_EQ(Text(a_), "row");
  EXPECT_EQ(Text(b_), "q");
  ASSERT_EQ(rowbloom_codec_encode(codec_, a_.data, a_.size, b_.data, b_.size,
                                  &b_, &error_),
            ROWBLOOM_OK);
  EXPECT_EQ(Text(b_), "row|q");
  ASSERT_EQ(rowbloom_codec_bounds(codec_, a_.data, a_.size, &b_, &a_, &error_),
            ROWBLOOM_OK);
  EXPECT_EQ(Text(b_), "row|");
  EXPECT_EQ(Text(a_), "row}");

  // Two results need two buffers.
  EXPECT_EQ(rowbloom_codec_decode(codec_, "row|q", 5, &a_, &a_, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "row and qualifier are the same buffer");
  EXPECT_EQ(a_.size, 0u);
  EXPECT_EQ(rowbloom_codec_bounds(codec_, "row", 3, &b_, &b_, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
}

TEST_F(CCodec, NullIsTold) {
  ExpectNull(rowbloom_codec_new("ordered", nullptr, &error_), error_, "out");
  ExpectNull(rowbloom_codec_new(nullptr, &codec_, &error_), error_, "text");
  ExpectNull(rowbloom_codec_encode(nullptr, "r", 1, "q", 1, &a_, &error_),
             error_, "codec");
  ExpectNull(rowbloom_codec_decode(nullptr, "k", 1, &a_, &b_, &error_), error_,
             "codec");
  ExpectNull(rowbloom_codec_bounds(nullptr, "r", 1, &a_, &b_, &error_), error_,
             "codec");
  size_t row_prefix = 7, column_prefix = 7;
  rowbloom_codec_prefix_sizes(nullptr, "k", 1, &row_prefix, &column_prefix);
  EXPECT_EQ(row_prefix + column_prefix, 0u);
  New("ordered");
  ExpectNull(rowbloom_codec_encode(codec_, "r", 1, "q", 1, nullptr, &error_),
             error_, "key");
  ExpectNull(rowbloom_codec_decode(codec_, "k", 1, nullptr, &b_, &error_),
             error_, "row");
  ExpectNull(rowbloom_codec_decode(codec_, "k", 1, &a_, nullptr, &error_),
             error_, "qualifier");
  ExpectNull(rowbloom_codec_bounds(codec_, "r", 1, nullptr, &b_, &error_),
             error_, "lower");
  ExpectNull(rowbloom_codec_bounds(codec_, "r", 1, &a_, nullptr, &error_),
             error_, "upper");
  EXPECT_EQ(rowbloom_codec_encode(codec_, nullptr, 1, "q", 1, &a_, nullptr),
            ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(rowbloom_codec_encode(codec_, "r", 1, nullptr, 0, &a_, nullptr),
            ROWBLOOM_OK);
  EXPECT_EQ(rowbloom_codec_decode(codec_, nullptr, 1, &a_, &b_, nullptr),
            ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(rowbloom_codec_bounds(codec_, "r", kAbsurdSize, &a_, &b_, nullptr),
            ROWBLOOM_INVALID_ARGUMENT);
  rowbloom_codec_prefix_sizes(codec_, nullptr, 5, &row_prefix, nullptr);
  rowbloom_codec_prefix_sizes(codec_, "k", kAbsurdSize, nullptr,
                              &column_prefix);
  EXPECT_EQ(row_prefix + column_prefix, 0u);
  rowbloom_codec_free(nullptr);
}

// ----- Filters in memory -----

class CMemFilter : public ::testing::Test {
 protected:
  ~CMemFilter() override {
    rowbloom_memfilter_free(filter_);
    rowbloom_buffer_free(&bytes_);
  }
  rowbloom_code New(const char* options) {
    rowbloom_memfilter_free(filter_);
    return rowbloom_memfilter_new(options, &filter_, &error_);
  }
  rowbloom_code Add(std::string_view row, bool* added = nullptr) {
    return rowbloom_memfilter_add(filter_, row.data(), row.size(), nullptr, 0,
                                  added, nullptr);
  }
  bool MayContain(std::string_view row) {
    return rowbloom_memfilter_may_contain(filter_, row.data(), row.size(),
                                          nullptr, 0);
  }
  rowbloom_code Load(std::string_view saved) {
    rowbloom_memfilter_free(filter_);
    return rowbloom_memfilter_load(saved.data(), saved.size(), &filter_,
                                   &error_);
  }
  std::string Save() {
    EXPECT_EQ(rowbloom_memfilter_save(filter_, &bytes_, &error_), ROWBLOOM_OK);
    return Text(bytes_);
  }

  rowbloom_memfilter* filter_ = nullptr;
  rowbloom_buffer bytes_ = {};
  rowbloom_error error_ = {};
};

TEST_F(CMemFilter, ScalableIsThatOfCpp) {
  ASSERT_EQ(New("target_fpr=0.001;capacity=500;expansion=3"), ROWBLOOM_OK);
  ScalableOptions options;
  options.target_fpr = 0.001;
  options.capacity = 500;
  options.expansion = 3;
  auto cpp = ScalableFilter::New(options);
  uint64_t added = 0;
  for (int i = 0; i < 20000; ++i) {
    bool is_new = false;
    ASSERT_EQ(Add(NumberedRow(i), &is_new), ROWBLOOM_OK);
    ASSERT_EQ(is_new, *cpp->Add(FilterKey::Row(NumberedRow(i)).digest()));
    added += is_new;
  }
  EXPECT_GT(added, 19900u);
  EXPECT_EQ(Save(), cpp->Save());
  ASSERT_EQ(Load(Text(bytes_)), ROWBLOOM_OK) << error_.message;
  for (int i = 0; i < 20000; ++i) ASSERT_TRUE(MayContain(NumberedRow(i)));
  EXPECT_FALSE(MayContain("absent"));
  EXPECT_EQ(Add("one more"), ROWBLOOM_OK);
}

TEST_F(CMemFilter, ConcurrentTakesKeysOnFourThreads) {
  ASSERT_EQ(New("kind=concurrent;key_count=40000;target_fpr=0.01"),
            ROWBLOOM_OK);
  const auto row_of = [](int thread, int i) {
    return NumberedRow(thread * 10000 + i);
  };
  const auto add_and_ask = [&](int thread) {
    for (int i = 0; i < 10000; ++i) {
      const std::string row = row_of(thread, i);
      ASSERT_EQ(Add(row), ROWBLOOM_OK);
      ASSERT_TRUE(MayContain(row));
    }
  };
  RunThreads(4, add_and_ask);
  auto cpp = ConcurrentFilter::New(*ShapeFor(40000, 0.01));
  for (int i = 0; i < 40000; ++i) {
    cpp->Add(FilterKey::Row(NumberedRow(i)).digest());
  }
  EXPECT_EQ(Save(), cpp->Save());
  // It is loaded as a concurrent one.
  ASSERT_EQ(Load(Text(bytes_)), ROWBLOOM_OK);
  RunThreads(4, add_and_ask);
  EXPECT_EQ(Save(), cpp->Save());
}

TEST_F(CMemFilter, LoadsOtherKinds) {
  auto counting = CountingFilter::New({{10000, 4}});
  ASSERT_TRUE(counting.ok()) << counting.status();
  ASSERT_TRUE(counting->Add(FilterKey::Row("row").digest()));
  ASSERT_EQ(Load(counting->Save()), ROWBLOOM_OK) << error_.message;
  EXPECT_TRUE(MayContain("row"));
  EXPECT_FALSE(MayContain("absent"));
  EXPECT_EQ(Save(), counting->Save());
}

TEST_F(CMemFilter, MistakesAreTold) {
  const struct {
    const char* options;
    const char* message;
  } kCases[] = {
      {"kind=cuckoo",
       "unknown kind of memory filter \"cuckoo\"; known: scalable, concurrent"},
      {"key_count=5",
       "memory filter options: unknown option \"key_count\"; known: kind, "
       "target_fpr, capacity, expansion, max_memory_bytes"},
      {"kind=concurrent;capacity=5",
       "memory filter options: unknown option \"capacity\"; known: kind, "
       "target_fpr, key_count"},
      {"target_fpr=low",
       "memory filter options: target_fpr=low is not a "
       "number"},
      {"kind=concurrent",
       "kind=concurrent needs key_count, the keys that the filter is for: at "
       "least 1"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(New(c.options), ROWBLOOM_INVALID_ARGUMENT);
    EXPECT_STREQ(error_.message, c.message);
  }
  EXPECT_EQ(New("target_fpr=nan"), ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_EQ(New("capacity=18446744073709551615"), ROWBLOOM_INVALID_ARGUMENT);
  ScalableOptions options;
  options.capacity = std::numeric_limits<uint64_t>::max();
  ExpectError(error_, ScalableFilter::New(options).status());
  EXPECT_EQ(Load(""), ROWBLOOM_DATA_LOSS);
  ASSERT_EQ(New("max_memory_bytes=1000"), ROWBLOOM_OK);
  rowbloom_code code = ROWBLOOM_OK;
  for (int i = 0; i < 10000 && code == ROWBLOOM_OK; ++i) {
    code = Add(NumberedRow(i));
  }
  EXPECT_EQ(code, ROWBLOOM_RESOURCE_EXHAUSTED);
  std::string saved = Save();
  saved[saved.size() / 2] ^= 1;
  EXPECT_EQ(Load(saved), ROWBLOOM_DATA_LOSS);
  ExpectError(error_, LoadMemFilter(saved).status());
  EXPECT_EQ(filter_, nullptr);
}

TEST_F(CMemFilter, NullIsToldAndAnswersMaybe) {
  ExpectNull(rowbloom_memfilter_new(nullptr, nullptr, &error_), error_, "out");
  ExpectNull(rowbloom_memfilter_load("", 0, nullptr, &error_), error_, "out");
  EXPECT_EQ(rowbloom_memfilter_load(nullptr, 5, &filter_, &error_),
            ROWBLOOM_INVALID_ARGUMENT);
  bool added = true;
  ExpectNull(
      rowbloom_memfilter_add(nullptr, "r", 1, nullptr, 0, &added, &error_),
      error_, "filter");
  EXPECT_FALSE(added);
  EXPECT_TRUE(rowbloom_memfilter_may_contain(nullptr, "r", 1, nullptr, 0));
  ExpectNull(rowbloom_memfilter_save(nullptr, &bytes_, &error_), error_,
             "filter");
  ASSERT_EQ(New(nullptr), ROWBLOOM_OK);
  ExpectNull(rowbloom_memfilter_save(filter_, nullptr, &error_), error_,
             "bytes");
  EXPECT_EQ(
      rowbloom_memfilter_add(filter_, nullptr, 1, nullptr, 0, &added, &error_),
      ROWBLOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "row is NULL, with size 1");
  EXPECT_TRUE(rowbloom_memfilter_may_contain(filter_, nullptr, 1, nullptr, 0));
  EXPECT_FALSE(rowbloom_memfilter_may_contain(filter_, nullptr, 0, "", 0));
  rowbloom_memfilter_free(nullptr);
}

}  // namespace
}  // namespace rowbloom
