// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/false_positive_memo.h"

#include <string>
#include <string_view>

namespace rowbloom {
namespace {

// Other keys may have the same digest, so the whole key is compared.
class RememberedKey final : public FilterCache::Value {
 public:
  explicit RememberedKey(const FilterKey& key)
      : row_(key.row()), qualifier_(key.qualifier()), kind_(key.kind()) {}

  bool Equals(const FilterKey& key) const {
    return row_ == key.row() && qualifier_ == key.qualifier() &&
           kind_ == key.kind();
  }
  static size_t ChargeBytes(const FilterKey& key) {
    // The heap's share of a string that does not fit into its object.
    const auto heap = [](std::string_view s) {
      return s.size() > 15 ? s.size() + 17 : 0;
    };
    return sizeof(RememberedKey) + heap(key.row()) + heap(key.qualifier());
  }

 private:
  const std::string row_;
  const std::string qualifier_;
  const FilterKey::Kind kind_;
};

}  // namespace

FalsePositiveMemo::FalsePositiveMemo(size_t capacity_bytes)
    : cache_(NewShardedLruCache({capacity_bytes})) {}

bool FalsePositiveMemo::Denies(uint64_t file_id, const FilterKey& key) const {
  FilterCache::Handle* handle = cache_->Lookup({file_id, key.digest().value});
  if (handle == nullptr) return false;
  const bool denies =
      static_cast<const RememberedKey*>(cache_->ValueOf(handle))->Equals(key);
  cache_->Release(handle);
  return denies;
}

void FalsePositiveMemo::Remember(uint64_t file_id, const FilterKey& key) {
  std::unique_ptr<FilterCache::Value> value =
      std::make_unique<RememberedKey>(key);
  FilterCache::EntryOptions entry;
  entry.charge_bytes = RememberedKey::ChargeBytes(key);
  FilterCache::Handle* handle =
      cache_->Insert({file_id, key.digest().value}, &value, entry);
  if (handle != nullptr) cache_->Release(handle);
}

void FalsePositiveMemo::EraseFile(uint64_t file_id) {
  cache_->EraseFile(file_id);
}

}  // namespace rowbloom
