// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rowbloom/io.h"
#include "testing/threads.h"
#include "util/file_io_fixture.h"

namespace rowbloom {
namespace {

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
  std::filesystem::resize_file(path, 6);
  char scratch[16];
  std::string_view result;
  const absl::Status status = (*source)->Read(4, 5, scratch, &result);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Message(status),
            path + ": read of 5 bytes at offset 4 passes the end at 6");
  EXPECT_EQ(Message((*source)->Read(8, 2, scratch, &result)),
            path + ": read of 2 bytes at offset 8 passes the end at 6");
}

TEST_F(FileIo, OffsetsBeyond4GiBAreKept) {
  const std::string path = WriteFile("f", "");
  constexpr uint64_t kEnd = (uint64_t{5} << 30) + 3;
  std::filesystem::resize_file(path, kEnd);  // Sparse: no blocks behind it.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  ASSERT_TRUE(file.seekp(kEnd - 3).write("end", 3).flush());
  const auto source = OpenFileSource(path);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->size_bytes(), kEnd);
  char scratch[3];
  std::string_view result;
  ASSERT_TRUE((*source)->Read(kEnd - 3, 3, scratch, &result).ok());
  EXPECT_EQ(result, "end");
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

}  // namespace
}  // namespace rowbloom
