// SPDX-License-Identifier: Apache-2.0
//
// Writes each property's seeds to DIRECTORY/NAME/, for a fuzzer to start from.
//
//   write_seeds DIRECTORY

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "fuzz/properties.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_seeds DIRECTORY\n");
    return 2;
  }
  for (const auto& property : rowbloom::fuzz::AllProperties()) {
    const auto directory = std::filesystem::path(argv[1]) / property.name;
    std::filesystem::create_directories(directory);
    int number = 0;
    for (const std::string& seed : property.seeds()) {
      std::ofstream file(directory / ("seed-" + std::to_string(number++)),
                         std::ios::binary);
      file << seed;
    }
  }
  return 0;
}
