// SPDX-License-Identifier: Apache-2.0
//
// Cases for readers of the format: bytes, questions and the library's answers.
// README.md has the fields of their files.
//
//   Case rows = BlockCase("rows", options, cells);
//   rows.questions = QuestionsAbout(cells, 40, &random);
//   CaseWriter(directory).Write(rows);

#ifndef ROWBLOOM_TESTS_FORMAT_CASE_H_
#define ROWBLOOM_TESTS_FORMAT_CASE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/memfilter/mem_filter.h"
#include "rowbloom/memfilter/redisson.h"
#include "testing/keys.h"

namespace rowbloom::cases {

using testing::Cell;
using testing::Random;

// Ends the program.
[[noreturn]] void Die(const std::string& what);

// A question, with the key that the library takes.
struct Question {
  enum class Kind { kRow, kCell, kPrefix, kDigest };

  Kind kind = Kind::kRow;
  std::string row;  // Or the prefix.
  std::string qualifier;
  RedissonDigest digest;

  static Question Row(std::string row) {
    return {Kind::kRow, std::move(row), "", {}};
  }
  static Question OfCell(const Cell& cell) {
    return {Kind::kCell, cell.row, cell.qualifier, {}};
  }
  static Question Prefix(std::string prefix) {
    return {Kind::kPrefix, std::move(prefix), "", {}};
  }
  static Question Digest(uint64_t h1, uint64_t h2) {
    return {Kind::kDigest, "", "", {h1, h2}};
  }

  FilterKey key() const;
};

struct Case {
  std::string name;
  std::string format;  // "filter_block", "filter_blob" or "mem_filter".
  std::string about;
  std::string bytes;
  DigestSecret secret;
  std::string key_codec;  // Its text, if the bytes have one.
  std::vector<Question> questions;
  // The bytes after damage.
  std::vector<std::string> variants;
};

// Asks the library and writes a file for each case.
class CaseWriter {
 public:
  explicit CaseWriter(std::filesystem::path directory);

  void Write(const Case& made);
  uint64_t questions() const { return questions_; }

 private:
  const std::filesystem::path directory_;
  uint64_t questions_ = 0;
};

// Cases of these keys, without questions.
Case BlockCase(std::string name, const FilterOptions& options,
               const std::vector<Cell>& cells);
Case BlobCase(std::string name, const FilterSpec& spec,
              const std::vector<Cell>& cells, std::string_view metadata);
Case MemFilterCase(std::string name, MemFilter* filter,
                   const std::vector<Cell>& cells);
// A case of random digests, of which the first `keys` are added, and questions.
Case RedissonCase(std::string name, const BloomShape& shape, size_t keys,
                  size_t questions, Random* random);

// Questions of all kinds: keys that are there, their neighbours and their
// beginnings.
std::vector<Question> QuestionsAbout(const std::vector<Cell>& cells,
                                     size_t count, Random* random);
// Asks for no prefixes, which blobs and saved filters do not answer.
std::vector<Question> RowsAndCellsAbout(const std::vector<Cell>& cells,
                                        size_t count, Random* random);

// Flips and cuts, which checksums find, and changes under right checksums.
void AddVariants(size_t count, Random* random, Case* made);

// Rows of any bytes, and rows that the key codec writes.
std::vector<Cell> AnyCells(const FilterOptions& options, size_t rows,
                           Random* random);

// The keys of the golden saved filters.
std::vector<Cell> GoldenMemFilterCells();

void WriteVectors(CaseWriter* out);
// The golden files, then random cases until `questions` are written.
void WriteRandomCases(uint64_t seed, uint64_t questions, CaseWriter* out);

}  // namespace rowbloom::cases

#endif  // ROWBLOOM_TESTS_FORMAT_CASE_H_
