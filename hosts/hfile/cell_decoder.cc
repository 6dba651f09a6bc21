// SPDX-License-Identifier: Apache-2.0

#include "hfile/cell_decoder.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "hfile/block.h"
#include "hfile/cell_key.h"
#include "hfile/errors.h"
#include "hfile/vlong.h"
#include "util/coding.h"

namespace rowbloom::hfile {

namespace {

constexpr size_t kTimestampSize = 8;
constexpr size_t kTimestampAndTypeSize = 9;

bool ReadVarint32(std::string_view* in, uint32_t* value) {
  uint64_t wide;
  if (!util::ReadVarint(in, &wide) ||
      wide > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  *value = static_cast<uint32_t>(wide);
  return true;
}

// Little-endian, of `size` bytes up to eight.
bool ReadLittle(std::string_view* in, size_t size, uint64_t* value) {
  std::string_view bytes;
  if (!ReadBytes(in, static_cast<int64_t>(size), &bytes)) return false;
  *value = 0;
  for (size_t i = size; i-- > 0;) {
    *value = *value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return true;
}

}  // namespace

const std::string* TagDictionary::Find(size_t index) {
  if (index >= tags_.size()) return nullptr;
  tags_[index].used = ++now_;
  return &tags_[index].bytes;
}

std::optional<size_t> TagDictionary::IndexOf(std::string_view tag) {
  for (size_t i = 0; i < tags_.size(); ++i) {
    if (tags_[i].bytes != tag) continue;
    tags_[i].used = ++now_;
    return i;
  }
  return std::nullopt;
}

void TagDictionary::Add(std::string_view tag) {
  if (tag.empty()) return;
  if (tags_.size() < kCapacity) {
    tags_.push_back({std::string(tag), ++now_});
    return;
  }
  *std::min_element(tags_.begin(), tags_.end(), [](const Tag& a, const Tag& b) {
    return a.used < b.used;
  }) = {std::string(tag), ++now_};
}

absl::Status CellDecoder::Start(std::string_view magic,
                                std::string_view payload) {
  in_ = payload;
  is_first_ = true;
  encoding_ = HFileEncoding::kNone;
  sizes_ = Sizes();
  key_.clear();
  value_ = {};
  dictionary_.Clear();
  if (magic == kDataMagic) return absl::OkStatus();

  uint16_t id;
  if (!util::ReadBigEndian(&in_, &id)) {
    return absl::DataLossError("an encoded block without its encoding");
  }
  encoding_ = static_cast<HFileEncoding>(id);
  switch (encoding_) {
    case HFileEncoding::kRowIndexV1:
      if (StartRowIndex()) return absl::OkStatus();
      return absl::DataLossError("a ROW_INDEX_V1 block without its rows");
    case HFileEncoding::kPrefix:
    case HFileEncoding::kDiff:
    case HFileEncoding::kFastDiff: {
      uint32_t unencoded_size;
      if (util::ReadBigEndian(&in_, &unencoded_size)) return absl::OkStatus();
      return absl::DataLossError("an encoded block without its size");
    }
    case HFileEncoding::kPrefixTree:
      return Older("data block encoding ", id,
                   " (PREFIX_TREE), which HBase 2.0 dropped");
    default:
      return Unimplemented(
          "data block encoding ", id,
          "; known are NONE, PREFIX, DIFF, FAST_DIFF and ROW_INDEX_V1");
  }
}

// After the cells follow the number of rows, the offset of each, and the size
// of all cells.
bool CellDecoder::StartRowIndex() {
  constexpr size_t kIntSize = 4;
  if (in_.size() < 2 * kIntSize) return false;
  const auto size =
      util::LoadBigEndian<uint32_t>(in_.data() + in_.size() - kIntSize);
  if (size > in_.size() - 2 * kIntSize) return false;
  const uint64_t rows = util::LoadBigEndian<uint32_t>(in_.data() + size);
  if (size + (2 + rows) * kIntSize != in_.size()) return false;
  in_ = in_.substr(0, size);
  return true;
}

absl::Status CellDecoder::Next(HFileCell* cell) {
  const size_t left = in_.size();
  std::swap(key_, previous_key_);
  key_.clear();
  bool decoded = false;
  switch (encoding_) {
    case HFileEncoding::kNone:
    case HFileEncoding::kRowIndexV1:
      decoded = NextWhole();
      break;
    case HFileEncoding::kPrefix:
      decoded = NextPrefix();
      break;
    case HFileEncoding::kDiff:
      decoded = NextDiff();
      break;
    case HFileEncoding::kFastDiff:
      decoded = NextFastDiff();
      break;
    case HFileEncoding::kPrefixTree:
    case HFileEncoding::kUnknown:
      break;
  }
  is_first_ = false;
  CellKey key;
  mvcc_ = 0;
  if (!decoded || (layout_.has_tags && !ReadTags()) ||
      (layout_.has_mvcc && !ReadVlong(&in_, &mvcc_)) ||
      !ParseCellKey(key_, &key)) {
    return DataLoss("a data block has no cell ", left, " bytes before its end");
  }
  *cell = {key.row,  key.family, key.qualifier, key.timestamp,
           key.type, value_,     tags_,         mvcc_};
  return absl::OkStatus();
}

bool CellDecoder::NextWhole() {
  std::string_view key;
  if (!util::ReadBigEndian(&in_, &sizes_.key) ||
      !util::ReadBigEndian(&in_, &sizes_.value) ||
      !ReadBytes(&in_, sizes_.key, &key) ||
      !ReadBytes(&in_, sizes_.value, &value_)) {
    return false;
  }
  key_ = key;
  return true;
}

bool CellDecoder::NextPrefix() {
  uint32_t rest_size;
  uint32_t value_size;
  uint32_t common;
  std::string_view rest;
  if (!ReadVarint32(&in_, &rest_size) || !ReadVarint32(&in_, &value_size) ||
      !ReadVarint32(&in_, &common) || common > previous_key_.size() ||
      !ReadBytes(&in_, rest_size, &rest) ||
      !ReadBytes(&in_, value_size, &value_)) {
    return false;
  }
  key_.assign(previous_key_, 0, common);
  key_ += rest;
  return true;
}

bool CellDecoder::ReadSizes(bool same_key_size, bool same_value_size,
                            uint32_t* common) {
  return (same_key_size || ReadVarint32(&in_, &sizes_.key)) &&
         (same_value_size || ReadVarint32(&in_, &sizes_.value)) &&
         ReadVarint32(&in_, common) && *common <= previous_key_.size();
}

bool CellDecoder::ReadKeyFront(uint32_t common, std::string_view family_part) {
  size_t previous_row_end = 0;
  if (!is_first_) {
    previous_row_end =
        kRowSizeSize + util::LoadBigEndian<uint16_t>(previous_key_.data());
  }
  key_.assign(previous_key_, 0, common);
  std::string_view bytes;
  if (is_first_ || common < previous_row_end) {
    if (common < kRowSizeSize) {
      if (!ReadBytes(&in_, static_cast<int64_t>(kRowSizeSize - common),
                     &bytes)) {
        return false;
      }
      key_ += bytes;
    }
    const size_t row_end =
        kRowSizeSize + util::LoadBigEndian<uint16_t>(key_.data());
    if (row_end < key_.size() ||
        !ReadBytes(&in_, static_cast<int64_t>(row_end - key_.size()), &bytes)) {
      return false;
    }
    key_ += bytes;
    key_ += family_part;
  }
  const int64_t rest_size = int64_t{sizes_.key} -
                            static_cast<int64_t>(key_.size()) -
                            static_cast<int64_t>(kTimestampAndTypeSize);
  if (!ReadBytes(&in_, rest_size, &bytes)) return false;
  key_ += bytes;
  return true;
}

bool CellDecoder::ReadType(bool same_type) {
  uint8_t type;
  if (same_type) {
    type = static_cast<uint8_t>(previous_key_.back());
  } else if (!util::ReadBigEndian(&in_, &type)) {
    return false;
  }
  util::AppendBigEndian(type, &key_);
  return true;
}

bool CellDecoder::NextDiff() {
  if (is_first_) {
    previous_key_.clear();
    if (in_.empty()) return false;
    const auto family_size = static_cast<unsigned char>(in_[0]);
    std::string_view family_part;
    if (!ReadBytes(&in_, 1 + family_size, &family_part)) return false;
    family_part_ = family_part;
  }
  uint8_t flags;
  uint32_t common;
  if (!util::ReadBigEndian(&in_, &flags) ||
      !ReadSizes((flags & DiffFlags::kSameKeySize) != 0,
                 (flags & DiffFlags::kSameValueSize) != 0, &common) ||
      !ReadKeyFront(common, family_part_)) {
    return false;
  }
  uint64_t timestamp;
  if (!ReadLittle(&in_,
                  1 + (flags >> DiffFlags::kTimestampSizeShift &
                       DiffFlags::kTimestampSizeMask),
                  &timestamp)) {
    return false;
  }
  if ((flags & DiffFlags::kTimestampIsNegative) != 0) timestamp = 0 - timestamp;
  if (is_first_ &&
      (flags & (DiffFlags::kTimestampIsDiff | DiffFlags::kSameType)) != 0) {
    return false;
  }
  if ((flags & DiffFlags::kTimestampIsDiff) != 0) {
    timestamp = util::LoadBigEndian<uint64_t>(previous_key_.data() +
                                              previous_key_.size() -
                                              kTimestampAndTypeSize) -
                timestamp;
  }
  util::AppendBigEndian(timestamp, &key_);
  if (!ReadType((flags & DiffFlags::kSameType) != 0)) return false;
  return ReadBytes(&in_, sizes_.value, &value_);
}

bool CellDecoder::NextFastDiff() {
  if (is_first_) previous_key_.clear();
  uint8_t flags;
  uint32_t common;
  if (!util::ReadBigEndian(&in_, &flags) ||
      !ReadSizes((flags & FastDiffFlags::kSameKeySize) != 0,
                 (flags & FastDiffFlags::kSameValueSize) != 0, &common)) {
    return false;
  }
  std::string_view bytes;
  if (is_first_) {
    if (!ReadBytes(&in_, sizes_.key, &bytes) ||
        !ReadBytes(&in_, sizes_.value, &value_)) {
      return false;
    }
    key_ = bytes;
    return true;
  }
  CellKey previous;
  if (!ParseCellKey(previous_key_, &previous)) return false;
  const std::string_view family_part(previous.family.data() - 1,
                                     previous.family.size() + 1);
  if (!ReadKeyFront(common, family_part)) return false;
  const char* previous_end =
      previous_key_.data() + previous_key_.size() - kTimestampAndTypeSize;
  const size_t same = flags & FastDiffFlags::kTimestampPrefixMask;
  if (!ReadBytes(&in_, static_cast<int64_t>(kTimestampSize - same), &bytes)) {
    return false;
  }
  key_.append(previous_end, same);
  key_ += bytes;
  if (!ReadType((flags & FastDiffFlags::kSameType) != 0)) return false;
  if ((flags & FastDiffFlags::kSameValue) != 0) {
    return value_.size() == sizes_.value;
  }
  return ReadBytes(&in_, sizes_.value, &value_);
}

bool CellDecoder::ReadTags() {
  const bool is_whole = encoding_ == HFileEncoding::kNone ||
                        encoding_ == HFileEncoding::kRowIndexV1;
  uint32_t size;
  if (is_whole) {
    uint16_t short_size;
    if (!util::ReadBigEndian(&in_, &short_size)) return false;
    size = short_size;
  } else if (!ReadVarint32(&in_, &size)) {
    return false;
  }
  if (is_whole || !layout_.has_compressed_tags) {
    return ReadBytes(&in_, size, &tags_);
  }
  if (size > std::numeric_limits<uint16_t>::max()) return false;
  tag_bytes_.clear();
  while (tag_bytes_.size() < size) {
    uint8_t status;
    if (!util::ReadBigEndian(&in_, &status)) return false;
    std::string_view tag;
    if (status == kTagNotInDictionary) {
      uint32_t tag_size;
      if (!ReadVarint32(&in_, &tag_size) || !ReadBytes(&in_, tag_size, &tag)) {
        return false;
      }
      dictionary_.Add(tag);
    } else {
      uint8_t low;
      if (!util::ReadBigEndian(&in_, &low)) return false;
      const std::string* found = dictionary_.Find(size_t{status} << 8 | low);
      if (found == nullptr) return false;
      tag = *found;
    }
    util::AppendBigEndian(static_cast<uint16_t>(tag.size()), &tag_bytes_);
    tag_bytes_ += tag;
  }
  tags_ = tag_bytes_;
  return tag_bytes_.size() == size;
}

}  // namespace rowbloom::hfile
