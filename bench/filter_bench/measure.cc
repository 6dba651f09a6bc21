// SPDX-License-Identifier: Apache-2.0

#include "measure.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <utility>

#include "ask_loops.h"
#include "heap_meter.h"

namespace rowbloom::filter_bench {
namespace {

// Small filters are built in numbers, about so many keys of them; of those,
// about so many keys in one timed stretch.
constexpr uint64_t kKeysAtLeast = 500000;
constexpr uint64_t kMaxFilters = 1000;
constexpr uint64_t kKeysPerBuild = 100000;
// So many keys are built in all timed rounds of one contender and form, at
// least in kMinBuildRounds.
constexpr uint64_t kMaxBuiltKeys = 50000000;
constexpr uint64_t kMinBuildRounds = 3;
// Keys to draw lookups from, in loops that are not as long as that.
constexpr size_t kPoolLoops = 4;
constexpr size_t kFprChunk = 4096;

// Processor time, not time on the wall: other programs take turns on the same
// cores. Of all threads, so that a builder gains nothing by hiding in others.
double NanosecondsOf(const std::function<void()>& work) {
  const auto now = [] {
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e9 * static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

double Median(std::vector<double>* samples) {
  const auto middle = samples->begin() + samples->size() / 2;
  std::nth_element(samples->begin(), middle, samples->end());
  return *middle;
}

// Asks a filter a stretch of a pool, another one in each round.
Window RoundWindow(const KeySet& pool, size_t count, uint64_t round) {
  return {&pool, (round * count) % pool.size(), count};
}

struct LookupKind {
  double LookupTimes::*time;
  Order order;
  bool present;
};
constexpr LookupKind kLookupKinds[] = {
    {&LookupTimes::negative_independent, Order::kIndependent, false},
    {&LookupTimes::negative_dependent, Order::kDependent, false},
    {&LookupTimes::positive_independent, Order::kIndependent, true},
    {&LookupTimes::positive_dependent, Order::kDependent, true},
    {&LookupTimes::batch, Order::kBatch, false},
};

// All contenders at one size and in both key forms.
class SizeBenchmark {
 public:
  SizeBenchmark(const Options& options, const Contenders& contenders,
                uint64_t key_count, Progress* progress)
      : options_(options),
        contenders_(contenders),
        key_count_(key_count),
        filter_count_(
            std::clamp<uint64_t>(kKeysAtLeast / key_count, 1, kMaxFilters)),
        filters_per_build_(
            std::clamp<uint64_t>(kKeysPerBuild / key_count, 1, filter_count_)),
        progress_(progress),
        runs_(contenders.size()) {
    for (size_t c = 0; c < contenders.size(); ++c) {
      runs_[c].filter = contenders[c]->name();
      runs_[c].policy = contenders[c]->policy();
      runs_[c].key_count = key_count;
      runs_[c].filter_count = filter_count_;
    }
  }

  std::vector<Run> Measure() {
    const std::string label = "n = " + std::to_string(key_count_);
    const uint64_t samples = contenders_.size() * kKeyFormCount;
    const uint64_t build_rounds =
        std::clamp(kMaxBuiltKeys / (key_count_ * filters_per_build_),
                   std::min(kMinBuildRounds, options_.build_rounds),
                   options_.build_rounds);
    progress_->Begin(label + ": build", samples * (1 + build_rounds));
    for (const KeyForm form : kKeyForms) {
      present_.emplace_back(form, options_.seed, 0, key_count_ * filter_count_);
    }
    BuildAll();
    TimeBuilds(build_rounds);
    progress_->End();
    progress_->Begin(label + ": rates and answers",
                     samples + options_.fpr_lookups / kFprChunk);
    CountFalseNegatives();
    CountFalsePositives();
    progress_->End();
    progress_->Begin(label + ": lookups", samples * options_.rounds);
    TimeLookups();
    progress_->End();
    return std::move(runs_);
  }

 private:
  // Keys [begin, end) of filter f.
  std::pair<size_t, size_t> Range(uint64_t f) const {
    return {f * key_count_, (f + 1) * key_count_};
  }

  void BuildAll() {
    for (size_t c = 0; c < contenders_.size(); ++c) {
      Run& run = runs_[c];
      filters_.emplace_back();
      for (const KeyForm form : kKeyForms) {
        for (uint64_t f = 0; f < filter_count_; ++f) {
          filters_[c][Index(form)].push_back(BuildOne(c, form, f));
        }
        progress_->Add(1);
      }
      for (const auto& filter : filters_[c][Index(KeyForm::kDigest)]) {
        run.bits_per_key += 8.0 * static_cast<double>(filter->size_bytes()) /
                            static_cast<double>(key_count_ * filter_count_);
        run.expected_fpr +=
            filter->expected_fpr() / static_cast<double>(filter_count_);
      }
    }
  }

  std::unique_ptr<Filter> BuildOne(size_t c, KeyForm form, uint64_t f) {
    const auto [begin, end] = Range(f);
    BuiltFilter built;
    {
      const HeapMeter meter;
      built = contenders_[c]->Build(present_[Index(form)], begin, end);
      double& peak = runs_[c].peak_build_bytes_per_key;
      peak = std::max(peak, static_cast<double>(meter.peak_bytes()) /
                                static_cast<double>(key_count_));
    }
    return contenders_[c]->Open(built, options_.misalignment_bytes);
  }

  void TimeBuilds(uint64_t rounds) {
    std::vector<ByForm<std::vector<double>>> samples(contenders_.size());
    for (uint64_t round = 0; round < rounds; ++round) {
      for (const KeyForm form : kKeyForms) {
        for (size_t c = 0; c < contenders_.size(); ++c) {
          samples[c][Index(form)].push_back(TimeBuild(c, form, round));
          progress_->Add(1);
        }
      }
    }
    for (size_t c = 0; c < contenders_.size(); ++c) {
      for (const KeyForm form : kKeyForms) {
        runs_[c].build_ns_per_key[Index(form)] =
            Median(&samples[c][Index(form)]);
      }
    }
  }

  // For each key, over some of the filters. Throwing the results away is not
  // timed.
  double TimeBuild(size_t c, KeyForm form, uint64_t round) const {
    std::vector<BuiltFilter> built(filters_per_build_);
    const double nanoseconds = NanosecondsOf([&] {
      for (uint64_t i = 0; i < filters_per_build_; ++i) {
        const auto [begin, end] =
            Range((round * filters_per_build_ + i) % filter_count_);
        built[i] = contenders_[c]->Build(present_[Index(form)], begin, end);
      }
    });
    return nanoseconds / static_cast<double>(key_count_ * filters_per_build_);
  }

  void AddFalseNegatives(Run* run, uint64_t lookups, uint64_t maybes) const {
    run->present_lookups += lookups;
    run->false_negatives += lookups - maybes;
  }

  // Asks for every key by the batch function; single lookups of present keys
  // are checked while they are timed.
  void CountFalseNegatives() {
    for (size_t c = 0; c < contenders_.size(); ++c) {
      for (const KeyForm form : kKeyForms) {
        for (uint64_t f = 0; f < filter_count_; ++f) {
          const Window window = {&present_[Index(form)], Range(f).first,
                                 key_count_};
          AddFalseNegatives(
              &runs_[c], key_count_,
              filters_[c][Index(form)][f]->Ask(Order::kBatch, window, true));
        }
        progress_->Add(1);
      }
    }
  }

  // In equal shares over all filters; every contender is asked the same keys.
  void CountFalsePositives() {
    const uint64_t share =
        (options_.fpr_lookups + filter_count_ - 1) / filter_count_;
    std::vector<uint64_t> positives(contenders_.size(), 0);
    uint64_t next = kFirstAbsentKey;
    for (uint64_t f = 0; f < filter_count_; ++f) {
      for (uint64_t done = 0; done < share; done += kFprChunk) {
        const size_t count = std::min<uint64_t>(kFprChunk, share - done);
        const KeySet absent(KeyForm::kDigest, options_.seed, next, count);
        next += count;
        for (size_t c = 0; c < contenders_.size(); ++c) {
          positives[c] += filters_[c][Index(KeyForm::kDigest)][f]->Ask(
              Order::kBatch, {&absent, 0, count}, false);
        }
        progress_->Add(1);
      }
    }
    for (size_t c = 0; c < contenders_.size(); ++c) {
      runs_[c].fpr_lookups = share * filter_count_;
      runs_[c].fpr = static_cast<double>(positives[c]) /
                     static_cast<double>(runs_[c].fpr_lookups);
    }
  }

  using LookupSamples =
      std::array<std::vector<double>, std::size(kLookupKinds)>;

  void TimeLookups() {
    std::vector<ByForm<LookupSamples>> samples(contenders_.size());
    for (const KeyForm form : kKeyForms) {
      absent_.emplace_back(form, options_.seed, kFirstAbsentKey,
                           kPoolLoops * options_.lookups);
    }
    for (uint64_t round = 0; round < options_.rounds; ++round) {
      // One filter at a time, as a store asks a hot one.
      const uint64_t f = round % filter_count_;
      for (const KeyForm form : kKeyForms) {
        const auto [begin, end] = Range(f);
        const KeySet drawn(present_[Index(form)], begin, end, round,
                           options_.lookups);
        for (size_t c = 0; c < contenders_.size(); ++c) {
          TimeRound(*filters_[c][Index(form)][f], round, drawn, &runs_[c],
                    &samples[c][Index(form)]);
          progress_->Add(1);
        }
      }
    }
    for (size_t c = 0; c < contenders_.size(); ++c) {
      for (const KeyForm form : kKeyForms) {
        for (size_t k = 0; k < std::size(kLookupKinds); ++k) {
          runs_[c].lookup_ns[Index(form)].*kLookupKinds[k].time =
              Median(&samples[c][Index(form)][k]) /
              static_cast<double>(options_.lookups);
        }
      }
    }
  }

  // All kinds of lookup in one filter, one behind the other, and something
  // untimed before them: what fits into a cache is then in it.
  void TimeRound(const Filter& filter, uint64_t round, const KeySet& drawn,
                 Run* run, LookupSamples* samples) {
    const KeySet& absent = absent_[Index(drawn.form())];
    filter.Ask(Order::kBatch, RoundWindow(absent, options_.lookups, round + 1),
               false);
    for (size_t k = 0; k < std::size(kLookupKinds); ++k) {
      const LookupKind& kind = kLookupKinds[k];
      const Window window =
          RoundWindow(kind.present ? drawn : absent, options_.lookups, round);
      uint64_t maybes = 0;
      (*samples)[k].push_back(NanosecondsOf(
          [&] { maybes = filter.Ask(kind.order, window, kind.present); }));
      if (kind.present) AddFalseNegatives(run, window.count, maybes);
    }
  }

  const Options& options_;
  const Contenders& contenders_;
  const uint64_t key_count_;
  const uint64_t filter_count_;
  const uint64_t filters_per_build_;
  Progress* const progress_;
  std::vector<KeySet> present_;  // By form.
  std::vector<KeySet> absent_;   // By form.
  std::vector<ByForm<std::vector<std::unique_ptr<Filter>>>> filters_;
  std::vector<Run> runs_;
};

// Builds the readers of all contenders, filter by filter, so that their
// memory lies as mixed as that of a cache.
std::vector<std::unique_ptr<ReaderSet>> FillReaders(
    const Options& options, const Contenders& contenders,
    const BlockCacheShape& shape, std::vector<BlockCacheRun>* runs,
    Progress* progress) {
  constexpr size_t kChecked = 1000;  // Present keys of each filter.
  std::vector<std::unique_ptr<ReaderSet>> sets;
  for (const auto& contender : contenders) {
    sets.push_back(contender->NewReaderSet());
  }
  const size_t checked = std::min<size_t>(kChecked, shape.key_count);
  for (uint64_t f = 0; f < shape.filter_count; ++f) {
    const KeySet keys(KeyForm::kDigest, options.seed, f * shape.key_count,
                      shape.key_count);
    const std::vector<uint32_t> which(checked, static_cast<uint32_t>(f));
    for (size_t c = 0; c < contenders.size(); ++c) {
      sets[c]->Add(contenders[c]->Build(keys, 0, keys.size()));
      const uint64_t maybes =
          sets[c]->Ask(Order::kIndependent, {&keys, 0, checked}, which, true);
      (*runs)[c].present_lookups += checked;
      (*runs)[c].false_negatives += checked - maybes;
    }
    progress->Add(1);
  }
  return sets;
}

template <class Ask>
HashTimes TimeHash(const Options& options, const KeySet& keys,
                   const Ask& is_odd) {
  std::vector<double> independent;
  std::vector<double> dependent;
  uint64_t odd = 0;
  for (uint64_t round = 0; round < options.rounds; ++round) {
    const Window window = RoundWindow(keys, options.lookups, round);
    independent.push_back(
        NanosecondsOf([&] { odd += AskIndependent(is_odd, window); }));
    dependent.push_back(
        NanosecondsOf([&] { odd += AskDependent(is_odd, window, false); }));
  }
  asm volatile("" : : "r"(odd));  // The loops are not dead.
  const double lookups = static_cast<double>(options.lookups);
  return {Median(&independent) / lookups, Median(&dependent) / lookups};
}

}  // namespace

double Run::overhead() const { return bits_per_key / -std::log2(fpr) - 1; }

std::vector<Run> MeasureSize(const Options& options,
                             const Contenders& contenders, uint64_t key_count,
                             Progress* progress) {
  return SizeBenchmark(options, contenders, key_count, progress).Measure();
}

std::vector<BlockCacheRun> MeasureBlockCache(const Options& options,
                                             const Contenders& contenders,
                                             const BlockCacheShape& shape,
                                             Progress* progress) {
  std::vector<BlockCacheRun> runs(contenders.size());
  const std::string label =
      std::to_string(shape.filter_count) +
      " filters of n = " + std::to_string(shape.key_count);
  progress->Begin(label + ": build", shape.filter_count);
  const auto sets = FillReaders(options, contenders, shape, &runs, progress);
  progress->End();

  progress->Begin(label + ": lookups", options.rounds);
  const size_t pool_size = kPoolLoops * options.lookups;
  const KeySet absent(KeyForm::kDigest, options.seed, kFirstAbsentKey,
                      pool_size);
  std::vector<uint32_t> which(pool_size);
  for (size_t i = 0; i < pool_size; ++i) {
    which[i] = static_cast<uint32_t>(Mix(~uint64_t{i}) % shape.filter_count);
  }
  std::vector<std::vector<double>> independent(contenders.size());
  std::vector<std::vector<double>> dependent(contenders.size());
  for (uint64_t round = 0; round < options.rounds; ++round) {
    const Window window = RoundWindow(absent, options.lookups, round);
    for (size_t c = 0; c < contenders.size(); ++c) {
      independent[c].push_back(NanosecondsOf(
          [&] { sets[c]->Ask(Order::kIndependent, window, which, false); }));
    }
    for (size_t c = 0; c < contenders.size(); ++c) {
      dependent[c].push_back(NanosecondsOf(
          [&] { sets[c]->Ask(Order::kDependent, window, which, false); }));
    }
    progress->Add(1);
  }
  progress->End();

  const double lookups = static_cast<double>(options.lookups);
  for (size_t c = 0; c < contenders.size(); ++c) {
    runs[c].filter = contenders[c]->name();
    runs[c].shape = shape;
    runs[c].total_size_bytes = sets[c]->total_size_bytes();
    runs[c].independent_ns = Median(&independent[c]) / lookups;
    runs[c].dependent_ns = Median(&dependent[c]) / lookups;
  }
  return runs;
}

HashCosts MeasureHashes(const Options& options, const RocksDbLibrary& library) {
  const size_t count = kPoolLoops * options.lookups;
  const KeySet digests(KeyForm::kDigest, options.seed, 0, count);
  const KeySet strings(KeyForm::kString, options.seed, 0, count);
  const auto rocksdb = [&library](rocksdb::Slice key) {
    return (library.hash64()(key.data(), key.size()) & 1) != 0;
  };
  HashCosts costs;
  costs.rocksdb_digests = TimeHash(options, digests, [&](size_t i) {
    return rocksdb(digests.Slice<KeyForm::kDigest>(i));
  });
  costs.rocksdb_strings = TimeHash(options, strings, [&](size_t i) {
    return rocksdb(strings.Slice<KeyForm::kString>(i));
  });
  costs.rowbloom_strings = TimeHash(options, strings, [&](size_t i) {
    return (strings.Digest<KeyForm::kString>(i).value & 1) != 0;
  });
  return costs;
}

}  // namespace rowbloom::filter_bench
