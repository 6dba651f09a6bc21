// SPDX-License-Identifier: Apache-2.0

#include "hfile/proto.h"

#include <cstdint>
#include <exception>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace rowbloom::hfile {

namespace {

enum TrailerField : uint32_t {
  kFileInfoOffset = 1,
  kLoadOnOpenOffset = 2,
  kUncompressedDataIndexSize = 3,
  kTotalUncompressedBytes = 4,
  kDataIndexCount = 5,
  kMetaIndexCount = 6,
  kEntryCount = 7,
  kNumDataIndexLevels = 8,
  kFirstDataBlockOffset = 9,
  kLastDataBlockOffset = 10,
  kComparator = 11,
  kCompression = 12,
  kEncryptionKey = 13,
};

constexpr uint32_t kEntries = 1;  // In file info.
constexpr uint32_t kName = 1;     // In an entry.
constexpr uint32_t kValue = 2;

constexpr auto kVarint = protozero::pbf_wire_type::varint;
constexpr auto kBytes = protozero::pbf_wire_type::length_delimited;

std::string_view View(const protozero::data_view& view) {
  return {view.data(), view.size()};
}

// False if the field is known and not of its type.
bool ReadTrailerField(protozero::pbf_reader* reader, Trailer* trailer) {
  const uint32_t tag = reader->tag();
  const auto wanted =
      tag == kComparator || tag == kEncryptionKey ? kBytes : kVarint;
  if (tag < kFileInfoOffset || tag > kEncryptionKey) {
    reader->skip();
    return true;
  }
  if (reader->wire_type() != wanted) return false;
  if (tag == kComparator) {
    trailer->comparator = View(reader->get_view());
    return true;
  }
  if (tag == kEncryptionKey) {
    trailer->encryption_key = View(reader->get_view());
    return true;
  }
  const uint64_t value = reader->get_uint64();
  switch (tag) {
    case kFileInfoOffset:
      trailer->file_info_offset = value;
      break;
    case kLoadOnOpenOffset:
      trailer->load_on_open_offset = value;
      break;
    case kUncompressedDataIndexSize:
      trailer->uncompressed_data_index_size = value;
      break;
    case kTotalUncompressedBytes:
      trailer->total_uncompressed_bytes = value;
      break;
    case kDataIndexCount:
      trailer->data_index_count = value;
      break;
    case kMetaIndexCount:
      trailer->meta_index_count = value;
      break;
    case kEntryCount:
      trailer->entry_count = value;
      break;
    case kNumDataIndexLevels:
      trailer->data_index_levels = value;
      break;
    case kFirstDataBlockOffset:
      trailer->first_data_block_offset = static_cast<int64_t>(value);
      break;
    case kLastDataBlockOffset:
      trailer->last_data_block_offset = static_cast<int64_t>(value);
      break;
    default:
      trailer->compression = value;
  }
  return true;
}

bool ReadEntry(protozero::pbf_reader entry, FileInfo* info) {
  std::string name;
  std::string value;
  while (entry.next()) {
    if (entry.tag() != kName && entry.tag() != kValue) {
      entry.skip();
      continue;
    }
    if (entry.wire_type() != kBytes) return false;
    std::string& taken = entry.tag() == kName ? name : value;
    taken = View(entry.get_view());  // Invalidates its tag.
  }
  (*info)[std::move(name)] = std::move(value);
  return true;
}

}  // namespace

bool ParseTrailerProto(std::string_view message, Trailer* trailer) {
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      if (!ReadTrailerField(&reader, trailer)) return false;
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool ParseFileInfoProto(std::string_view message, FileInfo* info) {
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      if (reader.tag() != kEntries) {
        reader.skip();
        continue;
      }
      if (reader.wire_type() != kBytes ||
          !ReadEntry(reader.get_message(), info) ||
          info->size() > kMaxFileInfoEntries) {
        return false;
      }
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

std::string TrailerProto(const Trailer& trailer) {
  std::string message;
  protozero::pbf_writer writer(message);
  writer.add_uint64(kFileInfoOffset, trailer.file_info_offset);
  writer.add_uint64(kLoadOnOpenOffset, trailer.load_on_open_offset);
  writer.add_uint64(kUncompressedDataIndexSize,
                    trailer.uncompressed_data_index_size);
  if (trailer.total_uncompressed_bytes != 0) {  // Hudi's writer leaves it out.
    writer.add_uint64(kTotalUncompressedBytes,
                      trailer.total_uncompressed_bytes);
  }
  writer.add_uint64(kDataIndexCount, trailer.data_index_count);
  writer.add_uint64(kMetaIndexCount, trailer.meta_index_count);
  writer.add_uint64(kEntryCount, trailer.entry_count);
  writer.add_uint64(kNumDataIndexLevels, trailer.data_index_levels);
  writer.add_uint64(kFirstDataBlockOffset,
                    static_cast<uint64_t>(trailer.first_data_block_offset));
  writer.add_uint64(kLastDataBlockOffset,
                    static_cast<uint64_t>(trailer.last_data_block_offset));
  writer.add_string(kComparator, trailer.comparator);
  writer.add_uint64(kCompression, trailer.compression);
  if (trailer.encryption_key.has_value()) {
    writer.add_bytes(kEncryptionKey, *trailer.encryption_key);
  }
  return message;
}

std::string FileInfoProto(const FileInfo& info) {
  std::string message;
  protozero::pbf_writer writer(message);
  for (const auto& [name, value] : info) {
    protozero::pbf_writer entry(writer, kEntries);
    entry.add_bytes(kName, name);
    entry.add_bytes(kValue, value);
  }
  return message;
}

}  // namespace rowbloom::hfile
