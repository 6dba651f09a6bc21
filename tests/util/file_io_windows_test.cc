// SPDX-License-Identifier: Apache-2.0

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "platform/platform.h"
#include "rowbloom/io.h"
#include "util/file_io_fixture.h"

namespace rowbloom {
namespace {

namespace fs = std::filesystem;

// "Zeile" with an umlaut, and "row" in Chinese, in UTF-8 and in UTF-16.
constexpr char kName[] = "Z\xc3\xa4ile_\xe8\xa1\x8c";
constexpr wchar_t kWideName[] = L"Z\u00e4ile_\u884c";

std::string ReadAll(const RandomAccessSource& source) {
  std::string scratch(static_cast<size_t>(source.size_bytes()), '\0');
  std::string_view result;
  EXPECT_TRUE(source.Read(0, scratch.size(), scratch.data(), &result).ok());
  return std::string(result);
}

TEST_F(FileIo, PathsAreUtf8) {
  const std::string path = WriteFile(kName, "bytes");
  EXPECT_TRUE(fs::exists(fs::path(dir_) / kWideName));
  const auto source = OpenFileSource(path);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(ReadAll(**source), "bytes");
}

TEST_F(FileIo, PathsMayBeLongerThan260Letters) {
  std::string name;
  std::wstring wide =
      L"\\\\?\\" + fs::absolute(dir_).make_preferred().wstring();
  for (int i = 0; i < 6; ++i) {
    name += std::string(100, 'd') + kName + "/";
    wide += L"\\" + std::wstring(100, L'd') + kWideName;
    ASSERT_TRUE(CreateDirectoryW(wide.c_str(), nullptr)) << GetLastError();
  }
  const std::string path = WriteFile(name + "f", "bytes");
  EXPECT_NE(GetFileAttributesW((wide + L"\\f").c_str()),
            INVALID_FILE_ATTRIBUTES);
  // As an absolute path, as one below the current directory, and with both
  // separators and "..".
  const std::string back =
      Path("..") + "\\" + fs::path(dir_).filename().string() + "/" + name + "f";
  const fs::path before = fs::current_path();
  fs::current_path(dir_);
  for (const std::string& spelled : {path, name + "f", back}) {
    const auto source = OpenFileSource(spelled);
    EXPECT_TRUE(source.ok()) << source.status();
    if (source.ok()) EXPECT_EQ(ReadAll(**source), "bytes");
  }
  fs::current_path(before);
  for (; !wide.empty() && wide.size() > dir_.size() + 100;
       wide.erase(wide.rfind(L'\\'))) {
    DeleteFileW((wide + L"\\f").c_str());
    RemoveDirectoryW(wide.c_str());
  }
}

// Wine opens them without the prefix, too.
TEST_F(FileIo, LongPathsAreAbsoluteBehindAPrefix) {
  const std::string name(300, 'd');
  const std::wstring wide(300, L'd');
  const std::wstring here = fs::current_path().wstring();
  EXPECT_EQ(platform::SystemPath("a/b"), L"a/b");
  EXPECT_EQ(platform::SystemPath("a/../" + name + "/f"),
            L"\\\\?\\" + here + L"\\" + wide + L"\\f");
  EXPECT_EQ(platform::SystemPath("C:/" + name), L"\\\\?\\C:\\" + wide);
  EXPECT_EQ(platform::SystemPath("//server/share/" + name),
            L"\\\\?\\UNC\\server\\share\\" + wide);
  EXPECT_EQ(platform::SystemPath("\\\\?\\C:\\" + name), L"\\\\?\\C:\\" + wide);
}

TEST_F(FileIo, BytesOfLineEndsAreKept) {
  const std::string bytes =
      "a\nb\r\nc\x1a"
      "d\n";
  EXPECT_EQ(Contents(WriteFile("f", bytes)), bytes);
}

TEST_F(FileIo, OpenFileIsRenamedAndRemoved) {
  const std::string path = WriteFile("f", "bytes");
  const auto source = OpenFileSource(path);
  ASSERT_TRUE(source.ok()) << source.status();
  fs::rename(path, Path("g"));
  EXPECT_EQ(ReadAll(**source), "bytes");
  EXPECT_TRUE(fs::remove(Path("g")));
  EXPECT_EQ(ReadAll(**source), "bytes");

  auto sink = OpenFileSink(path);
  ASSERT_TRUE(sink.ok()) << sink.status();
  fs::rename(path, Path("h"));
  EXPECT_TRUE((*sink)->Append("more").ok());
  EXPECT_TRUE((*sink)->SyncAndClose().ok());
  EXPECT_EQ(Contents(Path("h")), "more");
}

TEST_F(FileIo, WhatIsNoFileIsRefusedWithItsPathAndTheErrorsNumber) {
  const std::string absent = dir_ + "/absent/f";
  const std::string locked = WriteFile("locked", "");
  const HANDLE lock =
      CreateFileA(locked.c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING,
                  FILE_ATTRIBUTE_NORMAL, nullptr);
  ASSERT_NE(lock, INVALID_HANDLE_VALUE);
  const struct {
    absl::Status status;
    absl::StatusCode code;
    std::string begin, end;
  } cases[] = {
      {OpenFileSource(absent).status(), absl::StatusCode::kNotFound,
       absent + ": open for reading: ", "(Windows error 3)"},
      {OpenFileSource(dir_ + "/g").status(), absl::StatusCode::kNotFound,
       dir_ + "/g: open for reading: ", "(Windows error 2)"},
      {OpenFileSource(dir_).status(), absl::StatusCode::kFailedPrecondition,
       dir_ + ": not a regular file", ""},
      {OpenFileSource("NUL").status(), absl::StatusCode::kFailedPrecondition,
       "NUL: not a regular file", ""},
      {OpenFileSource(locked).status(), absl::StatusCode::kPermissionDenied,
       locked + ": open for reading: ", "(Windows error 32)"},
      {OpenFileSink(absent).status(), absl::StatusCode::kNotFound,
       absent + ": open for writing: ", "(Windows error 3)"},
      {OpenFileSink(dir_).status(), absl::StatusCode::kPermissionDenied,
       dir_ + ": open for writing: ", "(Windows error 5)"},
      {OpenFileSource("no\xffutf8").status(),
       absl::StatusCode::kInvalidArgument,
       "no\xffutf8: open for reading: ", "(Windows error 1113)"},
      {OpenFileSource(std::string("a\0b", 3)).status(),
       absl::StatusCode::kInvalidArgument, std::string("a\0b: ", 5),
       "(Windows error 123)"}};
  for (const auto& c : cases) {
    EXPECT_EQ(c.status.code(), c.code) << c.status;
    const std::string message = Message(c.status);
    EXPECT_EQ(message.substr(0, c.begin.size()), c.begin);
    EXPECT_EQ(message.substr(message.size() - c.end.size()), c.end);
  }
  CloseHandle(lock);
}

}  // namespace
}  // namespace rowbloom

#endif
