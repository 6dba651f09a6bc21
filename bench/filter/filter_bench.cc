// SPDX-License-Identifier: Apache-2.0
//
// Times rowbloom's filters beside RocksDB's Bloom and Ribbon and, by --peers,
// those of other authors, and counts their bits and false positives, from a few
// hundred keys to many millions.
//
//   filter_bench --keys 10k,1M --benchmark_filter=absent/strings
//
// Names: lookup/KIND/FORM/FILTER/KEYS, build/FORM/FILTER/KEYS,
// block/FILTER/KEYS (a filter block of sorted strings), rate/FILTER/KEYS and
// block_cache/absent/FILTER/COUNTxKEYS. Filters and keys
// are made when first needed; every present key is then looked up, and an
// answer "no" makes the program exit with 1. LD_LIBRARY_PATH chooses the
// librocksdb, whose path is printed and stored in the JSON file.

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "bench/filter/peer.h"
#include "bench/micro.h"
#include "bench/quantile.h"
#include "bench/split_mix.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/filter_bits_abi.h"
#include "rocksdb_plugin/release.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/io.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::bench {
namespace {

using rocksdb::FilterBitsReader;
using rocksdb::Slice;

// Rowbloom and the peers take digests as they are, RocksDB hashes their 8
// bytes. All hash strings of 24 bytes, the peers with rowbloom's hash.
enum class Form { kDigest, kString };

constexpr size_t kLookups = 1 << 16;      // In an iteration.
constexpr size_t kPool = 4 * kLookups;    // Iterations differ in their keys.
constexpr size_t kBatchSize = 32;         // RocksDB's MultiGet has as many.
constexpr uint64_t kAbsent = 1ull << 48;  // The first key in no filter.
// Rates are means over small filters of as many keys together.
constexpr uint64_t kKeysOfAllFilters = 500000;
constexpr uint64_t kKeysOfABuild = 100000;

// Each number is a key; keys of different numbers differ.
template <Form kForm>
class Keys {
 public:
  Keys() = default;
  Keys(uint64_t first, uint64_t count) {
    words_.reserve(count * kWords);
    for (uint64_t i = first; i < first + count; ++i) Add(i);
  }
  void Add(uint64_t number) {
    const uint64_t random = SplitMix(number);
    if constexpr (kForm == Form::kString) {
      words_.push_back({0x2f746e756f636361});  // "account/"
      words_.push_back({SplitMix(random)});
    }
    words_.push_back({random});
  }
  Slice slice(size_t i) const {
    return {reinterpret_cast<const char*>(words_.data() + i * kWords),
            kWords * sizeof(KeyDigest)};
  }
  KeyDigest digest(size_t i) const {
    if constexpr (kForm == Form::kDigest) return words_[i];
    const Slice key = slice(i);
    return DigestBytes({key.data(), key.size()});
  }

 private:
  static constexpr size_t kWords = kForm == Form::kDigest ? 1 : 3;
  std::vector<KeyDigest> words_;
};

// Has one of RocksDB's policies, one of rowbloom's or a peer.
struct Contender {
  std::string name;
  std::shared_ptr<const rocksdb::FilterPolicy> rocksdb;
  std::optional<FilterSpec> rowbloom;
  BuildPeer* peer = nullptr;
  Kernel kernel = Kernel::kBest;  // Rowbloom's.
};

struct Built {
  std::unique_ptr<const char[]> buffer;  // RocksDB's.
  Slice bytes;
  EncodedFilter encoded;  // Rowbloom's.
  std::unique_ptr<Peer> peer;
};

template <Form kForm>
Built Build(const Contender& contender, const Keys<kForm>& keys, size_t begin,
            size_t count) {
  Built built;
  if (contender.rowbloom) {
    const auto builder =
        NewFilterBuilder(*contender.rowbloom, contender.kernel);
    for (size_t i = 0; i < count; ++i) builder->Add(keys.digest(begin + i));
    built.encoded = builder->Finish();
  } else if (contender.peer != nullptr) {
    std::vector<uint64_t> digests(count);
    for (size_t i = 0; i < count; ++i) {
      digests[i] = keys.digest(begin + i).value;
    }
    built.peer.reset(contender.peer(digests.data(), count));
  } else {
    const rocksdb::BlockBasedTableOptions table_options;
    const rocksdb::FilterBuildingContext context(table_options);
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        contender.rocksdb->GetBuilderWithContext(context));
    for (size_t i = 0; i < count; ++i) builder->AddKey(keys.slice(begin + i));
    built.bytes = builder->Finish(&built.buffer);
  }
  return built;
}

