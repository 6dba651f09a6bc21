// SPDX-License-Identifier: Apache-2.0

#include "mini_kv.h"

#include <limits>
#include <set>
#include <utility>

#include "manifest.h"
#include "merging_iterator.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/io.h"

namespace mini_kv {
namespace {

constexpr uint64_t kMaxLevelRatio = 1000;

}  // namespace

MiniKv::MiniKv(const Options& options, const std::string& directory)
    : options_(options),
      directory_(directory),
      memtable_(options.memtable_size_bytes) {
  if (options_.files == nullptr) options_.files = &system_files_;
  if (options_.filter_cache == nullptr) {
    own_cache_ = rowbloom::NewShardedLruCache({});
    options_.filter_cache = own_cache_.get();
  }
}

MiniKv::~MiniKv() = default;

std::string MiniKv::Path(FileKind kind, uint64_t number) const {
  return directory_ + "/" + FileName(kind, number);
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
  if (options_.create_if_missing) {
    absl::Status status = MakeDirectory(directory_);
    if (!status.ok()) return status;
  } else if (const auto exists = ReadManifest(directory_); !exists.ok()) {
    return exists.status();
  }
  auto lock = DirectoryLock::Take(directory_);
  if (!lock.ok()) return lock.status();
  lock_ = *std::move(lock);

  auto manifest = ReadManifest(directory_);
  if (absl::IsNotFound(manifest.status())) {
    absl::Status status = Create();
    if (!status.ok()) return status;
    manifest = ReadManifest(directory_);
  }
  if (!manifest.ok()) return manifest.status();
  // The process that renamed the manifest may have died before the rename was
  // durable. If the previous manifest came back, it would name another log than
  // the one that is now written to.
  absl::Status status = options_.files->SyncDirectory(directory_);
  if (!status.ok()) return status;
  next_file_number_ = manifest->next_file_number;
  wal_number_ = manifest->wal_number;
  for (size_t level = 0; level < kLevelCount; ++level) {
    auto ssts = OpenSsts(manifest->levels[level], level);
    if (!ssts.ok()) return ssts.status();
    levels_[level] = *std::move(ssts);
  }
  status = TellBudget();
  if (!status.ok()) return status;
  auto wal = Wal::Open(Path(FileKind::kWal, wal_number_),
                       [this](const Cell& cell) { memtable_.Set(cell); });
  if (!wal.ok()) return wal.status();
  wal_ = *std::move(wal);
  stats_.cut_wal_bytes = wal_->cut_bytes();
  return RemoveUnnamedFiles();
}

// Creates a log, then the manifest that names it. A crash between the two
// leaves an empty log, which may be overwritten; other files without a manifest
// may not.
absl::Status MiniKv::Create() {
  const auto names = ListDirectory(directory_);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    FileKind kind;
    uint64_t number = 0;
    if (!ParseFileName(name, &kind, &number)) continue;
    const auto source = rowbloom::OpenFileSource(directory_ + "/" + name);
    if (!source.ok()) return source.status();
    if (kind == FileKind::kSst || (*source)->size_bytes() != 0) {
      return absl::DataLossError(directory_ + ": has " + name +
                                 " but no manifest");
    }
  }
  const auto wal_number = CreateWal();
  if (!wal_number.ok()) return wal_number.status();
  return CommitManifest({}, *wal_number);
}

// Removes what a crash left behind: files that were unfinished or obsolete.
absl::Status MiniKv::RemoveUnnamedFiles() const {
  std::set<std::string> named = {FileName(FileKind::kWal, wal_number_)};
  for (const Level& level : levels_) {
    for (const auto& sst : level) {
      named.insert(FileName(FileKind::kSst, sst->number()));
    }
  }
  const auto names = ListDirectory(directory_);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    FileKind kind;
    uint64_t number = 0;
    const bool ours =
        name == kManifestTempName || ParseFileName(name, &kind, &number);
    if (!ours || named.count(name) != 0) continue;
    absl::Status status = options_.files->Remove(directory_ + "/" + name);
    if (!status.ok()) return status;
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
  if (!write_status_.ok()) return write_status_;
  if (cell.key.row.size() > kMaxKeySize ||
      cell.key.qualifier.size() > kMaxKeySize - cell.key.row.size()) {
    return absl::InvalidArgumentError("row and qualifier exceed " +
                                      std::to_string(kMaxKeySize) + " bytes");
  }
  if (cell.value && cell.value->size() > kMaxValueSize) {
    return absl::InvalidArgumentError("value exceeds " +
                                      std::to_string(kMaxValueSize) + " bytes");
  }
  return KeepError(WriteCell(cell));
}

