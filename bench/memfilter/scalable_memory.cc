// SPDX-License-Identifier: Apache-2.0
//
// The memory of scalable filters at 1% as they grow, in times that of a
// standard filter that is made for the keys that there are. There is
// no chance in it but that of the hashes of the numbers from 0.
//
//   scalable_memory --json FILE

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "nlohmann/json.hpp"
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

// The memory of one filter as it grows.
nlohmann::ordered_json Grow(const char* name, const ScalableOptions& options) {
  nlohmann::ordered_json run = {{"options", name}};
  auto filter = *ScalableFilter::New(options);
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
    if (!is_full) {
      run["times_standard"][std::to_string(keys)] = Times(filter, keys);
    }
  }
  run["most_when_grown"] = most;  // 0 if it has not grown.
  run["layers"] = layers;
  run["expected_fpr"] = filter.expected_fpr();
  return run;
}

int Run(const std::string& json_path) {
  const rowbloom::bench::JsonFile json(json_path);
  auto runs = nlohmann::ordered_json::array();
  ScalableOptions options;
  options.target_fpr = kFpr;
  runs.push_back(Grow("the defaults", options));
  options.capacity = 100'000;
  runs.push_back(Grow("capacity 100,000", options));
  options.capacity = 1'000'000;
  runs.push_back(Grow("capacity 1,000,000", options));
  options = ScalableOptions();
  options.expansion = 4;
  runs.push_back(Grow("expansion 4", options));
  options = ScalableOptions();
  options.tightening = 0.8;
  runs.push_back(Grow("tightening 0.8", options));
  options = ScalableOptions();
  options.expansion = 1;
  runs.push_back(Grow("expansion 1", options));
  json.Write({{"format_version", 1},
              {"machine", rowbloom::bench::MachineJson()},
              {"runs", runs}});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string json = "/dev/stdout";
  CLI::App app("Memory of scalable filters at 1%, in times a standard's.");
  app.add_option("--json", json, "Write the results to this file");
  return rowbloom::bench::RunProgram("scalable_memory", &app, argc, argv,
                                     [&] { return Run(json); });
}
