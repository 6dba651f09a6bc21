// SPDX-License-Identifier: Apache-2.0

#include "c/boundary.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "rowbloom/version.h"
#include "util/absl_view.h"

namespace rowbloom::c {
namespace {

using util::AbslView;

constexpr size_t kMaxSize = std::numeric_limits<ptrdiff_t>::max();

// Longer messages end in dots. No character of UTF-8 is cut in two.
void Copy(std::string_view message, rowbloom_error* error) {
  constexpr std::string_view kDots = "...";
  constexpr size_t kRoom = sizeof(error->message) - 1;
  size_t size = message.size();
  std::string_view end = "";
  if (size > kRoom) {
    size = kRoom - kDots.size();
    while (size > 0 && (message[size] & 0xC0) == 0x80) --size;
    end = kDots;
  }
  // Some callers would take a zero byte for the end.
  std::replace_copy(message.begin(), message.begin() + size, error->message,
                    '\0', '?');
  std::memcpy(error->message + size, end.data(), end.size());
  error->message[size + end.size()] = '\0';
}

}  // namespace

rowbloom_code Tell(const absl::Status& status, rowbloom_error* error) {
  const auto code = static_cast<rowbloom_code>(status.code());
  if (error != nullptr) {
    error->code = code;
    const std::string_view message(status.message().data(),
                                   status.message().size());
    const bool no_memory = message.empty() && absl::IsResourceExhausted(status);
    Copy(no_memory ? "out of memory" : message, error);
  }
  return code;
}

absl::Status StatusOfCallback(rowbloom_code code, const rowbloom_error& error,
                              std::string_view callback) {
  if (code == ROWBLOOM_OK) return absl::OkStatus();
  const std::string_view message(error.message,
                                 strnlen(error.message, sizeof(error.message)));
  // A code that is not known becomes kUnknown.
  const auto known = code > 0 && code <= 16
                         ? static_cast<absl::StatusCode>(code)
                         : absl::StatusCode::kUnknown;
  if (!message.empty()) return absl::Status(known, AbslView(message));
  return absl::Status(known, absl::StrCat(AbslView(callback),
                                          " callback returned code ", code));
}

absl::Status NullArgument(std::string_view name) {
  return absl::InvalidArgumentError(absl::StrCat(AbslView(name), " is NULL"));
}

bool IsBytes(const void* bytes, size_t size) {
  return size <= (bytes == nullptr ? 0 : kMaxSize);
}

absl::Status CheckBytes(const void* bytes, size_t size, std::string_view name) {
  if (IsBytes(bytes, size)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      AbslView(name), bytes == nullptr ? " is NULL, with" : " has", " size ",
      size, bytes == nullptr ? "" : ", more than memory has"));
}

absl::Status CheckKeys(const rowbloom_key* keys, size_t count,
                       std::string_view name) {
  const size_t size =
      count > kMaxSize / sizeof(*keys) ? kMaxSize + 1 : count * sizeof(*keys);
  return CheckBytes(keys, size, name);
}

absl::Status CheckKey(const void* row, size_t row_size, const void* qualifier,
                      size_t qualifier_size) {
  if (absl::Status status = CheckBytes(row, row_size, "row"); !status.ok()) {
    return status;
  }
  if (qualifier == nullptr && qualifier_size == ROWBLOOM_PREFIX) {
    return absl::InvalidArgumentError(
        "a prefix is no key to add: only lookups of readers take "
        "ROWBLOOM_PREFIX");
  }
  return CheckBytes(qualifier, qualifier_size, "qualifier");
}

std::optional<FilterKey> KeyOf(const void* row, size_t row_size,
                               const void* qualifier, size_t qualifier_size) {
  if (!IsBytes(row, row_size) || !IsBytes(qualifier, qualifier_size)) {
    return std::nullopt;
  }
  if (qualifier == nullptr) return FilterKey::Row(View(row, row_size));
  return FilterKey::RowCol(View(row, row_size),
                           View(qualifier, qualifier_size));
}

std::optional<FilterKey> LookupKeyOf(const void* row, size_t row_size,
                                     const void* qualifier,
                                     size_t qualifier_size) {
  if (qualifier == nullptr && qualifier_size == ROWBLOOM_PREFIX &&
      IsBytes(row, row_size)) {
    return FilterKey::Prefix(View(row, row_size));
  }
  return KeyOf(row, row_size, qualifier, qualifier_size);
}

void Clear(rowbloom_buffer* buffer) {
  if (buffer == nullptr) return;
  buffer->size = 0;
  if (buffer->data != nullptr) *buffer->data = '\0';
}

absl::Status Fill(std::string_view bytes, rowbloom_buffer* buffer) {
  Clear(buffer);
  if (buffer->data == nullptr || buffer->capacity <= bytes.size()) {
    void* data = std::realloc(buffer->data, bytes.size() + 1);
    if (data == nullptr) return NoMemory();
    buffer->data = static_cast<char*>(data);
    buffer->capacity = bytes.size() + 1;
  }
  if (!bytes.empty()) std::memcpy(buffer->data, bytes.data(), bytes.size());
  buffer->data[bytes.size()] = '\0';
  buffer->size = bytes.size();
  return absl::OkStatus();
}

}  // namespace rowbloom::c

extern "C" {

const char* rowbloom_version(void) { return ROWBLOOM_VERSION_STRING; }

uint32_t rowbloom_abi(void) { return ROWBLOOM_ABI; }

void rowbloom_buffer_free(rowbloom_buffer* buffer) {
  if (buffer == nullptr) return;
  std::free(buffer->data);
  *buffer = {};
}

}  // extern "C"
