// SPDX-License-Identifier: Apache-2.0
//
// The file that a run writes before it is complete and gets its name.
//
//   for (path : RemoveLeftovers(outs).removed) Tell(path);
//   UnfinishedFile unfinished(out);
//   status = Write(unfinished.path());
//   if (status.ok()) status = unfinished.Finish();

#ifndef ROWBLOOM_TOOLS_HBASE_UNFINISHED_FILE_H_
#define ROWBLOOM_TOOLS_HBASE_UNFINISHED_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/platform/platform.h"

namespace rowbloom::tools {

// Is removed when this object or the process ends, unless it was finished, or
// the process was killed (SIGKILL). Holds a lock on the file, by which other
// runs know that it is alive. At most kMaxAtOnce in a process.
class UnfinishedFile {
 public:
  static constexpr int kMaxAtOnce = 64;

  explicit UnfinishedFile(const std::string& out);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  const std::string& path() const { return path_; }
  absl::Status Finish();

 private:
  const std::string out_;
  const std::string path_;
  platform::Lock lock_ = platform::kNoLock;
  int slot_ = -1;
};

// The unfinished files that killed runs left.
struct Leftovers {
  std::vector<std::string> removed;
  std::vector<std::string> locked;  // Another run may be writing them.
};
// Removes those of files of these names.
Leftovers RemoveLeftovers(const std::vector<std::string>& outs);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_HBASE_UNFINISHED_FILE_H_
