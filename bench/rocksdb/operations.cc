// SPDX-License-Identifier: Apache-2.0

#include "operations.h"

#include <memory>

namespace rowbloom::bench {

bool Do(const Operation& operation, rocksdb::DB* db) {
  constexpr int kEntriesPerScan = 10;
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  switch (operation.kind) {
    case Operation::kPut:
      return db->Put(write, operation.key, ValueOf(operation.key, kValueSize))
          .ok();
    case Operation::kScan: {
      const std::unique_ptr<rocksdb::Iterator> it(
          db->NewIterator(rocksdb::ReadOptions()));
      it->Seek(operation.key);
      const bool is_right = it->Valid() && it->key() == operation.key;
      for (int i = 1; i < kEntriesPerScan && it->Valid(); ++i) it->Next();
      return is_right && it->status().ok();
    }
    case Operation::kGet:
    case Operation::kUpdate:
      break;
  }
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = db->Get(
      rocksdb::ReadOptions(), db->DefaultColumnFamily(), operation.key, &value);
  const bool is_right = operation.is_present
                            ? status.ok() && value.starts_with(operation.key)
                            : status.IsNotFound();
  if (operation.kind == Operation::kGet) return is_right;
  return is_right &&
         db->Put(write, operation.key, ValueOf(operation.key, kValueSize)).ok();
}

}  // namespace rowbloom::bench
