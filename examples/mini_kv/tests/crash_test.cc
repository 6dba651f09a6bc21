// SPDX-License-Identifier: Apache-2.0
//
// Kills writers by SIGKILL, once at each of their file operations: this program
// has its own write(), fsync(), rename() and unlink(), which count and record.

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "../mini_kv.h"
#include "gtest/gtest.h"
#include "test_util.h"

namespace {

bool is_recorded = false;
uint64_t kill_at = 0;  // 0: never.
std::vector<std::string> operations;

void Record(const std::string& operation, const std::string& path) {
  if (!is_recorded) return;
  operations.push_back(operation + path.substr(path.rfind('/') + 1));
  if (operations.size() == kill_at) raise(SIGKILL);
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

// Half of what is written last is in the file.
ssize_t write(int fd, const void* bytes, size_t size) {
  static auto* const next = Next<ssize_t(int, const void*, size_t)>("write");
  if (!is_recorded) return next(fd, bytes, size);
  const bool is_last = operations.size() + 1 == kill_at;
  const ssize_t written = next(fd, bytes, is_last ? size / 2 : size);
  Record("write", "");
  return written;
}

int fsync(int fd) {
  static auto* const next = Next<int(int)>("fsync");
  std::error_code ignored;
  const auto path = std::filesystem::read_symlink(
      "/proc/self/fd/" + std::to_string(fd), ignored);
  Record("sync ", is_directory(path, ignored) ? "directory" : path.string());
  return next(fd);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const next = Next<int(const char*, const char*)>("rename");
  Record("rename to ", to);
  return next(from, to);
}

int unlink(const char* path) noexcept {
  static auto* const next = Next<int(const char*)>("unlink");
  Record("remove ", path);
  return next(path);
}

}  // extern "C"

namespace mini_kv {
namespace {

TEST(Crash, AnSstIsSyncedBeforeTheLogNamesIt) {
  const TempDirectory directory;
  auto store = *MiniKv::Open(Options(), directory.path());
  is_recorded = true;
  ASSERT_TRUE(store->Put("row", "name", "value").ok());
  ASSERT_TRUE(store->Flush().ok());
  ASSERT_TRUE(store->Compact().ok());
  store.reset();
  store = *MiniKv::Open(Options(), directory.path());
  is_recorded = false;
  std::string seen;
  for (const std::string& operation : operations) {
    if (operation != "write") seen += operation + '\n';
  }
  EXPECT_EQ(seen,
            "sync 1.sst\n"
            "sync LOG.tmp\n"
            "sync directory\n"
            "rename to LOG\n"
            "sync directory\n"
            "sync 2.sst\n"
            "sync LOG.tmp\n"
            "sync directory\n"
            "rename to LOG\n"
            "sync directory\n"
            "remove 1.sst\n"
            "sync directory\n");  // Open() makes the name durable.
}

TEST(Crash, AtAnyFileOperationLosesNoAcknowledgedWrite) {
  constexpr int kWrites = 400;
  Options options = SmallOptions();
  options.memtable_size_bytes = 4 << 10;
  auto* const acknowledged = static_cast<std::atomic<int>*>(
      mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(acknowledged, MAP_FAILED);
  bool is_killed = true;
  uint64_t at = 1;
  for (; is_killed && !HasFailure(); ++at) {
    SCOPED_TRACE("operation " + std::to_string(at));
    const TempDirectory directory;
    acknowledged->store(0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      operations.clear();
      kill_at = at;
      is_recorded = true;
      const auto store = *MiniKv::Open(options, directory.path());
      RandomCells random(1);
      for (int i = 1; i <= kWrites; ++i) {
        if (!Apply(random.Write(), store.get()).ok()) _exit(1);
        acknowledged->store(i);
      }
      _exit(0);
    }
    int ended = 0;
    ASSERT_EQ(waitpid(child, &ended, 0), child);
    is_killed = WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL;
    ASSERT_TRUE(is_killed || ended == 0);

    auto store = *MiniKv::Open(options, directory.path());
    RandomCells random(1);
    Model model;
    for (int i = 0; i < acknowledged->load(); ++i) {
      Apply(random.Write(), &model);
    }
    Model and_the_write_under_way = model;
    Apply(random.Write(), &and_the_write_under_way);
    const Model contents = Contents(store.get());
    CheckGets(contents, store.get());
    EXPECT_TRUE(contents == model || contents == and_the_write_under_way);
    EXPECT_EQ(store->stats().unreadable_filters, 0u);
    if (!is_killed) {  // These were enough operations to meet compactions.
      EXPECT_GT(store->levels()[2].ssts, 0u);
    }
    // The next process can go on with what the dead one left.
    EXPECT_EQ(store->Compact(), absl::OkStatus());
    store.reset();
    store = *MiniKv::Open(options, directory.path());
    EXPECT_EQ(Contents(store.get()), contents);
    // There is the log and one SST, and nothing of the dead process.
    EXPECT_LE(std::distance(
                  std::filesystem::directory_iterator(directory.path()), {}),
              2);
  }
  EXPECT_GT(at, 500u);
}

}  // namespace
}  // namespace mini_kv
