// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "block/chunk_index.h"
#include "gtest/gtest.h"

namespace rowbloom::block {
namespace {

// Every block with a secret persists such digests. These were computed in
// Python by the formula of docs/filter_block_format.md.
TEST(DigestMixer, DigestsAndChecksArePinned) {
  const DigestMixer one(DigestSecret{{1, 0}});
  EXPECT_EQ(one.check(), 0x90eaca64a6019570);
  EXPECT_EQ(one.Mix(KeyDigest{0}).value, 0x81ab75a2ab3f8fd9);
  EXPECT_EQ(one.Mix(KeyDigest{1}).value, 0xe599c1711ceba1f4);
  EXPECT_EQ(one.Mix(KeyDigest{~uint64_t{0}}).value, 0x8c424a6490972981);
  const DigestMixer other(
      DigestSecret{{0x0123456789abcdef, 0xfedcba9876543210}});
  EXPECT_EQ(other.check(), 0x47c662cfe9878e1e);
  EXPECT_EQ(other.Mix(KeyDigest{0x0123456789abcdef}).value, 0x837b2c37552f381b);
}

TEST(DigestMixer, WithoutASecretThereIsNone) {
  const DigestMixer none(DigestSecret{});
  EXPECT_FALSE(none.has_secret());
  EXPECT_EQ(none.check(), 0u);
}

}  // namespace
}  // namespace rowbloom::block
