// SPDX-License-Identifier: Apache-2.0

#include "block/chunk_index.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "block/format.h"
#include "util/check.h"
#include "util/coding.h"
#include "util/common_size.h"
#include "util/digest.h"

namespace rowbloom::block {

namespace {

// Inlined into searches.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline int CompareKeys(const StoredKey& a,
                                                    const StoredKey& b) {
  if (const int c = a.row.compare(b.row); c != 0) return c;
  if (a.has_qualifier != b.has_qualifier) return a.has_qualifier ? 1 : -1;
  return a.qualifier.compare(b.qualifier);
}

}  // namespace

int Compare(const StoredKey& a, const StoredKey& b) {
  return CompareKeys(a, b);
}

uint64_t BlockIdentity(std::string_view index, std::string_view properties) {
  return util::Hash64(properties, util::Hash64(index));
}

absl::Status ChunkIndex::CheckSizes(uint64_t index_bytes,
                                    uint64_t properties_bytes) {
  if (std::max(index_bytes, properties_bytes) <= kMaxBytes) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "a filter block with a chunk index of ", index_bytes,
      " bytes and properties of ", properties_bytes, ": readers take at most ",
      kMaxBytes, " of each; write shorter rows, or smaller SSTs"));
}

StoredKey ShortestSeparator(const StoredKey& last, const StoredKey& first) {
  RB_DCHECK(Compare(last, first) < 0);
  // One byte more than `last` has in common with `first`.
  const auto shortest = [](std::string_view from, std::string_view to) {
    return to.substr(0, util::CommonSize(from, to) + 1);
  };
  StoredKey separator = first;
  separator.qualifier = {};
  if (last.row != first.row) {
    separator.row = shortest(last.row, first.row);
  } else if (last.has_qualifier) {
    separator.qualifier = shortest(last.qualifier, first.qualifier);
  }  // Otherwise `last` is the row's own key, which is before all its columns.
  return separator;
}

void AppendKey(const StoredKey& key, std::string* out) {
  out->push_back(static_cast<char>(key.has_qualifier ? kRowColKey : kRowKey));
  util::AppendSized(key.row, out);
  if (key.has_qualifier) util::AppendSized(key.qualifier, out);
}

bool ReadKey(std::string_view* in, StoredKey* key) {
  uint8_t kind = 0;
  if (!util::ReadFixed(in, &kind)) return false;
  if (kind != kRowKey && kind != kRowColKey) return false;
  *key = StoredKey();
  key->has_qualifier = kind == kRowColKey;
  return util::ReadSized(in, &key->row) &&
         (!key->has_qualifier || util::ReadSized(in, &key->qualifier));
}

namespace {

// Advances *in, which begins with the valid entry of a chunk.
void ReadEntry(std::string_view* in, StoredKey* first_key,
               FilterDescriptor* descriptor) {
  RB_CHECK(ReadKey(in, first_key), "a parsed chunk index is malformed");
  const absl::StatusOr<FilterDescriptor> parsed = FilterDescriptor::Parse(in);
  RB_CHECK(parsed.ok(), "a parsed chunk index is malformed");
  *descriptor = *parsed;
}

// These two trust the bytes. They are inlined: a search decodes many keys.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline std::string_view DecodeSized(
    const char** at) {
  uint64_t size = static_cast<unsigned char>(*(*at)++);
  if (size >= 0x80) {
    std::string_view in(*at - 1, util::kMaxVarintSize);
    util::ReadVarint(&in, &size);
    *at = in.data();
  }
  const std::string_view bytes(*at, static_cast<size_t>(size));
  *at += bytes.size();
  return bytes;
}
ABSL_ATTRIBUTE_ALWAYS_INLINE inline StoredKey DecodeKey(const char* at) {
  StoredKey key;
  key.has_qualifier = *at++ == static_cast<char>(kRowColKey);
  key.row = DecodeSized(&at);
  if (key.has_qualifier) key.qualifier = DecodeSized(&at);
  return key;
}

size_t Words(size_t bytes) {
  return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

}  // namespace

