// SPDX-License-Identifier: Apache-2.0
//
// Our policy, which counts the filters that it finishes and may replace their
// bytes.
//
//   db.set_up.other_policy = std::make_shared<TamperingPolicy>(
//       [](std::string* filter) { filter->clear(); });

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_TAMPERING_POLICY_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_TAMPERING_POLICY_H_

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "policy/filter_info.h"
#include "policy/row_filter_builder.h"
#include "policy/row_filter_reader.h"
#include "rdb.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::testing {

using Tamper = std::function<void(std::string* filter)>;

class TamperingPolicy : public rdb::FilterPolicy {
 public:
  explicit TamperingPolicy(Tamper tamper,
                           const RocksDbOptions& options = RocksDbOptions())
      : tamper_(std::move(tamper)), options_(options) {}

  int finished() const { return finished_; }

  const char* Name() const override { return "test.Tampering"; }
  const char* CompatibilityName() const override {
    return kRocksDbCompatibilityName;
  }
  rdb::FilterBitsBuilder* GetBuilderWithContext(
      const rdb::FilterBuildingContext& context) const override {
    RocksDbOptions options = options_;
    if (!context.table_options.whole_key_filtering) {
      options.bloom_type = BloomType::kRow;  // As in NativePolicy.
    }
    return new Builder(this, options, context.table_options.partition_filters);
  }
  rdb::FilterBitsReader* GetFilterBitsReader(
      const rdb::Slice& contents) const override {
    return new plugin::RowFilterReader(contents);
  }

 private:
  class Builder : public plugin::RowFilterBuilder {
   public:
    Builder(const TamperingPolicy* policy, const RocksDbOptions& options,
            bool partitioned)
        : RowFilterBuilder(options, /*verify_result=*/false, partitioned),
          policy_(policy) {}

    using RowFilterBuilder::Finish;
    rdb::Slice Finish(std::unique_ptr<const char[]>* buf,
                      rdb::Status* status) noexcept override {
      std::string filter = RowFilterBuilder::Finish(buf, status).ToString();
      ++policy_->finished_;
      policy_->tamper_(&filter);
      std::unique_ptr<char[]> bytes(new char[filter.size() + 1]);
      std::memcpy(bytes.get(), filter.data(), filter.size());
      *buf = std::move(bytes);
      return rdb::Slice(buf->get(), filter.size());
    }

   private:
    const TamperingPolicy* const policy_;
  };

  const Tamper tamper_;
  const RocksDbOptions options_;
  mutable int finished_ = 0;  // Written by one flush or compaction at a time.
};

// Changes the descriptor or the metadata of a filter, whose checksums are then
// right.
inline void ChangeBlob(std::string* filter,
                       void (*change)(FilterDescriptor*,
                                      std::string* metadata)) {
  const auto blob = ParseFilterBlob(*filter);
  ASSERT_TRUE(blob.ok());
  EncodedFilter encoded;
  encoded.descriptor = blob->descriptor;
  encoded.units = std::string(blob->units);
  std::string metadata(blob->metadata);
  change(&encoded.descriptor, &metadata);
  *filter = EncodeFilterBlob(encoded, metadata);
}

// Makes a filter one of a newer version of rowbloom.
inline void MakeNewer(std::string* filter) {
  ChangeBlob(filter, [](FilterDescriptor*, std::string* metadata) {
    (*metadata)[plugin::kMetadataVersionOffset] =
        plugin::kMetadataTextVersion + 1;
  });
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_TAMPERING_POLICY_H_
