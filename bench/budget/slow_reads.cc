// SPDX-License-Identifier: Apache-2.0

#include "slow_reads.h"

#include <sys/prctl.h>

#include <string>
#include <thread>
#include <utility>

#include "rocksdb/file_system.h"

namespace rowbloom::budget_bench {
namespace {

using Delay = std::shared_ptr<std::atomic<int64_t>>;

class SlowFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  SlowFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file, Delay delay_ns)
      : FSRandomAccessFileOwnerWrapper(std::move(file)),
        delay_ns_(std::move(delay_ns)) {}

  rocksdb::IOStatus Read(uint64_t offset, size_t size,
                         const rocksdb::IOOptions& options,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* debug) const override {
    const int64_t delay_ns = delay_ns_->load(std::memory_order_relaxed);
    if (delay_ns != 0) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(delay_ns));
    }
    return FSRandomAccessFileOwnerWrapper::Read(offset, size, options, result,
                                                scratch, debug);
  }

 private:
  const Delay delay_ns_;
};

class SlowFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit SlowFileSystem(Delay delay_ns)
      : FileSystemWrapper(rocksdb::FileSystem::Default()),
        delay_ns_(std::move(delay_ns)) {}

  const char* Name() const override { return "SlowFileSystem"; }

  rocksdb::IOStatus NewRandomAccessFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
      rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    rocksdb::IOStatus status =
        target()->NewRandomAccessFile(name, options, &file, debug);
    if (status.ok()) {
      *result = std::make_unique<SlowFile>(std::move(file), delay_ns_);
    }
    return status;
  }

 private:
  const Delay delay_ns_;
};

}  // namespace

SlowReads::SlowReads()
    : delay_ns_(std::make_shared<std::atomic<int64_t>>(0)),
      env_(rocksdb::NewCompositeEnv(
          std::make_shared<SlowFileSystem>(delay_ns_))) {}

void SlowReads::set_delay(std::chrono::nanoseconds delay) {
  // Else Linux may sleep 50 us longer.
  prctl(PR_SET_TIMERSLACK, 1UL);
  *delay_ns_ = delay.count();
}

}  // namespace rowbloom::budget_bench
