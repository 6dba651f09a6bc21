// SPDX-License-Identifier: Apache-2.0

#include "cache/lru_shard.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/epoch.h"

namespace rowbloom::cache {
namespace {

// Among so many entries the least worth one is sought.
constexpr size_t kCandidateCount = 32;
// So many entries that turn out to have been used are passed over for one
// victim, at most: it bounds the time under the lock.
constexpr int kMaxSecondChances = 64;
// How often an insert asks again, each time for microseconds, whether what went
// for it can be freed.
constexpr int kPatience = 8;

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

// Whether the entry was used through its hint since the last such question.
bool TakeUse(const Entry& entry) {
  if (entry.hint == nullptr ||
      !entry.hint->used.load(std::memory_order_relaxed)) {
    return false;
  }
  entry.hint->used.store(false, std::memory_order_relaxed);
  return true;
}

}  // namespace

DeadList::~DeadList() {
  while (first_ != nullptr) {
    delete static_cast<Entry*>(std::exchange(first_, first_->next));
  }
}

LruShard::~LruShard() {
  // Without entries of priority pinned only a handle can pin. No epoch is
  // waited for: the cache outlives every use of a hint.
  while (!table_.empty()) {
    DeadList dead;
    TakeFromTable(*table_.begin(), &dead);
  }
  RB_CHECK(usage_.pinned_bytes == 0);  // A handle outlives the cache.
  while (retired_.next != &retired_) {
    DeadList dead;
    Bury(static_cast<Entry*>(retired_.next), &dead);
  }
}

Entry* LruShard::Lookup(const HashedKey& key, FilterCache::Hint* hint) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = table_.find(key);
  if (it == table_.end()) {
    ++usage_.misses;
    return nullptr;
  }
  Entry* entry = *it;
  ++usage_.hits;
  Hold(entry);
  entry->was_found = true;
  if (entry->hint == nullptr) SetHint(entry, hint);
  return entry;
}

Entry* LruShard::Insert(const HashedKey& key,
                        std::unique_ptr<FilterCache::Value>* value,
                        const FilterCache::EntryOptions& options) {
  auto entry = std::make_unique<Entry>();
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  // All that is not pinned could go.
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
  // What is retired may still be seen, but not for long.
  for (int again = 0; !Fits(entry->charge_bytes, usage_.usage_bytes); ++again) {
    if (again == kPatience) {
      ++usage_.rejections;
      return nullptr;
    }
    BuryRetired(&dead);
  }

  ++usage_.inserts;
  entry->value = std::move(*value);
  entry->handle_count = 1;
  entry->in_table = true;
  Account(entry.get());
  usage_.pinned_bytes += entry->charge_bytes;
  table_.insert(entry.get());
  SetHint(entry.get(), options.hint);
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
      LinkAsNewest(entry, &SegmentsOf(entry)[kProbation]);
    }
  }
  BuryRetired(&dead);
}

void LruShard::Erase(const HashedKey& key) {
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = table_.find(key);
  if (it != table_.end()) TakeFromTable(*it, &dead);
  BuryRetired(&dead);
}

void LruShard::EraseFile(uint64_t file_id) {
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = table_.begin(); it != table_.end();) {
    Entry* entry = *it++;
    if (entry->key.key.file_id == file_id) TakeFromTable(entry, &dead);
  }
  BuryRetired(&dead);
}

void LruShard::DropHint(const HashedKey& key, const FilterCache::Hint* hint) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = table_.find(key);
  if (it != table_.end() && (*it)->hint == hint) SetHint(*it, nullptr);
}

void LruShard::SetCapacity(size_t capacity_bytes) {
  DeadList dead;
  std::lock_guard<std::mutex> lock(mutex_);
  capacity_bytes_ = capacity_bytes;
  for (Segments& segments : segments_) LimitProtected(&segments);
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

double LruShard::Price(size_t charge_bytes) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return charge_bytes <= SIZE_MAX - kEntryOverheadBytes &&
                 Fits(charge_bytes + kEntryOverheadBytes, usage_.usage_bytes)
             ? 0
             : PriceNow();
}

size_t LruShard::MaxChargeBytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  const size_t taken = usage_.pinned_bytes + kEntryOverheadBytes;
  return capacity_bytes_ - std::min(capacity_bytes_, taken);
}

double LruShard::PriceNow() const {
  // Half of it is forgotten in each era.
  const FilterLedger::Mark now = ledger_->Now();
  const double eras = static_cast<double>(now.lookups - priced_.lookups) /
                      static_cast<double>(ledger_->era_length());
  return price_ * std::exp2(-eras);
}

