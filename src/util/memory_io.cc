// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "rowbloom/io.h"
#include "util/check.h"

namespace rowbloom {
namespace {

class MemorySource : public RandomAccessSource {
 public:
  MemorySource(std::string_view bytes, std::string_view name)
      : bytes_(bytes), name_(name) {}

  absl::Status Read(uint64_t offset, size_t size_bytes, char* /*scratch*/,
                    std::string_view* result) const override {
    if (offset > bytes_.size() || size_bytes > bytes_.size() - offset) {
      return absl::OutOfRangeError(
          absl::StrCat(name_, ": read of ", size_bytes, " bytes at offset ",
                       offset, " passes the end at ", bytes_.size()));
    }
    *result = bytes_.substr(offset, size_bytes);
    return absl::OkStatus();
  }
  uint64_t size_bytes() const override { return bytes_.size(); }
  std::string_view name() const override { return name_; }

 private:
  const std::string_view bytes_;
  const std::string name_;
};

class StringSink : public ByteSink {
 public:
  explicit StringSink(std::string* out) : out_(out) {}

  absl::Status Append(std::string_view bytes) override {
    out_->append(bytes);
    return absl::OkStatus();
  }

 private:
  std::string* const out_;
};

}  // namespace

std::unique_ptr<RandomAccessSource> NewMemorySource(std::string_view bytes,
                                                    std::string_view name) {
  return std::make_unique<MemorySource>(bytes, name);
}

std::unique_ptr<ByteSink> NewStringSink(std::string* out) {
  RB_CHECK(out != nullptr, "NewStringSink(): out is null");
  return std::make_unique<StringSink>(out);
}

}  // namespace rowbloom
