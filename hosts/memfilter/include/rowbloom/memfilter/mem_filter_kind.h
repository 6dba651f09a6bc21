// SPDX-License-Identifier: Apache-2.0
//
// The kinds of filters that change while they live, with the codes of their
// saved forms.

#ifndef ROWBLOOM_MEMFILTER_MEM_FILTER_KIND_H_
#define ROWBLOOM_MEMFILTER_MEM_FILTER_KIND_H_

#include <cstdint>
#include <string_view>

#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

// Persisted: never reused, never redefined.
enum class MemFilterKind : uint8_t {
  kStandard = 1,  // Also ConcurrentFilter: same saved form.
  kCounting = 2,
  kScalable = 3,
  kDynamic = 4,
  kSplit = 5,
  kBalanced = 6,
  kMatrix = 7,
  kRedisson = 8,  // RedissonFilter::Load() only; its digests differ.
};

// For example "standard"; "unknown" for any other value.
std::string_view MemFilterKindName(MemFilterKind kind);

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_MEM_FILTER_KIND_H_
