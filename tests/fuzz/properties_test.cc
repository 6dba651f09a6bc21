// SPDX-License-Identifier: Apache-2.0

#include "fuzz/properties.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

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
TEST_P(PropertyTest, HoldsForItsCorpusAndForRandomChangesOfIt) {
  const std::filesystem::path directory =
      std::filesystem::path(ROWBLOOM_SOURCE_DIR) / "tests/fuzz/corpus" /
      GetParam().name;
  ASSERT_TRUE(std::filesystem::exists(directory)) << directory;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input(std::istreambuf_iterator<char>(file), {});
    GetParam().check(input);
    // The changes do not depend on the order of the files.
    testing::Random random(input.size());
    for (int round = 0; round < 300; ++round) {
      std::string changed = input;
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

}  // namespace
}  // namespace rowbloom::fuzz
