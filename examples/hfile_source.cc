// SPDX-License-Identifier: Apache-2.0
//
// Asks an HFile where it lies, in HDFS or S3, by a source of one's own: each
// read of the library becomes a request for a range of bytes. Here a command
// makes the request; a service would use its client library.
//
//   hfile_source SIZE COMMAND ROW...
//
// SIZE is the file's size in bytes. In COMMAND, {offset}, {size} and {last}
// stand for the range's first byte, its bytes and its last byte:
//
//   curl -sfL "$webhdfs/PATH?op=OPEN&offset={offset}&length={size}"
//   curl -sf -r {offset}-{last} "$presigned_url"
//
// Prints an answer for each row, and what was read. Exit codes: 0 fine, 1 the
// file could not be opened, 2 usage.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "rowbloom/hfile.h"
#include "rowbloom/io.h"

namespace {

class CommandSource final : public rowbloom::RandomAccessSource {
 public:
  CommandSource(std::string command, uint64_t size)
      : command_(std::move(command)), size_(size) {}

  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    ++requests_;
    bytes_ += size_bytes;
    if (size_bytes == 0) {
      *result = {};
      return absl::OkStatus();
    }
    const std::string command = absl::StrReplaceAll(
        command_, {{"{offset}", std::to_string(offset)},
                   {"{size}", std::to_string(size_bytes)},
                   {"{last}", std::to_string(offset + size_bytes - 1)}});
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return absl::UnavailableError("cannot run a command");
    const size_t read = std::fread(scratch, 1, size_bytes, pipe);
    // A server that ignores the range answers with the whole file.
    const bool has_more = std::fgetc(pipe) != EOF;
    const int exit_status = pclose(pipe);
    if (read != size_bytes || has_more || exit_status != 0) {
      return absl::UnavailableError("no " + std::to_string(size_bytes) +
                                    " bytes from: " + command);
    }
    *result = std::string_view(scratch, size_bytes);
    return absl::OkStatus();
  }
  uint64_t size_bytes() const override { return size_; }
  std::string_view name() const override { return "remote file"; }

  uint64_t requests() const { return requests_; }
  uint64_t bytes() const { return bytes_; }

 private:
  const std::string command_;
  const uint64_t size_;
  mutable std::atomic<uint64_t> requests_{0};
  mutable std::atomic<uint64_t> bytes_{0};
};

}  // namespace

int main(int argc, char** argv) {
  const uint64_t size = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (argc < 3 || size == 0) {
    std::fprintf(stderr, "usage: hfile_source SIZE COMMAND ROW...\n");
    return 2;
  }
  const CommandSource source(argv[2], size);
  const auto reader = rowbloom::HFileReader::Open(&source);
  if (!reader.ok()) {
    std::fprintf(stderr, "%s\n", reader.status().ToString().c_str());
    return 1;
  }
  const auto report = [&](const char* what) {
    std::printf("%s: %llu requests, %llu of %llu bytes so far\n", what,
                static_cast<unsigned long long>(source.requests()),
                static_cast<unsigned long long>(source.bytes()),
                static_cast<unsigned long long>(size));
  };
  report("opened");
  for (int i = 3; i < argc; ++i) {
    std::printf("%s: %s\n", argv[i],
                (*reader)->MayContain(argv[i]) ? "maybe" : "no");
  }
  report("asked");
  return 0;
}
