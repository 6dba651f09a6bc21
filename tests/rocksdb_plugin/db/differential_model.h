// SPDX-License-Identifier: Apache-2.0
//
// The answers that a database must give at any time of its life: a map of all
// versions.
//
//   VersionedMap model(comparator);
//   model.Write("key", "value");       // At time 1.
//   model.Write("key", std::nullopt);  // Deleted at time 2.
//   model.Get("key", 1);               // "value"
//
// One thread.

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_DB_DIFFERENTIAL_MODEL_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_DB_DIFFERENTIAL_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rdb.h"
#include "rocksdb/comparator.h"

namespace rowbloom::testing {

class VersionedMap {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  // The keys have no timestamps.
  explicit VersionedMap(const rdb::Comparator* comparator)
      : keys_(Less{comparator}) {}

  // Returns the time of the last write; each write has its own time.
  uint64_t now() const { return now_; }
  void Write(const std::string& key, std::optional<std::string> value) {
    keys_[key].emplace_back(++now_, std::move(value));
  }
  // Deletes all entries at one time.
  void Delete(const Entries& entries) {
    ++now_;
    for (const auto& [key, value] : entries) {
      keys_[key].emplace_back(now_, std::nullopt);
    }
  }

  std::optional<std::string> Get(const std::string& key, uint64_t time) const {
    const auto found = keys_.find(key);
    return found == keys_.end() ? std::nullopt : At(found->second, time);
  }
  // Returns present entries from `target` on, while more(key); at most `limit`.
  template <typename More>
  Entries From(const std::string& target, uint64_t time, size_t limit,
               const More& more) const {
    return Take(keys_.lower_bound(target), keys_.end(), time, limit, more);
  }
  // Returns present entries from `target` backwards, while more(key); at most
  // `limit`.
  template <typename More>
  Entries Back(const std::string& target, uint64_t time, size_t limit,
               const More& more) const {
    return Take(std::make_reverse_iterator(keys_.upper_bound(target)),
                keys_.rend(), time, limit, more);
  }

 private:
  struct Less {
    const rdb::Comparator* comparator;
    bool operator()(const std::string& a, const std::string& b) const {
      return comparator->CompareWithoutTimestamp(a, false, b, false) < 0;
    }
  };
  using History = std::vector<std::pair<uint64_t, std::optional<std::string>>>;

  static std::optional<std::string> At(const History& history, uint64_t time) {
    for (auto version = history.rbegin(); version != history.rend();
         ++version) {
      if (version->first <= time) return version->second;
    }
    return std::nullopt;
  }
  template <typename Iterator, typename More>
  static Entries Take(Iterator at, Iterator end, uint64_t time, size_t limit,
                      const More& more) {
    Entries entries;
    for (; at != end && entries.size() < limit && more(at->first); ++at) {
      std::optional<std::string> value = At(at->second, time);
      if (value) entries.emplace_back(at->first, *std::move(value));
    }
    return entries;
  }

  std::map<std::string, History, Less> keys_;
  uint64_t now_ = 0;
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_DB_DIFFERENTIAL_MODEL_H_
