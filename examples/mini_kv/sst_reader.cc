// SPDX-License-Identifier: Apache-2.0

#include "sst_reader.h"

#include <algorithm>
#include <utility>

namespace mini_kv {

absl::StatusOr<std::shared_ptr<const SstReader>> SstReader::Open(
    const std::string& path, uint64_t number, const Filtering& filtering) {
  auto source = rowbloom::OpenFileSource(path);
  if (!source.ok()) return source.status();
  const auto footer = ReadFooter(**source);
  if (!footer.ok()) return footer.status();
  auto index = ReadIndex(**source, *footer);
  if (!index.ok()) return index.status();
  return std::shared_ptr<const SstReader>(new SstReader(
      number, *std::move(source), *footer, *std::move(index), filtering));
}

SstReader::SstReader(uint64_t number,
                     std::unique_ptr<rowbloom::RandomAccessSource> source,
                     const SstFooter& footer, SstIndex index,
                     const Filtering& filtering)
    : number_(number),
      source_(std::move(source)),
      footer_(footer),
      index_(std::move(index)),
      filtering_(filtering) {
  if (footer_.filter_size != 0) OpenFilter();
}

SstReader::~SstReader() {
  filter_.reset();
  filtering_.cache->EraseFile(FilterIdOf(source_->name()));
}

void SstReader::OpenFilter() {
  rowbloom::FilterReaderOptions options;
  options.cache = filtering_.cache;
  options.stats = filtering_.stats;
  options.level = filtering_.level;
  options.file_id = FilterIdOf(source_->name());
  options.tail_size_bytes = footer_.filter_tail_size;
  auto filter = rowbloom::FilterReader::Open(
      source_.get(), {footer_.filter_offset, footer_.filter_size}, options);
  if (!filter.ok()) {
    filter_status_ = filter.status();
  } else if ((*filter)->properties().cell_count != footer_.cell_count) {
    filter_status_ = Damaged(*source_, "filter block (it is of other cells)",
                             footer_.filter_offset);
  } else {
    filter_ = *std::move(filter);
  }
}

bool SstReader::Covers(const CellKey& key) const {
  return !(key < first_key()) && !(last_key() < key);
}

bool SstReader::CoversRows(const rowbloom::FilterKey& rows) const {
  std::string_view first = first_key().row;
  if (rows.is_prefix()) first = first.substr(0, rows.row().size());
  return first <= rows.row() && rows.row() <= last_key().row;
}

absl::StatusOr<bool> SstReader::Get(const CellKey& key,
                                    std::optional<std::string>* value,
                                    ReadStats* stats) const {
  const auto it = NewIterator(key, stats);
  if (!it->status().ok()) return it->status();
  if (!it->Valid() || !(it->cell().key == key)) return false;
  *value = it->cell().value;
  return true;
}

// The first block whose last key is not less than `key`.
size_t SstReader::FindBlock(const CellKey& key) const {
  const auto it = std::partition_point(
      index_.blocks.begin(), index_.blocks.end(),
      [&](const SstIndex::Block& block) { return block.last_key < key; });
  return static_cast<size_t>(it - index_.blocks.begin());
}

absl::Status SstReader::ReadBlock(size_t block, ReadStats* stats,
                                  std::string* scratch,
                                  std::string_view* cells) const {
  const SstIndex::Block& entry = index_.blocks[block];
  stats->data_blocks += 1;
  stats->data_bytes += entry.size_bytes;
  return ReadChecked(*source_, entry.offset, entry.size_bytes, scratch, cells);
}

class SstReader::Iterator final : public CellIterator {
 public:
  Iterator(const SstReader* sst, const CellKey& from, ReadStats* stats)
      : sst_(sst), stats_(stats), next_block_(sst->FindBlock(from)) {
    do {
      Next();
    } while (valid_ && cell_.key < from);
  }

  bool Valid() const override { return valid_; }
  const Cell& cell() const override { return cell_; }
  absl::Status status() const override { return status_; }

  void Next() override {
    valid_ = false;
    if (rest_.empty()) {
      if (next_block_ == sst_->index_.blocks.size()) return;
      status_ = sst_->ReadBlock(next_block_++, stats_, &scratch_, &rest_);
      if (!status_.ok()) return;
    }
    valid_ = TakeCell(&rest_, &cell_);
    if (!valid_) {
      status_ = Damaged(*sst_->source_, "cell in the block before number",
                        next_block_);
    }
  }

 private:
  const SstReader* const sst_;
  ReadStats* const stats_;
  size_t next_block_;
  std::string scratch_;
  std::string_view rest_;  // The cells of the block not yet seen.
  Cell cell_;
  bool valid_ = false;
  absl::Status status_;
};

std::unique_ptr<CellIterator> SstReader::NewIterator(const CellKey& from,
                                                     ReadStats* stats) const {
  return std::make_unique<Iterator>(this, from, stats);
}

absl::Status SstReader::Verify() const {
  if (!filter_status_.ok()) return filter_status_;
  if (filter_ != nullptr) {
    absl::Status status = filter_->Verify();
    if (!status.ok()) return status;
  }
  ReadStats ignored;
  uint64_t cell_count = 0;
  OwnedCellKey last;
  const auto it = NewIterator(first_key(), &ignored);
  for (; it->Valid(); it->Next()) {
    const CellKey& key = it->cell().key;
    if (cell_count++ != 0 && !(last < key)) {
      return absl::DataLossError(std::string(source_->name()) +
                                 ": cells out of order");
    }
    const auto row = rowbloom::FilterKey::Row(key.row);
    if (!MayContain(row) || !MayContain(rowbloom::FilterKey::Prefix(key.row)) ||
        !MayContain(rowbloom::FilterKey::RowCol(row, key.qualifier))) {
      return absl::DataLossError(std::string(source_->name()) +
                                 ": the filter lacks a cell");
    }
    last = OwnedCellKey(key);
  }
  if (!it->status().ok()) return it->status();
  if (cell_count != footer_.cell_count || !(last == last_key())) {
    return absl::DataLossError(std::string(source_->name()) +
                               ": cells are missing");
  }
  return absl::OkStatus();
}

}  // namespace mini_kv
