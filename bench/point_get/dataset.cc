// SPDX-License-Identifier: Apache-2.0

#include "dataset.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "xxhash.h"

namespace rowbloom::point_get {
namespace {

constexpr const char* kDictionaryColumns[] = {
    "antonyms", "audio",  "definition",    "etymology",
    "examples", "plural", "pronunciation", "synonyms"};
constexpr uint32_t kAllColumns = (1u << std::size(kDictionaryColumns)) - 1;

// Seeds: each choice that is made by a hash has its own.
constexpr uint64_t kColumnSeed = 1;
constexpr uint64_t kAbsentRowSeed = 2;

std::ifstream OpenText(const std::string& path, const std::string& remedy) {
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error(path + ": " + std::strerror(errno) + ". " +
                             remedy);
  }
  return file;
}

bool NextLine(std::ifstream& file, std::string* line) {
  if (!std::getline(file, *line)) return false;
  if (!line->empty() && line->back() == '\r') line->pop_back();
  return true;
}

// Keeps `limit` of the rows, evenly spread.
void LimitRows(uint64_t limit, std::vector<std::string>* rows) {
  if (limit == 0 || rows->size() <= limit) return;
  for (uint64_t i = 0; i < limit; ++i) {
    std::swap((*rows)[i], (*rows)[i * rows->size() / limit]);
  }
  rows->resize(limit);
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

Dataset Dataset::FromWords(const std::string& path, uint64_t row_limit) {
  std::ifstream file = OpenText(
      path,
      "Install the word list (apt-get install wamerican-insane), or give your "
      "own data with --input FILE or --words FILE.");
  std::vector<std::string> words;
  for (std::string line; NextLine(file, &line);) {
    if (!line.empty()) words.push_back(line);
  }
  LimitRows(row_limit, &words);
  std::vector<Cell> cells;
  for (const std::string& word : words) {
    const uint32_t columns = ColumnsOfWord(word);
    for (uint32_t q = 0; q < std::size(kDictionaryColumns); ++q) {
      if ((columns >> q & 1) != 0) cells.emplace_back(word, q);
    }
  }
  if (cells.empty()) throw std::runtime_error(path + ": holds no words");
  return Dataset({std::begin(kDictionaryColumns), std::end(kDictionaryColumns)},
                 std::move(cells));
}

Dataset Dataset::FromCells(const std::string& path, uint64_t row_limit) {
  std::ifstream file =
      OpenText(path, "Give a readable file of row<TAB>column lines.");
  std::vector<std::string> qualifiers;
  std::unordered_map<std::string, uint32_t> qualifier_index;
  std::unordered_set<std::string> rows;
  std::vector<Cell> cells;
  uint64_t line_number = 0;
  for (std::string line; NextLine(file, &line);) {
    ++line_number;
    if (line.empty()) continue;
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || tab == 0) {
      throw std::runtime_error(path + ":" + std::to_string(line_number) +
                               ": expected row<TAB>column");
    }
    const std::string row = line.substr(0, tab);
    if (rows.count(row) == 0) {
      if (row_limit != 0 && rows.size() == row_limit) continue;
      rows.insert(row);
    }
    const auto [it, is_new] = qualifier_index.emplace(
        line.substr(tab + 1), static_cast<uint32_t>(qualifiers.size()));
    if (is_new) qualifiers.push_back(it->first);
    cells.emplace_back(row, it->second);
  }
  if (rows.size() < 2) {
    throw std::runtime_error(path + ": holds fewer than two rows");
  }
  return Dataset(std::move(qualifiers), std::move(cells));
}

Dataset::Dataset(std::vector<std::string> qualifiers, std::vector<Cell> cells)
    : qualifiers_(std::move(qualifiers)) {
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  for (Cell& cell : cells) {
    if (rows_.empty() || rows_.back() != cell.first) {
      rows_.push_back(std::move(cell.first));
      first_column_.push_back(columns_.size());
    }
    columns_.push_back(cell.second);
  }
  first_column_.push_back(columns_.size());
}

std::string Dataset::AbsentRow(size_t i) const {
  // Neighbours of a row may all exist or lie outside: then try the next one's.
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

std::string Dataset::AbsentQualifier(size_t i) const {
  const absl::Span<const uint32_t> held = columns(i);
  const auto holds = [&](uint32_t q) {
    return std::binary_search(held.begin(), held.end(), q);
  };
  const uint32_t count = static_cast<uint32_t>(qualifiers_.size());
  const uint64_t start = Scramble(rows_[i], kColumnSeed) >> 32;
  for (uint32_t step = 0; step < count; ++step) {
    const uint32_t q = static_cast<uint32_t>((start + step) % count);
    if (!holds(q)) return qualifiers_[q];
  }
  // It holds every qualifier there is; so a longer one than any is in none.
  return *std::max_element(
             qualifiers_.begin(), qualifiers_.end(),
             [](const auto& a, const auto& b) { return a.size() < b.size(); }) +
         "x";
}

}  // namespace rowbloom::point_get
