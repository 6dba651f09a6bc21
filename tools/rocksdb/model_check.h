// SPDX-License-Identifier: Apache-2.0
//
// Compares the answers of filters that were counted with those that the model
// of get_cost.h expects: advice by a model that does not know the filters of a
// tree would be wrong.
//
//   if (const auto excess = ExcessOverModel(counts, tree, zipf)) {
//     excess->counted.false_positives;  // Far above excess->expected.
//   }

#ifndef ROWBLOOM_TOOLS_ROCKSDB_MODEL_CHECK_H_
#define ROWBLOOM_TOOLS_ROCKSDB_MODEL_CHECK_H_

#include <optional>
#include <string>

#include "tools/rocksdb/read_counts.h"
#include "tools/rocksdb/tree.h"
#include "tools/text/output.h"

namespace rowbloom::tools {

struct ModelExcess {
  AbsentAnswers counted;
  double expected = 0;  // False positives in as many lookups, at most.

  Json ToJson() const;
  // A sentence for the database at `path`.
  std::string ToString(const std::string& path) const;
};

// nullopt unless more false positives were counted than the model and chance
// explain. `zipf_exponent`: that of the gets, for counts of statistics.
std::optional<ModelExcess> ExcessOverModel(const ReadCounts& counts,
                                           const RocksDbTree& tree,
                                           double zipf_exponent);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_ROCKSDB_MODEL_CHECK_H_
