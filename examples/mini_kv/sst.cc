// SPDX-License-Identifier: Apache-2.0

#include "sst.h"

#include <utility>

#include "coding.h"
#include "rowbloom/filter_warmer.h"

namespace mini_kv {
namespace {

absl::Status Damaged(const rowbloom::RandomAccessSource& source,
                     const char* part) {
  return absl::DataLossError(std::string(source.name()) + ": damaged " + part);
}

// Reads bytes and their checksum; *payload excludes it, and views *scratch or
// the source.
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
    return Damaged(source, "block");
  }
  return absl::OkStatus();
}

// Reads the tail that lies at `offset`, and tells whether the blocks that it
// lists, and what lies between them and it, the filter block, fit before it.
bool TakeTail(std::string_view in, uint64_t offset, SstTail* tail) {
  CellKey key;
  if (!TakeFixed(&in, &tail->cell_count) ||
      !TakeFixed(&in, &tail->filter_tail_size) || !TakeKey(&in, &key)) {
    return false;
  }
  tail->first_key = OwnedCellKey(key);
  while (!in.empty()) {
    SstTail::Block block;
    block.offset = tail->filter_offset();
    if (!TakeFixed(&in, &block.size_bytes) || !TakeKey(&in, &key) ||
        block.size_bytes > offset - block.offset) {
      return false;
    }
    block.last_key = OwnedCellKey(key);
    tail->blocks.push_back(std::move(block));
  }
  tail->filter_size = offset - tail->filter_offset();
  return !tail->blocks.empty();
}

absl::StatusOr<SstTail> ReadTail(const rowbloom::RandomAccessSource& source) {
  const uint64_t file_size = source.size_bytes();
  uint64_t size = 0;
  if (file_size < sizeof(size)) return Damaged(source, "size");
  const uint64_t end = file_size - sizeof(size);
  std::string scratch(sizeof(size), '\0');
  std::string_view bytes;
  absl::Status status = source.Read(end, sizeof(size), scratch.data(), &bytes);
  if (!status.ok()) return status;
  if (!TakeFixed(&bytes, &size) || size < kChecksumSize || size > end) {
    return Damaged(source, "size");
  }
  status = ReadChecked(source, end - size, size, &scratch, &bytes);
  if (!status.ok()) return status;
  SstTail tail;
  if (!TakeTail(bytes, end - size, &tail)) return Damaged(source, "tail");
  return tail;
}

}  // namespace

// ---------------------------------------------------------------- writer

SstWriter::SstWriter(const std::string& path,
                     const rowbloom::FilterOptions& filter_options,
                     size_t block_size_bytes, rowbloom::FilterCache* cache)
    : sink_(rowbloom::OpenFileSink(path)),
      status_(sink_.status()),
      has_filter_(filter_options.bloom_type != rowbloom::BloomType::kNone),
      block_size_bytes_(block_size_bytes),
      filter_sink_(rowbloom::NewStringSink(&filter_)),
      warmer_(rowbloom::NewFilterWarmer(cache, {FilterIdOf(path)})),
      filter_writer_(filter_options, filter_sink_.get(), warmer_.get()) {}

absl::Status SstWriter::Add(const Cell& cell) {
  if (tail_.cell_count++ == 0) tail_.first_key = OwnedCellKey(cell.key);
  AppendCell(cell, &block_);
  // Place 1. Tombstones are added too: a filter that said "no" to one would let
  // the get go on to the older value that the tombstone hides.
  const auto& [row, qualifier] = cell.key;
  if (cell.digests) {  // Place 4: hashed once, for the memtable and this.
    filter_writer_.Add(rowbloom::FilterKey::RowCol(
        row, qualifier, cell.digests->row, cell.digests->cell));
  } else {
    filter_writer_.Add(row, qualifier);
  }
  last_key_ = OwnedCellKey(cell.key);
  if (block_.size() >= block_size_bytes_) CloseBlock();
  return status_;
}

void SstWriter::CloseBlock() {
  const uint64_t offset = tail_.filter_offset();
  AppendChecksum(offset, &block_);
  tail_.blocks.push_back({last_key_, offset, block_.size()});
  Append(block_);
  block_.clear();
}

