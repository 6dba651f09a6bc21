// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rowbloom/io.h"
#include "testing/threads.h"

namespace rowbloom {
namespace {

// gMock's matchers see std::string, whatever Abseil's string_view is.
std::string Message(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

// A fresh directory for each test, removed with its contents.
class FileIo : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "rowbloom_io_XXXXXX";
    ASSERT_NE(mkdtemp(dir_.data()), nullptr);
  }
  void TearDown() override {
    for (const std::string& path : paths_) std::remove(path.c_str());
    rmdir(dir_.c_str());
  }

  std::string Path(const std::string& name) {
    paths_.push_back(dir_ + "/" + name);
    return paths_.back();
  }
  std::string WriteFile(const std::string& name, std::string_view bytes) {
    const std::string path = Path(name);
    auto sink = OpenFileSink(path);
    EXPECT_TRUE(sink.ok()) << sink.status();
    EXPECT_TRUE((*sink)->Append(bytes).ok());
    EXPECT_TRUE((*sink)->SyncAndClose().ok());
    return path;
  }

  std::string dir_;
  std::vector<std::string> paths_;
};

TEST_F(FileIo, WhatIsAppendedIsReadBack) {
  std::string bytes;
  for (int i = 0; i < 300000; ++i) {
    bytes.push_back(static_cast<char>(i * 2654435761u >> 24));
  }
  const std::string path = Path("f");
  auto sink = OpenFileSink(path);
  ASSERT_TRUE(sink.ok()) << sink.status();
  const std::string_view view = bytes;
  ASSERT_TRUE((*sink)->Append(view.substr(0, 1)).ok());
  ASSERT_TRUE((*sink)->Append("").ok());
  ASSERT_TRUE((*sink)->Append(view.substr(1)).ok());
  ASSERT_TRUE((*sink)->SyncAndClose().ok());

  const auto source = OpenFileSource(path);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->size_bytes(), bytes.size());
  EXPECT_EQ((*source)->name(), path);
  std::string scratch(bytes.size(), '\0');
  for (const auto& [offset, size] : std::vector<std::pair<size_t, size_t>>{
           {0, bytes.size()}, {0, 0}, {bytes.size(), 0}, {17, 70000}}) {
    std::string_view result = "other";
    ASSERT_TRUE((*source)->Read(offset, size, scratch.data(), &result).ok());
    EXPECT_EQ(result, view.substr(offset, size));
  }
}

TEST_F(FileIo, OneSourceServesManyThreads) {
  std::string bytes(1 << 16, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(i ^ (i >> 8));
  }
  const auto source = OpenFileSource(WriteFile("f", bytes));
  ASSERT_TRUE(source.ok());
  testing::RunThreads(8, [&](int t) {
    char scratch[100];
    for (size_t offset = static_cast<size_t>(t); offset + 100 <= bytes.size();
         offset += 331) {
      std::string_view result;
      ASSERT_TRUE((*source)->Read(offset, 100, scratch, &result).ok());
      ASSERT_EQ(result, std::string_view(bytes).substr(offset, 100));
    }
  });
}

TEST_F(FileIo, OpeningASinkTruncates) {
  const std::string path = WriteFile("f", "something long");
  WriteFile("f", "short");
  EXPECT_EQ(Contents(path), "short");
}

TEST_F(FileIo, EmptyFileIsAFile) {
  const auto source = OpenFileSource(WriteFile("f", ""));
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->size_bytes(), 0);
  char scratch[1];
  std::string_view result = "other";
  EXPECT_TRUE((*source)->Read(0, 0, scratch, &result).ok());
  EXPECT_EQ(result, "");
  EXPECT_TRUE(absl::IsOutOfRange((*source)->Read(0, 1, scratch, &result)));
}

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

TEST_F(FileIo, SourcesOfFilesAndOfMemorySayWhereTheyEnd) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const std::string path = WriteFile("f", "0123456789");
  const auto file = OpenFileSource(path);
  ASSERT_TRUE(file.ok());
  const auto memory = NewMemorySource("0123456789", path);
  for (const RandomAccessSource* source : {file->get(), memory.get()}) {
    char scratch[16];
    std::string_view result = "other";
    ASSERT_TRUE(source->Read(0, 10, scratch, &result).ok());
    EXPECT_EQ(result, "0123456789");
    ASSERT_TRUE(source->Read(10, 0, scratch, &result).ok());
    EXPECT_EQ(result, "");
    const absl::Status status = source->Read(8, 3, scratch, &result);
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(Message(status),
              path + ": read of 3 bytes at offset 8 passes the end at 10");
    for (const auto& [offset, size] :
         std::vector<std::pair<uint64_t, size_t>>{{11, 0},
                                                  {4, kMax - 1},
                                                  {kMax, 4},
                                                  {kMax - 1, 4},
                                                  {kMax >> 1, 4},
                                                  {(kMax >> 1) + 1, 4}}) {
      EXPECT_TRUE(
          absl::IsOutOfRange(source->Read(offset, size, scratch, &result)));
    }
  }
}

TEST_F(FileIo, FileTruncatedUnderItsSourceIsOutOfRange) {
  const std::string path = WriteFile("f", "0123456789");
  const auto source = OpenFileSource(path);
  ASSERT_TRUE(source.ok());
  ASSERT_EQ(truncate(path.c_str(), 6), 0);
  char scratch[16];
  std::string_view result;
  const absl::Status status = (*source)->Read(4, 5, scratch, &result);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Message(status),
            path + ": read of 5 bytes at offset 4 passes the end at 6");
}

TEST_F(FileIo, OffsetsBeyond4GiBAreKept) {
  const std::string path = WriteFile("f", "");
  constexpr uint64_t kEnd = (uint64_t{5} << 30) + 3;
  ASSERT_EQ(truncate(path.c_str(), kEnd), 0);  // Sparse: no blocks behind it.
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  ASSERT_EQ(fseeko(file, kEnd - 3, SEEK_SET), 0);
  ASSERT_EQ(std::fwrite("end", 1, 3, file), 3);
  std::fclose(file);
  const auto source = OpenFileSource(path);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->size_bytes(), kEnd);
  char scratch[3];
  std::string_view result;
  ASSERT_TRUE((*source)->Read(kEnd - 3, 3, scratch, &result).ok());
  EXPECT_EQ(result, "end");
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

TEST_F(FileIo, SinkThatIsDestroyedOpenKeepsWhatWasWritten) {
  const std::string path = Path("f");
  {
    auto sink = OpenFileSink(path);
    ASSERT_TRUE(sink.ok());
    ASSERT_TRUE((*sink)->Append("bytes").ok());
  }
  EXPECT_EQ(Contents(path), "bytes");
}

TEST_F(FileIo, ClosedSinkNamesTheFirstCallThatCameTooLate) {
  for (const bool appends : {false, true}) {
    const std::string path = Path("f");
    auto sink = OpenFileSink(path);
    ASSERT_TRUE(sink.ok());
    ASSERT_TRUE((*sink)->Append("bytes").ok());
    ASSERT_TRUE((*sink)->SyncAndClose().ok());
    const absl::Status status =
        appends ? (*sink)->Append("x") : (*sink)->SyncAndClose();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(Message(status),
              path + (appends ? ": Append()" : ": SyncAndClose()") +
                  " was called after the file was closed");
    EXPECT_EQ((*sink)->SyncAndClose(), status);
    EXPECT_EQ(Contents(path), "bytes");
  }
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
