// SPDX-License-Identifier: Apache-2.0

#include "hfile/block.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "hfile/checksum.h"
#include "hfile/compression.h"
#include "hfile/errors.h"
#include "hfile/vlong.h"
#include "util/coding.h"
#include "util/source_read.h"

namespace rowbloom::hfile {

namespace {

constexpr std::string_view kMagics[] = {
    kDataMagic,         kEncodedDataMagic,
    kLeafIndexMagic,    kIntermediateIndexMagic,
    kRootIndexMagic,    kBloomChunkMagic,
    kGeneralBloomMagic, kDeleteFamilyBloomMagic,
    kMetaMagic,         kFileInfoMagic};

}  // namespace

bool IsKnownMagic(std::string_view magic) {
  return std::find(std::begin(kMagics), std::end(kMagics), magic) !=
         std::end(kMagics);
}

absl::StatusOr<BlockHeader> ParseBlockHeader(const BlockFormat& format,
                                             uint64_t offset,
                                             std::string_view bytes) {
  BlockHeader header;
  header.offset = offset;
  std::string_view magic;
  uint32_t size_without_header;
  if (!ReadBytes(&bytes, kMagicSize, &magic) ||
      !util::ReadBigEndian(&bytes, &size_without_header) ||
      !util::ReadBigEndian(&bytes, &header.uncompressed_size) ||
      !util::ReadBigEndian(&bytes, &header.previous_offset)) {
    return DataLossAt(*format.source, offset, "no room for a block header");
  }
  header.magic = magic;
  header.payload_size = size_without_header;
  header.size = format.header_size() + uint64_t{size_without_header};
  // Deflate makes at most 1032 bytes of one. A block that claims more is taken
  // for damaged, though zstd makes more of equal bytes.
  constexpr uint64_t kMostBytesOfOne = 1100;
  const uint64_t most = kMostBytesOfOne * size_without_header;
  if (offset > format.end || header.size > format.end - offset ||
      (header.uncompressed_size > kMaxBlockSize &&
       header.uncompressed_size > most)) {
    return DataLossAt(*format.source, offset, "a block of ", header.size,
                      " bytes, uncompressed ", header.uncompressed_size,
                      ", where blocks end at ", format.end);
  }
  if (size_without_header > kMaxBlockSize ||
      header.uncompressed_size > kMaxBlockSize) {
    return UnimplementedAt(*format.source, offset, "a block of ", header.size,
                           " bytes, uncompressed ", header.uncompressed_size,
                           "; rowbloom reads blocks of at most ",
                           kMaxBlockSize);
  }
  if (!format.has_checksums) return header;

  uint8_t type;
  uint32_t data_size;  // With the header, without the checksums.
  if (!util::ReadBigEndian(&bytes, &type) ||
      !util::ReadBigEndian(&bytes, &header.bytes_per_checksum) ||
      !util::ReadBigEndian(&bytes, &data_size)) {
    return DataLossAt(*format.source, offset, "no room for a block header");
  }
  header.checksum = static_cast<HFileChecksum>(type);
  if (type > static_cast<uint8_t>(HFileChecksum::kCrc32c) ||
      header.bytes_per_checksum < kHeaderSize ||
      header.bytes_per_checksum > kMaxBytesPerChecksum ||
      data_size < kHeaderSize ||
      data_size +
              uint64_t{ChecksumsSize(data_size, header.bytes_per_checksum)} !=
          header.size) {
    return DataLossAt(*format.source, offset, "a block of ", header.size,
                      " bytes, of data ", data_size, ", checksum type ", type,
                      ", ", header.bytes_per_checksum, " bytes for each");
  }
  header.payload_size = data_size - static_cast<uint32_t>(kHeaderSize);
  return header;
}

absl::Status VerifyBlock(const BlockFormat& format, const BlockHeader& header,
                         std::string_view bytes) {
  if (!format.has_checksums) return absl::OkStatus();
  const size_t data_size = kHeaderSize + header.payload_size;
  return Annotate(
      *format.source, header.offset,
      VerifyChecksums(header.checksum, header.bytes_per_checksum,
                      bytes.substr(0, data_size), bytes.substr(data_size)));
}

absl::StatusOr<Block> ParseBlock(const BlockFormat& format, BlockHeader header,
                                 std::string_view bytes) {
  if (format.verify_checksums) {
    absl::Status status = VerifyBlock(format, header, bytes);
    if (!status.ok()) return status;
  }
  absl::StatusOr<std::string> payload =
      Decompress(format.compression,
                 bytes.substr(format.header_size(), header.payload_size),
                 header.uncompressed_size);
  if (!payload.ok()) {
    return Annotate(*format.source, header.offset, payload.status());
  }
  return Block{std::move(header), *std::move(payload)};
}

absl::StatusOr<BlockHeader> ReadBlockHeader(const BlockFormat& format,
                                            uint64_t offset) {
  const size_t size = format.header_size();
  if (offset > format.end || size > format.end - offset) {
    return DataLossAt(*format.source, offset,
                      "no room for a block header: blocks end at ", format.end);
  }
  char scratch[kHeaderSize];
  std::string_view bytes;
  absl::Status status =
      util::ReadExactly(*format.source, offset, size, scratch, &bytes);
  if (!status.ok()) return status;
  return ParseBlockHeader(format, offset, bytes);
}

absl::StatusOr<Block> ReadBlock(const BlockFormat& format, uint64_t offset,
                                std::string_view magic, uint64_t size) {
  if (size == 0) {
    const absl::StatusOr<BlockHeader> header = ReadBlockHeader(format, offset);
    if (!header.ok()) return header.status();
    size = header->size;
  } else if (size < format.header_size() || offset > format.end ||
             size > format.end - offset) {
    return DataLossAt(*format.source, offset, "an index has a block of ", size,
                      " bytes here; blocks end at ", format.end);
  } else if (size > format.header_size() + uint64_t{kMaxBlockSize}) {
    return UnimplementedAt(
        *format.source, offset, "an index has a block of ", size,
        " bytes here; rowbloom reads blocks of at most ", kMaxBlockSize);
  }
  const std::unique_ptr<char[]> scratch(new char[static_cast<size_t>(size)]);
  std::string_view bytes;
  absl::Status status = util::ReadExactly(
      *format.source, offset, static_cast<size_t>(size), scratch.get(), &bytes);
  if (!status.ok()) return status;
  absl::StatusOr<BlockHeader> header = ParseBlockHeader(format, offset, bytes);
  if (!header.ok()) return header.status();
  if (header->size != size || (!magic.empty() && header->magic != magic)) {
    return DataLossAt(*format.source, offset, "a block \"",
                      absl::CHexEscape(header->magic), "\" of ", header->size,
                      " bytes instead of \"", util::AbslView(magic), "\" of ",
                      size);
  }
  return ParseBlock(format, *std::move(header), bytes);
}

absl::StatusOr<std::string> SerializeBlock(const BlockStyle& style,
                                           std::string_view magic,
                                           int64_t previous_offset,
                                           std::string_view payload) {
  std::string compressed;
  absl::Status status = Compress(style.compression, payload, &compressed);
  if (!status.ok()) return status;
  const uint64_t data_size = kHeaderSize + compressed.size();
  const uint64_t size =
      data_size + ChecksumsSize(data_size, style.bytes_per_checksum);
  if (payload.size() > kMaxBlockSize || size - kHeaderSize > kMaxBlockSize) {
    return InvalidArgument("a block of ", payload.size(),
                           " bytes; the largest has ", kMaxBlockSize);
  }
  std::string block(magic);
  block.reserve(static_cast<size_t>(size));
  util::AppendBigEndian(static_cast<uint32_t>(size - kHeaderSize), &block);
  util::AppendBigEndian(static_cast<uint32_t>(payload.size()), &block);
  util::AppendBigEndian(previous_offset, &block);
  util::AppendBigEndian(static_cast<uint8_t>(style.checksum), &block);
  util::AppendBigEndian(style.bytes_per_checksum, &block);
  util::AppendBigEndian(static_cast<uint32_t>(data_size), &block);
  block += compressed;
  std::string checksums;
  AppendChecksums(style.checksum, style.bytes_per_checksum, block, &checksums);
  return block + checksums;
}

}  // namespace rowbloom::hfile
