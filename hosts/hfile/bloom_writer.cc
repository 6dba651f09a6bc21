// SPDX-License-Identifier: Apache-2.0

#include "hfile/bloom_writer.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "hfile/errors.h"
#include "util/absl_view.h"

namespace rowbloom::hfile {

bool BloomKeys::Next(const HFileCell& cell) {
  if (type_ == BloomType::kNone) return false;
  std::swap(before_, hashed_);
  hashed_.clear();
  switch (type_) {
    case BloomType::kNone:
    case BloomType::kRow:
      hashed_ = cell.row;
      break;
    case BloomType::kRowCol:
      AppendCellKey(RowColKey(cell.row, cell.qualifier), &hashed_);
      break;
    case BloomType::kRowPrefixFixedLength:
      hashed_ = cell.row.substr(0, prefix_length_bytes_);
      break;
  }
  if (count_ > 0 && hashed_ == before_) return false;
  ++count_;
  return true;
}

bool BloomKeys::InOrder(RowOrder row_order) const {
  return count_ < 2 ||
         CompareCellKeys(row_order, Parse(before_), Parse(hashed_)) < 0;
}

CellKey BloomKeys::Parse(std::string_view hashed) const {
  CellKey key;
  if (type_ == BloomType::kRowCol) {
    ParseCellKey(hashed, &key);
  } else {
    key.row = hashed;
  }
  return key;
}

absl::Status BloomWriter::Add(const HFileCell& cell) {
  if (!keys_.Next(cell)) return absl::OkStatus();
  if (!keys_.InOrder(row_order_)) {
    return InvalidArgument("the filter's key of row \"",
                           absl::CHexEscape(util::AbslView(cell.row)),
                           "\", qualifier \"",
                           absl::CHexEscape(util::AbslView(cell.qualifier)),
                           "\", is before one that it already has");
  }
  // A full chunk is sealed by the key that no longer fits.
  if (open_.has_value() && open_->IsFull()) SealChunk();
  if (!open_.has_value()) {
    open_.emplace(geometry_, hash_);
    first_key_ = keys_.hashed();
  }
  open_->Add(keys_.hashed());
  return absl::OkStatus();
}

void BloomWriter::SealChunk() {
  std::string bits = open_->Finish();
  meta_.size_bytes += bits.size();
  meta_.max_keys += static_cast<uint64_t>(open_->geometry().max_keys);
  meta_.key_count += static_cast<uint64_t>(open_->key_count());
  meta_.hash_count = open_->geometry().hash_count;
  meta_.hash = hash_;
  ready_.push_back({std::move(bits), std::move(first_key_)});
  open_.reset();
}

std::optional<BloomWriter::ReadyChunk> BloomWriter::NextChunk(bool closing) {
  if (open_.has_value() && (closing || open_->IsFull())) SealChunk();
  if (ready_.empty()) return std::nullopt;
  ReadyChunk chunk = std::move(ready_.front());
  ready_.pop_front();
  return chunk;
}

void BloomWriter::ChunkWritten(uint64_t offset, uint32_t size,
                               std::string first_key) {
  meta_.chunks.push_back({offset, size, std::move(first_key)});
}

}  // namespace rowbloom::hfile
