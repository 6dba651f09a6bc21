// SPDX-License-Identifier: Apache-2.0
//
// Asks the filters of an SST for keys that it holds, which they must pass, and
// for keys that it does not hold and that are like those it does: its
// neighbours. Gets ask for such keys, and only they show a codec that does not
// fit the keys: where many keys share one filter key, the filter passes all of
// them, while random digests see a perfect filter of one key.
//
//   KeySample sample = AskKeys(path, options, filters, {10000});
//   sample.passed of sample.asked neighbours would cost a read
//   sample.denied of sample.stored keys are lost to gets
//
// A neighbour lies between two keys that follow one another in the file. It is
// asked for through the codec, as a get asks. Where the codec fits the keys,
// the neighbour has another filter key than both: to pass cells of a row that
// the file holds is what bloom type ROW is for.
//
// Reads some data blocks of the file, past the block cache.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_ASKED_KEYS_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_ASKED_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "rdb.h"
#include "rocksdb/options.h"
#include "rowbloom/key_codec.h"

namespace rowbloom::plugin {

// The filters of an SST in the order of its keys, as gets ask them.
struct SstFilters {
  // RocksDB's filters have none: they take each key or prefix as it is.
  bool has_codec = false;
  KeyCodec key_codec = KeyCodec::WholeKey();
  size_t key_level_count = 1;
  size_t count = 0;
  std::function<bool(size_t filter, std::string_view entry)> may_contain;
};

struct KeysToAsk {
  uint64_t neighbours = 0;  // At most.
  // If true, all stored keys are asked; if not, some 1000.
  bool all_keys = false;
};

struct KeySample {
  uint64_t asked = 0;   // Neighbours.
  uint64_t passed = 0;  // Neighbours that the filters pass.
  uint64_t stored = 0;  // Stored keys that the filters were asked for.
  // If not 0, the filters deny stored keys, which gets do not find. The number
  // and the first one are exact for one filter; of several, a key at or before
  // `first_denied` is denied.
  uint64_t denied = 0;
  std::string first_denied;
  uint64_t keys = 0;  // Stored keys that were read for neighbours.
  // Stored keys that the codec does not fit.
  uint64_t misfits = 0;
  // Misfits that have the filter key of the key before them.
  uint64_t sharing_misfits = 0;
  std::string unknown;  // Why nothing could be asked, or empty.
};

// `filters` are those of the SST, at least one. `options` give the environment,
// the prefix extractor and a comparator that RocksDB does not have by name.
KeySample AskKeys(const std::string& path, const rdb::Options& options,
                  const SstFilters& filters, const KeysToAsk& keys);

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_ASKED_KEYS_H_
