// SPDX-License-Identifier: Apache-2.0

#include "mini_kv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "coding.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_spec.h"

namespace mini_kv {
namespace {

constexpr uint64_t kMaxLevelRatio = 1000;
constexpr char kLogName[] = "/LOG";
constexpr char kNextLogName[] = "/LOG.tmp";
constexpr uint32_t kVersion = 1;

// The log's first record: version (4), next number (8), then level (4) and
// number (8) of each SST.
std::string TreePayload(uint64_t next_number, const Levels& levels) {
  std::string payload;
  AppendFixed(kVersion, &payload);
  AppendFixed(next_number, &payload);
  for (uint32_t level = 0; level < kLevelCount; ++level) {
    for (const auto& sst : levels[level]) {
      AppendFixed(level, &payload);
      AppendFixed(sst->number(), &payload);
    }
  }
  return payload;
}

absl::StatusOr<std::vector<std::string>> SstsIn(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator it(directory, error);
  for (; !error && it != end(it); it.increment(error)) {
    if (it->path().extension() == ".sst") paths.push_back(it->path().string());
  }
  if (error) return absl::ErrnoToStatus(error.value(), directory + ": list");
  return paths;
}

}  // namespace

MiniKv::MiniKv(const Options& options, const std::string& directory)
    : options_(options),
      directory_(directory),
      memtable_(options.memtable_size_bytes) {
  if (options_.filter_cache == nullptr) {
    own_cache_ = rowbloom::NewShardedLruCache({});
    options_.filter_cache = own_cache_.get();
  }
}

MiniKv::~MiniKv() {
  if (directory_fd_ >= 0) close(directory_fd_);
}

// ---------------------------------------------------------------- open

absl::StatusOr<std::unique_ptr<MiniKv>> MiniKv::Open(
    const Options& options, const std::string& directory) {
  absl::Status status = rowbloom::ValidateFilterOptions(options.filter);
  if (!status.ok()) return status;
  if (options.level0_file_limit < 1 || options.level_ratio < 1 ||
      options.level_ratio > kMaxLevelRatio) {
    return absl::InvalidArgumentError(
        "level0_file_limit must be at least 1, level_ratio 1 to " +
        std::to_string(kMaxLevelRatio));
  }
  std::unique_ptr<MiniKv> store(new MiniKv(options, directory));
  if (options.filter_budget) {
    const auto cost =
        rowbloom::FilterCost::OfFamily(options.filter.filter_spec.family());
    if (!cost.ok()) return cost.status();
    const auto budget =
        rowbloom::FileBudget::Create(*cost, *options.filter_budget);
    if (!budget.ok()) return budget.status();
    store->filter_budget_ = *budget;
  }
  status = store->Recover();
  if (!status.ok()) return status;
  return store;
}

absl::Status MiniKv::Recover() {
  if (options_.create_if_missing && mkdir(directory_.c_str(), 0755) < 0 &&
      errno != EEXIST) {
    return ErrnoStatus(directory_ + ": mkdir");
  }
  directory_fd_ = open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_fd_ < 0) return ErrnoStatus(directory_ + ": open");
  // The system frees the lock of a dead process.
  if (flock(directory_fd_, LOCK_EX | LOCK_NB) < 0) {
    return absl::FailedPreconditionError(
        directory_ + ": the store is open in another process");
  }

  bool has_tree = false;
  absl::Status status;
  auto log = Log::Open(directory_ + kLogName, [&](std::string_view payload) {
    if (!std::exchange(has_tree, true)) return TakeTree(payload, &status);
    Cell cell;
    if (!TakeCell(&payload, &cell) || !payload.empty()) return false;
    memtable_.Set(cell);
    return true;
  });
  if (!status.ok()) return status;
  if (absl::IsNotFound(log.status()) && options_.create_if_missing) {
    const auto ssts = SstsIn(directory_);
    if (!ssts.ok()) return ssts.status();
    return ssts->empty()
               ? Commit({})
               : absl::DataLossError(directory_ + ": has SSTs but no log");
  }
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  // The process that renamed the log may have died before the rename was
  // durable. If the previous log came back, it would not have the writes that
  // now follow.
  status = SyncDirectory();
  if (status.ok()) status = TellBudget();
  return status.ok() ? RemoveUnnamedSsts() : status;
}

bool MiniKv::TakeTree(std::string_view payload, absl::Status* status) {
  uint32_t version = 0;
  if (!TakeFixed(&payload, &version) || version != kVersion ||
      !TakeFixed(&payload, &next_number_)) {
    return false;
  }
  while (!payload.empty()) {
    uint32_t level = 0;
    uint64_t number = 0;
    if (!TakeFixed(&payload, &level) || !TakeFixed(&payload, &number) ||
        level >= kLevelCount) {
      return false;
    }
    *status = OpenSst(number, level, &levels_[level]);
    if (!status->ok()) return false;
  }
  return true;
}

