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

struct RowbloomPolicy {
  const char* name;
  BloomType bloom_type;
  const char* family;  // Null: the caller's.
};
constexpr RowbloomPolicy kRowbloomPolicies[] = {
    {"rowbloom_row", BloomType::kRow, nullptr},
    {"rowbloom_rowcol", BloomType::kRowCol, nullptr},
    {"rowbloom_rowcol_fast", BloomType::kRowCol, "fast"},
    {"rowbloom_rowcol_compact", BloomType::kRowCol, "compact"},
};

const RowbloomPolicy* FindRowbloomPolicy(const std::string& name) {
  for (const RowbloomPolicy& policy : kRowbloomPolicies) {
    if (policy.name == name) return &policy;
  }
  return nullptr;
}

std::string FamilyOf(const RowbloomPolicy& policy, const std::string& family) {
  return policy.family == nullptr ? family : policy.family;
}

RocksDbOptions RowbloomOptions(BloomType bloom_type,
                               const FilterPolicy& filter) {
  RocksDbOptions options;
  options.bloom_type = bloom_type;
  options.key_codec = KeyCodec::Ordered();
  options.policy = filter;
  return options;
}

}  // namespace

const std::vector<std::string>& PolicyNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {kNone, kRocksDbBloom, kRocksDbRibbon};
    for (const RowbloomPolicy& policy : kRowbloomPolicies) {
      all.emplace_back(policy.name);
    }
    return all;
  }();
  return names;
}

Policy MakePolicy(const std::string& name, double bits_per_key,
                  const std::string& family) {
  Policy policy;
  policy.name = name;
  policy.bits_per_key = bits_per_key;

  if (const RowbloomPolicy* ours = FindRowbloomPolicy(name)) {
    const RocksDbOptions options = RowbloomOptions(
        ours->bloom_type,
        FilterPolicy::BitsPerKey(FamilyOf(*ours, family), bits_per_key));
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
      NewRowPrefixExtractor(RowbloomOptions(BloomType::kRow, FilterPolicy()));
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
  if (FindRowbloomPolicy(name) != nullptr) {
    return std::clamp(bits_per_key, FilterPolicy::kMinBitsPerKey,
                      FilterPolicy::kMaxBitsPerKey);
  }
  return bits_per_key;
}

std::optional<double> BitsPerKeyForFpr(const std::string& name, double fpr,
                                       const std::string& family) {
  const RowbloomPolicy* ours = FindRowbloomPolicy(name);
  if (ours == nullptr) return std::nullopt;
  return FilterPolicy::TargetFpr(FamilyOf(*ours, family), fpr).bits_per_key();
}

}  // namespace rowbloom::point_get
