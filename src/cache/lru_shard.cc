// SPDX-License-Identifier: Apache-2.0

#include "cache/lru_shard.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "util/check.h"
#include "util/epoch.h"

namespace rowbloom::cache {
namespace {

// The number of chunks among which the one of the lowest worth is evicted.
constexpr size_t kCandidateCount = 32;
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

void UnlinkFromSegment(Entry* entry) {
  Unlink(entry);
  entry->segment->charge_bytes -= entry->charge_bytes;
}

void LinkAsNewest(Entry* entry, Segment* segment) {
  entry->segment = segment;
  segment->charge_bytes += entry->charge_bytes;
  LinkBefore(entry, &segment->list);
}

// True if the entry was used through its slot since the last call.
bool TakeUse(const Entry& entry) {
  if (entry.slot == nullptr ||
      !entry.slot->used.load(std::memory_order_relaxed)) {
    return false;
  }
  entry.slot->used.store(false, std::memory_order_relaxed);
  return true;
}

double WorthOf(const Entry& entry) {
  return entry.chunk == nullptr ? ChunkValue::kUnknownWorth
                                : entry.chunk->Worth();
}

}  // namespace

DeadList::~DeadList() {
  while (first_ != nullptr) {
    delete static_cast<Entry*>(std::exchange(first_, first_->next));
  }
}

LruShard::~LruShard() {
  // Once entries of priority kPinned are gone, only a handle can pin. No need
  // to wait for epochs: the cache outlives every use of a slot.
  while (!table_.empty()) {
    DeadList dead;
    TakeFromTable(*table_.begin(), &dead);
  }
  RB_CHECK(usage_.pinned_bytes == 0);  // A handle outlives the cache.
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
                        const FilterCache::EntryOptions& options, Slot* slot) {
  auto entry = std::make_unique<Entry>();
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
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
  MakeRoom(entry->charge_bytes, &dead);
  // Lookups may still see retired entries, but not for long.
  for (int attempt = 0; !Fits(entry->charge_bytes, usage_.usage_bytes);
       ++attempt) {
    if (attempt == kFreeAttempts) {
      ++usage_.rejections;
      return nullptr;
    }
    FreeRetired(&dead);
  }

  ++usage_.inserts;
  entry->value = std::move(*value);
  entry->handle_count = 1;
  entry->in_table = true;
  Account(entry.get());
  usage_.pinned_bytes += entry->charge_bytes;
  table_.insert(entry.get());
  SetSlot(entry.get(), slot);
  return entry.release();
}

void LruShard::Release(Entry* entry) {
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  RB_CHECK(entry->handle_count > 0);
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
      LinkAsNewest(entry, &segments_[kProbation]);
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

void LruShard::Adopt(Entry* entry, const std::function<void(ChunkValue*)>& take,
                     Slot* slot) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!entry->in_table || entry->slot != nullptr) return;
  take(static_cast<ChunkValue*>(entry->value.get()));
  SetSlot(entry, slot);
}

void LruShard::DropSlot(const HashedKey& key, const Slot* slot) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = table_.find(key);
  if (it != table_.end() && (*it)->slot == slot) SetSlot(*it, nullptr);
}

void LruShard::SetCapacity(size_t capacity_bytes) {
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  capacity_bytes_ = capacity_bytes;
  LimitProtected();
  MakeRoom(0, &dead);
}

void LruShard::AddUsage(FilterCache::Usage* usage) const {
  std::lock_guard<std::mutex> lock(mutex_);
  usage->usage_bytes += usage_.usage_bytes;
  usage->pinned_bytes += usage_.pinned_bytes;
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
  const LoadLedger::Mark now = ledger_->Now();
  const double half_lives = static_cast<double>(now.lookups - priced_.lookups) /
                            static_cast<double>(ledger_->HalfLifeLookups());
  return price_ * std::exp2(-half_lives);
}

void LruShard::Account(Entry* entry) {
  ++usage_.entry_count;
  usage_.usage_bytes += entry->charge_bytes;
  usage_.role_bytes[static_cast<size_t>(entry->role)] += entry->charge_bytes;
}

void LruShard::SetSlot(Entry* entry, Slot* slot) {
  // An exchange is in one total order with the loads of guarded lookups.
  if (entry->slot != nullptr) entry->slot->visible.exchange(nullptr);
  entry->slot = slot;
  if (slot == nullptr) return;
  entry->had_slot = true;
  entry->chunk = static_cast<ChunkValue*>(entry->value.get());
  slot->visible.exchange(entry->chunk->visible());
}

