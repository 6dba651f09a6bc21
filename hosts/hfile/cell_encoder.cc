// SPDX-License-Identifier: Apache-2.0

#include "hfile/cell_encoder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "hfile/block.h"
#include "hfile/cell_key.h"
#include "hfile/errors.h"
#include "hfile/vlong.h"
#include "util/absl_view.h"
#include "util/coding.h"
#include "util/common_size.h"

namespace rowbloom::hfile {

namespace {

constexpr size_t kTimestampAt = 9;  // Before the key's end; the type is behind.
constexpr size_t kWholeTimestamp = 8;

std::string_view TimestampOf(std::string_view key) {
  return key.substr(key.size() - kTimestampAt, kWholeTimestamp);
}

// The bytes that a number takes, 1 to 8.
size_t SizeOf(uint64_t number) {
  size_t size = 1;
  while (size < sizeof(number) && number >> (8 * size) != 0) ++size;
  return size;
}

void AppendLittle(uint64_t number, size_t size, std::string* out) {
  for (size_t i = 0; i < size; ++i) {
    *out += static_cast<char>(number >> (8 * i) & 0xff);
  }
}

}  // namespace

bool IsKnownEncoding(HFileEncoding encoding) {
  switch (encoding) {
    case HFileEncoding::kNone:
    case HFileEncoding::kPrefix:
    case HFileEncoding::kDiff:
    case HFileEncoding::kFastDiff:
    case HFileEncoding::kRowIndexV1:
      return true;
    default:
      return false;
  }
}

size_t UnencodedSize(const DataLayout& layout, const HFileCell& cell) {
  constexpr size_t kSizes = 2 * sizeof(uint32_t);
  size_t size = kSizes + kRowSizeSize + cell.row.size() + 1 +
                cell.family.size() + cell.qualifier.size() + kTimestampAt +
                cell.value.size();
  if (layout.has_tags) size += sizeof(uint16_t) + cell.tags.size();
  if (layout.has_mvcc) size += VlongSize(cell.mvcc);
  return size;
}

CellEncoder::CellEncoder(HFileEncoding encoding, const DataLayout& layout)
    : encoding_(encoding), layout_(layout) {}

std::string_view CellEncoder::magic() const {
  return encoding_ == HFileEncoding::kNone ? kDataMagic : kEncodedDataMagic;
}

size_t CellEncoder::size() const {
  return std::max(unencoded_size_,
                  block_.size() - cells_begin_ + row_offsets_.size());
}

absl::Status CellEncoder::Add(const HFileCell& cell, std::string_view key) {
  const bool is_first = is_empty();
  if (is_first) {
    block_.clear();
    if (encoding_ != HFileEncoding::kNone) {
      util::AppendBigEndian(static_cast<uint16_t>(encoding_), &block_);
    }
    // Finish() states the size of the cells.
    if (!is_whole()) util::AppendBigEndian(uint32_t{0}, &block_);
    cells_begin_ = block_.size();
    family_ = cell.family;
  } else if (!is_whole() && cell.family != family_) {
    return InvalidArgument(
        "a block of encoding ", util::AbslView(HFileEncodingName(encoding_)),
        " has one column family; here are \"",
        absl::CHexEscape(util::AbslView(family_)), "\" and \"",
        absl::CHexEscape(util::AbslView(cell.family)), "\"");
  }
  const Keys keys = Compare(cell, key);
  switch (encoding_) {
    case HFileEncoding::kPrefix:
      AddPrefix(cell, keys);
      break;
    case HFileEncoding::kDiff:
      AddDiff(cell, keys);
      break;
    case HFileEncoding::kFastDiff:
      AddFastDiff(cell, keys);
      break;
    default:
      AddWhole(cell, keys);
  }
  if (layout_.has_tags) {
    absl::Status status = AddTags(cell.tags);
    if (!status.ok()) return status;
  }
  if (layout_.has_mvcc) AppendVlong(cell.mvcc, &block_);
  unencoded_size_ += UnencodedSize(layout_, cell);
  previous_key_ = key;
  if (!is_whole()) previous_value_ = cell.value;
  return absl::OkStatus();
}

CellEncoder::Keys CellEncoder::Compare(const HFileCell& cell,
                                       std::string_view key) const {
  Keys keys;
  keys.key = key;
  keys.front_size = key.size() - kTimestampAt;
  keys.row_end = kRowSizeSize + cell.row.size();
  if (is_empty()) return keys;
  keys.previous = previous_key_;
  keys.common = util::CommonSize(
      keys.previous.substr(0, keys.previous.size() - kTimestampAt),
      key.substr(0, keys.front_size));
  return keys;
}

void CellEncoder::AddWhole(const HFileCell& cell, const Keys& keys) {
  if (encoding_ == HFileEncoding::kRowIndexV1 &&
      (keys.previous.empty() || keys.common < keys.row_end)) {
    util::AppendBigEndian(static_cast<uint32_t>(block_.size() - cells_begin_),
                          &row_offsets_);
  }
  util::AppendBigEndian(static_cast<uint32_t>(keys.key.size()), &block_);
  util::AppendBigEndian(static_cast<uint32_t>(cell.value.size()), &block_);
  block_ += keys.key;
  block_ += cell.value;
}

void CellEncoder::AddPrefix(const HFileCell& cell, const Keys& keys) {
  size_t common = keys.common;
  const bool same_front =
      common == keys.front_size && keys.previous.size() == keys.key.size();
  if (same_front) common = util::CommonSize(keys.previous, keys.key);
  util::AppendVarint(keys.key.size() - common, &block_);
  util::AppendVarint(cell.value.size(), &block_);
  util::AppendVarint(common, &block_);
  block_ += keys.key.substr(common);
  block_ += cell.value;
}

void CellEncoder::AppendSizes(const HFileCell& cell, const Keys& keys,
                              bool same_key_size, bool same_value_size) {
  if (!same_key_size) util::AppendVarint(keys.key.size(), &block_);
  if (!same_value_size) util::AppendVarint(cell.value.size(), &block_);
  util::AppendVarint(keys.common, &block_);
}

void CellEncoder::AppendRestOfFront(const HFileCell& cell, const Keys& keys) {
  if (keys.common < keys.row_end) {
    block_ += keys.key.substr(keys.common, keys.row_end - keys.common);
    block_ += cell.qualifier;
  } else {
    block_ += keys.key.substr(keys.common, keys.front_size - keys.common);
  }
}

void CellEncoder::AddDiff(const HFileCell& cell, const Keys& keys) {
  const auto timestamp = static_cast<uint64_t>(cell.timestamp);
  uint64_t stored = timestamp;
  unsigned flags = 0;
  if (keys.previous.empty()) {
    block_ += static_cast<char>(cell.family.size());
    block_ += cell.family;
  } else {
    const auto before =
        util::LoadBigEndian<uint64_t>(TimestampOf(keys.previous).data());
    const uint64_t difference =
        before < timestamp ? timestamp - before : before - timestamp;
    if (SizeOf(difference) < SizeOf(timestamp)) {
      stored = difference;
      flags |= DiffFlags::kTimestampIsDiff;
      if (before < timestamp) flags |= DiffFlags::kTimestampIsNegative;
    }
    if (keys.previous.size() == keys.key.size()) {
      flags |= DiffFlags::kSameKeySize;
    }
    if (previous_value_.size() == cell.value.size()) {
      flags |= DiffFlags::kSameValueSize;
    }
    if (keys.previous.back() == keys.key.back()) flags |= DiffFlags::kSameType;
  }
  const size_t size = SizeOf(stored);
  flags |= static_cast<unsigned>(size - 1) << DiffFlags::kTimestampSizeShift;
  block_ += static_cast<char>(flags);
  AppendSizes(cell, keys, (flags & DiffFlags::kSameKeySize) != 0,
              (flags & DiffFlags::kSameValueSize) != 0);
  AppendRestOfFront(cell, keys);
  AppendLittle(stored, size, &block_);
  if ((flags & DiffFlags::kSameType) == 0) block_ += keys.key.back();
  block_ += cell.value;
}

void CellEncoder::AddFastDiff(const HFileCell& cell, const Keys& keys) {
  if (keys.previous.empty()) {
    block_ += '\0';
    AppendSizes(cell, keys, false, false);
    block_ += keys.key;
    block_ += cell.value;
    return;
  }
  const size_t same = std::min(
      util::CommonSize(TimestampOf(keys.previous), TimestampOf(keys.key)),
      kWholeTimestamp - 1);
  auto flags = static_cast<unsigned>(same);
  if (keys.previous.size() == keys.key.size()) {
    flags |= FastDiffFlags::kSameKeySize;
  }
  if (previous_value_.size() == cell.value.size()) {
    flags |= FastDiffFlags::kSameValueSize;
  }
  if (keys.previous.back() == keys.key.back()) {
    flags |= FastDiffFlags::kSameType;
  }
  if (previous_value_ == cell.value) flags |= FastDiffFlags::kSameValue;
  block_ += static_cast<char>(flags);
  AppendSizes(cell, keys, (flags & FastDiffFlags::kSameKeySize) != 0,
              (flags & FastDiffFlags::kSameValueSize) != 0);
  AppendRestOfFront(cell, keys);
  block_ += TimestampOf(keys.key).substr(same);
  if ((flags & FastDiffFlags::kSameType) == 0) block_ += keys.key.back();
  if ((flags & FastDiffFlags::kSameValue) == 0) block_ += cell.value;
}

absl::Status CellEncoder::AddTags(std::string_view tags) {
  if (is_whole()) {
    util::AppendBigEndian(static_cast<uint16_t>(tags.size()), &block_);
  } else {
    util::AppendVarint(tags.size(), &block_);
  }
  if (is_whole() || !layout_.has_compressed_tags) {
    block_ += tags;
    return absl::OkStatus();
  }
  while (!tags.empty()) {
    uint16_t size;
    std::string_view tag;
    if (!util::ReadBigEndian(&tags, &size) || !ReadBytes(&tags, size, &tag)) {
      return InvalidArgument("a cell has tags that end within a tag");
    }
    if (const std::optional<size_t> index = dictionary_.IndexOf(tag)) {
      util::AppendBigEndian(static_cast<uint16_t>(*index), &block_);
      continue;
    }
    block_ += static_cast<char>(kTagNotInDictionary);
    util::AppendVarint(tag.size(), &block_);
    block_ += tag;
    dictionary_.Add(tag);
  }
  return absl::OkStatus();
}

std::string CellEncoder::Finish() {
  if (encoding_ == HFileEncoding::kRowIndexV1) {
    const size_t cells = block_.size() - cells_begin_;
    util::AppendBigEndian(
        static_cast<uint32_t>(row_offsets_.size() / kRowOffsetSize), &block_);
    block_ += row_offsets_;
    util::AppendBigEndian(static_cast<uint32_t>(cells), &block_);
  } else if (!is_whole()) {
    std::string size;
    util::AppendBigEndian(static_cast<uint32_t>(unencoded_size_), &size);
    block_.replace(sizeof(uint16_t), size.size(), size);
  }
  unencoded_size_ = 0;
  row_offsets_.clear();
  dictionary_.Clear();
  return std::exchange(block_, {});
}

}  // namespace rowbloom::hfile
