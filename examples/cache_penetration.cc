// SPDX-License-Identifier: Apache-2.0
//
// Cache penetration: requests for keys that do not exist find nothing in the
// cache and all reach the slow store behind it. A counting filter of the keys
// in the store answers most of them, and forgets keys that are deleted.
//
// Prints the reads of the store, with the guard and without.

#include <cstdio>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/counting.h"
#include "rowbloom/memfilter/sizing.h"

namespace {

// A slow store, asked only for keys that it may have. Counts the requests, and
// the reads that reach the store.
class GuardedStore {
 public:
  explicit GuardedStore(rowbloom::CountingFilter guard)
      : guard_(std::move(guard)) {}

  void Put(const std::string& key, std::string value) {
    // Adds each new key once, however often it is written. The guard usually
    // knows that a key is new; otherwise the store is read.
    if (!Get(key)) guard_.Add(rowbloom::DigestBytes(key));
    store_[key] = std::move(value);
  }
  void Delete(const std::string& key) {
    // Removes from the guard only keys that the store had.
    if (store_.erase(key) > 0 && !guard_.Remove(rowbloom::DigestBytes(key))) {
      std::fprintf(stderr, "the guard lacked %s\n", key.c_str());
    }
  }
  std::optional<std::string> Get(const std::string& key) {
    ++requests_;
    if (!guard_.MayContain(rowbloom::DigestBytes(key))) return std::nullopt;
    ++reads_;
    const auto it = store_.find(key);
    if (it == store_.end()) return std::nullopt;
    return it->second;
  }
  int requests() const { return requests_; }
  int reads() const { return reads_; }
  const rowbloom::CountingFilter& guard() const { return guard_; }

 private:
  std::unordered_map<std::string, std::string> store_;  // Is a database.
  rowbloom::CountingFilter guard_;
  int requests_ = 0;
  int reads_ = 0;
};

constexpr int kKeys = 100'000;

std::string Key(int i) { return "user" + std::to_string(i); }

// Calls use(key) for keys first to last - 1 and prints what that cost. Returns
// false if one of the answers is wrong.
template <typename Use>
bool Measure(const char* what, const GuardedStore& store, int first, int last,
             const Use& use) {
  const int requests = store.requests();
  const int reads = store.reads();
  bool right = true;
  for (int i = first; i < last; ++i) right &= use(Key(i));
  const int asked = store.requests() - requests;
  const int read = store.reads() - reads;
  std::printf("%-14s %9d %12d %9d\n", what, asked, read, asked - read);
  return right;
}

}  // namespace

int main() {
  rowbloom::CountingOptions options;
  options.shape = *rowbloom::ShapeFor(kKeys, 0.01);
  GuardedStore store(*rowbloom::CountingFilter::New(options));
  const auto put = [&store](const std::string& key) {
    store.Put(key, "value");
    return true;
  };
  const auto has = [&store](const std::string& key) {
    return store.Get(key).has_value();
  };
  const auto lacks = [&has](const std::string& key) { return !has(key); };
  std::printf("requests of          made  store reads     saved\n");
  bool right = Measure("new keys", store, 0, kKeys, put);
  right &= Measure("present keys", store, 0, kKeys, has);
  right &= Measure("absent keys", store, kKeys, 10 * kKeys, lacks);
  for (int i = 0; i < kKeys / 2; ++i) store.Delete(Key(i));
  right &= Measure("deleted keys", store, 0, kKeys / 2, lacks);
  right &= Measure("present keys", store, kKeys / 2, kKeys, has);
  std::printf(
      "the guard: %llu bytes, %llu stuck counters\n",
      static_cast<unsigned long long>(store.guard().memory_usage_bytes()),
      static_cast<unsigned long long>(store.guard().stuck_counters()));
  return right ? 0 : 1;
}
