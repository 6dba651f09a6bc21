// SPDX-License-Identifier: Apache-2.0

#include "tools/hbase/rebuild_progress.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_format.h"

namespace rowbloom::tools {
namespace {

constexpr double kMega = 1e6;
constexpr double kGiga = 1e9;

std::string DurationText(double seconds) {
  if (seconds < 120) return absl::StrFormat("%.0f s", seconds);
  if (seconds < 7200) return absl::StrFormat("%.0f min", seconds / 60);
  return absl::StrFormat("%.1f h", seconds / 3600);
}

}  // namespace

std::string ProgressText(uint64_t files, uint64_t of_files, uint64_t bytes,
                         uint64_t of_bytes, double seconds) {
  const auto done = static_cast<double>(bytes);
  const auto all = static_cast<double>(of_bytes);
  const bool is_large = all >= kGiga;
  const double unit = is_large ? kGiga : kMega;
  std::string text =
      absl::StrFormat("%d of %d files, %.1f of %.1f %s", files, of_files,
                      done / unit, all / unit, is_large ? "GB" : "MB");
  if (seconds <= 0 || bytes == 0) return text;
  const double rate = done / seconds;
  return text + absl::StrFormat(", %.1f MB/s, ", rate / kMega) +
         DurationText((all - done) / rate) + " left";
}

RebuildProgress::RebuildProgress(uint64_t files, uint64_t bytes,
                                 std::optional<uint32_t> interval_seconds)
    : of_files_(files),
      of_bytes_(bytes),
      is_verbose_(interval_seconds.value_or(0) > 0) {
  constexpr uint32_t kLogSeconds = 60;
  const uint32_t seconds =
      interval_seconds.value_or(line_.on_terminal() ? 1 : kLogSeconds);
  if (is_verbose_) Show();
  if (seconds > 0) thread_ = std::thread([this, seconds] { Run(seconds); });
}

RebuildProgress::~RebuildProgress() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    has_ended_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (is_verbose_) Show();
}

void RebuildProgress::Run(uint32_t seconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::seconds(seconds),
                          [this] { return has_ended_; })) {
    Show();
  }
}

void RebuildProgress::Show() {
  const std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin_;
  const std::string text =
      ProgressText(files_, of_files_, std::min(bytes_, of_bytes_), of_bytes_,
                   elapsed.count());
  if (line_.on_terminal()) {
    line_.ShowText(text);
  } else {
    std::fprintf(stderr, "rowbloom: rebuilt %s\n", text.c_str());
  }
}

void RebuildProgress::Add(uint64_t bytes) {
  const std::lock_guard<std::mutex> guard(mutex_);
  bytes_ += bytes;
}

void RebuildProgress::FinishFile() {
  const std::lock_guard<std::mutex> guard(mutex_);
  ++files_;
}

}  // namespace rowbloom::tools
