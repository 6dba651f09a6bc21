// SPDX-License-Identifier: Apache-2.0
//
// The filter policy for LevelDB: encodes the digests of keys as a filter blob,
// and looks keys up in it.

#include <memory>
#include <string>
#include <string_view>

#include "leveldb/slice.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/leveldb.h"

namespace rowbloom {
namespace {

KeyDigest DigestOf(const leveldb::Slice& key) {
  return DigestBytes(std::string_view(key.data(), key.size()));
}

class LevelDbFilterPolicy final : public leveldb::FilterPolicy {
 public:
  LevelDbFilterPolicy(const rowbloom::FilterSpec& policy, FilterStats* stats)
      : policy_(policy), stats_(stats) {}

  const char* Name() const override { return kLevelDbFilterPolicyName; }

  void CreateFilter(const leveldb::Slice* keys, int n,
                    std::string* dst) const override {
    const auto builder = NewFilterBuilder(policy_);
    for (int i = 0; i < n; ++i) builder->Add(DigestOf(keys[i]));
    dst->append(EncodeFilterBlob(builder->Finish(), ""));
  }

  bool KeyMayMatch(const leveldb::Slice& key,
                   const leveldb::Slice& filter) const override {
    Count(FilterCounter::kLookups);
    const absl::StatusOr<FilterBlob> blob =
        ParseFilterBlob(std::string_view(filter.data(), filter.size()));
    // Metadata would change the lookup; this version defines none.
    if (!blob.ok() || !blob->metadata.empty() || !VerifyUnits(*blob).ok()) {
      Count(FilterCounter::kLoadErrors);
      return true;
    }
    if (blob->view.MayContain(DigestOf(key))) return true;
    Count(FilterCounter::kNegatives);
    return false;
  }

 private:
  void Count(FilterCounter counter) const {
    if (stats_ != nullptr) stats_->Add(counter);
  }

  const rowbloom::FilterSpec policy_;
  FilterStats* const stats_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const leveldb::FilterPolicy>>
NewLevelDbFilterPolicy(const FilterSpec& policy, FilterStats* stats) {
  if (absl::Status s = policy.Validate(); !s.ok()) return s;
  return std::make_unique<const LevelDbFilterPolicy>(policy, stats);
}

}  // namespace rowbloom
