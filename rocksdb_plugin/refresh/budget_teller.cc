// SPDX-License-Identifier: Apache-2.0

#include "refresh/budget_teller.h"

#include <atomic>

#include "budget/budget_listener.h"
#include "rocksdb/db.h"
#include "rocksdb/table_properties.h"

namespace rowbloom::plugin {

namespace {

// RocksDB's own jobs have numbers above 0.
int NextJob() {
  static std::atomic<int> last{0};
  return --last;
}

}  // namespace

BudgetTeller::BudgetTeller(rdb::DB* db, rdb::ColumnFamilyHandle* column_family)
    // Wrappers such as TransactionDB list no column families to the listener.
    : db_(db->GetRootDB()), column_family_(column_family) {
  for (const auto& listener : db->GetDBOptions().listeners) {
    if (listener == nullptr) continue;
    auto* const ours = listener->CheckedCast<BudgetListener>();
    if (ours == nullptr) continue;
    owner_ = listener;
    listener_ = ours;
  }
}

std::shared_ptr<LiveTree> BudgetTeller::Tree() const {
  if (listener_ == nullptr) return nullptr;
  return LiveTrees::Find(*db_, *column_family_);
}

void BudgetTeller::LearnFilters(const LiveFiles& files) {
  const std::shared_ptr<LiveTree> tree = Tree();
  if (tree == nullptr) return;
  for (const auto& [number, file] : files) {
    if (file.filter.has_value()) tree->LearnFilter(number, *file.filter);
  }
}

void BudgetTeller::PlanFilters(const std::map<uint64_t, uint64_t>& bytes) {
  const std::shared_ptr<LiveTree> tree = Tree();
  if (tree != nullptr) tree->PlanFilters(bytes);
}

int BudgetTeller::Begin(uint64_t number, const LiveFile& file) {
  const int job = NextJob();
  if (listener_ == nullptr) return job;
  rdb::CompactionJobInfo info;
  info.cf_name = column_family_->GetName();
  info.cf_id = column_family_->GetID();
  info.job_id = job;
  info.output_level = file.level;
  rdb::CompactionFileInfo input;
  input.level = file.level;
  input.file_number = number;
  info.input_file_infos.push_back(input);
  info.input_files.push_back(file.path);
  listener_->OnCompactionBegin(db_, info);
  return job;
}

void BudgetTeller::End(int job, const rdb::Status& status,
                       rdb::CompactionJobInfo info) {
  if (listener_ == nullptr) return;
  if (!status.ok()) info = rdb::CompactionJobInfo();
  info.cf_name = column_family_->GetName();
  info.cf_id = column_family_->GetID();
  info.job_id = job;
  info.status = status;
  listener_->OnCompactionCompleted(db_, info);
}

}  // namespace rowbloom::plugin
