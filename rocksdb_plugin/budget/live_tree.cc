// SPDX-License-Identifier: Apache-2.0

#include "budget/live_tree.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table_properties.h"
#include "sst_path.h"

namespace rowbloom::plugin {

using rdb::Logger;

namespace {

// RocksDB copies the list of live SSTs under its DB mutex.
constexpr int kPauseForEachCopy = 1000;
constexpr std::chrono::seconds kLongestPause(60);

// Sums may lack one change for each kFilesForEachChange SSTs.
constexpr size_t kFilesForEachChange = 1000;

constexpr size_t kRememberedGone = 1000;

// The order of files whose own threads have not reported them yet. It is above
// all of RocksDB's sequence numbers.
constexpr uint64_t kNoOrderYet = uint64_t{1} << 56;

uint64_t Rounded(double value) {
  return static_cast<uint64_t>(std::llround(std::max(0.0, value)));
}

// Any number of SSTs then has few values.
double RoundedBits(double bits_per_key) {
  constexpr double kStep = 0.25;
  return kStep * std::round(bits_per_key / kStep);
}

double PlannedBytes(const LiveFile& file,
                    const FilterEstimator::Estimate& estimate) {
  return file.planned_filter_bytes.has_value()
             ? static_cast<double>(*file.planned_filter_bytes)
             : estimate.bytes;
}

}  // namespace

FileFilter FileFilter::Of(const rdb::TableProperties& properties) {
  FileFilter filter;
  filter.entry_count =
      properties.num_entries -
      std::min(properties.num_entries, properties.num_range_deletions);
  filter.size_bytes = properties.filter_size;
  filter.raw_key_bytes = properties.raw_key_size;
  filter.raw_value_bytes = properties.raw_value_size;
  filter.data_block_count = properties.num_data_blocks;
  filter.index_bytes = properties.index_size;
  filter.has_policy = !properties.filter_policy_name.empty();
  if (filter.size_bytes > 0) filter.key_count = properties.num_filter_entries;
  return filter;
}

LiveFiles FilesOf(const rdb::ColumnFamilyMetaData& column_family) {
  LiveFiles files;
  for (const rdb::LevelMetaData& level : column_family.levels) {
    for (const rdb::SstFileMetaData& sst : level.files) {
      LiveFile& file = files[sst.file_number];
      file.level = level.level;
      file.order = sst.largest_seqno;
      file.size_bytes = sst.size;
      file.path = ListedPath(sst);
    }
  }
  return files;
}

FilterEstimator::FilterEstimator(const LiveFiles& files) {
  double known_bytes = 0;
  double entries_with_keys = 0;
  double keys = 0;
  double filter_bytes = 0;
  for (const auto& [number, file] : files) {
    if (!file.filter.has_value()) continue;
    is_known_ = true;
    known_bytes += static_cast<double>(file.size_bytes);
    sums_.entry_count += static_cast<double>(file.filter->entry_count);
    filter_bytes += static_cast<double>(file.filter->size_bytes);
    sums_.raw_key_bytes += static_cast<double>(file.filter->raw_key_bytes);
    sums_.raw_value_bytes += static_cast<double>(file.filter->raw_value_bytes);
    sums_.data_block_count +=
        static_cast<double>(file.filter->data_block_count);
    sums_.index_bytes += static_cast<double>(file.filter->index_bytes);
    if (file.filter->key_count == 0) continue;
    entries_with_keys += static_cast<double>(file.filter->entry_count);
    keys += static_cast<double>(file.filter->key_count);
  }
  if (entries_with_keys > 0) keys_per_entry_ = keys / entries_with_keys;
  sums_.key_count = keys_per_entry_ * sums_.entry_count;
  if (known_bytes > 0) {
    keys_per_byte_ = sums_.key_count / known_bytes;
    filter_bytes_per_byte_ = filter_bytes / known_bytes;
  }
}

FilterEstimator::Estimate FilterEstimator::Of(const LiveFile& file) const {
  if (!file.filter.has_value()) {
    const auto size = static_cast<double>(file.size_bytes);
    return {keys_per_byte_ * size, filter_bytes_per_byte_ * size};
  }
  const FileFilter& filter = *file.filter;
  return {filter.key_count > 0
              ? static_cast<double>(filter.key_count)
              : keys_per_entry_ * static_cast<double>(filter.entry_count),
          static_cast<double>(filter.size_bytes)};
}

const LiveTree::Sums& LiveTree::UpToDateSums() const {
  const uint64_t changes = changes_ + learned_;
  if (sums_ != nullptr &&
      changes - sums_->changes <= files_.size() / kFilesForEachChange) {
    return *sums_;
  }
  sums_ = std::make_unique<Sums>();
  Sums& sums = *sums_;
  sums.changes = changes;
  sums.estimator = FilterEstimator(files_);
  for (const auto& [number, file] : files_) {
    const FilterEstimator::Estimate estimate = sums.estimator.Of(file);
    const uint64_t place = file.level > 0 ? 0 : ~file.order;
    Sums::Run& run = sums.runs[{file.level, place}];
    run.keys += estimate.keys;
    if (estimate.keys > 0) {
      run.bits[RoundedBits(8 * estimate.bytes / estimate.keys)] +=
          estimate.keys;
    }
    sums.file_bytes += static_cast<double>(file.size_bytes);
    sums.keys += estimate.keys;
    const double bytes = PlannedBytes(file, estimate);
    sums.bytes += bytes;
    if (file.planned_filter_bytes.has_value() ||
        (file.filter.has_value() && file.filter->has_policy)) {
      sums.of_policy.keys += estimate.keys;
      sums.of_policy.bytes += bytes;
    }
    sums.deepest_level = std::max(sums.deepest_level, file.level);
  }
  return sums;
}

std::optional<LiveTree::View> LiveTree::ViewFor(const Output& output) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Sums& sums = UpToDateSums();
  if (!sums.estimator.is_known()) return std::nullopt;
  View view;
  for (const auto& [place, run] : sums.runs) {
    view.live.runs.push_back({Rounded(run.keys)});
    view.run_bits.push_back(run.bits);
  }
  if (sums.of_policy.keys > 0) {
    view.policy_bits = 8 * sums.of_policy.bytes / sums.of_policy.keys;
  }
  view.gets = gets_.rates();
  view.has_statistics = has_statistics_;
  view.has_unknown = may_have_unknown_;
  view.live.key_count = Rounded(sums.keys);
  view.filter_bytes = sums.bytes;
  view.live.filter_bytes = Rounded(sums.bytes);
  LeaveOutInputs(sums, &view.live);
  view.live.moved_share = MovedShare(output, sums);
  view.estimator = sums.estimator;
  view.level_count =
      std::max<uint32_t>(output.level,
                         static_cast<uint32_t>(sums.deepest_level)) +
      1;
  const std::optional<double> keys = OutputKeys(output, sums);
  if (keys.has_value()) {
    const double sum = sums.keys + (output.is_flush ? *keys : 0);
    if (sum > 0) view.run_share = std::min(1.0, *keys / sum);
  }
  return view;
}

