// SPDX-License-Identifier: Apache-2.0

#include "cache/lru_shard.h"

#include <utility>

#include "base/check.h"

namespace rowbloom::cache {
namespace {

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

}  // namespace

LruShard::LruShard() { lru_.next = lru_.prev = &lru_; }

LruShard::~LruShard() {
  RB_CHECK(usage_.pinned_bytes == 0);  // A handle outlives the cache.
  for (Entry* entry : table_) delete entry;
}

Entry* LruShard::Lookup(const HashedKey& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = table_.find(key);
  if (it == table_.end()) {
    ++usage_.misses;
    return nullptr;
  }
  ++usage_.hits;
  Hold(*it);
  return *it;
}

Entry* LruShard::Insert(const HashedKey& key,
                        std::unique_ptr<FilterCache::Value>* value,
                        size_t charge_bytes) {
  auto entry = std::make_unique<Entry>();
  Link* dead = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // All that is not pinned could go. In this form nothing overflows.
    const size_t room = capacity_bytes_ - usage_.pinned_bytes;
    if (room < kEntryOverheadBytes ||
        charge_bytes > room - kEntryOverheadBytes) {
      ++usage_.rejections;
      return nullptr;
    }
    entry->key = key;
    entry->value = std::move(*value);
    entry->charge_bytes = charge_bytes + kEntryOverheadBytes;

    if (auto it = table_.find(key); it != table_.end()) {
      TakeFromTable(*it, &dead);
    }
    while (entry->charge_bytes > capacity_bytes_ - usage_.usage_bytes) {
      RB_DCHECK(lru_.next != &lru_);
      TakeFromTable(static_cast<Entry*>(lru_.next), &dead);
      ++usage_.evictions;
    }

    ++usage_.inserts;
    ++usage_.entry_count;
    usage_.usage_bytes += entry->charge_bytes;
    usage_.pinned_bytes += entry->charge_bytes;
    entry->handle_count = 1;
    entry->in_table = true;
    table_.insert(entry.get());
  }
  DeleteAll(dead);
  return entry.release();
}

void LruShard::Release(Entry* entry) {
  Link* dead = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    RB_CHECK(entry->handle_count > 0);
    if (--entry->handle_count > 0) return;
    usage_.pinned_bytes -= entry->charge_bytes;
    if (entry->in_table) {
      LinkBefore(entry, &lru_);
    } else {
      Bury(entry, &dead);
    }
  }
  DeleteAll(dead);
}

void LruShard::Erase(const HashedKey& key) {
  Link* dead = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = table_.find(key);
    if (it == table_.end()) return;
    TakeFromTable(*it, &dead);
  }
  DeleteAll(dead);
}

void LruShard::AddUsage(FilterCache::Usage* usage) const {
  std::lock_guard<std::mutex> lock(mutex_);
  usage->usage_bytes += usage_.usage_bytes;
  usage->pinned_bytes += usage_.pinned_bytes;
  usage->entry_count += usage_.entry_count;
  usage->hits += usage_.hits;
  usage->misses += usage_.misses;
  usage->inserts += usage_.inserts;
  usage->evictions += usage_.evictions;
  usage->rejections += usage_.rejections;
}

// idle or held -> held.
void LruShard::Hold(Entry* entry) {
  if (entry->handle_count++ > 0) return;
  Unlink(entry);
  usage_.pinned_bytes += entry->charge_bytes;
}

// idle -> dead, held -> detached.
void LruShard::TakeFromTable(Entry* entry, Link** dead) {
  RB_DCHECK(entry->in_table);
  table_.erase(entry);
  entry->in_table = false;
  if (entry->handle_count > 0) return;
  Unlink(entry);
  Bury(entry, dead);
}

void LruShard::Bury(Entry* entry, Link** dead) {
  usage_.usage_bytes -= entry->charge_bytes;
  --usage_.entry_count;
  entry->next = *dead;
  *dead = entry;
}

void LruShard::DeleteAll(Link* dead) {
  while (dead != nullptr) {
    delete static_cast<Entry*>(std::exchange(dead, dead->next));
  }
}

}  // namespace rowbloom::cache
