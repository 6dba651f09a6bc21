// SPDX-License-Identifier: Apache-2.0
//
// Applies random operations to the cache and to a slow, obvious model. After
// each one, both must agree on everything that a caller can see.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "cache/lru_cache.h"
#include "cache/tracked_value.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"
#include "util/epoch.h"

namespace rowbloom::internal::cache {
namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr uint64_t kFiles = 5;
constexpr uint64_t kKeys = 30;

uint64_t FileOf(uint64_t key) { return key % kFiles; }

struct ModelShortcut {
  size_t number = kNone;  // The number of the value that it points to.
  bool used = false;
};

struct ModelValue {
  size_t number = 0;
  bool is_chunk = false;  // Only chunks have a shortcut, worth and parts.
  double worth = -1;
  std::vector<TrackedPart> parts;

  double Worth() const { return parts.empty() ? worth : parts.back().worth; }
};

// Values are known by their numbers, shortcuts by their keys.
class Model {
 public:
  explicit Model(size_t capacity_bytes) {
    usage_.capacity_bytes = capacity_bytes;
  }

  size_t Lookup(uint64_t key) {
    Item* item = Cached(key);
    ++(item == nullptr ? usage_.misses : usage_.hits);
    if (item == nullptr) return kNone;
    ++item->handle_count;
    item->found = true;
    return item->number;
  }

  bool Insert(uint64_t key, const ModelValue& value,
              const FilterCache::EntryOptions& options) {
    const size_t charge_bytes = options.charge_bytes + kEntryOverheadBytes;
    bool fits = GetUsage().pinned_bytes + charge_bytes <= usage_.capacity_bytes;
    if (fits) {
      Forget(Cached(key));
      MakeRoom(charge_bytes);
      fits = GetUsage().usage_bytes + charge_bytes <= usage_.capacity_bytes;
    }
    ++(fits ? usage_.inserts : usage_.rejections);
    if (!fits) return false;
    ++created_count_;
    Item& item = items_.emplace_back(Item{value});
    item.key = key;
    item.charge_bytes = charge_bytes;
    item.priority = options.priority;
    item.role = options.role;
    item.handle_count = 1;
    item.cached = true;
    if (value.is_chunk) SetShortcut(&item, true);
    return true;
  }

  void Release(size_t number) {
    const auto item =
        std::find_if(items_.begin(), items_.end(),
                     [&](const Item& i) { return i.number == number; });
    if (--item->handle_count > 0) return;
    item->stamp = ++now_;
    item->is_protected = false;
    if (item->cached && item->found) Use(&*item);
    FreePassed();
  }

  void Erase(uint64_t key) {
    Forget(Cached(key));
    FreePassed();
  }

  void EraseFile(uint64_t file) {
    for (uint64_t key = file; key < kKeys; key += kFiles) Forget(Cached(key));
    FreePassed();
  }

  void DropShortcut(uint64_t key) {
    Item* item = Cached(key);
    if (item != nullptr && item->has_shortcut) SetShortcut(item, false);
  }

  void SetCapacity(size_t capacity_bytes) {
    usage_.capacity_bytes = capacity_bytes;
    LimitProtected();
    MakeRoom(0);
  }

  void BeginGuard() { guard_began_ = epoch_; }
  void EndGuard() { guard_began_.reset(); }

  void UseShortcut(uint64_t key) { shortcuts_[key].used = true; }
  const ModelShortcut& ShortcutOf(uint64_t key) const {
    return shortcuts_[key];
  }

  struct Item : ModelValue {
    uint64_t key = 0;
    size_t charge_bytes = 0;
    FilterCachePriority priority = FilterCachePriority::kNormal;
    FilterCacheRole role = FilterCacheRole::kOther;
    int handle_count = 0;
    bool cached = false;
    bool has_shortcut = false;
    bool found = false;
    bool is_protected = false;
    uint64_t stamp = 0;  // The time of the last use.
    uint64_t epoch = 0;  // The epoch in which it was removed.

