// SPDX-License-Identifier: Apache-2.0
//
// The facts that RocksDB gives a filter policy about an SST before writing it.

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_BUILDING_CONTEXT_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_BUILDING_CONTEXT_H_

#include <string>

#include "rdb.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"

namespace rowbloom::testing {

class BuildingContext {
 public:
  static BuildingContext Flush() {
    return BuildingContext(Reason::kFlush, 0, false);
  }
  static BuildingContext Compaction(int level) {
    return BuildingContext(Reason::kCompaction, level, false);
  }
  static BuildingContext Bottommost(int level) {
    return BuildingContext(Reason::kCompaction, level, true);
  }
  // Returns the context of an SstFileWriter.
  static BuildingContext Unknown() {
    BuildingContext result(Reason::kMisc, -1, false);
    result.context_.num_levels = -1;
    return result;
  }
  // As Unknown(), for the reason kSstFileWriter of RocksDB's pull request
  // 15085, which the headers before it lack.
  static BuildingContext SstFileWriter() {
    BuildingContext result = Unknown();
    result.context_.reason = static_cast<Reason>(4);
    return result;
  }
  BuildingContext Of(rdb::CompactionStyle style) const {
    BuildingContext result = *this;
    result.context_.compaction_style = style;
    return result;
  }
  // `logger` tells databases apart, and must outlive the result.
  BuildingContext Of(rdb::Logger* logger) const {
    BuildingContext result = *this;
    result.context_.info_log = logger;
    return result;
  }
  // `table` must outlive the result.
  BuildingContext With(const rdb::BlockBasedTableOptions* table) const {
    return BuildingContext(context_.reason, context_.level_at_creation,
                           context_.is_bottommost, *table);
  }
  BuildingContext In(const std::string& column_family_name) const {
    BuildingContext result = *this;
    result.context_.column_family_name = column_family_name;
    return result;
  }

  const rdb::FilterBuildingContext& get() const { return context_; }

 private:
  using Reason = rdb::TableFileCreationReason;

  BuildingContext(Reason reason, int level, bool is_bottommost,
                  const rdb::BlockBasedTableOptions& table = TableOptions())
      : context_(table) {
    context_.compaction_style = rdb::kCompactionStyleLevel;
    context_.num_levels = 7;
    context_.column_family_name = "default";
    context_.level_at_creation = level;
    context_.is_bottommost = is_bottommost;
    context_.reason = reason;
  }
  static const rdb::BlockBasedTableOptions& TableOptions() {
    static const auto* const options = new rdb::BlockBasedTableOptions();
    return *options;
  }

  rdb::FilterBuildingContext context_;
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_BUILDING_CONTEXT_H_
