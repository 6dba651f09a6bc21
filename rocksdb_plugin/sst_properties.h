// SPDX-License-Identifier: Apache-2.0
//
// A budget report in two steps, for a program that lists the SSTs itself and
// reads what it does not have yet.
//
//   auto missing = ReadListedProperties(db, family, listed, &properties);
//   if (missing.ok() && !missing->empty()) return ListAgain();

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_SST_PROPERTIES_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_SST_PROPERTIES_H_

#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "rdb.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/table_properties.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/rocksdb_budget.h"

namespace rowbloom::plugin {

// `path` is the one that RocksDB lists: see sst_path.h. `options` give the
// environment and the comparator. NotFound if there is no such file; other
// errors as of ReadRocksDbSst().
ROWBLOOM_EXPORT absl::StatusOr<std::shared_ptr<const rdb::TableProperties>>
ReadSstProperties(const std::string& path, const rdb::Options& options);

// Adds the properties of the listed SSTs that *properties lacks: nullptr for a
// table of LevelDB, which is an error if RocksDB cannot read some other SST.
// Returns the SSTs that are not there; other errors as above.
ROWBLOOM_EXPORT absl::StatusOr<std::set<std::string>> ReadListedProperties(
    rdb::DB* db, rdb::ColumnFamilyHandle* column_family,
    const rdb::ColumnFamilyMetaData& listed,
    rdb::TablePropertiesCollection* properties);

// ReportRocksDbBudget() of these SSTs. The filters of those without properties
// are estimated by the others.
ROWBLOOM_EXPORT absl::StatusOr<RocksDbBudgetReport> ReportBudgetOf(
    const rdb::Options& options, const rdb::ColumnFamilyMetaData& listed,
    const rdb::TablePropertiesCollection& properties, const FilterStats* stats);

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_SST_PROPERTIES_H_
