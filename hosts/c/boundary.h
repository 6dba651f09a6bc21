// SPDX-License-Identifier: Apache-2.0
//
// The boundary between C and C++: pointers that are checked, statuses that
// become codes and messages, and exceptions that end here.
//
//   rowbloom_code rowbloom_x(const void* bytes, size_t size,
//                            rowbloom_error* error) {
//     return Call(error, [&]() -> absl::Status { ... });
//   }
//
// Only the allocation of memory throws.
// Threads: functions without state.

#ifndef ROWBLOOM_C_BOUNDARY_H_
#define ROWBLOOM_C_BOUNDARY_H_

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "absl/status/status.h"
#include "rowbloom/c.h"
#include "rowbloom/filter_key.h"

namespace rowbloom::c {

// Sets *error, if given, and returns the status's code.
rowbloom_code Tell(const absl::Status& status, rowbloom_error* error);

// The status of a callback: its code, and the message that it wrote to *error,
// or that `callback` failed.
absl::Status StatusOfCallback(rowbloom_code code, const rowbloom_error& error,
                              std::string_view callback);

// A status without a message allocates nothing.
inline absl::Status NoMemory() {
  return absl::Status(absl::StatusCode::kResourceExhausted, "");
}

// Runs f(); if there is no memory, the result is `if_no_memory`. The core has
// no exceptions, so its functions then keep what they hold: memory leaks, and a
// lock would stay locked. For objects that share nothing with others.
template <typename F, typename Result>
Result Guarded(const F& f, Result if_no_memory) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // A size that no memory has.
  }
  return if_no_memory;
}

template <typename F>
rowbloom_code Call(rowbloom_error* error, const F& f) noexcept {
  return Tell(Guarded(f, NoMemory()), error);
}

// For objects that share a cache or statistics: without memory the process
// ends, as it does in C++.
template <typename F>
auto Shared(const F& f) noexcept {
  return f();
}
template <typename F>
rowbloom_code CallShared(rowbloom_error* error, const F& f) noexcept {
  return Tell(f(), error);
}

// InvalidArgument if the caller passed NULL.
absl::Status NullArgument(std::string_view name);

// False for NULL with a size, and for a size that no memory has, as -1 is.
bool IsBytes(const void* bytes, size_t size);
// InvalidArgument if IsBytes() is false.
absl::Status CheckBytes(const void* bytes, size_t size, std::string_view name);
// Bytes that passed the check.
inline std::string_view View(const void* bytes, size_t size) {
  if (bytes == nullptr) return "";
  return {static_cast<const char*>(bytes), size};
}

absl::Status CheckKey(const void* row, size_t row_size, const void* qualifier,
                      size_t qualifier_size);
// Nothing if CheckKey() refuses it. Allocates nothing.
std::optional<FilterKey> KeyOf(const void* row, size_t row_size,
                               const void* qualifier, size_t qualifier_size);
// KeyOf() for a lookup of a reader, which may ask for a prefix.
std::optional<FilterKey> LookupKeyOf(const void* row, size_t row_size,
                                     const void* qualifier,
                                     size_t qualifier_size);

// InvalidArgument if `keys` cannot be an array of `count` keys, whose own bytes
// it does not check.
absl::Status CheckKeys(const rowbloom_key* keys, size_t count,
                       std::string_view name);

// Empties a buffer, if there is one.
void Clear(rowbloom_buffer* buffer);
// Replaces the buffer's content. ResourceExhausted if there is no memory.
absl::Status Fill(std::string_view bytes, rowbloom_buffer* buffer);

// For a function that fills buffers: if it fails, they are empty. They may hold
// what it reads, so it fills them last.
template <typename F>
rowbloom_code CallFilling(std::initializer_list<rowbloom_buffer*> buffers,
                          rowbloom_error* error, const F& f) noexcept {
  const rowbloom_code code = Call(error, f);
  if (code != ROWBLOOM_OK) {
    for (rowbloom_buffer* buffer : buffers) Clear(buffer);
  }
  return code;
}

// Gives the caller a handle to a new object. *out is NULL until then.
template <typename Handle>
absl::Status Give(std::unique_ptr<Handle> object, Handle** out) {
  *out = object.release();
  return absl::OkStatus();
}

}  // namespace rowbloom::c

#endif  // ROWBLOOM_C_BOUNDARY_H_
