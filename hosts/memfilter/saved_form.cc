// SPDX-License-Identifier: Apache-2.0
//
// Bytes: docs/memfilters.md, section "Saved form".

#include "memfilter/saved_form.h"

#include <xxhash.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "rowbloom/version.h"
#include "util/absl_view.h"
#include "util/check.h"
#include "util/coding.h"

namespace rowbloom {

std::string_view MemFilterKindName(MemFilterKind kind) {
  constexpr std::string_view kNames[] = {"standard", "counting", "scalable",
                                         "dynamic",  "split",    "balanced",
                                         "matrix",   "redisson"};
  const size_t i = static_cast<size_t>(kind) - 1;  // Kind 0 becomes SIZE_MAX.
  return i < std::size(kNames) ? kNames[i] : "unknown";
}

namespace internal::memfilter {

namespace {

// The first bytes of a saved filter.
struct Header {
  static constexpr size_t kMagic = 0;            // 8 bytes.
  static constexpr size_t kVersion = 8;          // 1 byte.
  static constexpr size_t kKind = 9;             // 1 byte.
  static constexpr size_t kReserved = 10;        // 2 bytes: 0.
  static constexpr size_t kParametersSize = 12;  // 4 bytes.
  static constexpr size_t kWordCount = 16;       // 8 bytes.
  static constexpr size_t kChecksum = 24;        // 8 bytes: of all others.
  static constexpr size_t kSize = 32;
};
static_assert(Header::kChecksum + 8 == Header::kSize);
constexpr std::string_view kMagic = "rbmemflt";
static_assert(Header::kMagic + kMagic.size() == Header::kVersion);
// Sizes in bytes must fit 64 bits.
constexpr uint64_t kMaxWords = uint64_t{1} << 56;

// The core does not export its util::Hash64(), hence xxHash is called here.
// The checksum of all bytes but its own field, the last of the header.
uint64_t Checksum(std::string_view bytes) {
  const uint64_t seed = XXH3_64bits(bytes.data(), Header::kChecksum);
  return XXH3_64bits_withSeed(bytes.data() + Header::kSize,
                              bytes.size() - Header::kSize, seed);
}

// Checks the magic, the sizes, the checksum, then the version. Every version
// keeps this order, so that a newer version is not taken for damage.
absl::Status CheckEnvelope(std::string_view bytes) {
  if (bytes.size() < Header::kSize) {
    return absl::DataLossError(absl::StrCat(
        "saved filter of ", bytes.size(), " bytes is shorter than its header"));
  }
  const absl::StatusOr<uint64_t> size = SavedFormSize(bytes);
  if (!size.ok()) return size.status();
  if (*size != bytes.size()) {
    return absl::DataLossError(absl::StrCat("saved filter of ", bytes.size(),
                                            " bytes: its header says ", *size));
  }
  if (Checksum(bytes) !=
      util::LoadFixed<uint64_t>(bytes.data() + Header::kChecksum)) {
    return absl::DataLossError(absl::StrCat("checksum of the saved filter at ",
                                            Header::kChecksum,
                                            " does not match"));
  }
  const uint8_t version = static_cast<uint8_t>(bytes[Header::kVersion]);
  if (version > kMemFilterFormatVersion) {
    return absl::UnimplementedError(absl::StrCat(
        "saved filter version ", static_cast<int>(version), " is newer than ",
        static_cast<int>(kMemFilterFormatVersion)));
  }
  if (version == 0 ||
      util::LoadFixed<uint16_t>(bytes.data() + Header::kReserved) != 0) {
    return absl::DataLossError(absl::StrCat(
        "saved filter has version ", static_cast<int>(version),
        " and the reserved bytes at ", Header::kReserved, " are ",
        util::LoadFixed<uint16_t>(bytes.data() + Header::kReserved)));
  }
  return absl::OkStatus();
}

}  // namespace

void SavedFormWriter::AddVarint(uint64_t value) {
  util::AppendVarint(value, &parameters_);
}

void SavedFormWriter::AddDouble(double value) {
  util::AppendFixed(absl::bit_cast<uint64_t>(value), &parameters_);
}

std::string SavedFormWriter::Finish() const {
  RB_CHECK(parameters_.size() <= std::numeric_limits<uint32_t>::max(),
           "parameters of a saved filter exceed 4 GiB");
  uint64_t word_count = 0;
  for (const auto words : words_) word_count += words.size();
  std::string bytes;
  bytes.reserve(Header::kSize + parameters_.size() +
                static_cast<size_t>(word_count) * sizeof(uint64_t));
  bytes.append(kMagic);
  bytes.push_back(static_cast<char>(kMemFilterFormatVersion));
  bytes.push_back(static_cast<char>(kind_));
  util::AppendFixed<uint16_t>(0, &bytes);
  util::AppendFixed<uint32_t>(static_cast<uint32_t>(parameters_.size()),
                              &bytes);
  util::AppendFixed<uint64_t>(word_count, &bytes);
  util::AppendFixed<uint64_t>(0, &bytes);
  bytes.append(parameters_);
  size_t at = bytes.size();
  bytes.resize(at + static_cast<size_t>(word_count) * sizeof(uint64_t));
  for (const auto words : words_) {
    for (const uint64_t word : words) {
      util::StoreFixed<uint64_t>(word, &bytes[at]);
      at += sizeof(uint64_t);
    }
  }
  util::StoreFixed<uint64_t>(Checksum(bytes), &bytes[Header::kChecksum]);
  return bytes;
}

absl::StatusOr<uint64_t> SavedFormSize(std::string_view first_bytes) {
  const size_t compared = std::min(first_bytes.size(), kMagic.size());
  if (first_bytes.substr(0, compared) != kMagic.substr(0, compared)) {
    return absl::DataLossError("saved filter does not begin with its magic");
  }
  if (first_bytes.size() < Header::kSize) return Header::kSize;
  const uint64_t parameters =
      util::LoadFixed<uint32_t>(first_bytes.data() + Header::kParametersSize);
  const uint64_t words =
      util::LoadFixed<uint64_t>(first_bytes.data() + Header::kWordCount);
  if (words > kMaxWords) {
    return absl::DataLossError(absl::StrCat("saved filter: ", words,
                                            " words at ", Header::kWordCount));
  }
  return Header::kSize + parameters + words * sizeof(uint64_t);
}

absl::StatusOr<MemFilterKind> SavedFormKind(std::string_view bytes) {
  if (absl::Status status = CheckEnvelope(bytes); !status.ok()) return status;
  const auto kind = static_cast<MemFilterKind>(bytes[Header::kKind]);
  if (MemFilterKindName(kind) == "unknown") {
    return absl::UnimplementedError(absl::StrCat(
        "saved filter is of the unknown kind ", static_cast<int>(kind)));
  }
  return kind;
}

absl::StatusOr<SavedFormReader> SavedFormReader::Open(std::string_view bytes,
                                                      MemFilterKind kind) {
  const absl::StatusOr<MemFilterKind> found = SavedFormKind(bytes);
  if (!found.ok()) return found.status();
  if (*found != kind) {
    return absl::InvalidArgumentError(absl::StrCat(
        "saved filter is a ", util::AbslView(MemFilterKindName(*found)),
        " filter, not a ", util::AbslView(MemFilterKindName(kind)), " one"));
  }
  SavedFormReader reader;
  const size_t parameters =
      util::LoadFixed<uint32_t>(bytes.data() + Header::kParametersSize);
  reader.parameters_ = bytes.substr(Header::kSize, parameters);
  reader.parameters_end_ = Header::kSize + parameters;
  reader.words_ = bytes.substr(Header::kSize + parameters);
  return reader;
}

uint64_t SavedFormReader::Varint() {
  uint64_t value = 0;
  if (!util::ReadVarint(&parameters_, &value)) Refuse("a varint is cut");
  return value;
}

double SavedFormReader::Double() {
  uint64_t bits = 0;
  if (!util::ReadFixed(&parameters_, &bits)) Refuse("a double is cut");
  return absl::bit_cast<double>(bits);
}

BloomShape SavedFormReader::Shape() {
  BloomShape shape;
  shape.bit_count = Varint();
  shape.probe_count =
      static_cast<uint32_t>(std::min<uint64_t>(Varint(), kMaxProbeCount + 1));
  if (const absl::Status status = ValidateShape(shape); !status.ok()) {
    Refuse(status.message());
  }
  return shape;
}

bool SavedFormReader::Bits(uint64_t bit_count, BitArray* bits) {
  if (!status_.ok() ||
      BitArray::WordCount(bit_count) > words_.size() / sizeof(uint64_t)) {
    Refuse(absl::StrCat(bit_count, " bits, and ", words_.size(),
                        " bytes of words are left"));
    return false;
  }
  auto made = BitArray::New(bit_count);
  if (!made.ok()) {
    status_.Update(made.status());
    return false;
  }
  *bits = *std::move(made);
  for (uint64_t& word : bits->mutable_words()) util::ReadFixed(&words_, &word);
  if (!bits->HasCleanTail()) {
    Refuse(absl::StrCat("the last of the words has more than ", bit_count,
                        " bits"));
  }
  return status_.ok();
}

void SavedFormReader::Refuse(absl::string_view what) {
  status_.Update(absl::DataLossError(
      absl::StrCat("saved filter, read to offset ",
                   parameters_end_ - parameters_.size(), ": ", what)));
}

absl::Status SavedFormReader::Finish() {
  if (!parameters_.empty() || !words_.empty()) {
    Refuse(absl::StrCat(parameters_.size(), " bytes of parameters and ",
                        words_.size(), " of words are left"));
  }
  return status_;
}

}  // namespace internal::memfilter

}  // namespace rowbloom
