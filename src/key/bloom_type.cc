// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/bloom_type.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "util/absl_view.h"

namespace rowbloom {

namespace {
constexpr BloomType kAll[] = {BloomType::kNone, BloomType::kRow,
                              BloomType::kRowCol,
                              BloomType::kRowPrefixFixedLength};
}  // namespace

std::string_view BloomTypeName(BloomType type) {
  switch (type) {
    case BloomType::kNone:
      return "NONE";
    case BloomType::kRow:
      return "ROW";
    case BloomType::kRowCol:
      return "ROWCOL";
    case BloomType::kRowPrefixFixedLength:
      return "ROWPREFIX_FIXED_LENGTH";
  }
  return "UNKNOWN";
}

absl::StatusOr<BloomType> ParseBloomType(std::string_view name) {
  for (const BloomType type : kAll) {
    if (absl::EqualsIgnoreCase(util::AbslView(name),
                               util::AbslView(BloomTypeName(type)))) {
      return type;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown bloom type \"", util::AbslView(name),
                   "\"; known: NONE, ROW, ROWCOL, ROWPREFIX_FIXED_LENGTH"));
}

}  // namespace rowbloom
