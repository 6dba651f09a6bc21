// SPDX-License-Identifier: Apache-2.0
//
// False positive rates by simulation: rowbloom's families and RocksDB's Bloom
// and Ribbon over the same keys, asked the same absent keys, by filter size
// and bits per key. RocksDB's are driven through its own builder and reader
// objects.
//
//   fpr_bench                      4 KiB to 1 MiB at 10 bits per key
//   fpr_bench --bits_per_key 2 4 8 16 24 --lookups 100000000

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/types/span.h"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "nlohmann/json.hpp"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/filter_bits_abi.h"
#include "rocksdb_plugin/release.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_blob.h"

namespace {

using rowbloom::DigestBytes;
using rowbloom::FilterPolicy;

struct Options {
  std::vector<double> bits_per_key = {10};
  std::vector<uint64_t> chunk_size_bytes = {4096,   16384,  65536,
                                            131072, 262144, 1048576};
  uint64_t lookups = 20000000;
  uint64_t seed = 1;
  std::string json;
};

struct Row {
  std::string filter;
  uint64_t chunk_size_bytes = 0;
  double asked_bits_per_key = 0;
  double bits_per_key = 0;  // By all stored bytes.
  double fpr = 0;
  double fpr_standard_error = 0;
  double expected_fpr = 0;  // 0: the filter has no such function.
  uint64_t lookups = 0;
  uint64_t present_lookups = 0;
  uint64_t false_negatives = 0;
};

// Key i of filter f: 16 bytes; absent keys have the top bit of i set.
void SetKey(uint64_t seed, uint64_t filter, uint64_t i, std::string* key) {
  key->resize(16);
  const uint64_t prefix = filter * 0x9e3779b97f4a7c15 + seed;
  std::memcpy(key->data(), &prefix, sizeof prefix);
  std::memcpy(key->data() + 8, &i, sizeof i);
}

constexpr uint64_t kAbsent = uint64_t{1} << 63;
constexpr size_t kBatch = 32;

uint64_t CountTrue(const bool* answers, size_t count) {
  return static_cast<uint64_t>(std::count(answers, answers + count, true));
}

// One filter of each kind over the same keys.
class Filter {
 public:
  virtual ~Filter() = default;
  virtual void Build(const std::vector<std::string>& keys) = 0;
  virtual uint64_t size_bytes() const = 0;
  // How many of up to kBatch keys may be there.
  virtual uint64_t Positives(absl::Span<const std::string> keys) = 0;
  virtual double expected_fpr() const { return 0; }
};

class RowbloomFilter final : public Filter {
 public:
  RowbloomFilter(std::string family, double bits)
      : policy_(FilterPolicy::BitsPerKey(family, bits)) {}
  void Build(const std::vector<std::string>& keys) override {
    const auto builder = rowbloom::NewFilterBuilder(policy_);
    for (const std::string& key : keys) builder->Add(DigestBytes(key));
    // With its envelope, as RocksDB's has its own.
    blob_ = rowbloom::EncodeFilterBlob(builder->Finish(), "");
    parsed_ = *rowbloom::ParseFilterBlob(blob_);
  }
  uint64_t size_bytes() const override { return blob_.size(); }
  uint64_t Positives(absl::Span<const std::string> keys) override {
    rowbloom::KeyDigest digests[kBatch];
    std::transform(keys.begin(), keys.end(), digests, DigestBytes);
    bool may_contain[kBatch];
    parsed_.view.MayContain(absl::MakeConstSpan(digests, keys.size()),
                            may_contain);
    return CountTrue(may_contain, keys.size());
  }
  double expected_fpr() const override { return parsed_.view.expected_fpr(); }

 private:
  const FilterPolicy policy_;
  std::string blob_;
  rowbloom::FilterBlob parsed_;
};

class RocksDbFilter final : public Filter {
 public:
  explicit RocksDbFilter(const rocksdb::FilterPolicy* policy)
      : policy_(policy) {}
  void Build(const std::vector<std::string>& keys) override {
    const rocksdb::BlockBasedTableOptions table_options;
    rocksdb::FilterBuildingContext context(table_options);
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy_->GetBuilderWithContext(context));
    for (const std::string& key : keys) builder->AddKey(key);
    bytes_ = builder->Finish(&owned_);
    reader_.reset(policy_->GetFilterBitsReader(bytes_));
  }
  uint64_t size_bytes() const override { return bytes_.size(); }
  uint64_t Positives(absl::Span<const std::string> keys) override {
    rocksdb::Slice slices[kBatch];
    rocksdb::Slice* pointers[kBatch];
    bool may_match[kBatch];
    for (size_t i = 0; i < keys.size(); ++i) {
      slices[i] = keys[i];
      pointers[i] = &slices[i];
    }
    reader_->MayMatch(static_cast<int>(keys.size()), pointers, may_match);
    return CountTrue(may_match, keys.size());
  }

