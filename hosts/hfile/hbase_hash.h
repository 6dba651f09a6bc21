// SPDX-License-Identifier: Apache-2.0
//
// HBase's three hash functions. All are defined over little-endian words and
// signed 32-bit results.

#ifndef ROWBLOOM_HFILE_HBASE_HASH_H_
#define ROWBLOOM_HFILE_HBASE_HASH_H_

#include <cstdint>
#include <string_view>

#include "rowbloom/hfile_types.h"

namespace rowbloom::hfile {

int32_t HBaseHash(HFileHash type, std::string_view key, int32_t seed);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_HBASE_HASH_H_
