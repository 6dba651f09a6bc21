// SPDX-License-Identifier: Apache-2.0

#include "mini_kv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
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

constexpr char kLogName[] = "/LOG";
constexpr char kNextLogName[] = "/LOG.tmp";

// The log's first record: next number (8), then level (4) and number (8) of
// each SST.
std::string TreePayload(uint64_t next_number, const Tree& tree) {
  std::string payload;
  AppendFixed(next_number, &payload);
  for (const auto& sst : tree) {
    AppendFixed(static_cast<uint32_t>(sst->level()), &payload);
    AppendFixed(sst->number(), &payload);
  }
  return payload;
}

std::string SstPath(const std::string& directory, uint64_t number) {
  return directory + "/" + std::to_string(number) + ".sst";
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

absl::StatusOr<std::unique_ptr<MiniKv>> MiniKv::Open(
    const Options& options, const std::string& directory) {
  absl::Status status = rowbloom::ValidateFilterOptions(options.filter);
  if (!status.ok()) return status;
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
  if (mkdir(directory_.c_str(), 0755) < 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, directory_ + ": mkdir");
  }
  directory_fd_ = open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_fd_ < 0) {
    return absl::ErrnoToStatus(errno, directory_ + ": open");
  }
  // The system frees the lock of a dead process.
  if (flock(directory_fd_, LOCK_EX | LOCK_NB) < 0) {
    return absl::FailedPreconditionError(
        directory_ + ": the store is open in another process");
  }

  bool has_tree = false;
  auto log = Log::Open(directory_ + kLogName, [&](std::string_view payload) {
    if (!std::exchange(has_tree, true)) return OpenTree(payload);
    Cell cell;
    if (!TakeCell(&payload, &cell)) return absl::DataLossError("not a cell");
    memtable_.Set(cell);
    return absl::OkStatus();
  });
  if (absl::IsNotFound(log.status())) {
    const auto ssts = SstsIn(directory_);
    if (!ssts.ok()) return ssts.status();
    return ssts->empty()
               ? Commit({})
               : absl::DataLossError(directory_ + ": has SSTs but no log");
  }
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  // The process that renamed this log may have died before its name was
  // durable.
  return Settle();
}

absl::Status MiniKv::OpenTree(std::string_view payload) {
  uint32_t level = 0;
  uint64_t number = 0;
  TakeFixed(&payload, &next_number_);
  while (TakeFixed(&payload, &level) && TakeFixed(&payload, &number)) {
    auto sst = SstReader::Open(SstPath(directory_, number), number,
                               ReaderOptions(static_cast<int>(level)));
    if (!sst.ok()) return sst.status();
    tree_.push_back(*std::move(sst));
  }
  return absl::OkStatus();
}

absl::Status MiniKv::Put(std::string_view row, std::string_view qualifier,
                         std::string_view value) {
  return Write({{row, qualifier}, value});
}

absl::Status MiniKv::Delete(std::string_view row, std::string_view qualifier) {
  return Write({{row, qualifier}, std::nullopt});
}

absl::Status MiniKv::Write(const Cell& cell) {
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
  if (status.ok() && !memtable_.empty()) {
    CellIterators cells;
    cells.push_back(memtable_.NewIterator({}));
    status = Run(Compaction(), std::move(cells));
    if (status.ok()) memtable_ = Memtable(options_.memtable_size_bytes);
  }
  while (status.ok()) {
    const auto compaction =
        PickCompaction(tree_, options_.level1_size_bytes, options_.level_ratio);
    if (!compaction) break;
    status = Run(*compaction, {});
  }
  return status;
}

absl::Status MiniKv::Compact() {
  absl::Status& status = write_status_;
  Flush().IgnoreError();
  if (status.ok() && !tree_.empty()) {
    status = Run({0, tree_.end() - tree_.begin(), kLastLevel}, {});
  }
  return status;
}

absl::Status MiniKv::Run(const Compaction& compaction, CellIterators sources) {
  Tree tree = tree_;
  const auto begin = tree.begin() + compaction.begin;
  const auto end = tree.begin() + compaction.end;
  // A tombstone may go if nothing older is left for it to hide.
  const bool drops_tombstones = end == tree.end();
  ReadStats not_of_gets;
  for (auto it = begin; it != end; ++it) {
    sources.push_back((*it)->NewIterator({}, &not_of_gets));
  }
  // Place 5. The writer makes a new filter, of the cells that are left.
  const uint64_t number = next_number_++;
  SstWriter writer(SstPath(directory_, number),
                   FilterFor(FactsOf(tree_, compaction)),
                   options_.block_size_bytes, options_.filter_cache);
  absl::Status status = MergeCells(sources, [&](const Cell& cell) {
    return (drops_tombstones && !cell.value) || writer.Add(cell).ok();
  });
  if (!status.ok()) return status;
  const auto replaced = tree.erase(begin, end);
  if (writer.cell_count() != 0) {
    status = writer.Finish();
    if (!status.ok()) return status;
    auto sst = SstReader::Open(SstPath(directory_, number), number,
                               ReaderOptions(compaction.output_level), writer);
    if (!sst.ok()) return sst.status();
    tree.insert(replaced, *std::move(sst));
  }
  return Commit(tree);
}

rowbloom::FilterReaderOptions MiniKv::ReaderOptions(int level) {
  rowbloom::FilterReaderOptions options;
  options.cache = options_.filter_cache;
  options.stats = &filter_stats_;
  options.level = level;
  return options;
}

