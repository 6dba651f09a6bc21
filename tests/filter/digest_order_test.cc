// SPDX-License-Identifier: Apache-2.0

#include "filter/digest_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/keys.h"

namespace rowbloom::filter {
namespace {

using testing::Random;

TEST(DigestOrder, EveryDigestComesOnceInItsBucket) {
  Random random(51);
  for (const size_t count : {0, 1, 511, 512, 513, 5000, 200000}) {
    for (const uint64_t buckets :
         {uint64_t{1}, uint64_t{7}, uint64_t{count / 31 + 1}}) {
      DigestList list;
      std::vector<uint64_t> expected;
      for (size_t i = 0; i < count; ++i) {
        expected.push_back(random());
        list.Add(expected.back());
        ASSERT_TRUE(list.EndsWith(expected.back()));
      }
      ASSERT_EQ(list.size(), count);
      std::vector<uint64_t> seen;
      DigestOrder order(std::move(list), buckets, 1000);
      StretchMemory memory;
      for (size_t i = 0; i < order.stretch_count(); ++i) {
        const DigestStretch s = order.Stretch(i, &memory);
        for (size_t b = 0; b < s.bucket_count; ++b) {
          for (uint64_t d = s.starts[b]; d < s.starts[b + 1]; ++d) {
            ASSERT_EQ(BucketOf(s.digests[d], buckets), s.first_bucket + b);
            seen.push_back(s.digests[d]);
          }
        }
      }
      std::sort(expected.begin(), expected.end());
      std::sort(seen.begin(), seen.end());
      EXPECT_EQ(seen, expected);
    }
  }
}

}  // namespace
}  // namespace rowbloom::filter
