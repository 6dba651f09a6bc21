// SPDX-License-Identifier: Apache-2.0

#include "fixed_tree.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "bench/point_get/workload.h"

namespace rowbloom::budget_bench {
namespace {

using point_get::Mix;

constexpr double kMissingShares[] = {1, 0.5, 0};
// Filters of so many bits per key off are built again.
constexpr double kBitsTolerance = 0.05;
constexpr int kMostTrials = 4;
constexpr uint64_t kPresentSeed = 1000;
constexpr uint64_t kGetSeed = 2000;  // Plus the repetition.
constexpr uint64_t kWarmUpSeed = 3000;
constexpr uint64_t kTimedSeed = 4000;

std::vector<uint64_t> RunSizes(const TreeShape& shape) {
  absl::StatusOr<std::vector<TreeRun>> runs = RunsOf(shape);
  if (!runs.ok()) throw std::runtime_error(runs.status().ToString());
  std::vector<uint64_t> sizes;
  for (const TreeRun& run : *runs) sizes.push_back(run.key_count);
  return sizes;
}

double BitsPerKey(const point_get::FilterSize& size) {
  return 8.0 * static_cast<double>(size.bytes) /
         static_cast<double>(size.cell_count);
}

// `reads` of each repetition, for 1,000 gets.
template <typename Reads>
double PerThousand(const Run& run, Reads reads) {
  uint64_t gets = 0;
  uint64_t sum = 0;
  for (const Wasted& wasted : run.repetitions) {
    gets += wasted.gets;
    sum += reads(wasted);
  }
  return 1000.0 * static_cast<double>(sum) / static_cast<double>(gets);
}

std::vector<double> Sorted(const Run& run) {
  std::vector<double> rates;
  for (const Wasted& wasted : run.repetitions) {
    rates.push_back(wasted.PerThousand());
  }
  std::sort(rates.begin(), rates.end());
  return rates;
}

}  // namespace

std::vector<Condition> AllConditions(const std::vector<double>& cache_shares) {
  std::vector<Condition> all = ColdUniform();
  for (const double missing : kMissingShares) {
    all.push_back({{missing, Mix::kZipf}, 0});
  }
  for (const double share : cache_shares) {
    for (const double missing : kMissingShares) {
      all.push_back({{missing, Mix::kUniform}, share});
    }
  }
  return all;
}

std::vector<Condition> ColdUniform() {
  std::vector<Condition> all;
  for (const double missing : kMissingShares) {
    all.push_back({{missing, Mix::kUniform}, 0});
  }
  return all;
}

double Run::WastedPerThousand() const {
  return PerThousand(*this,
                     [](const Wasted& wasted) { return wasted.reads(); });
}
double Run::Least() const { return Sorted(*this).front(); }
double Run::Most() const { return Sorted(*this).back(); }

double Run::PerThousandOfLevel(int level) const {
  return PerThousand(*this, [level](const Wasted& wasted) {
    return wasted.reads_by_level.at(level);
  });
}

const Run* FindRun(const PolicyResult& result, const Condition& condition) {
  for (const Run& run : result.runs) {
    const Condition& c = run.condition;
    if (c.mix.missing_share == condition.mix.missing_share &&
        c.mix.popularity == condition.mix.popularity &&
        c.cache_share == condition.cache_share) {
      return &run;
    }
  }
  return nullptr;
}

FixedTree::FixedTree(const TreeShape& shape, const FixedTreeOptions& options,
                     const bench::WorkDirectory* directory,
                     bench::Progress* progress)
    : shape_(shape),
      options_(options),
      directory_(directory),
      progress_(progress),
      keys_(RunSizes(shape)),
      // One shard: least recently used of all blocks.
      cache_(rocksdb::NewLRUCache(0, /*num_shard_bits=*/0)) {}

uint64_t FixedTree::data_bytes() const {
  uint64_t bytes = 0;
  for (const point_get::LevelShape& level : levels_) bytes += level.data_bytes;
  return bytes;
}

PolicyResult FixedTree::MeasureAt(const std::string& policy, double bits_asked,
                                  const std::vector<Condition>& conditions) {
  return Measure(*Build(policy, bits_asked), policy, bits_asked, conditions);
}

PolicyResult FixedTree::MeasureWith(const std::string& policy,
                                    double bits_per_key,
                                    const std::vector<Condition>& conditions) {
  double asked = bits_per_key;
  double nearest_asked = asked;
  double nearest_off = HUGE_VAL;
  for (int trial = 1;; ++trial) {
    const auto tree = Build(policy, asked);
    const double off = bits_per_key - BitsPerKey(tree->filter_size());
    if (std::abs(off) < std::abs(nearest_off)) {
      nearest_off = off;
      nearest_asked = asked;
    }
    const bool is_last = trial == kMostTrials && asked == nearest_asked;
    if (policy == kNone || std::abs(off) <= kBitsTolerance || is_last ||
        trial > kMostTrials) {
      return Measure(*tree, policy, asked, conditions);
    }
    asked = trial == kMostTrials ? nearest_asked : asked + off;
  }
}

double FixedTree::BuildCpuSeconds(const std::string& policy,
                                  double bits_asked) {
  return Build(policy, bits_asked)->build_cpu_seconds();
}

std::unique_ptr<point_get::Tree> FixedTree::Build(const std::string& policy,
                                                  double bits_asked) {
  char name[64];
  std::snprintf(name, sizeof(name), "%s at %.4g bits", policy.c_str(),
                bits_asked);
  progress_->Begin("build " + std::string(name), keys_.size());
  point_get::TreeOptions options;
  options.level_count = keys_.run_count();
  options.file_size_bytes = options_.file_size_bytes;
  options.block_size_bytes = options_.block_size_bytes;
  options.block_cache = cache_;
  options.env = slow_reads_.env();
  if (shape_.kind == TreeKind::kUniversal) {
    options.compaction_style = rocksdb::kCompactionStyleUniversal;
  }
  const auto fill = [this](int level, const point_get::PutCell& put) {
    std::string value;
    for (const uint64_t number : keys_.SortedRun(level)) {
      const std::string key = KeyOf(number);
      point_get::MakeValue(key, kValueSize, &value);
      put(key, value);
    }
  };
  auto tree = std::make_unique<point_get::Tree>(
      options, fill, MakePolicy(policy, bits_asked, shape_),
      directory_->path() + "/" + std::to_string(++tree_count_), progress_);
  progress_->End();
  if (levels_.empty()) levels_ = tree->levels();
  if (!(levels_ == tree->levels())) {
    throw std::runtime_error("the tree of " + policy +
                             " differs in shape from the others'");
  }
  return tree;
}

PolicyResult FixedTree::Measure(const point_get::Tree& tree,
                                const std::string& policy, double bits_asked,
                                const std::vector<Condition>& conditions) {
  PolicyResult result;
  result.policy = policy;
  result.bits_asked = bits_asked;
  result.bits_per_key = BitsPerKey(tree.filter_size());
  for (const auto& [level, size] : tree.filter_size_by_level()) {
    result.bits_per_key_by_level[level] = BitsPerKey(size);
  }
  result.build_cpu_seconds = tree.build_cpu_seconds();
  progress_->Begin("ask " + policy, conditions.size() * options_.repetitions *
                                        options_.limits.gets);
  for (const Condition& condition : conditions) {
    result.runs.push_back(MeasureRun(tree, condition));
  }
  if (options_.timed_gets != 0) {
    for (const double missing : kMissingShares) {
      result.timed.push_back(Time(tree, missing));
    }
  }
  progress_->End();
  return result;
}

Run FixedTree::MeasureRun(const point_get::Tree& tree,
                          const Condition& condition) {
  Run run;
  run.condition = condition;
  const bool cached = condition.cache_share != 0;
  if (cached) {
    const double bytes =
        condition.cache_share * static_cast<double>(data_bytes());
    cache_->SetCapacity(static_cast<size_t>(bytes));
    GetMix hits = condition.mix;
    hits.missing_share = 0;
    GetStream present(&keys_, hits, kPresentSeed);
    GetStream gets(&keys_, condition.mix, kWarmUpSeed);
    wrong_answers_ +=
        WarmUp(tree.db(),
               static_cast<uint64_t>(
                   bytes / static_cast<double>(options_.block_size_bytes)),
               &present, &gets, options_.warm_up_gets, progress_);
  }
  for (uint32_t i = 0; i < options_.repetitions; ++i) {
    GetStream gets(&keys_, condition.mix, kGetSeed + i);
    run.repetitions.push_back(CountWasted(
        tree.db(), keys_.run_count(), [&] { return gets.Next(); },
        options_.limits, cached, progress_));
    answers_checked_ += run.repetitions.back().gets;
    wrong_answers_ += run.repetitions.back().wrong_answers;
  }
  cache_->SetCapacity(0);
  return run;
}

TimedGets FixedTree::Time(const point_get::Tree& tree, double missing_share) {
  GetStream gets(&keys_, {missing_share, Mix::kUniform}, kTimedSeed);
  slow_reads_.set_delay(std::chrono::microseconds(options_.delay_us));
  TimedGets timed;
  timed.missing_share = missing_share;
  timed.latency = TimeGets(tree.db(), &gets, options_.timed_gets, progress_);
  slow_reads_.set_delay({});
  answers_checked_ += options_.timed_gets;
  wrong_answers_ += timed.latency.wrong_answers;
  return timed;
}

}  // namespace rowbloom::budget_bench
