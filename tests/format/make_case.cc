// SPDX-License-Identifier: Apache-2.0
//
// Blocks, blobs and saved filters of given keys, and questions about them.

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "block/format.h"
#include "format/case.h"
#include "rowbloom/filter_blob.h"
#include "testing/key_codecs.h"
#include "testing/reseal.h"
#include "util/coding.h"
#include "util/digest.h"

namespace rowbloom::cases {

namespace {

std::string WriteBlock(const FilterOptions& options,
                       const std::vector<Cell>& cells) {
  std::string block;
  const auto sink = NewStringSink(&block);
  FilterBlockWriter writer(options, sink.get());
  for (const Cell& cell : cells) writer.Add(cell.row, cell.qualifier);
  if (const auto info = writer.Finish(); !info.ok()) {
    Die(info.status().ToString());
  }
  return block;
}

std::string AboutOptions(const FilterOptions& options) {
  std::string about =
      absl::StrCat(std::string(BloomTypeName(options.bloom_type)), " ",
                   options.filter_spec.ToString());
  if (options.key_codec.has_value()) {
    absl::StrAppend(&about, " ", options.key_codec->ToString());
  }
  return about;
}

// A key that differs little from one that may be there.
std::string Neighbour(std::string bytes, Random* random) {
  switch (random->Below(4)) {
    case 0:
      if (!bytes.empty()) bytes[random->Below(bytes.size())] ^= 1;
      break;
    case 1:
      bytes.resize(random->Below(bytes.size() + 1));
      break;
    case 2:
      bytes.push_back(static_cast<char>(random->Below(3)));
      break;
    case 3:
      bytes = random->Bytes(16);
      break;
  }
  return bytes;
}

// Recomputes tail_checksum.
void ResealBlob(std::string* blob) {
  constexpr size_t kTrailerSize = 8;
  if (blob->size() < kTrailerSize) return;
  const size_t trailer = blob->size() - kTrailerSize;
  const uint64_t tail_size = util::LoadFixed<uint16_t>(&(*blob)[trailer]);
  if (tail_size > trailer) return;
  const uint64_t version = static_cast<uint8_t>((*blob)[trailer + 6]);
  testing::StoreU32(
      static_cast<uint32_t>(util::Hash64(
          std::string_view(*blob).substr(trailer - tail_size, tail_size),
          tail_size + (version << 16))),
      trailer + 2, blob);
}

// Where the bytes have fields, and not the bits of filters.
std::pair<size_t, size_t> Fields(const Case& made) {
  const std::string& bytes = made.bytes;
  if (made.format == "filter_block") {
    const size_t footer = bytes.size() - block::Footer::kSize;
    return {
        util::LoadFixed<uint64_t>(&bytes[footer + block::Footer::kIndexOffset]),
        bytes.size()};
  }
  if (made.format == "filter_blob") {
    return {
        bytes.size() - 8 - util::LoadFixed<uint16_t>(&bytes[bytes.size() - 8]),
        bytes.size()};
  }
  return {0, 32 + util::LoadFixed<uint32_t>(&bytes[12])};
}

void ChangeFields(const Case& made, Random* random, std::string* bytes) {
  auto [begin, end] = Fields(made);
  // The checksum of a saved filter is over its bits, too.
  if (made.format == "mem_filter" && random->Below(2) == 0) {
    end = bytes->size();
  }
  static constexpr int kSteps[] = {1, -1, 2, 4, 64, 128};
  char& byte = (*bytes)[begin + random->Below(end - begin)];
  byte = static_cast<char>(byte + kSteps[random->Below(std::size(kSteps))]);
}

// Writes bytes that texts of key codecs have.
void ChangeKeyCodec(const Case& made, Random* random, std::string* bytes) {
  static constexpr std::string_view kBytes = "01289abcdexts_:.,-";
  (*bytes)[made.bytes.rfind(made.key_codec) +
           random->Below(made.key_codec.size())] =
      kBytes[random->Below(kBytes.size())];
}

std::string ChangedUnderChecksums(const Case& made, Random* random) {
  std::string bytes = made.bytes;
  const bool changes_codec = !made.key_codec.empty() && random->Below(3) == 0;
  const auto change = changes_codec ? ChangeKeyCodec : ChangeFields;
  change(made, random, &bytes);
  if (random->Below(2) == 0) change(made, random, &bytes);
  if (made.format == "filter_block") {
    testing::Reseal(&bytes);
  } else if (made.format == "filter_blob") {
    ResealBlob(&bytes);
  } else {
    testing::ResealMemFilter(&bytes);
  }
  return bytes;
}

}  // namespace

Case BlockCase(std::string name, const FilterOptions& options,
               const std::vector<Cell>& cells) {
  Case made;
  made.name = std::move(name);
  made.format = "filter_block";
  made.about = AboutOptions(options);
  made.bytes = WriteBlock(options, cells);
  made.secret = options.secret;
  if (options.key_codec.has_value() && options.bloom_type != BloomType::kNone) {
    made.key_codec = options.key_codec->ToString();
  }
  return made;
}

Case BlobCase(std::string name, const FilterSpec& spec,
              const std::vector<Cell>& cells, std::string_view metadata) {
  Case made;
  made.name = std::move(name);
  made.format = "filter_blob";
  made.about = spec.ToString();
  const auto builder = NewFilterBuilder(spec);
  for (const Cell& cell : cells) {
    builder->Add(FilterKey::RowCol(cell.row, cell.qualifier).digest());
    builder->Add(FilterKey::Row(cell.row).digest());
  }
  made.bytes = EncodeFilterBlob(builder->Finish(), metadata);
  return made;
}

Case MemFilterCase(std::string name, MemFilter* filter,
                   const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) {
    // Some filters become full.
    if (!filter->Add(DigestBytes(cell.row)).ok()) break;
    (void)filter->Add(FilterKey::RowCol(cell.row, cell.qualifier).digest());
  }
  Case made;
  made.name = std::move(name);
  made.format = "mem_filter";
  made.about = absl::StrCat(std::string(MemFilterKindName(filter->kind())),
                            ": ", filter->OptionsText());
  made.bytes = filter->Save();
  return made;
}