// idle or held -> held.
void LruShard::Hold(Entry* entry) {
  if (entry->handle_count++ > 0) return;
  if (entry->priority == FilterCachePriority::kPinned) return;
  UnlinkFromSegment(entry);
  usage_.pinned_bytes += entry->charge_bytes;
}

// idle -> retired or dead, held -> detached.
void LruShard::TakeFromTable(Entry* entry, DeadList* dead) {
  RB_DCHECK(entry->in_table);
  table_.erase(entry);
  entry->in_table = false;
  SetSlot(entry, nullptr);
  if (entry->had_slot) entry->epoch = util::RetireEpoch();
  if (entry->handle_count > 0) return;
  if (entry->priority == FilterCachePriority::kPinned) {
    usage_.pinned_bytes -= entry->charge_bytes;
  } else {
    UnlinkFromSegment(entry);
  }
  Retire(entry, dead);
}

void LruShard::Retire(Entry* entry, DeadList* dead) {
  LinkBefore(entry, &retired_);
  retired_bytes_ += entry->charge_bytes;
  if (!entry->had_slot) Free(entry, dead);
}

// retired -> dead.
void LruShard::Free(Entry* entry, DeadList* dead) {
  Unlink(entry);
  retired_bytes_ -= entry->charge_bytes;
  usage_.usage_bytes -= entry->charge_bytes;
  usage_.role_bytes[static_cast<size_t>(entry->role)] -= entry->charge_bytes;
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
  LinkAsNewest(entry,
               &segments_[WorthOf(*entry) >= 0 ? kProbation : kProtected]);
  LimitProtected();
}

void LruShard::LimitProtected() {
  Segment& guarded = segments_[kProtected];
  while (guarded.charge_bytes > capacity_bytes_ - capacity_bytes_ / 5) {
    Entry* oldest = static_cast<Entry*>(guarded.list.next);
    UnlinkFromSegment(oldest);
    LinkAsNewest(oldest, &segments_[kProbation]);
  }
}

LruShard::Victim LruShard::ChooseVictim() {
  int second_chances = kMaxSecondChances;
  for (Segment& segment : segments_) {
    std::array<Entry*, kCandidateCount> candidates;
    std::array<double, kCandidateCount> worths;
    size_t count = 0;
    size_t least = 0;
    Link* passed = &segment.list;  // The last candidate.
    while (count < kCandidateCount && passed->next != &segment.list) {
      Entry* entry = static_cast<Entry*>(passed->next);
      // The worth of an entry includes its uses.
      const double worth = WorthOf(*entry);
      if (worth < 0 && second_chances > 0 && TakeUse(*entry)) {
        --second_chances;
        UnlinkFromSegment(entry);
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
      UnlinkFromSegment(candidates[i]);
      LinkAsNewest(candidates[i], &segment);
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
  std::unique_ptr<FilterCache::Value> part;
  if (victim->chunk != nullptr) part = victim->chunk->Shrink(&freed_bytes);
  if (part == nullptr) {
    ++usage_.evictions;
    TakeFromTable(victim, dead);
    return true;
  }
  RB_CHECK(freed_bytes > 0 &&
           freed_bytes <= victim->charge_bytes - kEntryOverheadBytes);
  ++usage_.shrinks;
  if (victim->slot != nullptr) {
    victim->slot->visible.exchange(victim->chunk->visible());
  }
  victim->charge_bytes -= freed_bytes;
  victim->segment->charge_bytes -= freed_bytes;
  ++usage_.entry_count;
  auto retired = std::make_unique<Entry>();
  retired->value = std::move(part);
  retired->charge_bytes = freed_bytes;
  retired->role = victim->role;
  retired->had_slot = victim->had_slot;
  if (retired->had_slot) retired->epoch = util::RetireEpoch();
  Retire(retired.release(), dead);
  return true;
}

void LruShard::MakeRoom(size_t charge_bytes, DeadList* dead) {
  while (!Fits(charge_bytes, usage_.usage_bytes - retired_bytes_) &&
         EvictOne(dead)) {
  }
  FreeRetired(dead);
}

}  // namespace rowbloom::cache
