// SPDX-License-Identifier: Apache-2.0
//
// Integers of variable length as Hadoop writes them ("vlong": the first byte is
// the value, or says how many follow), and bytes after a size. Readers take a
// view, advance it, and return false when it is too short.

#ifndef ROWBLOOM_HFILE_VLONG_H_
#define ROWBLOOM_HFILE_VLONG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom::hfile {

// `size` may be any integer from outside: negative is too long.
inline bool ReadBytes(std::string_view* in, int64_t size,
                      std::string_view* bytes) {
  if (size < 0 || static_cast<uint64_t>(size) > in->size()) return false;
  *bytes = in->substr(0, static_cast<size_t>(size));
  in->remove_prefix(static_cast<size_t>(size));
  return true;
}

void AppendVlong(int64_t value, std::string* out);
size_t VlongSize(int64_t value);
bool ReadVlong(std::string_view* in, int64_t* value);

// A vlong size, then that many bytes.
void AppendSizedBytes(std::string_view bytes, std::string* out);
bool ReadSizedBytes(std::string_view* in, std::string_view* bytes);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_VLONG_H_