 private:
  const std::unique_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<const char[]> owned_;
  rocksdb::Slice bytes_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};

struct Contender {
  std::string name;
  std::unique_ptr<Filter> filter;
  double bits = 0;
  double expected = 0;
  uint64_t positives = 0;
  uint64_t false_negatives = 0;
};

std::vector<Contender> Contenders(double bits) {
  std::vector<Contender> contenders;
  const auto add = [&](std::string name, std::unique_ptr<Filter> filter) {
    contenders.push_back({std::move(name), std::move(filter)});
  };
  add("rocksdb_bloom",
      std::make_unique<RocksDbFilter>(rocksdb::NewBloomFilterPolicy(bits)));
  add("rocksdb_ribbon",
      std::make_unique<RocksDbFilter>(rocksdb::NewRibbonFilterPolicy(bits)));
  for (const std::string_view family : rowbloom::FilterFamilyNames()) {
    if (family == "always_maybe") continue;
    add("rowbloom_" + std::string(family),
        std::make_unique<RowbloomFilter>(std::string(family), bits));
  }
  return contenders;
}

std::vector<Row> Measure(const Options& options, double bits,
                         uint64_t chunk_size) {
  const uint64_t keys_per_filter = std::max<uint64_t>(
      1, static_cast<uint64_t>(8.0 * static_cast<double>(chunk_size) / bits));
  // Enough filters to average over, enough lookups of each.
  const uint64_t filters =
      std::clamp<uint64_t>(2000000 / keys_per_filter, 4, 200);
  const uint64_t lookups = (options.lookups + filters - 1) / filters;
  std::vector<Contender> contenders = Contenders(bits);
  std::vector<std::string> keys(keys_per_filter);
  for (uint64_t f = 0; f < filters; ++f) {
    for (uint64_t i = 0; i < keys_per_filter; ++i) {
      SetKey(options.seed, f, i, &keys[i]);
    }
    for (Contender& c : contenders) {
      c.filter->Build(keys);
      c.bits += 8.0 * static_cast<double>(c.filter->size_bytes()) /
                static_cast<double>(keys_per_filter * filters);
      c.expected += c.filter->expected_fpr() / static_cast<double>(filters);
      c.false_negatives += keys.size();
      for (size_t i = 0; i < keys.size(); i += kBatch) {
        c.false_negatives -=
            c.filter->Positives(absl::MakeConstSpan(keys).subspan(i, kBatch));
      }
    }
    std::string absent[kBatch];
    for (uint64_t begin = 0; begin < lookups; begin += kBatch) {
      const size_t size = std::min<uint64_t>(kBatch, lookups - begin);
      for (size_t i = 0; i < size; ++i) {
        SetKey(options.seed, f, (begin + i) | kAbsent, &absent[i]);
      }
      for (Contender& c : contenders) {
        c.positives += c.filter->Positives(absl::MakeConstSpan(absent, size));
      }
    }
  }
  std::vector<Row> rows;
  const double asked = static_cast<double>(lookups * filters);
  for (const Contender& c : contenders) {
    Row row;
    row.filter = c.name;
    row.chunk_size_bytes = chunk_size;
    row.asked_bits_per_key = bits;
    row.bits_per_key = c.bits;
    row.fpr = static_cast<double>(c.positives) / asked;
    row.fpr_standard_error = std::sqrt(row.fpr * (1 - row.fpr) / asked);
    row.expected_fpr = c.expected;
    row.lookups = lookups * filters;
    row.present_lookups = keys_per_filter * filters;
    row.false_negatives = c.false_negatives;
    rows.push_back(row);
  }
  return rows;
}

void Print(const std::vector<Row>& rows) {
  const double bloom = rows[0].fpr;
  for (const Row& row : rows) {
    std::printf("| %9llu | %5.4g | %-22s | %8.3f | %.4e | %.0e |",
                static_cast<unsigned long long>(row.chunk_size_bytes),
                row.asked_bits_per_key, row.filter.c_str(), row.bits_per_key,
                row.fpr, row.fpr_standard_error);
    if (row.expected_fpr > 0) {
      std::printf(" %+5.1f%% |", 100 * (row.expected_fpr / row.fpr - 1));
    } else {
      std::printf("        |");
    }
    std::printf(" %5.3f |\n", row.fpr / bloom);
  }
  std::fflush(stdout);
}

// How the rates that a filter expects agree with those observed. A point is
// rare if chance alone may make them differ by more than 3%, once in 1000.
struct Agreement {
  int points = 0;  // That are not rare.
  double worst = 0;
  const Row* worst_at = nullptr;
  double beyond_chance = 0;
  int rare_points = 0;
  double least_rate = 1;
  double chance = 0;      // At the least rate.
  double rare_worst = 0;  // In units of what chance explains.

