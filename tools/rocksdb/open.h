// SPDX-License-Identifier: Apache-2.0
//
// Opens a RocksDB database: for reading, with the options of its OPTIONS file
// that reads need; or with all of these, as the application does. Reading
// writes nothing to its directory.
//
// RocksDB's messages name file and offset. Corruption becomes DataLoss,
// NotSupported becomes Unimplemented.

#ifndef ROWBLOOM_TOOLS_ROCKSDB_OPEN_H_
#define ROWBLOOM_TOOLS_ROCKSDB_OPEN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb_plugin/status.h"
#include "tools/formats/paths.h"

namespace rowbloom::tools {

using plugin::FromRocksDb;

// The latest OPTIONS file of a database.
class OptionsFile {
 public:
  explicit OptionsFile(const std::string& directory);

  // Says why the file cannot be read; empty if it was read.
  const std::string& error() const { return error_; }
  // nullptr if the file does not have the column family.
  const ROCKSDB_NAMESPACE::ColumnFamilyOptions* Find(
      const std::string& column_family) const;
  const std::string& name() const { return name_; }
  // The text of an option of the block based table; empty if absent.
  std::string TableOption(const std::string& column_family,
                          std::string_view name) const;
  // Returns the text of an option of the database; empty if absent.
  std::string DbOption(std::string_view name) const;

 private:
  std::string OptionOf(const std::string& header, std::string_view name) const;

  std::string name_;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyDescriptor> families_;
  std::string text_;
  std::string error_;
};

// All column families of a database.
struct OpenedDb {
  OpenedDb() = default;
  OpenedDb(OpenedDb&&) = default;
  OpenedDb& operator=(OpenedDb&&) = delete;
  ~OpenedDb();

  std::unique_ptr<ROCKSDB_NAMESPACE::DB> db;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*> families;
};

// Opens with comparators and numbers of levels of the OPTIONS file; `configure`
// may set further options of a column family. SSTs are looked for in all
// directories of the place. InvalidArgument for a database that is not
// RocksDB's, or not in plain files: see database_kind.h. FailedPrecondition for
// one with SSTs in a directory that the place does not name.
absl::StatusOr<OpenedDb> OpenReadOnly(
    const DatabasePlace& place, const OptionsFile& options_file,
    const ROCKSDB_NAMESPACE::DBOptions& options,
    const std::function<void(ROCKSDB_NAMESPACE::ColumnFamilyDescriptor*)>&
        configure = nullptr);

// Returns the numbers of the SSTs in a directory.
std::set<uint64_t> SstNumbersIn(const std::string& directory);

// All options of the latest OPTIONS file. InvalidArgument if it names anything
// that this tool does not know, such as a merge operator or a listener of the
// application: files that it wrote without it would be wrong.
// FailedPrecondition if its wal_dir is another directory than the database's,
// which a copy shares with its original, unless `wal_dir` replaces it.
struct AllOptions {
  ROCKSDB_NAMESPACE::DBOptions db;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyDescriptor> families;
};
absl::StatusOr<AllOptions> LoadAllOptions(const std::string& directory,
                                          const std::string& wal_dir);

// Opens with these, for writing or `for_reading` alone. Unavailable if another
// process has it open for writing. FailedPrecondition for a database whose SSTs
// are not all in its directory: a writer must know where new ones belong; and
// if its MANIFEST lists none of them: RocksDB would delete them.
absl::StatusOr<OpenedDb> OpenWith(const std::string& directory,
                                  AllOptions options, bool for_reading);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_ROCKSDB_OPEN_H_
