// SPDX-License-Identifier: Apache-2.0
//
// A LevelDB Env that counts the reads of tables, so that tests can state the
// cost of a Get.
//
//   CountingEnv env;
//   options.env = &env;
//   db->Get(leveldb::ReadOptions(), "key", &value);
//   EXPECT_EQ(env.read_count(), 1);
//
// Any number of threads; must outlive the database.

#ifndef ROWBLOOM_TESTS_LEVELDB_COUNTING_ENV_H_
#define ROWBLOOM_TESTS_LEVELDB_COUNTING_ENV_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "leveldb/env.h"

namespace rowbloom::testing {

class CountingEnv final : public leveldb::EnvWrapper {
 public:
  CountingEnv() : leveldb::EnvWrapper(leveldb::Env::Default()) {}

  uint64_t read_count() const { return read_count_; }

  leveldb::Status NewRandomAccessFile(
      const std::string& path, leveldb::RandomAccessFile** result) override {
    const leveldb::Status status = target()->NewRandomAccessFile(path, result);
    if (status.ok()) *result = new File(*result, &read_count_);
    return status;
  }

 private:
  class File final : public leveldb::RandomAccessFile {
   public:
    File(leveldb::RandomAccessFile* target, std::atomic<uint64_t>* read_count)
        : target_(target), read_count_(read_count) {}

    leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result,
                         char* scratch) const override {
      ++*read_count_;
      return target_->Read(offset, n, result, scratch);
    }

   private:
    const std::unique_ptr<leveldb::RandomAccessFile> target_;
    std::atomic<uint64_t>* const read_count_;
  };

  std::atomic<uint64_t> read_count_{0};
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_LEVELDB_COUNTING_ENV_H_
