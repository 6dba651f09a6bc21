// SPDX-License-Identifier: Apache-2.0
//
// Compares stores with and without filters to std::map: the same random writes
// and reads, with flushes, compactions and reopens in between. Other seeds:
//
//   mini_kv_store_test --gtest_filter='*Differential*' --gtest_random_seed=N

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../mini_kv.h"
#include "gtest/gtest.h"
#include "rowbloom/filter.h"
#include "test_util.h"

namespace mini_kv {
namespace {

constexpr int kOperations = 6000;

struct Contestant {
  Options options;
  TempDirectory directory;
  std::unique_ptr<MiniKv> store;

  void Reopen() {
    store.reset();  // Nothing is flushed: the log has the memtable's cells.
    store = *MiniKv::Open(options, directory.path());
  }
};

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
  RandomCells random(seed);
  std::vector<Contestant> contestants(2);
  contestants[0].options = contestants[1].options = SmallOptions();
  contestants[0].options.filter.bloom_type = rowbloom::BloomType::kNone;
  const auto families = rowbloom::FilterFamilyNames();
  contestants[1].options.filter.filter_spec = rowbloom::FilterSpec::BitsPerKey(
      families[seed % families.size()], 6.0 + static_cast<double>(seed % 8));
  for (Contestant& c : contestants) c.Reopen();

  Model model;
  for (int i = 0; i < kOperations && !HasFailure(); ++i) {
    const RandomWrite write = random.Write();
    const ModelKey key = random.Key();
    const uint64_t action = random.Below(1000);
    if (action < 700) Apply(write, &model);
    for (Contestant& c : contestants) {
      MiniKv* const store = c.store.get();
      if (action < 700) {
        ASSERT_TRUE(Apply(write, store).ok());
      } else if (action < 980) {
        Check(model, key, store);
      } else if (action < 988) {
        c.Reopen();
      } else if (action < 996) {
        ASSERT_TRUE(store->Flush().ok());
      } else if (action < 998) {
        ASSERT_TRUE(store->Compact().ok());
      } else {
        EXPECT_EQ(Contents(store), model);
        CheckGets(model, store);
      }
    }
  }
  for (Contestant& c : contestants) {
    EXPECT_EQ(Contents(c.store.get()), model);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Differential, testing::Range<uint64_t>(1, 9));

}  // namespace
}  // namespace mini_kv
