// SPDX-License-Identifier: Apache-2.0

#include "tools/hbase/family_plans.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "absl/strings/str_format.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/hfile_writer.h"
#include "tools/hbase/properties.h"
#include "tools/platform/platform.h"
#include "tools/text/output.h"

namespace rowbloom::tools {
namespace {

// The column family that a directory of files is of, over all regions of its
// table: TABLE/REGION/FAMILY is of TABLE/*/FAMILY. Others are of their own.
std::string ColumnFamilyOf(const std::filesystem::path& family) {
  const std::filesystem::path region = family.parent_path();
  const std::string name = region.filename().string();
  if (name.size() != 32 ||
      name.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return family.empty() ? "." : platform::TextOf(family);
  }
  return platform::TextOf(region.parent_path() / "*" / family.filename());
}

// The fields that name a filter.
Json NameOf(std::string_view bloom_type, const Json& prefix_length = {},
            const Json& error_rate = {}, const Json& chunk_size = {}) {
  return {{"bloom_type", std::string(bloom_type)},
          {"prefix_length_bytes", prefix_length},
          {"error_rate", error_rate},
          {"chunk_size_bytes", chunk_size}};
}

// The share of a file's gets of each kind that read it. `rows` and `columns`
// are those of the region.
GetReads ReadsOf(const KeyCounts& counts, const FamilyPlans::Plan& plan,
                 double rows, double columns) {
  const double row = rows > 0 ? static_cast<double>(counts.rows) / rows : 0;
  const double column =
      columns > 0 ? static_cast<double>(counts.columns) / columns : 0;
  const double rate = plan.expected_fpr;
  GetReads reads;
  if (plan.type != BloomType::kRowCol) {
    reads.absent_row = rate;
    reads.present_row = row + (1 - row) * rate;
    reads.absent_column = reads.present_row;
    reads.present_column = reads.present_row;
    return reads;
  }
  reads.absent_row = 1;
  reads.present_row = 1;
  reads.absent_column = row * counts.PresentRowFpr(rate) + (1 - row) * rate;
  reads.present_column = column + (1 - column) * reads.absent_column;
  return reads;
}

Json Rounded(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace

void DistinctKeys::Add(uint64_t digest) {
  constexpr size_t kMaxSample = 1 << 16;
  if (digest > limit_) return;
  sample_.insert(digest);
  while (sample_.size() > kMaxSample) {
    limit_ /= 2;
    for (auto it = sample_.begin(); it != sample_.end();) {
      it = *it > limit_ ? sample_.erase(it) : std::next(it);
    }
  }
}

double DistinctKeys::count() const {
  return std::round(static_cast<double>(sample_.size()) /
                    (static_cast<double>(limit_) * 0x1p-64));
}

double KeyCounts::PresentRowFpr(double expected_fpr) const {
  if (rows == 0) return expected_fpr;
  const double always =
      static_cast<double>(always_maybe_rows) / static_cast<double>(rows);
  return always + (1 - always) * expected_fpr;
}

absl::Status CountKeys(const HFileReader& reader,
                       const std::vector<uint32_t>& prefix_lengths,
                       KeyCounts* counts, DistinctKeys* rows,
                       DistinctKeys* columns) {
  counts->prefixes.assign(prefix_lengths.size(), 0);
  const std::unique_ptr<HFileCellReader> cells = reader.NewCellReader();
  HFileCell cell;
  std::string row;
  std::string qualifier;
  while (cells->Next(&cell)) {
    const bool new_row = counts->cells == 0 || cell.row != row;
    const bool new_column = new_row || cell.qualifier != qualifier;
    if (new_row) {
      ++counts->rows;
      for (size_t i = 0; i < prefix_lengths.size(); ++i) {
        if (counts->cells == 0 || cell.row.substr(0, prefix_lengths[i]) !=
                                      row.substr(0, prefix_lengths[i])) {
          ++counts->prefixes[i];
        }
      }
      if (rows != nullptr) rows->Add(DigestBytes(cell.row).value);
      row = cell.row;
    }
    if (new_column) {
      ++counts->columns;
      if (cell.qualifier.empty()) ++counts->always_maybe_rows;
      qualifier = cell.qualifier;
      if (columns != nullptr) {
        columns->Add(DigestBytes(row + '\0' + qualifier).value);
      }
    }
    if (cell.type == HFileCell::kDeleteFamily ||
        cell.type == HFileCell::kDeleteFamilyVersion) {
      ++counts->family_deletes;
    }
    ++counts->cells;
  }
  return cells->status();
}

absl::Status PlanHFile(const PlanQuestion& question, const HFileReader& reader,
                       Json* entry) {
  const HFileWriterOptions now_options = OptionsOf(reader);
  std::vector<uint32_t> prefix_lengths = question.prefix_lengths;
  if (prefix_lengths.empty() && now_options.prefix_length_bytes > 0) {
    prefix_lengths.push_back(now_options.prefix_length_bytes);
  }
  KeyCounts counts;
  const auto [rows, columns] = question.families->SampleFor(question.path);
  absl::Status status =
      CountKeys(reader, prefix_lengths, &counts, rows, columns);
  if (!status.ok()) return status;
  const HFileBloomInfo& now = reader.general_filter();
  (*entry)["cell_count"] = counts.cells;
  (*entry)["row_count"] = counts.rows;
  (*entry)["column_count"] = counts.columns;
  (*entry)["family_delete_count"] = counts.family_deletes;
  (*entry)["always_maybe_row_count"] = counts.always_maybe_rows;
  (*entry)["bloom_type"] = std::string(BloomTypeName(now.bloom_type));
  (*entry)["filter_size_bytes"] = now.size_bytes;

  const Json now_rate = ExpectedFprOf(reader, now);
  const BloomType now_type =
      now.is_usable ? now_options.bloom_type : BloomType::kNone;
  std::vector<FamilyPlans::Plan> plans = {
      {NameOf("now"), now_type, now.key_count, now.chunks.size(),
       now.size_bytes,
       now_type == BloomType::kNone || !now_rate.is_number()
           ? 1
           : now_rate.get<double>()},
      {NameOf("NONE")}};
  struct Filter {
    BloomType type;
    uint64_t key_count;
    uint32_t prefix_length = 0;
  };
  std::vector<Filter> filters = {{BloomType::kRow, counts.rows},
                                 {BloomType::kRowCol, counts.columns}};
  for (size_t i = 0; i < prefix_lengths.size(); ++i) {
    filters.push_back({BloomType::kRowPrefixFixedLength, counts.prefixes[i],
                       prefix_lengths[i]});
  }
  for (const int64_t chunk_size : question.chunk_sizes) {
    for (const Filter& filter : filters) {
      for (const float rate : question.error_rates) {
        if (filter.key_count == 0) continue;
        HFileWriterOptions options;
        options.bloom_type = filter.type;
        options.prefix_length_bytes = filter.prefix_length;
        options.error_rate = rate;
        options.chunk_size_bytes = chunk_size;
        const auto plan = PlanHFileFilter(options, filter.key_count);
        if (!plan.ok()) return plan.status();
        plans.push_back(
            {NameOf(
                 BloomTypeName(filter.type),
                 filter.prefix_length > 0 ? Json(filter.prefix_length) : Json(),
                 std::round(rate * 1e6) / 1e6, chunk_size),
             filter.type, filter.key_count, plan->chunk_count, plan->size_bytes,
             plan->expected_fpr});
      }
    }
  }
  question.families->Add({counts, now.size_bytes, std::move(plans)});
  return absl::OkStatus();
}

void GetReads::Add(const GetReads& other, double weight) {
  absent_column += other.absent_column * weight;
  present_column += other.present_column * weight;
  absent_row += other.absent_row * weight;
  present_row += other.present_row * weight;
}

std::pair<DistinctKeys*, DistinctKeys*> FamilyPlans::SampleFor(
    const std::string& path) {
  const std::string region =
      platform::TextOf(std::filesystem::path(path).parent_path());
  if (region != region_) {
    FinishRegion();
    region_ = region;
  }
  return {&rows_, &columns_};
}

void FamilyPlans::FinishRegion() {
  if (files_.empty()) return;
  Family& family = families_[ColumnFamilyOf(region_)];
  // Each file has its own exactly counted.
  const auto within_files = [this](double count, uint64_t KeyCounts::*of_file) {
    uint64_t most = 0;
    uint64_t sum = 0;
    for (const File& file : files_) {
      most = std::max(most, file.counts.*of_file);
      sum += file.counts.*of_file;
    }
    return std::clamp(count, static_cast<double>(most),
                      static_cast<double>(sum));
  };
  const double rows = within_files(rows_.count(), &KeyCounts::rows);
  const double columns = within_files(columns_.count(), &KeyCounts::columns);
  family.rows += rows;
  family.columns += columns;
  for (const File& file : files_) {
    ++family.files;
    family.filter_bytes += file.filter_bytes;
    family.counts.cells += file.counts.cells;
    family.counts.family_deletes += file.counts.family_deletes;
    family.counts.rows += file.counts.rows;
    family.counts.always_maybe_rows += file.counts.always_maybe_rows;
    for (const Plan& plan : file.plans) {
      auto sum = std::find_if(
          family.plans.begin(), family.plans.end(),
          [&](const PlanSum& other) { return other.plan.name == plan.name; });
      if (sum == family.plans.end()) {
        sum = family.plans.insert(sum, PlanSum{plan, 0, {}});
      } else {
        sum->plan.key_count += plan.key_count;
        sum->plan.chunk_count += plan.chunk_count;
        sum->plan.size_bytes += plan.size_bytes;
      }
      sum->positives += plan.expected_fpr * static_cast<double>(plan.key_count);
      sum->reads.Add(ReadsOf(file.counts, plan, rows, columns), rows);
    }
  }
  files_.clear();
  rows_ = DistinctKeys();
  columns_ = DistinctKeys();
}

double FamilyPlans::Mean(const GetReads& reads, double column_share) const {
  const auto mix = [&](double absent, double present) {
    return missing_share_ * absent + (1 - missing_share_) * present;
  };
  return column_share * mix(reads.absent_column, reads.present_column) +
         (1 - column_share) * mix(reads.absent_row, reads.present_row);
}

// Compares ROW and ROWCOL filters of the usual rate, or of the first one.
Json FamilyPlans::Verdict(const Family& family) const {
  const PlanSum* best[2] = {nullptr, nullptr};
  for (const PlanSum& sum : family.plans) {
    const Json& rate = sum.plan.name["error_rate"];
    if (rate.is_null() || (sum.plan.type != BloomType::kRow &&
                           sum.plan.type != BloomType::kRowCol)) {
      continue;
    }
    const PlanSum*& chosen = best[sum.plan.type == BloomType::kRowCol ? 1 : 0];
    if (chosen == nullptr || rate == 0.01) chosen = &sum;
  }
  if (best[0] == nullptr || best[1] == nullptr || family.rows == 0) return {};
  const auto mean = [&](int which, double column_share) {
    return Mean(best[which]->reads, column_share) / family.rows;
  };
  // Both are linear in the share of gets by column.
  const double gain_rows = mean(0, 0) - mean(1, 0);
  const double gain_columns = mean(0, 1) - mean(1, 1);
  Json verdict{
      {"error_rate", best[0]->plan.name["error_rate"]},
      {"missing_share", missing_share_},
      {"rowcol_pays_from_column_share",
       gain_columns > 0 ? Rounded(std::max(0.0, -gain_rows) /
                                  (gain_columns - std::min(0.0, gain_rows)))
                        : Json()},
      {"more_filter_bytes",
       static_cast<int64_t>(best[1]->plan.size_bytes) -
           static_cast<int64_t>(best[0]->plan.size_bytes)}};
  if (column_share_.has_value()) {
    verdict["column_share"] = *column_share_;
    verdict["row_reads"] = Rounded(mean(0, *column_share_));
    verdict["rowcol_reads"] = Rounded(mean(1, *column_share_));
    verdict["rowcol_pays"] = mean(1, *column_share_) < mean(0, *column_share_);
  }
  return verdict;
}

Json FamilyPlans::Sums() {
  FinishRegion();
  Json families = Json::array();
  for (const auto& [name, family] : families_) {
    Json rows = Json::array();
    for (const PlanSum& sum : family.plans) {
      const Plan& plan = sum.plan;
      const auto reads = [row_count = family.rows](double value) {
        return row_count > 0 ? Rounded(value / row_count) : Json();
      };
      Json row = plan.name;
      row.update({{"key_count", plan.key_count},
                  {"chunk_count", plan.chunk_count},
                  {"size_bytes", plan.size_bytes},
                  {"bits_per_key", Ratio(8 * plan.size_bytes, plan.key_count)},
                  {"expected_fpr", Ratio(sum.positives, plan.key_count)},
                  {"absent_column", reads(sum.reads.absent_column)},
                  {"present_column", reads(sum.reads.present_column)},
                  {"absent_row", reads(sum.reads.absent_row)},
                  {"present_row", reads(sum.reads.present_row)}});
      rows.push_back(std::move(row));
    }
    families.push_back(
        {{"column_family", EscapeControls(name)},
         {"files", family.files},
         {"cell_count", family.counts.cells},
         {"row_count", static_cast<uint64_t>(family.rows)},
         {"column_count", static_cast<uint64_t>(family.columns)},
         {"family_delete_count", family.counts.family_deletes},
         {"always_maybe_share",
          Ratio(family.counts.always_maybe_rows, family.counts.rows)},
         {"filter_size_bytes", family.filter_bytes},
         {"plans", std::move(rows)},
         {"verdict", Verdict(family)}});
  }
  return {{"column_families", std::move(families)}};
}

std::string FamilyPlans::Text(const Json& sums) const {
  std::string text;
  for (const Json& family : sums["column_families"]) {
    Json fields = family;
    fields.erase("column_family");
    text += family["column_family"].get<std::string>() + "\n" +
            FieldLines(fields) + Table(family["plans"]);
    const Json& verdict = family["verdict"];
    if (verdict.is_null()) continue;
    const Json& share = verdict["rowcol_pays_from_column_share"];
    text += share.is_null()
                ? "  ROWCOL does not pay, however many gets name one column\n"
                : absl::StrFormat(
                      "  ROWCOL pays if more than %.3g%% of gets name one "
                      "column; its filters have %+d bytes\n",
                      100 * share.get<double>(),
                      verdict["more_filter_bytes"].get<int64_t>());
    if (!verdict.contains("rowcol_pays")) continue;
    text += absl::StrFormat(
        "  at %.3g%%, a get reads %.4g data blocks with ROWCOL, %.4g with ROW: "
        "it %s\n",
        100 * *column_share_, verdict["rowcol_reads"].get<double>(),
        verdict["row_reads"].get<double>(),
        verdict["rowcol_pays"].get<bool>() ? "pays" : "does not pay");
  }
  return text;
}

}  // namespace rowbloom::tools