absl::Status MiniKv::WriteCell(const Cell& cell) {
  // Makes room first: if this fails the cell was not written at all.
  absl::Status status;
  if (memtable_.size_bytes() >= options_.memtable_size_bytes) {
    status = FlushMemtable();
    if (status.ok()) status = CompactWhileDue();
  }
  if (status.ok()) status = wal_->Append(cell);
  if (status.ok() && options_.sync_wal) status = wal_->Sync();
  if (status.ok()) memtable_.Set(cell);
  return status;
}

absl::Status MiniKv::Flush() {
  if (!write_status_.ok()) return write_status_;
  absl::Status status = FlushMemtable();
  return KeepError(status.ok() ? CompactWhileDue() : status);
}

absl::Status MiniKv::Compact() {
  if (!write_status_.ok()) return write_status_;
  absl::Status status = FlushMemtable();
  if (!status.ok()) return KeepError(status);
  const Compaction compaction = WholeCompaction(options_, levels_);
  if (compaction.inputs.empty()) return absl::OkStatus();
  return KeepError(RunCompaction(compaction));
}

// One new manifest replaces the memtable and its log by the new SST and an
// empty log. Before it, both new files exist but do not belong to the store;
// after it, the old log does not.
absl::Status MiniKv::FlushMemtable() {
  if (memtable_.empty()) return absl::OkStatus();
  ++stats_.flushes;
  const auto cells = memtable_.NewIterator({});
  rowbloom::FileFacts facts;
  facts.is_flush = true;
  const auto numbers =
      WriteSsts(cells.get(), /*drops_tombstones=*/false,
                std::numeric_limits<uint64_t>::max(), FilterFor(facts),
                options_, directory_, [this] { return next_file_number_++; });
  if (!numbers.ok()) return numbers.status();
  const auto ssts = OpenSsts(*numbers, 0);
  if (!ssts.ok()) return ssts.status();
  const auto wal_number = CreateWal();
  if (!wal_number.ok()) return wal_number.status();
  auto wal = Wal::Open(Path(FileKind::kWal, *wal_number), [](const Cell&) {});
  if (!wal.ok()) return wal.status();

  Levels levels = levels_;
  levels[0].insert(levels[0].begin(), ssts->begin(), ssts->end());
  const uint64_t old_wal_number = wal_number_;
  absl::Status status = CommitManifest(levels, *wal_number);
  if (!status.ok()) return status;
  wal_ = *std::move(wal);
  memtable_ = Memtable(options_.memtable_size_bytes);
  return options_.files->Remove(Path(FileKind::kWal, old_wal_number));
}

