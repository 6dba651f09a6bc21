// SPDX-License-Identifier: Apache-2.0

#include "hfile/block_index.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "hfile/errors.h"
#include "hfile/vlong.h"
#include "util/coding.h"

namespace rowbloom::hfile {

namespace {
constexpr size_t kMidKeySize = 16;
}  // namespace

absl::StatusOr<std::vector<IndexEntry>> ParseRootIndex(std::string_view payload,
                                                       uint64_t count,
                                                       bool has_mid_key) {
  std::vector<IndexEntry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    IndexEntry entry;
    std::string_view key;
    if (!util::ReadBigEndian(&payload, &entry.offset) ||
        !util::ReadBigEndian(&payload, &entry.size) ||
        !ReadSizedBytes(&payload, &key)) {
      return DataLoss("the index ends in entry ", i, " of ", count);
    }
    entry.key = key;
    entries.push_back(std::move(entry));
  }
  // HBase leaves out the middle key if there are no intermediate blocks.
  if (!payload.empty() && !(has_mid_key && payload.size() == kMidKeySize)) {
    return DataLoss(payload.size(), " bytes after the index");
  }
  return entries;
}

absl::StatusOr<std::vector<IndexEntry>> ParseInnerIndex(
    std::string_view payload, uint64_t max_count) {
  uint32_t count;
  if (!util::ReadBigEndian(&payload, &count) || count > payload.size() / 4) {
    return absl::DataLossError("an index without its count");
  }
  if (count > max_count) {
    return DataLoss("an index of ", count, " entries, of a file of ",
                    max_count);
  }
  std::vector<uint32_t> ends(count + 1);
  for (uint32_t& end : ends) {
    if (!util::ReadBigEndian(&payload, &end)) {
      return absl::DataLossError("an index without its offsets");
    }
  }
  std::vector<IndexEntry> entries;
  for (uint32_t i = 0; i < count; ++i) {
    IndexEntry entry;
    std::string_view bytes;
    const int64_t size = int64_t{ends[i + 1]} - int64_t{ends[i]};
    if (!ReadBytes(&payload, size, &bytes) ||
        !util::ReadBigEndian(&bytes, &entry.offset) ||
        !util::ReadBigEndian(&bytes, &entry.size)) {
      return DataLoss("entry ", i, " of the index has ", size, " bytes");
    }
    entry.key = bytes;
    entries.push_back(std::move(entry));
  }
  if (ends[0] != 0 || !payload.empty()) {
    return absl::DataLossError("bytes around the entries of an index");
  }
  return entries;
}

void AppendRootIndexEntry(const IndexEntry& entry, std::string* payload) {
  util::AppendBigEndian(entry.offset, payload);
  util::AppendBigEndian(entry.size, payload);
  AppendSizedBytes(entry.key, payload);
}

}  // namespace rowbloom::hfile