ChunkIndex::ChunkIndex(size_t chunk_count, std::string_view index,
                       std::string_view properties, std::string_view last_key,
                       std::string_view filter)
    : size_(static_cast<uint32_t>(chunk_count)),
      index_bytes_(static_cast<uint32_t>(index.size())),
      properties_bytes_(static_cast<uint32_t>(properties.size())),
      filter_bytes_(static_cast<uint32_t>(filter.size())) {
  RB_CHECK(chunk_count <= index.size() && index.size() <= kMaxBytes &&
               properties.size() <= kMaxBytes,
           "a parsed chunk index is too large");
  // The marks, the offsets, where entries begin, and the bytes.
  marks_.reset(new uint64_t[memory_bytes() / sizeof(uint64_t)]);
  uint64_t* const offsets = marks_.get() + size_ + 1;
  auto* const entry_at = reinterpret_cast<uint32_t*>(offsets + OffsetCount());
  auto* bytes = reinterpret_cast<char*>(entry_at + size_);
  for (const std::string_view part : {index, properties, filter}) {
    bytes = std::copy(part.begin(), part.end(), bytes);
  }
  marks_[size_] = std::numeric_limits<uint64_t>::max();
  if (size_ == 0) return;
  for (power_ = 1; 2 * size_t{power_} <= size_;) power_ *= 2;
  last_key_at_ = static_cast<uint32_t>(last_key.data() - properties.data());
  std::string_view in = this->index();
  uint64_t offset = 0;
  for (size_t i = 0; i < size_; ++i) {
    entry_at[i] = static_cast<uint32_t>(index.size() - in.size());
    StoredKey first_key;
    FilterDescriptor descriptor;
    ReadEntry(&in, &first_key, &descriptor);
    offset += descriptor.total_size_bytes();
    if ((i + 1) % kOffsetInterval == 0) offsets[i / kOffsetInterval] = offset;
  }
  // Rows are in order: a prefix that the first and the last share, all share.
  const StoredKey last = LastKey();
  const std::string_view first_row = FirstKeyOf(0).row;
  const size_t skip = util::CommonSize(first_row, last.row);
  common_prefix_at_ = static_cast<uint32_t>(
      first_row.data() - reinterpret_cast<const char*>(marks_.get()));
  common_prefix_size_ = static_cast<uint32_t>(skip);
  for (size_t i = 0; i < size_; ++i) {
    marks_[i] = MarkOf(FirstKeyOf(i).row, skip);
  }
  last_mark_ = MarkOf(last.row, skip);
}

size_t ChunkIndex::memory_bytes() const {
  return sizeof(uint64_t) * (size_ + 1 + OffsetCount() +
                             Words(size_ * sizeof(uint32_t) + index_bytes_ +
                                   properties_bytes_ + filter_bytes_));
}

StoredKey ChunkIndex::FirstKeyOf(size_t chunk) const {
  return DecodeKey(bytes() + entry_at()[chunk]);
}

FilterDescriptor ChunkIndex::DescriptorOf(size_t chunk) const {
  std::string_view in = EntriesFrom(chunk);
  StoredKey key;
  FilterDescriptor descriptor;
  ReadEntry(&in, &key, &descriptor);
  return descriptor;
}

uint64_t ChunkIndex::OffsetOf(size_t chunk) const {
  const size_t group = chunk / kOffsetInterval;
  uint64_t offset = group == 0 ? 0 : offsets()[group - 1];
  size_t i = group * kOffsetInterval;
  if (i == chunk) return offset;
  std::string_view in = EntriesFrom(i);
  for (; i < chunk; ++i) {
    StoredKey key;
    FilterDescriptor descriptor;
    ReadEntry(&in, &key, &descriptor);
    offset += descriptor.total_size_bytes();
  }
  return offset;
}

StoredKey ChunkIndex::LastKey() const {
  return DecodeKey(properties().data() + last_key_at_);
}

Location ChunkIndex::FindAmong(const StoredKey& key) const {
  if (size_ == 0 || CompareKeys(key, LastKey()) > 0) return Location::Nowhere();
  const uint64_t* const marks = marks_.get();
  size_t begin = FirstNotBefore(MarkOf(key.row, common_prefix_size_));
  size_t end = begin;  // Behind the equal marks.
  if (begin < size_) {
    end = static_cast<size_t>(
        std::upper_bound(marks + begin, marks + size_, marks[begin]) - marks);
  }
  const uint32_t* const entry_at = this->entry_at();
  const char* const bytes = this->bytes();
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (CompareKeys(key, DecodeKey(bytes + entry_at[middle])) < 0) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return Location::Before(begin);
}

DigestMixer::DigestMixer(const DigestSecret& secret) {
  if (secret.words[0] == 0 && secret.words[1] == 0) return;
  std::string bytes;
  for (const uint64_t word : secret.words) util::AppendFixed(word, &bytes);
  check_ = std::max<uint64_t>(util::Hash64(bytes, 1), 1);
  multiplier_low_ = util::Hash64(bytes, 2);
  multiplier_high_ = util::Hash64(bytes, 3);
  addend_low_ = util::Hash64(bytes, 4);
  addend_high_ = util::Hash64(bytes, 5);
}

}  // namespace rowbloom::block
