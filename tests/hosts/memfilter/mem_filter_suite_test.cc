// SPDX-License-Identifier: Apache-2.0
//
// Tests the promises of every memfilter. A new kind is tested as soon as
// any_filter.h makes one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <unordered_map>

#include "hosts/memfilter/any_filter.h"
#include "memfilter/batch.h"
#include "rowbloom/memfilter/guava.h"
#include "testing/fpr.h"
#include "testing/keys.h"
#include "testing/reseal.h"
#include "util/coding.h"

namespace rowbloom {
namespace {

using testing::MemFilterMaker;
using testing::MemFilterOperations;
using testing::Random;
using testing::RandomDigests;

class MemFilterTest : public ::testing::TestWithParam<MemFilterMaker> {
 protected:
  std::unique_ptr<MemFilter> Make(uint64_t keys) const {
    return GetParam().make(keys);
  }
};

INSTANTIATE_TEST_SUITE_P(All, MemFilterTest,
                         ::testing::ValuesIn(testing::AllMakers()),
                         [](const auto& param) { return param.param.name; });

std::unique_ptr<MemFilter> Loaded(const std::string& saved) {
  auto loaded = LoadMemFilter(saved);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? *std::move(loaded) : nullptr;
}

TEST_P(MemFilterTest, AFreshFilterContainsNothing) {
  Random random(1);
  const auto filter = Make(1000);
  for (const KeyDigest digest : RandomDigests(&random, 10000)) {
    ASSERT_FALSE(filter->MayContain(digest));
  }
  EXPECT_EQ(filter->fill(), 0);
  EXPECT_EQ(filter->expected_fpr(), 0);
  EXPECT_EQ(filter->approximate_count(), 0u);
}

TEST_P(MemFilterTest, NoKeyOfAnUnusualSetIsLost) {
  for (const uint32_t shift : {0u, 20u, 50u}) {
    const auto filter = Make(5000);
    for (uint64_t i = 0; i < 1000; ++i) {
      for (const uint64_t digest : {i << shift, ~(i << shift)}) {
        // Digests that are not hashes fall unevenly, so a filter may be full.
        const auto added = filter->Add(KeyDigest{digest});
        if (added.ok()) {
          ASSERT_TRUE(filter->MayContain(KeyDigest{digest})) << digest;
        } else {
          ASSERT_TRUE(absl::IsResourceExhausted(added.status()));
        }
      }
    }
  }
}

TEST_P(MemFilterTest, AddSaysWhetherTheFilterChanged) {
  Random random(2);
  const auto filter = Make(2000);
  std::vector<KeyDigest> keys = RandomDigests(&random, 500);
  const std::vector<KeyDigest> once = keys;
  keys.insert(keys.end(), once.begin(), once.end());
  std::shuffle(keys.begin(), keys.end(), random);
  uint64_t unchanged = 0;
  for (const KeyDigest key : keys) {
    const bool was_there = filter->MayContain(key);
    const double fill = filter->fill();
    const std::string before = filter->Save();
    const auto added = filter->Add(key);
    ASSERT_TRUE(added.ok());
    // fill() counts the bits, or counters above 0, that are set.
    ASSERT_EQ(*added, filter->fill() != fill);
    unchanged += !*added;
    if (*added) continue;
    ASSERT_TRUE(was_there);
    if (filter->kind() != MemFilterKind::kCounting &&
        filter->kind() != MemFilterKind::kSplit) {  // Its generator went on.
      ASSERT_EQ(filter->Save(), before);
    }
  }
  // These may put a present key into another layer.
  const bool repeats = filter->kind() == MemFilterKind::kDynamic ||
                       filter->kind() == MemFilterKind::kSplit ||
                       filter->kind() == MemFilterKind::kBalanced;
  EXPECT_GE(unchanged, repeats ? 50u : 500u);
}

TEST_P(MemFilterTest, BatchesAnswerAsSingleKeys) {
  Random random(3);
  for (const size_t count : {0, 1, 31, 32, 33, 64, 1000}) {
    const std::vector<KeyDigest> keys = RandomDigests(&random, count);
    const auto singly = Make(2000);
    const auto together = Make(2000);
    for (const KeyDigest key : keys) ASSERT_TRUE(singly->Add(key).ok());
    ASSERT_TRUE(together->Add(keys).ok());
    EXPECT_EQ(singly->Save(), together->Save());

    std::vector<KeyDigest> asked = RandomDigests(&random, count);
    asked.insert(asked.end(), keys.begin(), keys.end());
    std::shuffle(asked.begin(), asked.end(), random);
    const auto answers = std::make_unique<bool[]>(asked.size() + 1);
    answers[asked.size()] = true;
    together->MayContain(asked, answers.get());
    for (size_t i = 0; i < asked.size(); ++i) {
      ASSERT_EQ(answers[i], singly->MayContain(asked[i])) << i;
    }
    EXPECT_TRUE(answers[asked.size()]);  // MayContain() did not write it.
  }
}

// Makes filters so large that batches prefetch their memory.
std::vector<std::unique_ptr<MemFilter>> LargeFilters() {
  const BloomShape shape = {internal::memfilter::kSmallestBatchBits + 77, 3};
  std::vector<std::unique_ptr<MemFilter>> filters;
  filters.push_back(AnyFilter(*StandardFilter::New(shape)));
  filters.push_back(AnyFilter(*ConcurrentFilter::New(shape)));
  filters.push_back(AnyFilter(*CountingFilter::New({shape})));
  filters.push_back(AnyFilter(*ScalableFilter::New({0.05, 500000, 16})));
  filters.push_back(AnyFilter(*DynamicFilter::New({shape, 600000})));
  filters.push_back(AnyFilter(*SplitFilter::New({shape, 600000, 2})));
  filters.push_back(AnyFilter(*BalancedFilter::New({shape})));
  filters.push_back(AnyFilter(*MatrixFilter::New({shape, 4})));
  return filters;
}

TEST(MemFilterBatches, OfLargeFiltersAnswerAsSingleKeys) {
  const auto filters = LargeFilters();
  const auto others = LargeFilters();
  Random random(12);
  const std::vector<KeyDigest> keys = RandomDigests(&random, 1000001);
  std::vector<KeyDigest> asked = RandomDigests(&random, 200001);
  for (size_t i = 0; i < asked.size(); i += 2) asked[i] = keys[i];
  const auto answers = std::make_unique<bool[]>(asked.size());
  for (size_t f = 0; f < filters.size(); ++f) {
    ASSERT_TRUE(filters[f]->Add(keys).ok());
    for (const KeyDigest key : keys) {
      ASSERT_TRUE(others[f]->Add(key).ok());
    }
    EXPECT_TRUE(filters[f]->Save() == others[f]->Save());
    uint64_t false_positives = 0;
    filters[f]->MayContain(asked, answers.get());
    for (size_t i = 0; i < asked.size(); ++i) {
      ASSERT_EQ(answers[i], filters[f]->MayContain(asked[i])) << i;
      false_positives += answers[i] && i % 2 != 0;
    }
    EXPECT_GT(false_positives, 0u);  // Some absent keys go through all probes.
  }
}

TEST(MemFilterBatches, OfLargeGuavaFiltersAnswerAsSingleKeys) {
  auto filter = GuavaFilter::New(5000000);
  auto other = GuavaFilter::New(5000000);
  ASSERT_GT(filter->shape().bit_count, internal::memfilter::kSmallestBatchBits);
  std::vector<GuavaDigest> keys;
  for (int64_t i = 0; i < 100000; ++i) keys.push_back(GuavaDigest::Long(i));
  filter->Add(absl::MakeConstSpan(keys).first(50000));
  for (int i = 0; i < 50000; ++i) other->Add(keys[i]);
  EXPECT_TRUE(filter->WriteTo() == other->WriteTo());
  const auto answers = std::make_unique<bool[]>(keys.size());
  filter->MayContain(keys, answers.get());
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(answers[i], filter->MayContain(keys[i])) << i;
  }
}

// These filters need more memory than any machine has; a sanitizer would end
// the program.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(MemFilterMemory, FiltersThatFindNoneAreNotMade) {
  const BloomShape shape = {kMaxFilterBits, 3};
  const auto is_refused = [](const auto& filter) {
    return absl::IsResourceExhausted(filter.status());
  };
  EXPECT_TRUE(is_refused(StandardFilter::New(shape)));
  EXPECT_TRUE(is_refused(ConcurrentFilter::New(shape)));
  EXPECT_TRUE(is_refused(CountingFilter::New({shape})));
  ScalableOptions scalable = {0.01, 1'000'000'000'000};
  scalable.max_memory_bytes = ~uint64_t{0};
  EXPECT_TRUE(is_refused(ScalableFilter::New(scalable)));
  EXPECT_TRUE(is_refused(DynamicFilter::New({shape, 1})));
  EXPECT_TRUE(is_refused(SplitFilter::New({shape, 1, 1})));
  EXPECT_TRUE(is_refused(BalancedFilter::New({shape})));
  EXPECT_TRUE(is_refused(MatrixFilter::New({shape, 2})));
}
#endif

