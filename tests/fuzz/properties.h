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

// Opening, verifying and asking any bytes as a filter block does no harm, even
// with right checksums.
void FilterBlockProperty(std::string_view bytes);

// Parsing, verifying and asking any bytes as a filter blob does no harm.
void FilterBlobProperty(std::string_view bytes);

// Any cells are written and found again; no damage that the rest of the bytes
// describes loses one.
void RoundTripProperty(std::string_view bytes);

// Readers with caches of any size, asked, told, resized, erased, reopened and
// given broken reads in any order, lose no row of an exact set.
void ReaderProperty(std::string_view bytes);

// Every kernel answers as the portable one does, for any units of any family. A
// filter that keeps only some steps says "maybe" wherever the whole one does.
void KernelProperty(std::string_view bytes);

// Every kernel builds the same bytes from any digests and loses none, even with
// fewer steps; damage to the bytes does no harm.
void BuilderProperty(std::string_view bytes);

// Decode undoes Encode, parts are prefixes, order is kept; any key is
// decoded or refused.
void KeyCodecProperty(std::string_view bytes);

// Texts of policies, codecs and bloom types parse to values that print the same
// text, or are refused.
void OptionsTextProperty(std::string_view bytes);

// Loading any bytes as a memfilter does no harm, even with a right checksum:
// they are refused, or the filter works and loses no key.
void MemFilterProperty(std::string_view bytes);

#ifdef ROWBLOOM_FUZZ_WITH_HFILE
// Opening, verifying, walking and asking any bytes as an HFile does no harm,
// even with right checksums; a file that is found whole denies none of its
// cells.
void HFileProperty(std::string_view bytes);
#endif

struct Property {
  const char* name;
  void (*check)(std::string_view bytes);
};

const std::vector<Property>& AllProperties();

}  // namespace rowbloom::fuzz

#endif  // ROWBLOOM_TESTS_FUZZ_PROPERTIES_H_
