// SPDX-License-Identifier: Apache-2.0
//
// The libFuzzer entry of every target: ROWBLOOM_PROPERTY names the property.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto& all = rowbloom::fuzz::AllProperties();
  static const auto property = std::find_if(
      all.begin(), all.end(), [](const rowbloom::fuzz::Property& candidate) {
        return candidate.name == ROWBLOOM_PROPERTY;
      });
  property->check(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