// Removes the SSTs that were unfinished at a crash, or are merged.
absl::Status MiniKv::RemoveUnnamedSsts() const {
  std::set<std::string> named;
  for (const Level& level : levels_) {
    for (const auto& sst : level) {
      named.insert(SstPath(directory_, sst->number()));
    }
  }
  const auto ssts = SstsIn(directory_);
  if (!ssts.ok()) return ssts.status();
  for (const std::string& path : *ssts) {
    if (named.count(path) == 0 && unlink(path.c_str()) < 0) {
      return ErrnoStatus(path + ": remove");
    }
  }
  return absl::OkStatus();
}

// ---------------------------------------------------------------- writes

absl::Status MiniKv::Put(std::string_view row, std::string_view qualifier,
                         std::string_view value) {
  return Write({{row, qualifier}, value});
}

absl::Status MiniKv::Delete(std::string_view row, std::string_view qualifier) {
  return Write({{row, qualifier}, std::nullopt});
}

absl::Status MiniKv::Write(const Cell& cell) {
  if (cell.key.row.size() > kMaxKeySize ||
      cell.key.qualifier.size() > kMaxKeySize - cell.key.row.size()) {
    return absl::InvalidArgumentError("row and qualifier exceed " +
                                      std::to_string(kMaxKeySize) + " bytes");
  }
  if (cell.value && cell.value->size() > kMaxValueSize) {
    return absl::InvalidArgumentError("value exceeds " +
                                      std::to_string(kMaxValueSize) + " bytes");
  }
  // Makes room first: if this fails the cell was not written at all.
  absl::Status& status = write_status_;
  if (memtable_.size_bytes() >= options_.memtable_size_bytes) {
    Flush().IgnoreError();
  }
  std::string payload;
  AppendCell(cell, &payload);
  if (status.ok()) status = log_->Append(payload);
  if (status.ok()) memtable_.Set(cell);
  return status;
}

absl::Status MiniKv::Flush() {
  absl::Status& status = write_status_;
  if (status.ok()) status = FlushMemtable();
  while (status.ok()) {
    const auto compaction = PickCompaction(options_, levels_);
    if (!compaction) break;
    status = RunCompaction(*compaction);
  }
  return status;
}

absl::Status MiniKv::Compact() {
  absl::Status& status = write_status_;
  Flush().IgnoreError();
  const Compaction compaction = WholeCompaction(levels_);
  if (status.ok() && !compaction.inputs.empty()) {
    status = RunCompaction(compaction);
  }
  return status;
}

absl::Status MiniKv::FlushMemtable() {
  if (memtable_.empty()) return absl::OkStatus();
  CellIterators sources;
  sources.push_back(memtable_.NewIterator({}));
  rowbloom::FileFacts facts;
  facts.is_flush = true;
  const auto numbers = WriteSsts(
      sources, /*drops_tombstones=*/false, std::numeric_limits<uint64_t>::max(),
      {directory_, &next_number_, FilterFor(facts)}, options_);
  if (!numbers.ok()) return numbers.status();
  Level newest;
  absl::Status status = OpenSst(numbers->front(), 0, &newest);
  if (!status.ok()) return status;
  Levels levels = levels_;
  levels[0].insert(levels[0].begin(), newest.front());
  status = Commit(levels);
  if (status.ok()) memtable_ = Memtable(options_.memtable_size_bytes);
  return status;
}

// The memtable is empty: a flush came before.
absl::Status MiniKv::RunCompaction(const Compaction& compaction) {
  ReadStats not_of_gets;
  CellIterators sources;
  for (const auto& sst : compaction.inputs) {
    sources.push_back(sst->NewIterator({}, &not_of_gets));
  }
  const auto numbers = WriteSsts(
      sources, compaction.drops_tombstones, options_.file_size_bytes,
      {directory_, &next_number_, FilterFor(FactsOf(levels_, compaction))},
      options_);
  if (!numbers.ok()) return numbers.status();
  Level outputs;
  for (const uint64_t number : *numbers) {
    absl::Status status = OpenSst(number, compaction.output_level, &outputs);
    if (!status.ok()) return status;
  }
  return Commit(AfterCompaction(levels_, compaction, outputs));
}

absl::Status MiniKv::OpenSst(uint64_t number, size_t level, Level* ssts) {
  auto sst = SstReader::Open(
      SstPath(directory_, number), number,
      {options_.filter_cache, &filter_stats_, static_cast<int>(level)});
  if (sst.ok()) ssts->push_back(*std::move(sst));
  return sst.status();
}

// All SSTs are synced. Their names are, too, before the log is renamed, and its
// own name before anything relies on it. After an error either log may be the
// one that is found.
absl::Status MiniKv::Commit(const Levels& levels) {
  const std::string next = directory_ + kNextLogName;
  const std::string path = directory_ + kLogName;
  auto log = Log::Create(next, TreePayload(next_number_, levels));
  if (!log.ok()) return log.status();
  absl::Status status = SyncDirectory();
  if (!status.ok()) return status;
  if (std::rename(next.c_str(), path.c_str()) < 0) {
    return ErrnoStatus(next + ": rename");
  }
  status = SyncDirectory();
  if (!status.ok()) return status;
  log_ = *std::move(log);
  levels_ = levels;
  status = TellBudget();
  return status.ok() ? RemoveUnnamedSsts() : status;
}

