// SPDX-License-Identifier: Apache-2.0

#include "costs.h"

#include <cstdio>
#include <stdexcept>

namespace rowbloom::tree_sim {

FilterCost CostOf(const std::string& name) {
  if (name == "rocksdb_bloom") return FilterCost::OfRocksDbBloom();
  if (name == "rocksdb_ribbon") return FilterCost::OfRocksDbRibbon();
  auto cost = FilterCost::OfFamily(name);
  if (!cost.ok()) throw std::runtime_error(cost.status().ToString());
  return *std::move(cost);
}

std::string TimesText(const nlohmann::ordered_json& times) {
  if (times.is_null()) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), times < 9.95 ? "%.1fx" : "%.0fx",
                times.get<double>());
  return text;
}

}  // namespace rowbloom::tree_sim