// All that is stored: with the envelope of rowbloom's blob, or RocksDB's
// trailer.
std::string Bytes(const Contender& contender, const Built& built) {
  return contender.rowbloom ? EncodeFilterBlob(built.encoded, "")
                            : built.bytes.ToString();
}

template <class Ask>
uint64_t AskIndependently(const Ask& ask, size_t begin, size_t count) {
  uint64_t maybes = 0;
  for (size_t i = begin; i < begin + count; ++i) maybes += ask(i) ? 1 : 0;
  return maybes;
}

// The place of the next key in its pool is computed from the answer, so that a
// lookup cannot begin before the one before it ends, except where the processor
// predicts a branch on the filter's bits.
template <class Ask>
uint64_t AskDependently(const Ask& ask, size_t begin, size_t count) {
  uint64_t maybes = 0;
  for (size_t i = 0; i < count; ++i) {
    uint64_t is_maybe = ask((begin + i + maybes) % kPool) ? 1 : 0;
    // The compiler must not know that it is 0 or 1, and branch on it.
    asm volatile("" : "+r"(is_maybe));
    maybes += is_maybe;
  }
  return maybes;
}

enum class Order { kIndependent, kDependent, kBatch };

// A filter that begins at a 64-byte boundary, or a peer's where it lies.
// RocksDB's and peers' have one virtual call for each lookup, rowbloom's one
// through a function pointer.
class Filter {
 public:
  Filter(const Contender& contender, Built built)
      : peer_(std::move(built.peer)) {
    if (peer_ != nullptr) {
      size_bytes_ = peer_->size_bytes();
      return;
    }
    const std::string bytes = Bytes(contender, built);
    size_bytes_ = bytes.size();
    lines_.resize(size_bytes_ / sizeof(Line) + 1);
    char* const begin = lines_[0].bytes;
    std::memcpy(begin, bytes.data(), size_bytes_);
    if (contender.rowbloom) {
      view_ =
          OrThrow(ParseFilterBlob({begin, size_bytes_}, contender.kernel)).view;
    } else {
      reader_.reset(
          contender.rocksdb->GetFilterBitsReader({begin, size_bytes_}));
    }
  }

  size_t size_bytes() const { return size_bytes_; }
  // 0 for the others, which do not tell.
  double expected_fpr() const {
    return reader_ || peer_ ? 0 : view_.expected_fpr();
  }

  // The number of answers "maybe".
  template <Form kForm>
  uint64_t Ask(Order order, const Keys<kForm>& keys, size_t begin,
               size_t count) const {
    // Peers have no batches.
    if (order == Order::kBatch && peer_ == nullptr) {
      return AskBatches(keys, begin, count);
    }
    const auto ask_in_order = [&](const auto& ask) {
      return order == Order::kDependent ? AskDependently(ask, begin, count)
                                        : AskIndependently(ask, begin, count);
    };
    if (peer_ != nullptr) {
      return ask_in_order([peer = peer_.get(), &keys](size_t i) {
        return peer->MayContain(keys.digest(i).value);
      });
    }
    if (reader_ == nullptr) {
      return ask_in_order(
          [this, &keys](size_t i) { return view_.MayContain(keys.digest(i)); });
    }
    return ask_in_order([reader = reader_.get(), &keys](size_t i) {
      return reader->MayMatch(keys.slice(i));
    });
  }

 private:
  struct alignas(64) Line {
    char bytes[64];
  };

