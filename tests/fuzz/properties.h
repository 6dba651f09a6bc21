// SPDX-License-Identifier: Apache-2.0
//
// Properties that hold for any bytes; a property aborts if it does not hold.
// They run twice: as libFuzzer targets (*_fuzz.cc, preset fuzz), and over their
// corpus and random changes of it as an ordinary test (properties_test.cc). The
// corpus of property NAME is corpus/NAME: inputs to start from, inputs that
// fuzzing found to reach far, and all that failed.

#ifndef ROWBLOOM_TESTS_FUZZ_PROPERTIES_H_
#define ROWBLOOM_TESTS_FUZZ_PROPERTIES_H_

#include <string_view>
#include <vector>

namespace rowbloom::fuzz {

struct Property {
  std::string_view name;
  void (*check)(std::string_view bytes);
};

const std::vector<Property>& AllProperties();

#ifdef ROWBLOOM_FUZZ_WITH_HFILE
// Opening, verifying, walking and asking any bytes as an HFile does no harm,
// even with right checksums; a file that is found whole denies none of its
// cells.
void HFileProperty(std::string_view bytes);
#endif

}  // namespace rowbloom::fuzz

#endif  // ROWBLOOM_TESTS_FUZZ_PROPERTIES_H_