    bool IsPinned() const {
      return handle_count > 0 ||
             (cached && priority == FilterCachePriority::kPinned);
    }
    bool IsRetired() const { return handle_count == 0 && !cached; }
  };
  // Returns the values that are not destroyed.
  const std::list<Item>& items() const { return items_; }

  // Returns the number of values that were cached and of parts given up.
  size_t created_count() const { return created_count_; }

  double price() const { return price_; }

  FilterCache::Usage GetUsage() const {
    FilterCache::Usage usage = usage_;
    for (const Item& item : items_) {
      usage.usage_bytes += item.charge_bytes;
      usage.role_bytes[static_cast<size_t>(item.role)] += item.charge_bytes;
      if (item.IsPinned()) usage.pinned_bytes += item.charge_bytes;
      if (item.IsRetired()) usage.retired_bytes += item.charge_bytes;
      ++usage.entry_count;
    }
    return usage;
  }

 private:
  Item* Cached(uint64_t key) {
    for (Item& item : items_) {
      if (item.cached && item.key == key) return &item;
    }
    return nullptr;
  }

  // Returns the entries of one LRU list that can be evicted, oldest first.
  std::vector<Item*> Idle(bool is_protected) {
    std::vector<Item*> idle;
    for (Item& item : items_) {
      if (item.cached && !item.IsPinned() &&
          item.is_protected == is_protected) {
        idle.push_back(&item);
      }
    }
    std::sort(idle.begin(), idle.end(),
              [](Item* a, Item* b) { return a->stamp < b->stamp; });
    return idle;
  }

  void SetShortcut(Item* item, bool has_shortcut) {
    item->has_shortcut = has_shortcut;
    shortcuts_[item->key].number = has_shortcut ? item->number : kNone;
  }

  // Does nothing if `item` is nullptr.
  void Forget(Item* item) {
    if (item == nullptr) return;
    if (item->has_shortcut) SetShortcut(item, false);
    item->cached = false;
    item->epoch = epoch_++;
  }

  void FreePassed() {
    items_.remove_if([&](const Item& item) {
      return item.IsRetired() &&
             (!item.is_chunk || !guard_began_ || *guard_began_ > item.epoch);
    });
  }

  void Use(Item* item) {
    item->stamp = ++now_;
    item->is_protected = item->Worth() < 0;
    LimitProtected();
  }

  void LimitProtected() {
    const size_t limit = usage_.capacity_bytes - usage_.capacity_bytes / 5;
    const std::vector<Item*> all = Idle(/*is_protected=*/true);
    size_t bytes = 0;
    for (const Item* item : all) bytes += item->charge_bytes;
    for (Item* oldest : all) {
      if (bytes <= limit) return;
      bytes -= oldest->charge_bytes;
      oldest->is_protected = false;
      oldest->stamp = ++now_;
    }
  }

  Item* Victim() {
    for (const bool is_protected : {false, true}) {
      std::vector<Item*> candidates;
      // There are fewer entries than the cache considers at a time.
      static_assert(kKeys <= 32);
      while (true) {
        const std::vector<Item*> idle = Idle(is_protected);
        // The candidates are the oldest ones.
        if (idle.size() == candidates.size()) break;
        Item* next = idle[candidates.size()];
        const bool is_least = next->Worth() < 0;
        if (is_least && next->has_shortcut && shortcuts_[next->key].used) {
          shortcuts_[next->key].used = false;
          Use(next);
        } else {
          candidates.push_back(next);
          if (is_least) break;
        }
      }
      if (candidates.empty()) continue;
      Item* victim = *std::min_element(
          candidates.begin(), candidates.end(),
          [](Item* a, Item* b) { return a->Worth() < b->Worth(); });
      for (Item* item : candidates) {
        if (item->Worth() > victim->Worth()) item->stamp = ++now_;
      }
      return victim;
    }
    return nullptr;
  }

