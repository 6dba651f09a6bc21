// SPDX-License-Identifier: Apache-2.0

#include "block/chunk_index.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "block/format.h"
#include "util/check.h"
#include "util/coding.h"
#include "util/digest.h"

namespace rowbloom::block {

int Compare(const StoredKey& a, const StoredKey& b) {
  if (const int c = a.row.compare(b.row); c != 0) return c;
  if (a.has_qualifier != b.has_qualifier) return a.has_qualifier ? 1 : -1;
  return a.qualifier.compare(b.qualifier);
}

uint64_t BlockIdentity(std::string_view index, std::string_view properties) {
  return util::Hash64(properties, util::Hash64(index));
}

namespace {

std::string_view CommonPrefix(std::string_view a, std::string_view b) {
  const auto [end, unused] = std::mismatch(
      a.begin(),
      a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())),
      b.begin());
  return a.substr(0, static_cast<size_t>(end - a.begin()));
}

}  // namespace

StoredKey ShortestSeparator(const StoredKey& last, const StoredKey& first) {
  RB_DCHECK(Compare(last, first) < 0);
  // One byte more than `last` has in common with `first`.
  const auto shortest = [](std::string_view from, std::string_view to) {
    return to.substr(0, CommonPrefix(from, to).size() + 1);
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

ChunkLocator::ChunkLocator(const std::vector<ChunkEntry>* chunks,
                           const StoredKey* last_key)
    : chunks_(chunks), last_key_(last_key) {
  constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();
  size_t size = 1;
  while (size < chunks->size() + 1) size *= 2;
  marks_.assign(size, kLargest);
  half_ = size / 2;
  if (chunks->empty()) return;
  // Rows are in order: a prefix that the first and the last share, all share.
  common_prefix_ = CommonPrefix(chunks->front().first_key.row, last_key->row);
  const size_t skip = common_prefix_.size();
  for (size_t i = 0; i < chunks->size(); ++i) {
    marks_[i] = MarkOf((*chunks)[i].first_key.row, skip);
  }
  last_mark_ = MarkOf(last_key->row, skip);
}

Location ChunkLocator::FindAmong(const StoredKey& key) const {
  if (chunks_ == nullptr || chunks_->empty() || Compare(key, *last_key_) > 0) {
    return Location::Nowhere();
  }
  const uint64_t* const at =
      marks_.data() + FirstNotBefore(MarkOf(key.row, common_prefix_.size()));
  const uint64_t* const end = marks_.data() + chunks_->size();
  const uint64_t* const same = at >= end ? at : std::upper_bound(at, end, *at);
  const auto begin = chunks_->begin() + (at - marks_.data());
  const auto after =
      std::upper_bound(begin, begin + (same - at), key,
                       [](const StoredKey& asked, const ChunkEntry& entry) {
                         return Compare(asked, entry.first_key) < 0;
                       });
  return Location::Before(static_cast<size_t>(after - chunks_->begin()));
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
