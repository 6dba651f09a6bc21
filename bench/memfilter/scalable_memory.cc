// SPDX-License-Identifier: Apache-2.0
//
// The memory of scalable filters at 1% as they grow, in times that of a
// standard filter that is made for the keys that there are: a table. There is
// no chance in it but that of the hashes of the numbers from 0.
//
//   scalable_memory

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/program.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/scalable.h"
#include "rowbloom/memfilter/sizing.h"

namespace {

using rowbloom::ScalableFilter;
using rowbloom::ScalableOptions;

constexpr double kFpr = 0.01;
constexpr uint64_t kKeys[] = {1'000, 10'000, 100'000, 1'000'000};

double Times(const ScalableFilter& filter, uint64_t key_count) {
  const double bits = 8 * static_cast<double>(filter.memory_usage_bytes());
  return bits /
         static_cast<double>(rowbloom::ShapeFor(key_count, kFpr)->bit_count);
}

void PrintRow(const char* name, const ScalableOptions& options) {
  auto filter = *ScalableFilter::New(options);
  std::printf("| %s |", name);
  size_t layers = 1;
  double most = 0;
  uint64_t key_count = 0;
  for (const uint64_t keys : kKeys) {
    bool is_full = false;
    for (; key_count < keys && !is_full; ++key_count) {
      is_full =
          !filter.Add(rowbloom::DigestBytes(std::to_string(key_count))).ok();
      if (filter.layer_count() == layers) continue;
      layers = filter.layer_count();
      if (key_count >= kKeys[0]) {
        most = std::max(most, Times(filter, key_count + 1));
      }
    }
    if (is_full) {
      std::printf(" full |");
    } else {
      std::printf(" %.2f |", Times(filter, keys));
    }
    std::fflush(stdout);
  }
  if (most > 0) {
    std::printf(" %.2f |", most);
  } else {
    std::printf(" - |");  // It has not grown.
  }
  std::printf(" %zu | %.4f |\n", layers, filter.expected_fpr());
}

int Run() {
  std::printf(
      "| options | 1,000 keys | 10,000 | 100,000 | 1,000,000 |"
      " just grown, at most | layers | rate |\n"
      "|---|---|---|---|---|---|---|---|\n");
  ScalableOptions options;
  options.target_fpr = kFpr;
  PrintRow("the defaults", options);
  options.capacity = 100'000;
  PrintRow("capacity 100,000", options);
  options.capacity = 1'000'000;
  PrintRow("capacity 1,000,000", options);
  options = ScalableOptions();
  options.expansion = 4;
  PrintRow("expansion 4", options);
  options = ScalableOptions();
  options.tightening = 0.8;
  PrintRow("tightening 0.8", options);
  options = ScalableOptions();
  options.expansion = 1;
  PrintRow("expansion 1", options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Memory of scalable filters at 1%, in times a standard's.");
  return rowbloom::bench::RunProgram("scalable_memory", &app, argc, argv, Run);
}
