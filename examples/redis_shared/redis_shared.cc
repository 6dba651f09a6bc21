// SPDX-License-Identifier: Apache-2.0
//
// Cache penetration with many processes: readers of one RocksDB ask a filter in
// Redis, which the writer keeps, before they read. A batch of requests is one
// round trip. One reader takes a snapshot instead and asks in memory.
//
//   redis_shared URL DIRECTORY     as redis://127.0.0.1:6379/seen
//
// Prints the reads of the database that the filter saved, and the round trips.
// Exit code 1 if a row is lost.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/version.h"
#include "rowbloom/redis/connection.h"
#include "rowbloom/redis/redisson.h"

namespace {

using rowbloom::RemoteRedissonFilter;

constexpr int kRows = 20'000;
constexpr int kBatch = 1'000;
constexpr int kReaders = 3;
const rowbloom::RedissonCodec kCodec("StringCodec");

std::string Row(int i) { return "user" + std::to_string(i); }

template <typename Status>
void Check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

template <typename T>
T Checked(absl::StatusOr<T> result) {
  Check(result.status());
  return *std::move(result);
}

template <typename Open>
std::unique_ptr<rocksdb::DB> Opened(const Open& open) {
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 911
  std::unique_ptr<rocksdb::DB> db;
  Check(open(&db));
  return db;
#else  // Before 9.11 DB::Open() takes a raw pointer.
  rocksdb::DB* opened = nullptr;
  Check(open(&opened));
  return std::unique_ptr<rocksdb::DB>(opened);
#endif
}

// A row goes into the filter first: a reader that finds it in the database must
// not have been told "no" by the filter.
void Write(const rowbloom::RedisAddress& redis, const std::string& path) {
  const auto connection = Checked(rowbloom::ConnectRedis(redis.options));
  auto filter = Checked(RemoteRedissonFilter::Init(connection.get(), redis.name,
                                                   kCodec, kRows, 0.01));
  rocksdb::Options options;
  options.create_if_missing = true;
  const auto db = Opened(
      [&](auto* opened) { return rocksdb::DB::Open(options, path, opened); });
  for (int first = 0; first < kRows; first += kBatch) {
    std::vector<std::string> rows;
    for (int i = first; i < first + kBatch; ++i) rows.push_back(Row(i));
    Checked(
        filter.Add(std::vector<std::string_view>(rows.begin(), rows.end())));
    for (const std::string& row : rows) Check(db->Put({}, row, "value"));
  }
  Check(db->Flush({}));
  std::printf("writer: %d rows, %llu round trips\n", kRows,
              static_cast<unsigned long long>(filter.stats().round_trips));
}

// Asks for one row that is there among nine that are not. Returns false if one
// is lost.
bool Read(const rowbloom::RedisAddress& redis, const std::string& path,
          int reader) {
  const auto connection = Checked(rowbloom::ConnectRedis(redis.options));
  auto filter =
      Checked(RemoteRedissonFilter::Open(connection.get(), redis.name, kCodec));
  // The database comes first: rows that it shows were in the filter before, so
  // that the snapshot has them.
  const auto db = Opened([&](auto* opened) {
    return rocksdb::DB::OpenForReadOnly({}, path, opened);
  });
  const uint64_t trips_before = filter.stats().round_trips;
  std::optional<rowbloom::RedissonSnapshot> snapshot;
  if (reader == kReaders - 1) snapshot = Checked(filter.Snapshot());

  int reads = 0, found = 0, requests = 0;
  for (int first = 0; first < kRows; first += kBatch) {
    std::vector<std::string> rows;
    for (int i = first; i < first + kBatch; ++i) {
      rows.push_back(i % 10 == reader ? Row(i) : Row(kRows + i));
    }
    bool may_contain[kBatch];
    if (snapshot.has_value()) {
      for (int i = 0; i < kBatch; ++i) {
        may_contain[i] = snapshot->MayContain(rows[i]);
      }
    } else {
      filter.MayContain(std::vector<std::string_view>(rows.begin(), rows.end()),
                        may_contain);
    }
    for (int i = 0; i < kBatch; ++i, ++requests) {
      if (!may_contain[i]) continue;
      ++reads;
      std::string value;
      found += db->Get({}, rows[i], &value).ok();
    }
  }
  std::printf(
      "reader %d%s: %d requests, %d reads, %d saved, %d found, "
      "%llu round trips\n",
      reader, snapshot.has_value() ? " by snapshot" : "", requests, reads,
      requests - reads, found,
      static_cast<unsigned long long>(filter.stats().round_trips -
                                      trips_before));
  return found == kRows / 10;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: redis_shared URL DIRECTORY\n");
    return 2;
  }
  const auto redis = Checked(rowbloom::ParseRedisUrl(argv[1]));
  const std::string path = argv[2];
  Write(redis, path);
  bool good = true;
  std::fflush(stdout);
  std::vector<pid_t> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.push_back(fork());
    if (readers.back() == 0) {
      good = Read(redis, path, i);
      std::fflush(stdout);
      _exit(good ? 0 : 1);
    }
  }
  for (const pid_t reader : readers) {
    int status = 0;
    good &= waitpid(reader, &status, 0) == reader && status == 0;
  }
  return good ? 0 : 1;
}
