// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_blob.h"

#include <gtest/gtest.h>

#include "testing/filters.h"
#include "testing/keys.h"
#include "util/digest.h"

namespace rowbloom {
namespace {

using testing::Random;

std::string Blob(size_t keys, std::string_view metadata) {
  Random random(31);
  return EncodeFilterBlob(
      testing::BuildFilter(FilterSpec(), testing::RandomDigests(&random, keys)),
      metadata);
}

TEST(FilterBlob, HoldsFilterAndMetadata) {
  const std::string blob = Blob(1000, "meta");
  const auto parsed = ParseFilterBlob(blob);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->metadata, "meta");
  EXPECT_EQ(parsed->descriptor.key_count, 1000u);
  EXPECT_TRUE(VerifyFilterBlob(blob).ok());
  Random random(31);
  for (const KeyDigest digest : testing::RandomDigests(&random, 1000)) {
    EXPECT_TRUE(parsed->view.MayContain(digest));
  }
}

TEST(FilterBlob, OverheadIsAtMostThirtyBytesBesideTheMetadata) {
  const std::string blob = Blob(100000, "meta");
  EXPECT_LE(blob.size(), FilterSizeBytes(FilterSpec(), 100000) + 30 + 4);
}

TEST(FilterBlob, OfNoKeysIsNotEmptyAndAnswersMaybe) {
  const std::string blob = Blob(0, "");
  ASSERT_FALSE(blob.empty());
  const auto parsed = ParseFilterBlob(blob);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(parsed->view.MayContain(KeyDigest{5}));
}

TEST(FilterBlob, EveryFlippedBitIsFoundByVerify) {
  const std::string blob = Blob(40, "meta");
  for (size_t i = 0; i < blob.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = blob;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      EXPECT_EQ(VerifyFilterBlob(damaged).code(), absl::StatusCode::kDataLoss)
          << "byte " << i << " bit " << bit;
    }
  }
}

TEST(FilterBlob, EveryTruncationAndEveryExtensionIsRefusedByParse) {
  const std::string blob = Blob(40, "meta");
  for (size_t size = 0; size < blob.size(); ++size) {
    EXPECT_TRUE(
        absl::IsDataLoss(ParseFilterBlob(blob.substr(0, size)).status()));
    EXPECT_TRUE(absl::IsDataLoss(
        ParseFilterBlob(blob.substr(blob.size() - size)).status()));
  }
  EXPECT_FALSE(ParseFilterBlob("x" + blob).ok());
  EXPECT_FALSE(ParseFilterBlob(blob + "x").ok());
}

TEST(FilterBlob, ANewerVersionIsUnimplemented) {
  // Section "Filter blob" of the format: the trailer has 8 bytes, the version
  // at 6 and the checksum over tail, tail size and version at 2.
  std::string blob = Blob(40, "meta");
  const size_t trailer = blob.size() - 8;
  blob[trailer + 6] = 2;
  const size_t tail_size = static_cast<unsigned char>(blob[trailer]);
  const uint32_t checksum = static_cast<uint32_t>(util::Hash64(
      std::string_view(blob).substr(trailer - tail_size, tail_size),
      tail_size | 2 << 16));
  for (int i = 0; i < 4; ++i) {
    blob[trailer + 2 + i] = static_cast<char>(checksum >> (8 * i));
  }
  EXPECT_TRUE(absl::IsUnimplemented(ParseFilterBlob(blob).status()));
}

}  // namespace
}  // namespace rowbloom