  template <Form kForm>
  uint64_t AskBatches(const Keys<kForm>& keys, size_t begin,
                      size_t count) const {
    KeyDigest digests[kBatchSize];
    Slice slices[kBatchSize];
    Slice* pointers[kBatchSize];
    bool answers[kBatchSize];
    uint64_t maybes = 0;
    for (size_t done = 0; done < count; done += kBatchSize) {
      const size_t size = std::min(kBatchSize, count - done);
      if (reader_ == nullptr) {
        for (size_t i = 0; i < size; ++i) {
          digests[i] = keys.digest(begin + done + i);
        }
        view_.MayContain(absl::MakeConstSpan(digests, size), answers);
      } else {
        for (size_t i = 0; i < size; ++i) {
          slices[i] = keys.slice(begin + done + i);
          pointers[i] = &slices[i];
        }
        reader_->MayMatch(static_cast<int>(size), pointers, answers);
      }
      for (size_t i = 0; i < size; ++i) maybes += answers[i] ? 1 : 0;
    }
    return maybes;
  }

  std::vector<Line> lines_;
  size_t size_bytes_ = 0;
  std::unique_ptr<FilterBitsReader> reader_;  // RocksDB's.
  FilterView view_;                           // Rowbloom's.
  std::unique_ptr<Peer> peer_;
};

// Holds what all benchmarks of one number of keys share.
template <Form kForm>
class Size {
 public:
  explicit Size(uint64_t key_count)
      : key_count_(key_count),
        filter_count_(
            std::clamp<uint64_t>(kKeysOfAllFilters / key_count, 1, 1000)),
        present_(0, key_count * filter_count_),
        absent_pool_(kAbsent, kPool) {
    for (uint64_t i = 0; i < kPool; ++i) {
      present_pool_.Add(SplitMix(~i) % key_count);
    }
  }
  static Size& Of(uint64_t key_count) {
    static auto* const sizes = new std::map<uint64_t, Size>;
    return sizes->try_emplace(key_count, key_count).first->second;
  }

  uint64_t filter_count() const { return filter_count_; }
  // The keys of one filter after another.
  const Keys<kForm>& present() const { return present_; }
  // kPool keys, present ones drawn at random from those of filter 0.
  const Keys<kForm>& pool(bool present) const {
    return present ? present_pool_ : absent_pool_;
  }

  const std::vector<Filter>& FiltersOf(const Contender& contender) {
    std::vector<Filter>& filters = filters_[contender.name];
    for (uint64_t f = filters.size(); f < filter_count_; ++f) {
      const size_t begin = f * key_count_;
      filters.emplace_back(contender,
                           Build(contender, present_, begin, key_count_));
      CountWrongAnswers(key_count_ - filters.back().Ask(Order::kBatch, present_,
                                                        begin, key_count_));
    }
    return filters;
  }

 private:
  const uint64_t key_count_;
  const uint64_t filter_count_;
  const Keys<kForm> present_;
  const Keys<kForm> absent_pool_;
  Keys<kForm> present_pool_;
  std::map<std::string, std::vector<Filter>> filters_;
};

template <Form kForm>
void TimeLookups(benchmark::State& state, const std::string& name,
                 const Contender& contender, uint64_t key_count, Order order,
                 bool present) {
  Size<kForm>& size = Size<kForm>::Of(key_count);
  const Filter& filter = size.FiltersOf(contender)[0];
  const Keys<kForm>& keys = size.pool(present);
  filter.Ask(Order::kBatch, keys, 0, kPool);  // Loads the caches.
  CountInstructions(name, kLookups, [&] {
    benchmark::DoNotOptimize(filter.Ask(order, keys, 0, kLookups));
  });
  uint64_t maybes = 0;
  uint64_t lookups = 0;
  for (auto _ : state) {
    maybes += filter.Ask(order, keys, lookups % kPool, kLookups);
    lookups += kLookups;
  }
  if (present) CountWrongAnswers(lookups - maybes);
  state.counters["time_per_lookup"] = TimeOfEach(kLookups);
}

