// SPDX-License-Identifier: Apache-2.0

#include "cache/lru_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "cache/cached_chunks.h"
#include "cache/chunk_memory.h"
#include "cache/load_ledger.h"
#include "cache/load_rules.h"
#include "rowbloom/filter_cache.h"
#include "util/check.h"
#include "util/epoch.h"

namespace rowbloom::internal::cache {
namespace {

// The number of used entries that one eviction passes over, which bounds the
// time under the lock.
constexpr int kMaxSecondChances = 64;
// The number of times that an insert asks, for microseconds each, whether the
// entries evicted for it can be freed.
constexpr int kFreeAttempts = 8;

void Unlink(Link* link) {
  link->next->prev = link->prev;
  link->prev->next = link->next;
}

void LinkBefore(Link* link, Link* position) {
  link->next = position;
  link->prev = position->prev;
  link->prev->next = link;
  position->prev = link;
}

void UnlinkFromList(Entry* entry) {
  Unlink(entry);
  entry->list->charge_bytes -= entry->charge_bytes;
}

void LinkAsNewest(Entry* entry, LruList* list) {
  entry->list = list;
  list->charge_bytes += entry->charge_bytes;
  LinkBefore(entry, &list->head);
}

// True if the entry was used through its shortcut since the last call.
bool TakeUse(const Entry& entry) {
  if (entry.shortcut == nullptr ||
      !entry.shortcut->used.load(std::memory_order_relaxed)) {
    return false;
  }
  entry.shortcut->used.store(false, std::memory_order_relaxed);
  return true;
}

double WorthOf(const Entry& entry) {
  return entry.filter == nullptr ? CachedFilter::kUnknownWorth
                                 : entry.filter->Worth();
}

}  // namespace

DeadList::~DeadList() {
  while (first_ != nullptr) {
    delete static_cast<Entry*>(std::exchange(first_, first_->next));
  }
}

LruShard::~LruShard() {
  // Once entries of priority kPinned are gone, only a handle can pin. No need
  // to wait for epochs: the cache outlives every use of a shortcut.
  for (auto it = table_.begin(); it != table_.end();) {
    DeadList dead;
    TakeFromTable(*it++, &dead);
  }
  // No handle outlives the cache. ~ChunkCache() reports readers that do.
  RB_CHECK(usage_.pinned_bytes == charged_bytes_,
           "a FilterCache is destroyed before a handle of it is released");
  while (retired_.next != &retired_) {
    DeadList dead;
    Free(static_cast<Entry*>(retired_.next), &dead);
  }
}

Entry* LruShard::Lookup(const HashedKey& key, bool counts) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = table_.find(key);
  const bool is_hit = it != table_.end();
  if (counts) ++(is_hit ? usage_.hits : usage_.misses);
  if (!is_hit) return nullptr;
  Hold(*it);
  (*it)->was_found = true;
  return *it;
}

Entry* LruShard::Insert(const HashedKey& key,
                        std::unique_ptr<FilterCache::Value>* value,
                        const FilterCache::EntryOptions& options,
                        const CachedFilter* filter, Shortcut* shortcut) {
  auto entry = std::make_unique<Entry>();
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  // There may be room by now for readers that found none.
  if (charged_bytes_ != reader_bytes_) ChargeReaders(&dead);
  // Every entry that is not pinned could be evicted.
  if (options.charge_bytes > SIZE_MAX - kEntryOverheadBytes ||
      !Fits(options.charge_bytes + kEntryOverheadBytes, usage_.pinned_bytes)) {
    ++usage_.rejections;
    return nullptr;
  }
  entry->key = key;
  entry->charge_bytes = options.charge_bytes + kEntryOverheadBytes;
  entry->priority = options.priority;
  entry->role = options.role;

  if (auto it = table_.find(key); it != table_.end()) TakeFromTable(*it, &dead);
  if (!FreeRoom(entry->charge_bytes, &dead)) {
    ++usage_.rejections;
    return nullptr;
  }

  ++usage_.inserts;
  entry->value = std::move(*value);
  entry->filter = filter;
  entry->handle_count = 1;
  entry->in_table = true;
  Account(entry.get());
  usage_.pinned_bytes += entry->charge_bytes;
  table_.insert(entry.get());
  SetShortcut(entry.get(), shortcut);
  return entry.release();
}

