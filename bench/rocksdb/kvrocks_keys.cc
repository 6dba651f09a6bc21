// SPDX-License-Identifier: Apache-2.0

#include "kvrocks_keys.h"

#include <cstdint>
#include <memory>

#include "bench/or_throw.h"
#include "rowbloom/key_codec.h"
#include "tree.h"
#include "workload.h"

namespace rowbloom::bench {
namespace {

// Kvrocks' versions are microseconds and a counter of 11 bits.
uint64_t VersionOf(std::string_view user_key) {
  constexpr uint64_t kVersionSeed = 401;
  constexpr uint64_t kStart = 1'700'000'000'000'000;
  constexpr uint64_t kYear = 31'536'000'000'000;
  return (kStart + Scramble(user_key, kVersionSeed) % kYear) << 11;
}

std::string VersionedKey(std::string_view user_key, uint64_t version,
                         std::string_view field) {
  std::string big_endian;
  for (int shift = 56; shift >= 0; shift -= 8) {
    big_endian.push_back(static_cast<char>(version >> shift));
  }
  std::string key;
  static const KeyCodec codec = OrThrow(KeyCodec::Parse(kFieldKeys));
  CheckOk(codec.Encode({kNamespace, user_key, big_endian, field}, &key));
  return key;
}

}  // namespace

std::string FieldKey(std::string_view user_key, std::string_view field) {
  return VersionedKey(user_key, VersionOf(user_key), field);
}

size_t CountFields(rocksdb::DB* db, std::string_view user_key,
                   bool asks_filters) {
  const uint64_t version = VersionOf(user_key);
  const std::string first = VersionedKey(user_key, version, "");
  const std::string end = VersionedKey(user_key, version + 1, "");
  const rocksdb::Slice upper_bound = end;
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.iterate_upper_bound = &upper_bound;
  options.prefix_same_as_start = asks_filters;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(options));
  size_t count = 0;
  for (it->Seek(first); it->Valid() && it->key().starts_with(first);
       it->Next()) {
    count +=
        it->value() == MakeValue(it->key().ToStringView(), kFieldValueSize);
  }
  Check(it->status(), "scanning");
  return count;
}

}  // namespace rowbloom::bench
