// SPDX-License-Identifier: Apache-2.0
//
// The option texts of tests/stability/options.golden, which every later release
// reads, and the names that an error message lists.
//
//   for (const std::string& text : OptionTexts("filter_spec")) Parse(text);
//   ExpectListed("c_reader", NamesIn("unknown option; known: level, secret"));

#ifndef ROWBLOOM_TESTS_TESTING_OPTION_TEXTS_H_
#define ROWBLOOM_TESTS_TESTING_OPTION_TEXTS_H_

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace rowbloom::testing {

// Returns the texts of one kind, the first word of their lines.
inline std::vector<std::string> OptionTexts(const std::string& kind) {
  std::ifstream file(ROWBLOOM_SOURCE_DIR "/tests/stability/options.golden");
  std::vector<std::string> texts;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(kind + " ", 0) == 0) {
      texts.push_back(line.substr(kind.size() + 1));
    }
  }
  EXPECT_FALSE(texts.empty()) << "options.golden has no " << kind;
  return texts;
}

// Returns what a message lists behind "known: " or "allowed: ".
inline std::vector<std::string> NamesIn(std::string_view message) {
  for (const std::string_view before : {"known: ", "allowed: "}) {
    const size_t at = message.find(before);
    if (at == std::string_view::npos) continue;
    return absl::StrSplit(std::string(message.substr(at + before.size())),
                          ", ");
  }
  ADD_FAILURE() << "no names in: " << message;
  return {};
}

// Some text of this kind must contain each of `parts`.
inline void ExpectListed(const std::string& kind,
                         const std::vector<std::string>& parts) {
  const std::vector<std::string> texts = OptionTexts(kind);
  for (const std::string& part : parts) {
    EXPECT_TRUE(std::any_of(texts.begin(), texts.end(),
                            [&part](const std::string& text) {
                              return text.find(part) != std::string::npos;
                            }))
        << "tests/stability/options.golden needs a line: " << kind << " with "
        << part;
  }
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_OPTION_TEXTS_H_
