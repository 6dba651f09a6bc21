// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_loads.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "reader/block_reader.h"
#include "reader/resident_chunk.h"
#include "util/check.h"
#include "util/engine_call.h"

namespace rowbloom {

class FilterLoads::Impl {
 public:
  // The questions of one Ask() that are not answered yet.
  struct OpenLookup {
    std::function<void()> done;
    std::atomic<size_t> left{0};
  };

  struct Waiter {
    FilterQuestion question;
    bool* may_contain = nullptr;
    std::shared_ptr<OpenLookup> lookup;
  };

  struct Missing {
    FilterLoad load;
    Waiter waiter;
  };

  ~Impl() {
    RB_CHECK(reads_.empty(),
             "a FilterLoads is destroyed while a read is under way; offer its "
             "bytes or its error first");
  }

  void Wait(std::vector<Missing> missing, std::vector<FilterRead>* reads) {
    std::sort(missing.begin(), missing.end(),
              [](const Missing& a, const Missing& b) {
                const FilterReader* const reader = a.waiter.question.reader;
                const FilterReader* const other = b.waiter.question.reader;
                if (reader != other) return std::less<>()(reader, other);
                return a.load.offset < b.load.offset;
              });
    const std::lock_guard<std::mutex> lock(mutex_);
    FilterRead* last = nullptr;
    std::vector<FilterLoad>* last_loads = nullptr;
    for (Missing& m : missing) {
      const FilterReader* const reader = m.waiter.question.reader;
      std::vector<Waiter>& waiters = waiters_[{reader, m.load.chunk}];
      waiters.push_back(std::move(m.waiter));
      if (waiters.size() > 1) continue;  // Its read is under way.
      if (last == nullptr || last->reader != reader ||
          !internal::reader::JoinsRead(
              last->offset, last->offset + last->size_bytes, m.load)) {
        reads->push_back({reader, m.load.offset, 0});
        last = &reads->back();
        last_loads = &reads_[{reader, m.load.offset}];
      }
      last->size_bytes = m.load.offset + m.load.size_bytes - last->offset;
      last_loads->push_back(m.load);
    }
  }

  void Offer(const FilterRead& read,
             const absl::StatusOr<std::string_view>& bytes) {
    std::vector<std::pair<FilterLoad, std::vector<Waiter>>> loads;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = reads_.find({read.reader, read.offset});
      RB_CHECK(found != reads_.end(),
               "FilterLoads::Offer(): the read is not one of Ask(), or was "
               "offered before");
      for (const FilterLoad& load : found->second) {
        const auto waiters = waiters_.find({read.reader, load.chunk});
        loads.emplace_back(load, std::move(waiters->second));
        waiters_.erase(waiters);
      }
      reads_.erase(found);
    }
    // These are told when all waiters are answered: who is told may free `read`
    // and `bytes`.
    std::vector<std::shared_ptr<OpenLookup>> answered;
    for (auto& [load, waiters] : loads) {
      absl::StatusOr<std::string_view> own = bytes;
      if (own.ok()) {
        // Too few bytes are damage, as the reader finds.
        const uint64_t at = load.offset - read.offset;
        own = own->substr(
            static_cast<size_t>(std::min<uint64_t>(at, own->size())),
            static_cast<size_t>(load.size_bytes));
      }
      const auto& reader = internal::reader::BlockReader::Of(*read.reader);
      std::vector<internal::reader::Lookup> lookups(waiters.size());
      for (size_t i = 0; i < waiters.size(); ++i) {
        reader.Locate(*waiters[i].question.key, &lookups[i]);
      }
      reader.Offer(load, own, absl::MakeSpan(lookups));
      for (size_t i = 0; i < waiters.size(); ++i) {
        *waiters[i].may_contain = lookups[i].may_contain;
        if (waiters[i].lookup->left.fetch_sub(1) == 1) {
          answered.push_back(std::move(waiters[i].lookup));
        }
      }
    }
    for (const std::shared_ptr<OpenLookup>& lookup : answered) {
      util::EngineCall(std::ref(lookup->done));
    }
  }

 private:
  std::mutex mutex_;
  // By reader and chunk: who waits for it.
  std::map<std::pair<const FilterReader*, uint64_t>, std::vector<Waiter>>
      waiters_;
  // By reader and offset: the loads that a read under way is for.
  std::map<std::pair<const FilterReader*, uint64_t>, std::vector<FilterLoad>>
      reads_;
};

FilterLoads::FilterLoads() : impl_(std::make_unique<Impl>()) {}
FilterLoads::~FilterLoads() = default;

bool FilterLoads::Ask(absl::Span<const FilterQuestion> questions,
                      bool* may_contain, std::function<void()> done,
                      std::vector<FilterRead>* reads) {
  RB_CHECK((may_contain != nullptr || questions.empty()) && done != nullptr &&
               reads != nullptr,
           "FilterLoads::Ask(): may_contain, done or reads is null");
  std::vector<Impl::Missing> missing;
  std::shared_ptr<Impl::OpenLookup> lookup;
  // A load may overdraw the cache's ledger, and the others must see it.
  uint64_t planned_bytes = 0;
  for (size_t i = 0; i < questions.size(); ++i) {
    const FilterQuestion& asked = questions[i];
    RB_CHECK(asked.reader != nullptr && asked.key != nullptr,
             "FilterLoads::Ask(): a question without a reader or a key");
    FilterLoad load;
    const FilterAnswer answer = internal::reader::BlockReader::Of(*asked.reader)
                                    .Ask(*asked.key, &load, planned_bytes);
    may_contain[i] = answer != FilterAnswer::kNo;
    if (answer != FilterAnswer::kNotInMemory) continue;
    if (lookup == nullptr) lookup = std::make_shared<Impl::OpenLookup>();
    const bool is_planned =
        !missing.empty() &&
        missing.back().waiter.question.reader == asked.reader &&
        missing.back().load.chunk == load.chunk;
    if (!is_planned) planned_bytes += load.size_bytes;
    missing.push_back({load, {asked, &may_contain[i], lookup}});
  }
  if (missing.empty()) return true;
  lookup->done = std::move(done);
  lookup->left = missing.size();
  impl_->Wait(std::move(missing), reads);
  return false;
}

void FilterLoads::Offer(const FilterRead& read,
                        const absl::StatusOr<std::string_view>& bytes) {
  impl_->Offer(read, bytes);
}

}  // namespace rowbloom
