// SPDX-License-Identifier: Apache-2.0
//
// The size of data blocks that a file's writer was asked for. No file stores
// it; the blocks tell it, since each ends with the cell that reaches the size.

#ifndef ROWBLOOM_HFILE_BLOCK_SIZE_H_
#define ROWBLOOM_HFILE_BLOCK_SIZE_H_

#include <optional>

#include "hfile/cell_decoder.h"
#include "hfile/cell_reader.h"
#include "rowbloom/hfile.h"

namespace rowbloom::hfile {

// Reads the first blocks. nullopt if no cell can be read.
std::optional<HFileBlockSize> FindBlockSize(const DataLayout& layout,
                                            HFileEncoding encoding,
                                            BlockCellReader* cells);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_BLOCK_SIZE_H_
