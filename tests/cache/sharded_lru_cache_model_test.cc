// SPDX-License-Identifier: Apache-2.0
//
// Random operations on the cache and on a model that is slow and obvious.
// After each one, both must agree on everything that can be seen.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "base/epoch.h"
#include "cache/lru_shard.h"
#include "cache/tracked_value.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::cache {
namespace {

using Policy = ShardedLruCacheOptions::Policy;

constexpr size_t kNone = SIZE_MAX;
constexpr uint64_t kFiles = 5;
constexpr uint64_t kKeys = 30;

uint64_t FileOf(uint64_t key) { return key % kFiles; }

// What a key's hint should be.
struct ModelHint {
  size_t number = kNone;  // Of the value.
  bool used = false;
};

struct ModelValue {
  size_t number = 0;
  double worth = -1;
  std::vector<TrackedPart> parts;
};

// Values are known by their numbers, hints by their keys.
class Model {
 public:
  Model(size_t capacity_bytes, Policy policy) : policy_(policy) {
    usage_.capacity_bytes = capacity_bytes;
  }

  size_t Lookup(uint64_t key, bool with_hint) {
    Item* item = Cached(key);
    if (item == nullptr) {
      ++usage_.misses;
      return kNone;
    }
    ++usage_.hits;
    ++item->handle_count;
    item->found = true;
    if (with_hint && !item->has_hint) SetHint(item, true);
    return item->value.number;
  }

  bool Insert(uint64_t key, const ModelValue& value,
              const FilterCache::EntryOptions& options) {
    const size_t charge_bytes = options.charge_bytes + kEntryOverheadBytes;
    if (GetUsage().pinned_bytes + charge_bytes > usage_.capacity_bytes) {
      ++usage_.rejections;
      return false;
    }
    Forget(Cached(key));
    MakeRoom(charge_bytes);
    if (GetUsage().usage_bytes + charge_bytes > usage_.capacity_bytes) {
      ++usage_.rejections;
      return false;
    }
    ++usage_.inserts;
    created_.push_back(value.number);
    Item& item = items_.emplace_back();
    item.key = key;
    item.value = value;
    item.charge_bytes = charge_bytes;
    item.priority = options.priority;
    item.role = options.role;
    item.handle_count = 1;
    item.cached = true;
    if (options.hint != nullptr) SetHint(&item, true);
    return true;
  }

  void Release(size_t number) {
    Item* item = Find(number);
    if (--item->handle_count > 0) return;
    FreePassed();
    if (!item->cached) {
      Retire(item);
    } else if (item->priority != FilterCachePriority::kPinned) {
      item->stamp = ++now_;
      item->is_protected = false;
      if (item->found) Use(item);
    }
  }

  void Erase(uint64_t key) {
    FreePassed();
    Forget(Cached(key));
  }

  void EraseFile(uint64_t file) {
    FreePassed();
    for (uint64_t key = file; key < kKeys; key += kFiles) Forget(Cached(key));
  }

  void DropHint(uint64_t key) {
    Item* item = Cached(key);
    if (item != nullptr && item->has_hint) SetHint(item, false);
  }

  void SetCapacity(size_t capacity_bytes) {
    usage_.capacity_bytes = capacity_bytes;
    LimitProtected(FilterCachePriority::kLow);
    LimitProtected(FilterCachePriority::kHigh);
    MakeRoom(0);
  }

  void BeginGuard() { guard_began_ = epoch_; }
  void EndGuard() { guard_began_.reset(); }
  bool InGuard() const { return guard_began_.has_value(); }

  void UseHint(uint64_t key) { hints_[key].used = true; }
  const ModelHint& HintOf(uint64_t key) const { return hints_[key]; }

  // Of values that were cached and parts that were given up.
  const std::vector<size_t>& created() const { return created_; }
  bool IsAlive(size_t number) { return Find(number) != nullptr; }
  double Price(size_t charge_bytes) const {
    const FilterCache::Usage usage = GetUsage();
    return usage.usage_bytes + charge_bytes + kEntryOverheadBytes <=
                   usage.capacity_bytes
               ? 0
               : price_;
  }

  FilterCache::Usage GetUsage() const {
    FilterCache::Usage usage = usage_;
    for (const Item& item : items_) {
      usage.usage_bytes += item.charge_bytes;
      usage.role_bytes[static_cast<size_t>(item.role)] += item.charge_bytes;
      if (IsPinned(item)) usage.pinned_bytes += item.charge_bytes;
      if (item.retired) usage.retired_bytes += item.charge_bytes;
      ++usage.entry_count;
    }
    return usage;
  }

