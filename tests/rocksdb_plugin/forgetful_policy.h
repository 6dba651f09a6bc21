// SPDX-License-Identifier: Apache-2.0
//
// Another policy, whose filters lack some keys: as if its memory had been
// damaged before any checksum.
//
//   db.set_up.other_policy = std::make_shared<ForgetfulPolicy>(
//       StockBloom(), [](std::string_view entry) { return entry == "lost"; });

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_FORGETFUL_POLICY_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_FORGETFUL_POLICY_H_

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "filter_bits_abi.h"
#include "rdb.h"
#include "rocksdb/filter_policy.h"

namespace rowbloom::testing {

class ForgetfulPolicy : public rdb::FilterPolicy {
 public:
  using Forgets = std::function<bool(std::string_view entry)>;

  ForgetfulPolicy(std::shared_ptr<const rdb::FilterPolicy> policy,
                  Forgets forgets)
      : policy_(std::move(policy)), forgets_(std::move(forgets)) {}

  const char* Name() const override { return policy_->Name(); }
  const char* CompatibilityName() const override {
    return policy_->CompatibilityName();
  }
  rdb::FilterBitsBuilder* GetBuilderWithContext(
      const rdb::FilterBuildingContext& context) const override {
    return new Builder(policy_->GetBuilderWithContext(context), forgets_);
  }
  rdb::FilterBitsReader* GetFilterBitsReader(
      const rdb::Slice& contents) const override {
    return policy_->GetFilterBitsReader(contents);
  }

 private:
  class Builder : public rdb::FilterBitsBuilder {
   public:
    Builder(rdb::FilterBitsBuilder* builder, Forgets forgets)
        : builder_(builder), forgets_(std::move(forgets)) {}

    void AddKey(const rdb::Slice& entry) override {
      if (!IsForgotten(entry)) builder_->AddKey(entry);
    }
#if !defined(ROWBLOOM_ROCKSDB_LAYOUT_A)
    void AddKeyAndAlt(const rdb::Slice& key, const rdb::Slice& alt) override {
      if (!IsForgotten(key)) builder_->AddKeyAndAlt(key, alt);
    }
#endif
    size_t EstimateEntriesAdded() override {
      return builder_->EstimateEntriesAdded();
    }
    rdb::Slice Finish(std::unique_ptr<const char[]>* buf) override {
      return builder_->Finish(buf);
    }
    rdb::Slice Finish(std::unique_ptr<const char[]>* buf,
                      rdb::Status* status) override {
      return builder_->Finish(buf, status);
    }
    size_t ApproximateNumEntries(size_t size_bytes) override {
      return builder_->ApproximateNumEntries(size_bytes);
    }
#if defined(ROWBLOOM_ROCKSDB_LAYOUT_C)
    size_t CalculateSpace(size_t entry_count) override {
      return builder_->CalculateSpace(entry_count);
    }
    double EstimatedFpRate(size_t entry_count, size_t size_bytes) override {
      return builder_->EstimatedFpRate(entry_count, size_bytes);
    }
#endif

   private:
    bool IsForgotten(const rdb::Slice& entry) const {
      return forgets_(std::string_view(entry.data(), entry.size()));
    }

    const std::unique_ptr<rdb::FilterBitsBuilder> builder_;
    const Forgets forgets_;
  };

  const std::shared_ptr<const rdb::FilterPolicy> policy_;
  const Forgets forgets_;
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_FORGETFUL_POLICY_H_
