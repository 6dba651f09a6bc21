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

// Bob Jenkins, lookup3.c: hashlittle(). The initial value is added to the
// length; an empty key returns it unmixed.
int32_t JenkinsHash(std::string_view key, int32_t seed);

// Austin Appleby, MurmurHash2, with one difference: HBase extends the sign of
// each of the last 1 to 3 bytes. If these are below 0x80, it is MurmurHash2.
int32_t MurmurHash(std::string_view key, int32_t seed);

// Austin Appleby, MurmurHash3_x86_32.
int32_t Murmur3Hash(std::string_view key, int32_t seed);

int32_t HBaseHash(HFileHash type, std::string_view key, int32_t seed);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_HBASE_HASH_H_