  void MakeRoom(size_t charge_bytes) {
    const auto fits = [&] {
      const FilterCache::Usage usage = GetUsage();
      return usage.usage_bytes - usage.retired_bytes + charge_bytes <=
             usage.capacity_bytes;
    };
    while (!fits()) {
      Item* victim = Victim();
      if (victim == nullptr) break;
      price_ = std::max(price_, victim->Worth());
      if (victim->parts.empty()) {
        ++usage_.evictions;
        Forget(victim);
        continue;
      }
      ++usage_.shrinks;
      const TrackedPart part = victim->parts.back();
      victim->parts.pop_back();
      victim->charge_bytes -= part.charge_bytes;
      ++created_count_;
      Item& given_up = items_.emplace_back();
      given_up.number = part.number;
      given_up.is_chunk = true;
      given_up.charge_bytes = part.charge_bytes;
      given_up.role = victim->role;
      given_up.epoch = epoch_++;
    }
    FreePassed();
  }

  FilterCache::Usage usage_;  // Only the capacity and the event counts.
  std::list<Item> items_;
  std::array<ModelShortcut, kKeys> shortcuts_;
  size_t created_count_ = 0;
  double price_ = 0;
  uint64_t now_ = 0;
  uint64_t epoch_ = 0;
  std::optional<uint64_t> guard_began_;
};

class ModelTest {
 public:
  ModelTest(uint32_t seed, size_t capacity_bytes, size_t max_handles,
            bool resizes)
      : random_(seed),
        capacity_bytes_(capacity_bytes),
        max_handles_(max_handles),
        resizes_(resizes),
        model_(capacity_bytes),
        cache_(NewShardedLruCache({capacity_bytes, 0})),
        chunks_(&ChunkCache::Of(*cache_)) {}
  ~ModelTest() {
    for (const Held& h : held_) cache_->Release(h.handle);
  }

  void Run() {
    for (int step = 0; step < kSteps; ++step) {
      Step();
      while (held_.size() > max_handles_) Release(Below(held_.size()));
      Compare();
      if (::testing::Test::HasFatalFailure()) FAIL() << "step " << step;
    }
    guard_.reset();
    while (!held_.empty()) Release(0);
    cache_.reset();
    ASSERT_EQ(deaths_.Total(), model_.created_count() + refused_count_);
    for (const Shortcut& shortcut : shortcuts_) {
      ASSERT_EQ(shortcut.filter.load(), nullptr);
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
      FilterCache::Handle* handle = cache_->Lookup(KeyOf(key));
      const size_t number = model_.Lookup(key);
      ASSERT_EQ(handle == nullptr ? kNone : NumberOf(*cache_, handle), number);
      if (handle != nullptr) held_.push_back({handle, number});
    } else if (operation < 650) {
      Insert(key);
    } else if (operation < 700) {
      cache_->Erase(KeyOf(key));
      model_.Erase(key);
    } else if (operation < 705) {
      cache_->EraseFile(FileOf(key));
      model_.EraseFile(FileOf(key));
    } else if (operation < 730) {
      chunks_->DropShortcut(KeyOf(key), &shortcuts_[key]);
      model_.DropShortcut(key);
    } else if (operation < 830) {
      shortcuts_[key].used = true;
      model_.UseShortcut(key);
    } else if (operation < 850) {
      if (guard_ != nullptr) {
        guard_.reset();
        model_.EndGuard();
      } else {
        guard_ = std::make_unique<util::EpochGuard>();
        model_.BeginGuard();
      }
    } else if (operation < 855) {
      if (!resizes_) return;
      const size_t capacity_bytes = Below(2 * capacity_bytes_);
      cache_->SetCapacity(capacity_bytes);
      model_.SetCapacity(capacity_bytes);
    } else if (!held_.empty()) {
      Release(Below(held_.size()));
    }
  }

