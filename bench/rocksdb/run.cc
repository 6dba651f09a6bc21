// SPDX-License-Identifier: Apache-2.0

#include "run.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "bench/quantile.h"
#include "rocksdb/slice.h"

namespace rowbloom::bench {
std::string Number(double value, const char* format) {
  char text[32];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

void Answers::Add(bool is_right, std::string_view query, std::string_view key) {
  ++checked_;
  if (is_right || ++wrong_ > 3) return;
  std::fprintf(
      stderr, "\nWRONG ANSWER: %s %s\n", std::string(query).c_str(),
      rocksdb::Slice(key.data(), key.size()).ToString(/*hex=*/true).c_str());
}

void Answers::AddMany(uint64_t checked, uint64_t wrong,
                      std::string_view query) {
  checked_ += checked;
  wrong_ += wrong;
  if (wrong == 0) return;
  std::fprintf(stderr, "\n%llu WRONG ANSWERS: %s\n",
               static_cast<unsigned long long>(wrong),
               std::string(query).c_str());
}

std::vector<Json> CompareInRounds(
    uint64_t rounds, size_t count, std::optional<size_t> base,
    const std::function<Json(size_t i)>& measure) {
  std::vector<std::vector<Json>> samples(count);
  for (uint64_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < count; ++i) samples[i].push_back(measure(i));
  }
  std::vector<Json> summaries;
  for (const std::vector<Json>& mine : samples) {
    Json& summary = summaries.emplace_back(Json::object());
    const auto add = [&summary](const std::string& name,
                                const std::vector<double>& values) {
      summary[name] = Quantile(values, 0.5);
      summary[name + "_quartiles"] = {Quantile(values, 0.25),
                                      Quantile(values, 0.75)};
    };
    for (const auto& [name, value] : mine.front().items()) {
      std::vector<double> values;
      std::vector<double> ratios;
      for (uint64_t round = 0; round < rounds; ++round) {
        values.push_back(mine[round][name]);
        if (!base || samples[*base][round][name] == 0) continue;
        ratios.push_back(values.back() /
                         samples[*base][round][name].get<double>());
      }
      add(name, values);
      if (ratios.size() == rounds) add(name + "_ratio", ratios);
    }
  }
  return summaries;
}

void Latencies::Add(Clock::time_point start, Clock::time_point end) {
  const std::chrono::nanoseconds took = end - start;
  nanoseconds_.push_back(
      static_cast<uint32_t>(std::min<int64_t>(took.count(), UINT32_MAX)));
}

void Latencies::Add(const Latencies& other) {
  nanoseconds_.insert(nanoseconds_.end(), other.nanoseconds_.begin(),
                      other.nanoseconds_.end());
}

double Latencies::QuantileMicroseconds(double quantile) {
  const auto at = std::min(
      nanoseconds_.size() - 1,
      static_cast<size_t>(quantile * static_cast<double>(nanoseconds_.size())));
  const auto place = nanoseconds_.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(nanoseconds_.begin(), place, nanoseconds_.end());
  return *place / 1000.0;
}

Run::Run(const Options& given) : options(given), directory(given.directory) {
  if (directory.empty()) {
    temporary.emplace("reads_bench", "Name a writable place with --directory.");
    directory = temporary->path();
  } else {
    std::filesystem::create_directories(directory);
  }
}

}  // namespace rowbloom::bench
