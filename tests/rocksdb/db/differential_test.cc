// SPDX-License-Identifier: Apache-2.0
//
// Tests that RocksDB with our filters answers as a map does, for random
// operations in random set-ups; with its own Bloom filter it does not always.
//
//   ROWBLOOM_DIFFERENTIAL_OPERATIONS=5000000 rocksdb_db_test
//       --gtest_filter='DbDifferential.*' --gtest_random_seed=SEED

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "rocksdb/db/differential_run.h"
#include "rocksdb/test_seed.h"
#include "testing/environment.h"

namespace rowbloom::testing {
namespace {

constexpr int kOperationsOfARun = 3000;

uint64_t OperationCount() {
  return NumberFromEnvironment("ROWBLOOM_DIFFERENTIAL_OPERATIONS", 100000);
}

// The answers of databases with one kind of filters, over many set-ups.
struct Outcome {
  uint64_t operations = 0;
  uint64_t useful = 0;
  std::map<std::string, uint64_t> wrong_answers;  // By kind of question.
  std::string first_differences;

  uint64_t wrong() const {
    uint64_t sum = 0;
    for (const auto& [kind, count] : wrong_answers) sum += count;
    return sum;
  }
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  out << outcome.operations << " operations, " << outcome.useful
      << " times a filter said no, " << outcome.wrong() << " wrong answers";
  for (const auto& [kind, count] : outcome.wrong_answers) {
    out << ", " << count << " of " << kind;
  }
  return out;
}

// If `prone` is null, each set-up is random and changes when the database is
// reopened.
Outcome RunAll(Filters filters, uint64_t operations, uint32_t seed,
               void (*prone)(RandomSetUp*)) {
  Outcome outcome;
  for (uint64_t run = 0; outcome.operations < operations; ++run) {
    const uint64_t run_seed = (uint64_t{seed} << 32) + run;
    Random random(run_seed);
    RandomSetUp set_up = DrawSetUp(&random);
    set_up.filters = filters;
    if (prone != nullptr) prone(&set_up);
    DifferentialRun database(set_up, run_seed + 1, prone == nullptr);
    database.Operate(kOperationsOfARun);
    outcome.operations += kOperationsOfARun;
    outcome.useful += database.useful();
    for (const auto& [kind, count] : database.wrong_answers()) {
      outcome.wrong_answers[kind] += count;
    }
    if (outcome.first_differences.empty()) {
      outcome.first_differences = database.first_differences();
    }
    if (::testing::Test::HasFailure()) break;
  }
  return outcome;
}

TEST(DbDifferential, AnswersAsAMapDoes) {
  const uint32_t seed = TestSeed();
  const Outcome ours = RunAll(Filters::kOurs, OperationCount(), seed, nullptr);
  std::cout << "ours: " << ours << std::endl;
  EXPECT_EQ(ours.wrong(), 0) << ours.first_differences;
  // The test asks filters, not merely blocks.
  EXPECT_GT(ours.useful, ours.operations / 10);
}

// Tests that the map and the answers expected of RocksDB are right.
TEST(DbDifferential, ControlWithoutFiltersAnswersAsAMapDoes) {
  const uint32_t seed = TestSeed();
  const Outcome none =
      RunAll(Filters::kNone, OperationCount() / 4, seed, nullptr);
  std::cout << "no filters: " << none << std::endl;
  EXPECT_EQ(none.wrong(), 0) << none.first_differences;
  EXPECT_EQ(none.useful, 0);
}

// RocksDB 9.5 fixed this.
TEST(DbDifferential, ControlWithStockBloomLosesRowsBackwards) {
  uint32_t seed = TestSeed();
  const uint64_t operations = OperationCount() / 4;
  Outcome stock;
  const bool is_fixed = kRocksDbRelease >= 905;
  for (int tries = is_fixed ? 9 : 0; stock.wrong() == 0 && tries < 10;
       ++tries) {
    stock = RunAll(Filters::kStockBloom, operations, ++seed,
                   MakeProneToLoseBackwards);
  }
  std::cout << "stock Bloom: " << stock << std::endl;
  EXPECT_EQ(stock.wrong() == 0, is_fixed) << stock.first_differences;
  const Outcome ours =
      RunAll(Filters::kOurs, operations, seed, MakeProneToLoseBackwards);
  std::cout << "ours: " << ours << std::endl;
  EXPECT_EQ(ours.wrong(), 0) << ours.first_differences;
  EXPECT_GT(ours.useful, 0);
}

TEST(DbDifferential, ControlWithStockBloomLosesColumns) {
  const uint32_t seed = TestSeed();
  const uint64_t operations = OperationCount() / 4;
  const Outcome stock =
      RunAll(Filters::kStockBloom, operations, seed, MakeProneToLoseColumns);
  std::cout << "stock Bloom: " << stock << std::endl;
  EXPECT_GT(stock.wrong(), operations / 1000);
  const Outcome ours =
      RunAll(Filters::kOurs, operations, seed, MakeProneToLoseColumns);
  std::cout << "ours: " << ours << std::endl;
  EXPECT_EQ(ours.wrong(), 0) << ours.first_differences;
  EXPECT_GT(ours.useful, 0);
}

}  // namespace
}  // namespace rowbloom::testing
