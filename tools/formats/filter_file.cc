// SPDX-License-Identifier: Apache-2.0

#include "tools/formats/filter_file.h"

#include <algorithm>
#include <utility>

#include "tools/formats/paths.h"

namespace rowbloom::tools {
namespace {

// Tables of RocksDB, and those of LevelDB and Pebble, which are refused.
FilterFileOrError OpenSst(const std::string& path, const Source& source) {
  const auto magic = LastBytes(*source, kMagicBytes);
  if (!magic.ok()) return magic.status();
  if (*magic == kPebbleMagic) {
    return absl::InvalidArgumentError(
        path +
        ": a table of Pebble, which rowbloom does not read; check it with "
        "Pebble's own tool: pebble sstable check FILE");
  }
  if (*magic != kBlockBasedMagic && *magic != kLegacyMagic) return nullptr;
  return OpenRocksDbSst(path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<FilterFile>> OpenFilterFile(
    const std::string& path, const std::string& place) {
  if (IsRedisPath(path)) return OpenRedisFilter(path);
  absl::StatusOr<std::unique_ptr<RandomAccessSource>> opened =
      OpenFileSource(path);
  if (!opened.ok()) return opened.status();
  const Source source = *std::move(opened);

  if (std::unique_ptr<FilterFile> file = OpenByPlace(place)) return file;
  for (auto* open : {OpenSst, OpenFilterBlock, OpenHFile, OpenMemFilter}) {
    FilterFileOrError file = open(path, source);
    if (!file.ok() || *file != nullptr) return file;
  }
  return absl::InvalidArgumentError(
      "neither a filter block nor an SST nor an HFile, or one whose end is "
      "damaged, nor a saved mem filter");
}

absl::Status FilterFile::Plan(const PlanQuestion& /*question*/,
                              Json* /*entry*/) const {
  return absl::InvalidArgumentError(
      "has no cells to advise on: neither an HFile nor the directory of a "
      "RocksDB database");
}

absl::StatusOr<std::string> ReadBytes(const RandomAccessSource& source,
                                      uint64_t offset, uint64_t size) {
  std::string scratch(static_cast<size_t>(size), '\0');
  std::string_view bytes;
  const absl::Status status =
      source.Read(offset, scratch.size(), scratch.data(), &bytes);
  if (!status.ok()) return status;
  return std::string(bytes);
}

absl::StatusOr<bool> HasBytes(const RandomAccessSource& source, uint64_t offset,
                              std::string_view magic) {
  if (source.size_bytes() < offset + magic.size()) return false;
  const absl::StatusOr<std::string> bytes =
      ReadBytes(source, offset, magic.size());
  if (!bytes.ok()) return bytes.status();
  return *bytes == magic;
}

absl::StatusOr<std::string> LastBytes(const RandomAccessSource& source,
                                      uint64_t size) {
  size = std::min(size, source.size_bytes());
  return ReadBytes(source, source.size_bytes() - size, size);
}

std::string AskedOf(BloomType type) {
  switch (type) {
    case BloomType::kRow:
      return "row";
    case BloomType::kRowCol:
      return "column";
    case BloomType::kRowPrefixFixedLength:
      return "row prefix";
    case BloomType::kNone:
      break;
  }
  return "";
}

Json ChunkTotals::Add(uint64_t size_bytes, const FilterDescriptor& descriptor,
                      double expected_fpr) {
  ++chunk_count_;
  key_count_ += descriptor.key_count;
  size_bytes_ += size_bytes;
  expected_positives_ +=
      expected_fpr * static_cast<double>(descriptor.key_count);
  Json unit_sizes = Json::array();
  for (size_t unit = 0; unit < descriptor.unit_count; ++unit) {
    unit_sizes.push_back(descriptor.unit_size_bytes[unit]);
  }
  return Json{{"size_bytes", size_bytes},
              {"family", std::string(descriptor.family_name())},
              {"unit_count", descriptor.unit_count},
              {"unit_size_bytes", std::move(unit_sizes)},
              {"key_count", descriptor.key_count},
              {"bits_per_key", Ratio(8 * size_bytes, descriptor.key_count)},
              {"expected_fpr", expected_fpr}};
}

void ChunkTotals::AppendTo(Json* entry) const {
  (*entry)["chunk_count"] = chunk_count_;
  (*entry)["key_count"] = key_count_;
  (*entry)["filter_size_bytes"] = size_bytes_;
  (*entry)["bits_per_key"] = Ratio(8 * size_bytes_, key_count_);
  // A lookup asks one chunk, and each in proportion to its keys.
  (*entry)["expected_fpr"] = Ratio(expected_positives_, key_count_);
}

}  // namespace rowbloom::tools
