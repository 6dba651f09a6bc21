// SPDX-License-Identifier: Apache-2.0
//
// What must hold for any bytes. Each property aborts if it does not. They run
// twice: as libFuzzer targets (*_fuzz.cc, preset fuzz), and over their corpus
// and random changes of it as an ordinary test (properties_test.cc).

#ifndef ROWBLOOM_TESTS_FUZZ_PROPERTIES_H_
#define ROWBLOOM_TESTS_FUZZ_PROPERTIES_H_

#include <string>
#include <string_view>
#include <vector>

namespace rowbloom::fuzz {

// Opening, verifying and asking any bytes as a filter block does no harm, also
// under checksums that are right.
void FilterBlockProperty(std::string_view bytes);

// The same for a filter blob.
void FilterBlobProperty(std::string_view bytes);

// Any cells are written, found again, and lost under no damage that the rest
// of the bytes describe.
void RoundTripProperty(std::string_view bytes);

// Readers with caches of any size, asked, told, resized, erased, reopened and
// given broken reads in any order, lose no row of an exact set.
void ReaderProperty(std::string_view bytes);

// Every kernel answers as the portable one, for any units of any family; and
// if only some steps of the filter are kept, "maybe" wherever it does.
void KernelProperty(std::string_view bytes);

// Every kernel builds the same bytes of any digests, and loses none, also with
// fewer steps; damage to the bytes does no harm.
void BuilderProperty(std::string_view bytes);

// Decode undoes Encode, parts are prefixes, order is kept; any key is
// decoded or refused.
void KeyCodecProperty(std::string_view bytes);

// Texts of policies, codecs and bloom types parse to what prints the same,
// or are refused.
void OptionsTextProperty(std::string_view bytes);

// Loading any bytes as a filter that changes while it lives does no harm, also
// under a checksum that is right: it is refused, or goes on and loses no key.
void MemFilterProperty(std::string_view bytes);

#ifdef ROWBLOOM_FUZZ_WITH_HFILE
// Opening, verifying, walking and asking any bytes as an HFile does no harm,
// also under checksums that are right; a file that is found whole denies none
// of its cells.
void HFileProperty(std::string_view bytes);
std::vector<std::string> HFileSeeds();
#endif

struct Property {
  const char* name;
  void (*check)(std::string_view bytes);
  // Inputs to start from.
  std::vector<std::string> (*seeds)();
};

const std::vector<Property>& AllProperties();

}  // namespace rowbloom::fuzz

#endif  // ROWBLOOM_TESTS_FUZZ_PROPERTIES_H_
