// SPDX-License-Identifier: Apache-2.0

#include "manifest.h"

#include <cstdio>
#include <sstream>
#include <string_view>

#include "coding.h"
#include "rowbloom/io.h"

namespace mini_kv {
namespace {

constexpr int kVersion = 1;

std::string ChecksumLine(std::string_view text) {
  char line[40];
  std::snprintf(line, sizeof(line), "checksum %016llx\n",
                static_cast<unsigned long long>(Checksum(text, 0)));
  return line;
}

std::string Encode(const Manifest& manifest) {
  std::ostringstream out;
  out << "mini_kv " << kVersion << "\nnext_file " << manifest.next_file_number
      << "\nwal " << manifest.wal_number << "\n";
  for (size_t level = 0; level < kLevelCount; ++level) {
    for (const uint64_t number : manifest.levels[level]) {
      out << "sst " << level << " " << number << "\n";
    }
  }
  return out.str() + ChecksumLine(out.str());
}

bool Decode(std::string_view text, Manifest* manifest) {
  const size_t checked = text.rfind("checksum ");
  if (checked == std::string_view::npos ||
      text.substr(checked) != ChecksumLine(text.substr(0, checked))) {
    return false;
  }
  std::istringstream in{std::string(text.substr(0, checked))};
  std::string name, next_file, wal, sst;
  int version = 0;
  in >> name >> version >> next_file >> manifest->next_file_number >> wal >>
      manifest->wal_number;
  if (!in || name != "mini_kv" || version != kVersion ||
      next_file != "next_file" || wal != "wal") {
    return false;
  }
  size_t level = 0;
  uint64_t number = 0;
  while (in >> sst) {
    if (sst != "sst" || !(in >> level >> number) || level >= kLevelCount) {
      return false;
    }
    manifest->levels[level].push_back(number);
  }
  return true;
}

}  // namespace

absl::StatusOr<Manifest> ReadManifest(const std::string& directory) {
  const std::string path = directory + "/" + kManifestName;
  auto source = rowbloom::OpenFileSource(path);
  if (!source.ok()) return source.status();
  std::string scratch((*source)->size_bytes(), '\0');
  std::string_view text;
  absl::Status status =
      (*source)->Read(0, scratch.size(), scratch.data(), &text);
  if (!status.ok()) return status;
  Manifest manifest;
  if (!Decode(text, &manifest)) {
    return absl::DataLossError(path + ": damaged, or of a newer mini_kv");
  }
  return manifest;
}

absl::Status WriteManifest(const Manifest& manifest,
                           const std::string& directory, Files* files) {
  const std::string temp_path = directory + "/" + kManifestTempName;
  auto sink = files->Create(temp_path);
  if (!sink.ok()) return sink.status();
  absl::Status status = (*sink)->Append(Encode(manifest));
  if (status.ok()) status = (*sink)->SyncAndClose();
  // The directory must be durable before the manifest that names its files, and
  // the manifest's own name before anything relies on it.
  if (status.ok()) status = files->SyncDirectory(directory);
  if (status.ok()) {
    status = files->Rename(temp_path, directory + "/" + kManifestName);
  }
  if (status.ok()) status = files->SyncDirectory(directory);
  return status;
}

}  // namespace mini_kv
