// SPDX-License-Identifier: Apache-2.0
//
// The calls of the operating system that rowbloom needs: files, pages, barriers
// and fork(). posix.cc and windows.cc each have these functions, and nothing
// else in src/ calls the system. cpu.cc asks the processor.
//
//   const platform::File file = platform::OpenToRead(path);
//   if (file == platform::kNoFile) return platform::LastError(path + ": open");
//
// All functions may be called on any number of threads.

#ifndef ROWBLOOM_PLATFORM_PLATFORM_H_
#define ROWBLOOM_PLATFORM_PLATFORM_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace rowbloom::platform {

// The error of the calling thread's last function below that failed, as
// "<what>: <the system's text>".
absl::Status LastError(const std::string& what);

// --- Files. Paths are UTF-8 on Windows, where they may also be longer than 260
// letters. A file that is open can be renamed and removed.

#if defined(_WIN32)
// Returns the path in UTF-16, as the system takes it. If the text is no path,
// returns "", and LastError() has the reason.
std::wstring SystemPath(const std::string& path);
#endif

using File = intptr_t;
inline constexpr File kNoFile = -1;

// Both return kNoFile if they fail. A FIFO is not waited for.
File OpenToRead(const std::string& path);
File OpenToWrite(const std::string& path);  // Makes or empties the file.

struct FileInfo {
  bool is_regular;
  uint64_t size_bytes;
};
bool GetInfo(File file, FileInfo* info);

// Both return the number of bytes, which may be less than `size`, or -1.
// ReadAt() returns 0 at the end.
int64_t ReadAt(File file, uint64_t offset, char* bytes, size_t size);
int64_t Write(File file, const char* bytes, size_t size);

// Returns when the bytes are on the disk.
bool Sync(File file);
// The handle is gone afterwards, even if it fails.
bool Close(File file);

// --- Pages of memory.

size_t PageBytes();
// Maps `size` bytes, a power of two of pages, on a boundary of `size`; nullptr
// if there is no memory.
char* MapAligned(size_t size);
void Unmap(char* bytes, size_t size);
// Gives the memory of whole pages back, which stay mapped, with any content.
void GiveBack(char* bytes, size_t size);
// Asks for huge pages, or for none. Returns false if there will be none.
bool UseHugePages(char* bytes, size_t size, bool use);

// --- Barriers. A system has them if RegisterBarrier() returns true; then
// BarrierOnAllThreads() is as if each thread of the process ran a sequentially
// consistent fence during the call. It returns false if the system denies it.

bool RegisterBarrier();
bool BarrierOnAllThreads();

// --- The processor: the instruction sets of the kernels (CONTRIBUTING.md),
// where the system keeps their registers.

struct CpuFeatures {
  bool sse42 = false;
  bool avx2 = false;
  bool avx512 = false;
};
const CpuFeatures& Cpu();

// --- fork(): calls `function` in each child from now on, where there is one.
void CallInChildren(void (*function)());

}  // namespace rowbloom::platform

#endif  // ROWBLOOM_PLATFORM_PLATFORM_H_