absl::Status MiniKv::CompactWhileDue() {
  while (const auto compaction = PickCompaction(options_, levels_)) {
    absl::Status status = RunCompaction(*compaction);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status MiniKv::RunCompaction(const Compaction& compaction) {
  ++stats_.compactions;
  ReadStats not_of_gets;
  std::vector<std::unique_ptr<CellIterator>> sources;
  for (const auto& sst : compaction.inputs) {
    sources.push_back(sst->NewIterator({}, &not_of_gets));
  }
  const auto cells = NewMergingIterator(std::move(sources));
  const auto numbers = WriteSsts(
      cells.get(), compaction.drops_tombstones, options_.file_size_bytes,
      FilterFor(FactsOf(levels_, compaction)), options_, directory_,
      [this] { return next_file_number_++; });
  if (!numbers.ok()) return numbers.status();
  const auto outputs = OpenSsts(*numbers, compaction.output_level);
  if (!outputs.ok()) return outputs.status();
  absl::Status status = CommitManifest(
      AfterCompaction(levels_, compaction, *outputs), wal_number_);
  // An open input stays readable until it is closed.
  for (const auto& sst : compaction.inputs) {
    if (!status.ok()) break;
    status = options_.files->Remove(Path(FileKind::kSst, sst->number()));
  }
  return status;
}

absl::StatusOr<uint64_t> MiniKv::CreateWal() {
  const uint64_t number = next_file_number_++;
  auto sink = options_.files->Create(Path(FileKind::kWal, number));
  if (!sink.ok()) return sink.status();
  absl::Status status = (*sink)->SyncAndClose();
  if (!status.ok()) return status;
  return number;
}

absl::StatusOr<Level> MiniKv::OpenSsts(const std::vector<uint64_t>& numbers,
                                       size_t level) {
  Level ssts;
  for (const uint64_t number : numbers) {
    auto sst = SstReader::Open(
        Path(FileKind::kSst, number), number,
        {options_.filter_cache, &filter_stats_, static_cast<int>(level)});
    if (!sst.ok()) return sst.status();
    ssts.push_back(*std::move(sst));
  }
  return ssts;
}

// A flush or a compaction takes effect at this moment.
absl::Status MiniKv::CommitManifest(const Levels& levels, uint64_t wal_number) {
  Manifest manifest;
  manifest.next_file_number = next_file_number_;
  manifest.wal_number = wal_number;
  for (size_t level = 0; level < kLevelCount; ++level) {
    for (const auto& sst : levels[level]) {
      manifest.levels[level].push_back(sst->number());
    }
  }
  absl::Status status = WriteManifest(manifest, directory_, options_.files);
  if (!status.ok()) return status;
  levels_ = levels;
  wal_number_ = wal_number;
  return TellBudget();
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

absl::Status MiniKv::KeepError(const absl::Status& status) {
  write_status_ = status;
  return status;
}

// ---------------------------------------------------------------- reads

absl::StatusOr<std::optional<std::string>> MiniKv::Get(
    std::string_view row, std::string_view qualifier) {
  const CellKey cell_key = {row, qualifier};
  // Hashed once, for the memtable and all SSTs.
  const auto filter_key = rowbloom::FilterKey::RowCol(row, qualifier);
  if (!memtable_.MayContain(filter_key)) {
    ++stats_.memtable_skips;
  } else if (const Memtable::Value* value = memtable_.Find(cell_key)) {
    return *value;
  }
  for (const Level& level : levels_) {
    for (const auto& sst : level) {
      if (!sst->Covers(cell_key)) continue;
      ++stats_.ssts_considered;
      if (!sst->MayContain(filter_key)) {
        ++stats_.ssts_skipped;
        continue;
      }
      std::optional<std::string> value;
      const auto found = sst->Get(cell_key, &value, &stats_.reads);
      if (!found.ok()) return found.status();
      sst->TellOutcome(filter_key, *found);
      if (*found) return value;  // Newest first: other SSTs do not matter.
    }
  }
  return std::nullopt;
}

absl::Status MiniKv::VisitRows(const rowbloom::FilterKey& rows,
                               const std::function<bool(const Cell&)>& visit) {
  const CellKey from = {rows.row(), {}};
  const auto is_among = [&](const CellIterator& cells) {
    std::string_view row = cells.cell().key.row;
    if (rows.is_prefix()) row = row.substr(0, rows.row().size());
    return row == rows.row();
  };
  std::vector<std::unique_ptr<CellIterator>> sources;
  // The memtable's filter has no prefixes.
  if (rows.is_prefix() || memtable_.MayContain(rows)) {
    sources.push_back(memtable_.NewIterator(from));
  } else {
    ++stats_.memtable_skips;
  }
  for (const Level& level : levels_) {
    for (const auto& sst : level) {
      if (!sst->CoversRows(rows)) continue;
      ++stats_.ssts_considered;
      if (!sst->MayContain(rows)) {
        ++stats_.ssts_skipped;
        continue;
      }
      auto cells = sst->NewIterator(from, &stats_.reads);
      if (!cells->status().ok()) return cells->status();
      sst->TellOutcome(rows, cells->Valid() && is_among(*cells));
      sources.push_back(std::move(cells));
    }
  }
  const auto cells = NewMergingIterator(std::move(sources));
  for (; cells->Valid() && is_among(*cells); cells->Next()) {
    if (cells->cell().value && !visit(cells->cell())) break;
  }
  return cells->status();
}

absl::StatusOr<std::vector<Column>> MiniKv::GetRow(std::string_view row) {
  std::vector<Column> columns;
  const auto rows = rowbloom::FilterKey::Row(row);
  absl::Status status = VisitRows(rows, [&](const Cell& cell) {
    columns.push_back(
        {std::string(cell.key.qualifier), std::string(*cell.value)});
    return true;
  });
  if (!status.ok()) return status;
  return columns;
}

absl::StatusOr<bool> MiniKv::AnyExists(const rowbloom::FilterKey& rows) {
  bool exists = false;
  absl::Status status = VisitRows(rows, [&](const Cell&) {
    exists = true;
    return false;
  });
  if (!status.ok()) return status;
  return exists;
}

absl::StatusOr<bool> MiniKv::RowExists(std::string_view row) {
  return AnyExists(rowbloom::FilterKey::Row(row));
}

absl::StatusOr<bool> MiniKv::PrefixExists(std::string_view prefix) {
  return AnyExists(rowbloom::FilterKey::Prefix(prefix));
}

absl::Status MiniKv::ScanPrefix(std::string_view prefix,
                                const std::function<bool(const Cell&)>& visit) {
  return VisitRows(rowbloom::FilterKey::Prefix(prefix), visit);
}

absl::Status MiniKv::Scan(std::string_view first_row,
                          const std::function<bool(const Cell&)>& visit) {
  const CellKey from = {first_row, {}};
  std::vector<std::unique_ptr<CellIterator>> sources;
  sources.push_back(memtable_.NewIterator(from));
  for (const Level& level : levels_) {
    for (const auto& sst : level) {
      sources.push_back(sst->NewIterator(from, &stats_.reads));
    }
  }
  const auto cells = NewMergingIterator(std::move(sources));
  for (; cells->Valid(); cells->Next()) {
    if (cells->cell().value && !visit(cells->cell())) break;
  }
  return cells->status();
}

// ---------------------------------------------------------------- inspection

absl::Status MiniKv::Verify() const {
  for (size_t level = 0; level < kLevelCount; ++level) {
    const SstReader* last = nullptr;
    for (const auto& sst : levels_[level]) {
      absl::Status status = sst->Verify();
      if (!status.ok()) return status;
      if (level > 0 && last != nullptr &&
          !(last->last_key() < sst->first_key())) {
        return absl::DataLossError(directory_ + ": SSTs of level " +
                                   std::to_string(level) + " overlap");
      }
      last = sst.get();
    }
  }
  return absl::OkStatus();
}

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

absl::StatusOr<rowbloom::TreeWaste> MiniKv::FilterWaste() const {
  const auto cost =
      rowbloom::FilterCost::OfFamily(options_.filter.filter_spec.family());
  if (!cost.ok()) return cost.status();
  std::vector<rowbloom::RunFilters> runs;
  const auto add = [&](uint64_t keys, uint64_t bytes) {
    if (keys == 0) return;
    rowbloom::RunFilters& run = runs.emplace_back();
    run.run.key_count = keys;
    run.bits_per_key =
        8 * static_cast<double>(bytes) / static_cast<double>(keys);
    run.fpr = cost->ForBits(run.bits_per_key).fpr;
  };
  for (const auto& sst : levels_[0]) {
    add(sst->filter_keys(), sst->filter_bytes());
  }
  for (size_t level = 1; level < kLevelCount; ++level) {
    uint64_t keys = 0;
    uint64_t bytes = 0;
    for (const auto& sst : levels_[level]) {
      keys += sst->filter_keys();
      bytes += sst->filter_bytes();
    }
    add(keys, bytes);
  }
  constexpr double kMissingShare = 0.5;
  return rowbloom::MeasureWaste(*cost, runs, kMissingShare);
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