void LruShard::Release(Entry* entry) {
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  RB_CHECK(entry->handle_count > 0,
           "FilterCache::Release(): the handle has been released before");
  if (--entry->handle_count > 0) return;
  const bool stays_pinned =
      entry->in_table && entry->priority == FilterCachePriority::kPinned;
  if (!stays_pinned) {
    usage_.pinned_bytes -= entry->charge_bytes;
    if (!entry->in_table) {
      Retire(entry, &dead);
    } else if (entry->was_found) {
      LinkUsed(entry);
    } else {
      LinkAsNewest(entry, &lists_[kProbation]);
    }
  }
  FreeRetired(&dead);
}

void LruShard::Erase(const HashedKey& key) {
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = table_.find(key);
  if (it != table_.end()) TakeFromTable(*it, &dead);
  FreeRetired(&dead);
}

void LruShard::EraseFile(uint64_t file_id) {
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = table_.begin(); it != table_.end();) {
    Entry* entry = *it++;
    if (entry->key.key.file_id == file_id) TakeFromTable(entry, &dead);
  }
  FreeRetired(&dead);
}

void LruShard::Adopt(Entry* entry,
                     const std::function<void(CachedFilter*)>& take,
                     Shortcut* shortcut) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!entry->in_table || entry->shortcut != nullptr) return;
  take(static_cast<CachedFilter*>(entry->value.get()));
  SetShortcut(entry, shortcut);
}

void LruShard::DropShortcut(const HashedKey& key, const Shortcut* shortcut) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = table_.find(key);
  if (it != table_.end() && (*it)->shortcut == shortcut) {
    SetShortcut(*it, nullptr);
  }
}

void LruShard::ChargeReader(size_t bytes) {
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  reader_bytes_ += bytes;
  if (!ChargeReaders(&dead)) ++usage_.rejections;
}

void LruShard::DropReader(size_t bytes) {
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  reader_bytes_ -= bytes;
  ChargeReaders(&dead);
}

bool LruShard::ChargeReaders(DeadList* dead) {
  const size_t held_bytes = usage_.pinned_bytes - charged_bytes_;
  const size_t charge_bytes =
      std::min({reader_bytes_, capacity_bytes_ / 2,
                capacity_bytes_ - std::min(capacity_bytes_, held_bytes)});
  if (charge_bytes <= charged_bytes_ ||
      FreeRoom(charge_bytes - charged_bytes_, dead)) {
    for (size_t* sum : {&RoleBytes(FilterCacheRole::kIndex),
                        &usage_.usage_bytes, &usage_.pinned_bytes}) {
      *sum = *sum - charged_bytes_ + charge_bytes;
    }
    charged_bytes_ = charge_bytes;
  }
  return charged_bytes_ == reader_bytes_;
}

void LruShard::SetCapacity(size_t capacity_bytes) {
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  capacity_bytes_ = capacity_bytes;
  ChargeReaders(&dead);
  LimitProtected();
  MakeRoom(0, &dead);
}

void LruShard::AddUsage(FilterCache::Usage* usage) const {
  std::lock_guard<std::mutex> lock(mutex_);
  usage->usage_bytes += usage_.usage_bytes;
  usage->pinned_bytes += usage_.pinned_bytes;
  usage->index_bytes_outside += reader_bytes_ - charged_bytes_;
  usage->retired_bytes += retired_bytes_;
  usage->entry_count += usage_.entry_count;
  for (size_t i = 0; i < usage_.role_bytes.size(); ++i) {
    usage->role_bytes[i] += usage_.role_bytes[i];
  }
  usage->hits += usage_.hits;
  usage->misses += usage_.misses;
  usage->inserts += usage_.inserts;
  usage->evictions += usage_.evictions;
  usage->shrinks += usage_.shrinks;
  usage->rejections += usage_.rejections;
}

Room LruShard::RoomForEntry() const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto beside = [this](size_t taken_bytes) {
    return capacity_bytes_ -
           std::min(capacity_bytes_, taken_bytes + kEntryOverheadBytes);
  };
  return {beside(usage_.usage_bytes), beside(usage_.pinned_bytes), PriceNow()};
}

double LruShard::PriceNow() const {
  const LoadLedger::Moment now = ledger_->Now();
  const double half_lives = static_cast<double>(now.lookups - priced_.lookups) /
                            static_cast<double>(ledger_->HalfLifeLookups());
  return price_ * std::exp2(-half_lives);
}