// From a new builder to its result, the disposal of which is not timed.
template <Form kForm>
void TimeBuilds(benchmark::State& state, const std::string& name,
                const Contender& contender, uint64_t key_count) {
  Size<kForm>& size = Size<kForm>::Of(key_count);
  std::vector<Built> built(
      std::clamp<uint64_t>(kKeysOfABuild / key_count, 1, size.filter_count()));
  uint64_t next = 0;
  CountInstructions(name, key_count, [&] {
    built[0] = Build(contender, size.present(), 0, key_count);
  });
  for (auto _ : state) {
    for (Built& result : built) {
      result = Build(contender, size.present(),
                     next++ % size.filter_count() * key_count, key_count);
    }
    state.PauseTiming();
    for (Built& result : built) result = {};
    state.ResumeTiming();
  }
  state.counters["time_per_key"] = TimeOfEach(key_count * built.size());
}

// An engine's flush: rows in order, to a filter block in memory.
void TimeBlocks(benchmark::State& state, const std::string& name,
                const FilterSpec& spec, uint64_t key_count) {
  const Keys<Form::kString> keys(0, key_count);
  std::vector<std::string_view> rows;
  for (uint64_t i = 0; i < key_count; ++i) {
    const Slice key = keys.slice(i);
    rows.emplace_back(key.data(), key.size());
  }
  std::sort(rows.begin(), rows.end());
  FilterOptions options;
  options.filter_spec = spec;
  const auto write = [&] {
    std::string block;
    const std::unique_ptr<ByteSink> sink = NewStringSink(&block);
    FilterBlockWriter writer(options, sink.get());
    for (const std::string_view row : rows) writer.Add(row, "");
    if (OrThrow(writer.Finish()).key_count != key_count) CountWrongAnswers(1);
  };
  CountInstructions(name, key_count, write);
  for (auto _ : state) write();
  state.counters["time_per_key"] = TimeOfEach(key_count);
}

// Counts, in equal shares over all filters of the size. All contenders are
// asked the same keys.
void CountRate(benchmark::State& state, const Contender& contender,
               uint64_t key_count, uint64_t lookups) {
  const auto& filters = Size<Form::kDigest>::Of(key_count).FiltersOf(contender);
  const uint64_t share = (lookups + filters.size() - 1) / filters.size();
  uint64_t positives = 0;
  double bits = 0;
  double expected = 0;
  for (auto _ : state) {
    uint64_t next = kAbsent;
    for (const Filter& filter : filters) {
      bits += 8.0 * static_cast<double>(filter.size_bytes());
      expected += filter.expected_fpr();
      for (uint64_t done = 0; done < share; done += kLookups) {
        const size_t count = std::min<uint64_t>(kLookups, share - done);
        const Keys<Form::kDigest> absent(next, count);
        positives += filter.Ask(Order::kBatch, absent, 0, count);
        next += count;
      }
    }
  }
  const auto filter_count = static_cast<double>(filters.size());
  bits /= static_cast<double>(key_count) * filter_count;
  const double asked = static_cast<double>(share) * filter_count;
  state.counters["bits_per_key"] = bits;
  state.counters["fpr"] = static_cast<double>(positives) / asked;
  state.counters["fpr_lookups"] = asked;
  if (expected > 0) state.counters["expected_fpr"] = expected / filter_count;
}

// Makes a lookup in rowbloom's filter a virtual call, as in RocksDB's.
class ViewReader final : public FilterBitsReader {
 public:
  ViewReader(std::string_view blob, Kernel kernel)
      : view_(OrThrow(ParseFilterBlob(blob, kernel)).view) {}
  using FilterBitsReader::MayMatch;
  bool MayMatch(const Slice& key) override {
    KeyDigest digest;
    std::memcpy(&digest, key.data(), sizeof(digest));
    return view_.MayContain(digest);
  }

 private:
  const FilterView view_;
};

struct Shape {
  std::string text;  // COUNTxKEYS
  size_t filter_count = 0;
  size_t key_count = 0;  // In each filter.
};