 private:
  struct Item {
    uint64_t key = 0;
    ModelValue value;
    size_t charge_bytes = 0;
    FilterCachePriority priority = FilterCachePriority::kLow;
    FilterCacheRole role = FilterCacheRole::kOther;
    int handle_count = 0;
    bool cached = false;
    bool has_hint = false;
    bool had_hint = false;
    bool found = false;
    bool is_protected = false;
    bool retired = false;
    uint64_t stamp = 0;  // Of its last use.
    uint64_t epoch = 0;  // In which it left.
  };

  static bool IsPinned(const Item& item) {
    return item.handle_count > 0 ||
           (item.cached && item.priority == FilterCachePriority::kPinned);
  }
  static double WorthOf(const Item& item) {
    return item.value.parts.empty() ? item.value.worth
                                    : item.value.parts.back().worth;
  }

  template <typename Condition>
  Item* FindIf(const Condition& condition) {
    const auto it = std::find_if(items_.begin(), items_.end(), condition);
    return it == items_.end() ? nullptr : &*it;
  }
  Item* Find(size_t number) {
    return FindIf([&](auto& item) { return item.value.number == number; });
  }
  Item* Cached(uint64_t key) {
    return FindIf([&](auto& item) { return item.cached && item.key == key; });
  }

  // Those that can be evicted, of one segment, the oldest first.
  std::vector<Item*> Idle(FilterCachePriority priority, bool is_protected) {
    std::vector<Item*> idle;
    for (Item& item : items_) {
      if (item.cached && !IsPinned(item) && item.priority == priority &&
          item.is_protected == is_protected) {
        idle.push_back(&item);
      }
    }
    std::sort(idle.begin(), idle.end(),
              [](Item* a, Item* b) { return a->stamp < b->stamp; });
    return idle;
  }

  void SetHint(Item* item, bool has_hint) {
    item->has_hint = has_hint;
    item->had_hint |= has_hint;
    hints_[item->key].number = has_hint ? item->value.number : kNone;
  }

  // nullptr: does nothing.
  void Forget(Item* item) {
    if (item == nullptr) return;
    if (item->has_hint) SetHint(item, false);
    item->cached = false;
    item->epoch = epoch_++;
    if (item->handle_count == 0) Retire(item);
  }

  void Retire(Item* item) {
    item->retired = true;
    FreePassed(item);
  }

  // All, or just that one.
  void FreePassed(Item* only = nullptr) {
    items_.remove_if([&](const Item& item) {
      return item.retired && (only == nullptr || only == &item) &&
             (!item.had_hint || !guard_began_ || *guard_began_ > item.epoch);
    });
  }

  void Use(Item* item) {
    item->stamp = ++now_;
    if (policy_ == Policy::kPlainLru || WorthOf(*item) >= 0) return;
    item->is_protected = true;
    LimitProtected(item->priority);
  }

  void LimitProtected(FilterCachePriority priority) {
    const size_t limit = usage_.capacity_bytes - usage_.capacity_bytes / 5;
    size_t bytes = 0;
    const std::vector<Item*> all = Idle(priority, true);
    for (const Item* item : all) bytes += item->charge_bytes;
    for (Item* oldest : all) {
      if (bytes <= limit) return;
      bytes -= oldest->charge_bytes;
      oldest->is_protected = false;
      oldest->stamp = ++now_;
    }
  }

  Item* Victim() {
    int second_chances = 64;
    for (const auto priority :
         {FilterCachePriority::kLow, FilterCachePriority::kHigh}) {
      for (const bool is_protected : {false, true}) {
        std::vector<Item*> candidates;
        while (candidates.size() < 32) {
          const std::vector<Item*> idle = Idle(priority, is_protected);
          // The candidates are the oldest ones.
          if (idle.size() == candidates.size()) break;
          Item* next = idle[candidates.size()];
          const bool is_least = WorthOf(*next) < 0;
          if (is_least && next->has_hint && hints_[next->key].used &&
              second_chances-- > 0) {
            hints_[next->key].used = false;
            Use(next);
          } else {
            candidates.push_back(next);
            if (is_least) break;
          }
        }
        if (candidates.empty()) continue;
        Item* victim = *std::min_element(
            candidates.begin(), candidates.end(),
            [](Item* a, Item* b) { return WorthOf(*a) < WorthOf(*b); });
        for (Item* item : candidates) {
          if (WorthOf(*item) > WorthOf(*victim)) item->stamp = ++now_;
        }
        return victim;
      }
    }
    return nullptr;
  }

