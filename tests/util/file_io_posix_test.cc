// SPDX-License-Identifier: Apache-2.0

#if !defined(_WIN32)

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "rowbloom/io.h"
#include "util/file_io_fixture.h"

namespace rowbloom {
namespace {

// The message has the path and errno's text. A FIFO is not waited for.
TEST_F(FileIo, WhatIsNoFileIsRefusedWithItsPath) {
  const std::string absent = dir_ + "/absent/f";
  const std::string fifo = Path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const struct {
    absl::Status status;
    absl::StatusCode code;
    std::string message;
  } cases[] = {
      {OpenFileSource(absent).status(), absl::StatusCode::kNotFound,
       absent + ": open for reading: No such file or directory"},
      {OpenFileSource(dir_).status(), absl::StatusCode::kFailedPrecondition,
       dir_ + ": not a regular file"},
      {OpenFileSource(fifo).status(), absl::StatusCode::kFailedPrecondition,
       fifo + ": not a regular file"},
      {OpenFileSink(absent).status(), absl::StatusCode::kNotFound,
       absent + ": open for writing: No such file or directory"},
      {OpenFileSink(dir_).status(), absl::StatusCode::kFailedPrecondition,
       dir_ + ": open for writing: Is a directory"}};
  for (const auto& c : cases) {
    EXPECT_EQ(c.status.code(), c.code) << c.status;
    EXPECT_EQ(Message(c.status), c.message);
  }
}

// A file size limit breaks writing in the middle of an Append: the kernel
// first writes less than it was asked to, and then fails.
TEST_F(FileIo, FailedWriteIsReportedByEveryLaterCall) {
  const std::string path = Path("f");
  auto sink = OpenFileSink(path);
  ASSERT_TRUE(sink.ok());

  rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  rlimit limit = old_limit;
  limit.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Status first = (*sink)->Append(std::string(1500, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  signal(SIGXFSZ, old_handler);

  EXPECT_EQ(Message(first),
            path + ": write of 500 bytes at offset 1000: File too large");
  // There is room again, but the file has lost its tail.
  EXPECT_EQ((*sink)->Append("y"), first);
  EXPECT_EQ((*sink)->SyncAndClose(), first);
  EXPECT_EQ(Contents(path), std::string(1000, 'x'));
}

// Fills a FIFO with a slow reader under signals without SA_RESTART: writes are
// short or interrupted, and no byte may be lost.
TEST_F(FileIo, InterruptedAndShortWritesLoseNothing) {
  const std::string path = Path("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string sent(1 << 20, '\0');
  for (size_t i = 0; i < sent.size(); ++i) {
    sent[i] = static_cast<char>(i ^ (i >> 8) ^ (i >> 16));
  }
  std::string received;
  std::thread slow([&] {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    char buffer[777];
    size_t got;
    while ((got = std::fread(buffer, 1, sizeof(buffer), file)) > 0) {
      received.append(buffer, got);
    }
    std::fclose(file);
  });
  const auto sink = OpenFileSink(path);
  ASSERT_TRUE(sink.ok()) << sink.status();

  struct sigaction action = {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);  // It is never reset.
  const pthread_t writer = pthread_self();
  std::atomic<bool> done{false};
  std::thread interrupter([&] {
    while (!done) {
      pthread_kill(writer, SIGUSR1);
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE((*sink)->Append(sent).ok());
  done = true;
  interrupter.join();

  // A FIFO cannot be synced; SyncAndClose() says so and closes it nevertheless.
  EXPECT_EQ(Message((*sink)->SyncAndClose()),
            path + ": fsync: Invalid argument");
  slow.join();
  EXPECT_TRUE(received == sent);  // Without printing them.
}

TEST_F(FileIo, FailedSyncIsReportedByAppendAfterClosing) {
  const std::string path = Path("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  // Opens both ends, so that opening to write does not wait for a reader.
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  auto sink = OpenFileSink(path);
  ASSERT_TRUE(sink.ok());
  const absl::Status failed = (*sink)->SyncAndClose();
  EXPECT_EQ(Message(failed), path + ": fsync: Invalid argument");
  EXPECT_EQ((*sink)->Append("x"), failed);
  EXPECT_EQ((*sink)->SyncAndClose(), failed);
  close(reader);
}

}  // namespace
}  // namespace rowbloom

#endif