void LiveTree::LeaveOutInputs(const Sums& sums, LiveFilters* live) const {
  double keys = 0;
  double bytes = 0;
  for (const auto& [id, job] : jobs_) {
    for (const uint64_t number : job.inputs) {
      const auto input = files_.find(number);
      if (input == files_.end()) continue;
      const FilterEstimator::Estimate estimate =
          sums.estimator.Of(input->second);
      keys += estimate.keys;
      bytes += PlannedBytes(input->second, estimate);
    }
  }
  if (keys == 0) return;
  // A compaction of all runs pays nothing back for the filters that it removes.
  // After that of a few SSTs flushes and compactions soon write others like
  // them, for which what stays has to make room.
  const double share = std::min(1.0, keys / sums.keys);
  live->written_key_count = Rounded(share * std::min(keys, sums.keys));
  live->filter_bytes = Rounded(sums.bytes - share * bytes);
}

std::optional<double> LiveTree::OutputKeys(const Output& output,
                                           const Sums& sums) const {
  if (output.is_flush) {
    // Assumes the keys of the last flush.
    if (!last_flush_.has_value()) return std::nullopt;
    return sums.estimator.Of(*last_flush_).keys;
  }
  // The size of the level when the compactions into it are done. A compaction
  // that writes to level 0 has its own run and its own thread.
  const int level = static_cast<int>(output.level);
  double keys = 0;
  bool any_job = false;
  for (const auto& [id, job] : jobs_) {
    if (job.output_level != output.level) continue;
    if (level == 0 && job.thread != std::this_thread::get_id()) continue;
    any_job = true;
    for (const uint64_t number : job.inputs) {
      const auto file = files_.find(number);
      if (file == files_.end()) continue;
      if (level > 0 && file->second.level == level) continue;  // Counted below.
      keys += sums.estimator.Of(file->second).keys;
    }
  }
  if (level > 0) {
    const auto run = sums.runs.find({level, 0});
    if (run != sums.runs.end()) keys += run->second.keys;
  }
  // RocksDB does not report CompactFiles(), which mostly rewrites a level.
  if (!any_job && keys == 0) return std::nullopt;
  return keys;
}