TEST_P(MemFilterTest, ObservedRateIsTheExpectedOneAtAnyFill) {
  constexpr uint64_t kKeys = 20000;
  constexpr uint64_t kLookups = 300000;
  Random random(4);
  const auto filter = Make(kKeys);
  for (int step = 0; step < 5; ++step) {
    ASSERT_TRUE(filter->Add(RandomDigests(&random, kKeys / 5)).ok());
    EXPECT_TRUE(testing::WithinBinomialBound(
        testing::CountPositives(*filter, kLookups, &random), kLookups,
        filter->expected_fpr(), 0, testing::k999))
        << "at a fill of " << filter->fill();
  }
  EXPECT_LT(filter->expected_fpr(), 0.05);
}

TEST_P(MemFilterTest, CountIsThatOfTheDistinctKeys) {
  constexpr uint64_t kKeys = 20000;
  Random random(5);
  const auto filter = Make(kKeys);
  ASSERT_TRUE(filter->Add(RandomDigests(&random, kKeys)).ok());
  EXPECT_NEAR(static_cast<double>(filter->approximate_count()), kKeys,
              0.03 * kKeys);
}

TEST_P(MemFilterTest, MemoryIsThatOfTheBits) {
  const auto small = Make(1000);
  const auto large = Make(1000000);
  EXPECT_GT(small->memory_usage_bytes(), 100u);
  if (GetParam().name.rfind("scalable", 0) == 0) return;  // It grows.
  EXPECT_GE(large->memory_usage_bytes(), large->Save().size() - 100);
  EXPECT_LE(large->memory_usage_bytes(), large->Save().size() + 2000);
}