// All SSTs are synced. Their names are, too, before the log is renamed, and its
// own name before an SST is removed or a cell is appended. After an error
// either log may be the one that is found.
absl::Status MiniKv::Commit(const Tree& tree) {
  const std::string next = directory_ + kNextLogName;
  const std::string path = directory_ + kLogName;
  auto log = Log::Create(next, TreePayload(next_number_, tree));
  if (!log.ok()) return log.status();
  absl::Status status = SyncDirectory();
  if (!status.ok()) return status;
  if (std::rename(next.c_str(), path.c_str()) < 0) {
    return absl::ErrnoToStatus(errno, next + ": rename");
  }
  log_ = *std::move(log);
  tree_ = tree;
  return Settle();
}

std::optional<double> MiniKv::AskedGets::TakeMissingShare() {
  constexpr double kFewest = 1000;
  if (asked < kFewest) return std::nullopt;
  const double share = missed / asked;
  asked /= 2;
  missed /= 2;
  return share;
}

absl::Status MiniKv::Settle() {
  absl::Status status = SyncDirectory();
  if (status.ok() && filter_budget_) {
    rowbloom::LiveFilters live = LiveFiltersOf(tree_);
    live.missing_share = gets_.TakeMissingShare();
    status = filter_budget_->SetLive(live);
  }
  if (!status.ok()) return status;
  const auto ssts = SstsIn(directory_);
  if (!ssts.ok()) return ssts.status();
  for (const std::string& path : *ssts) {
    const bool is_named =
        std::any_of(tree_.begin(), tree_.end(), [&](const auto& sst) {
          return SstPath(directory_, sst->number()) == path;
        });
    if (!is_named && unlink(path.c_str()) < 0) {
      return absl::ErrnoToStatus(errno, path + ": remove");
    }
  }
  return absl::OkStatus();
}

absl::Status MiniKv::SyncDirectory() const {
  if (fsync(directory_fd_) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, directory_ + ": fsync");
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

std::vector<const SstReader*> MiniKv::SstsToRead(
    const rowbloom::FilterKey& key) {
  std::vector<const SstReader*> ssts;
  std::vector<rowbloom::FilterQuestion> questions;
  for (const auto& sst : tree_) {
    if (!sst->Covers(key.row())) continue;
    ssts.push_back(sst.get());
    if (sst->filter() != nullptr) questions.push_back({sst->filter(), &key});
  }
  stats_.ssts_considered += ssts.size();
  const auto may_contain = std::make_unique<bool[]>(questions.size());
  rowbloom::FilterReader::MayContain(questions, may_contain.get());
  const bool* answer = may_contain.get();
  const auto end =
      std::remove_if(ssts.begin(), ssts.end(), [&](const SstReader* sst) {
        return sst->filter() != nullptr && !*answer++;
      });
  stats_.ssts_skipped += static_cast<uint64_t>(ssts.end() - end);
  ssts.erase(end, ssts.end());
  return ssts;
}

absl::StatusOr<std::optional<std::string>> MiniKv::Get(
    std::string_view row, std::string_view qualifier) {
  using Value = std::optional<std::string>;  // None: a tombstone.
  const CellKey cell = {row, qualifier};
  const auto is_there = [&](const CellIterator& cells) {
    return cells.Valid() && cells.cell().key == cell;
  };
  // Place 3. Hashed once, for the memtable and all SSTs.
  const auto key = rowbloom::FilterKey::RowCol(row, qualifier);
  if (!memtable_.MayContain(key)) {
    ++stats_.memtable_skips;
  } else if (const auto cells = memtable_.NewIterator(cell); is_there(*cells)) {
    return Value(cells->cell().value);
  }
  gets_.asked += 1;
  for (const SstReader* const sst : SstsToRead(key)) {
    const auto cells = sst->NewIterator(cell, &stats_.reads);
    if (!cells->status().ok()) return cells->status();
    sst->TellOutcome(is_there(*cells));
    // Newest first: other SSTs do not matter.
    if (is_there(*cells)) return Value(cells->cell().value);
  }
  gets_.missed += 1;
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
  for (const SstReader* const sst : SstsToRead(key)) {
    auto cells = sst->NewIterator(from, &stats_.reads);
    if (!cells->status().ok()) return cells->status();
    sst->TellOutcome(cells->Valid() && cells->cell().key.row == row);
    sources.push_back(std::move(cells));
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
  for (const auto& sst : tree_) {
    sources.push_back(sst->NewIterator({}, &stats_.reads));
  }
  return MergeCells(
      sources, [&](const Cell& cell) { return !cell.value || visit(cell); });
}

Stats MiniKv::stats() const {
  Stats stats = stats_;
  stats.filters = filter_stats_.Snapshot();
  for (const auto& sst : tree_) {
    if (!sst->filter_status().ok()) ++stats.unreadable_filters;
  }
  return stats;
}

std::vector<LevelStats> MiniKv::levels() const {
  std::vector<LevelStats> levels(kLastLevel + 1);
  for (const auto& sst : tree_) {
    LevelStats& stats = levels[static_cast<size_t>(sst->level())];
    stats.ssts += 1;
    stats.cells += sst->cell_count();
    stats.data_blocks += sst->block_count();
    stats.data_bytes += sst->data_bytes();
    stats.filter_bytes += sst->filter_bytes();
  }
  return levels;
}

}  // namespace mini_kv