void LiveTree::FlushCompleted(uint64_t number, LiveFile file) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++changes_;
  if (file.filter.has_value()) {
    written_keys_ += static_cast<double>(file.filter->entry_count);
    written_.filter_bytes += static_cast<double>(file.filter->size_bytes);
  }
  ++written_.ssts;
  last_flush_ = file;
  if (gone_.count(number) > 0) return;
  const auto known = files_.find(number);
  if (known != files_.end()) file.level = known->second.level;  // Moved since.
  files_[number] = std::move(file);
}

void LiveTree::CompactionBegan(int job, uint32_t output_level,
                               LiveFiles inputs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // A file is in one compaction at a time. If the database is closed during a
  // compaction, RocksDB does not report its end.
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    const bool is_over = std::any_of(
        inputs.begin(), inputs.end(), [&](const auto& number_and_file) {
          return it->second.inputs.count(number_and_file.first) > 0;
        });
    it = is_over ? jobs_.erase(it) : std::next(it);
  }
  Job& began = jobs_[job];
  began = {output_level, {}, std::this_thread::get_id()};
  for (auto& [number, file] : inputs) {
    began.inputs.insert(number);
    if (!file.filter.has_value()) continue;
    const auto known = files_.find(number);
    if (known != files_.end()) {
      known->second.filter = file.filter;
      ++learned_;
    } else {
      file.order = kNoOrderYet + number;
      files_.emplace(number, std::move(file));
      ++changes_;
    }
  }
}

std::optional<double> LiveTree::MovedShare(const Output& output,
                                           const Sums& sums) const {
  if (entries_.empty()) return std::nullopt;
  double share = 1;
  for (const auto& [level, entries] : entries_) {
    if (level <= static_cast<int>(output.level) || level > sums.deepest_level) {
      continue;
    }
    share *= entries.moved / (entries.moved + entries.rewritten);
  }
  return share;
}

void LiveTree::CountEntries(const std::vector<uint64_t>& inputs,
                            const LiveFiles& outputs) {
  if (outputs.empty()) return;
  const Sums& sums = UpToDateSums();
  const int output_level = outputs.begin()->second.level;
  const std::set<uint64_t> read(inputs.begin(), inputs.end());
  for (const auto& [number, file] : outputs) {
    if (read.count(number) > 0) continue;
    const FilterEstimator::Estimate estimate = sums.estimator.Of(file);
    written_keys_ += estimate.keys;
    written_.filter_bytes += estimate.bytes;
    ++written_.ssts;
  }
  Entries entered;
  for (const uint64_t number : inputs) {
    const auto file = files_.find(number);
    if (file == files_.end() || file->second.level == output_level) continue;
    (outputs.count(number) > 0 ? entered.moved : entered.rewritten) +=
        sums.estimator.Of(file->second).keys;
  }
  if (entered.moved + entered.rewritten == 0) return;
  Entries& entries = entries_[output_level];
  entries.moved += entered.moved;
  entries.rewritten += entered.rewritten;
  if (4 * (entries.moved + entries.rewritten) < sums.keys) return;
  entries.moved /= 2;
  entries.rewritten /= 2;
}

