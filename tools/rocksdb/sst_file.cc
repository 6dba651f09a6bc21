// SPDX-License-Identifier: Apache-2.0
//
// rowbloom's filters inside an SST of RocksDB.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_verify.h"
#include "tools/formats/filter_file.h"
#include "tools/rocksdb/live_ssts.h"
#include "tools/text/output.h"

namespace rowbloom::tools {
namespace {

class SstFile : public FilterFile {
 public:
  SstFile(std::string path, RocksDbSst sst)
      : path_(std::move(path)), sst_(std::move(sst)) {}

  std::string_view kind() const override { return "sst"; }

  absl::Status Inspect(Json* entry) const override {
    (*entry)["column_family"] = EscapeBytes(sst_.column_family_name);
    (*entry)["entry_count"] = sst_.entry_count;
    (*entry)["prefix_extractor"] =
        sst_.prefix_extractor_name == "nullptr"  // RocksDB's name for none.
            ? Json()
            : Json(EscapeBytes(sst_.prefix_extractor_name));
    const RocksDbFilterFile file = VerifyRocksDbSst(path_, /*options=*/{});
    (*entry)["filter_kind"] = std::string(FilterKind(file.status));
    DescribeFilter(file, entry);
    Json chunks = Json::array();
    for (size_t i = 0; is_ours() && i < sst_.filters.size(); ++i) {
      Json chunk{{"chunk", i}};
      // A chunk that is damaged is in the status.
      if (const absl::StatusOr<RocksDbFilterInfo> info = Parse(i); info.ok()) {
        chunk.update(ChunkTotals().Add(sst_.filters[i].size(),
                                       info->blob.descriptor,
                                       info->blob.view.expected_fpr()));
        chunk["bloom_type"] = std::string(BloomTypeName(info->bloom_type));
        chunk["key_codec"] = EscapeBytes(info->key_codec.ToString());
      }
      chunks.push_back(std::move(chunk));
    }
    (*entry)["chunks"] = std::move(chunks);
    return file.status;
  }

  absl::Status Verify(bool /*with_cells*/, Json* entry) const override {
    RocksDbVerifyOptions verify;
    verify.read_data_blocks = true;
    const RocksDbFilterFile file =
        VerifyRocksDbSst(path_, /*options=*/{}, verify);
    DescribeFilter(file, entry);
    return file.status;
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    absl::Status promise = CheckPromise();
    if (!promise.ok()) return promise;
    if (!is_ours()) {
      answer->reason = "no filter of rowbloom's";
      return absl::OkStatus();
    }
    // The index over partitions is RocksDB's own, so all of them are asked.
    for (size_t i = 0; i < sst_.filters.size(); ++i) {
      const absl::StatusOr<RocksDbFilterInfo> info = Parse(i);
      if (!info.ok()) return info.status();
      std::string entry;
      const absl::Status status = EntryFor(*info, question, &entry, answer);
      if (!status.ok()) {
        // The SST cannot hold such a key, but the filter does not know that.
        answer->reason = "cannot be asked: " + std::string(status.message());
        return absl::OkStatus();
      }
      if (RocksDbFilterMayContain(*info, entry)) {
        answer->chunk = static_cast<int64_t>(i);
        answer->reason = "chunk " + std::to_string(i) + " of " +
                         std::to_string(sst_.filters.size());
        return absl::OkStatus();
      }
    }
    answer->may_contain = false;
    answer->reason =
        sst_.filters.size() == 1
            ? "its only chunk says no"
            : "all " + std::to_string(sst_.filters.size()) + " chunks say no";
    return absl::OkStatus();
  }

 private:
  bool is_ours() const { return sst_.owner == RocksDbFilterOwner::kRowbloom; }

  // "foreign" says of a database's SST that its policy does not read the
  // filter; the policy is not known here, and rowbloom.Composed reads
  // RocksDB's.
  std::string_view FilterKind(const absl::Status& promise) const {
    switch (sst_.owner) {
      case RocksDbFilterOwner::kNobody:
        return "none";
      case RocksDbFilterOwner::kRowbloom:
        return sst_.is_partitioned() ? "partitioned" : "full";
      case RocksDbFilterOwner::kRocksDb:
        return "rocksdb";
      case RocksDbFilterOwner::kUnknown:
        break;
    }
    return promise.ok() ? "unknown" : "missing";
  }

  // Checks that the filter that the properties promise exists. RocksDB drops a
  // damaged one in silence.
  absl::Status CheckPromise() const {
    if (sst_.owner != RocksDbFilterOwner::kUnknown) return absl::OkStatus();
    return VerifyRocksDbSst(path_, /*options=*/{}).status;
  }

  absl::StatusOr<RocksDbFilterInfo> Parse(size_t i) const {
    absl::StatusOr<RocksDbFilterInfo> info =
        ParseRocksDbFilter(sst_.filters[i]);
    if (info.ok()) return info;
    return absl::Status(info.status().code(),
                        absl::StrCat(path_, ": filter chunk ", i, ": ",
                                     info.status().message()));
  }

  // Makes the entry that RocksDB would pass to the filter: a key, or the prefix
  // of its first segments.
  static absl::Status EntryFor(const RocksDbFilterInfo& info,
                               const LookupQuestion& question,
                               std::string* entry, LookupAnswer* answer) {
    const KeyCodec& codec = info.key_codec;
    std::vector<std::string_view> segments = {question.row};
    if (question.qualifier.has_value()) segments.push_back(*question.qualifier);
    answer->asked = codec.KeyLevelName(1);
    absl::Status status = codec.EncodePrefix(segments, entry);
    if (!status.ok()) return status;
    const KeyCodec::Prefixes prefixes = codec.PrefixesOf(
        *entry,
        info.bloom_type == BloomType::kRow ? 1 : codec.key_level_count());
    if (prefixes.count == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the filter has no keys of ", segments.size(),
                       " segments of key codec ", codec.ToString()));
    }
    answer->asked = codec.KeyLevelName(prefixes.count);
    return absl::OkStatus();
  }

  const std::string path_;
  const RocksDbSst sst_;
};

}  // namespace

FilterFileOrError OpenRocksDbSst(const std::string& path) {
  absl::StatusOr<RocksDbSst> sst = ReadRocksDbSst(path);
  if (!sst.ok()) return sst.status();
  return std::make_unique<SstFile>(path, *std::move(sst));
}

}  // namespace rowbloom::tools
