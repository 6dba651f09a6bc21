// SPDX-License-Identifier: Apache-2.0

#include "c/options.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "util/absl_view.h"

namespace rowbloom::c {

using util::AbslView;

namespace {

bool ParseWord(absl::string_view digits, uint64_t* word) {
  return digits.find_first_not_of("0123456789abcdefABCDEF") ==
             absl::string_view::npos &&
         absl::SimpleHexAtoi(digits, word);
}

}  // namespace

Options::Options(std::string_view kind, const char* text) : kind_(kind) {
  for (const absl::string_view option :
       absl::StrSplit(text == nullptr ? "" : text, ';', absl::SkipEmpty())) {
    const size_t equals = option.find('=');
    if (equals == absl::string_view::npos) {
      // Its text might be a secret.
      Refuse(absl::StrCat("option ", values_.size() + 1, " is not name=value"));
      return;
    }
    const std::string_view name(option.data(), equals);
    const std::string_view value(option.data() + equals + 1,
                                 option.size() - equals - 1);
    if (!values_.emplace(name, value).second) {
      Refuse(absl::StrCat(AbslView(name), " is given twice"));
    }
  }
}

void Options::Refuse(std::string_view problem) {
  status_.Update(absl::InvalidArgumentError(
      absl::StrCat(AbslView(kind_), " options: ", AbslView(problem))));
}

std::optional<std::string_view> Options::TakeText(std::string_view name) {
  known_.push_back(name);
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  const std::string_view value = found->second;
  values_.erase(found);
  return value;
}

template <typename Number, typename Parse>
void Options::TakeNumber(std::string_view name, const char* type, Parse parse,
                         Number* value) {
  const std::optional<std::string_view> text = TakeText(name);
  if (!text) return;
  Number parsed{};
  if (parse(AbslView(*text), &parsed)) {
    *value = parsed;
    return;
  }
  Refuse(absl::StrCat(AbslView(name), "=", AbslView(*text), " is not ", type));
}

void Options::Take(std::string_view name, std::string* value) {
  if (const auto text = TakeText(name)) *value = *text;
}

void Options::Take(std::string_view name, bool* value) {
  TakeNumber(name, "true or false", absl::SimpleAtob, value);
}

void Options::Take(std::string_view name, int* value) {
  TakeNumber(name, "a whole number within 32 bits", absl::SimpleAtoi<int>,
             value);
}

void Options::Take(std::string_view name, uint32_t* value) {
  TakeNumber(name, "a whole number from 0 to 4294967295",
             absl::SimpleAtoi<uint32_t>, value);
}

void Options::Take(std::string_view name, uint64_t* value) {
  TakeNumber(name, "a whole number from 0 to 18446744073709551615",
             absl::SimpleAtoi<uint64_t>, value);
}

void Options::Take(std::string_view name, double* value) {
  TakeNumber(name, "a number", absl::SimpleAtod, value);
}

void Options::Take(std::string_view name, DigestSecret* value) {
  // The message does not repeat a secret.
  const auto text = TakeText(name);
  if (!text) return;
  DigestSecret secret;
  if (text->size() == 32 &&
      ParseWord(AbslView(text->substr(0, 16)), &secret.words[0]) &&
      ParseWord(AbslView(text->substr(16)), &secret.words[1])) {
    *value = secret;
    return;
  }
  Refuse(absl::StrCat(AbslView(name), " is not 32 hexadecimal digits"));
}

absl::Status Options::Finish() {
  if (!values_.empty()) {
    Refuse(absl::StrCat(
        "unknown option \"", AbslView(values_.begin()->first), "\"; known: ",
        absl::StrJoin(known_, ", ",
                      [](std::string* out, std::string_view name) {
                        absl::StrAppend(out, AbslView(name));
                      })));
  }
  return status_;
}

}  // namespace rowbloom::c
