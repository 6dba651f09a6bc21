// SPDX-License-Identifier: Apache-2.0

#include "block/filter_block_parser.h"

#include <type_traits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "block/format.h"
#include "filter/units.h"
#include "rowbloom/compiler.h"
#include "rowbloom/version.h"
#include "util/absl_view.h"
#include "util/check.h"
#include "util/coding.h"
#include "util/digest.h"

namespace rowbloom::block {

namespace {

absl::Status CheckSum(const BlockPlace& place, uint64_t offset,
                      std::string_view what, std::string_view bytes,
                      uint32_t stored) {
  const uint32_t computed = util::Checksum32(bytes);
  if (computed == stored) return absl::OkStatus();
  return DataLossAt(
      place, offset,
      absl::StrCat("checksum of ", util::AbslView(what), " is ",
                   absl::Hex(computed, absl::kZeroPad8), ", stored is ",
                   absl::Hex(stored, absl::kZeroPad8)));
}

// Index and properties end at the footer, whose offset in the block is `at`.
absl::Status CheckTailSizes(const BlockPlace& place, uint64_t at,
                            const ParsedFooter& footer) {
  // In this order no sum can overflow.
  if (footer.index_offset > at ||
      footer.index_size > at - footer.index_offset ||
      footer.properties_size != at - footer.index_offset - footer.index_size) {
    return DataLossAt(
        place, at + Footer::kIndexOffset,
        absl::StrCat("index at ", footer.index_offset, " of ",
                     footer.index_size, " bytes and properties of ",
                     footer.properties_size,
                     " bytes do not end at the footer"));
  }
  // Before the tail is read, which takes memory of its size.
  if (footer.index_size > ChunkIndex::kMaxBytes ||
      footer.properties_size > ChunkIndex::kMaxBytes) {
    return Annotate(
        place, at + Footer::kIndexSize,
        absl::UnimplementedError(absl::StrCat(
            "a chunk index of ", footer.index_size, " bytes and properties of ",
            footer.properties_size, ": this library reads up to ",
            ChunkIndex::kMaxBytes, " of each")));
  }
  return absl::OkStatus();
}

absl::Status ParseProperty(uint64_t number, std::string_view value,
                           BlockProperties* block) {
  const auto integer = [&value](uint64_t max, auto* field) {
    uint64_t number_value = 0;
    std::string_view in = value;
    if (!util::ReadVarint(&in, &number_value) || !in.empty() ||
        number_value > max) {
      return absl::DataLossError("malformed");
    }
    *field = static_cast<std::decay_t<decltype(*field)>>(number_value);
    return absl::OkStatus();
  };
  switch (static_cast<Property>(number)) {
    case Property::kBloomType:
      return integer(0xff, &block->bloom_type);
    case Property::kPrefixLengthBytes:
      return integer(0xffff, &block->prefix_length_bytes);
    case Property::kHasRowKeys:
      return integer(1, &block->has_row_keys);
    case Property::kCellCount:
      return integer(~uint64_t{0}, &block->cell_count);
    case Property::kKeyCount:
      return integer(~uint64_t{0}, &block->key_count);
    case Property::kChunkCount:
      return integer(~uint64_t{0}, &block->chunk_count);
    case Property::kFilterSpec:
      block->filter_spec = value;
      return absl::OkStatus();
    case Property::kWriter:
      block->writer = value;
      return absl::OkStatus();
    case Property::kLastKey: {
      block->last_key = value;
      StoredKey key;
      if (!ReadKey(&value, &key) || !value.empty()) {
        return absl::DataLossError("malformed key");
      }
      return absl::OkStatus();
    }
    case Property::kSecretCheck:
      return integer(~uint64_t{0}, &block->secret_check);
    case Property::kKeyCodec: {
      const absl::StatusOr<KeyCodec> codec = KeyCodec::Parse(value);
      if (!codec.ok()) {
        return absl::UnimplementedError(codec.status().message());
      }
      // A codec has one text in the format, so that readers agree on it.
      if (codec->ToString() != value) {
        return absl::UnimplementedError(absl::StrCat(
            "key codec \"", absl::CHexEscape(util::AbslView(value)),
            "\" is written as ", codec->ToString()));
      }
      block->key_codec = *codec;
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();  // From a later version; compatible by definition.
}

absl::Status ParseProperties(const BlockPlace& place, uint64_t offset,
                             std::string_view bytes, BlockProperties* block) {
  std::string_view in = bytes;
  uint64_t previous = 0;
  while (!in.empty()) {
    const uint64_t at = offset + bytes.size() - in.size();
    uint64_t number = 0;
    std::string_view value;
    if (!util::ReadVarint(&in, &number) || !util::ReadSized(&in, &value)) {
      return DataLossAt(place, at, "malformed property");
    }
    if (number <= previous) {
      return DataLossAt(
          place, at, absl::StrCat("property ", number, " follows ", previous));
    }
    previous = number;
    absl::Status status = ParseProperty(number, value, block);
    if (!status.ok()) {
      return Annotate(
          place, at,
          absl::Status(status.code(), absl::StrCat("property ", number, ": ",
                                                   status.message())));
    }
  }
  return absl::OkStatus();
}

// `encoded` is what ParseProperty() has checked.
StoredKey KeyOf(std::string_view encoded) {
  StoredKey key;
  RB_CHECK(ReadKey(&encoded, &key), "a parsed last key is malformed");
  return key;
}

// True if the index of a block of this bloom type may have such a key.
bool KeyFits(const BlockProperties& block, const StoredKey& key) {
  switch (block.bloom_type) {
    case BloomType::kNone:
      return false;
    case BloomType::kRow:
      return !key.has_qualifier;
    case BloomType::kRowCol:
      return key.has_qualifier || block.has_row_keys ||
             block.key_codec.has_value();
    case BloomType::kRowPrefixFixedLength:
      return !key.has_qualifier && key.row.size() <= block.prefix_length_bytes;
  }
  return false;
}

absl::Status CheckProperties(const BlockPlace& place, uint64_t offset,
                             const BlockProperties& block) {
  const uint64_t chunk_count = block.chunk_count;
  const auto fail = [&](std::string_view what) {
    return DataLossAt(place, offset, what);
  };
  if (block.bloom_type == BloomType{}) return fail("no bloom type");
  switch (block.bloom_type) {
    case BloomType::kNone:
    case BloomType::kRow:
    case BloomType::kRowCol:
      if (block.prefix_length_bytes != 0) {
        return fail("a prefix length without ROWPREFIX_FIXED_LENGTH");
      }
      break;
    case BloomType::kRowPrefixFixedLength:
      if (block.prefix_length_bytes == 0) {
        return fail("ROWPREFIX_FIXED_LENGTH without a prefix length");
      }
      break;
    default:
      return Annotate(place, offset,
                      absl::UnimplementedError(absl::StrCat(
                          "bloom type ", static_cast<int>(block.bloom_type),
                          " is unknown")));
  }
  const bool row_keys_by_type =
      block.bloom_type == BloomType::kRow ||
      block.bloom_type == BloomType::kRowPrefixFixedLength;
  if (block.bloom_type != BloomType::kRowCol &&
      block.has_row_keys != row_keys_by_type) {
    return fail("row keys do not fit the bloom type");
  }
  if (block.key_codec.has_value() && block.bloom_type != BloomType::kRow &&
      block.bloom_type != BloomType::kRowCol) {
    return fail("a key codec without ROW or ROWCOL");
  }
  if ((chunk_count == 0) != block.last_key.empty() ||
      (chunk_count == 0) != (block.key_count == 0)) {
    return fail("chunk count, key count and last key contradict each other");
  }
  if (chunk_count > 0 && !KeyFits(block, KeyOf(block.last_key))) {
    return fail("the last key does not fit the bloom type");
  }
  return absl::OkStatus();
}

absl::Status CheckIndex(const BlockPlace& place, const ParsedFooter& footer,
                        std::string_view bytes, const BlockProperties& block,
                        bool* has_empty_filters) {
  StoredKey last_first_key;
  uint64_t chunk_count = 0;
  uint64_t next_offset = 0;
  uint64_t key_count = 0;
  std::string_view in = bytes;
  for (; !in.empty(); ++chunk_count) {
    const uint64_t at = footer.index_offset + bytes.size() - in.size();
    StoredKey first_key;
    if (!ReadKey(&in, &first_key)) {
      return DataLossAt(place, at, "malformed key in the chunk index");
    }
    if (!KeyFits(block, first_key)) {
      return DataLossAt(place, at,
                        "a key in the chunk index does not fit the bloom type");
    }
    if (chunk_count > 0 && Compare(last_first_key, first_key) >= 0) {
      return DataLossAt(place, at, "keys in the chunk index do not increase");
    }
    last_first_key = first_key;
    absl::StatusOr<FilterDescriptor> descriptor = FilterDescriptor::Parse(&in);
    if (!descriptor.ok()) return Annotate(place, at, descriptor.status());
    *has_empty_filters |= descriptor->unit_count == 0;
    const uint64_t size = descriptor->total_size_bytes();
    if (size == 0 && descriptor->unit_count > 0) {
      return DataLossAt(place, at, "a chunk of units without bytes");
    }
    if (size > footer.index_offset - next_offset) {
      return DataLossAt(place, at,
                        absl::StrCat("a chunk of ", size, " bytes at ",
                                     next_offset, " runs into the index"));
    }
    next_offset += size;
    if (internal::AddOverflows(key_count, descriptor->key_count, &key_count)) {
      return DataLossAt(place, at, "key counts exceed 2^64");
    }
  }
  const uint64_t end = footer.index_offset + bytes.size();
  if (chunk_count != block.chunk_count || key_count != block.key_count) {
    return DataLossAt(place, end,
                      absl::StrCat("the index has ", chunk_count, " chunks of ",
                                   key_count, " keys, the properties say ",
                                   block.chunk_count, " of ", block.key_count));
  }
  if (next_offset != footer.index_offset) {
    return DataLossAt(place, next_offset,
                      "bytes between the last chunk and the index");
  }
  if (chunk_count > 0 && Compare(last_first_key, KeyOf(block.last_key)) > 0) {
    return DataLossAt(place, end, "the last key is before the last chunk");
  }
  return absl::OkStatus();
}

// True if these bytes are the filter of the index's only chunk.
bool IsFilter(std::string_view index, std::string_view bytes) {
  if (bytes.empty() || bytes.size() > kMaxHeldFilterBytes) return false;
  StoredKey first_key;
  RB_CHECK(ReadKey(&index, &first_key), "a parsed chunk index is malformed");
  const absl::StatusOr<FilterDescriptor> descriptor =
      FilterDescriptor::Parse(&index);
  RB_CHECK(descriptor.ok(), "a parsed chunk index is malformed");
  filter::UnitArray units;
  return descriptor->total_size_bytes() == bytes.size() &&
         VerifyUnits(*descriptor,
                     filter::SplitUnits(*descriptor, bytes, &units))
             .ok();
}

}  // namespace

absl::Status Annotate(const BlockPlace& place, uint64_t offset_in_block,
                      const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat(util::AbslView(place.source_name), ": offset ",
                   place.offset + offset_in_block, ": ", status.message()));
}

absl::Status DataLossAt(const BlockPlace& place, uint64_t offset_in_block,
                        std::string_view what) {
  return Annotate(place, offset_in_block,
                  absl::DataLossError(util::AbslView(what)));
}

absl::StatusOr<ParsedFooter> ParseFooter(const BlockPlace& place,
                                         std::string_view footer) {
  RB_CHECK(footer.size() == Footer::kSize, "a footer of another size");
  RB_CHECK(place.size_bytes >= Footer::kSize,
           "a block that is smaller than a footer");
  const uint64_t at = place.size_bytes - Footer::kSize;
  const auto u64 = [&](size_t offset) {
    return util::LoadFixed<uint64_t>(footer.data() + offset);
  };
  const auto u32 = [&](size_t offset) {
    return util::LoadFixed<uint32_t>(footer.data() + offset);
  };
  if (u64(Footer::kMagic) != kFooterMagic) {
    return DataLossAt(
        place, at + Footer::kMagic,
        absl::StrCat("not a filter block: magic is ",
                     absl::Hex(u64(Footer::kMagic), absl::kZeroPad16)));
  }
  absl::Status status =
      CheckSum(place, at, "the footer", footer.substr(0, Footer::kChecksum),
               u32(Footer::kChecksum));
  if (!status.ok()) return status;
  const uint8_t version =
      util::LoadFixed<uint8_t>(footer.data() + Footer::kFormatVersion);
  const uint8_t flags =
      util::LoadFixed<uint8_t>(footer.data() + Footer::kIncompatibleFlags);
  if (version == 0) {
    return DataLossAt(place, at + Footer::kFormatVersion, "format version 0");
  }
  if (version > kFilterBlockFormatVersion || (flags & ~kKnownFlags) != 0) {
    return Annotate(
        place, at + Footer::kFormatVersion,
        absl::UnimplementedError(absl::StrCat(
            "filter block format version ", static_cast<int>(version),
            " with flags ", absl::Hex(flags), "; this library reads up to ",
            static_cast<int>(kFilterBlockFormatVersion), " with flags ",
            absl::Hex(kKnownFlags))));
  }
  if (util::LoadFixed<uint16_t>(footer.data() + Footer::kReserved) != 0) {
    return DataLossAt(place, at + Footer::kReserved,
                      "reserved bytes are not zero");
  }
  ParsedFooter parsed;
  parsed.has_secret = (flags & kSecretFlag) != 0;
  parsed.has_prefixes_without_rows = (flags & kPrefixesWithoutRowsFlag) != 0;
  parsed.index_offset = u64(Footer::kIndexOffset);
  parsed.index_size = u64(Footer::kIndexSize);
  parsed.properties_size = u64(Footer::kPropertiesSize);
  parsed.index_checksum = u32(Footer::kIndexChecksum);
  parsed.properties_checksum = u32(Footer::kPropertiesChecksum);
  if (u64(Footer::kBlockSize) != place.size_bytes) {
    return DataLossAt(
        place, at + Footer::kBlockSize,
        absl::StrCat("the block says it has ", u64(Footer::kBlockSize),
                     " bytes, it was opened with ", place.size_bytes));
  }
  status = CheckTailSizes(place, at, parsed);
  if (!status.ok()) return status;
  return parsed;
}

absl::StatusOr<ParsedFilterBlock> ParseTail(const BlockPlace& place,
                                            const ParsedFooter& footer,
                                            std::string_view tail,
                                            std::string_view chunks) {
  RB_CHECK(tail.size() == footer.tail_size(place),
           "a tail of another size than its footer says");
  const std::string_view index =
      tail.substr(0, static_cast<size_t>(footer.index_size));
  const std::string_view properties =
      tail.substr(static_cast<size_t>(footer.index_size),
                  static_cast<size_t>(footer.properties_size));
  const uint64_t properties_offset = footer.index_offset + footer.index_size;
  BlockProperties block;
  absl::Status status = CheckSum(place, properties_offset, "the properties",
                                 properties, footer.properties_checksum);
  if (status.ok()) {
    status = CheckSum(place, footer.index_offset, "the chunk index", index,
                      footer.index_checksum);
  }
  if (status.ok()) {
    status = ParseProperties(place, properties_offset, properties, &block);
  }
  if (status.ok() && footer.has_secret != (block.secret_check != 0)) {
    status = DataLossAt(place, properties_offset,
                        "the footer and the properties contradict each other "
                        "on whether there is a secret");
  }
  if (status.ok() && footer.has_prefixes_without_rows !=
                         (block.key_codec.has_value() && !block.has_row_keys)) {
    status = DataLossAt(place, properties_offset,
                        "the footer and the properties contradict each other "
                        "on whether there are prefixes without rows");
  }
  if (status.ok()) status = CheckProperties(place, properties_offset, block);
  bool has_empty_filters = false;
  if (status.ok()) {
    status = CheckIndex(place, footer, index, block, &has_empty_filters);
  }
  if (!status.ok()) return status;
  const bool holds_filter = block.chunk_count == 1 && IsFilter(index, chunks);
  return ParsedFilterBlock{
      BlockIdentity(index, properties), has_empty_filters,
      ChunkIndex(static_cast<size_t>(block.chunk_count), index, properties,
                 block.last_key, holds_filter ? chunks : std::string_view())};
}

uint64_t BlockSizeOf(const ChunkIndex& index) {
  return index.OffsetOf(index.size()) + index.index().size() +
         index.properties().size() + Footer::kSize;
}

BlockProperties PropertiesOf(const ChunkIndex& index) {
  BlockProperties properties;
  RB_CHECK(ParseProperties({}, 0, index.properties(), &properties).ok(),
           "parsed properties are malformed");
  return properties;
}

}  // namespace rowbloom::block
