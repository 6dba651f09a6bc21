// SPDX-License-Identifier: Apache-2.0
//
// The cells of a file, data block after data block.

#ifndef ROWBLOOM_HFILE_CELL_READER_H_
#define ROWBLOOM_HFILE_CELL_READER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "hfile/block.h"
#include "hfile/cell_decoder.h"
#include "hfile/trailer.h"
#include "rowbloom/hfile.h"

namespace rowbloom::hfile {

class BlockCellReader final : public HFileCellReader {
 public:
  // `is_empty`: the trailer is not alone in stating that there are no cells.
  BlockCellReader(const BlockFormat& format, const Trailer& trailer,
                  const DataLayout& layout, bool is_empty);

  bool Next(HFileCell* cell) override;
  const absl::Status& status() const override { return status_; }
  // The block that the last cell is in.
  uint64_t block_offset() const { return block_.header.offset; }

 private:
  // Moves to the next data block with a cell; false if there is none.
  bool NextBlock();
  // Checks that the number of cells read is the number stated.
  absl::Status CheckCount() const;

  const BlockFormat format_;
  const uint64_t trailer_offset_;
  const uint64_t stated_count_;  // Cells, by the trailer.
  const bool is_empty_;
  uint64_t count_ = 0;
  uint64_t next_offset_ = 0;
  uint64_t end_ = 0;  // After the first byte of the last data block.
  Block block_;
  CellDecoder decoder_;
  absl::Status status_;
};

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_CELL_READER_H_
