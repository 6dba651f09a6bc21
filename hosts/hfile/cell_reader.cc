// SPDX-License-Identifier: Apache-2.0

#include "hfile/cell_reader.h"

#include <utility>

#include "absl/status/statusor.h"
#include "hfile/errors.h"

namespace rowbloom::hfile {

BlockCellReader::BlockCellReader(const BlockFormat& format,
                                 const Trailer& trailer,
                                 const DataLayout& layout, bool is_empty)
    : format_(format),
      trailer_offset_(trailer.offset),
      stated_count_(trailer.entry_count),
      is_empty_(is_empty),
      decoder_(layout) {
  if (trailer.is_encrypted()) {
    status_ = Unimplemented(util::AbslView(NameOf(*format.source)),
                            ": the cells are encrypted");
  } else if (trailer.first_data_block_offset >= 0) {
    next_offset_ = static_cast<uint64_t>(trailer.first_data_block_offset);
    end_ = static_cast<uint64_t>(trailer.last_data_block_offset) + 1;
  }
}

bool BlockCellReader::NextBlock() {
  while (next_offset_ < end_) {
    // Between data blocks there are leaves of the index and Bloom chunks.
    const absl::StatusOr<BlockHeader> header =
        ReadBlockHeader(format_, next_offset_);
    if (!header.ok()) {
      status_ = header.status();
      return false;
    }
    next_offset_ += header->size;
    // Damage to these loses no cell. Any other block may be a data block whose
    // magic is damaged.
    const bool has_cells = IsDataMagic(header->magic);
    if (!has_cells && IsKnownMagic(header->magic)) continue;
    absl::StatusOr<Block> block =
        ReadBlock(format_, header->offset, header->magic, header->size);
    status_ = block.status();
    if (!status_.ok()) return false;
    if (!has_cells) continue;
    block_ = *std::move(block);
    status_ = Annotate(*format_.source, block_.header.offset,
                       decoder_.Start(block_.header.magic, block_.payload));
    if (!status_.ok()) return false;
    if (!decoder_.AtEnd()) return true;
  }
  return false;
}

// The trailer has no checksum: it may name too few of the blocks.
absl::Status BlockCellReader::CheckCount() const {
  if (count_ != stated_count_) {
    return DataLossAt(*format_.source, trailer_offset_, "the trailer has ",
                      stated_count_,
                      " cells, the data blocks that it names have ", count_);
  }
  if (count_ > 0 || is_empty_) return absl::OkStatus();
  return DataLossAt(*format_.source, trailer_offset_,
                    "the trailer has no cells, the data index has");
}

bool BlockCellReader::Next(HFileCell* cell) {
  if (!status_.ok()) return false;
  if (decoder_.AtEnd() && !NextBlock()) {
    if (status_.ok()) status_ = CheckCount();
    return false;
  }
  status_ =
      Annotate(*format_.source, block_.header.offset, decoder_.Next(cell));
  if (status_.ok()) ++count_;
  return status_.ok();
}

}  // namespace rowbloom::hfile
