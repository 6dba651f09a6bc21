// SPDX-License-Identifier: Apache-2.0

#include "hfile/trailer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "util/coding.h"

namespace rowbloom::hfile {
namespace {

// A trailer of version 2.1: FixedFileTrailer.serializeAsWritable() of HBase.
std::string FixedTrailer(const std::string& comparator) {
  std::string bytes(kTrailerMagic);
  util::AppendBigEndian<uint64_t>(300, &bytes);   // File info.
  util::AppendBigEndian<uint64_t>(200, &bytes);   // The load-on-open part.
  util::AppendBigEndian<uint32_t>(3, &bytes);     // Entries of the data index.
  util::AppendBigEndian<uint64_t>(44, &bytes);    // Its uncompressed size.
  util::AppendBigEndian<uint32_t>(5, &bytes);     // Entries of the meta index.
  util::AppendBigEndian<uint64_t>(6000, &bytes);  // All blocks, uncompressed.
  util::AppendBigEndian<uint64_t>(77, &bytes);    // Cells.
  util::AppendBigEndian<uint32_t>(1, &bytes);     // Compression.
  util::AppendBigEndian<uint32_t>(2, &bytes);     // Levels of the data index.
  util::AppendBigEndian<uint64_t>(10, &bytes);    // The first data block.
  util::AppendBigEndian<uint64_t>(20, &bytes);    // The last one.
  bytes += comparator;
  bytes.resize(208, '\0');
  return bytes + std::string("\1\0\0\2", 4);
}

TEST(Trailer, OfVersion2Point1HasFixedFields) {
  const std::string file = std::string(500, 'x') + FixedTrailer("org.Any");
  const auto source = NewMemorySource(file);
  const auto trailer = ReadTrailer(*source);
  ASSERT_TRUE(trailer.ok()) << trailer.status();
  EXPECT_EQ(trailer->offset, 500u);
  EXPECT_EQ(trailer->file_info_offset, 300u);
  EXPECT_EQ(trailer->load_on_open_offset, 200u);
  EXPECT_EQ(trailer->data_index_count, 3u);
  EXPECT_EQ(trailer->uncompressed_data_index_size, 44u);
  EXPECT_EQ(trailer->meta_index_count, 5u);
  EXPECT_EQ(trailer->total_uncompressed_bytes, 6000u);
  EXPECT_EQ(trailer->entry_count, 77u);
  EXPECT_EQ(trailer->compression, 1u);
  EXPECT_EQ(trailer->data_index_levels, 2u);
  EXPECT_EQ(trailer->first_data_block_offset, 10);
  EXPECT_EQ(trailer->last_data_block_offset, 20);
  EXPECT_EQ(trailer->comparator, "org.Any");
}

TEST(Trailer, BytesBehindTheComparatorAreDamage) {
  const std::string comparator("org.Any\0more", 12);
  const std::string file = std::string(500, 'x') + FixedTrailer(comparator);
  const auto source = NewMemorySource(file);
  EXPECT_EQ(ReadTrailer(*source).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace rowbloom::hfile
