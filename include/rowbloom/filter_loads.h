// SPDX-License-Identifier: Apache-2.0
//
// Lookups of many keys in many SSTs for an engine that makes its own reads: on
// io_uring, coroutines or an object store.
//
//   FilterLoads loads;                  // One for all lookups of a store.
//   std::vector<FilterRead> reads;
//   if (!loads.Ask(questions, answers, resume, &reads)) {
//     for (const FilterRead& read : reads) Start(read);   // All at once.
//     ...                               // For each: loads.Offer(read, bytes).
//     co_await resumed;                 // `resume` was called.
//   }
//
// Neighbouring chunks of a file are one read, and lookups that want a chunk
// which is being read already wait for that read. Any number of threads may
// call it. Readers, questions, their keys and the answers must live until the
// lookup is answered. A FilterLoads that is destroyed while a read is under way
// ends the process with a message. An exception that leaves `done` ends it too.

#ifndef ROWBLOOM_FILTER_LOADS_H_
#define ROWBLOOM_FILTER_LOADS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_reader.h"

namespace ROWBLOOM_EXPORT rowbloom {

// A read of the source of `reader`.
struct FilterRead {
  const FilterReader* reader = nullptr;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
};

class FilterLoads {
 public:
  FilterLoads();
  ~FilterLoads();
  FilterLoads(const FilterLoads&) = delete;
  FilterLoads& operator=(const FilterLoads&) = delete;

  // Asks as FilterReader::Ask() does: no I/O. Returns true if all questions are
  // answered: may_contain[i] answers questions[i]. Otherwise it appends to
  // *reads what the engine has to read for them, which may be nothing, and
  // Offer() calls done(), in its thread, when the last answer is there: that
  // may be before this returns if nothing was appended.
  bool Ask(absl::Span<const FilterQuestion> questions, bool* may_contain,
           std::function<void()> done, std::vector<FilterRead>* reads);
  // Gives the bytes of a read, or its error, to all lookups that wait for it.
  // Each read of Ask() is offered once (checked). `read` and `bytes` may go
  // when the first done() is called. As in FilterReader::Offer(), an error or
  // damage answers "maybe". A load counts once for all that wait for it, and so
  // does its failure.
  void Offer(const FilterRead& read,
             const absl::StatusOr<std::string_view>& bytes);

 private:
  class ROWBLOOM_HIDDEN Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_LOADS_H_
