// SPDX-License-Identifier: Apache-2.0
//
// A librocksdb that is chosen at run time, and the few functions of it that
// make filters. The program links none, so that one built natively can take
// the place of the distribution's.
//
//   const RocksDbLibrary library("");  // The one that the headers came with.
//   auto policy = library.NewBloomPolicy(10);
//   auto builder = library.NewBuilder(*policy);
//   builder->AddKey(key);
//
// Objects of the library must not outlive it, but it is never unloaded.
// Errors are thrown as std::runtime_error.

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_ROCKSDB_LIBRARY_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_ROCKSDB_LIBRARY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/filter_bits_abi.h"

namespace rowbloom::filter_bench {

class RocksDbLibrary {
 public:
  // Refuses a library of another release than the headers: the layout of its
  // classes may differ.
  explicit RocksDbLibrary(const std::string& path);
  ~RocksDbLibrary();
  RocksDbLibrary(const RocksDbLibrary&) = delete;
  RocksDbLibrary& operator=(const RocksDbLibrary&) = delete;

  std::unique_ptr<const rocksdb::FilterPolicy> NewBloomPolicy(
      double bits_per_key) const;
  // Ribbon of the rate of a Bloom filter of so many bits per key.
  std::unique_ptr<const rocksdb::FilterPolicy> NewRibbonPolicy(
      double bloom_bits_per_key) const;
  std::unique_ptr<rocksdb::FilterBitsBuilder> NewBuilder(
      const rocksdb::FilterPolicy& policy) const;

  // What its filters hash a key with.
  using Hash64 = uint64_t (*)(const char* data, size_t size);
  Hash64 hash64() const { return hash64_; }

  const std::string& file_name() const { return file_name_; }  // No directory.
  const std::string& version() const { return version_; }
  // Whether a lookup in its Bloom filter is the vectorized one.
  bool bloom_uses_avx2() const { return bloom_uses_avx2_; }

 private:
  template <class Function>
  Function Find(const char* mangled_name) const;

  void* handle_ = nullptr;
  const rocksdb::FilterPolicy* (*new_bloom_)(double, bool) = nullptr;
  const rocksdb::FilterPolicy* (*new_ribbon_)(double, int) = nullptr;
  Hash64 hash64_ = nullptr;
  const rocksdb::BlockBasedTableOptions table_options_;
  // Made by the library's constructor, which is not inline.
  alignas(rocksdb::FilterBuildingContext) unsigned char context_[sizeof(
      rocksdb::FilterBuildingContext)];
  rocksdb::FilterBuildingContext* building_context_ = nullptr;
  std::string file_name_;
  std::string version_;
  bool bloom_uses_avx2_ = false;
};

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_ROCKSDB_LIBRARY_H_
