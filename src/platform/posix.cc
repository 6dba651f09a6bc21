// SPDX-License-Identifier: Apache-2.0

#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "platform/platform.h"

// ThreadSanitizer does not know what membarrier(2) orders.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROWBLOOM_TSAN
#endif
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#if defined(__NR_membarrier) && !defined(__SANITIZE_THREAD__) && \
    !defined(ROWBLOOM_TSAN)
#include <linux/membarrier.h>
#define ROWBLOOM_MEMBARRIER
#endif
#endif

namespace rowbloom::platform {

namespace {

static_assert(sizeof(off_t) == 8, "build with _FILE_OFFSET_BITS=64");

// Repeats a system call that a signal interrupted.
template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

void* MapPages(void* at, size_t size, int flags) {
  flags |= MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(MAP_NORESERVE)
  flags |= MAP_NORESERVE;
#endif
  return mmap(at, size, PROT_READ | PROT_WRITE, flags, -1, 0);
}

}  // namespace

absl::Status LastError(const std::string& what) {
  return absl::ErrnoToStatus(errno, what);
}

File OpenToRead(const std::string& path) {
  return Retry(
      [&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
}

File OpenToWrite(const std::string& path) {
  return Retry([&] {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  });
}

bool GetInfo(File file, FileInfo* info) {
  struct stat stat;
  if (fstat(static_cast<int>(file), &stat) < 0) return false;
  *info = {S_ISREG(stat.st_mode), static_cast<uint64_t>(stat.st_size)};
  return true;
}

int64_t ReadAt(File file, uint64_t offset, char* bytes, size_t size) {
  return Retry([&] {
    return pread(static_cast<int>(file), bytes, size,
                 static_cast<off_t>(offset));
  });
}

int64_t Write(File file, const char* bytes, size_t size) {
  return Retry([&] { return write(static_cast<int>(file), bytes, size); });
}

bool Sync(File file) {
  const int fd = static_cast<int>(file);
#if defined(F_FULLFSYNC)
  // fsync() of macOS leaves the bytes in the disk's cache; some file systems
  // have nothing else.
  if (Retry([&] { return fcntl(fd, F_FULLFSYNC); }) >= 0) return true;
#endif
  return Retry([&] { return fsync(fd); }) >= 0;
}

bool Close(File file) {
  // It is not repeated: after EINTR the descriptor is gone.
  return close(static_cast<int>(file)) == 0 || errno == EINTR;
}

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

char* MapAligned(size_t size) {
  void* const mapped = MapPages(nullptr, 2 * size, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const size_t before =
      (size - reinterpret_cast<uintptr_t>(begin) % size) % size;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + size, size - before);
  return begin + before;
}

void Unmap(char* bytes, size_t size) { munmap(bytes, size); }

void GiveBack(char* bytes, size_t size) {
#if defined(__linux__)
  madvise(bytes, size, MADV_DONTNEED);
#else
  // Elsewhere MADV_DONTNEED keeps pages until others want them.
  MapPages(bytes, size, MAP_FIXED);
#endif
}

bool UseHugePages([[maybe_unused]] char* bytes, [[maybe_unused]] size_t size,
                  [[maybe_unused]] bool use) {
#if defined(MADV_HUGEPAGE)
  if (use && madvise(bytes, size, MADV_HUGEPAGE) == 0) return true;
  madvise(bytes, size, MADV_NOHUGEPAGE);
#endif
  return false;
}

#if defined(ROWBLOOM_MEMBARRIER)
namespace {
bool Membarrier(int command) {
  return syscall(__NR_membarrier, command, 0, 0) == 0;
}
}  // namespace

bool RegisterBarrier() {
  return Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}
bool BarrierOnAllThreads() {
  return Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
         // A child of fork() may have to register again.
         (RegisterBarrier() && Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}
#else
bool RegisterBarrier() { return false; }
bool BarrierOnAllThreads() { return false; }
#endif

void CallInChildren(void (*function)()) {
  pthread_atfork(nullptr, nullptr, function);
}

}  // namespace rowbloom::platform

#endif
