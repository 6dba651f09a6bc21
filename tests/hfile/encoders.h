// SPDX-License-Identifier: Apache-2.0
//
// Writes data blocks in HBase's encodings, as src/hfile/cell_decoder.h
// describes them; the library only reads them.

#ifndef ROWBLOOM_TESTS_HFILE_ENCODERS_H_
#define ROWBLOOM_TESTS_HFILE_ENCODERS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"
#include "hfile/cell_decoder.h"
#include "hfile/cell_key.h"
#include "hfile/vlong.h"

namespace rowbloom::testing {

inline size_t CommonPrefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

class BlockEncoder {
 public:
  BlockEncoder(HFileEncoding encoding, const hfile::DataLayout& layout)
      : encoding_(encoding), layout_(layout) {}

  void Add(const HFileCell& cell) {
    key_.clear();
    hfile::AppendCellKey(
        {cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type},
        &key_);
    switch (encoding_) {
      case HFileEncoding::kPrefix:
        AddPrefix(cell);
        break;
      case HFileEncoding::kDiff:
        AddDiff(cell);
        break;
      case HFileEncoding::kFastDiff:
        AddFastDiff(cell);
        break;
      default:
        AddWhole(cell);
    }
    AddTagsAndMvcc(cell);
    previous_key_ = key_;
    previous_value_ = cell.value;
    previous_timestamp_ = cell.timestamp;
    is_first_ = false;
  }

  // Returns the payload of a block of type DATABLKE, or DATABLK* for NONE.
  std::string Finish() {
    if (encoding_ == HFileEncoding::kNone) return cells_;
    std::string payload;
    base::AppendBigEndian(static_cast<uint16_t>(encoding_), &payload);
    if (encoding_ != HFileEncoding::kRowIndexV1) {
      base::AppendBigEndian(uint32_t{0},
                            &payload);  // Unencoded; nobody needs it.
      return payload + cells_;
    }
    payload += cells_;
    base::AppendBigEndian(static_cast<uint32_t>(row_offsets_.size()), &payload);
    for (const uint32_t offset : row_offsets_) {
      base::AppendBigEndian(offset, &payload);
    }
    base::AppendBigEndian(static_cast<uint32_t>(cells_.size()), &payload);
    return payload;
  }

 private:
  size_t RowEnd() const {
    return 2 + base::LoadBigEndian<uint16_t>(key_.data());
  }
  // Returns the key without timestamp and type.
  std::string_view KeyFront(const std::string& key) const {
    return std::string_view(key).substr(0, key.size() - 9);
  }
  void Varint(uint64_t value) { base::AppendVarint(value, &cells_); }

  void AddWhole(const HFileCell& cell) {
    if (is_first_ || key_.compare(0, RowEnd(), previous_key_, 0, RowEnd()) != 0)
      row_offsets_.push_back(static_cast<uint32_t>(cells_.size()));
    base::AppendBigEndian(static_cast<uint32_t>(key_.size()), &cells_);
    base::AppendBigEndian(static_cast<uint32_t>(cell.value.size()), &cells_);
    cells_ += key_;
    cells_ += cell.value;
  }

  void AddPrefix(const HFileCell& cell) {
    const size_t common = is_first_ ? 0 : CommonPrefix(key_, previous_key_);
    Varint(key_.size() - common);
    Varint(cell.value.size());
    Varint(common);
    cells_ += key_.substr(common);
    cells_ += cell.value;
  }

  void AddSizes(const HFileCell& cell, size_t common) {
    if (is_first_ || key_.size() != previous_key_.size()) Varint(key_.size());
    if (is_first_ || cell.value.size() != previous_value_.size()) {
      Varint(cell.value.size());
    }
    Varint(common);
  }

  void AddKeyFront(const HFileCell& cell, size_t common) {
    if (is_first_ || common < RowEnd()) {
      cells_ += key_.substr(common, RowEnd() - common);
      cells_ += cell.qualifier;
    } else {
      cells_ += KeyFront(key_).substr(common);
    }
  }

