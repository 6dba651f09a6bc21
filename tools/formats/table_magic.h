// SPDX-License-Identifier: Apache-2.0
//
// The last bytes of the tables of RocksDB, LevelDB and Pebble.

#ifndef ROWBLOOM_TOOLS_FORMATS_TABLE_MAGIC_H_
#define ROWBLOOM_TOOLS_FORMATS_TABLE_MAGIC_H_

#include <cstddef>
#include <string_view>

namespace rowbloom::tools {

inline constexpr size_t kMagicBytes = 8;
// RocksDB's block based tables.
inline constexpr std::string_view kBlockBasedMagic{
    "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88", kMagicBytes};
// RocksDB's tables of format_version 0 have it, and LevelDB's.
inline constexpr std::string_view kLegacyMagic{
    "\x57\xfb\x80\x8b\x24\x75\x47\xdb", kMagicBytes};
inline constexpr std::string_view kPebbleMagic{
    "\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3", kMagicBytes};

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_FORMATS_TABLE_MAGIC_H_
