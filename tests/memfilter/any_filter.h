// SPDX-License-Identifier: Apache-2.0
//
// Makes one filter of each kind, for tests of their common promises.
//
//   for (const MemFilterMaker& maker : AllMakers()) maker.make(10'000);

#ifndef ROWBLOOM_TESTS_MEMFILTER_ANY_FILTER_H_
#define ROWBLOOM_TESTS_MEMFILTER_ANY_FILTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/memfilter/mem_filter.h"
#include "testing/environment.h"

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

// The environment variable ROWBLOOM_MEMFILTER_OPERATIONS is the number of
// random operations against exact sets, over all kinds of filters, and of
// several threads. A full run has at least 10 million.
inline uint64_t MemFilterOperations() {
  return NumberFromEnvironment("ROWBLOOM_MEMFILTER_OPERATIONS", 600000);
}

// Filters have eight layers or rows, if they have any; filters of fixed size
// have some room to spare, since keys fall unevenly.
inline std::vector<MemFilterMaker> AllMakers() {
  constexpr double kFpr = 0.02;
  const auto part = [](uint64_t keys) { return (keys + 7) / 8; };
  const auto roomy = [](uint64_t keys) { return (keys + 7) / 4 + 64; };
  std::vector<MemFilterMaker> makers;
  makers.push_back({"standard", [](uint64_t keys) {
                      return AnyFilter(
                          *StandardFilter::New(*ShapeFor(keys, kFpr)));
                    }});
  makers.push_back({"concurrent",
                    [](uint64_t keys) {
                      return AnyFilter(
                          *ConcurrentFilter::New(*ShapeFor(keys, kFpr)));
                    },
                    [](const std::string& saved)
                        -> absl::StatusOr<std::unique_ptr<MemFilter>> {
                      auto filter = ConcurrentFilter::Load(saved);
                      if (!filter.ok()) return filter.status();
                      return AnyFilter(*std::move(filter));
                    }});
  for (const uint32_t bits : {2, 4, 8, 16}) {
    makers.push_back(
        {"counting_" + std::to_string(bits), [bits](uint64_t keys) {
           CountingOptions options;
           options.shape = *ShapeFor(keys, kFpr);
           options.counter_bits = bits;
           return AnyFilter(*CountingFilter::New(options));
         }});
  }
  makers.push_back({"scalable", [](uint64_t keys) {
                      ScalableOptions options;
                      options.target_fpr = kFpr;
                      options.capacity = 1 + keys / 100;
                      return AnyFilter(*ScalableFilter::New(options));
                    }});
  makers.push_back({"scalable_of_equal_layers", [=](uint64_t keys) {
                      ScalableOptions options;
                      options.target_fpr = kFpr;
                      options.capacity = part(keys);
                      options.expansion = 1;
                      return AnyFilter(*ScalableFilter::New(options));
                    }});
  makers.push_back({"scalable_of_one_layer", [](uint64_t keys) {
                      ScalableOptions options;
                      options.target_fpr = kFpr;
                      options.capacity = keys;
                      options.non_scaling = true;
                      return AnyFilter(*ScalableFilter::New(options));
                    }});
  makers.push_back({"dynamic", [=](uint64_t keys) {
                      DynamicOptions options;
                      options.row = *ShapeFor(part(keys), kFpr / 8);
                      options.keys_per_row = part(keys);
                      return AnyFilter(*DynamicFilter::New(options));
                    }});
  makers.push_back({"split", [=](uint64_t keys) {
                      SplitOptions options;
                      options.row = *ShapeFor(part(keys), kFpr / 8);
                      options.keys_per_row = part(keys);
                      options.row_count = 8;
                      return AnyFilter(*SplitFilter::New(options));
                    }});
  makers.push_back({"balanced", [=](uint64_t keys) {
                      BalancedOptions options;
                      options.row = *ShapeFor(part(keys), kFpr / 8);
                      return AnyFilter(*BalancedFilter::New(options));
                    }});
  for (const uint32_t groups : {1, 2, 4}) {
    makers.push_back({"matrix_" + std::to_string(groups), [=](uint64_t keys) {
                        MatrixOptions options;
                        options.row = *ShapeFor(roomy(keys), kFpr / groups);
                        options.row_count = 8;
                        options.group_count = groups;
                        return AnyFilter(*MatrixFilter::New(options));
                      }});
  }
  return makers;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_MEMFILTER_ANY_FILTER_H_
