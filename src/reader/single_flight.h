// SPDX-License-Identifier: Apache-2.0
//
// Of the threads that want the same thing at the same time, one fetches it
// and the others take its result. A child of fork() fetches again what a
// thread of its parent was fetching.

#ifndef ROWBLOOM_READER_SINGLE_FLIGHT_H_
#define ROWBLOOM_READER_SINGLE_FLIGHT_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "base/epoch.h"

namespace rowbloom::reader {

// `Result` is copied to each waiter.
template <typename Result>
class SingleFlight {
 public:
  // Calls fetch() unless another thread is in the middle of doing so for this
  // key; then waits for that one's result.
  template <typename Fetch>
  Result Do(uint64_t key, const Fetch& fetch) {
    std::shared_ptr<Flight> flight;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      std::shared_ptr<Flight>& slot = flights_[key];
      if (slot != nullptr && slot->fork_count == base::ForkCount()) {
        flight = slot;
        flight->landing.wait(lock, [&] { return flight->landed; });
        return flight->result;
      }
      flight = std::make_shared<Flight>();
      slot = flight;
    }
    Result result = fetch();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      flight->result = result;
      flight->landed = true;
      flights_.erase(key);
    }
    flight->landing.notify_all();
    return result;
  }

 private:
  struct Flight {
    const uint64_t fork_count = base::ForkCount();
    // One for each flight. After fork() the parent's waiters never return, so
    // their condition variable must be neither used nor destroyed; their stacks
    // keep it alive.
    std::condition_variable landing;
    bool landed = false;
    Result result{};
  };

  // std::mutex and not absl::Mutex: ThreadSanitizer does not see into a
  // prebuilt Abseil.
  std::mutex mutex_;
  // Guarded by mutex_, and so are the flights.
  absl::flat_hash_map<uint64_t, std::shared_ptr<Flight>> flights_;
};

}  // namespace rowbloom::reader

#endif  // ROWBLOOM_READER_SINGLE_FLIGHT_H_