absl::Status SstWriter::Finish() {
  if (!block_.empty()) CloseBlock();
  if (has_filter_) {
    // After an error the SST has no filter: slower, never wrong.
    if (const auto info = filter_writer_.Finish(); info.ok()) {
      tail_.filter_size = info->size_bytes;
      tail_.filter_tail_size = info->tail_size_bytes;
      Append(filter_);
    }
  }
  std::string tail;
  AppendFixed(tail_.cell_count, &tail);
  AppendFixed(tail_.filter_tail_size, &tail);
  AppendKey(tail_.first_key, &tail);
  for (const SstTail::Block& block : tail_.blocks) {
    AppendFixed(block.size_bytes, &tail);
    AppendKey(block.last_key, &tail);
  }
  AppendChecksum(tail_.filter_offset() + tail_.filter_size, &tail);
  AppendFixed(uint64_t{tail.size()}, &tail);
  Append(tail);
  if (status_.ok()) status_ = (*sink_)->SyncAndClose();
  return status_;
}

void SstWriter::Append(std::string_view bytes) {
  if (status_.ok()) status_ = (*sink_)->Append(bytes);
}

// ---------------------------------------------------------------- reader

absl::StatusOr<std::shared_ptr<const SstReader>> SstReader::Open(
    const std::string& path, uint64_t number,
    const rowbloom::FilterReaderOptions& options) {
  auto source = rowbloom::OpenFileSource(path);
  if (!source.ok()) return source.status();
  auto tail = ReadTail(**source);
  if (!tail.ok()) return tail.status();
  std::shared_ptr<SstReader> sst(new SstReader(path, number, *std::move(source),
                                               *std::move(tail), options));
  if (sst->filter_bytes() != 0) {
    sst->TakeFilter(rowbloom::FilterReader::Open(
        sst->source_.get(), sst->filter_range(), sst->filter_options_));
  }
  return sst;
}

absl::StatusOr<std::shared_ptr<const SstReader>> SstReader::Open(
    const std::string& path, uint64_t number,
    const rowbloom::FilterReaderOptions& options, const SstWriter& writer) {
  auto source = rowbloom::OpenFileSource(path);
  if (!source.ok()) return source.status();
  std::shared_ptr<SstReader> sst(
      new SstReader(path, number, *std::move(source), writer.tail(), options));
  if (sst->filter_bytes() != 0) {
    sst->TakeFilter(rowbloom::FilterReader::OpenFromTail(
        sst->source_.get(), sst->filter_range(), writer.filter_tail(),
        sst->filter_options_));
  }
  return sst;
}

SstReader::SstReader(const std::string& path, uint64_t number,
                     std::unique_ptr<rowbloom::RandomAccessSource> source,
                     SstTail tail, const rowbloom::FilterReaderOptions& options)
    : number_(number),
      source_(std::move(source)),
      tail_(std::move(tail)),
      filter_options_(options) {
  filter_options_.file_id = FilterIdOf(path);
  filter_options_.tail_size_bytes = tail_.filter_tail_size;
}

SstReader::~SstReader() {
  filter_.reset();
  filter_options_.cache->EraseFile(filter_options_.file_id);
}

// Place 2. A filter that cannot be read costs reads, and loses no cell.
void SstReader::TakeFilter(
    absl::StatusOr<std::unique_ptr<rowbloom::FilterReader>> filter) {
  filter_status_ = filter.status();
  if (filter.ok()) filter_ = *std::move(filter);
}

class SstReader::Iterator final : public CellIterator {
 public:
  // The first block whose last key is not less than `from` has its cell.
  Iterator(const SstReader* sst, const CellKey& from, ReadStats* stats)
      : sst_(sst),
        stats_(stats),
        next_block_(std::partition_point(
            sst->tail_.blocks.begin(), sst->tail_.blocks.end(),
            [&](const auto& block) { return block.last_key < from; })) {
    do {
      Next();
    } while (valid_ && cell_.key < from);
  }

  void Next() override {
    valid_ = false;
    if (rest_.empty()) {
      if (next_block_ == sst_->tail_.blocks.end()) return;
      stats_->data_blocks += 1;
      stats_->data_bytes += next_block_->size_bytes;
      status_ = ReadChecked(*sst_->source_, next_block_->offset,
                            next_block_->size_bytes, &scratch_, &rest_);
      if (!status_.ok()) return;
      ++next_block_;
    }
    valid_ = TakeCell(&rest_, &cell_);
    if (!valid_) status_ = Damaged(*sst_->source_, "cell");
  }

 private:
  const SstReader* const sst_;
  ReadStats* const stats_;
  std::vector<SstTail::Block>::const_iterator next_block_;
  std::string scratch_;
  std::string_view rest_;  // The cells of the block not yet seen.
};

std::unique_ptr<CellIterator> SstReader::NewIterator(const CellKey& from,
                                                     ReadStats* stats) const {
  return std::make_unique<Iterator>(this, from, stats);
}

}  // namespace mini_kv
