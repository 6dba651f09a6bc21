// SPDX-License-Identifier: Apache-2.0
//
// A module with a copy of the library: two_copies_test.cc loads two of them.

#include "util/epoch.h"

extern "C" __attribute__((visibility("default"))) bool GuardIsSeen() {
  const rowbloom::util::EpochGuard guard;
  return !rowbloom::util::EpochPassed(rowbloom::util::RetireEpoch());
}
