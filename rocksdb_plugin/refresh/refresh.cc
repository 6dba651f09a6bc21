// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "refresh/budget_teller.h"
#include "refresh/refresh_plan.h"
#include "release.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"
#include "rocksdb/options.h"
#include "rowbloom/rocksdb_refresh.h"
#include "status.h"

namespace rowbloom {

using plugin::BudgetTeller;
using plugin::CheckRocksDbRelease;
using plugin::FileFilter;
using plugin::FromRocksDb;
using plugin::LiveFile;
using plugin::PlanRefresh;
using plugin::RefreshPlan;

namespace {

using Clock = std::chrono::steady_clock;

// The number of the path that the SST is in, which CompactFiles() has to know
// if a column family has several.
int PathIdOf(const rdb::Options& options, const std::string& sst) {
  const std::vector<rdb::DbPath>& paths =
      options.cf_paths.empty() ? options.db_paths : options.cf_paths;
  const std::string directory = sst.substr(0, sst.rfind('/'));
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].path == directory) return static_cast<int>(i);
  }
  return 0;
}

class Refresher {
 public:
  Refresher(rdb::DB* db, rdb::ColumnFamilyHandle* column_family,
            const RocksDbRefreshOptions& refresh, BudgetTeller* teller)
      : db_(*db),
        column_family_(column_family),
        options_(db->GetOptions(column_family)),
        refresh_(refresh),
        teller_(*teller) {}

  void Run(RefreshPlan* plan) {
    RocksDbRefreshReport& report = plan->report;
    for (size_t i = 0; i < plan->ssts.size(); ++i) {
      if (!MayGoOn(report)) return;
      const auto& [number, live] = plan->ssts[i];
      Rewrite(number, live, &report.files[i]);
      ++report.done;
      if (report.files[i].result == RocksDbRefreshResult::kFailed) return;
    }
  }

 private:
  // Waits until the bytes so far are within the limit. False if the caller
  // wants to stop.
  bool MayGoOn(const RocksDbRefreshReport& report) const {
    constexpr std::chrono::duration<double> kPause(0.1);
    while (true) {
      if (refresh_.progress && !refresh_.progress(report)) return false;
      if (refresh_.max_bytes_per_second == 0) return true;
      const std::chrono::duration<double> due(
          static_cast<double>(bytes_) /
          static_cast<double>(refresh_.max_bytes_per_second));
      const std::chrono::duration<double> rest = due - (Clock::now() - start_);
      if (rest.count() <= 0) return true;
      std::this_thread::sleep_for(std::min(rest, kPause));
    }
  }

  void Rewrite(uint64_t number, const LiveFile& live,
               RocksDbRefreshFile* file) {
    rdb::CompactionOptions compaction;
    // The column family's for this level.
    compaction.compression = rdb::kDisableCompressionOption;
    // An SST stays one, even if it is not compressed any more; of neighbours
    // that it shares a key with, several.
    const FileFilter filter = live.filter.value_or(FileFilter());
    compaction.output_file_size_limit =
        live.size_bytes + filter.raw_key_bytes + filter.raw_value_bytes;
    compaction.max_subcompactions = 1;
    rdb::CompactionJobInfo info;
    const int job = teller_.Begin(number, live);
    const rdb::Status status =
        db_.CompactFiles(compaction, column_family_, {live.path}, live.level,
                         PathIdOf(options_, live.path), nullptr, &info);
    file->status = FromRocksDb(status);
    if (status.ok()) {
      file->result = RocksDbRefreshResult::kRewritten;
      file->read_bytes = info.stats.total_input_bytes;
      file->written_bytes = info.stats.total_output_bytes;
      file->written_bits_per_key = WrittenBits(info);
      bytes_ += file->read_bytes + file->written_bytes;
    } else {
      file->read_bytes = file->written_bytes = 0;
      file->result = status.IsAborted() || status.IsInvalidArgument()
                         ? RocksDbRefreshResult::kSkipped
                         : RocksDbRefreshResult::kFailed;
    }
    teller_.End(job, status, info);
  }

  static double WrittenBits(const rdb::CompactionJobInfo& info) {
    double bits = 0;
    double keys = 0;
    for (const std::string& path : info.output_files) {
      const auto properties = info.table_properties.find(path);
      if (properties == info.table_properties.end() ||
          properties->second == nullptr) {
        continue;
      }
      bits += 8 * static_cast<double>(properties->second->filter_size);
      keys += static_cast<double>(properties->second->num_filter_entries);
    }
    return keys > 0 ? bits / keys : 0;
  }

  rdb::DB& db_;
  rdb::ColumnFamilyHandle* const column_family_;
  const rdb::Options options_;
  const RocksDbRefreshOptions& refresh_;
  BudgetTeller& teller_;
  const Clock::time_point start_ = Clock::now();
  uint64_t bytes_ = 0;
};

// Returns FailedPrecondition for a database that is open for reading only. Each
// kind of these refuses to ingest; a writer says that there is nothing to
// ingest.
absl::Status CheckIsWriter(rdb::DB* db, rdb::ColumnFamilyHandle* family) {
  const rdb::Status status =
      db->IngestExternalFile(family, std::vector<std::string>(), {});
  if (!status.IsNotSupported()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the database is open for reading only, or as a secondary: " +
      status.ToString());
}

template <uint64_t RocksDbRefreshFile::*kBytes>
uint64_t SumOf(const RocksDbRefreshReport& report,
               RocksDbRefreshResult result) {
  uint64_t sum = 0;
  for (const RocksDbRefreshFile& file : report.files) {
    if (file.result == result) sum += file.*kBytes;
  }
  return sum;
}

}  // namespace

std::string_view RocksDbRefreshResultName(RocksDbRefreshResult result) {
  constexpr std::string_view kNames[] = {"planned", "rewritten", "skipped",
                                         "failed"};
  const auto number = static_cast<size_t>(result);
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

uint64_t RocksDbRefreshReport::CountOf(RocksDbRefreshResult result) const {
  return std::count_if(files.begin(), files.end(),
                       [result](const RocksDbRefreshFile& file) {
                         return file.result == result;
                       });
}

uint64_t RocksDbRefreshReport::ReadBytes(RocksDbRefreshResult result) const {
  return SumOf<&RocksDbRefreshFile::read_bytes>(*this, result);
}

uint64_t RocksDbRefreshReport::WrittenBytes(RocksDbRefreshResult result) const {
  return SumOf<&RocksDbRefreshFile::written_bytes>(*this, result);
}

absl::StatusOr<RocksDbRefreshReport> RefreshRocksDbFilters(
    rdb::DB* db, rdb::ColumnFamilyHandle* column_family,
    const RocksDbRefreshOptions& options) {
  if (const absl::Status& s = CheckRocksDbRelease(); !s.ok()) return s;
  if (!options.dry_run) {
    if (absl::Status s = CheckIsWriter(db, column_family); !s.ok()) return s;
  }
  BudgetTeller teller(db, column_family);
  absl::StatusOr<RefreshPlan> plan =
      PlanRefresh(db, column_family, options, &teller);
  if (!plan.ok()) return plan.status();
  if (options.dry_run) return std::move(plan->report);
  Refresher(db, column_family, options, &teller).Run(&*plan);
  return std::move(plan->report);
}

}  // namespace rowbloom