TEST_P(MemFilterTest, ALoadedFilterGoesOnAsTheSavedOne) {
  Random random(6);
  // The last count fills some layers of a split filter.
  for (const size_t count : {0, 1, 700, 3000, 4900}) {
    const auto filter = Make(5000);
    ASSERT_TRUE(filter->Add(RandomDigests(&random, count)).ok());
    const std::string saved = filter->Save();
    const auto loaded = Loaded(saved);
    ASSERT_NE(loaded, nullptr);
    EXPECT_EQ(loaded->kind(), filter->kind());
    EXPECT_EQ(loaded->Save(), saved);
    EXPECT_EQ(loaded->fill(), filter->fill());
    EXPECT_EQ(loaded->expected_fpr(), filter->expected_fpr());
    EXPECT_EQ(loaded->approximate_count(), filter->approximate_count());
    for (const KeyDigest digest : RandomDigests(&random, 1000)) {
      ASSERT_EQ(loaded->MayContain(digest), filter->MayContain(digest));
      const auto added = filter->Add(digest);
      ASSERT_EQ(loaded->Add(digest), added);
    }
    EXPECT_EQ(loaded->Save(), filter->Save());
  }
}

TEST_P(MemFilterTest, EveryFlippedBitOfASavedFilterIsAnError) {
  Random random(7);
  const auto filter = Make(50);
  ASSERT_TRUE(filter->Add(RandomDigests(&random, 30)).ok());
  const std::string saved = filter->Save();
  for (size_t i = 0; i < saved.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = saved;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      ASSERT_TRUE(absl::IsDataLoss(LoadMemFilter(damaged).status()))
          << "byte " << i << " bit " << bit;
    }
  }
}

TEST_P(MemFilterTest, EveryTruncationAndExtensionOfASavedFilterIsAnError) {
  Random random(8);
  const auto filter = Make(50);
  ASSERT_TRUE(filter->Add(RandomDigests(&random, 30)).ok());
  const std::string saved = filter->Save();
  for (size_t size = 0; size < saved.size(); ++size) {
    ASSERT_TRUE(
        absl::IsDataLoss(LoadMemFilter(saved.substr(0, size)).status()));
    ASSERT_TRUE(absl::IsDataLoss(
        LoadMemFilter(saved.substr(saved.size() - size)).status()));
  }
  EXPECT_FALSE(LoadMemFilter(saved + "x").ok());
  EXPECT_FALSE(LoadMemFilter(saved + saved).ok());
}

std::string Resealed(std::string saved) {
  testing::ResealMemFilter(&saved);
  return saved;
}