// Many filters as a block cache holds them: each has a reader object of its
// own, and its bytes lie where malloc puts them.
struct BlockCache {
  BlockCache(const Contender& contender, const Shape& shape) {
    for (uint64_t f = 0; f < shape.filter_count; ++f) {
      const Keys<Form::kDigest> keys(f * shape.key_count, shape.key_count);
      const std::string bytes =
          Bytes(contender, Build(contender, keys, 0, shape.key_count));
      size_bytes += bytes.size();
      blocks.emplace_back(new char[bytes.size()]);
      char* const block = blocks.back().get();
      std::memcpy(block, bytes.data(), bytes.size());
      if (contender.rowbloom) {
        readers.push_back(std::make_unique<ViewReader>(
            std::string_view(block, bytes.size()), contender.kernel));
      } else {
        readers.emplace_back(
            contender.rocksdb->GetFilterBitsReader({block, bytes.size()}));
      }
      const uint64_t checked = std::min<uint64_t>(1000, shape.key_count);
      for (uint64_t i = 0; i < checked; ++i) {
        if (!readers[f]->MayMatch(keys.slice(i))) CountWrongAnswers(1);
      }
    }
  }
  std::vector<std::unique_ptr<char[]>> blocks;
  std::vector<std::unique_ptr<FilterBitsReader>> readers;
  size_t size_bytes = 0;
};

// Looks up each absent key in a random filter.
void TimeBlockCache(benchmark::State& state, const Contender& contender,
                    const Shape& shape) {
  static auto* const caches = new std::map<std::string, BlockCache>;
  const BlockCache& cache =
      caches->try_emplace(contender.name + "/" + shape.text, contender, shape)
          .first->second;
  const Keys<Form::kDigest> keys(kAbsent, kPool);
  std::vector<uint32_t> which(kPool);
  for (size_t i = 0; i < kPool; ++i) {
    which[i] =
        static_cast<uint32_t>(SplitMix(~uint64_t{i}) % shape.filter_count);
  }
  const auto ask = [&](size_t i) {
    return cache.readers[which[i]]->MayMatch(keys.slice(i));
  };
  size_t begin = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(AskIndependently(ask, begin, kLookups));
    begin = (begin + kLookups) % kPool;
  }
  state.counters["time_per_lookup"] = TimeOfEach(kLookups);
  state.counters["size_bytes"] = static_cast<double>(cache.size_bytes);
}

// NAME=FILE, a shared library.
Contender LoadPeer(const std::string& text) {
  const size_t end = text.find('=');
  if (end == std::string::npos) {
    throw UsageError("--peers: \"" + text + "\" is not NAME=FILE");
  }
  void* const library = dlopen(text.c_str() + end + 1, RTLD_NOW);
  void* const build = library ? dlsym(library, "rowbloom_bench_peer") : nullptr;
  if (build == nullptr) {
    throw UsageError(std::string("--peers: ") + dlerror());
  }
  Contender contender{text.substr(0, end), nullptr, {}};
  contender.peer = reinterpret_cast<BuildPeer*>(build);
  return contender;
}

struct Options {
  std::vector<uint64_t> keys = {300,    1000,    3500,    10000,
                                100000, 1000000, 30000000};
  std::vector<std::string> filters = {"rocksdb_bloom_10", "rocksdb_ribbon_10",
                                      "blocked_bloom_10", "fast_10",
                                      "fast_0.39%",       "compact_0.957%",
                                      "compact_0.39%",    "compact_10"};
  std::vector<std::string> peers;
  uint64_t fpr_lookups = 10000000;
  // About as many bytes each, well beyond the last-level cache together.
  std::vector<std::string> block_cache = {"20000x3500", "700x100000",
                                          "70x1000000"};
};

Kernel ParseKernel(const std::string& name) {
  for (const Kernel kernel : AvailableKernels()) {
    if (KernelName(kernel) == name) return kernel;
  }
  throw UsageError("--filters: this machine has no kernel \"" + name + "\"");
}

