// SPDX-License-Identifier: Apache-2.0
//
// A file that consists of one filter block.

#include <memory>
#include <string>
#include <utility>

#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/filter_stats.h"
#include "tools/formats/filter_file.h"
#include "tools/text/output.h"

namespace rowbloom::tools {
namespace {

// See docs/filter_block_format.md; the parser checks it again.
constexpr std::string_view kFooterMagic = "rowbloom";

// Loads the chunk, checks it, and returns its expected rate.
absl::StatusOr<double> ExpectedFpr(const RandomAccessSource& source,
                                   const FilterChunkInfo& chunk) {
  const absl::StatusOr<std::string> read =
      ReadBytes(source, chunk.offset, chunk.descriptor.total_size_bytes());
  if (!read.ok()) return read.status();
  const EncodedFilter filter = {chunk.descriptor, *read};
  const auto units = filter.UnitViews();
  absl::Status status = VerifyUnits(chunk.descriptor, units);
  if (status.ok()) {
    absl::StatusOr<FilterView> view =
        FilterView::Parse(chunk.descriptor, units);
    if (view.ok()) return view->expected_fpr();
    status = view.status();
  }
  return absl::Status(status.code(), "offset " + std::to_string(chunk.offset) +
                                         ": " + std::string(status.message()));
}

void AddKey(const std::string& which, const std::string& row,
            const std::string& qualifier, bool has_qualifier, Json* fields) {
  (*fields)[which + "_row"] = EscapeBytes(row);
  (*fields)[which + "_qualifier"] =
      has_qualifier ? Json(EscapeBytes(qualifier)) : Json();
}

class FilterBlockFile : public FilterFile {
 public:
  FilterBlockFile(Source source, std::unique_ptr<FilterStats> stats,
                  std::unique_ptr<FilterReader> reader)
      : source_(std::move(source)),
        stats_(std::move(stats)),
        reader_(std::move(reader)) {}

  std::string_view kind() const override { return "filter_block"; }

  absl::Status Inspect(Json* entry) const override {
    const FilterBlockProperties& properties = reader_->properties();
    (*entry)["bloom_type"] = std::string(BloomTypeName(properties.bloom_type));
    if (properties.bloom_type == BloomType::kRowPrefixFixedLength) {
      (*entry)["prefix_length_bytes"] = properties.prefix_length_bytes;
    }
    (*entry)["has_row_keys"] = properties.has_row_keys;
    if (!properties.key_codec.empty()) {
      (*entry)["key_codec"] = properties.key_codec;
    }
    (*entry)["filter_spec"] = properties.filter_spec;
    (*entry)["writer"] = EscapeBytes(properties.writer);
    (*entry)["cell_count"] = properties.cell_count;

    ChunkTotals totals;
    Json chunks = Json::array();
    absl::Status first_error;
    for (const FilterChunkInfo& info : reader_->Chunks()) {
      Json chunk{{"chunk", chunks.size()}, {"offset", info.offset}};
      absl::StatusOr<double> expected_fpr = ExpectedFpr(*source_, info);
      if (!expected_fpr.ok() && first_error.ok()) {
        first_error = expected_fpr.status();
      }
      // An unreadable chunk answers "maybe" to everything.
      chunk.update(totals.Add(info.descriptor.total_size_bytes(),
                              info.descriptor, expected_fpr.value_or(1)));
      AddKey("first", info.first_row, info.first_qualifier,
             info.first_has_qualifier, &chunk);
      chunks.push_back(std::move(chunk));
    }
    totals.AppendTo(entry);
    if (!chunks.empty()) {
      (*entry)["first_row"] = chunks[0]["first_row"];
      (*entry)["first_qualifier"] = chunks[0]["first_qualifier"];
      // A row's own key is before its columns', so it is never the last.
      AddKey("last", properties.last_row, properties.last_qualifier,
             properties.bloom_type == BloomType::kRowCol, entry);
    }
    (*entry)["chunks"] = std::move(chunks);
    return first_error;
  }

  absl::Status Verify(bool /*with_cells*/, Json* /*entry*/) const override {
    return reader_->Verify();
  }

  absl::Status Lookup(const LookupQuestion& question,
                      LookupAnswer* answer) const override {
    const FilterKey key = question.key();
    answer->may_contain = reader_->MayContain(key);
    answer->chunk = reader_->ChunkOf(key);
    answer->asked = Asked(key);
    if (answer->chunk >= 0) {
      answer->reason = "chunk " + std::to_string(answer->chunk);
    } else if (answer->may_contain) {
      answer->reason = "the block holds no keys to ask for it";
    } else {
      answer->reason = "outside the block's first and last key";
    }
    if (stats_->Snapshot()[FilterCounter::kLoadErrors] == 0) {
      return absl::OkStatus();
    }
    // The reader counts errors; Verify() explains them.
    const absl::Status status = reader_->Verify();
    return status.ok() ? absl::UnavailableError("a chunk could not be read")
                       : status;
  }

 private:
  std::string Asked(const FilterKey& key) const {
    const FilterBlockProperties& properties = reader_->properties();
    if (properties.bloom_type != BloomType::kRowCol || key.has_qualifier()) {
      return AskedOf(properties.bloom_type);
    }
    return properties.has_row_keys ? "row" : "";
  }

  const Source source_;
  const std::unique_ptr<FilterStats> stats_;
  const std::unique_ptr<FilterReader> reader_;
};

}  // namespace

FilterFileOrError OpenFilterBlock(const std::string& /*path*/,
                                  const Source& source) {
  const auto magic = LastBytes(*source, kFooterMagic.size());
  if (!magic.ok()) return magic.status();
  if (*magic != kFooterMagic) return nullptr;

  auto stats = std::make_unique<FilterStats>();
  FilterReaderOptions options;
  options.stats = stats.get();
  absl::StatusOr<std::unique_ptr<FilterReader>> reader =
      FilterReader::Open(source.get(), {}, options);
  if (!reader.ok()) return reader.status();
  return std::make_unique<FilterBlockFile>(source, std::move(stats),
                                           *std::move(reader));
}

}  // namespace rowbloom::tools
