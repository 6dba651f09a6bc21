// SPDX-License-Identifier: Apache-2.0
//
// Integers in persisted bytes: fixed width little-endian (big-endian in foreign
// formats), and varints of 7 bits a byte, low bits first. Readers take a view,
// advance it, and return false when it is too short. Except for Hadoop's vlong,
// nothing else in the project decodes integers.

#ifndef ROWBLOOM_UTIL_CODING_H_
#define ROWBLOOM_UTIL_CODING_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "rowbloom/compiler.h"

namespace rowbloom::util {

template <typename T>
inline void AppendFixed(T value, std::string* out) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out->push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
  }
}

template <typename T>
inline void StoreFixed(T value, char* out) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out[i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  }
}

template <typename T>
inline T SwapBytes(T value) {
  return static_cast<T>(
      rowbloom::internal::SwapBytes64(static_cast<uint64_t>(value)) >>
      (64 - 8 * sizeof(T)));
}

// In the midst of loops, compilers do not see that a loop over bytes is a load.
template <typename T>
inline T LoadFixed(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return rowbloom::internal::kIsLittleEndian ? value : SwapBytes(value);
}

template <typename T>
inline T LoadBigEndian(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return rowbloom::internal::kIsLittleEndian ? SwapBytes(value) : value;
}

template <typename T>
inline void AppendBigEndian(T value, std::string* out) {
  for (size_t i = sizeof(T); i-- > 0;) {
    out->push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
  }
}

template <typename T>
inline bool ReadFixed(std::string_view* in, T* value) {
  if (in->size() < sizeof(T)) return false;
  *value = LoadFixed<T>(in->data());
  in->remove_prefix(sizeof(T));
  return true;
}

template <typename T>
inline bool ReadBigEndian(std::string_view* in, T* value) {
  if (in->size() < sizeof(T)) return false;
  *value = LoadBigEndian<T>(in->data());
  in->remove_prefix(sizeof(T));
  return true;
}

inline constexpr size_t kMaxVarintSize = 10;

inline void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

// Accepts only the shortest encoding, so that a value has one form.
inline bool ReadVarint(std::string_view* in, uint64_t* value) {
  if (!in->empty() && static_cast<unsigned char>(in->front()) < 0x80) {
    *value = static_cast<unsigned char>(in->front());  // Most are of one byte.
    in->remove_prefix(1);
    return true;
  }
  uint64_t result = 0;
  for (size_t i = 0; i < kMaxVarintSize && i < in->size(); ++i) {
    const uint64_t byte = static_cast<unsigned char>((*in)[i]);
    if (i == kMaxVarintSize - 1 && byte > 1) return false;
    result |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      if (byte == 0 && i > 0) return false;
      in->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

inline void AppendSized(std::string_view bytes, std::string* out) {
  AppendVarint(bytes.size(), out);
  out->append(bytes);
}

// A varint size, then that many bytes. *bytes views into *in.
inline bool ReadSized(std::string_view* in, std::string_view* bytes) {
  uint64_t size = 0;
  if (!ReadVarint(in, &size) || size > in->size()) return false;
  *bytes = in->substr(0, static_cast<size_t>(size));
  in->remove_prefix(static_cast<size_t>(size));
  return true;
}

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_CODING_H_