  void MakeRoom(size_t charge_bytes) {
    FreePassed();
    const auto needed_bytes = [this] {
      size_t bytes = 0;
      for (const Item& item : items_) {
        if (!item.retired) bytes += item.charge_bytes;
      }
      return bytes;
    };
    while (needed_bytes() + charge_bytes > usage_.capacity_bytes) {
      Item* victim = Victim();
      if (victim == nullptr) return;
      const double worth = WorthOf(*victim);
      price_ = std::max(price_, worth);
      if (victim->value.parts.empty()) {
        ++usage_.evictions;
        Forget(victim);
        continue;
      }
      ++usage_.shrinks;
      const TrackedPart part = victim->value.parts.back();
      victim->value.parts.pop_back();
      victim->charge_bytes -= part.charge_bytes;
      created_.push_back(part.number);
      Item& given_up = items_.emplace_back();
      given_up.value.number = part.number;
      given_up.charge_bytes = part.charge_bytes;
      given_up.role = victim->role;
      given_up.had_hint = victim->had_hint;
      given_up.epoch = epoch_++;
      Retire(&given_up);
    }
  }

  const Policy policy_;
  FilterCache::Usage usage_;  // The fixed and the counted parts only.
  std::list<Item> items_;
  std::array<ModelHint, kKeys> hints_;
  std::vector<size_t> created_;
  double price_ = 0;
  uint64_t now_ = 0;
  uint64_t epoch_ = 0;
  std::optional<uint64_t> guard_began_;
};

struct Shape {
  Policy policy = Policy::kScanResistant;
  size_t capacity_bytes = 3000;
  size_t max_handles = 2;
  bool resizes = false;
};

class ModelTest {
 public:
  ModelTest(uint32_t seed, const Shape& shape)
      : random_(seed),
        shape_(shape),
        model_(shape.capacity_bytes, shape.policy),
        cache_(NewShardedLruCache({shape.capacity_bytes, 0, shape.policy})) {}
  ~ModelTest() {
    for (const Held& h : held_) cache_->Release(h.handle);
  }

  void Run() {
    for (int step = 0; step < kSteps; ++step) {
      Step();
      while (held_.size() > shape_.max_handles) Release(Below(held_.size()));
      Compare();
      if (::testing::Test::HasFatalFailure()) {
        FAIL() << "step " << step;
      }
    }
    guard_.reset();
    while (!held_.empty()) Release(0);
    cache_.reset();
    for (const size_t number : model_.created()) {
      ASSERT_EQ(deaths_.Of(number), 1) << number;
    }
    for (const FilterCache::Hint& hint : hints_) {
      ASSERT_EQ(hint.value.load(), nullptr);
    }
  }

 private:
  static constexpr int kSteps = 4000;

  struct Held {
    FilterCache::Handle* handle;
    size_t number;
  };

  uint64_t Below(uint64_t n) {
    return std::uniform_int_distribution<uint64_t>(0, n - 1)(random_);
  }
  static FilterCacheKey KeyOf(uint64_t key) {
    return {FileOf(key), key / kFiles};
  }

  void Step() {
    const uint64_t key = Below(kKeys);
    const uint64_t operation = Below(1000);
    if (operation < 350) {
      Lookup(key);
    } else if (operation < 650) {
      Insert(key);
    } else if (operation < 700) {
      cache_->Erase(KeyOf(key));
      model_.Erase(key);
    } else if (operation < 705) {
      cache_->EraseFile(FileOf(key));
      model_.EraseFile(FileOf(key));
    } else if (operation < 730) {
      cache_->DropHint(KeyOf(key), &hints_[key]);
      model_.DropHint(key);
    } else if (operation < 830) {
      hints_[key].used = true;
      model_.UseHint(key);
    } else if (operation < 850) {
      if (model_.InGuard()) {
        guard_.reset();
        model_.EndGuard();
      } else {
        guard_ = std::make_unique<base::EpochGuard>();
        model_.BeginGuard();
      }
    } else if (operation < 855) {
      if (!shape_.resizes) return;
      const size_t capacity_bytes = Below(2 * shape_.capacity_bytes);
      cache_->SetCapacity(capacity_bytes);
      model_.SetCapacity(capacity_bytes);
    } else if (!held_.empty()) {
      Release(Below(held_.size()));
    }
  }

  void Lookup(uint64_t key) {
    const bool with_hint = Below(2) == 0;
    FilterCache::Handle* handle =
        cache_->Lookup(KeyOf(key), with_hint ? &hints_[key] : nullptr);
    const size_t number = model_.Lookup(key, with_hint);
    ASSERT_EQ(handle == nullptr ? kNone : NumberOf(*cache_, handle), number);
    if (handle != nullptr) held_.push_back({handle, number});
  }

