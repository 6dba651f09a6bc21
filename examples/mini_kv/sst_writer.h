// SPDX-License-Identifier: Apache-2.0
//
// Writes an SST and, within it, the filter of its cells.
//
//   SstWriter writer(std::move(sink), options);
//   for (...) writer.Add(cell);                  // in order
//   absl::Status status = writer.Finish();       // complete and synced
//
// Calls match  Add+ Finish . The first error stays. Until Finish() returns OK
// the file may end anywhere: nothing may name it.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_SST_WRITER_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_SST_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cell.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/io.h"
#include "sst_format.h"

namespace mini_kv {

class SstWriter {
 public:
  // Bloom type NONE writes no filter block. The filter's chunks go into `cache`
  // under `filter_id` while they are written, so that the first gets of the new
  // file read none.
  SstWriter(std::unique_ptr<rowbloom::FileSink> sink,
            const rowbloom::FilterOptions& filter_options,
            size_t block_size_bytes, rowbloom::FilterCache* cache,
            uint64_t filter_id);

  // Each key must be greater than the one before.
  absl::Status Add(const Cell& cell);
  absl::Status Finish();

  // The size of the data blocks so far.
  uint64_t data_bytes() const { return offset_ + block_.size(); }

 private:
  void CloseBlock();
  void AppendFilter();
  void Append(std::string_view bytes);

  const std::unique_ptr<rowbloom::FileSink> sink_;
  const bool has_filter_;
  const size_t block_size_bytes_;
  // The filter is collected in memory while data blocks go to the file, because
  // it is contiguous and follows them.
  std::string filter_;
  const std::unique_ptr<rowbloom::ByteSink> filter_sink_;
  const std::unique_ptr<rowbloom::FilterChunkObserver> warmer_;
  rowbloom::FilterBlockWriter filter_writer_;

  absl::Status status_;
  uint64_t offset_ = 0;  // Bytes appended to the file.
  std::string block_;    // Cells of the open data block.
  OwnedCellKey last_key_;
  SstIndex index_;
  SstFooter footer_;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_SST_WRITER_H_
