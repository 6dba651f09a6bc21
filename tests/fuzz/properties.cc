// SPDX-License-Identifier: Apache-2.0

#include "fuzz/properties.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/coding.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/key_codec.h"
#include "testing/keys.h"
#include "testing/reseal.h"

#define REQUIRE(condition)                                                  \
  do {                                                                      \
    if (!(condition)) {                                                     \
      std::fprintf(stderr, "%s:%d: property does not hold: %s\n", __FILE__, \
                   __LINE__, #condition);                                   \
      std::abort();                                                         \
    }                                                                       \
  } while (false)

namespace rowbloom::fuzz {

namespace {

using testing::Cell;

// Takes values off the front of the input; zeros when it is used up.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  uint8_t Byte() {
    uint8_t value = 0;
    base::ReadFixed(&bytes_, &value);
    return value;
  }
  std::string_view Bytes(size_t max_size) {
    const size_t size = std::min<size_t>(
        bytes_.size(), max_size == 0 ? 0 : Byte() % (max_size + 1));
    const std::string_view taken =
        bytes_.substr(0, std::min(size, bytes_.size()));
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view Rest() { return bytes_; }

 private:
  std::string_view bytes_;
};

std::string WriteBlock(const FilterOptions& options,
                       const std::vector<Cell>& cells) {
  std::string block;
  const auto sink = NewStringSink(&block);
  FilterBlockWriter writer(options, sink.get());
  for (const Cell& cell : cells) writer.Add(cell.row, cell.qualifier);
  REQUIRE(writer.Finish().ok());
  return block;
}

void AskEverything(const FilterReader& reader, std::string_view bytes) {
  for (const FilterChunkInfo& chunk : reader.Chunks()) {
    reader.MayContain(chunk.first_row);
    reader.MayContain(chunk.first_row, chunk.first_qualifier);
  }
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 20); ++i) {
    const FilterKey row = FilterKey::Row(bytes.substr(i, 5));
    const FilterKey cell = FilterKey::RowCol(row, bytes.substr(0, i));
    const FilterKey keys[] = {row, cell};
    bool answers[2];
    reader.MayContain(keys, answers);
    REQUIRE(answers[0] == reader.MayContain(row));
    REQUIRE(answers[1] == reader.MayContain(cell));
  }
}

}  // namespace

namespace {

void OpenVerifyAndAsk(std::string_view bytes) {
  const auto source = NewMemorySource(bytes, "fuzz");
  const auto reader = FilterReader::Open(source.get(), {}, {});
  if (!reader.ok()) {
    REQUIRE(reader.status().code() == absl::StatusCode::kDataLoss ||
            reader.status().code() == absl::StatusCode::kUnimplemented);
    return;
  }
  const absl::Status verified = (*reader)->Verify();
  REQUIRE(verified.ok() || verified.code() == absl::StatusCode::kDataLoss);
  AskEverything(**reader, bytes);
}

}  // namespace

void FilterBlockProperty(std::string_view bytes) {
  OpenVerifyAndAsk(bytes);
  // Once more with right checksums, which mutation alone does not find.
  std::string resealed(bytes);
  testing::Reseal(&resealed);
  OpenVerifyAndAsk(resealed);
}

void FilterBlobProperty(std::string_view bytes) {
  const auto parsed = ParseFilterBlob(bytes);
  if (!parsed.ok()) {
    REQUIRE(!VerifyFilterBlob(bytes).ok());
    return;
  }
  (void)VerifyFilterBlob(bytes);
  for (const Kernel kernel : {Kernel::kPortable, Kernel::kAvx2}) {
    if (!KernelAvailable(kernel)) continue;
    const auto again = ParseFilterBlob(bytes, kernel);
    REQUIRE(again.ok());
    for (size_t i = 0; i < 16; ++i) {
      const KeyDigest digest = DigestBytes(bytes.substr(0, i));
      REQUIRE(again->view.MayContain(digest) ==
              parsed->view.MayContain(digest));
    }
  }
}

