// SPDX-License-Identifier: Apache-2.0
//
// Our policy, which counts the filters that it finishes and may replace their
// bytes.
//
//   auto policy = std::make_shared<TamperingPolicy>();
//   policy->tamper = [](std::string* filter) { filter->clear(); };

#ifndef ROWBLOOM_TESTS_ROCKSDB_TAMPERING_POLICY_H_
#define ROWBLOOM_TESTS_ROCKSDB_TAMPERING_POLICY_H_

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "filter_bits_abi.h"
#include "rdb.h"
#include "rocksdb/filter_policy.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::testing {

class TamperingPolicy : public rdb::FilterPolicy {
 public:
  explicit TamperingPolicy(const RocksDbOptions& options = RocksDbOptions())
      : policy_(NewRocksDbFilterPolicy(options)) {}

  std::function<void(std::string* filter)> tamper = [](std::string*) {};
  mutable int finished = 0;  // Written by one flush or compaction at a time.

  const char* Name() const override { return "test.Tampering"; }
  const char* CompatibilityName() const override {
    return policy_->CompatibilityName();
  }
  rdb::FilterBitsBuilder* GetBuilderWithContext(
      const rdb::FilterBuildingContext& context) const override {
    return new Builder(this, policy_->GetBuilderWithContext(context));
  }
  rdb::FilterBitsReader* GetFilterBitsReader(
      const rdb::Slice& contents) const override {
    return policy_->GetFilterBitsReader(contents);
  }

 private:
  class Builder : public rdb::FilterBitsBuilder {
   public:
    Builder(const TamperingPolicy* policy, rdb::FilterBitsBuilder* builder)
        : policy_(policy), builder_(builder) {}

    void AddKey(const rdb::Slice& entry) override { builder_->AddKey(entry); }
#if !defined(ROWBLOOM_ROCKSDB_LAYOUT_A)
    void AddKeyAndAlt(const rdb::Slice& key, const rdb::Slice& alt) override {
      builder_->AddKeyAndAlt(key, alt);
    }
#endif
    size_t EstimateEntriesAdded() override {
      return builder_->EstimateEntriesAdded();
    }
    using FilterBitsBuilder::Finish;
    rdb::Slice Finish(std::unique_ptr<const char[]>* buf) override {
      std::string filter = builder_->Finish(buf).ToString();
      ++policy_->finished;
      policy_->tamper(&filter);
      std::unique_ptr<char[]> bytes(new char[filter.size() + 1]);
      std::memcpy(bytes.get(), filter.data(), filter.size());
      *buf = std::move(bytes);
      return rdb::Slice(buf->get(), filter.size());
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
    const TamperingPolicy* const policy_;
    const std::unique_ptr<rdb::FilterBitsBuilder> builder_;
  };

  const std::shared_ptr<const rdb::FilterPolicy> policy_;
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_TAMPERING_POLICY_H_