void LiveTree::CompactionCompleted(int job, bool is_ok,
                                   const std::vector<uint64_t>& inputs,
                                   LiveFiles outputs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  jobs_.erase(job);
  if (!is_ok) return;
  CountEntries(inputs, outputs);
  ++changes_;
  uint64_t order = 0;
  for (const uint64_t number : inputs) {
    if (outputs.count(number) == 0) gone_.insert(number);  // Else moved.
    const auto file = files_.find(number);
    if (file == files_.end()) {
      is_stale_ = true;
      continue;
    }
    if (file->second.order < kNoOrderYet) {
      order = std::max(order, file->second.order);
    } else {
      is_stale_ = true;
    }
    const auto moved = outputs.find(number);
    if (moved != outputs.end()) {
      const int level = moved->second.level;
      moved->second = std::move(file->second);
      moved->second.level = level;
    }
    files_.erase(file);
  }
  for (auto& [number, file] : outputs) {
    file.order = order;
    if (!file.filter.has_value()) is_stale_ = true;
    if (gone_.count(number) > 0) continue;
    const auto known = files_.find(number);
    // It was moved since.
    if (known != files_.end()) file.level = known->second.level;
    files_[number] = std::move(file);
  }
  // Numbers rise, so the newest ones stay.
  while (gone_.size() > kRememberedGone) gone_.erase(gone_.begin());
}

void LiveTree::LearnFilter(uint64_t number, const FileFilter& filter) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto file = files_.find(number);
  if (file == files_.end()) return;
  file->second.filter = filter;
  ++learned_;
}

void LiveTree::PlanFilters(const std::map<uint64_t, uint64_t>& bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [number, file] : files_) {
    const auto planned = bytes.find(number);
    file.planned_filter_bytes = planned == bytes.end()
                                    ? std::nullopt
                                    : std::optional<uint64_t>(planned->second);
  }
  sums_.reset();
}

void LiveTree::ObserveGets(const GetCounts& counts) {
  const std::lock_guard<std::mutex> lock(mutex_);
  has_statistics_ = true;
  const double keys = UpToDateSums().keys;
  written_.share = keys > 0 ? written_keys_ / keys : 0;
  gets_.Observe(counts, written_);
  written_ = {};
  written_keys_ = 0;
}

bool LiveTree::WantsFiles(Clock::time_point now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (now < not_before_ || (!is_stale_ && now < at_latest_)) return false;
  not_before_ = now + kLongestPause;  // Until SetFiles() sets it.
  return true;
}

void LiveTree::SetFiles(uint64_t changes, LiveFiles files,
                        Clock::duration took) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Clock::time_point now = Clock::now();
  not_before_ = now + kPauseForEachCopy * took;
  at_latest_ = std::max(not_before_, now + kLongestPause);
  if (changes != changes_) return;
  for (auto& [number, file] : files) {
    const auto known = files_.find(number);
    if (known == files_.end()) continue;
    file.filter = known->second.filter;
    file.planned_filter_bytes = known->second.planned_filter_bytes;
    file.was_taken = known->second.was_taken;
  }
  sums_.reset();
  may_have_unknown_ = true;
  files_ = std::move(files);
  is_stale_ = false;
}

void LiveTree::SetStale() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++changes_;  // A list that is being read lacks this change.
  is_stale_ = true;
}

uint64_t LiveTree::changes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return changes_;
}

double LiveTree::file_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return UpToDateSums().file_bytes;
}

LiveFiles LiveTree::TakeUnknown(size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  LiveFiles unknown;
  if (!may_have_unknown_) return unknown;
  std::map<int, size_t> sampled;
  for (const auto& [number, file] : files_) {
    if (file.filter.has_value() || file.was_taken) ++sampled[file.level];
  }
  for (auto& [number, file] : files_) {
    if (unknown.size() == count) return unknown;
    if (file.filter.has_value() || file.was_taken || file.path.empty()) {
      continue;
    }
    if (sampled[file.level]++ >= kSampledFiles) continue;
    file.was_taken = true;
    unknown.emplace(number, file);
  }
  may_have_unknown_ = false;
  return unknown;
}