  void AddDiff(const HFileCell& cell) {
    size_t common = 0;
    int flags = 0;
    auto timestamp = static_cast<uint64_t>(cell.timestamp);
    if (is_first_) {
      cells_.push_back(static_cast<char>(cell.family.size()));
      cells_ += cell.family;
    } else {
      common = CommonPrefix(KeyFront(key_), KeyFront(previous_key_));
      if (key_.size() == previous_key_.size()) flags |= 1;
      if (cell.value.size() == previous_value_.size()) flags |= 2;
      if (key_.back() == previous_key_.back()) flags |= 4;
      const int64_t less = previous_timestamp_ - cell.timestamp;
      flags |= 8 | (less < 0 ? 0x80 : 0);
      timestamp = static_cast<uint64_t>(less < 0 ? -less : less);
    }
    int size = 1;
    while (size < 8 && timestamp >> (8 * size) != 0) ++size;
    flags |= (size - 1) << 4;
    cells_.push_back(static_cast<char>(flags));
    AddSizes(cell, common);
    AddKeyFront(cell, common);
    for (int i = 0; i < size; ++i) {
      cells_.push_back(static_cast<char>(timestamp >> (8 * i)));
    }
    if ((flags & 4) == 0) cells_.push_back(key_.back());
    cells_ += cell.value;
  }

  void AddFastDiff(const HFileCell& cell) {
    if (is_first_) {
      cells_.push_back(0);
      AddSizes(cell, 0);
      cells_ += key_;
      cells_ += cell.value;
      return;
    }
    const size_t common = CommonPrefix(KeyFront(key_), KeyFront(previous_key_));
    const std::string timestamp = key_.substr(key_.size() - 9, 8);
    const size_t same = std::min<size_t>(
        7, CommonPrefix(timestamp,
                        previous_key_.substr(previous_key_.size() - 9, 8)));
    auto flags = static_cast<int>(same);
    if (key_.size() == previous_key_.size()) flags |= 8;
    if (cell.value.size() == previous_value_.size()) flags |= 0x10;
    if (key_.back() == previous_key_.back()) flags |= 0x20;
    if (cell.value == previous_value_) flags |= 0x40;
    cells_.push_back(static_cast<char>(flags));
    AddSizes(cell, common);
    AddKeyFront(cell, common);
    cells_ += timestamp.substr(same);
    if ((flags & 0x20) == 0) cells_.push_back(key_.back());
    if ((flags & 0x40) == 0) cells_ += cell.value;
  }

  void AddTagsAndMvcc(const HFileCell& cell) {
    if (layout_.has_tags) {
      const bool is_whole = encoding_ == HFileEncoding::kNone ||
                            encoding_ == HFileEncoding::kRowIndexV1;
      if (is_whole) {
        base::AppendBigEndian(static_cast<uint16_t>(cell.tags.size()), &cells_);
        cells_ += cell.tags;
      } else {
        Varint(cell.tags.size());
        if (layout_.has_compressed_tags) {
          AddCompressedTags(cell.tags);
        } else {
          cells_ += cell.tags;
        }
      }
    }
    if (layout_.has_mvcc) hfile::AppendVlong(cell.mvcc, &cells_);
  }

  void AddCompressedTags(std::string_view tags) {
    while (!tags.empty()) {
      uint16_t size = 0;
      std::string_view tag;
      base::ReadBigEndian(&tags, &size);
      hfile::ReadBytes(&tags, size, &tag);
      const auto found = std::find(tags_.begin(), tags_.end(), tag);
      if (found != tags_.end()) {
        base::AppendBigEndian(static_cast<uint16_t>(found - tags_.begin()),
                              &cells_);
      } else {
        cells_.push_back('\xff');
        base::AppendSized(tag, &cells_);
        tags_.emplace_back(tag);
      }
    }
  }

  const HFileEncoding encoding_;
  const hfile::DataLayout layout_;
  bool is_first_ = true;
  std::string cells_;
  std::string key_;
  std::string previous_key_;
  std::string previous_value_;
  int64_t previous_timestamp_ = 0;
  std::vector<uint32_t> row_offsets_;
  std::vector<std::string> tags_;
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_HFILE_ENCODERS_H_
