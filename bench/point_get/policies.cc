// SPDX-License-Identifier: Apache-2.0

#include "policies.h"

#include <algorithm>
#include <stdexcept>

#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/key_codec.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::point_get {
namespace {

RocksDbOptions RowbloomOptions(BloomType bloom_type, double bits_per_key,
                               const std::string& family) {
  RocksDbOptions options;
  options.bloom_type = bloom_type;
  options.key_codec = KeyCodec::Ordered();
  options.policy = FilterPolicy::BitsPerKey(family, bits_per_key);
  return options;
}

}  // namespace

const std::vector<std::string>& PolicyNames() {
  static const std::vector<std::string> names = {
      kNone, kRocksDbBloom, kRocksDbRibbon, kRowbloomRow, kRowbloomRowCol};
  return names;
}

Policy MakePolicy(const std::string& name, double bits_per_key,
                  const std::string& family) {
  Policy policy;
  policy.name = name;
  policy.bits_per_key = bits_per_key;

  if (name == kRowbloomRow || name == kRowbloomRowCol) {
    const RocksDbOptions options = RowbloomOptions(
        name == kRowbloomRow ? BloomType::kRow : BloomType::kRowCol,
        bits_per_key, family);
    policy.is_rowbloom = true;
    rocksdb::Status error;
    policy.filter = NewRocksDbFilterPolicy(options, &error);
    if (policy.filter == nullptr) {
      throw std::runtime_error(name + ": " + error.ToString());
    }
    policy.prefix_extractor = NewRowPrefixExtractor(options);
    return policy;
  }

  // RocksDB's own filters answer row scans by the prefix that is the row, and
  // Gets by the whole key. It ships no extractor for rows of varying length;
  // ours for ROW is what a user would write.
  policy.prefix_extractor =
      NewRowPrefixExtractor(RowbloomOptions(BloomType::kRow, 10, family));
  if (name == kNone) {
    policy.bits_per_key = 0;
  } else if (name == kRocksDbBloom) {
    policy.filter.reset(rocksdb::NewBloomFilterPolicy(bits_per_key));
  } else if (name == kRocksDbRibbon) {
    // "10" asks for the false positive rate of a Bloom filter of 10 bits per
    // key, which Ribbon reaches in about 7.
    policy.filter.reset(rocksdb::NewRibbonFilterPolicy(bits_per_key));
  } else {
    throw std::runtime_error("unknown policy " + name);
  }
  return policy;
}

double ClampBitsPerKey(const std::string& name, double bits_per_key) {
  if (name == kRowbloomRow || name == kRowbloomRowCol) {
    return std::clamp(bits_per_key, FilterPolicy::kMinBitsPerKey,
                      FilterPolicy::kMaxBitsPerKey);
  }
  return bits_per_key;
}

}  // namespace rowbloom::point_get
