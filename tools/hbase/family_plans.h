// SPDX-License-Identifier: Apache-2.0
//
// Plans filters for the HFiles of a column family: what they would take, and
// the data blocks that gets would read.
//
//   FamilyPlans families(missing_share, column_share);
//   question.families = &families;
//   for (file : files) PlanHFile(question, *reader, &entry);
//   Json sums = families.Sums();

#ifndef ROWBLOOM_TOOLS_HBASE_FAMILY_PLANS_H_
#define ROWBLOOM_TOOLS_HBASE_FAMILY_PLANS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "rowbloom/hfile.h"
#include "tools/formats/filter_file.h"

namespace rowbloom::tools {

// Counts distinct keys; from 65536 on within about 1%, by a sample of their
// digests.
class DistinctKeys {
 public:
  void Add(uint64_t digest);
  double count() const;

 private:
  uint64_t limit_ = UINT64_MAX;  // The sample has the digests up to this.
  std::unordered_set<uint64_t> sample_;
};

// Distinct keys of the cells of a file.
struct KeyCounts {
  uint64_t cells = 0;
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint64_t family_deletes = 0;
  // Rows of which a ROWCOL filter says "maybe" to each column: they have a
  // delete of the family, or another cell with an empty qualifier.
  uint64_t always_maybe_rows = 0;
  std::vector<uint64_t> prefixes;  // For each length that was asked for.

  // The expected rate for absent columns of the rows that are there.
  double PresentRowFpr(double expected_fpr) const;
};

// `rows` and `columns`, if given, receive their digests.
absl::Status CountKeys(const HFileReader& reader,
                       const std::vector<uint32_t>& prefix_lengths,
                       KeyCounts* counts, DistinctKeys* rows = nullptr,
                       DistinctKeys* columns = nullptr);

// Adds the counts and plans of a file to *entry, and to question.families.
absl::Status PlanHFile(const PlanQuestion& question, const HFileReader& reader,
                       Json* entry);

// The data blocks that a get reads in the files of a region's family: one of
// each file that it cannot rule out.
struct GetReads {
  double absent_column = 0;   // The row is there.
  double present_column = 0;  // At most: HBase may stop at the newest file.
  double absent_row = 0;      // All its columns are asked for.
  double present_row = 0;

  void Add(const GetReads& other, double weight);
};

// Sums by column family: the files of all regions of a table. Files come by
// region.
class FamilyPlans {
 public:
  // The shares of gets that find nothing, and that name one column.
  FamilyPlans(double missing_share, std::optional<double> column_share)
      : missing_share_(missing_share), column_share_(column_share) {}

  // A filter that is planned for a file.
  struct Plan {
    // "now" for the filter that the file has, or bloom type, prefix length,
    // error rate and chunk size.
    Json name;
    BloomType type = BloomType::kNone;
    uint64_t key_count = 0;
    uint64_t chunk_count = 0;
    uint64_t size_bytes = 0;
    double expected_fpr = 1;
  };
  struct File {
    KeyCounts counts;
    uint64_t filter_bytes = 0;  // The size of its own filter.
    std::vector<Plan> plans;
  };
  // The sample of the region that `path` is in.
  std::pair<DistinctKeys*, DistinctKeys*> SampleFor(const std::string& path);
  void Add(File file) { files_.push_back(std::move(file)); }
  Json Sums();
  std::string Text(const Json& sums) const;

 private:
  struct PlanSum {
    Plan plan;
    double positives = 0;  // expected_fpr for each key.
    GetReads reads;        // Weighted by rows.
  };
  struct Family {
    uint64_t files = 0;
    uint64_t filter_bytes = 0;
    KeyCounts counts;
    double rows = 0;
    double columns = 0;
    std::vector<PlanSum> plans;
  };

  void FinishRegion();
  Json Verdict(const Family& family) const;
  double Mean(const GetReads& reads, double column_share) const;

  const double missing_share_;
  const std::optional<double> column_share_;
  std::map<std::string, Family> families_;
  std::string region_;
  std::vector<File> files_;  // The region's.
  DistinctKeys rows_;
  DistinctKeys columns_;
};

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_HBASE_FAMILY_PLANS_H_