  void Add(const Row& row) {
    constexpr double kOnceInThousand = 3.29;  // Standard errors, both sides.
    constexpr double kRare = 0.03;
    const double row_chance =
        kOnceInThousand *
        std::sqrt((1 - row.expected_fpr) /
                  (row.expected_fpr * static_cast<double>(row.lookups)));
    if (row_chance > kRare) {
      ++rare_points;
      least_rate = std::min(least_rate, row.expected_fpr);
      chance = std::max(chance, row_chance);
      rare_worst = std::max(
          rare_worst, std::abs(row.fpr / row.expected_fpr - 1) / row_chance);
      return;
    }
    ++points;
    const double deviation = row.expected_fpr / row.fpr - 1;
    beyond_chance = std::max(beyond_chance, std::abs(deviation) - row_chance);
    if (worst_at == nullptr || std::abs(deviation) > std::abs(worst)) {
      worst = deviation;
      worst_at = &row;
    }
  }
};

void PrintAgreement(const std::vector<Row>& rows) {
  std::map<std::string, Agreement> agreements;
  for (const Row& row : rows) {
    if (row.expected_fpr > 0) agreements[row.filter].Add(row);
  }
  std::printf(
      "\n| filter | points | worst | at | beyond chance | rare points | least "
      "rate | chance there | worst, in chance |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& [filter, a] : agreements) {
    std::printf("| %s | %d |", filter.c_str(), a.points);
    if (a.points > 0) {
      std::printf(" %+.2f%% | %.4g bits, %llu bytes | %.2f%% |", 100 * a.worst,
                  a.worst_at->asked_bits_per_key,
                  static_cast<unsigned long long>(a.worst_at->chunk_size_bytes),
                  100 * a.beyond_chance);
    } else {
      std::printf(" | | |");
    }
    std::printf(" %d |", a.rare_points);
    if (a.rare_points > 0) {
      std::printf(" %.1e | %.1f%% | %.2f |\n", a.least_rate, 100 * a.chance,
                  a.rare_worst);
    } else {
      std::printf(" | | |\n");
    }
  }
}

nlohmann::ordered_json ToJson(const std::vector<Row>& rows) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    runs.push_back({{"filter", row.filter},
                    {"chunk_size_bytes", row.chunk_size_bytes},
                    {"asked_bits_per_key", row.asked_bits_per_key},
                    {"bits_per_key", row.bits_per_key},
                    {"fpr", row.fpr},
                    {"fpr_standard_error", row.fpr_standard_error},
                    {"expected_fpr", row.expected_fpr},
                    {"lookups", row.lookups},
                    {"present_lookups", row.present_lookups},
                    {"false_negatives", row.false_negatives}});
  }
  return {{"format_version", 1},
          {"machine", rowbloom::bench::MachineJson()},
          {"runs", runs}};
}

int Run(const Options& options) {
  const absl::Status& status = rowbloom::CheckRocksDbRelease();
  if (!status.ok()) throw std::runtime_error(status.ToString());
  const rowbloom::bench::JsonFile json(options.json);
  std::printf(
      "| chunk size | asked | filter                 | bits/key | rate       | "
      "+-    | expected | vs rocksdb_bloom |\n"
      "|---|---|---|---|---|---|---|---|\n");
  std::vector<Row> all;
  uint64_t present_lookups = 0;
  uint64_t false_negatives = 0;
  for (const double bits : options.bits_per_key) {
    for (const uint64_t chunk_size : options.chunk_size_bytes) {
      const std::vector<Row> rows = Measure(options, bits, chunk_size);
      Print(rows);
      for (const Row& row : rows) {
        present_lookups += row.present_lookups;
        false_negatives += row.false_negatives;
      }
      all.insert(all.end(), rows.begin(), rows.end());
    }
  }
  PrintAgreement(all);
  std::printf("\n%llu false negatives in %llu lookups of present keys\n",
              static_cast<unsigned long long>(false_negatives),
              static_cast<unsigned long long>(present_lookups));
  json.Write(ToJson(all));
  return false_negatives == 0 ? 0 : rowbloom::bench::kExitFailure;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "False positive rates of rowbloom's and RocksDB's filters over the same "
      "keys.\nExit code 1 if any present key was answered \"no\".");
  app.add_option("--bits_per_key", options.bits_per_key, "One or more")
      ->check(CLI::Range(FilterPolicy::kMinBitsPerKey,
                         FilterPolicy::kMaxBitsPerKey))
      ->capture_default_str();
  app.add_option("--chunk_size_bytes", options.chunk_size_bytes,
                 "Filter sizes, one or more")
      ->check(CLI::Range(uint64_t{256}, uint64_t{1} << 30))
      ->capture_default_str();
  app.add_option("--lookups", options.lookups,
                 "Absent keys for each line, at least")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of the keys")->capture_default_str();
  app.add_option("--json", options.json, "Also write the results to this file");
  return rowbloom::bench::RunProgram("fpr_bench", &app, argc, argv,
                                     [&] { return Run(options); });
}
