// SPDX-License-Identifier: Apache-2.0

#include "fuzz/properties.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "testing/keys.h"

namespace rowbloom::fuzz {
namespace {

class PropertyTest : public ::testing::TestWithParam<Property> {};

INSTANTIATE_TEST_SUITE_P(All, PropertyTest,
                         ::testing::ValuesIn(AllProperties()),
                         [](const auto& param) {
                           return std::string(param.param.name);
                         });

// The fuzz targets spend more time on random changes.
TEST_P(PropertyTest, HoldsForSeedsAndForRandomChangesOfThem) {
  testing::Random random(91);
  for (const std::string& seed : GetParam().seeds()) {
    GetParam().check(seed);
    for (int round = 0; round < 500; ++round) {
      std::string changed = seed;
      const uint64_t changes = 1 + random.Below(4);
      for (uint64_t i = 0; i < changes; ++i) {
        const size_t at = random.Below(changed.size() + 1);
        switch (random.Below(3)) {
          case 0:
            if (at < changed.size()) changed[at] = static_cast<char>(random());
            break;
          case 1:
            changed.resize(at);
            break;
          case 2:
            changed.insert(at, random.Bytes(9));
            break;
        }
      }
      GetParam().check(changed);
    }
  }
}

// The corpus holds inputs that fuzzing found to reach far, and all that failed.
TEST_P(PropertyTest, HoldsForItsCorpus) {
  const std::filesystem::path directory =
      std::filesystem::path(ROWBLOOM_SOURCE_DIR) / "tests/fuzz/corpus" /
      GetParam().name;
  ASSERT_TRUE(std::filesystem::exists(directory)) << directory;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    GetParam().check(bytes.str());
  }
}

}  // namespace
}  // namespace rowbloom::fuzz
