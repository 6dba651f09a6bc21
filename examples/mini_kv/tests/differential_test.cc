// SPDX-License-Identifier: Apache-2.0
//
// Compares stores, with filters of each family and without, to std::map: random
// writes and reads, with flushes, compactions and reopens in between. More
// seeds:
//
//   mini_kv_store_test --gtest_filter='*Differential*' --gtest_random_seed=N

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "../mini_kv.h"
#include "gtest/gtest.h"
#include "rowbloom/filter.h"
#include "test_util.h"

namespace mini_kv {
namespace {

// Gets the cell and its row.
void Check(const Model& model, const ModelKey& key, MiniKv* store) {
  const auto& [row, qualifier] = key;
  const auto it = model.find(key);
  EXPECT_EQ(*store->Get(row, qualifier),
            it == model.end() ? std::nullopt : std::optional(it->second));
  Model expected;
  for (const auto& cell : model) {
    if (cell.first.first == row) expected.insert(cell);
  }
  Model found;
  EXPECT_EQ(store->ScanRow(row, AddTo(&found)), absl::OkStatus());
  EXPECT_EQ(found, expected);
  EXPECT_EQ(*store->RowExists(row), !expected.empty());
}

class Differential : public testing::TestWithParam<uint64_t> {};

TEST_P(Differential, AnswersAreThoseOfAMap) {
  const uint64_t seed =
      GetParam() + 1000 * static_cast<uint64_t>(GTEST_FLAG_GET(random_seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  Options options = SmallOptions();
  const auto families = rowbloom::FilterFamilyNames();
  const size_t family = seed % (families.size() + 1);
  if (family == families.size()) {
    options.filter.bloom_type = rowbloom::BloomType::kNone;
  } else {
    options.filter.filter_spec = rowbloom::FilterSpec::BitsPerKey(
        families[family], 6.0 + static_cast<double>(seed % 8));
  }
  const TempDirectory directory;
  auto store = *MiniKv::Open(options, directory.path());

  RandomCells random(seed);
  Model model;
  for (int i = 0; i < 6000 && !HasFailure(); ++i) {
    const uint64_t action = random.Below(1000);
    if (action < 700) {
      const RandomWrite write = random.Write();
      Apply(write, &model);
      ASSERT_TRUE(Apply(write, store.get()).ok());
    } else if (action < 980) {
      Check(model, random.Key(), store.get());
    } else if (action < 988) {
      store.reset();  // Nothing is flushed: the log has the memtable's cells.
      store = *MiniKv::Open(options, directory.path());
    } else if (action < 996) {
      ASSERT_TRUE(store->Flush().ok());
    } else if (action < 998) {
      ASSERT_TRUE(store->Compact().ok());
    } else {
      EXPECT_EQ(Contents(store.get()), model);
      CheckGets(model, store.get());
    }
  }
  EXPECT_EQ(Contents(store.get()), model);
}

// Enough for each family, and for no filters, to have two.
INSTANTIATE_TEST_SUITE_P(Seeds, Differential, testing::Range<uint64_t>(1, 17));

}  // namespace
}  // namespace mini_kv
