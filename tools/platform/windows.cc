// SPDX-License-Identifier: Apache-2.0
//
// rowbloom.manifest makes UTF-8 the encoding of all narrow text: of arguments,
// and of the paths of std::filesystem and std::fstream.

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <algorithm>
#include <cstdio>
#include <cwctype>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tools/platform/platform.h"

namespace rowbloom::tools::platform {
namespace {

namespace fs = std::filesystem;

void (*before_end)() = nullptr;

BOOL WINAPI CallAndEnd(DWORD) {
  before_end();
  return FALSE;  // The next handler ends the process.
}

bool NameMatches(std::wstring_view name, std::wstring_view pattern) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == L'*') {
    return NameMatches(name, pattern.substr(1)) ||
           (!name.empty() && NameMatches(name.substr(1), pattern));
  }
  return !name.empty() &&
         (pattern[0] == L'?' ||
          std::towupper(pattern[0]) == std::towupper(name[0])) &&
         NameMatches(name.substr(1), pattern.substr(1));
}

// Adds the paths of `directory` that match the components from `it` on.
void AddMatches(const fs::path& directory, fs::path::const_iterator it,
                fs::path::const_iterator end, std::vector<std::string>* paths) {
  std::error_code error;
  if (it == end) {
    if (fs::exists(directory, error)) {
      paths->push_back(TextOf(directory));
    }
    return;
  }
  const std::wstring pattern = it->wstring();
  const fs::path::const_iterator next = std::next(it);
  if (pattern.find_first_of(L"*?") == std::wstring::npos) {
    AddMatches(directory / *it, next, end, paths);
    return;
  }
  fs::directory_iterator entry(directory.empty() ? "." : directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if ((name.wstring()[0] != L'.' || pattern[0] == L'.') &&
        NameMatches(name.wstring(), pattern)) {
      AddMatches(directory / name, next, end, paths);
    }
  }
}

// A range that no file has: locks of Windows keep others from reading it.
OVERLAPPED LockedRange() {
  OVERLAPPED range = {};
  range.OffsetHigh = 0x7fffffff;
  return range;
}

}  // namespace

void PrepareStreams() {
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
  _setmode(_fileno(stderr), _O_BINARY);
  SetConsoleOutputCP(CP_UTF8);
}

bool ErrorsAreOnTerminal() {
  const HANDLE errors = GetStdHandle(STD_ERROR_HANDLE);
  DWORD mode = 0;
  return GetConsoleMode(errors, &mode) != 0 &&
         SetConsoleMode(errors, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

std::string TextOf(const fs::path& path) {
  std::string text = path.string();
  std::replace(text.begin(), text.end(), '\\', '/');
  return text;
}

std::vector<std::string> Match(const std::string& pattern) {
  const fs::path path(pattern);
  const fs::path relative = path.relative_path();
  std::vector<std::string> paths;
  AddMatches(path.root_path(), relative.begin(), relative.end(), &paths);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string ProcessId() { return std::to_string(GetCurrentProcessId()); }

Lock LockFileAt(const std::string& path, bool make) {
  const HANDLE file = CreateFileW(
      fs::path(path).c_str(), GENERIC_READ | (make ? GENERIC_WRITE : 0),
      FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
      make ? OPEN_ALWAYS : OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) return kNoLock;
  OVERLAPPED range = LockedRange();
  if (LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0,
                 1, 0, &range) != 0) {
    return reinterpret_cast<Lock>(file);
  }
  CloseHandle(file);
  return kNoLock;
}

void Release(Lock lock) { CloseHandle(reinterpret_cast<HANDLE>(lock)); }

void CallBeforeEnd(void (*function)()) {
  before_end = function;
  SetConsoleCtrlHandler(CallAndEnd, TRUE);
}

void Remove(const char* path) { std::remove(path); }

}  // namespace rowbloom::tools::platform

#endif