Case RedissonCase(std::string name, const BloomShape& shape, size_t keys,
                  size_t questions, Random* random) {
  RedissonFilter filter = *RedissonFilter::New(shape);
  Case made;
  made.name = std::move(name);
  made.format = "mem_filter";
  made.about = absl::StrCat("redisson: ", shape.bit_count, " bits, ",
                            shape.probe_count, " probes");
  while (made.questions.size() < questions) {
    const uint64_t h2 = (*random)();
    const uint64_t h1 = (*random)();
    const Question question = Question::Digest(h1, h2);
    if (made.questions.size() < keys) filter.Add(question.digest);
    made.questions.push_back(question);
  }
  made.bytes = filter.Save();
  return made;
}

std::vector<Question> QuestionsAbout(const std::vector<Cell>& cells,
                                     size_t count, Random* random) {
  std::vector<Question> questions;
  while (questions.size() < count) {
    Cell cell = {random->Bytes(12), random->Bytes(6)};
    if (!cells.empty()) cell = cells[random->Below(cells.size())];
    if (random->Below(2) == 0) cell.row = Neighbour(cell.row, random);
    if (random->Below(3) == 0) {
      cell.qualifier = Neighbour(cell.qualifier, random);
    }
    switch (random->Below(4)) {
      case 0:
        questions.push_back(Question::Row(cell.row));
        break;
      case 1:
        questions.push_back(Question::OfCell(cell));
        break;
      default:
        if (random->Below(2) == 0) {
          cell.row.resize(random->Below(cell.row.size() + 1));
        }
        questions.push_back(Question::Prefix(cell.row));
        break;
    }
  }
  return questions;
}

std::vector<Question> RowsAndCellsAbout(const std::vector<Cell>& cells,
                                        size_t count, Random* random) {
  std::vector<Question> questions = QuestionsAbout(cells, count, random);
  for (Question& question : questions) {
    if (question.kind == Question::Kind::kPrefix) {
      question.kind = Question::Kind::kRow;
    }
  }
  return questions;
}

void AddVariants(size_t count, Random* random, Case* made) {
  for (size_t i = 0; i < count && !made->bytes.empty(); ++i) {
    std::string bytes = made->bytes;
    switch (random->Below(4)) {
      case 0:
        bytes[random->Below(bytes.size())] ^=
            static_cast<char>(1 + random->Below(255));
        break;
      case 1:
        bytes.resize(random->Below(bytes.size()));
        break;
      default:
        bytes = ChangedUnderChecksums(*made, random);
    }
    made->variants.push_back(bytes);
  }
}

std::vector<Cell> AnyCells(const FilterOptions& options, size_t rows,
                           Random* random) {
  std::vector<Cell> cells = testing::SortedCells(random, rows / 2);
  const size_t max_size = random->Below(8) == 0 ? 400 : 12;
  for (size_t i = 0; i < rows - rows / 2; ++i) {
    Cell cell = {random->Bytes(max_size), random->Bytes(max_size)};
    if (options.key_codec.has_value()) {
      const auto segments = testing::AnySegments(*options.key_codec, 6, random);
      cell.row.clear();
      if (!options.key_codec->Encode(testing::Views(segments), &cell.row)
               .ok()) {
        Die("a row that its key codec cannot hold");
      }
    }
    cells.push_back(cell);
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

std::vector<Cell> GoldenMemFilterCells() {
  std::vector<Cell> cells;
  for (uint64_t i = 0; i < 300; ++i) {
    cells.push_back({testing::NumberedRow(2 * i), ""});
  }
  return cells;
}

}  // namespace rowbloom::cases
