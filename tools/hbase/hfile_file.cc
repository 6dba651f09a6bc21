// SPDX-License-Identifier: Apache-2.0
//
// One of HBase's store files.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "rowbloom/compiler.h"
#include "rowbloom/hfile.h"
#include "tools/formats/filter_file.h"
#include "tools/formats/paths.h"
#include "tools/hbase/cell_sizes.h"
#include "tools/hbase/family_plans.h"
#include "tools/hbase/properties.h"
#include "tools/text/output.h"

namespace rowbloom::tools {
namespace {

double FillOf(std::string_view bits) {
  uint64_t set = 0;
  for (const char byte : bits) {
    set += internal::CountOnes(static_cast<unsigned char>(byte));
  }
  return static_cast<double>(set) / (8 * static_cast<double>(bits.size()));
}

class HFileFile : public FilterFile {
 public:
  HFileFile(Source source, std::unique_ptr<HFileReader> reader)
      : source_(std::move(source)), reader_(std::move(reader)) {}

  std::string_view kind() const override { return "hfile"; }
  bool has_family_deletes() const override { return true; }
  absl::Status Inspect(Json* entry) const override {
    const HFileProperties& properties = reader_->properties();
    (*entry)["hfile_version"] = std::to_string(properties.major_version) + "." +
                                std::to_string(properties.minor_version);
    (*entry)["usable_in_hbase"] = HBaseVersionsFor(*reader_);
    (*entry)["file_size_bytes"] = source_->size_bytes();
    (*entry)["cell_count"] = properties.cell_count;
    (*entry)["compression"] =
        std::string(HFileCompressionName(properties.compression));
    // The file info, which names encodings, is encrypted with the rest.
    const bool is_read = !properties.is_encrypted;
    (*entry)["encoding"] =
        is_read ? Json(std::string(HFileEncodingName(properties.encoding)))
                : Json();
    (*entry)["checksum"] = std::string(HFileChecksumName(properties.checksum));
    (*entry)["comparator"] = EscapeBytes(properties.comparator);
    (*entry)["encrypted"] = properties.is_encrypted;
    (*entry)["uncompressed_bytes"] = properties.uncompressed_bytes;
    (*entry)["data_index_levels"] = properties.data_index_levels;
    (*entry)["data_index_root_entries"] = properties.data_index_root_entries;
    (*entry)["data_index_size_bytes"] = properties.data_index_size_bytes;
    (*entry)["index_encoding"] =
        is_read ? Json(EscapeBytes(IndexEncoding(properties))) : Json();
    AddEnds(entry);
    if (!properties.meta_blocks.empty()) {
      Json names = Json::array();
      for (const std::string& name : properties.meta_blocks) {
        names.push_back(EscapeBytes(name));
      }
      (*entry)["meta_blocks"] = std::move(names);
    }
    (*entry)["delete_family_count"] =
        properties.delete_family_count < 0
            ? Json()
            : Json(properties.delete_family_count);
    const HFileBloomInfo& general = reader_->general_filter();
    if (const auto found = properties.file_info.find("MAX_SEQ_ID_KEY");
        found != properties.file_info.end() && found->second.size() == 8) {
      uint64_t sequence_id = 0;
      for (const char byte : found->second) {
        sequence_id = sequence_id << 8 | static_cast<unsigned char>(byte);
      }
      (*entry)["sequence_id"] = sequence_id;
    }
    (*entry)["bulk_loaded"] =
        properties.file_info.count("BULKLOAD_TIMESTAMP") > 0;
    (*entry)["bloom_type"] =
        properties.is_encrypted
            ? "ENCRYPTED"
            : std::string(BloomTypeName(general.bloom_type));
    if (general.prefix_length_bytes > 0) {
      (*entry)["prefix_length_bytes"] = general.prefix_length_bytes;
    }
    Json chunks = Json::array();
    absl::Status status = properties.meta_blocks_error;
    AddFilter(general, "", entry, &chunks, &status);
    (*entry)["last_key"] = general.last_key.has_value()
                               ? Json(EscapeBytes(*general.last_key))
                               : Json();
    AddFilter(reader_->delete_family_filter(), "delete_family_", entry, &chunks,
              &status);
    if (!chunks.empty()) (*entry)["chunks"] = std::move(chunks);
    (*entry)["file_info"] = FileInfoOf(properties);
    return status;
  }

