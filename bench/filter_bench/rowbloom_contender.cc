// SPDX-License-Identifier: Apache-2.0

#include "rowbloom_contender.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "ask_loops.h"
#include "blob_reader.h"
#include "rowbloom/filter_blob.h"

namespace rowbloom::filter_bench {
namespace {

template <KeyForm kForm>
uint64_t AskBatches(const FilterView& view, const Window& window) {
  KeyDigest digests[kBatchSize];
  bool may_contain[kBatchSize];
  uint64_t maybes = 0;
  for (size_t done = 0; done < window.count; done += kBatchSize) {
    const size_t size = std::min(kBatchSize, window.count - done);
    const size_t first = window.begin + done;
    if constexpr (kForm == KeyForm::kDigest) {
      view.MayContain({window.keys->digests() + first, size}, may_contain);
    } else {
      for (size_t i = 0; i < size; ++i) {
        digests[i] = window.keys->Digest<kForm>(first + i);
      }
      view.MayContain({digests, size}, may_contain);
    }
    for (size_t i = 0; i < size; ++i) maybes += may_contain[i] ? 1 : 0;
  }
  return maybes;
}

template <KeyForm kForm>
uint64_t AskOne(const FilterView& view, Order order, const Window& window,
                bool present) {
  const auto ask = [&view, &keys = *window.keys](size_t i) {
    return view.MayContain(keys.Digest<kForm>(i));
  };
  switch (order) {
    case Order::kIndependent:
      return AskIndependent(ask, window);
    case Order::kDependent:
      return AskDependent(ask, window, present);
    case Order::kBatch:
      return AskBatches<kForm>(view, window);
  }
  return 0;
}

class RowbloomFilter final : public Filter {
 public:
  RowbloomFilter(std::string_view blob, size_t misalignment_bytes)
      : bytes_(blob, misalignment_bytes),
        view_(ParseBlob(bytes_.slice().ToStringView())) {}

  size_t size_bytes() const override { return bytes_.slice().size(); }
  double expected_fpr() const override { return view_.expected_fpr(); }
  uint64_t Ask(Order order, const Window& window, bool present) const override {
    return window.keys->form() == KeyForm::kDigest
               ? AskOne<KeyForm::kDigest>(view_, order, window, present)
               : AskOne<KeyForm::kString>(view_, order, window, present);
  }

 private:
  const AlignedBytes bytes_;
  const FilterView view_;
};

class RowbloomReaderSet final : public ReaderSet {
 public:
  void Add(const BuiltFilter& built) override {
    const std::string blob = EncodeFilterBlob(built.encoded, "");
    blocks_.emplace_back(new char[blob.size()]);
    std::memcpy(blocks_.back().get(), blob.data(), blob.size());
    readers_.push_back(
        NewBlobReader(std::string_view(blocks_.back().get(), blob.size())));
    total_size_bytes_ += blob.size();
  }
  size_t total_size_bytes() const override { return total_size_bytes_; }
  uint64_t Ask(Order order, const Window& window,
               const std::vector<uint32_t>& which,
               bool present) const override {
    const auto ask = [this, &which, &keys = *window.keys](size_t i) {
      return readers_[which[i]]->MayMatch(keys.Digest<KeyForm::kDigest>(i));
    };
    return order == Order::kDependent ? AskDependent(ask, window, present)
                                      : AskIndependent(ask, window);
  }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::unique_ptr<const BlobReader>> readers_;
  size_t total_size_bytes_ = 0;
};

class RowbloomContender final : public Contender {
 public:
  RowbloomContender(std::string name, FilterPolicy policy)
      : Contender(std::move(name)), policy_(std::move(policy)) {}

  std::string policy() const override { return policy_.ToString(); }
  BuiltFilter Build(const KeySet& keys, size_t begin,
                    size_t end) const override {
    return keys.form() == KeyForm::kDigest
               ? BuildFrom<KeyForm::kDigest>(keys, begin, end)
               : BuildFrom<KeyForm::kString>(keys, begin, end);
  }
  std::unique_ptr<Filter> Open(const BuiltFilter& built,
                               size_t misalignment_bytes) const override {
    return std::make_unique<RowbloomFilter>(EncodeFilterBlob(built.encoded, ""),
                                            misalignment_bytes);
  }
  std::unique_ptr<ReaderSet> NewReaderSet() const override {
    return std::make_unique<RowbloomReaderSet>();
  }

 private:
  template <KeyForm kForm>
  BuiltFilter BuildFrom(const KeySet& keys, size_t begin, size_t end) const {
    BuiltFilter built;
    const auto builder = NewFilterBuilder(policy_);
    for (size_t i = begin; i < end; ++i) builder->Add(keys.Digest<kForm>(i));
    built.encoded = builder->Finish();
    return built;
  }

  const FilterPolicy policy_;
};

}  // namespace

std::unique_ptr<Contender> NewRowbloomContender(std::string name,
                                                FilterPolicy policy) {
  return std::make_unique<RowbloomContender>(std::move(name),
                                             std::move(policy));
}

}  // namespace rowbloom::filter_bench
