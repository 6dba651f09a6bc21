// SPDX-License-Identifier: Apache-2.0
//
// Keys as users of RocksDB have them, which no codec of ours wrote.
//
//   for (const KeyShape& shape : AllKeyShapes()) Put(shape.key(2 * i));

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_FIRST_LINE_KEY_SHAPES_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_FIRST_LINE_KEY_SHAPES_H_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rdb.h"
#include "rocksdb/comparator.h"
#include "rocksdb/slice_transform.h"

namespace rowbloom::testing {

struct KeyShape {
  std::string name;
  // Different numbers below `count` make different keys.
  uint64_t count = 0;
  std::function<std::string(uint64_t number)> key;
  bool has_timestamps = false;
  // With RocksDB's extractor capped:N, if not 0.
  size_t prefix_size = 0;
  bool has_whole_keys = true;
  std::shared_ptr<const rdb::SliceTransform> extractor = nullptr;
  const rdb::Comparator* comparator = nullptr;
};

inline std::string BigEndian(uint64_t number, int bytes) {
  std::string key;
  for (int i = bytes - 1; i >= 0; --i) {
    key.push_back(static_cast<char>(number >> (8 * i) & 0xff));
  }
  return key;
}

inline std::string LittleEndian(uint64_t number, int bytes) {
  const std::string key = BigEndian(number, bytes);
  return {key.rbegin(), key.rend()};
}

inline std::string RandomBytes(uint64_t seed, size_t size) {
  std::mt19937_64 random(seed);
  std::string bytes;
  while (bytes.size() < size) bytes += BigEndian(random(), 8);
  return bytes.substr(0, size);
}

inline std::string Format(const char* format, uint64_t number) {
  char text[80];
  std::snprintf(text, sizeof(text), format,
                static_cast<unsigned long long>(number));
  return text;
}

inline std::string UuidText(uint64_t number) {
  const std::string bytes = RandomBytes(number, 16);
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += "-";
    text += Format("%02llx", static_cast<unsigned char>(bytes[i]));
  }
  return text;
}

// Groups of 8 bytes, each with a byte that says how many of them are padding.
inline std::string TiKvBytes(const std::string& raw) {
  std::string encoded;
  for (size_t at = 0; at <= raw.size(); at += 8) {
    std::string group = raw.substr(at, 8);
    const size_t padding = 8 - group.size();
    encoded +=
        group + std::string(padding, '\0') + static_cast<char>(0xff - padding);
  }
  return encoded;
}

inline std::vector<KeyShape> AllKeyShapes() {
  constexpr uint64_t kMany = 20000;
  constexpr uint64_t kSignBit = uint64_t{1} << 63;
  std::vector<KeyShape> shapes = {
      {"big-endian numbers of 2 bytes", kMany,
       [](uint64_t i) { return BigEndian(i, 2); }},
      {"big-endian numbers of 4 bytes", 4 * kMany,
       [](uint64_t i) { return BigEndian(i, 4); }},
      {"big-endian numbers of 8 bytes", kMany,
       [](uint64_t i) { return BigEndian(i, 8); }},
      {"little-endian numbers of 2 bytes", kMany,
       [](uint64_t i) { return LittleEndian(i, 2); }},
      {"little-endian numbers of 4 bytes", kMany,
       [](uint64_t i) { return LittleEndian(i, 4); }},
      {"little-endian numbers of 8 bytes", kMany,
       [](uint64_t i) { return LittleEndian(i, 8); }},
      // Apache Flink: the key group, then the key.
      {"key group of 2 bytes and a number", kMany,
       [](uint64_t i) { return BigEndian(i % 128, 2) + BigEndian(i, 8); }},
      {"16 random bytes", kMany, [](uint64_t i) { return RandomBytes(i, 16); }},
      {"32 random bytes", kMany, [](uint64_t i) { return RandomBytes(i, 32); }},
      {"UUIDs as text", kMany, UuidText},
      {"URLs", kMany,
       [](uint64_t i) {
         return Format("https://example-%llu.com/", i % 97) +
                Format("articles/%llu.html?page=2", i);
       }},
      // An index number, then columns that compare bytewise.
      {"MyRocks", kMany,
       [](uint64_t i) {
         return BigEndian(258, 4) + BigEndian(kSignBit ^ i, 8) +
                Format("name%llu", i % 10);
       }},
      // A namespace and its length, a slot, the key and its length, a version.
      {"Kvrocks hashes", kMany,
       [](uint64_t i) {
         const std::string key = Format("user:%llu", i / 4);
         return "\x09__default" + BigEndian(i % 16384, 2) +
                BigEndian(key.size(), 4) + key + BigEndian(1699999999 + i, 8) +
                Format("field%llu", i % 4);
       }},
      // Table, index and key as varying integers, column family, then 00 and
      // the time of a version with its length.
      {"CockroachDB", kMany,
       [](uint64_t i) {
         return "\xf2\x6b\x89\xf7" + BigEndian(i, 3) + "\x88" +
                std::string(1, '\0') + BigEndian(0x17a9e0c5d3000000 + i, 8) +
                "\x09";
       }},
      // z, t, the table, _r and the row in groups of 8 bytes, and a time.
      {"TiKV", kMany,
       [](uint64_t i) {
         return "z" +
                TiKvBytes("t" + BigEndian(kSignBit | 92, 8) + "_r" +
                          BigEndian(kSignBit | i, 8)) +
                BigEndian(~(uint64_t{0x5f1e} << 44), 8);
       }},
      {"empty, and of one byte", 256,
       [](uint64_t i) { return i == 0 ? std::string() : BigEndian(i, 1); }},
  };
  KeyShape timed = shapes[2];
  timed.name += " with timestamps";
  timed.has_timestamps = true;
  shapes.push_back(timed);
  return shapes;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_FIRST_LINE_KEY_SHAPES_H_
