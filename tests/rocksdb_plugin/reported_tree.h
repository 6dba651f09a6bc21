// SPDX-License-Identifier: Apache-2.0
//
// A live tree as a budget listener has reported it, and the contexts of SSTs
// that are written into it.
//
//   ReportedTree tree({{1000}, {10000}, {100000}});  // Levels 1 to 3.
//   policy.GetBuilderWithContext(tree.In(Context::Compaction(2)).get());

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_REPORTED_TREE_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_REPORTED_TREE_H_

#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <memory>
#include <vector>

#include "budget/database_id.h"
#include "budget/live_tree.h"
#include "rocksdb/env.h"
#include "rocksdb_plugin/building_context.h"

namespace rowbloom::testing {

class ReportedTree {
 public:
  // The newest run is in level 1. Filters have `bits` for each key.
  explicit ReportedTree(const std::vector<TreeRun>& runs, uint64_t bits = 10)
      : tree_(plugin::LiveTrees::FindOrAdd(
            plugin::DatabaseOf(In(BuildingContext::Flush()).get()), logger_,
            "default")) {
    // Compactions of this tree rewrite their SSTs.
    tree_->SetFiles(0, {{1, FileOf(0, 1, bits)}}, std::chrono::milliseconds(0));
    for (int level = 1; level < 4; ++level, ++last_number_) {
      tree_->CompactionCompleted(level, true, {last_number_},
                                 {{last_number_ + 1, FileOf(level, 1, bits)}});
    }
    SetRuns(runs, bits);
  }

  void SetRuns(const std::vector<TreeRun>& runs, uint64_t bits = 10) {
    plugin::LiveFiles files;
    for (size_t i = 0; i < runs.size(); ++i) {
      files[++last_number_] =
          FileOf(static_cast<int>(i) + 1, runs[i].key_count, bits);
    }
    tree_->SetFiles(tree_->changes(), files, std::chrono::milliseconds(0));
  }

  // Half the keys of each run are in an SST without a filter.
  void SetHalfFilteredRuns(const std::vector<TreeRun>& runs, uint64_t bits) {
    plugin::LiveFiles files;
    for (size_t i = 0; i < runs.size(); ++i) {
      const int level = static_cast<int>(i) + 1;
      const uint64_t half = runs[i].key_count / 2;
      files[++last_number_] = FileOf(level, half, bits);
      files[++last_number_] = FileOf(level, half, 0);
    }
    tree_->SetFiles(tree_->changes(), files, std::chrono::milliseconds(0));
  }

  // Flushes so many keys that the gets before weigh nothing, and has these runs
  // then.
  void WriteAnew(const std::vector<TreeRun>& runs) {
    constexpr uint64_t kManyKeys = 1'000'000'000;
    tree_->FlushCompleted(++last_number_, FileOf(0, kManyKeys, 10));
    SetRuns(runs);
  }

  // Its gets have counted this since it was opened.
  void ObserveGets(const plugin::GetCounts& counts) {
    tree_->ObserveGets({});
    tree_->ObserveGets(counts);
  }

  std::shared_ptr<const plugin::LiveTree> get() const { return tree_; }
  BuildingContext In(const BuildingContext& context) const {
    return context.Of(logger_.get());
  }

  static constexpr uint64_t kRawKeyBytes = 24;
  static constexpr uint64_t kRawValueBytes = 100;

 private:
  class SilentLogger : public rdb::Logger {
   public:
    using Logger::Logv;
    void Logv(const char* /*format*/, va_list /*arguments*/) override {}
  };

  static plugin::LiveFile FileOf(int level, uint64_t keys, uint64_t bits) {
    plugin::LiveFile file;
    file.level = level;
    file.size_bytes = keys;
    file.filter =
        plugin::FileFilter{keys, keys, keys * bits / 8, kRawKeyBytes * keys,
                           kRawValueBytes * keys};
    return file;
  }

  const std::shared_ptr<rdb::Logger> logger_ = std::make_shared<SilentLogger>();
  const std::shared_ptr<plugin::LiveTree> tree_;
  uint64_t last_number_ = 1;
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_REPORTED_TREE_H_