void LruShard::Account(Entry* entry) {
  ++usage_.entry_count;
  usage_.usage_bytes += entry->charge_bytes;
  usage_.role_bytes[static_cast<size_t>(entry->role)] += entry->charge_bytes;
}

void LruShard::SetHint(Entry* entry, FilterCache::Hint* hint) {
  // An exchange, in the one order with what a guarded reader loads.
  if (entry->hint != nullptr) entry->hint->value.exchange(nullptr);
  entry->hint = hint;
  if (hint == nullptr) return;
  entry->had_hint = true;
  hint->value.exchange(entry->value.get());
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
  SetHint(entry, nullptr);
  if (entry->had_hint) entry->epoch = base::RetireEpoch();
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
  if (!entry->had_hint) Bury(entry, dead);
}

// retired -> dead.
void LruShard::Bury(Entry* entry, DeadList* dead) {
  Unlink(entry);
  retired_bytes_ -= entry->charge_bytes;
  usage_.usage_bytes -= entry->charge_bytes;
  usage_.role_bytes[static_cast<size_t>(entry->role)] -= entry->charge_bytes;
  --usage_.entry_count;
  dead->Add(entry);
}

void LruShard::BuryRetired(DeadList* dead) {
  if (retired_.next == &retired_) return;
  const uint64_t first_guarded = base::FirstGuardedEpoch();
  for (Link* link = retired_.next; link != &retired_;) {
    Entry* entry = static_cast<Entry*>(link);
    link = link->next;
    if (entry->epoch < first_guarded) Bury(entry, dead);
  }
}

void LruShard::LinkUsed(Entry* entry) {
  Segments& segments = SegmentsOf(entry);
  // Values that know their worth are on probation always: all compete.
  const bool competes = is_plain_ || entry->value->Worth() >= 0;
  LinkAsNewest(entry, &segments[competes ? kProbation : kProtected]);
  LimitProtected(&segments);
}

void LruShard::LimitProtected(Segments* segments) {
  Segment& guarded = (*segments)[kProtected];
  while (guarded.charge_bytes > capacity_bytes_ - capacity_bytes_ / 5) {
    Entry* oldest = static_cast<Entry*>(guarded.list.next);
    UnlinkFromSegment(oldest);
    LinkAsNewest(oldest, &(*segments)[kProbation]);
  }
}

LruShard::Victim LruShard::ChooseVictim() {
  int second_chances = kMaxSecondChances;
  for (Segments& segments : segments_) {
    for (Segment& segment : segments) {
      std::array<Entry*, kCandidateCount> candidates;
      std::array<double, kCandidateCount> worths;
      size_t count = 0;
      size_t least = 0;
      Link* passed = &segment.list;  // The last candidate.
      while (count < kCandidateCount && passed->next != &segment.list) {
        Entry* entry = static_cast<Entry*>(passed->next);
        // Values that know their worth have counted their uses themselves.
        const double worth = entry->value->Worth();
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
        if (worth < 0) break;  // None can be worth less.
      }
      if (count == 0) continue;
      // Or the same worthy ones would be the competition for ever.
      for (size_t i = 0; i < count; ++i) {
        if (!(worths[i] > worths[least])) continue;
        UnlinkFromSegment(candidates[i]);
        LinkAsNewest(candidates[i], &segment);
      }
      return {candidates[least], worths[least]};
    }
  }
  return {};
}

bool LruShard::EvictOne(DeadList* dead) {
  const auto [victim, worth] = ChooseVictim();
  if (victim == nullptr) return false;
  price_ = std::max(PriceNow(), worth);
  priced_ = ledger_->Now();

  size_t freed_bytes = 0;
  std::unique_ptr<FilterCache::Value> part =
      victim->value->Shrink(&freed_bytes);
  if (part == nullptr) {
    ++usage_.evictions;
    TakeFromTable(victim, dead);
    return true;
  }
  RB_CHECK(freed_bytes > 0 &&
           freed_bytes <= victim->charge_bytes - kEntryOverheadBytes);
  ++usage_.shrinks;
  victim->charge_bytes -= freed_bytes;
  victim->segment->charge_bytes -= freed_bytes;
  ++usage_.entry_count;
  auto retired = std::make_unique<Entry>();
  retired->value = std::move(part);
  retired->charge_bytes = freed_bytes;
  retired->role = victim->role;
  retired->had_hint = victim->had_hint;
  if (retired->had_hint) retired->epoch = base::RetireEpoch();
  Retire(retired.release(), dead);
  return true;
}

void LruShard::MakeRoom(size_t charge_bytes, DeadList* dead) {
  while (!Fits(charge_bytes, usage_.usage_bytes - retired_bytes_) &&
         EvictOne(dead)) {
  }
  BuryRetired(dead);
}

}  // namespace rowbloom::cache
