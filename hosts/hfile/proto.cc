// SPDX-License-Identifier: Apache-2.0

#include "hfile/proto.h"

#include <cstdint>
#include <exception>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <type_traits>

namespace rowbloom::hfile {
namespace {

constexpr uint32_t kTotalUncompressedBytes = 4;  // In the trailer.
constexpr uint32_t kComparator = 11;
constexpr uint32_t kCompression = 12;
constexpr uint32_t kEncryptionKey = 13;

// Calls visit(tag, field) for the numbers of a trailer that precede its
// comparator.
template <typename MaybeConstTrailer, typename Visit>
void VisitNumbers(MaybeConstTrailer& trailer, const Visit& visit) {
  visit(1, trailer.file_info_offset);
  visit(2, trailer.load_on_open_offset);
  visit(3, trailer.uncompressed_data_index_size);
  visit(kTotalUncompressedBytes, trailer.total_uncompressed_bytes);
  visit(5, trailer.data_index_count);
  visit(6, trailer.meta_index_count);
  visit(7, trailer.entry_count);
  visit(8, trailer.data_index_levels);
  visit(9, trailer.first_data_block_offset);
  visit(10, trailer.last_data_block_offset);
}

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
  if (tag < 1 || tag > kEncryptionKey) {
    reader->skip();
    return true;
  }
  const bool is_text = tag == kComparator || tag == kEncryptionKey;
  if (reader->wire_type() != (is_text ? kBytes : kVarint)) return false;
  if (tag == kComparator) {
    trailer->comparator = View(reader->get_view());
  } else if (tag == kEncryptionKey) {
    trailer->encryption_key = View(reader->get_view());
  } else if (tag == kCompression) {
    trailer->compression = reader->get_uint64();
  } else {
    const uint64_t value = reader->get_uint64();
    VisitNumbers(*trailer, [&](uint32_t field_tag, auto& field) {
      if (field_tag == tag) {
        field = static_cast<std::decay_t<decltype(field)>>(value);
      }
    });
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
  VisitNumbers(trailer, [&](uint32_t tag, const auto& field) {
    if (tag == kTotalUncompressedBytes && field == 0) return;  // As Hudi's.
    writer.add_uint64(tag, static_cast<uint64_t>(field));
  });
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
