// SPDX-License-Identifier: Apache-2.0
//
// The builder of families that need to know all digests before they start.

#ifndef ROWBLOOM_FILTER_COLLECTING_BUILDER_H_
#define ROWBLOOM_FILTER_COLLECTING_BUILDER_H_

#include <utility>
#include <vector>

#include "filter/digest_order.h"
#include "filter/family.h"
#include "rowbloom/filter.h"
#include "util/digest.h"

namespace rowbloom::filter {

// Collapses runs of equal digests, and passes the rest to an encoder:
//
//   struct Encoder {
//     // Encodes at least one digest; does not set key count and checksums.
//     EncodedFilter Encode(DigestList digests, double bits_per_key,
//                          Kernel kernel);
//     // Heap bytes that are kept for the next filter.
//     size_t memory_usage_bytes() const;
//   };
template <typename Encoder>
class CollectingBuilder final : public FilterBuilder {
 public:
  CollectingBuilder(double bits_per_key, Kernel kernel)
      : bits_per_key_(bits_per_key), kernel_(kernel) {}

  void Add(KeyDigest digest) override {
    if (!digests_.EndsWith(digest.value)) digests_.Add(digest.value);
  }
  uint64_t key_count() const override { return digests_.size(); }
  size_t memory_usage_bytes() const override {
    return digests_.memory_usage_bytes() + encoder_.memory_usage_bytes();
  }
  void SetBitsPerKey(double bits_per_key) override {
    bits_per_key_ = bits_per_key;
  }
  EncodedFilter Finish() override {
    const uint64_t key_count = digests_.size();
    if (key_count == 0) {
      return kAlwaysMaybeFamily.new_builder(bits_per_key_, kernel_)->Finish();
    }
    EncodedFilter filter =
        encoder_.Encode(std::move(digests_), bits_per_key_, kernel_);
    FilterDescriptor& descriptor = filter.descriptor;
    descriptor.key_count = key_count;
    const std::vector<std::string_view> units = filter.UnitViews();
    for (size_t u = 0; u < units.size(); ++u) {
      descriptor.unit_checksum[u] = util::Checksum32(units[u]);
    }
    return filter;
  }

 private:
  double bits_per_key_;
  const Kernel kernel_;
  Encoder encoder_;
  DigestList digests_;
};

// The encoder of a family that keeps no memory.
template <EncodedFilter (*kEncode)(DigestList, double, Kernel)>
struct EncodeBy {
  static EncodedFilter Encode(DigestList digests, double bits_per_key,
                              Kernel kernel) {
    return kEncode(std::move(digests), bits_per_key, kernel);
  }
  static size_t memory_usage_bytes() { return 0; }
};

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_COLLECTING_BUILDER_H_
