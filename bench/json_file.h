// SPDX-License-Identifier: Apache-2.0
//
// The file of a --json flag, in which a benchmark leaves its results.
//
//   JsonFile json(options.json);    // "" if none is wanted.
//   ...                             // Hours.
//   json.Write(results);

#ifndef ROWBLOOM_BENCH_JSON_FILE_H_
#define ROWBLOOM_BENCH_JSON_FILE_H_

#include <ios>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace rowbloom::bench {

// Throws std::runtime_error, which names the path and the reason.
class JsonFile {
 public:
  // Opens the file, so that a mistyped path does not cost a whole run. Its
  // contents stay until Write().
  explicit JsonFile(std::string path);

  void Write(const nlohmann::ordered_json& value) const;

 private:
  void WriteText(std::string_view text, std::ios::openmode mode) const;

  std::string path_;
};

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_JSON_FILE_H_
