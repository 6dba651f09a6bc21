// SPDX-License-Identifier: Apache-2.0

#include "sst_format.h"

#include <utility>

#include "coding.h"

namespace mini_kv {
namespace {

constexpr uint64_t kMagic = 0x3173766b696e696d;  // "minikvs1"

void AppendKey(const CellKey& key, std::string* out) {
  AppendFixed(static_cast<uint32_t>(key.row.size()), out);
  AppendFixed(static_cast<uint32_t>(key.qualifier.size()), out);
  out->append(key.row);
  out->append(key.qualifier);
}

bool TakeKey(std::string_view* in, OwnedCellKey* key) {
  uint32_t row_size = 0;
  uint32_t qualifier_size = 0;
  CellKey view;
  if (!TakeFixed(in, &row_size) || !TakeFixed(in, &qualifier_size) ||
      !TakeBytes(in, row_size, &view.row) ||
      !TakeBytes(in, qualifier_size, &view.qualifier)) {
    return false;
  }
  *key = OwnedCellKey(view);
  return true;
}

// The blocks must follow each other from 0 to `data_size`.
bool TakeBlocks(std::string_view in, uint64_t data_size, SstIndex* index) {
  uint64_t offset = 0;
  while (!in.empty()) {
    SstIndex::Block block;
    if (!TakeKey(&in, &block.last_key) || !TakeFixed(&in, &block.offset) ||
        !TakeFixed(&in, &block.size_bytes) || block.offset != offset ||
        block.size_bytes <= kChecksumSize ||
        block.size_bytes > data_size - offset) {
      return false;
    }
    const bool in_order =
        index->blocks.empty()
            ? !(block.last_key < index->first_key)
            : CellKey(index->blocks.back().last_key) < block.last_key;
    if (!in_order) return false;
    offset += block.size_bytes;
    index->blocks.push_back(std::move(block));
  }
  return offset == data_size && !index->blocks.empty();
}

}  // namespace

absl::Status Damaged(const rowbloom::RandomAccessSource& source,
                     const char* what, uint64_t offset) {
  return absl::DataLossError(std::string(source.name()) + ": damaged " + what +
                             " at offset " + std::to_string(offset));
}

void AppendChecksum(uint64_t offset, std::string* bytes) {
  AppendFixed(Checksum(*bytes, offset), bytes);
}

void AppendFooter(const SstFooter& footer, uint64_t offset, std::string* out) {
  std::string bytes;
  AppendFixed(footer.filter_offset, &bytes);
  AppendFixed(footer.filter_size, &bytes);
  AppendFixed(footer.filter_tail_size, &bytes);
  AppendFixed(footer.index_offset, &bytes);
  AppendFixed(footer.cell_count, &bytes);
  AppendChecksum(offset, &bytes);
  AppendFixed(kMagic, &bytes);
  *out += bytes;
}

void AppendIndex(const SstIndex& index, uint64_t offset, std::string* out) {
  std::string bytes;
  AppendKey(index.first_key, &bytes);
  for (const SstIndex::Block& block : index.blocks) {
    AppendKey(block.last_key, &bytes);
    AppendFixed(block.offset, &bytes);
    AppendFixed(block.size_bytes, &bytes);
  }
  AppendChecksum(offset, &bytes);
  *out += bytes;
}

absl::Status ReadChecked(const rowbloom::RandomAccessSource& source,
                         uint64_t offset, uint64_t size_bytes,
                         std::string* scratch, std::string_view* payload) {
  scratch->resize(size_bytes);
  std::string_view bytes;
  absl::Status status =
      source.Read(offset, size_bytes, scratch->data(), &bytes);
  if (!status.ok()) return status;
  uint64_t checksum = 0;
  if (!TakeBytes(&bytes, size_bytes - kChecksumSize, payload) ||
      !TakeFixed(&bytes, &checksum) || checksum != Checksum(*payload, offset)) {
    return Damaged(source, "block", offset);
  }
  return absl::OkStatus();
}

absl::StatusOr<SstFooter> ReadFooter(
    const rowbloom::RandomAccessSource& source) {
  const uint64_t file_size = source.size_bytes();
  if (file_size < SstFooter::kSize) return Damaged(source, "footer", 0);
  const uint64_t offset = file_size - SstFooter::kSize;
  std::string scratch(SstFooter::kSize, '\0');
  std::string_view bytes;
  absl::Status status =
      source.Read(offset, SstFooter::kSize, scratch.data(), &bytes);
  if (!status.ok()) return status;
  const std::string_view checked = bytes.substr(0, SstFooter::kSize - 16);
  SstFooter footer;
  uint64_t checksum = 0;
  uint64_t magic = 0;
  const bool complete = TakeFixed(&bytes, &footer.filter_offset) &&
                        TakeFixed(&bytes, &footer.filter_size) &&
                        TakeFixed(&bytes, &footer.filter_tail_size) &&
                        TakeFixed(&bytes, &footer.index_offset) &&
                        TakeFixed(&bytes, &footer.cell_count) &&
                        TakeFixed(&bytes, &checksum) &&
                        TakeFixed(&bytes, &magic);
  if (!complete || magic != kMagic || checksum != Checksum(checked, offset) ||
      footer.index_offset > offset ||
      offset - footer.index_offset <= kChecksumSize ||
      footer.filter_offset > footer.index_offset ||
      footer.filter_size != footer.index_offset - footer.filter_offset) {
    return Damaged(source, "footer", offset);
  }
  return footer;
}

absl::StatusOr<SstIndex> ReadIndex(const rowbloom::RandomAccessSource& source,
                                   const SstFooter& footer) {
  std::string scratch;
  std::string_view bytes;
  const uint64_t size_bytes =
      source.size_bytes() - SstFooter::kSize - footer.index_offset;
  absl::Status status =
      ReadChecked(source, footer.index_offset, size_bytes, &scratch, &bytes);
  if (!status.ok()) return status;
  SstIndex index;
  if (!TakeKey(&bytes, &index.first_key) ||
      !TakeBlocks(bytes, footer.filter_offset, &index)) {
    return Damaged(source, "index", footer.index_offset);
  }
  return index;
}

}  // namespace mini_kv
