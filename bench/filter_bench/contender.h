// SPDX-License-Identifier: Apache-2.0
//
// What is compared: something that builds filters, the filters, and many of
// them as a block cache holds them. Loops are behind the virtual functions,
// so that within one there is exactly one call for each lookup.
//
//   BuiltFilter built = contender->Build(keys, 0, keys.size());  // To time.
//   std::unique_ptr<Filter> filter = contender->Open(built, 0);
//   filter->Ask(Order::kIndependent, Window{&absent, 0, 1000}, false);

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_CONTENDER_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_CONTENDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "keys.h"
#include "rocksdb/slice.h"
#include "rowbloom/filter.h"

namespace rowbloom::filter_bench {

enum class Order {
  kIndependent,  // The keys are known beforehand: throughput.
  kDependent,    // Which key is next depends on the answer: latency.
  kBatch,        // kBatchSize keys at a time, by the library's own function.
};
inline constexpr size_t kBatchSize = 32;  // RocksDB's MultiGet has as many.

// `count` keys of a set from `begin` on. Where the order is kDependent the
// set's size is a power of two, and its end is followed by its beginning.
struct Window {
  const KeySet* keys;
  size_t begin;
  size_t count;
};

// Bytes that begin a given distance behind a 64-byte boundary.
class AlignedBytes {
 public:
  AlignedBytes(rocksdb::Slice bytes, size_t misalignment_bytes);
  rocksdb::Slice slice() const { return {begin_, size_}; }

 private:
  std::unique_ptr<char[]> memory_;
  char* begin_;
  size_t size_;
};

// What a builder returns: RocksDB's bytes in a buffer, or rowbloom's filter.
struct BuiltFilter {
  std::unique_ptr<const char[]> buffer;
  rocksdb::Slice bytes;
  EncodedFilter encoded;
};

class Filter {
 public:
  virtual ~Filter() = default;

  // With its envelope: all that is stored of it.
  virtual size_t size_bytes() const = 0;
  // 0 if the filter does not say.
  virtual double expected_fpr() const = 0;
  // How many of the answers were "maybe". `present`: what to expect of them.
  virtual uint64_t Ask(Order order, const Window& window,
                       bool present) const = 0;
};

// Filters each of which is behind a reader object of its own, with its bytes
// in a block of its own where malloc puts it.
class ReaderSet {
 public:
  virtual ~ReaderSet() = default;

  virtual void Add(const BuiltFilter& built) = 0;
  virtual size_t total_size_bytes() const = 0;
  // Asks reader which[i] for digest i. Not kBatch.
  virtual uint64_t Ask(Order order, const Window& window,
                       const std::vector<uint32_t>& which,
                       bool present) const = 0;
};

class Contender {
 public:
  explicit Contender(std::string name) : name_(std::move(name)) {}
  virtual ~Contender() = default;

  const std::string& name() const { return name_; }
  // What its filters are asked for, to be printed.
  virtual std::string policy() const = 0;
  // One filter over keys [begin, end): from a new builder to its result.
  virtual BuiltFilter Build(const KeySet& keys, size_t begin,
                            size_t end) const = 0;
  virtual std::unique_ptr<Filter> Open(const BuiltFilter& built,
                                       size_t misalignment_bytes) const = 0;
  virtual std::unique_ptr<ReaderSet> NewReaderSet() const = 0;

 private:
  const std::string name_;
};

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_CONTENDER_H_