void RoundTripProperty(std::string_view bytes) {
  Input input(bytes);
  FilterOptions options;
  const uint8_t flags = input.Byte();
  options.bloom_type = static_cast<BloomType>(1 + flags % 4);
  options.rowcol_adds_rows = (flags & 4) != 0;
  options.chunk_size_bytes = 256;
  options.policy = FilterPolicy::BitsPerKey(
      FilterFamilyNames()[(flags >> 3) % FilterFamilyNames().size()],
      1 + input.Byte() % 24);
  if (options.bloom_type == BloomType::kRowPrefixFixedLength) {
    options.prefix_length_bytes = 1 + input.Byte() % 4;
  }
  const uint8_t flips = input.Byte() % 4;
  std::vector<std::pair<size_t, uint8_t>> damage;
  for (uint8_t i = 0; i < flips; ++i) {
    damage.emplace_back(size_t{input.Byte()} << 8 | input.Byte(), input.Byte());
  }
  std::vector<Cell> cells;
  while (!input.empty()) {
    Cell cell;
    cell.row = input.Bytes(6);
    cell.qualifier = input.Bytes(4);
    cells.push_back(cell);
  }
  std::sort(cells.begin(), cells.end());
  const std::string whole = WriteBlock(options, cells);
  std::string block = whole;
  for (const auto& [offset, mask] : damage) {
    char& byte = block[offset % block.size()];
    byte = static_cast<char>(static_cast<uint8_t>(byte) ^ mask);
  }
  const auto source = NewMemorySource(block, "fuzz");
  const auto reader = FilterReader::Open(source.get(), {}, {});
  if (block == whole) {
    REQUIRE(reader.ok());
    REQUIRE((*reader)->Verify().ok());
  } else {
    REQUIRE(!reader.ok() || !(*reader)->Verify().ok());
  }
  if (!reader.ok()) return;
  for (const Cell& cell : cells) {
    REQUIRE((*reader)->MayContain(cell.row));
    REQUIRE((*reader)->MayContain(cell.row, cell.qualifier));
  }
}

void KernelProperty(std::string_view bytes) {
  Input input(bytes);
  const uint8_t probe_count = static_cast<uint8_t>(1 + input.Byte() % 16);
  const size_t shift = input.Byte() % 64;
  std::vector<KeyDigest> digests(1 + input.Byte() % 40);
  for (KeyDigest& digest : digests) {
    for (int i = 0; i < 8; ++i) digest.value = digest.value << 8 | input.Byte();
  }
  const std::string_view rest = input.Rest();
  if (rest.size() < 64) return;
  std::string moved(shift, '\0');
  moved.append(rest.substr(0, rest.size() / 64 * 64));
  const std::string_view unit = std::string_view(moved).substr(shift);
  FilterDescriptor descriptor;
  descriptor.family_code = 2;
  descriptor.unit_count = 1;
  descriptor.parameters = probe_count;
  descriptor.unit_size_bytes[0] = unit.size();
  const std::string_view units[] = {unit};
  const auto portable = FilterView::Parse(descriptor, units, Kernel::kPortable);
  REQUIRE(portable.ok());
  for (const Kernel kernel : {Kernel::kBest, Kernel::kAvx2}) {
    if (!KernelAvailable(kernel)) continue;
    const auto view = FilterView::Parse(descriptor, units, kernel);
    REQUIRE(view.ok());
    const auto answers = std::make_unique<bool[]>(digests.size());
    view->MayContain(digests, answers.get());
    for (size_t i = 0; i < digests.size(); ++i) {
      REQUIRE(answers[i] == portable->MayContain(digests[i]));
      REQUIRE(view->MayContain(digests[i]) == answers[i]);
    }
  }
}

