// SPDX-License-Identifier: Apache-2.0

#include "hfile/vlong.h"

namespace rowbloom::hfile {

void AppendVlong(int64_t value, std::string* out) {
  if (value >= -112 && value <= 127) {
    out->push_back(static_cast<char>(value));
    return;
  }
  const bool negative = value < 0;
  const auto magnitude = static_cast<uint64_t>(negative ? ~value : value);
  const auto size = static_cast<int>(VlongSize(value)) - 1;
  out->push_back(static_cast<char>((negative ? -120 : -112) - size));
  for (int i = size; i-- > 0;) {
    out->push_back(static_cast<char>(magnitude >> (8 * i)));
  }
}

size_t VlongSize(int64_t value) {
  if (value >= -112 && value <= 127) return 1;
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  size_t size = 1;
  while (size < 8 && magnitude >> (8 * size) != 0) ++size;
  return 1 + size;
}

bool ReadVlong(std::string_view* in, int64_t* value) {
  if (in->empty()) return false;
  const int byte = static_cast<unsigned char>(in->front());
  const int first = byte < 128 ? byte : byte - 256;
  if (first >= -112) {
    in->remove_prefix(1);
    *value = first;
    return true;
  }
  const bool negative = first < -120;
  const auto size = static_cast<size_t>((negative ? -120 : -112) - first);
  if (in->size() < size + 1) return false;
  uint64_t magnitude = 0;
  for (size_t i = 1; i <= size; ++i) {
    magnitude = magnitude << 8 | static_cast<unsigned char>((*in)[i]);
  }
  in->remove_prefix(size + 1);
  *value = static_cast<int64_t>(negative ? ~magnitude : magnitude);
  return true;
}

void AppendSizedBytes(std::string_view bytes, std::string* out) {
  AppendVlong(static_cast<int64_t>(bytes.size()), out);
  out->append(bytes);
}

bool ReadSizedBytes(std::string_view* in, std::string_view* bytes) {
  std::string_view rest = *in;
  int64_t size;
  if (!ReadVlong(&rest, &size) || !ReadBytes(&rest, size, bytes)) return false;
  *in = rest;
  return true;
}

}  // namespace rowbloom::hfile
