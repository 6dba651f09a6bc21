// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "bench/or_throw.h"
#include "bench/reader/tree.h"
#include "measures.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::bench {
namespace {

struct Workload {
  const char* name;
  double absent_share;
  // If true, keys are those of the last level alone.
  bool one_level;
  // 0: uniform rows. Else each file's range is read once, in order, with so
  // many gets for each chunk; then the file is replaced.
  uint64_t sweep_gets_per_chunk;
};
constexpr Workload kWorkloads[] = {
    {"absent", 1, false, 0},         {"half", 0.5, false, 0},
    {"present", 0, false, 0},        {"present_one_level", 0, true, 0},
    {"sweep_4", 0.5, true, 4},       {"sweep_16", 0.5, true, 16},
    {"sweep_64", 0.5, true, 64},     {"sweep_256", 0.5, true, 256},
    {"sweep_1024", 0.5, true, 1024},
};

// Asks the gets of a workload, one by one.
class Asker {
 public:
  Asker(const Tree* tree, const Workload& workload,
        const FilterReaderOptions& options)
      : tree_(tree),
        workload_(workload),
        options_(options),
        open_(std::in_place, tree, options) {
    pass_gets_ = workload.sweep_gets_per_chunk *
                 open_->reader(0).properties().chunk_count;
  }

  void Get() {
    uint64_t row = 0;
    size_t level = tree_->level_count();
    const bool absent = random_.NextUnit() < workload_.absent_share;
    if (pass_gets_ == 0) {
      row = random_.Next();
      if (!absent) tree_->DrawPresent(&random_, &level, &row);
    } else {
      if (pass_get_ == pass_gets_) NextPass();
      const double place =
          (static_cast<double>(pass_get_++) + random_.NextUnit()) /
          static_cast<double>(pass_gets_);
      row = static_cast<uint64_t>(place * 0x1p63) * 2;
      if (!absent) {
        level = 0;
        row = tree_->PresentRow(
            level, static_cast<uint64_t>(
                       place * static_cast<double>(tree_->level_keys(level))));
      }
    }
    if (!open_->Get(row, level)) throw std::runtime_error("a row was lost");
  }
  Reads reads() const { return closed_ + open_->reads(); }

 private:
  void NextPass() {
    closed_ = reads();
    open_.emplace(tree_, options_);
    pass_get_ = 0;
  }

  const Tree* const tree_;
  const Workload workload_;
  const FilterReaderOptions options_;
  Random random_{kSeed};
  std::optional<OpenTree> open_;
  Reads closed_;
  uint64_t pass_gets_ = 0;
  uint64_t pass_get_ = 0;
};

// Bytes read with filters / without.
double Measure(const Tree& tree, const Workload& workload,
               FilterLoading loading, size_t cache_bytes, uint64_t gets,
               const HarmOptions& o, Progress* progress) {
  ShardedLruCacheOptions cache_options;
  cache_options.capacity_bytes = cache_bytes;
  cache_options.shard_bits = 0;
  const std::unique_ptr<FilterCache> cache = NewShardedLruCache(cache_options);
  internal::cache::SetLoadRules(o.load_rules, cache.get());
  FilterReaderOptions options;
  options.cache = cache.get();
  options.loading = loading;
  Asker asker(&tree, workload, options);
  for (uint64_t i = 0; i < gets; ++i) {
    asker.Get();
    if (i % kProgressGets == 0) progress->Add(kProgressGets);
  }
  const Reads reads = asker.reads();
  return static_cast<double>(reads.bytes()) /
         static_cast<double>(reads.unfiltered_bytes());
}

void MeasurePolicy(const HarmOptions& options, const std::string& text,
                   Progress* progress, Json* runs) {
  TreeShape shape;
  shape.filter_spec = OrThrow(FilterSpec::Parse(text));
  shape.chunk_size_bytes = options.chunk_size_bytes;
  const uint64_t last = options.last_level_keys;
  shape.level_keys = {last / 1000, last / 100, last / 10, last};
  progress->Begin("harm: write filters, " + text, 0);
  const Tree leveled(shape);
  shape.level_keys = {last};
  const Tree one_level(shape);
  progress->End();

  for (const Workload& workload : kWorkloads) {
    const Tree& tree = workload.one_level ? one_level : leveled;
    double filter_bytes = 0;
    for (size_t i = 0; i < tree.level_count(); ++i) {
      filter_bytes += static_cast<double>(tree.block(i).size());
    }
    for (const FilterLoading loading :
         {FilterLoading::kWhenItPays, FilterLoading::kAlways}) {
      const bool always = loading == FilterLoading::kAlways;
      const char* name = always ? "always" : "when_it_pays";
      const uint64_t gets = always ? options.always_gets : options.gets;
      if (gets == 0) continue;
      progress->Begin(std::string("harm: ") + workload.name + ", " + name,
                      gets * options.cache_percent.size());
      for (const double percent : options.cache_percent) {
        const auto cache_bytes =
            static_cast<size_t>(percent / 100 * filter_bytes);
        runs->push_back({{"policy", text},
                         {"workload", workload.name},
                         {"loading", name},
                         {"cache_percent", percent},
                         {"gets", gets},
                         {"ratio", Measure(tree, workload, loading, cache_bytes,
                                           gets, options, progress)}});
      }
      progress->End();
    }
  }
}

}  // namespace

Json MeasureHarm(const HarmOptions& options, Progress* progress) {
  Json runs = Json::array();
  for (const std::string& policy : options.policies) {
    MeasurePolicy(options, policy, progress, &runs);
  }
  return {{"last_level_keys", options.last_level_keys},
          {"chunk_size_bytes", options.chunk_size_bytes},
          {"runs", runs}};
}

}  // namespace rowbloom::bench
