// SPDX-License-Identifier: Apache-2.0
//
// The progress of a run over many files: a line that is rewritten on a
// terminal, and lines now and then in a log.
//
//   RebuildProgress progress(files, bytes, seconds);
//   progress.Add(bytes);  // From any thread.
//   progress.FinishFile();

#ifndef ROWBLOOM_TOOLS_HBASE_REBUILD_PROGRESS_H_
#define ROWBLOOM_TOOLS_HBASE_REBUILD_PROGRESS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tools/text/output.h"

namespace rowbloom::tools {

// "3 of 12 files, 1.2 of 8.4 GB, 210 MB/s, 34 s left". No rate and time without
// seconds.
std::string ProgressText(uint64_t files, uint64_t of_files, uint64_t bytes,
                         uint64_t of_bytes, double seconds);

class RebuildProgress {
 public:
  // `interval_seconds`: 0 for no progress; nullopt for 1 on a terminal and 60
  // elsewhere. If it is given, there is a line at the begin and at the end,
  // too.
  RebuildProgress(uint64_t files, uint64_t bytes,
                  std::optional<uint32_t> interval_seconds);
  ~RebuildProgress();
  RebuildProgress(const RebuildProgress&) = delete;
  RebuildProgress& operator=(const RebuildProgress&) = delete;

  void Add(uint64_t bytes);
  void FinishFile();
  // Removes the terminal's line while `print` writes lines of its own.
  template <typename Print>
  void Around(const Print& print) {
    const std::lock_guard<std::mutex> guard(mutex_);
    line_.Clear();
    print();
  }

 private:
  void Run(uint32_t seconds);
  void Show();

  const uint64_t of_files_;
  const uint64_t of_bytes_;
  const bool is_verbose_;
  const std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  uint64_t files_ = 0;
  uint64_t bytes_ = 0;
  ProgressLine line_;
  std::thread thread_;
};

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_HBASE_REBUILD_PROGRESS_H_
