// SPDX-License-Identifier: Apache-2.0

#include "bench/progress.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace rowbloom::bench {
namespace {

constexpr int kBarWidth = 30;
constexpr auto kRedrawInterval = std::chrono::milliseconds(100);

volatile std::sig_atomic_t stop_requested = 0;
void RequestStop(int) { stop_requested = 1; }

}  // namespace

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {
  std::signal(SIGINT, RequestStop);
  std::signal(SIGTERM, RequestStop);
}

void Progress::Begin(const std::string& what, uint64_t total) {
  what_ = what;
  total_ = total;
  done_ = 0;
  start_ = drawn_ = Clock::now();
  if (terminal_) Draw();
}

void Progress::Add(uint64_t count) {
  if (stop_requested) throw Interrupted();
  done_ += count;
  const Clock::time_point now = Clock::now();
  if (!terminal_ || now - drawn_ < kRedrawInterval) return;
  drawn_ = now;
  Draw();
}

void Progress::End() {
  if (terminal_) std::fprintf(stderr, "\r\033[K");
  std::fprintf(stderr, "%-52s %5.1f s\n", what_.c_str(), Seconds());
}

double Progress::Seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::Draw() {
  const double share =
      total_ == 0 ? 0 : std::min(1.0, static_cast<double>(done_) / total_);
  const std::string bar(static_cast<size_t>(share * kBarWidth), '=');
  std::fprintf(stderr, "\r%-40s [%-*s] %3.0f%% %5.1f s\033[K", what_.c_str(),
               kBarWidth, bar.c_str(), 100 * share, Seconds());
  std::fflush(stderr);
}

}  // namespace rowbloom::bench