Contender ParseContender(const std::string& text) {
  double bits = 0;
  char rest = 0;
  for (const bool ribbon : {false, true}) {
    const char* const format =
        ribbon ? "rocksdb_ribbon_%lf%c" : "rocksdb_bloom_%lf%c";
    if (std::sscanf(text.c_str(), format, &bits, &rest) == 1 && bits >= 1) {
      Contender contender{text, nullptr, {}};
      contender.rocksdb.reset(ribbon ? rocksdb::NewRibbonFilterPolicy(bits)
                                     : rocksdb::NewBloomFilterPolicy(bits));
      return contender;
    }
  }
  const size_t at = text.find('@');
  const Kernel kernel = at == std::string::npos
                            ? Kernel::kBest
                            : ParseKernel(text.substr(at + 1));
  // A name with this prefix asks the filter through RocksDB's interface.
  constexpr std::string_view kPlugin = "plugin_";
  const bool is_plugin = text.rfind(kPlugin, 0) == 0;
  const std::string name = text.substr(is_plugin ? kPlugin.size() : 0, at);
  const size_t end = std::min(name.rfind('_'), name.size());
  std::string policy = name.substr(0, end);
  const std::string number = name.substr(std::min(end + 1, name.size()));
  double percent = 0;
  if (number == "0.39%") {
    policy += ":target_fpr=0.00390625";  // One of 256.
  } else if (std::sscanf(number.c_str(), "%lf%c", &percent, &rest) == 2 &&
             rest == '%') {
    policy += ":target_fpr=" + std::to_string(percent / 100);
  } else {
    policy += ":bits_per_key=" + number;
  }
  auto parsed = FilterSpec::Parse(policy);
  if (!parsed.ok()) {
    throw UsageError("--filters: " + text + ": " +
                     std::string(parsed.status().message()));
  }
  if (!is_plugin) {
    return {text, nullptr, *std::move(parsed), nullptr, kernel};
  }
  if (at != std::string::npos) {
    throw UsageError("--filters: " + text + ": the plugin chooses the kernel");
  }
  RocksDbOptions plugin;
  plugin.filter_spec = *std::move(parsed);
  rocksdb::Status error;
  Contender contender{text, nullptr, {}};
  contender.rocksdb = NewRocksDbFilterPolicy(plugin, &error);
  if (!error.ok()) {
    throw UsageError("--filters: " + text + ": " + error.ToString());
  }
  return contender;
}

Shape ParseShape(const std::string& text) {
  Shape shape;
  shape.text = text;
  if (std::sscanf(text.c_str(), "%zux%zu", &shape.filter_count,
                  &shape.key_count) != 2 ||
      shape.filter_count == 0 || shape.key_count == 0) {
    throw UsageError("--block_cache: \"" + text + "\" is not COUNTxKEYS");
  }
  return shape;
}

// Summarizes the repetitions of a benchmark.
template <int kPercent>
double Percentile(const std::vector<double>& values) {
  return Quantile(values, kPercent / 100.0);
}

// Processor time of all threads, so that a builder gains nothing by hiding in
// others.
template <typename Run>
benchmark::internal::Benchmark* Add(const std::string& name, const Run& run) {
  return benchmark::RegisterBenchmark(name.c_str(), run)
      ->ComputeStatistics("lower_quartile", Percentile<25>)
      ->ComputeStatistics("upper_quartile", Percentile<75>)
      ->MeasureProcessCPUTime();
}

template <Form kForm>
void AddTimes(const std::string& form, const Contender& c, uint64_t keys) {
  const std::string end = form + "/" + c.name + "/" + std::to_string(keys);
  const auto lookup = [&](const char* kind, Order order, bool present) {
    const std::string name = std::string("lookup/") + kind + "/" + end;
    Add(name, [name, &c, keys, order, present](benchmark::State& state) {
      TimeLookups<kForm>(state, name, c, keys, order, present);
    });
  };
  lookup("absent", Order::kIndependent, false);
  lookup("present", Order::kIndependent, true);
  lookup("dependent", Order::kDependent, false);
  if (c.peer == nullptr) lookup("batch", Order::kBatch, false);
  const std::string name = "build/" + end;
  const auto build = Add(name, [name, &c, keys](benchmark::State& state) {
    TimeBuilds<kForm>(state, name, c, keys);
  });
  if (keys >= 10000000) build->Iterations(1)->Repetitions(3);
}

