// SPDX-License-Identifier: Apache-2.0

#include "hfile/bloom_meta.h"

#include <utility>

#include "absl/status/status.h"
#include "hfile/block.h"
#include "hfile/errors.h"
#include "hfile/vlong.h"
#include "util/coding.h"

namespace rowbloom::hfile {

namespace {

constexpr size_t kMinChunkEntrySize = 13;
// HBase's rates need a few dozen at most; a lookup makes one probe per hash.
constexpr int32_t kMaxHashCount = 255;

}  // namespace

absl::StatusOr<BloomMeta> ParseBloomMeta(std::string_view payload,
                                         uint64_t end) {
  BloomMeta meta;
  int32_t version;
  int32_t hash;
  int32_t chunk_count;
  std::string_view comparator;
  if (!util::ReadBigEndian(&payload, &version)) {
    return absl::DataLossError("no version");
  }
  if (version != kBloomMetaVersion) {
    return Unimplemented("Bloom meta version ", version, "; ",
                         kBloomMetaVersion, " is known");
  }
  if (!util::ReadBigEndian(&payload, &meta.size_bytes) ||
      !util::ReadBigEndian(&payload, &meta.hash_count) ||
      !util::ReadBigEndian(&payload, &hash) ||
      !util::ReadBigEndian(&payload, &meta.key_count) ||
      !util::ReadBigEndian(&payload, &meta.max_keys) ||
      !util::ReadBigEndian(&payload, &chunk_count) ||
      !ReadSizedBytes(&payload, &comparator)) {
    return absl::DataLossError("the Bloom meta is cut short");
  }
  if (hash < static_cast<int32_t>(HFileHash::kJenkins) ||
      hash > static_cast<int32_t>(HFileHash::kMurmur3)) {
    return Unimplemented("hash type ", hash, "; 0, 1 and 2 are known");
  }
  meta.hash = static_cast<HFileHash>(hash);
  meta.comparator = comparator;
  // HBase writes 0 for rates close to 1: every answer is then "maybe".
  if (meta.hash_count < 0 || meta.hash_count > kMaxHashCount ||
      chunk_count < 1 ||
      static_cast<size_t>(chunk_count) > payload.size() / kMinChunkEntrySize) {
    return DataLoss("hash count ", meta.hash_count, " and ", chunk_count,
                    " chunks in ", payload.size(), " bytes");
  }
  uint64_t free_from = 0;
  meta.chunks.reserve(static_cast<size_t>(chunk_count));
  for (int32_t i = 0; i < chunk_count; ++i) {
    BloomChunkEntry chunk;
    std::string_view first_key;
    if (!util::ReadBigEndian(&payload, &chunk.offset) ||
        !util::ReadBigEndian(&payload, &chunk.size) ||
        !ReadSizedBytes(&payload, &first_key)) {
      return DataLoss("the entry of chunk ", i, " is cut short");
    }
    if (chunk.offset < free_from || chunk.offset > end ||
        chunk.size > end - chunk.offset ||
        chunk.size <= kHeaderSizeWithoutChecksums) {
      return DataLoss("chunk ", i, " has ", chunk.size, " bytes at ",
                      chunk.offset, ", of a file whose chunks end at ", end,
                      " and one that ends at ", free_from);
    }
    free_from = chunk.offset + chunk.size;
    chunk.first_key = first_key;
    meta.chunks.push_back(std::move(chunk));
  }
  if (!payload.empty()) {
    return DataLoss(payload.size(), " bytes after the Bloom meta");
  }
  return meta;
}

std::string SerializeBloomMeta(const BloomMeta& meta) {
  std::string payload;
  util::AppendBigEndian(kBloomMetaVersion, &payload);
  util::AppendBigEndian(meta.size_bytes, &payload);
  util::AppendBigEndian(meta.hash_count, &payload);
  util::AppendBigEndian(static_cast<int32_t>(meta.hash), &payload);
  util::AppendBigEndian(meta.key_count, &payload);
  util::AppendBigEndian(meta.max_keys, &payload);
  util::AppendBigEndian(static_cast<uint32_t>(meta.chunks.size()), &payload);
  AppendSizedBytes(meta.comparator, &payload);
  for (const BloomChunkEntry& chunk : meta.chunks) {
    util::AppendBigEndian(chunk.offset, &payload);
    util::AppendBigEndian(chunk.size, &payload);
    AppendSizedBytes(chunk.first_key, &payload);
  }
  return payload;
}

}  // namespace rowbloom::hfile
