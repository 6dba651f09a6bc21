// SPDX-License-Identifier: Apache-2.0
//
// The libFuzzer entry of every target: ROWBLOOM_PROPERTY names the property.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rowbloom::fuzz::ROWBLOOM_PROPERTY(
      std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