  absl::Status Verify(bool with_cells, Json* entry) const override {
    const HFileProperties& properties = reader_->properties();
    if (properties.is_encrypted) {
      (*entry)["note"] =
          "encrypted: only checksums and trailer were checked, no cell and no "
          "filter";
    } else if (const std::string encoding = IndexEncoding(properties);
               encoding != "NONE") {
      (*entry)["note"] = "the data index was not checked: its encoding is " +
                         EscapeControls(encoding);
    } else if (const char* note = ChecksumNote(properties)) {
      (*entry)["note"] = note;
    }
    return reader_->Verify(with_cells);
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    const bool is_delete = question.family_delete;
    const HFileExplanation explanation =
        is_delete ? reader_->ExplainFamilyDelete(question.row)
                  : reader_->Explain(question.row, question.qualifier);
    answer->may_contain = explanation.may_contain;
    answer->reason = explanation.reason;
    if (!explanation.probes.empty()) {
      answer->asked = is_delete ? "delete of the family"
                                : AskedOf(reader_->general_filter().bloom_type);
      answer->chunk = explanation.probes.back().chunk;
    }
    for (const HFileProbe& probe : explanation.probes) {
      Json set = Json::array();
      Json unset = Json::array();
      for (size_t i = 0; i < probe.bits.size(); ++i) {
        (probe.bits_set[i] ? set : unset).push_back(probe.bits[i]);
      }
      answer->probes.push_back({{"chunk", probe.chunk},
                                {"key", EscapeBytes(probe.key)},
                                {"answer", probe.may_contain ? "maybe" : "no"},
                                {"bits_set", std::move(set)},
                                {"bits_unset", std::move(unset)}});
    }
    return explanation.status;
  }

  absl::Status InspectCells(Json* entry) const override {
    KeyCounts counts;
    absl::Status status = CountKeys(*reader_, {}, &counts);
    if (!status.ok()) return status;
    (*entry)["row_count"] = counts.rows;
    (*entry)["column_count"] = counts.columns;
    (*entry)["always_maybe_row_count"] = counts.always_maybe_rows;
    const bool has_rate =
        reader_->general_filter().bloom_type == BloomType::kRowCol &&
        (*entry)["expected_fpr"].is_number();
    if (has_rate) {
      (*entry)["present_row_fpr"] =
          counts.PresentRowFpr((*entry)["expected_fpr"].get<double>());
    }
    return CountCellSizes(*reader_, &(*entry)["cell_sizes"]);
  }

  absl::Status InspectBlocks(Json* entry) const override {
    std::vector<HFileBlockInfo> blocks;
    absl::Status status = reader_->ListBlocks(&blocks);
    Json rows = Json::array();
    for (const HFileBlockInfo& block : blocks) {
      rows.push_back(
          {{"type", EscapeBytes(block.type)},
           {"offset", block.offset},
           {"size_bytes", block.size_bytes},
           {"uncompressed_size_bytes", block.uncompressed_size_bytes},
           {"previous_offset",
            block.previous_offset < 0 ? Json() : Json(block.previous_offset)}});
    }
    (*entry)["blocks"] = std::move(rows);
    return status;
  }

  absl::Status Plan(const PlanQuestion& question, Json* entry) const override {
    return PlanHFile(question, *reader_, entry);
  }

