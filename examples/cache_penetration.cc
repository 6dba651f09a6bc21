// SPDX-License-Identifier: Apache-2.0
//
// Cache penetration: requests for keys that do not exist find nothing in the
// cache and all reach the slow store behind it. A counting filter of the keys
// in the store answers most of them, and forgets keys that are deleted.
//
// Prints the reads of the store, with the guard and without.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/counting.h"
#include "rowbloom/memfilter/sizing.h"

namespace {

// Stands for a database and counts the reads.
class SlowStore {
 public:
  void Put(const std::string& key, std::string value) {
    rows_[key] = std::move(value);
  }
  bool Delete(const std::string& key) { return rows_.erase(key) > 0; }
  std::optional<std::string> Get(const std::string& key) {
    ++reads_;
    const auto it = rows_.find(key);
    if (it == rows_.end()) return std::nullopt;
    return it->second;
  }
  uint64_t reads() const { return reads_; }

 private:
  std::unordered_map<std::string, std::string> rows_;
  uint64_t reads_ = 0;
};

// The store, asked only for keys that it may have.
class GuardedStore {
 public:
  explicit GuardedStore(rowbloom::CountingFilter guard)
      : guard_(std::move(guard)) {}

  void Put(const std::string& key, std::string value) {
    // Adds each new key once, however often it is written. The guard usually
    // knows that a key is new; otherwise the store is read.
    if (!Get(key)) guard_.Add(rowbloom::DigestBytes(key));
    store_.Put(key, std::move(value));
  }
  void Delete(const std::string& key) {
    // Removes from the guard only keys that the store had.
    if (store_.Delete(key) && !guard_.Remove(rowbloom::DigestBytes(key))) {
      std::fprintf(stderr, "the guard lacked %s\n", key.c_str());
    }
  }
  std::optional<std::string> Get(const std::string& key) {
    ++requests_;
    if (!guard_.MayContain(rowbloom::DigestBytes(key))) return std::nullopt;
    return store_.Get(key);
  }
  uint64_t requests() const { return requests_; }
  uint64_t reads() const { return store_.reads(); }
  const rowbloom::CountingFilter& guard() const { return guard_; }

 private:
  SlowStore store_;
  rowbloom::CountingFilter guard_;
  uint64_t requests_ = 0;
};

constexpr uint64_t kKeys = 100'000;

// Prints requests and reads since the given counts.
void Print(const char* what, const GuardedStore& store, uint64_t requests,
           uint64_t reads) {
  const uint64_t asked = store.requests() - requests;
  const uint64_t read = store.reads() - reads;
  std::printf("%-14s %9llu %12llu %9llu\n", what,
              static_cast<unsigned long long>(asked),
              static_cast<unsigned long long>(read),
              static_cast<unsigned long long>(asked - read));
}

// Asks for keys first to last - 1 and prints the cost. Returns false if an
// answer differs from `present`.
bool Ask(GuardedStore* store, const char* what, uint64_t first, uint64_t last,
         bool present) {
  const uint64_t requests = store->requests();
  const uint64_t reads = store->reads();
  bool right = true;
  for (uint64_t i = first; i < last; ++i) {
    right &= store->Get("user" + std::to_string(i)).has_value() == present;
  }
  Print(what, *store, requests, reads);
  return right;
}

}  // namespace

int main() {
  rowbloom::CountingOptions options;
  options.shape = *rowbloom::ShapeFor(kKeys, 0.01);
  GuardedStore store(*rowbloom::CountingFilter::New(options));
  for (uint64_t i = 0; i < kKeys; ++i) {
    store.Put("user" + std::to_string(i), "value");
  }
  std::printf("requests of          made  store reads     saved\n");
  Print("new keys", store, 0, 0);
  bool right = Ask(&store, "present keys", 0, kKeys, true);
  right &= Ask(&store, "absent keys", kKeys, 10 * kKeys, false);
  for (uint64_t i = 0; i < kKeys / 2; ++i) {
    store.Delete("user" + std::to_string(i));
  }
  right &= Ask(&store, "deleted keys", 0, kKeys / 2, false);
  right &= Ask(&store, "present keys", kKeys / 2, kKeys, true);
  std::printf(
      "the guard: %llu bytes, %llu stuck counters\n",
      static_cast<unsigned long long>(store.guard().memory_usage_bytes()),
      static_cast<unsigned long long>(store.guard().stuck_counters()));
  return right ? 0 : 1;
}