void KeyCodecProperty(std::string_view bytes) {
  Input input(bytes);
  const uint8_t parameter = input.Byte();
  const KeyCodec codecs[] = {KeyCodec::Ordered(),
                             KeyCodec::FixedRow(1 + parameter % 8),
                             KeyCodec::Delimiter(static_cast<char>(parameter))};
  const KeyCodec& codec = codecs[input.Byte() % 3];
  const Cell a = {std::string(input.Bytes(16)), std::string(input.Bytes(16))};
  const Cell b = {std::string(input.Bytes(16)), std::string(input.Bytes(16))};
  std::string row, qualifier;
  std::vector<std::string> keys;
  for (const Cell& cell : {a, b}) {
    std::string key;
    if (!codec.Encode(cell.row, cell.qualifier, &key).ok()) {
      REQUIRE(key.empty());
      continue;
    }
    REQUIRE(codec.Decode(key, &row, &qualifier).ok());
    REQUIRE(row == cell.row && qualifier == cell.qualifier);
    keys.push_back(key);
  }
  if (keys.size() == 2 && codec.kind() != KeyCodec::Kind::kDelimiter) {
    REQUIRE((keys[0] < keys[1]) == (a < b));
    REQUIRE((keys[0] == keys[1]) == (a == b));
  }
  const std::string_view any = input.Rest();
  (void)codec.Decode(any, &row, &qualifier);
  size_t row_part = 0;
  const size_t column_part = codec.ColumnPartSize(any, &row_part);
  REQUIRE(row_part <= any.size() && column_part <= any.size());
  REQUIRE(column_part == 0 || column_part > row_part);
  REQUIRE(codec.RowPartSize(any.substr(0, row_part)) == row_part);
}

void OptionsTextProperty(std::string_view bytes) {
  if (const auto policy = FilterPolicy::Parse(bytes); policy.ok()) {
    const auto again = FilterPolicy::Parse(policy->ToString());
    REQUIRE(again.ok() && again->ToString() == policy->ToString());
    REQUIRE(again->bits_per_key() == policy->bits_per_key());
  }
  if (const auto codec = KeyCodec::Parse(bytes); codec.ok()) {
    const auto again = KeyCodec::Parse(codec->ToString());
    REQUIRE(again.ok() && *again == *codec);
  }
  if (const auto type = ParseBloomType(bytes); type.ok()) {
    REQUIRE(ParseBloomType(BloomTypeName(*type)).ok());
  }
}

namespace {

std::vector<std::string> BlockSeeds() {
  testing::Random random(81);
  std::vector<std::string> seeds;
  for (const BloomType type :
       {BloomType::kNone, BloomType::kRow, BloomType::kRowCol,
        BloomType::kRowPrefixFixedLength}) {
    FilterOptions options;
    options.bloom_type = type;
    options.chunk_size_bytes = 256;
    if (type == BloomType::kRowPrefixFixedLength) {
      options.prefix_length_bytes = 2;
    }
    seeds.push_back(WriteBlock(options, {}));
    seeds.push_back(WriteBlock(options, testing::SortedCells(&random, 150)));
  }
  return seeds;
}

std::vector<std::string> BlobSeeds() {
  testing::Random random(82);
  std::vector<std::string> seeds;
  for (const size_t keys : {0, 1, 60, 500}) {
    const auto builder = NewFilterBuilder(FilterPolicy());
    for (const KeyDigest digest : testing::RandomDigests(&random, keys)) {
      builder->Add(digest);
    }
    seeds.push_back(EncodeFilterBlob(builder->Finish(), "metadata"));
  }
  return seeds;
}

std::vector<std::string> ByteSeeds() {
  testing::Random random(83);
  std::vector<std::string> seeds;
  for (const size_t size : {0, 10, 100, 400, 1500}) {
    std::string seed(size, '\0');
    for (char& c : seed) c = static_cast<char>(random());
    seeds.push_back(seed);
  }
  return seeds;
}

std::vector<std::string> TextSeeds() {
  return {"blocked_bloom:bits_per_key=12.5",
          "blocked_bloom:target_fpr=0.01",
          "always_maybe",
          "ordered",
          "fixed:8",
          "delimiter:|",
          "delimiter:0x1f",
          "ROWCOL",
          "none"};
}

}  // namespace

const std::vector<Property>& AllProperties() {
  static const std::vector<Property>* const all = new std::vector<Property>{
      {"filter_block", FilterBlockProperty, BlockSeeds},
      {"filter_blob", FilterBlobProperty, BlobSeeds},
      {"round_trip", RoundTripProperty, ByteSeeds},
      {"kernel", KernelProperty, ByteSeeds},
      {"key_codec", KeyCodecProperty, ByteSeeds},
      {"options_text", OptionsTextProperty, TextSeeds}};
  return *all;
}

}  // namespace rowbloom::fuzz
