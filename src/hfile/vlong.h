// SPDX-License-Identifier: Apache-2.0
//
// Integers as Java and Hadoop write them: big-endian, and Hadoop's variable
// length ("vlong": the first byte is the value, or says how many follow).
// Readers take a view, advance it, and return false when it is too short.

#ifndef ROWBLOOM_HFILE_BIG_ENDIAN_H_
#define ROWBLOOM_HFILE_BIG_ENDIAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom::hfile {

template <typename T>
inline void AppendBig(T value, std::string* out) {
  for (size_t i = sizeof(T); i-- > 0;) {
    out->push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
  }
}

template <typename T>
inline T LoadBig(const char* bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return static_cast<T>(value);
}

template <typename T>
inline bool ReadBig(std::string_view* in, T* value) {
  if (in->size() < sizeof(T)) return false;
  *value = LoadBig<T>(in->data());
  in->remove_prefix(sizeof(T));
  return true;
}

// `size` may be any integer from outside: negative is too long.
inline bool ReadBytes(std::string_view* in, int64_t size,
                      std::string_view* bytes) {
  if (size < 0 || static_cast<uint64_t>(size) > in->size()) return false;
  *bytes = in->substr(0, static_cast<size_t>(size));
  in->remove_prefix(static_cast<size_t>(size));
  return true;
}

void AppendVlong(int64_t value, std::string* out);
bool ReadVlong(std::string_view* in, int64_t* value);

// A vlong size, then so many bytes.
void AppendSizedBytes(std::string_view bytes, std::string* out);
bool ReadSizedBytes(std::string_view* in, std::string_view* bytes);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_BIG_ENDIAN_H_