 private:
  // Adds the first and the last row, and the size of data blocks, as far as the
  // file tells.
  void AddEnds(Json* entry) const {
    HFileCell first;
    (*entry)["first_row"] = reader_->NewCellReader()->Next(&first)
                                ? Json(EscapeBytes(first.row))
                                : Json();
    // A key begins with the size of its row.
    const auto& info = reader_->properties().file_info;
    const auto last = info.find("hfile.LASTKEY");
    Json last_row;
    if (last != info.end() && last->second.size() > 2) {
      const std::string& key = last->second;
      const size_t size = static_cast<unsigned char>(key[0]) * size_t{256} +
                          static_cast<unsigned char>(key[1]);
      if (size <= key.size() - 2) last_row = EscapeBytes(key.substr(2, size));
    }
    (*entry)["last_row"] = std::move(last_row);
    const auto size = reader_->FindBlockSize();
    (*entry)["block_size_bytes"] =
        size.has_value() ? Json(size->likely) : Json();
  }

  // Adds the filter's lines to the report, under names that begin with
  // `prefix`, and a line for each chunk.
  void AddFilter(const HFileBloomInfo& info, const std::string& prefix,
                 Json* entry, Json* chunks, absl::Status* status) const {
    (*entry)[prefix + "filter"] =
        info.is_usable ? "usable" : "none: " + EscapeControls(info.reason);
    status->Update(info.error);
    if (info.chunks.empty()) return;
    (*entry)[prefix + "hash"] = std::string(HFileHashName(info.hash));
    (*entry)[prefix + "hash_count"] = info.hash_count;
    (*entry)[prefix + "key_count"] = info.key_count;
    if (prefix.empty() && info.bloom_type == BloomType::kRow) {
      (*entry)["row_count"] = info.key_count;
    }
    (*entry)[prefix + "max_keys"] = info.max_keys;
    (*entry)[prefix + "filter_size_bytes"] = info.size_bytes;
    (*entry)[prefix + "chunk_count"] = info.chunks.size();
    (*entry)[prefix + "bloom_comparator"] = EscapeBytes(info.comparator);
    double positives = 0;
    double bits = 0;
    for (size_t i = 0; i < info.chunks.size(); ++i) {
      const HFileBloomChunkInfo& place = info.chunks[i];
      Json chunk{{"filter", prefix.empty() ? "general" : "delete_family"},
                 {"chunk", i},
                 {"offset", place.offset},
                 {"block_size_bytes", place.size_bytes}};
      absl::StatusOr<std::string> loaded =
          info.is_usable ? reader_->ReadChunk(info, i)
                         : absl::StatusOr<std::string>(std::string());
      if (!loaded.ok()) {
        status->Update(loaded.status());
      } else if (!loaded->empty()) {
        const double fill = FillOf(*loaded);
        const double rate = HFileReader::ExpectedFpr(info, *loaded);
        const double size = static_cast<double>(loaded->size());
        positives += rate * size;
        bits += size;
        chunk["size_bytes"] = loaded->size();
        chunk["fill"] = fill;
        chunk["expected_fpr"] = rate;
      }
      chunk["first_key"] = EscapeBytes(place.first_key);
      chunks->push_back(std::move(chunk));
    }
    // Chunks have keys in proportion to their size.
    (*entry)[prefix + "expected_fpr"] = Ratio(positives, bits);
    if (info.bloom_type == BloomType::kRowCol) {
      // Only the cells tell: InspectCells().
      (*entry)["present_row_fpr"] = Json();
    }
  }

  const Source source_;
  const std::unique_ptr<HFileReader> reader_;
};

// A file that is known for what it is, and has no filter: it is no trouble.
class NotedFile : public FilterFile {
 public:
  NotedFile(const char* kind, const char* note) : kind_(kind), note_(note) {}

  std::string_view kind() const override { return kind_; }
  bool has_family_deletes() const override { return true; }
  absl::Status Inspect(Json* entry) const override {
    (*entry)["note"] = note_;
    return absl::OkStatus();
  }
  absl::Status Verify(bool /*with_cells*/, Json* entry) const override {
    return Inspect(entry);
  }
  absl::Status Lookup(const LookupQuestion& /*question*/,
                      LookupAnswer* answer) const override {
    answer->reason = note_;
    return absl::OkStatus();
  }
  absl::Status Plan(const PlanQuestion& /*question*/,
                    Json* entry) const override {
    return Inspect(entry);
  }

