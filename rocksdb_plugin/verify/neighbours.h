// SPDX-License-Identifier: Apache-2.0
//
// Asks the filters of an SST for keys that the SST does not hold and that are
// like those it does: its neighbours. Gets ask for such keys, and only they
// show a codec that does not fit the keys: where many keys share one filter
// key, the filter passes all of them, while random digests see a perfect
// filter of one key.
//
//   NeighbourSample sample = AskNeighbours(path, options, filters, 10000);
//   sample.passed of sample.asked neighbours would cost a read
//
// A neighbour lies between two keys that follow one another in the file. It is
// asked for through the codec, as a get asks. Where the codec fits the keys,
// the neighbour has another filter key than both: to pass cells of a row that
// the file holds is what bloom type ROW is for.
//
// Reads some data blocks of the file, past the block cache.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_NEIGHBOURS_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_NEIGHBOURS_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "rdb.h"
#include "rocksdb/options.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::plugin {

struct NeighbourSample {
  uint64_t asked = 0;
  uint64_t passed = 0;
  uint64_t keys = 0;  // Stored keys that were read.
  // Stored keys that the codec does not fit.
  uint64_t misfits = 0;
  // Misfits that have the filter key of the key before them.
  uint64_t sharing_misfits = 0;
  std::string unknown;  // Why nothing could be asked, or empty.
};

// `filters` are those of the SST, at least one. `options` give the environment,
// the prefix extractor and a comparator that RocksDB does not have by name.
NeighbourSample AskNeighbours(const std::string& path,
                              const rdb::Options& options,
                              absl::Span<const RocksDbFilterInfo> filters,
                              uint64_t ask_count);

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_NEIGHBOURS_H_
