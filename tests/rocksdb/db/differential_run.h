// SPDX-License-Identifier: Apache-2.0
//
// Performs random operations on one database and on a map of all versions, and
// records where their answers differ.
//
//   DifferentialRun run(set_up, seed);
//   run.Operate(3000);
//   EXPECT_EQ(run.wrong_answers().size(), 0) << run.first_differences();
//
// The same seed gives the same operations whatever the filters are.

#ifndef ROWBLOOM_TESTS_ROCKSDB_DB_DIFFERENTIAL_RUN_H_
#define ROWBLOOM_TESTS_ROCKSDB_DB_DIFFERENTIAL_RUN_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/db/differential_model.h"
#include "rocksdb/db/differential_set_up.h"
#include "rocksdb/options.h"
#include "rocksdb/test_db.h"

namespace rowbloom::testing {

class DifferentialRun {
 public:
  // The set-up stays as it is if `reopen` is false.
  DifferentialRun(const RandomSetUp& set_up, uint64_t seed, bool reopen);
  ~DifferentialRun();

  void Operate(int operations);

  // Returns the number of wrong answers by kind of question.
  const std::map<std::string, uint64_t>& wrong_answers() const {
    return wrong_answers_;
  }
  // Describes the first difference of each kind.
  const std::string& first_differences() const { return first_differences_; }
  // Returns how many times a filter said no.
  uint64_t useful() const;

 private:
  using Entries = VersionedMap::Entries;
  // The time of a question: now, that of a snapshot, or a timestamp.
  struct AsOf {
    uint64_t time;
    rdb::ReadOptions read;
  };

  void Open();
  void MakeNames();
  std::string AnyRow();
  std::string AnyQualifier();
  std::string AnyKey(bool written);

  void Change();
  void WriteOne();
  void Put(const std::string& key, const std::string& value);
  void Delete(const std::string& key);
  void PutOrSingleDelete();
  void DeleteRange();
  void Ingest();
  void SetAnotherPolicy();
  void TakeOrReleaseSnapshot();
  void ReleaseSnapshots();

  AsOf DrawTime();
  void Ask();
  void AskGet();
  void AskMultiGet();
  void AskMayExist();
  void AskSeek();
  void AskTotalOrder();
  void AskAutoPrefixMode();
  void AskSeekForPrev();
  void AskRow();
  void AskColumn();
  void AskMultiScan();

  bool Before(const std::string& a, const std::string& b) const;
  // Returns an empty string if the key has no row.
  std::string RowPart(const std::string& key) const;
  // Reads from `target` on; within `row`, if it is not empty.
  Entries Read(const rdb::ReadOptions& read, const std::string& target,
               size_t limit, const std::string& row = "");
  void Compare(const std::string& kind, const std::string& asked,
               const Entries& expected, const Entries& answer);
  void ExpectOk(const rdb::Status& status, const char* doing);
  // Returns the timestamp of the model's next write.
  rdb::Slice NextTimestamp();

  RandomSetUp set_up_;
  const bool reopen_;
  Random random_;
  TestDb db_;
  VersionedMap model_;
  std::vector<std::string> rows_;
  std::vector<std::string> qualifiers_;
  std::vector<std::string> versions_;
  // Single deletes need keys of their own; the value says whether one is
  // present.
  std::map<std::string, bool> once_written_;
  std::vector<std::pair<const rdb::Snapshot*, uint64_t>> snapshots_;
  int ingested_ = 0;
  std::array<char, 8> timestamp_{};        // The time of a write.
  std::array<char, 8> asked_timestamp_{};  // The time of a question.
  rdb::Slice asked_slice_;
  std::map<std::string, uint64_t> wrong_answers_;
  std::string first_differences_;
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_DB_DIFFERENTIAL_RUN_H_
