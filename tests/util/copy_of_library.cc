// SPDX-License-Identifier: Apache-2.0
//
// A module with a copy of the library: two_copies_test.cc loads two of them.

#include <cstdint>

#include "util/epoch.h"

#if defined(_WIN32)
#define ROWBLOOM_COPY_EXPORT extern "C" __declspec(dllexport)
#else
#define ROWBLOOM_COPY_EXPORT extern "C" __attribute__((visibility("default")))
#endif

ROWBLOOM_COPY_EXPORT bool GuardIsSeen() {
  const rowbloom::util::EpochGuard guard;
  const uint64_t epoch = rowbloom::util::RetireEpoch();
  return epoch >= rowbloom::util::FirstGuardedEpoch();
}

ROWBLOOM_COPY_EXPORT int CountThreadRecords() {
  int count = 0;
  rowbloom::util::ForEachThread([&](const auto&) { ++count; });
  return count;
}