 private:
  const char* const kind_;
  const char* const note_;
};

// A file that stands for an HFile elsewhere is a reference, which a region
// split leaves and which is a message with the split row; or a link, which is
// an empty file with the HFile's name. Their names identify them too.

// HBase's protocol buffer has the split row in field 1, and behind it in field
// 2 which half it is.
bool IsReferenceMessage(const std::string& bytes) {
  return absl::StartsWith(bytes, "PBUF\x0a") &&
         (absl::EndsWith(bytes, absl::string_view("\x10\0", 2)) ||
          absl::EndsWith(bytes, "\x10\x01"));
}

absl::StatusOr<bool> IsReference(const std::string& path,
                                 const RandomAccessSource& source) {
  // HBase's names of such files.
  const std::string hfile = "[0-9a-f]+(_SeqId_[0-9]+_|_del|_[0-9a-f]+)?";
  const std::string link = "[^=]+(=[^=]+)?=[0-9a-f]+-" + hfile;
  const std::regex link_name(link);
  const std::regex reference_name("(" + hfile + "|" + link + ")\\..+");
  constexpr uint64_t kMaxSize = 1 << 16;  // A row has at most half of that.
  const std::string name = path.substr(path.rfind('/') + 1);
  const uint64_t size = source.size_bytes();
  if (size == 0) return std::regex_match(name, link_name);
  if (size > kMaxSize || !std::regex_match(name, reference_name)) return false;
  const absl::StatusOr<std::string> bytes = ReadBytes(source, 0, size);
  if (!bytes.ok()) return bytes.status();
  return IsReferenceMessage(*bytes);
}

// DataLoss if the file begins with a block of an HFile, nullptr if not. It has
// no trailer of one.
FilterFileOrError CheckHead(const RandomAccessSource& source) {
  for (const char* block : {"DATABLK*", "DATABLKE", "IDXROOT2"}) {
    const absl::StatusOr<bool> begins = HasBytes(source, 0, block);
    if (!begins.ok()) return begins.status();
    if (*begins) {
      return absl::DataLossError(
          "begins as an HFile and does not end as one: it is cut off, or its "
          "end is damaged");
    }
  }
  return nullptr;
}

}  // namespace

bool IsOlder(const absl::Status& status) {
  return IsOlderThanSupported(status);
}

// By the directory that HBase keeps them in, or the name that rowbloom gives
// them.
std::unique_ptr<FilterFile> OpenByPlace(const std::string& place) {
  const auto within = [&](const std::string& directory) {
    return ("/" + place).find("/" + directory + "/") != std::string::npos;
  };
  if (within("recovered.edits")) {
    return std::make_unique<NotedFile>(
        "recovered_edits", "edits that HBase replays when the region opens");
  }
  static const std::regex unfinished("\\.unfinished\\.[0-9]+$");
  if (within(kUnfinishedDirectory) || std::regex_search(place, unfinished)) {
    return std::make_unique<NotedFile>(
        "unfinished", "not a store file yet, or left by what was interrupted");
  }
  return nullptr;
}

FilterFileOrError OpenHFile(const std::string& path, const Source& source) {
  absl::StatusOr<std::unique_ptr<HFileReader>> reader =
      HFileReader::Open(source.get());
  if (absl::IsInvalidArgument(reader.status())) {
    const absl::StatusOr<bool> is_reference = IsReference(path, *source);
    if (!is_reference.ok()) return is_reference.status();
    if (*is_reference) {
      const bool is_link = source->size_bytes() == 0;
      return std::make_unique<NotedFile>(
          is_link ? "hfile_link" : "hfile_reference",
          "a reference to an HFile elsewhere");
    }
    return CheckHead(*source);
  }
  if (!reader.ok()) return reader.status();
  return std::make_unique<HFileFile>(source, *std::move(reader));
}

}  // namespace rowbloom::tools
