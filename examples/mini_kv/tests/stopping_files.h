// SPDX-License-Identifier: Apache-2.0
//
// Files that stop at a chosen operation, like a process that dies: only the
// first half of an append is written, and nothing is done afterwards.
//
//   StoppingFiles files(17, [](const std::string& where) { ... });
//   options.files = &files;
//
// Operation 1 is the first. `stop` may end the process; if it returns, the
// operation and all later ones fail.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_TESTS_STOPPING_FILES_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_TESTS_STOPPING_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "../files.h"

namespace mini_kv {

class StoppingFiles : public Files {
 public:
  // `where` is for example "append to .sst".
  using Stop = std::function<void(const std::string& where)>;
  StoppingFiles(uint64_t stop_at, Stop stop)
      : stop_at_(stop_at), stop_(std::move(stop)) {}

  bool stopped() const { return operations_ >= stop_at_; }

  absl::StatusOr<std::unique_ptr<rowbloom::FileSink>> Create(
      const std::string& path) override {
    const std::string kind = path.substr(path.rfind('.'));
    if (stopped()) return Stopped();
    auto sink = Files::Create(path);
    if (!sink.ok()) return sink.status();
    if (Step("create " + kind)) return Stopped();
    return std::unique_ptr<rowbloom::FileSink>(
        new Sink(this, kind, *std::move(sink)));
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (Step("before rename")) return Stopped();
    const absl::Status status = Files::Rename(from, to);
    return Step("after rename") ? Stopped() : status;
  }
  absl::Status Remove(const std::string& path) override {
    if (Step("remove " + path.substr(path.rfind('.')))) return Stopped();
    return Files::Remove(path);
  }
  absl::Status SyncDirectory(const std::string& path) override {
    if (Step("sync directory")) return Stopped();
    return Files::SyncDirectory(path);
  }

 private:
  class Sink : public rowbloom::FileSink {
   public:
    Sink(StoppingFiles* files, const std::string& kind,
         std::unique_ptr<rowbloom::FileSink> sink)
        : files_(files), kind_(kind), sink_(std::move(sink)) {}

    absl::Status Append(std::string_view bytes) override {
      if (files_->stopped()) return Stopped();
      const size_t half = bytes.size() / 2;
      absl::Status status = sink_->Append(bytes.substr(0, half));
      if (files_->Step("append to " + kind_)) return Stopped();
      return status.ok() ? sink_->Append(bytes.substr(half)) : status;
    }
    absl::Status SyncAndClose() override {
      if (files_->stopped()) return Stopped();
      const absl::Status status = sink_->SyncAndClose();
      return files_->Step("after sync of " + kind_) ? Stopped() : status;
    }

   private:
    StoppingFiles* const files_;
    const std::string kind_;
    const std::unique_ptr<rowbloom::FileSink> sink_;
  };

  static absl::Status Stopped() { return absl::AbortedError("stopped"); }

  // True if the operation must not happen.
  bool Step(const std::string& where) {
    if (!stopped() && ++operations_ == stop_at_) stop_(where);
    return stopped();
  }

  const uint64_t stop_at_;
  const Stop stop_;
  uint64_t operations_ = 0;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_TESTS_STOPPING_FILES_H_