absl::Status MiniKv::SyncDirectory() const {
  return fsync(directory_fd_) < 0 ? ErrnoStatus(directory_ + ": fsync")
                                  : absl::OkStatus();
}

absl::Status MiniKv::TellBudget() {
  return filter_budget_ ? filter_budget_->SetLive(LiveFiltersOf(levels_))
                        : absl::OkStatus();
}

rowbloom::FilterOptions MiniKv::FilterFor(
    const rowbloom::FileFacts& facts) const {
  rowbloom::FilterOptions filter = options_.filter;
  if (!filter_budget_) return filter;
  const double bits = filter_budget_->ForFile(facts).builder_bits;
  if (bits == 0) {
    filter.bloom_type = rowbloom::BloomType::kNone;
  } else {
    filter.filter_spec =
        rowbloom::FilterSpec::BitsPerKey(filter.filter_spec.family(), bits);
  }
  return filter;
}

// ---------------------------------------------------------------- reads

bool MiniKv::MustRead(const SstReader& sst, const rowbloom::FilterKey& key) {
  if (!sst.Covers(key.row())) return false;
  ++stats_.ssts_considered;
  if (sst.MayContain(key)) return true;
  ++stats_.ssts_skipped;
  return false;
}

absl::StatusOr<std::optional<std::string>> MiniKv::Get(
    std::string_view row, std::string_view qualifier) {
  // Hashed once, for the memtable and all SSTs.
  const auto key = rowbloom::FilterKey::RowCol(row, qualifier);
  if (!memtable_.MayContain(key)) {
    ++stats_.memtable_skips;
  } else if (const auto* value = memtable_.Find({row, qualifier})) {
    return *value;
  }
  for (const Level& level : levels_) {
    for (const auto& sst : level) {
      if (!MustRead(*sst, key)) continue;
      std::optional<std::string> value;
      const auto found = sst->Get({row, qualifier}, &value, &stats_.reads);
      if (!found.ok()) return found.status();
      sst->TellOutcome(key, *found);
      if (*found) return value;  // Newest first: other SSTs do not matter.
    }
  }
  return std::nullopt;
}

absl::Status MiniKv::ScanRow(std::string_view row, const CellVisitor& visit) {
  const auto key = rowbloom::FilterKey::Row(row);
  const CellKey from = {row, {}};
  CellIterators sources;
  if (memtable_.MayContain(key)) {
    sources.push_back(memtable_.NewIterator(from));
  } else {
    ++stats_.memtable_skips;
  }
  for (const Level& level : levels_) {
    for (const auto& sst : level) {
      if (!MustRead(*sst, key)) continue;
      auto cells = sst->NewIterator(from, &stats_.reads);
      if (!cells->status().ok()) return cells->status();
      sst->TellOutcome(key, cells->Valid() && cells->cell().key.row == row);
      sources.push_back(std::move(cells));
    }
  }
  return MergeCells(sources, [&](const Cell& cell) {
    return cell.key.row == row && (!cell.value || visit(cell));
  });
}

absl::StatusOr<bool> MiniKv::RowExists(std::string_view row) {
  bool exists = false;
  const absl::Status status =
      ScanRow(row, [&](const Cell&) { return !(exists = true); });
  if (!status.ok()) return status;
  return exists;
}

absl::Status MiniKv::Scan(const CellVisitor& visit) {
  CellIterators sources;
  sources.push_back(memtable_.NewIterator({}));
  for (const Level& level : levels_) {
    for (const auto& sst : level) {
      sources.push_back(sst->NewIterator({}, &stats_.reads));
    }
  }
  return MergeCells(
      sources, [&](const Cell& cell) { return !cell.value || visit(cell); });
}

// ---------------------------------------------------------------- inspection

Stats MiniKv::stats() const {
  Stats stats = stats_;
  stats.filters = filter_stats_.Snapshot();
  for (const Level& level : levels_) {
    for (const auto& sst : level) {
      if (!sst->filter_status().ok()) ++stats.unreadable_filters;
    }
  }
  return stats;
}

std::vector<LevelStats> MiniKv::levels() const {
  std::vector<LevelStats> levels;
  for (const Level& level : levels_) {
    LevelStats& stats = levels.emplace_back();
    for (const auto& sst : level) {
      stats.ssts += 1;
      stats.cells += sst->cell_count();
      stats.data_blocks += sst->block_count();
      stats.data_bytes += sst->data_bytes();
      stats.filter_bytes += sst->filter_bytes();
    }
  }
  return levels;
}

}  // namespace mini_kv
