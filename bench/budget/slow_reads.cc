// SPDX-License-Identifier: Apache-2.0

#include "slow_reads.h"

#include <string>
#include <utility>

#include "rocksdb/file_system.h"

namespace rowbloom::budget_bench {
namespace {

using Delay = std::shared_ptr<std::atomic<int64_t>>;

// Sleeps are longer than asked for, by more than what is measured here.
void WaitUntil(std::chrono::steady_clock::time_point end) {
  while (std::chrono::steady_clock::now() < end) {
  }
}

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
      WaitUntil(std::chrono::steady_clock::now() +
                std::chrono::nanoseconds(delay_ns));
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

}  // namespace rowbloom::budget_bench
