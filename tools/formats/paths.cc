// SPDX-License-Identifier: Apache-2.0

#include "tools/formats/paths.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <system_error>
#include <utility>

#include "tools/platform/platform.h"

namespace rowbloom::tools {
namespace {

namespace fs = std::filesystem;

absl::Status IoError(const std::string& path, const std::error_code& error) {
  // In the words of C, which are those of every system.
  return absl::UnavailableError(path + ": " +
                                error.default_error_condition().message());
}

void ExpandDatabase(const std::string& path,
                    const std::vector<std::string>& db_paths,
                    std::vector<std::string>* warnings,
                    std::vector<TargetFile>* files) {
  absl::StatusOr<std::vector<TargetFile>> ssts =
      ListLiveSsts({path, db_paths}, warnings);
  if (!ssts.ok()) {
    files->push_back({path, ssts.status()});
    return;
  }
  for (TargetFile& sst : *ssts) files->push_back(std::move(sst));
}

// Adds the files below the directory, by name: without hidden ones and hidden
// directories, but with HBase's directories of unfinished files. Links to
// directories are not followed.
void ExpandDirectory(const std::string& path,
                     const std::vector<std::string>& db_paths,
                     std::vector<std::string>* warnings,
                     std::vector<TargetFile>* files) {
  std::error_code error;
  if (fs::exists(fs::path(path) / "CURRENT", error)) {
    ExpandDatabase(path, db_paths, warnings, files);
    return;
  }
  std::vector<fs::directory_entry> found;
  fs::directory_iterator it(path, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name[0] != '.' || name == kUnfinishedDirectory) found.push_back(*it);
  }
  if (error) {
    files->push_back({path, IoError(path, error)});
    return;
  }
  std::sort(found.begin(), found.end());
  for (const fs::directory_entry& entry : found) {
    const std::string below = platform::TextOf(entry.path());
    if (entry.is_regular_file(error)) {
      files->push_back({below});
    } else if (entry.is_directory(error) && !entry.is_symlink(error)) {
      ExpandDirectory(below, db_paths, warnings, files);
    } else if (error) {
      files->push_back({below, IoError(below, error)});
    }
  }
}

// The matches of a pattern, if no file has that name.
std::vector<std::string> ExpandPattern(const std::string& path) {
  std::error_code ignored;
  if (path.find_first_of("*?[") == std::string::npos ||
      fs::exists(path, ignored)) {
    return {path};
  }
  std::vector<std::string> expanded = platform::Match(path);
  if (expanded.empty()) expanded.push_back(path);
  return expanded;
}

}  // namespace

bool IsRedisPath(const std::string& path) {
  return path.rfind("redis://", 0) == 0 || path.rfind("unix://", 0) == 0;
}

std::string ShownPath(const std::string& path) {
  const size_t scheme = path.find("://");
  // The last one: the password of a wrong URL may have a "/" or a "?".
  const size_t at = path.rfind('@');
  if (scheme == std::string::npos || at == std::string::npos || at < scheme) {
    return path;
  }
  return path.substr(0, scheme) + "://***" + path.substr(at);
}

std::string WithoutPasswords(const std::string& text) {
  // The form of URLs in errors begins with [[USER].
  static const std::regex password("(rediss?|unix)://(?!\\[\\[USER\\])\\S*@");
  return std::regex_replace(text, password, "$1://***@");
}

bool IsStray(const TargetFile& file) {
  static const std::regex store_file("[0-9a-f]+([_.=].*)?");
  const std::string name = fs::path(file.path).filename().string();
  return !file.place.empty() && file.family == nullptr &&
         !std::regex_match(name, store_file);
}

std::vector<TargetFile> ExpandPaths(const std::vector<std::string>& paths,
                                    const std::vector<std::string>& db_paths,
                                    std::vector<std::string>* warnings) {
  std::vector<std::string> expanded;
  for (const std::string& path : paths) {
    const std::vector<std::string> matches =
        IsRedisPath(path) ? std::vector<std::string>{path}
                          : ExpandPattern(path);
    expanded.insert(expanded.end(), matches.begin(), matches.end());
  }
  std::vector<TargetFile> files;
  for (const std::string& named : expanded) {
    const std::string path = platform::TextOf(named);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (IsRedisPath(path)) {
      files.push_back({path});
    } else if (!fs::exists(status)) {
      files.push_back({path, IoError(path, error)});
    } else if (fs::is_regular_file(status)) {
      files.push_back({path});
    } else if (!fs::is_directory(status)) {
      files.push_back(
          {path, absl::UnavailableError(path + ": not a file or directory")});
    } else {
      const size_t first = files.size();
      ExpandDirectory(path, db_paths, warnings, &files);
      for (size_t i = first; i < files.size(); ++i) {
        if (files[i].path.rfind(path, 0) != 0) continue;
        files[i].place = files[i].path.substr(path.size());
      }
      if (files.size() == first &&
          !fs::exists(fs::path(path) / "CURRENT", error)) {
        files.push_back({path, absl::UnavailableError(
                                   path + ": has no files but hidden ones")});
      }
    }
  }
  return files;
}

}  // namespace rowbloom::tools