namespace {

struct KnownTree {
  std::weak_ptr<Logger> logger;
  std::optional<uint32_t> id;
  std::shared_ptr<LiveTree> tree;
  const void* block_cache = nullptr;  // Only compared; nullptr: not known.
};

struct AllTrees {
  std::mutex mutex;
  std::map<std::pair<DatabaseId, std::string>, KnownTree> trees;
};

AllTrees& Trees() {
  static auto* const trees = new AllTrees();  // Policies may outlive statics.
  return *trees;
}

}  // namespace

std::shared_ptr<LiveTree> LiveTrees::Find(
    const DatabaseId& database, const std::string& column_family_name) {
  AllTrees& all = Trees();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.trees.find({database, column_family_name});
  // Another logger may now have the same address.
  if (found == all.trees.end() || found->second.logger.expired()) {
    return nullptr;
  }
  return found->second.tree;
}

std::shared_ptr<LiveTree> LiveTrees::Find(
    const rdb::DB& db, const rdb::ColumnFamilyHandle& column_family) {
  const auto logger = db.GetDBOptions().info_log;
  if (logger == nullptr) return nullptr;
  return Find(
      OpenDatabase<rdb::FilterBuildingContext>(logger.get(), db.GetName()),
      column_family.GetName());
}

std::shared_ptr<LiveTree> LiveTrees::FindOrAdd(
    const DatabaseId& database, const std::shared_ptr<Logger>& logger,
    const std::string& column_family_name,
    std::optional<uint32_t> column_family_id) {
  AllTrees& all = Trees();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const std::pair<DatabaseId, std::string> key(database, column_family_name);
  const auto found = all.trees.find(key);
  if (found != all.trees.end() && !found->second.logger.expired()) {
    KnownTree& known = found->second;
    if (!known.id.has_value()) known.id = column_family_id;
    if (!column_family_id.has_value() || known.id == column_family_id) {
      return known.tree;
    }
  }
  for (auto it = all.trees.begin(); it != all.trees.end();) {
    it = it->second.logger.expired() ? all.trees.erase(it) : std::next(it);
  }
  KnownTree& added = all.trees[key];
  added = {logger, column_family_id, std::make_shared<LiveTree>(), nullptr};
  return added.tree;
}

void LiveTrees::KeepOnly(const DatabaseId& database,
                         const std::set<std::string>& column_family_names) {
  AllTrees& all = Trees();
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (auto it = all.trees.begin(); it != all.trees.end();) {
    const bool is_gone = it->first.first == database &&
                         column_family_names.count(it->first.second) == 0;
    it = is_gone ? all.trees.erase(it) : std::next(it);
  }
}

double LiveTrees::ShareOf(const DatabaseId& database,
                          const std::string& column_family_name,
                          const void* block_cache) {
  AllTrees& all = Trees();
  const std::lock_guard<std::mutex> lock(all.mutex);
  double own = 0;
  double sum = 0;
  for (auto& [key, known] : all.trees) {
    if (!(key.first == database)) continue;
    const bool is_own = key.second == column_family_name;
    if (is_own) known.block_cache = block_cache;
    const void* const other = known.block_cache;
    if (other != nullptr && other != block_cache) continue;
    const double bytes = known.tree->file_bytes();
    sum += bytes;
    if (is_own) own = bytes;
  }
  return sum > 0 ? own / sum : 1;
}

std::map<std::string, uint64_t> LiveTrees::Changes(const DatabaseId& database) {
  AllTrees& all = Trees();
  const std::lock_guard<std::mutex> lock(all.mutex);
  std::map<std::string, uint64_t> changes;
  for (const auto& [key, known] : all.trees) {
    if (key.first == database) changes[key.second] = known.tree->changes();
  }
  return changes;
}

}  // namespace rowbloom::plugin
