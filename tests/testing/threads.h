// SPDX-License-Identifier: Apache-2.0
//
// Runs a function on several threads at the same time.
//
//   RunThreads(8, [&](int t) { counters.Add(t); });  // Waits for all.

#ifndef ROWBLOOM_TESTS_TESTING_THREADS_H_
#define ROWBLOOM_TESTS_TESTING_THREADS_H_

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace rowbloom::testing {

// Calls run(0) to run(count - 1), each on its own thread. Until all have ended,
// the calling thread calls `meanwhile` again and again, but at least once.
inline void RunThreads(
    int count, const std::function<void(int)>& run,
    const std::function<void()>& meanwhile = std::this_thread::yield) {
  std::atomic<int> running{count};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      run(t);
      --running;
    });
  }
  do {
    meanwhile();
  } while (running > 0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_THREADS_H_
