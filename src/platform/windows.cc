// SPDX-License-Identifier: Apache-2.0

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "platform/platform.h"

namespace rowbloom::platform {

namespace {

HANDLE HandleOf(File file) { return reinterpret_cast<HANDLE>(file); }

File Open(const std::string& path, DWORD access, DWORD disposition,
          DWORD flags) {
  const std::wstring wide = SystemPath(path);
  if (wide.empty()) return kNoFile;
  return reinterpret_cast<File>(CreateFileW(
      wide.c_str(), access,
      FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
      disposition, flags | FILE_ATTRIBUTE_NORMAL, nullptr));
}

absl::StatusCode CodeOf(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH:
      return absl::StatusCode::kNotFound;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_WRITE_PROTECT:
      return absl::StatusCode::kPermissionDenied;
    case ERROR_INVALID_NAME:
    case ERROR_NO_UNICODE_TRANSLATION:
    case ERROR_FILENAME_EXCED_RANGE:
      return absl::StatusCode::kInvalidArgument;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
    case ERROR_TOO_MANY_OPEN_FILES:
    case ERROR_NOT_ENOUGH_MEMORY:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kUnknown;
  }
}

// A read or write has at most 32 bits of bytes.
DWORD AtMostOneGiB(size_t size) {
  return static_cast<DWORD>(std::min<size_t>(size, size_t{1} << 30));
}

}  // namespace

// Windows takes paths beyond MAX_PATH only behind a prefix, and then as they
// are: absolute, with backslashes.
std::wstring SystemPath(const std::string& path) {
  const int size = static_cast<int>(path.size());
  const int wide_size = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS,
                                            path.data(), size, nullptr, 0);
  if (wide_size == 0) return std::wstring();
  std::wstring wide(static_cast<size_t>(wide_size), L'\0');
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path.data(), size,
                      wide.data(), wide_size);
  if (wide.find(L'\0') != std::wstring::npos) {
    SetLastError(ERROR_INVALID_NAME);  // It would end the path there.
    return std::wstring();
  }
  const DWORD full_size = GetFullPathNameW(wide.c_str(), 0, nullptr, nullptr);
  if (full_size < MAX_PATH) return wide;
  std::wstring full(full_size, L'\0');
  full.resize(GetFullPathNameW(wide.c_str(), full_size, full.data(), nullptr));
  if (full.rfind(L"\\\\?\\", 0) == 0 || full.rfind(L"\\\\.\\", 0) == 0) {
    return full;
  }
  return full.rfind(L"\\\\", 0) == 0 ? L"\\\\?\\UNC\\" + full.substr(2)
                                     : L"\\\\?\\" + full;
}

absl::Status LastError(const std::string& what) {
  const DWORD error = GetLastError();
  char text[512];
  DWORD size = FormatMessageA(
      FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
      error, 0, text, static_cast<DWORD>(std::size(text)), nullptr);
  while (size > 0 && (text[size - 1] == '\r' || text[size - 1] == '\n' ||
                      text[size - 1] == '.')) {
    --size;
  }
  return absl::Status(CodeOf(error), what + ": " + std::string(text, size) +
                                         " (Windows " + "error " +
                                         std::to_string(error) + ")");
}

// With FILE_FLAG_BACKUP_SEMANTICS a directory opens, and is told as such.
File OpenToRead(const std::string& path) {
  return Open(path, GENERIC_READ, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
}

File OpenToWrite(const std::string& path) {
  return Open(path, GENERIC_WRITE, CREATE_ALWAYS, 0);
}

bool GetInfo(File file, FileInfo* info) {
  *info = {false, 0};
  if (GetFileType(HandleOf(file)) != FILE_TYPE_DISK) return true;
  BY_HANDLE_FILE_INFORMATION found;
  if (!GetFileInformationByHandle(HandleOf(file), &found)) return false;
  info->is_regular = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
  info->size_bytes =
      uint64_t{found.nFileSizeHigh} << 32 | uint64_t{found.nFileSizeLow};
  return true;
}

int64_t ReadAt(File file, uint64_t offset, char* bytes, size_t size) {
  OVERLAPPED at = {};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD got = 0;
  if (ReadFile(HandleOf(file), bytes, AtMostOneGiB(size), &got, &at)) {
    return got;
  }
  return GetLastError() == ERROR_HANDLE_EOF ? 0 : -1;
}

int64_t Write(File file, const char* bytes, size_t size) {
  DWORD put = 0;
  if (!WriteFile(HandleOf(file), bytes, AtMostOneGiB(size), &put, nullptr)) {
    return -1;
  }
  return put;
}

bool Sync(File file) { return FlushFileBuffers(HandleOf(file)) != 0; }

bool Close(File file) { return CloseHandle(HandleOf(file)) != 0; }

size_t PageBytes() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

// Another thread may take the addresses between the two calls; then there are
// others.
char* MapAligned(size_t size) {
  for (int attempt = 0; attempt < 16; ++attempt) {
    char* const reserved = static_cast<char*>(
        VirtualAlloc(nullptr, 2 * size, MEM_RESERVE, PAGE_NOACCESS));
    if (reserved == nullptr) return nullptr;
    const size_t before =
        (size - reinterpret_cast<uintptr_t>(reserved) % size) % size;
    VirtualFree(reserved, 0, MEM_RELEASE);
    void* const mapped = VirtualAlloc(reserved + before, size,
                                      MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (mapped != nullptr) return static_cast<char*>(mapped);
  }
  return nullptr;
}

void Unmap(char* bytes, size_t) { VirtualFree(bytes, 0, MEM_RELEASE); }

// Unlocking pages that are not locked takes them out of the working set.
void GiveBack(char* bytes, size_t size) {
  VirtualAlloc(bytes, size, MEM_RESET, PAGE_READWRITE);
  VirtualUnlock(bytes, size);
}

// Large pages need a privilege that few processes have.
bool UseHugePages(char*, size_t, bool) { return false; }

// FlushProcessWriteBuffers() would be one, but Windows promises no order of
// loads for it.
bool RegisterBarrier() { return false; }
bool BarrierOnAllThreads() { return false; }

void CallInChildren(void (*)()) {}

}  // namespace rowbloom::platform

#endif
