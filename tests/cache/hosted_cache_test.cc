// SPDX-License-Identifier: Apache-2.0
//
// Tests a FilterCache whose entries are in an engine's own cache.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "cache/load_rules.h"
#include "cache/tracked_value.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/host_cache.h"
#include "testing/engine_cache.h"

namespace rowbloom::internal::cache {
namespace {

constexpr size_t kCapacity = 10000;

class HostedCacheTest : public ::testing::Test {
 protected:
  ChunkCache& chunks() { return ChunkCache::Of(*cache_); }
  // Returns false if the host refuses the filter.
  bool PutFilter(uint64_t chunk, size_t charge_bytes, Shortcut* shortcut) {
    std::unique_ptr<CachedFilter> filter =
        std::make_unique<TrackedValue>(chunk, &deaths_);
    FilterCache::Handle* handle =
        chunks().InsertFilter({1, chunk}, &filter, {charge_bytes}, shortcut);
    EXPECT_EQ(handle == nullptr, filter != nullptr);
    if (handle != nullptr) cache_->Release(handle);
    return handle != nullptr;
  }

  Deaths deaths_{100};
  std::unique_ptr<FilterCache> cache_ = testing::NewEngineCache(kCapacity);
};

TEST_F(HostedCacheTest, EntriesAreTheHosts) {
  std::unique_ptr<FilterCache::Value> value =
      std::make_unique<TrackedValue>(7, &deaths_);
  FilterCache::Handle* handle = cache_->Insert({1, 7}, &value, {100});
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(NumberOf(*cache_, handle), 7u);
  cache_->Erase({1, 7});
  EXPECT_EQ(deaths_.Of(7), 0);
  cache_->Release(handle);
  EXPECT_EQ(deaths_.Of(7), 1);
  ASSERT_TRUE(PutFilter(8, 100, nullptr));
  handle = cache_->Lookup({1, 8});
  EXPECT_EQ(NumberOf(*cache_, handle), 8u);
  cache_->Release(handle);
  cache_->EraseFile(1);
  EXPECT_EQ(chunks().LookupFilter({1, 8}), nullptr);
}

TEST_F(HostedCacheTest, AFilterThatTheHostRefusesStaysWithTheCaller) {
  EXPECT_FALSE(PutFilter(0, kCapacity + 1, nullptr));
  EXPECT_EQ(deaths_.Of(0), 1);  // The caller destroyed it.
}

TEST_F(HostedCacheTest, FiltersHaveNoShortcut) {
  Shortcut shortcut;
  ASSERT_TRUE(PutFilter(0, 100, &shortcut));
  EXPECT_EQ(shortcut.filter, nullptr);
  FilterCache::Handle* handle = chunks().LookupFilter({1, 0});
  chunks().AdoptFilter(
      handle, [](CachedFilter*) { FAIL(); }, &shortcut);
  EXPECT_EQ(shortcut.filter, nullptr);
  chunks().DropShortcut({1, 0}, &shortcut);
  cache_->Release(handle);
}

TEST_F(HostedCacheTest, TheEngineSetsTheCapacity) {
  cache_->SetCapacity(1);
  EXPECT_EQ(cache_->GetUsage().capacity_bytes, kCapacity);
  EXPECT_TRUE(PutFilter(0, 100, nullptr));
  EXPECT_EQ(chunks().RoomFor({1, 0}).free_bytes,
            std::numeric_limits<size_t>::max());
}

TEST_F(HostedCacheTest, OpeningAFileGrantsTheHostsCapacity) {
  EXPECT_FALSE(chunks().ledger().WithinGrants());
  chunks().AddFile(1);
  EXPECT_EQ(chunks().ledger().balance_bytes(), static_cast<int64_t>(kCapacity));
  chunks().AddFile(-1);
}

TEST_F(HostedCacheTest, UsageIncludesWhatReadersReport) {
  const int first = 0, second = 0;
  chunks().ChargeReader(&first, 50);
  EXPECT_GE(cache_->GetUsage().pinned_bytes, 50u);
  EXPECT_EQ(cache_->GetUsage().index_bytes_outside, 0);
  chunks().ChargeReader(&second, kCapacity);
  EXPECT_EQ(cache_->GetUsage().index_bytes_outside, kCapacity);
  chunks().DropReader(&first, 50);
  EXPECT_EQ(cache_->GetUsage().index_bytes_outside, kCapacity);
  chunks().DropReader(&second, kCapacity);
  EXPECT_EQ(cache_->GetUsage().pinned_bytes, 0u);
  EXPECT_EQ(cache_->GetUsage().index_bytes_outside, 0u);
}

TEST_F(HostedCacheTest, HasTheRulesThatAreSet) {
  LoadRules rules;
  rules.slack_bytes = 1;
  SetLoadRules(rules, cache_.get());
  EXPECT_EQ(chunks().ledger().rules().slack_bytes, 1);
}

using HostedCacheDeathTest = HostedCacheTest;

TEST_F(HostedCacheDeathTest, DestroyingItBeforeAFileIsChecked) {
  chunks().AddFile(1);
  EXPECT_DEATH(cache_.reset(), "FilterCache is destroyed before");
  chunks().AddFile(-1);
}

// Its Lookup() throws what the engine would catch.
class ThrowingCache final : public HostCache {
 public:
  Handle* Lookup(const FilterCacheKey&) override {
    throw std::runtime_error("from the engine");
  }
  Handle* Insert(const FilterCacheKey&, std::unique_ptr<Value>*,
                 const EntryOptions&) override {
    return nullptr;
  }
  Value* ValueOf(Handle*) const override { return nullptr; }
  void Release(Handle*) override {}
  void Erase(const FilterCacheKey&) override {}
  void EraseFile(uint64_t) override {}
  FilterCache::Usage GetUsage() const override { return {}; }
};

TEST(ThrowingHostDeathTest, AnExceptionOfTheHostEndsTheProcess) {
  const auto cache = NewHostedCache(std::make_unique<ThrowingCache>());
  EXPECT_DEATH(
      {
        try {
          cache->Lookup({1, 7});
        } catch (...) {
        }
      },
      "terminat");
}

}  // namespace
}  // namespace rowbloom::internal::cache
