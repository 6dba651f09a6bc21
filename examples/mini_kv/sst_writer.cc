// SPDX-License-Identifier: Apache-2.0

#include "sst_writer.h"

#include <utility>

#include "rowbloom/filter_warmer.h"

namespace mini_kv {

SstWriter::SstWriter(std::unique_ptr<rowbloom::FileSink> sink,
                     const rowbloom::FilterOptions& filter_options,
                     size_t block_size_bytes, rowbloom::FilterCache* cache,
                     uint64_t filter_id)
    : sink_(std::move(sink)),
      has_filter_(filter_options.bloom_type != rowbloom::BloomType::kNone),
      block_size_bytes_(block_size_bytes),
      filter_sink_(rowbloom::NewStringSink(&filter_)),
      warmer_(rowbloom::NewFilterWarmer(cache, {filter_id})),
      filter_writer_(filter_options, filter_sink_.get(), warmer_.get()) {}

absl::Status SstWriter::Add(const Cell& cell) {
  if (footer_.cell_count == 0) index_.first_key = OwnedCellKey(cell.key);
  AppendCell(cell, &block_);
  // Tombstones are added too: a filter that said "no" to one would let the get
  // go on to the older value that the tombstone hides.
  const auto& [row, qualifier] = cell.key;
  if (cell.digests) {  // Hashed once, for the memtable and for this filter.
    filter_writer_.Add(rowbloom::FilterKey::RowCol(
        row, qualifier, cell.digests->row, cell.digests->cell));
  } else {
    filter_writer_.Add(row, qualifier);
  }
  last_key_ = OwnedCellKey(cell.key);
  ++footer_.cell_count;
  if (block_.size() >= block_size_bytes_) CloseBlock();
  return status_;
}

absl::Status SstWriter::Finish() {
  if (!block_.empty()) CloseBlock();
  AppendFilter();
  footer_.index_offset = offset_;
  std::string tail;
  AppendIndex(index_, offset_, &tail);
  AppendFooter(footer_, offset_ + tail.size(), &tail);
  Append(tail);
  if (status_.ok()) status_ = sink_->SyncAndClose();
  return status_;
}

void SstWriter::CloseBlock() {
  AppendChecksum(offset_, &block_);
  index_.blocks.push_back({last_key_, offset_, block_.size()});
  Append(block_);
  block_.clear();
}

void SstWriter::AppendFilter() {
  footer_.filter_offset = offset_;
  if (!has_filter_) return;
  const auto info = filter_writer_.Finish();
  if (!info.ok()) return;  // An SST without a filter: slower, never wrong.
  footer_.filter_size = info->size_bytes;
  footer_.filter_tail_size = info->tail_size_bytes;
  Append(filter_);
}

void SstWriter::Append(std::string_view bytes) {
  if (status_.ok()) status_ = sink_->Append(bytes);
  offset_ += bytes.size();
}

}  // namespace mini_kv
