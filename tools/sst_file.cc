// SPDX-License-Identifier: Apache-2.0
//
// rowbloom's filters inside an SST of RocksDB.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "filter_file.h"
#include "output.h"

#ifdef ROWBLOOM_TOOL_WITH_ROCKSDB
#include "rocksdb_files.h"
#include "rowbloom/rocksdb.h"
#endif

namespace rowbloom::tools {
namespace {

// The last bytes of a block-based table; the second is of format version 0.
constexpr std::string_view kMagics[] = {
    {"\xf7\xcf\xf4\x85\xb7\x41\xe2\x88", 8},
    {"\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8}};

#ifdef ROWBLOOM_TOOL_WITH_ROCKSDB

// Of policies that this project has ever given out: "rowbloom" and what
// begins with "rowbloom.".
bool IsOurPolicy(std::string_view name) {
  constexpr std::string_view kName = "rowbloom";
  return name.substr(0, kName.size()) == kName &&
         (name.size() == kName.size() || name[kName.size()] == '.');
}

class SstFile : public FilterFile {
 public:
  SstFile(std::string path, SstFilters sst)
      : path_(std::move(path)), sst_(std::move(sst)) {}

  std::string_view kind() const override { return "sst"; }

  absl::Status Inspect(Json* entry) const override {
    (*entry)["column_family"] = EscapeBytes(sst_.column_family_name);
    (*entry)["entry_count"] = sst_.entry_count;
    (*entry)["prefix_extractor"] =
        sst_.prefix_extractor_name == "nullptr"  // RocksDB's word for none.
            ? Json()
            : Json(EscapeBytes(sst_.prefix_extractor_name));
    (*entry)["filter_policy"] = EscapeBytes(sst_.filter_policy_name);
    (*entry)["filter_kind"] = std::string(FilterKind());
    (*entry)["filter_block_size_bytes"] = sst_.filter_size_bytes;

    ChunkTotals totals;
    Json chunks = Json::array();
    absl::Status first_error = CheckPromise();
    for (size_t i = 0; i < sst_.filters.size(); ++i) {
      Json chunk{{"chunk", i}};
      absl::StatusOr<RocksDbFilterInfo> info = Parse(i);
      if (info.ok()) {
        chunk.update(totals.Add(sst_.filters[i].size(), info->blob.descriptor,
                                info->blob.view.expected_fpr()));
        chunk["bloom_type"] = std::string(BloomTypeName(info->bloom_type));
        chunk["key_codec"] = EscapeBytes(info->key_codec.ToString());
      } else if (first_error.ok()) {
        first_error = info.status();
      }
      chunks.push_back(std::move(chunk));
    }
    totals.AppendTo(entry);
    (*entry)["chunks"] = std::move(chunks);
    return first_error;
  }

  absl::Status Verify(bool /*with_cells*/) const override {
    absl::Status status = VerifySstChecksums(path_);
    if (status.ok()) status = CheckPromise();
    for (size_t i = 0; status.ok() && i < sst_.filters.size(); ++i) {
      status = Annotate(i, VerifyFilterBlob(sst_.filters[i]));
      if (status.ok()) status = CheckSameQuestion(i);
    }
    return status;
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    if (question.family_delete) {
      answer->reason = "has no delete family filter";
      return absl::OkStatus();
    }
    absl::Status promise = CheckPromise();
    if (!promise.ok()) return promise;
    if (sst_.filters.empty()) {
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
        // No such key can be in the SST, but it is not the filter that knows.
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
  // A full filter is the whole filter block; partitions are that but for the
  // index over them.
  std::string_view FilterKind() const {
    if (sst_.filters.size() == 1 &&
        sst_.filters[0].size() == sst_.filter_size_bytes) {
      return "full";
    }
    if (!sst_.filters.empty()) return "partitioned";
    if (sst_.filter_size_bytes == 0) return "none";
    return IsOurPolicy(sst_.filter_policy_name) ? "missing" : "another's";
  }

  // The filter that the properties promise is really there.
  absl::Status CheckPromise() const {
    if (FilterKind() != "missing") return absl::OkStatus();
    // RocksDB has dropped it in silence; the checksums know why.
    absl::Status status = VerifySstChecksums(path_);
    if (!status.ok()) return status;
    return absl::DataLossError(
        path_ + ": the properties promise a filter block of " +
        std::to_string(sst_.filter_size_bytes) + " bytes by policy " +
        EscapeBytes(sst_.filter_policy_name) + ", and there is none");
  }

  // All chunks were written for the same questions as the first.
  absl::Status CheckSameQuestion(size_t i) const {
    const absl::StatusOr<RocksDbFilterInfo> first = Parse(0);
    if (!first.ok()) return first.status();
    const absl::StatusOr<RocksDbFilterInfo> info = Parse(i);
    if (!info.ok()) return info.status();
    if (info->bloom_type == first->bloom_type &&
        info->key_codec == first->key_codec) {
      return absl::OkStatus();
    }
    return Annotate(
        i, absl::DataLossError("bloom type or key codec differs from chunk 0"));
  }

  absl::StatusOr<RocksDbFilterInfo> Parse(size_t i) const {
    absl::StatusOr<RocksDbFilterInfo> info =
        ParseRocksDbFilter(sst_.filters[i]);
    if (!info.ok()) return Annotate(i, info.status());
    return info;
  }

  absl::Status Annotate(size_t i, const absl::Status& status) const {
    if (status.ok()) return status;
    return absl::Status(status.code(), path_ + ": filter chunk " +
                                           std::to_string(i) + ": " +
                                           std::string(status.message()));
  }

  // What RocksDB would ask the filter: the user key, or its row part.
  static absl::Status EntryFor(const RocksDbFilterInfo& info,
                               const LookupQuestion& question,
                               std::string* entry, LookupAnswer* answer) {
    const KeyCodec& codec = info.key_codec;
    if (question.qualifier.has_value()) {
      answer->asked = info.bloom_type == BloomType::kRowCol ? "column" : "row";
      return codec.Encode(question.row, *question.qualifier, entry);
    }
    answer->asked = "row";
    absl::Status status = codec.RowLowerBound(question.row, entry);
    if (status.ok()) entry->resize(codec.RowPartSize(*entry));
    return status;
  }

  const std::string path_;
  const SstFilters sst_;
};

#endif  // ROWBLOOM_TOOL_WITH_ROCKSDB

}  // namespace

FilterFileOrError OpenSst(
    const std::string& path,
    const std::shared_ptr<const RandomAccessSource>& source) {
  bool is_sst = false;
  for (const std::string_view magic : kMagics) {
    const absl::StatusOr<bool> ends = EndsWith(*source, magic);
    if (!ends.ok()) return ends.status();
    is_sst = is_sst || *ends;
  }
  if (!is_sst) return nullptr;
#ifdef ROWBLOOM_TOOL_WITH_ROCKSDB
  absl::StatusOr<SstFilters> sst = ReadSstFilters(path);
  if (!sst.ok()) return sst.status();
  return std::make_unique<SstFile>(path, *std::move(sst));
#else
  return absl::FailedPreconditionError(
      path + ": an SST, and this rowbloom was built without RocksDB");
#endif
}

}  // namespace rowbloom::tools
