// SPDX-License-Identifier: Apache-2.0
//
// The question of a scan that is at work on this thread: are there keys that
// begin with this prefix?
//
//   const ScanQuestion question(codec, key_level, prefix, upper);
//   { const ScanQuestion::Scope scope(&question); iterator->Next(); }
//
// RocksDB asks a filter for what the prefix extractor makes of a key, which is
// its prefix of key level 1. That depends on the key alone, and cannot tell the
// bound of a scan from a stored key or the end of a range tombstone, nor may
// the upper bound of a scan begin with another prefix than the lower. So the
// scan says what it asks beside RocksDB: within a Scope the extractor maps all
// keys of the prefix, and the upper bound, to the prefix. RocksDB asks filters
// on the thread that moves the iterator.
//
// Callbacks of RocksDB must not read a column family with an extractor of an
// equal codec: within a scope their keys would map to the prefix, too.
//
// The question, codec and bytes must outlive its scopes.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_SCAN_QUESTION_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_SCAN_QUESTION_H_

#include <cstddef>
#include <string_view>

#include "rowbloom/key_codec.h"

namespace rowbloom::plugin {

class ScanQuestion {
 public:
  // `prefix` is a prefix of that key level of the codec. The scan reads no keys
  // from `upper` on, nor any that do not begin with the prefix; empty: to the
  // end.
  ScanQuestion(const KeyCodec& codec, size_t key_level, std::string_view prefix,
               std::string_view upper)
      : codec_(codec), key_level_(key_level), prefix_(prefix), upper_(upper) {}

  class Scope {
   public:
    explicit Scope(const ScanQuestion* question) : outer_(of_this_thread_) {
      of_this_thread_ = question;
    }
    ~Scope() { of_this_thread_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const ScanQuestion* const outer_;
  };

  // Null outside of any scope.
  static const ScanQuestion* OfThisThread() { return of_this_thread_; }

  size_t key_level() const { return key_level_; }
  std::string_view prefix() const { return prefix_; }
  bool IsOfCodec(const KeyCodec& codec) const { return codec_ == codec; }
  // True for the keys that map to the prefix.
  bool Covers(std::string_view key) const {
    return key.substr(0, prefix_.size()) == prefix_ ||
           (!upper_.empty() && key == upper_);
  }

 private:
  // Each lookup reads it. Its initial value stands here so that reading it
  // takes no call.
  static inline thread_local const ScanQuestion* of_this_thread_ = nullptr;

  const KeyCodec& codec_;
  const size_t key_level_;
  const std::string_view prefix_;
  const std::string_view upper_;
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_SCAN_QUESTION_H_
