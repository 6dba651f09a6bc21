// SPDX-License-Identifier: Apache-2.0
//
// costs.py has what the programs of each language measure.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_reader.h"

namespace {

constexpr int kFiles = 8;
constexpr int kKeysOfABatch = 32;

std::string Row(int i) {
  char row[16];
  std::snprintf(row, sizeof(row), "user%08d", i);
  return row;
}

double ThreadNanoseconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec);
}

// The median time of a pass, in nanoseconds for each of its calls.
template <typename Pass>
double Nanoseconds(int passes, int calls, const Pass& pass) {
  std::vector<double> times;
  for (int i = 0; i < passes; ++i) {
    const double begin = ThreadNanoseconds();
    pass();
    times.push_back((ThreadNanoseconds() - begin) / calls);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int count = std::atoi(argv[1]), passes = std::atoi(argv[2]);
  std::vector<std::string> rows, asked;
  for (int i = 0; i < count; ++i) {
    rows.push_back(Row(2 * i));
    asked.push_back(Row(static_cast<int>(i * 7919LL % (2LL * count))));
  }
  std::string block;
  const double add = Nanoseconds(passes, count, [&] {
    block.clear();
    const auto sink = rowbloom::NewStringSink(&block);
    rowbloom::FilterBlockWriter writer({}, sink.get());
    for (const std::string& row : rows) writer.Add(row, "");
    if (!writer.Finish().ok()) std::abort();
  });

  const auto cache = rowbloom::NewShardedLruCache({64 << 20});
  const auto source = rowbloom::NewMemorySource(block);
  rowbloom::FilterReaderOptions options;
  options.cache = cache.get();
  options.prefetch = true;
  std::vector<std::unique_ptr<rowbloom::FilterReader>> readers;
  for (int i = 0; i < kFiles; ++i) {
    readers.push_back(*rowbloom::FilterReader::Open(source.get(), {}, options));
  }
  long maybes = 0;
  const double lookup = Nanoseconds(passes, count, [&] {
    for (const std::string& row : asked) maybes += readers[0]->MayContain(row);
  });
  const double each = Nanoseconds(passes, count, [&] {
    for (int i = 0; i < count / kFiles; ++i) {
      const rowbloom::FilterKey key = rowbloom::FilterKey::Row(asked[i]);
      for (const auto& reader : readers) maybes += reader->MayContain(key);
    }
  });
  const double many = Nanoseconds(passes, count, [&] {
    for (int i = 0; i + kKeysOfABatch <= count / kFiles; i += kKeysOfABatch) {
      std::vector<rowbloom::FilterKey> keys;
      std::vector<rowbloom::FilterQuestion> questions;
      bool answers[kFiles * kKeysOfABatch];
      keys.reserve(kKeysOfABatch);
      for (int k = 0; k < kKeysOfABatch; ++k) {
        keys.push_back(rowbloom::FilterKey::Row(asked[i + k]));
        for (const auto& reader : readers) {
          questions.push_back({reader.get(), &keys[k]});
        }
      }
      rowbloom::FilterReader::MayContain(questions, answers);
      for (const bool answer : answers) maybes += answer;
    }
  });
  std::printf(
      "{\"add\": %.2f, \"lookup\": %.2f, \"each_of_8\": %.2f, "
      "\"batch\": %.2f, \"maybes\": %ld}\n",
      add, lookup, each, many, maybes);
}
