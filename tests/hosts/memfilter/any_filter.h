// SPDX-License-Identifier: Apache-2.0
//
// Makes one filter of each kind, for tests of their common promises.
//
//   for (const MemFilterMaker& maker : AllMakers()) maker.make(10'000);

#ifndef ROWBLOOM_TESTS_HOSTS_MEMFILTER_ANY_FILTER_H_
#define ROWBLOOM_TESTS_HOSTS_MEMFILTER_ANY_FILTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/memfilter/mem_filter.h"
#include "testing/soak.h"

namespace rowbloom::testing {

struct MemFilterMaker {
  std::string name;
  // Makes a filter with room for `keys` keys; its rate is then some percent.
  std::function<std::unique_ptr<MemFilter>(uint64_t keys)> make;
  // Loads a filter of the same type.
  std::function<absl::StatusOr<std::unique_ptr<MemFilter>>(
      const std::string& saved)>
      load = LoadMemFilter;
};

// The number of random operations against exact sets, over all kinds of
// filters, and of several threads.
inline uint64_t MemFilterOperations() { return Operations(600000); }

// Filters have eight layers, if they have any; filters of fixed size
// have some room to spare, since keys fall unevenly.
inline std::vector<MemFilterMaker> AllMakers() {
  constexpr double kFpr = 0.02;
  const auto part = [](uint64_t keys) { return (keys + 7) / 8; };
  const auto roomy = [](uint64_t keys) { return (keys + 7) / 4 + 64; };
  std::vector<MemFilterMaker> makers;
  const auto add = [&](const std::string& name, auto new_filter) {
    makers.push_back(
        {name, [=](uint64_t keys) { return AnyFilter(*new_filter(keys)); }});
  };
  add("standard",
      [](uint64_t keys) { return StandardFilter::New(*ShapeFor(keys, kFpr)); });
  add("concurrent", [](uint64_t keys) {
    return ConcurrentFilter::New(*ShapeFor(keys, kFpr));
  });
  makers.back().load = [](const std::string& saved)
      -> absl::StatusOr<std::unique_ptr<MemFilter>> {
    auto filter = ConcurrentFilter::Load(saved);
    if (!filter.ok()) return filter.status();
    return AnyFilter(*std::move(filter));
  };
  for (const uint32_t bits : {2, 4, 8, 16}) {
    add("counting_" + std::to_string(bits), [=](uint64_t keys) {
      return CountingFilter::New({*ShapeFor(keys, kFpr), bits});
    });
  }
  add("scalable", [](uint64_t keys) {
    return ScalableFilter::New({kFpr, 1 + keys / 100});
  });
  add("scalable_of_equal_layers", [=](uint64_t keys) {
    return ScalableFilter::New({kFpr, part(keys), /*expansion=*/1});
  });
  add("scalable_of_one_layer", [](uint64_t keys) {
    ScalableOptions options = {kFpr, keys};
    options.non_scaling = true;
    return ScalableFilter::New(options);
  });
  add("dynamic", [=](uint64_t keys) {
    return DynamicFilter::New({*ShapeFor(part(keys), kFpr / 8), part(keys)});
  });
  add("split", [=](uint64_t keys) {
    return SplitFilter::New({*ShapeFor(part(keys), kFpr / 8), part(keys), 8});
  });
  add("balanced", [=](uint64_t keys) {
    return BalancedFilter::New({*ShapeFor(part(keys), kFpr / 8)});
  });
  for (const uint32_t groups : {1, 2, 4}) {
    add("matrix_" + std::to_string(groups), [=](uint64_t keys) {
      return MatrixFilter::New(
          {*ShapeFor(roomy(keys), kFpr / groups), 8, groups});
    });
  }
  return makers;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_HOSTS_MEMFILTER_ANY_FILTER_H_