void LruShard::Account(Entry* entry) {
  ++usage_.entry_count;
  usage_.usage_bytes += entry->charge_bytes;
  RoleBytes(entry->role) += entry->charge_bytes;
}

void LruShard::SetShortcut(Entry* entry, Shortcut* shortcut) {
  // An exchange is in one total order with the loads of guarded lookups.
  if (entry->shortcut != nullptr) entry->shortcut->filter.exchange(nullptr);
  entry->shortcut = shortcut;
  if (shortcut == nullptr) return;
  entry->had_shortcut = true;
  shortcut->filter.exchange(entry->filter);
}

// idle or held -> held.
void LruShard::Hold(Entry* entry) {
  if (entry->handle_count++ > 0) return;
  if (entry->priority == FilterCachePriority::kPinned) return;
  UnlinkFromList(entry);
  usage_.pinned_bytes += entry->charge_bytes;
}

// idle -> retired or dead, held -> detached.
void LruShard::TakeFromTable(Entry* entry, DeadList* dead) {
  RB_DCHECK(entry->in_table);
  table_.erase(entry);
  entry->in_table = false;
  SetShortcut(entry, nullptr);
  if (entry->had_shortcut) entry->epoch = util::RetireEpoch();
  if (entry->handle_count > 0) return;
  if (entry->priority == FilterCachePriority::kPinned) {
    usage_.pinned_bytes -= entry->charge_bytes;
  } else {
    UnlinkFromList(entry);
  }
  Retire(entry, dead);
}

void LruShard::Retire(Entry* entry, DeadList* dead) {
  LinkBefore(entry, &retired_);
  retired_bytes_ += entry->charge_bytes;
  if (!entry->had_shortcut) Free(entry, dead);
}

// retired -> dead.
void LruShard::Free(Entry* entry, DeadList* dead) {
  Unlink(entry);
  retired_bytes_ -= entry->charge_bytes;
  usage_.usage_bytes -= entry->charge_bytes;
  RoleBytes(entry->role) -= entry->charge_bytes;
  --usage_.entry_count;
  dead->Add(entry);
}

void LruShard::FreeRetired(DeadList* dead) {
  if (retired_.next == &retired_) return;
  const uint64_t first_guarded = util::FirstGuardedEpoch();
  for (Link* link = retired_.next; link != &retired_;) {
    Entry* entry = static_cast<Entry*>(link);
    link = link->next;
    if (entry->epoch < first_guarded) Free(entry, dead);
  }
}

void LruShard::LinkUsed(Entry* entry) {
  // Entries of known worth stay on probation, where they all compete.
  LinkAsNewest(entry, &lists_[WorthOf(*entry) >= 0 ? kProbation : kProtected]);
  LimitProtected();
}

void LruShard::LimitProtected() {
  LruList& guarded = lists_[kProtected];
  while (guarded.charge_bytes > capacity_bytes_ - capacity_bytes_ / 5) {
    Entry* oldest = static_cast<Entry*>(guarded.head.next);
    UnlinkFromList(oldest);
    LinkAsNewest(oldest, &lists_[kProbation]);
  }
}

LruShard::Victim LruShard::ChooseVictim() {
  int second_chances = kMaxSecondChances;
  for (LruList& list : lists_) {
    std::array<Entry*, LoadRules::kCandidates> candidates;
    std::array<double, LoadRules::kCandidates> worths;
    size_t count = 0;
    size_t least = 0;
    Link* passed = &list.head;  // The last candidate.
    while (count < LoadRules::kCandidates && passed->next != &list.head) {
      Entry* entry = static_cast<Entry*>(passed->next);
      // The worth of an entry includes its uses.
      const double worth = WorthOf(*entry);
      if (worth < 0 && second_chances > 0 && TakeUse(*entry)) {
        --second_chances;
        UnlinkFromList(entry);
        LinkUsed(entry);
        continue;
      }
      passed = entry;
      candidates[count] = entry;
      worths[count] = worth;
      if (worth < worths[least]) least = count;
      ++count;
      if (worth < 0) break;  // No entry is worth less.
    }
    if (count == 0) continue;
    // Otherwise the same high-value entries would be candidates every time.
    for (size_t i = 0; i < count; ++i) {
      if (!(worths[i] > worths[least])) continue;
      UnlinkFromList(candidates[i]);
      LinkAsNewest(candidates[i], &list);
    }
    return {candidates[least], worths[least]};
  }
  return {};
}