  void Insert(uint64_t key) {
    ModelValue value;
    value.number = next_number_++;
    FilterCache::EntryOptions options;
    options.charge_bytes = Below(20) == 0 ? Below(3000) : Below(300);
    if (Below(40) == 0) options.priority = FilterCachePriority::kPinned;
    options.role = static_cast<FilterCacheRole>(
        Below(static_cast<uint64_t>(FilterCacheRole::kCount)));
    value.is_chunk = Below(4) > 0;
    if (value.is_chunk) {
      value.worth = static_cast<double>(Below(4)) - 1;
      for (uint64_t parts = Below(2) * Below(4); parts > 0; --parts) {
        const size_t charge_bytes = 1 + Below(50);
        value.parts.push_back(
            {next_number_++, charge_bytes, static_cast<double>(Below(5))});
        options.charge_bytes += charge_bytes;
      }
    }

    const auto insert = [&](auto tracked, auto insert_it) {
      tracked = std::make_unique<TrackedValue>(value.number, &deaths_,
                                               value.worth, value.parts);
      FilterCache::Handle* handle = insert_it(&tracked);
      EXPECT_EQ(handle == nullptr, tracked != nullptr);
      return handle;
    };
    FilterCache::Handle* handle =
        value.is_chunk
            ? insert(std::unique_ptr<CachedFilter>(),
                     [&](auto* filter) {
                       return chunks_->InsertFilter(KeyOf(key), filter, options,
                                                    &shortcuts_[key]);
                     })
            : insert(std::unique_ptr<FilterCache::Value>(), [&](auto* other) {
                return cache_->Insert(KeyOf(key), other, options);
              });
    if (handle == nullptr) ++refused_count_;
    ASSERT_EQ(handle != nullptr, model_.Insert(key, value, options));
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
    if (!resizes_) {
      ASSERT_LE(usage.usage_bytes, usage.capacity_bytes);
    }
    const auto room_beside = [&](size_t bytes) {
      return usage.capacity_bytes -
             std::min(usage.capacity_bytes, bytes + kEntryOverheadBytes);
    };
    const Room room = chunks_->RoomFor({});
    ASSERT_EQ(room.free_bytes, room_beside(usage.usage_bytes));
    ASSERT_EQ(room.max_charge_bytes, room_beside(usage.pinned_bytes));
    ASSERT_EQ(room.price, model_.price());
    for (const Held& h : held_) {
      ASSERT_EQ(NumberOf(*cache_, h.handle), h.number);
    }
    for (uint64_t key = 0; key < kKeys; ++key) {
      const CachedFilter* filter = shortcuts_[key].filter.load();
      ASSERT_EQ(filter == nullptr ? kNone : NumberOf(filter),
                model_.ShortcutOf(key).number);
      ASSERT_EQ(shortcuts_[key].used.load(), model_.ShortcutOf(key).used);
    }
    for (const Model::Item& item : model_.items()) {
      ASSERT_EQ(deaths_.Of(item.number), 0) << item.number;
    }
    ASSERT_EQ(deaths_.Total(),
              model_.created_count() + refused_count_ - model_.items().size());
  }

  std::mt19937 random_;
  const size_t capacity_bytes_;  // The initial capacity.
  const size_t max_handles_;
  const bool resizes_;
  Deaths deaths_{4 * kSteps};
  std::array<Shortcut, kKeys> shortcuts_;
  Model model_;
  std::unique_ptr<FilterCache> cache_;
  ChunkCache* const chunks_;
  std::unique_ptr<util::EpochGuard> guard_;
  std::vector<Held> held_;
  size_t next_number_ = 0;
  size_t refused_count_ = 0;
};

struct ModelSetting {
  const char* name;
  size_t capacity_bytes;
  size_t max_handles;
  bool resizes = false;
};

TEST(ShardedLruCacheModel, Agrees) {
  uint32_t seed = 0;
  for (const ModelSetting& setting :
       {ModelSetting{"few handles", 5000, 2},
        ModelSetting{"more handles than fit", 2000, 12},
        ModelSetting{"room for all", 1 << 20, 20},
        ModelSetting{"capacity that changes", 3000, 4, true}}) {
    for (int i = 0; i < 20; ++i) {
      SCOPED_TRACE(absl::StrCat(setting.name, ", seed ", ++seed));
      ASSERT_NO_FATAL_FAILURE(ModelTest(seed, setting.capacity_bytes,
                                        setting.max_handles, setting.resizes)
                                  .Run());
    }
  }
}

}  // namespace
}  // namespace rowbloom::internal::cache
