// SPDX-License-Identifier: Apache-2.0
//
// Says on stderr what the program is doing: a bar on a terminal, else one
// line per phase. Also where the program notices that it is to stop.
//
//   Progress progress;
//   progress.Begin("load none", cells);
//   for (...) progress.Add(1000);   // throws Interrupted after ^C
//   progress.End();
//
// One thread.

#ifndef ROWBLOOM_BENCH_PROGRESS_H_
#define ROWBLOOM_BENCH_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace rowbloom::bench {

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

class Progress {
 public:
  // Takes SIGINT and SIGTERM, so that databases are removed on the way out.
  Progress();

  void Begin(const std::string& what, uint64_t total);
  void Add(uint64_t count);
  void End();

 private:
  using Clock = std::chrono::steady_clock;

  double Seconds() const;
  void Draw();

  const bool terminal_;
  std::string what_;
  uint64_t total_ = 0;
  uint64_t done_ = 0;
  Clock::time_point start_;
  Clock::time_point drawn_;
};

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_PROGRESS_H_
