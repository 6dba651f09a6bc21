// SPDX-License-Identifier: Apache-2.0
//
// The golden files, and random blocks, blobs and saved filters of every kind.

#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "format/case.h"
#include "golden/cases.h"
#include "rowbloom/filter.h"
#include "testing/key_codecs.h"

namespace rowbloom::cases {

namespace {

FilterOptions AnyOptions(Random* random) {
  const std::vector<std::string_view> families = FilterFamilyNames();
  FilterOptions options;
  options.bloom_type = random->Below(16) == 0
                           ? BloomType::kNone
                           : static_cast<BloomType>(2 + random->Below(3));
  options.rowcol_adds_rows = random->Below(2) == 0;
  options.chunk_size_bytes =
      random->Below(4) == 0 ? 1 << 20
                            : 256 + static_cast<uint32_t>(random->Below(4096));
  const std::string_view family = families[random->Below(families.size())];
  options.filter_spec = FilterSpec::BitsPerKey(
      family, 1 + static_cast<double>(random->Below(2300)) / 100);
  if (family == "compact" && random->Below(3) == 0) {
    // All stripes have the same planes.
    options.filter_spec = FilterSpec::TargetFpr(
        family, std::ldexp(1, -1 - static_cast<int>(random->Below(16))));
  }
  if (random->Below(3) == 0) options.secret = {{(*random)(), (*random)()}};
  if (options.bloom_type == BloomType::kRowPrefixFixedLength) {
    options.prefix_length_bytes = 1 + static_cast<uint32_t>(random->Below(8));
  } else if (random->Below(3) != 0) {
    options.key_codec = testing::AnyCodec(random);
  }
  return options;
}

size_t AnyCount(Random* random) {
  static constexpr size_t kMost[] = {1, 2, 10, 100, 1000, 6000};
  return random->Below(kMost[random->Below(std::size(kMost))] + 1);
}

Case AnyBlock(std::string name, Random* random) {
  const FilterOptions options = AnyOptions(random);
  const std::vector<Cell> cells = AnyCells(options, AnyCount(random), random);
  Case made = BlockCase(std::move(name), options, cells);
  made.questions = QuestionsAbout(cells, 800, random);
  AddVariants(made.bytes.size() < 3000 ? 60 : 4, random, &made);
  return made;
}

Case AnyBlob(std::string name, Random* random) {
  const std::vector<Cell> cells =
      testing::SortedCells(random, AnyCount(random));
  Case made = BlobCase(std::move(name), AnyOptions(random).filter_spec, cells,
                       random->Bytes(20));
  made.questions = RowsAndCellsAbout(cells, 500, random);
  AddVariants(made.bytes.size() < 3000 ? 60 : 4, random, &made);
  return made;
}

// Its second layer has more homes than eight bits say.
Case LargeBlob(Random* random) {
  std::vector<Cell> cells;
  for (uint64_t i = 0; i < 100'000; ++i) {
    cells.push_back({testing::NumberedRow(i), "q"});
  }
  Case made = BlobCase("filter_blob_large",
                       FilterSpec::BitsPerKey("compact", 1.5), cells, "");
  made.questions = RowsAndCellsAbout(cells, 2000, random);
  return made;
}

BloomShape AnyShape(Random* random) {
  return {1 + random->Below(20000),
          1 + static_cast<uint32_t>(random->Below(12))};
}

std::unique_ptr<MemFilter> NewMemFilter(uint64_t kind, Random* random) {
  const BloomShape shape = AnyShape(random);
  const uint64_t keys = 1 + random->Below(200);
  const uint32_t groups = 1 + static_cast<uint32_t>(random->Below(4));
  switch (kind) {
    case 0:
      return AnyFilter(*StandardFilter::New(shape));
    case 1:
      return AnyFilter(
          *CountingFilter::New({shape, uint32_t{2} << random->Below(4)}));
    case 2:
      return AnyFilter(*ScalableFilter::New({0.02, keys}));
    case 3:
      return AnyFilter(*DynamicFilter::New({shape, keys}));
    case 4:
      return AnyFilter(*SplitFilter::New({shape, keys, groups}));
    case 5:
      return AnyFilter(*BalancedFilter::New({shape, groups}));
    default:
      return AnyFilter(*MatrixFilter::New(
          {shape, groups * (1 + static_cast<uint32_t>(random->Below(4))),
           groups}));
  }
}

constexpr uint64_t kMemFilterKinds = 7;  // Without Redisson's.

Case AnyMemFilter(std::string name, uint64_t kind, Random* random) {
  Case made;
  if (kind == kMemFilterKinds) {
    made = RedissonCase(std::move(name), AnyShape(random), random->Below(300),
                        400, random);
  } else {
    const std::vector<Cell> cells =
        testing::SortedCells(random, random->Below(150));
    made =
        MemFilterCase(std::move(name), NewMemFilter(kind, random).get(), cells);
    made.questions = RowsAndCellsAbout(cells, 400, random);
  }
  AddVariants(made.bytes.size() < 3000 ? 60 : 4, random, &made);
  return made;
}

std::string GoldenBytes(const std::string& file) {
  std::ifstream in(ROWBLOOM_SOURCE_DIR "/tests/golden/" + file,
                   std::ios::binary);
  if (!in) Die(file + " is not read");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void WriteGolden(Random* random, CaseWriter* out) {
  constexpr size_t kQuestions = 500;
  const auto write = [&](Case made, const std::string& file) {
    made.name = "golden_" + file;
    made.about = "golden: " + file;
    made.bytes = GoldenBytes(file);
    out->Write(made);
  };
  for (const golden::Case& golden : golden::BlockCases()) {
    Case made;
    made.format = "filter_block";
    made.secret = golden.options.secret;
    made.questions = QuestionsAbout(golden.cells, kQuestions, random);
    write(made, golden.file);
  }
  Case made;
  made.format = "filter_blob";
  made.questions = RowsAndCellsAbout(golden::Cells(), kQuestions, random);
  for (const char* file : golden::kBlobFiles) write(made, file);
  made.format = "mem_filter";
  made.questions =
      RowsAndCellsAbout(GoldenMemFilterCells(), kQuestions, random);
  for (const auto& golden : golden::MemFilterCases()) {
    write(made, golden.file);
  }
}

}  // namespace

void WriteRandomCases(uint64_t seed, uint64_t questions, CaseWriter* out) {
  Random random(seed);
  WriteGolden(&random, out);
  out->Write(LargeBlob(&random));
  for (uint64_t i = 0; out->questions() < questions; ++i) {
    const auto name = [i](const char* format) {
      return absl::StrCat(format, "_", i);
    };
    switch (i % 10) {
      case 8:
        out->Write(AnyBlob(name("filter_blob"), &random));
        break;
      case 9:
        out->Write(AnyMemFilter(name("mem_filter"),
                                i / 10 % (kMemFilterKinds + 1), &random));
        break;
      default:
        out->Write(AnyBlock(name("filter_block"), &random));
    }
  }
}

}  // namespace rowbloom::cases
