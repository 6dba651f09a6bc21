// SPDX-License-Identifier: Apache-2.0
//
// The directory in which a benchmark puts its databases: the one that the
// user named, which is made if needed and stays, or a temporary one, which is
// removed at the end unless it is to be kept. Errors are thrown as
// std::runtime_error.

#ifndef ROWBLOOM_BENCH_WORK_DIRECTORY_H_
#define ROWBLOOM_BENCH_WORK_DIRECTORY_H_

#include <string>

namespace rowbloom::bench {

class WorkDirectory {
 public:
  // `named` may be empty.
  WorkDirectory(const std::string& named, const std::string& program,
                bool keep);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool remove_ = false;
};

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_WORK_DIRECTORY_H_