TEST_P(MemFilterTest, ParametersThatLieUnderARightChecksumDoNoHarm) {
  Random random(9);
  const auto filter = Make(300);
  ASSERT_TRUE(filter->Add(RandomDigests(&random, 100)).ok());
  const std::string saved = filter->Save();
  ASSERT_EQ(Resealed(saved), saved);
  const size_t parameters = util::LoadFixed<uint32_t>(saved.data() + 12);
  const std::regex says_where(
      "saved filter, read to offset [0-9]+: .*[0-9].*|.* is cut");
  for (int round = 0; round < 3000; ++round) {
    std::string changed = saved;
    for (uint64_t i = 0; i <= random.Below(3); ++i) {
      changed[32 + random.Below(parameters)] = static_cast<char>(random());
    }
    const auto loaded = LoadMemFilter(Resealed(changed));
    if (!loaded.ok()) {
      ASSERT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss);
      const std::string message(loaded.status().message());
      ASSERT_TRUE(std::regex_match(message, says_where)) << message;
      continue;
    }
    const KeyDigest digest{random()};
    if ((*loaded)->Add(digest).ok()) {
      ASSERT_TRUE((*loaded)->MayContain(digest));
    }
    (*loaded)->expected_fpr();
    (*loaded)->approximate_count();
  }
}

TEST(MemFilterMessages, AnotherKindOfFilterIsNamed) {
  const std::string saved = StandardFilter::New({100, 3})->Save();
  EXPECT_EQ(ScalableFilter::Load(saved).status().message(),
            "saved filter is a standard filter, not a scalable one");
}

TEST_P(MemFilterTest, ANewerVersionOrKindIsUnimplemented) {
  std::string saved = Make(100)->Save();
  saved[8] = 2;
  EXPECT_TRUE(absl::IsUnimplemented(LoadMemFilter(Resealed(saved)).status()));
  saved[8] = 1;
  saved[9] = 99;
  EXPECT_TRUE(absl::IsUnimplemented(LoadMemFilter(Resealed(saved)).status()));
}

