// SPDX-License-Identifier: Apache-2.0

#include "workload.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <unordered_map>

#include "policies.h"
#include "rowbloom/key_codec.h"
#include "xxhash.h"

namespace rowbloom::bench {
namespace {

constexpr uint64_t kValueSeed = 100;

constexpr const char* kDictionaryColumns[] = {
    "antonyms", "audio",  "definition",    "etymology",
    "examples", "plural", "pronunciation", "synonyms"};
constexpr uint32_t kAllColumns = (1u << std::size(kDictionaryColumns)) - 1;

// Each choice that is made by a hash has its own seed.
constexpr uint64_t kColumnSeed = 1;
constexpr uint64_t kAbsentRowSeed = 2;

std::vector<std::string> ReadLines(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error(
        path + ": " + std::strerror(errno) +
        ". Install the word list (apt-get install wamerican-insane), or give "
        "your own data with --input FILE.");
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  if (lines.size() < 2) {
    throw std::runtime_error(path + ": holds fewer than two rows");
  }
  return lines;
}

// At least one column and never all of them, so that each row lacks one.
uint32_t ColumnsOfWord(std::string_view word) {
  const uint32_t chosen = Scramble(word, kColumnSeed) & kAllColumns;
  if (chosen == 0) return 1;
  if (chosen == kAllColumns) return kAllColumns - 1;
  return chosen;
}

bool IsAsciiLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

uint64_t Scramble(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint64_t Scramble(uint64_t value, uint64_t seed) {
  return XXH3_64bits_withSeed(&value, sizeof(value), seed);
}

std::string MakeValue(std::string_view key, size_t size_bytes) {
  std::string value(size_bytes, '\0');
  uint64_t word = Scramble(key, kValueSeed);
  for (size_t at = 0; at < size_bytes; at += sizeof(word)) {
    std::memcpy(value.data() + at, &word,
                std::min(sizeof(word), size_bytes - at));
    word = Scramble(word, kValueSeed);
  }
  return value;
}

const char* MixName(Mix mix) {
  return mix == Mix::kUniform ? "uniform" : "zipf";
}

const char* QueryName(Query query) {
  constexpr const char* kNames[] = {"absent_row", "absent_column",
                                    "present_cell", "present_row"};
  return kNames[static_cast<size_t>(query)];
}

bool AsksRow(Query query) {
  return query == Query::kAbsentRow || query == Query::kPresentRow;
}

std::string EncodeKey(std::string_view row, std::string_view qualifier) {
  std::string key;
  CheckOk(KeyCodec::Ordered().Encode(row, qualifier, &key));
  return key;
}

Dataset::Dataset(const std::string& path, uint64_t word_limit) {
  std::vector<std::string> lines = ReadLines(path);
  std::vector<RowAndColumn> cells =
      lines.front().find('\t') == std::string::npos
          ? CellsOfWords(std::move(lines), word_limit)
          : CellsOfLines(lines);
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  for (RowAndColumn& cell : cells) {
    if (rows_.empty() || rows_.back() != cell.first) {
      rows_.push_back(std::move(cell.first));
      first_column_.push_back(columns_.size());
    }
    columns_.push_back(cell.second);
  }
  first_column_.push_back(columns_.size());
}

std::vector<Dataset::RowAndColumn> Dataset::CellsOfWords(
    std::vector<std::string> words, uint64_t limit) {
  qualifiers_.assign(std::begin(kDictionaryColumns),
                     std::end(kDictionaryColumns));
  if (limit != 0 && words.size() > limit) {
    for (uint64_t i = 0; i < limit; ++i) {
      std::swap(words[i], words[i * words.size() / limit]);
    }
    words.resize(limit);
  }
  std::vector<RowAndColumn> cells;
  for (const std::string& word : words) {
    const uint32_t columns = ColumnsOfWord(word);
    for (uint32_t q = 0; q < std::size(kDictionaryColumns); ++q) {
      if ((columns >> q & 1) != 0) cells.emplace_back(word, q);
    }
  }
  return cells;
}

std::vector<Dataset::RowAndColumn> Dataset::CellsOfLines(
    const std::vector<std::string>& lines) {
  std::unordered_map<std::string, uint32_t> qualifier_index;
  std::vector<RowAndColumn> cells;
  for (const std::string& line : lines) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || tab == 0) {
      throw std::runtime_error("expected row<TAB>column, found \"" + line +
                               "\"");
    }
    const auto [it, is_new] = qualifier_index.emplace(
        line.substr(tab + 1), static_cast<uint32_t>(qualifiers_.size()));
    if (is_new) qualifiers_.push_back(it->first);
    cells.emplace_back(line.substr(0, tab), it->second);
  }
  return cells;
}

Cell Dataset::Draw(Query query, size_t i, uint64_t random) const {
  switch (query) {
    case Query::kAbsentRow:
      return {AbsentRow(i), ""};
    case Query::kAbsentColumn:
      return {rows_[i], AbsentQualifier(i)};
    case Query::kPresentCell:
      return {rows_[i], qualifiers_[columns(i)[random % columns(i).size()]]};
    case Query::kPresentRow:
      break;
  }
  return {rows_[i], ""};
}

// Changes or adds one letter of row i. The result lies between the first and
// the last row.
std::string Dataset::AbsentRow(size_t i) const {
  // All neighbours of a row may exist or lie outside. Then the next row's are
  // tried.
  const size_t try_count = 64 * std::min<size_t>(rows_.size(), 1000);
  for (size_t tries = 0; tries < try_count; ++tries) {
    std::string candidate = rows_[(i + tries / 64) % rows_.size()];
    const uint64_t dice = Scramble(i * 64 + tries % 64, kAbsentRowSeed);
    const char letter = static_cast<char>('a' + dice % 26);
    // The first letter stays, so that changed rows spread as the rows do.
    const size_t at = 1 + (dice >> 8) % candidate.size();
    if (at < candidate.size() && IsAsciiLetter(candidate[at])) {
      candidate[at] = letter;
    } else {
      candidate.push_back(letter);
    }
    if (candidate > rows_.front() && candidate < rows_.back() &&
        !std::binary_search(rows_.begin(), rows_.end(), candidate)) {
      return candidate;
    }
  }
  throw std::runtime_error(
      "the input's rows leave no room for absent rows "
      "between them; give more rows");
}

// A qualifier that row i lacks and other rows have. If the row has them all,
// the longest with a letter added.
std::string Dataset::AbsentQualifier(size_t i) const {
  const absl::Span<const uint32_t> held = columns(i);
  const uint32_t count = static_cast<uint32_t>(qualifiers_.size());
  const uint64_t start = Scramble(rows_[i], kColumnSeed) >> 32;
  for (uint32_t step = 0; step < count; ++step) {
    const uint32_t q = static_cast<uint32_t>((start + step) % count);
    if (!std::binary_search(held.begin(), held.end(), q)) return qualifiers_[q];
  }
  return *std::max_element(
             qualifiers_.begin(), qualifiers_.end(),
             [](const auto& a, const auto& b) { return a.size() < b.size(); }) +
         "x";
}

}  // namespace rowbloom::bench