bool LruShard::EvictOne(DeadList* dead) {
  const auto [victim, worth] = ChooseVictim();
  if (victim == nullptr) return false;
  price_ = std::max(PriceNow(), worth);
  priced_ = ledger_->Now();

  size_t freed_bytes = 0;
  std::unique_ptr<CachedFilter> smaller;
  if (victim->filter != nullptr) smaller = victim->filter->Shrunk(&freed_bytes);
  if (smaller == nullptr) {
    ++usage_.evictions;
    TakeFromTable(victim, dead);
    return true;
  }
  RB_CHECK(freed_bytes > 0 &&
               freed_bytes <= victim->charge_bytes - kEntryOverheadBytes,
           "CachedFilter::Shrunk(): the part is not within the charge");
  ++usage_.shrinks;
  victim->filter = smaller.get();
  if (victim->shortcut != nullptr) {
    victim->shortcut->filter.exchange(victim->filter);
  }
  victim->charge_bytes -= freed_bytes;
  victim->list->charge_bytes -= freed_bytes;
  ++usage_.entry_count;
  auto retired = std::make_unique<Entry>();
  retired->value = std::exchange(victim->value, std::move(smaller));
  retired->charge_bytes = freed_bytes;
  retired->role = victim->role;
  retired->had_shortcut = victim->had_shortcut;
  if (retired->had_shortcut) retired->epoch = util::RetireEpoch();
  Retire(retired.release(), dead);
  return true;
}

void LruShard::MakeRoom(size_t charge_bytes, DeadList* dead) {
  while (!Fits(charge_bytes, usage_.usage_bytes - retired_bytes_) &&
         EvictOne(dead)) {
  }
  FreeRetired(dead);
}

bool LruShard::FreeRoom(size_t charge_bytes, DeadList* dead) {
  MakeRoom(charge_bytes, dead);
  // Lookups may still see retired entries, but not for long.
  for (int attempt = 0; !Fits(charge_bytes, usage_.usage_bytes); ++attempt) {
    if (attempt == kFreeAttempts) return false;
    FreeRetired(dead);
  }
  return true;
}

namespace {

constexpr int kMaxChosenShardBits = 6;
// An entry must fit into its shard: 64 chunks of the default size do.
constexpr size_t kMinChosenShardSize = 8 << 20;
// Smaller ones fit what a processor finds without huge pages.
constexpr size_t kMinHugeCapacity = 64 << 20;

// File ids and chunk numbers are sequential: every bit has to be mixed. The
// table uses the low bits first, the choice of shard the high ones.
HashedKey HashKey(const FilterCacheKey& key) {
  static_assert(std::has_unique_object_representations_v<FilterCacheKey>);
  return {key, XXH3_64bits(&key, sizeof(key))};
}

int ShardBits(const ShardedLruCacheOptions& options) {
  RB_CHECK(options.shard_bits >= -1 &&
               options.shard_bits <= ShardedLruCacheOptions::kMaxShardBits,
           "NewShardedLruCache(): shard_bits must be -1 (chosen) or 0 to 16");
  if (options.shard_bits >= 0) return options.shard_bits;
  int bits = 0;
  while (bits < kMaxChosenShardBits &&
         options.capacity_bytes >> (bits + 1) >= kMinChosenShardSize) {
    ++bits;
  }
  return bits;
}

bool UsesHugePages(const ShardedLruCacheOptions& options) {
  return options.huge_pages && options.capacity_bytes >= kMinHugeCapacity;
}

// The handle that callers see for an entry. EntryOf() is the inverse.
FilterCache::Handle* HandleOf(Entry* entry) {
  return reinterpret_cast<FilterCache::Handle*>(entry);
}

Entry* EntryOf(FilterCache::Handle* handle) {
  return reinterpret_cast<Entry*>(handle);
}

class ShardedLruCache final : public ChunkCache {
 public:
  explicit ShardedLruCache(const ShardedLruCacheOptions& options)
      : ChunkCache(std::make_unique<ChunkMemory>(UsesHugePages(options))),
        shard_bits_(ShardBits(options)),
        shards_(size_t{1} << shard_bits_) {
    for (LruShard& shard : shards_) shard.Init(&ledger());
    ShardedLruCache::SetCapacity(options.capacity_bytes);
  }

