// SPDX-License-Identifier: Apache-2.0

#include "costs.h"

#include <cstdio>
#include <map>
#include <stdexcept>
#include <utility>

namespace rowbloom::tree_sim {

namespace {

FilterCost NewCost(const std::string& name) {
  auto cost = FilterCost::OfName(name);
  if (!cost.ok()) throw std::runtime_error(cost.status().ToString());
  return *std::move(cost);
}

}  // namespace

FilterCost CostOf(const std::string& name) {
  // Making one takes milliseconds.
  static std::map<std::string, FilterCost> costs;
  const auto known = costs.find(name);
  if (known != costs.end()) return known->second;
  return costs.emplace(name, NewCost(name)).first->second;
}

std::string TimesText(const nlohmann::ordered_json& times) {
  if (times.is_null()) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), times < 9.95 ? "%.1fx" : "%.0fx",
                times.get<double>());
  return text;
}

}  // namespace rowbloom::tree_sim
