// SPDX-License-Identifier: Apache-2.0

#include "bench/json_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace rowbloom::bench {

JsonFile::JsonFile(std::string path) : path_(std::move(path)) {
  WriteText("", std::ios::app);
}

void JsonFile::Write(const nlohmann::ordered_json& value) const {
  // Paths and names need not be UTF-8.
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  WriteText(value.dump(1, ' ', false, kReplace) + "\n", std::ios::trunc);
}

void JsonFile::WriteText(std::string_view text, std::ios::openmode mode) const {
  if (path_.empty()) return;
  std::ofstream file(path_, mode);
  file << text << std::flush;
  if (!file) {
    throw std::runtime_error("cannot write " + path_ + ": " +
                             std::strerror(errno));
  }
}

}  // namespace rowbloom::bench
