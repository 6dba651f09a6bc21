// SPDX-License-Identifier: Apache-2.0

#include "rocksdb_contender.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ask_loops.h"

namespace rowbloom::filter_bench {
namespace {

using rocksdb::FilterBitsReader;
using rocksdb::Slice;

template <KeyForm kForm>
uint64_t AskBatches(FilterBitsReader* reader, const Window& window) {
  Slice keys[kBatchSize];
  Slice* pointers[kBatchSize];
  for (size_t i = 0; i < kBatchSize; ++i) pointers[i] = &keys[i];
  bool may_match[kBatchSize];
  uint64_t maybes = 0;
  for (size_t done = 0; done < window.count; done += kBatchSize) {
    const size_t size = std::min(kBatchSize, window.count - done);
    for (size_t i = 0; i < size; ++i) {
      keys[i] = window.keys->Slice<kForm>(window.begin + done + i);
    }
    reader->MayMatch(static_cast<int>(size), pointers, may_match);
    for (size_t i = 0; i < size; ++i) maybes += may_match[i] ? 1 : 0;
  }
  return maybes;
}

template <KeyForm kForm>
uint64_t AskOne(FilterBitsReader* reader, Order order, const Window& window,
                bool present) {
  const auto ask = [reader, &keys = *window.keys](size_t i) {
    return reader->MayMatch(keys.Slice<kForm>(i));
  };
  switch (order) {
    case Order::kIndependent:
      return AskIndependent(ask, window);
    case Order::kDependent:
      return AskDependent(ask, window, present);
    case Order::kBatch:
      return AskBatches<kForm>(reader, window);
  }
  return 0;
}

class RocksDbFilter final : public Filter {
 public:
  RocksDbFilter(const rocksdb::FilterPolicy& policy, Slice bytes,
                size_t misalignment_bytes)
      : bytes_(bytes, misalignment_bytes),
        reader_(policy.GetFilterBitsReader(bytes_.slice())) {}

  size_t size_bytes() const override { return bytes_.slice().size(); }
  double expected_fpr() const override { return 0; }
  uint64_t Ask(Order order, const Window& window, bool present) const override {
    return window.keys->form() == KeyForm::kDigest
               ? AskOne<KeyForm::kDigest>(reader_.get(), order, window, present)
               : AskOne<KeyForm::kString>(reader_.get(), order, window,
                                          present);
  }

 private:
  const AlignedBytes bytes_;
  const std::unique_ptr<FilterBitsReader> reader_;
};

class RocksDbReaderSet final : public ReaderSet {
 public:
  explicit RocksDbReaderSet(const rocksdb::FilterPolicy& policy)
      : policy_(policy) {}

  void Add(const BuiltFilter& built) override {
    const Slice bytes = built.bytes;
    blocks_.emplace_back(new char[bytes.size()]);
    std::memcpy(blocks_.back().get(), bytes.data(), bytes.size());
    readers_.emplace_back(
        policy_.GetFilterBitsReader(Slice(blocks_.back().get(), bytes.size())));
    total_size_bytes_ += bytes.size();
  }
  size_t total_size_bytes() const override { return total_size_bytes_; }
  uint64_t Ask(Order order, const Window& window,
               const std::vector<uint32_t>& which,
               bool present) const override {
    const auto ask = [this, &which, &keys = *window.keys](size_t i) {
      return readers_[which[i]]->MayMatch(keys.Slice<KeyForm::kDigest>(i));
    };
    return order == Order::kDependent ? AskDependent(ask, window, present)
                                      : AskIndependent(ask, window);
  }

 private:
  const rocksdb::FilterPolicy& policy_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::unique_ptr<FilterBitsReader>> readers_;
  size_t total_size_bytes_ = 0;
};

class RocksDbContender final : public Contender {
 public:
  RocksDbContender(std::string name, const RocksDbLibrary& library,
                   std::unique_ptr<const rocksdb::FilterPolicy> policy)
      : Contender(std::move(name)),
        library_(library),
        policy_(std::move(policy)) {}

  std::string policy() const override { return policy_->GetId(); }
  BuiltFilter Build(const KeySet& keys, size_t begin,
                    size_t end) const override {
    return keys.form() == KeyForm::kDigest
               ? BuildFrom<KeyForm::kDigest>(keys, begin, end)
               : BuildFrom<KeyForm::kString>(keys, begin, end);
  }
  std::unique_ptr<Filter> Open(const BuiltFilter& built,
                               size_t misalignment_bytes) const override {
    return std::make_unique<RocksDbFilter>(*policy_, built.bytes,
                                           misalignment_bytes);
  }
  std::unique_ptr<ReaderSet> NewReaderSet() const override {
    return std::make_unique<RocksDbReaderSet>(*policy_);
  }

 private:
  template <KeyForm kForm>
  BuiltFilter BuildFrom(const KeySet& keys, size_t begin, size_t end) const {
    BuiltFilter built;
    const auto builder = library_.NewBuilder(*policy_);
    for (size_t i = begin; i < end; ++i) builder->AddKey(keys.Slice<kForm>(i));
    built.bytes = builder->Finish(&built.buffer);
    return built;
  }

  const RocksDbLibrary& library_;
  const std::unique_ptr<const rocksdb::FilterPolicy> policy_;
};

}  // namespace

std::unique_ptr<Contender> NewRocksDbContender(
    std::string name, const RocksDbLibrary& library,
    std::unique_ptr<const rocksdb::FilterPolicy> policy) {
  return std::make_unique<RocksDbContender>(std::move(name), library,
                                            std::move(policy));
}

}  // namespace rowbloom::filter_bench