// `contenders` must outlive the run.
void AddBenchmarks(const Options& options,
                   const std::vector<Contender>& contenders) {
  for (const uint64_t keys : options.keys) {
    for (const Contender& c : contenders) {
      Add("rate/" + c.name + "/" + std::to_string(keys),
          [&c, keys, lookups = options.fpr_lookups](benchmark::State& state) {
            CountRate(state, c, keys, lookups);
          })
          ->Iterations(1)
          ->Repetitions(1);
      AddTimes<Form::kDigest>("digests", c, keys);
      AddTimes<Form::kString>("strings", c, keys);
      // To sort more takes minutes.
      constexpr uint64_t kMostOfBlock = 1000000;
      if (!c.rowbloom || keys > kMostOfBlock) continue;
      const std::string name = "block/" + c.name + "/" + std::to_string(keys);
      Add(name, [name, &c, keys](benchmark::State& state) {
        TimeBlocks(state, name, *c.rowbloom, keys);
      });
    }
  }
  for (const std::string& text : options.block_cache) {
    const Shape shape = ParseShape(text);
    for (const Contender& c : contenders) {
      if (c.peer != nullptr) continue;  // It cannot lie in a block.
      Add("block_cache/absent/" + c.name + "/" + shape.text,
          [&c, shape](benchmark::State& state) {
            TimeBlockCache(state, c, shape);
          });
    }
  }
}

// Refuses a library of another release than the headers, and tells which one
// the system loaded.
void CheckRocksDb() {
  const absl::Status& release = plugin::CheckRocksDbRelease();
  if (!release.ok()) throw std::runtime_error(std::string(release.message()));
  Dl_info library = {};
  library.dli_fname = "unknown";
  dladdr(reinterpret_cast<void*>(&rocksdb::NewBloomFilterPolicy), &library);
  benchmark::AddCustomContext("rocksdb_library", library.dli_fname);
  benchmark::AddCustomContext("rocksdb_version",
                              plugin::RunningRocksDbVersion());
}

int Main(int argc, char** argv) {
  Options options;
  std::vector<Contender> contenders;
  CLI::App app(
      "Rowbloom's filters beside RocksDB's Bloom and Ribbon: bits per key, "
      "rates, lookups\nand builds. All of it takes 4 GB of memory.");
  app.option_defaults()->always_capture_default();
  app.add_option("--keys", options.keys, "Of a filter, or a list: 300,10k,30M")
      ->delimiter(',')
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, uint64_t>{{"k", 1000}, {"M", 1000000}},
          CLI::AsNumberWithUnit::CASE_SENSITIVE))
      ->check(CLI::Range(uint64_t{1}, uint64_t{4000000000}));
  app.add_option("--filters", options.filters,
                 "FAMILY_BITS or FAMILY_RATE%; families of rowbloom, and "
                 "rocksdb_bloom and rocksdb_ribbon by bits. @KERNEL behind one "
                 "of rowbloom's uses that kernel; plugin_ before one asks it "
                 "through RocksDB's interface")
      ->delimiter(',');
  app.add_option("--peers", options.peers,
                 "Filters of other authors, as NAME=FILE of shared libraries "
                 "(bench/filter/peer.h)")
      ->delimiter(',');
  app.add_option("--fpr_lookups", options.fpr_lookups,
                 "Absent keys that a rate is counted over")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  app.add_option("--block_cache", options.block_cache,
                 "Many filters of one size, as COUNTxKEYS, or a list")
      ->delimiter(',');
  return RunMicro("filter_bench", &app, argc, argv, [&] {
    CheckRocksDb();
    for (const std::string& text : options.filters) {
      contenders.push_back(ParseContender(text));
    }
    for (const std::string& text : options.peers) {
      contenders.push_back(LoadPeer(text));
    }
    AddBenchmarks(options, contenders);
  });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