  void Insert(uint64_t key) {
    ModelValue value;
    value.number = next_number_++;
    value.worth = static_cast<double>(Below(4)) - 1;
    FilterCache::EntryOptions options;
    options.charge_bytes = Below(20) == 0 ? Below(3000) : Below(300);
    const uint64_t priority = Below(40);
    options.priority = priority == 0   ? FilterCachePriority::kPinned
                       : priority < 10 ? FilterCachePriority::kHigh
                                       : FilterCachePriority::kLow;
    options.role = static_cast<FilterCacheRole>(
        Below(static_cast<uint64_t>(FilterCacheRole::kCount)));
    if (Below(2) == 0) options.hint = &hints_[key];
    for (uint64_t parts = Below(2) * Below(4); parts > 0; --parts) {
      const size_t charge_bytes = 1 + Below(50);
      value.parts.push_back(
          {next_number_++, charge_bytes, static_cast<double>(Below(5))});
      options.charge_bytes += charge_bytes;
    }

    std::unique_ptr<FilterCache::Value> tracked =
        std::make_unique<TrackedValue>(value.number, &deaths_, value.worth,
                                       value.parts);
    FilterCache::Handle* handle = cache_->Insert(KeyOf(key), &tracked, options);
    ASSERT_EQ(handle != nullptr, model_.Insert(key, value, options));
    ASSERT_EQ(handle == nullptr, tracked != nullptr);
    if (handle != nullptr) held_.push_back({handle, value.number});
  }

  void Release(size_t index) {
    cache_->Release(held_[index].handle);
    model_.Release(held_[index].number);
    held_.erase(held_.begin() + static_cast<ptrdiff_t>(index));
  }

  void Compare() {
    const FilterCache::Usage usage = cache_->GetUsage();
    ASSERT_EQ(usage.ToString(), model_.GetUsage().ToString());
    if (!shape_.resizes) {
      ASSERT_LE(usage.usage_bytes, usage.capacity_bytes);
    }
    for (size_t bytes : {0, 100, 1000}) {
      ASSERT_EQ(cache_->Price({}, bytes), model_.Price(bytes));
    }
    for (const Held& h : held_) {
      ASSERT_EQ(NumberOf(*cache_, h.handle), h.number);
    }
    for (uint64_t key = 0; key < kKeys; ++key) {
      const FilterCache::Value* value = hints_[key].value.load();
      ASSERT_EQ(value == nullptr ? kNone : NumberOf(value),
                model_.HintOf(key).number);
      ASSERT_EQ(hints_[key].used.load(), model_.HintOf(key).used);
    }
    while (seen_ < model_.created().size()) {
      alive_.push_back(model_.created()[seen_++]);
    }
    for (size_t i = alive_.size(); i-- > 0;) {
      const bool lives = model_.IsAlive(alive_[i]);
      ASSERT_EQ(deaths_.Of(alive_[i]), lives ? 0 : 1) << alive_[i];
      if (!lives) alive_.erase(alive_.begin() + static_cast<ptrdiff_t>(i));
    }
  }

  std::mt19937 random_;
  const Shape shape_;
  Deaths deaths_{4 * kSteps};
  std::array<FilterCache::Hint, kKeys> hints_;
  Model model_;
  std::unique_ptr<FilterCache> cache_;
  std::unique_ptr<base::EpochGuard> guard_;
  std::vector<Held> held_;
  size_t next_number_ = 0;
  size_t seen_ = 0;            // Of the created ones.
  std::vector<size_t> alive_;  // Created, and not known to be dead.
};

void CompareRandomly(uint32_t first_seed, const Shape& shape) {
  for (const Policy policy : {Policy::kScanResistant, Policy::kPlainLru}) {
    for (uint32_t seed = first_seed; seed < first_seed + 10; ++seed) {
      SCOPED_TRACE(seed);
      Shape with_policy = shape;
      with_policy.policy = policy;
      ASSERT_NO_FATAL_FAILURE(ModelTest(seed, with_policy).Run());
    }
  }
}

TEST(ShardedLruCacheModel, AgreesWithFewHandles) {
  CompareRandomly(0, {Policy(), 5000, 2});
}

TEST(ShardedLruCacheModel, AgreesWithMoreHandlesThanFit) {
  CompareRandomly(100, {Policy(), 2000, 12});
}

TEST(ShardedLruCacheModel, AgreesWithRoomForAll) {
  CompareRandomly(200, {Policy(), 1 << 20, 20});
}

TEST(ShardedLruCacheModel, AgreesWhileItsCapacityChanges) {
  CompareRandomly(300, {Policy(), 3000, 4, true});
}

}  // namespace
}  // namespace rowbloom::cache