TEST_P(MemFilterTest, UnionHasTheKeysOfBoth) {
  Random random(10);
  const std::vector<KeyDigest> first = RandomDigests(&random, 800);
  const std::vector<KeyDigest> second = RandomDigests(&random, 800);
  const auto a = Make(2000);
  const auto b = Make(2000);
  ASSERT_TRUE(a->Add(first).ok());
  ASSERT_TRUE(b->Add(second).ok());
  const absl::Status status = a->Union(*b);
  if (a->kind() == MemFilterKind::kScalable) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    return;
  }
  ASSERT_TRUE(status.ok()) << status;
  for (const KeyDigest key : first) ASSERT_TRUE(a->MayContain(key));
  for (const KeyDigest key : second) ASSERT_TRUE(a->MayContain(key));
  EXPECT_NEAR(static_cast<double>(a->approximate_count()), 1600, 60);
  EXPECT_TRUE(testing::WithinBinomialBound(
      testing::CountPositives(*a, 200000, &random), 200000, a->expected_fpr(),
      0, testing::k999));
  for (const KeyDigest key : RandomDigests(&random, 100)) {
    if (a->Add(key).ok()) {
      ASSERT_TRUE(a->MayContain(key));
    }
  }
  EXPECT_TRUE(Loaded(a->Save()) != nullptr);
  // Filters of other sizes or types cannot be united.
  const auto larger = Make(9000);
  EXPECT_EQ(a->Union(*larger).message(),
            "union of filters of different options: " + a->OptionsText() +
                "; " + larger->OptionsText());
  EXPECT_NE(a->OptionsText(), larger->OptionsText());
  for (const MemFilterMaker& maker : testing::AllMakers()) {
    const auto other = maker.make(2000);
    if (maker.name != GetParam().name) {
      EXPECT_EQ(a->Union(*other).code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST(MemFilterUnion, ConcurrentIsToldFromStandard) {
  const auto standard = AnyFilter(*StandardFilter::New({1000, 3}));
  const auto concurrent = AnyFilter(*ConcurrentFilter::New({1000, 3}));
  EXPECT_EQ(standard->Union(*concurrent).message(),
            "union of a standard filter with a concurrent filter: they must be "
            "of one type");
  EXPECT_EQ(concurrent->Union(*standard).message(),
            "union of a concurrent filter with a standard filter: they must be "
            "of one type");
}

// A filter and the exact multiset of its keys.
class Checked {
 public:
  Checked(const MemFilterMaker& maker, uint64_t seed)
      : random_(seed),
        room_(1 + random_.Below(2000)),
        make_(maker.make),
        load_(maker.load),
        filter_(make_(room_)) {}

  // Returns true if the filter has as many keys as it has room for.
  bool IsFull() const { return keys_.size() >= room_; }

  void Operate() {
    switch (random_.Below(16)) {
      default:
        Add(KeyDigest{random_()});
        break;
      case 1:
      case 2:
        if (!keys_.empty()) Add(AnyKey());
        break;
      case 3:
      case 4:
      case 5:
        if (!keys_.empty()) Remove(AnyKey());
        break;
      case 6:
        RemoveAbsent();
        break;
      case 7:
      case 8:
      case 9:
        for (int i = 0; i < 5 && !keys_.empty(); ++i) {
          ASSERT_TRUE(filter_->MayContain(AnyKey()));
        }
        break;
      case 10:
        AddMany();
        break;
      case 11:
        if (random_.Below(50) == 0) {
          auto loaded = load_(filter_->Save());
          ASSERT_TRUE(loaded.ok()) << loaded.status();
          filter_ = *std::move(loaded);
        }
        break;
      case 12:
        if (random_.Below(50) == 0) UnionWithAnother();
        break;
    }
  }

  void CheckAll() {
    const auto answers = std::make_unique<bool[]>(keys_.size());
    filter_->MayContain(keys_, answers.get());
    for (size_t i = 0; i < keys_.size(); ++i) {
      ASSERT_TRUE(answers[i]);
      ASSERT_TRUE(filter_->MayContain(keys_[i]));
    }
  }

 private:
  KeyDigest AnyKey() { return keys_[random_.Below(keys_.size())]; }

  void Keep(KeyDigest key) {
    if (counts_[key.value]++ == 0) keys_.push_back(key);
  }

  void Add(KeyDigest key) {
    const bool was_there = filter_->MayContain(key);
    const auto added = filter_->Add(key);
    if (!added.ok()) {
      ASSERT_EQ(added.status().code(), absl::StatusCode::kResourceExhausted);
      ASSERT_EQ(filter_->MayContain(key), was_there);
      return;
    }
    ASSERT_TRUE(filter_->MayContain(key));
    Keep(key);
  }

  void AddMany() {
    const std::vector<KeyDigest> keys =
        RandomDigests(&random_, random_.Below(40));
    if (!filter_->Add(keys).ok()) return;  // Some of them may be there.
    for (const KeyDigest key : keys) {
      Keep(key);
      ASSERT_TRUE(filter_->MayContain(key));
    }
  }

  void Remove(KeyDigest key) {
    const auto removed = filter_->Remove(key);
    if (!removed.ok()) return;  // This kind cannot remove.
    ASSERT_TRUE(*removed);
    if (--counts_[key.value] == 0) {
      counts_.erase(key.value);
      keys_.erase(std::find(keys_.begin(), keys_.end(), key));
    }
  }

  // Removes a key that the filter denies.
  void RemoveAbsent() {
    const KeyDigest key{random_()};
    if (filter_->MayContain(key)) return;
    const auto removed = filter_->Remove(key);
    ASSERT_FALSE(removed.ok() && *removed);
  }

  void UnionWithAnother() {
    const auto other = make_(room_);
    const std::vector<KeyDigest> keys =
        RandomDigests(&random_, random_.Below(room_ / 8 + 1));
    if (!other->Add(keys).ok()) return;
    const absl::Status status = filter_->Union(*other);
    if (filter_->kind() == MemFilterKind::kScalable) {
      ASSERT_EQ(status.code(), absl::StatusCode::kUnimplemented);
      return;
    }
    ASSERT_TRUE(status.ok()) << status;
    for (const KeyDigest key : keys) {
      Keep(key);
      ASSERT_TRUE(filter_->MayContain(key));
    }
  }

  Random random_;
  const uint64_t room_;
  const std::function<std::unique_ptr<MemFilter>(uint64_t)> make_;
  const decltype(MemFilterMaker::load) load_;
  std::unique_ptr<MemFilter> filter_;
  std::unordered_map<uint64_t, uint64_t> counts_;
  std::vector<KeyDigest> keys_;
};

TEST_P(MemFilterTest, NoKeyIsLostOverRandomOperations) {
  const uint64_t operations =
      MemFilterOperations() / testing::AllMakers().size() + 1;
  uint64_t seed = testing::TestSeed();
  for (uint64_t done = 0; done < operations;) {
    Checked checked(GetParam(), ++seed);
    for (uint64_t i = 0; i < 6000 && done < operations && !checked.IsFull();
         ++i, ++done) {
      ASSERT_NO_FATAL_FAILURE(checked.Operate()) << "seed " << seed;
    }
    ASSERT_NO_FATAL_FAILURE(checked.CheckAll()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rowbloom
