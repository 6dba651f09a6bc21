// SPDX-License-Identifier: Apache-2.0
//
// The calls of the operating system that only the tool needs: terminals,
// patterns of paths, locks of files and the end of the process. posix.cc and
// windows.cc each have these functions. Paths are UTF-8 on Windows.

#ifndef ROWBLOOM_TOOLS_PLATFORM_PLATFORM_H_
#define ROWBLOOM_TOOLS_PLATFORM_PLATFORM_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rowbloom::tools::platform {

// Standard input and output keep the bytes of line ends, and a console shows
// UTF-8 from now on. No file that is opened later takes the number of a stream
// that the tool's caller has closed.
void PrepareStreams();

// Returns true if standard error is a terminal that erases a line by "\x1b[K".
bool ErrorsAreOnTerminal();

// Returns the path as it is, but on Windows with "/" for each "\\".
std::string TextOf(const std::filesystem::path& path);

// Returns the paths that match the pattern, by name. No wildcard matches a "/",
// nor the "." of a hidden file. On Windows "[" is a letter like any other.
std::vector<std::string> Match(const std::string& pattern);

std::string ProcessId();

// A lock of a file against other processes, until it is released or the process
// ends. A locked file can be read, written, renamed and removed.
using Lock = intptr_t;
inline constexpr Lock kNoLock = -1;
// Returns kNoLock if another process has the lock, or the file system has none.
// Makes the file if it is to be made.
Lock LockFileAt(const std::string& path, bool make);
void Release(Lock lock);

// From now on the user's signal to end the process calls `function` first, on
// any thread. Inside it only Remove() may be called.
void CallBeforeEnd(void (*function)());
void Remove(const char* path);

}  // namespace rowbloom::tools::platform

#endif  // ROWBLOOM_TOOLS_PLATFORM_PLATFORM_H_