  Value* ValueOf(Handle* handle) const override {
    RB_CHECK(handle != nullptr, "FilterCache::ValueOf(): the handle is null");
    return EntryOf(handle)->value.get();
  }

  void Release(Handle* handle) override {
    RB_CHECK(handle != nullptr, "FilterCache::Release(): the handle is null");
    Entry* entry = EntryOf(handle);
    ShardOf(entry->key).Release(entry);
  }

  void Erase(const FilterCacheKey& key) override {
    const HashedKey hashed = HashKey(key);
    ShardOf(hashed).Erase(hashed);
  }

  void EraseFile(uint64_t file_id) override {
    for (LruShard& shard : shards_) shard.EraseFile(file_id);
  }

  void AdoptFilter(Handle* handle,
                   const std::function<void(CachedFilter*)>& take,
                   Shortcut* shortcut) override {
    Entry* entry = EntryOf(handle);
    ShardOf(entry->key).Adopt(entry, take, shortcut);
  }

  void DropShortcut(const FilterCacheKey& key, Shortcut* shortcut) override {
    const HashedKey hashed = HashKey(key);
    ShardOf(hashed).DropShortcut(hashed, shortcut);
  }

  void SetCapacity(size_t capacity_bytes) override {
    std::lock_guard<std::mutex> lock(resize_mutex_);
    ledger().GrantUpTo(capacity_bytes);
    memory()->SetCapacity(capacity_bytes);
    capacity_bytes_.store(capacity_bytes, std::memory_order_relaxed);
    for (LruShard& shard : shards_) {
      shard.SetCapacity(capacity_bytes >> shard_bits_);
    }
  }

  Usage GetUsage() const override {
    Usage usage;
    usage.capacity_bytes = capacity_bytes_.load(std::memory_order_relaxed);
    usage.resident_bytes = memory()->resident_bytes();
    for (const LruShard& shard : shards_) shard.AddUsage(&usage);
    const uint64_t lookups = ledger().lookups();
    const uint64_t misses = std::min(lookups, ledger().misses());
    usage.hits += lookups - misses;
    usage.misses += misses;
    return usage;
  }

  Room RoomFor(const FilterCacheKey& key) const override {
    return ShardOf(HashKey(key)).RoomForEntry();
  }

  void ChargeReader(const void* reader, size_t bytes) override {
    ShardOfReader(reader).ChargeReader(bytes);
  }
  void DropReader(const void* reader, size_t bytes) override {
    ShardOfReader(reader).DropReader(bytes);
  }

 private:
  Handle* FindEntry(const FilterCacheKey& key, bool counts) override {
    const HashedKey hashed = HashKey(key);
    return HandleOf(ShardOf(hashed).Lookup(hashed, counts));
  }
  Handle* InsertEntry(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                      const EntryOptions& options, const CachedFilter* filter,
                      Shortcut* shortcut) override {
    const HashedKey hashed = HashKey(key);
    return HandleOf(
        ShardOf(hashed).Insert(hashed, value, options, filter, shortcut));
  }

  LruShard& ShardOfReader(const void* reader) {
    return ShardOf(HashKey({reinterpret_cast<uintptr_t>(reader), 0}));
  }
  const LruShard& ShardOf(const HashedKey& key) const {
    return const_cast<ShardedLruCache*>(this)->ShardOf(key);
  }
  LruShard& ShardOf(const HashedKey& key) {
    // Shifts in two steps, because a shift by 64 is undefined.
    return shards_[key.hash >> 1 >> (63 - shard_bits_)];
  }

  const int shard_bits_;
  std::mutex resize_mutex_;  // Gives all shards the same call's capacity.
  std::atomic<size_t> capacity_bytes_{0};
  std::vector<LruShard> shards_;
};

}  // namespace
}  // namespace rowbloom::internal::cache

namespace rowbloom {

std::unique_ptr<FilterCache> NewShardedLruCache(
    const ShardedLruCacheOptions& options) {
  return std::make_unique<internal::cache::ShardedLruCache>(options);
}

}  // namespace rowbloom
