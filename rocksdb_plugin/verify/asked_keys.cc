// SPDX-License-Identifier: Apache-2.0

#include "verify/asked_keys.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "comparators.h"
#include "policy/common_size.h"
#include "policy/filter_entry.h"
#include "policy/row_prefix_extractor.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/iterator.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"

namespace rowbloom::plugin {

namespace {

// Keys that follow one another are read together, at several places.
constexpr size_t kWindows = 16;
constexpr size_t kKeysOfWindow = 64;
// A gap has no more neighbours if so many changes of its key gave none.
constexpr int kMostFailures = 32;

// Values are of no interest; RocksDB insists on merging them.
class AnyValue final : public rdb::MergeOperator {
 public:
  const char* Name() const override { return "rowbloom.AnyValue"; }
  bool FullMergeV2(const MergeOperationInput& /*in*/,
                   MergeOperationOutput* out) const override {
    out->new_value.clear();
    return true;
  }
};

// Counts the tombstones that iterators of this thread skip, by RocksDB's
// counters, which count as for any read.
class SkippedTombstones {
 public:
  SkippedTombstones() { rdb::SetPerfLevel(rdb::PerfLevel::kEnableCount); }
  ~SkippedTombstones() { rdb::SetPerfLevel(outer_level_); }
  SkippedTombstones(const SkippedTombstones&) = delete;
  SkippedTombstones& operator=(const SkippedTombstones&) = delete;

  // True if there were any since the last call.
  bool Any() {
    const uint64_t count =
        rdb::get_perf_context()->internal_delete_skipped_count;
    const bool any = count != last_;
    last_ = count;
    return any;
  }

 private:
  const rdb::PerfLevel outer_level_ = rdb::GetPerfLevel();
  uint64_t last_ = rdb::get_perf_context()->internal_delete_skipped_count;
};

// The order of the bytes of a file's keys.
enum class Order { kBytewise, kReverse };

// The prefix of a key that a get asks for, before the codec sees it.
struct Question {
  // The filters hold prefixes alone, and gets ask for them.
  std::shared_ptr<const rdb::SliceTransform> only_prefixes;
  // True if the codec finds these prefixes, too.
  bool is_of_codec = false;
  std::string unknown;  // The reason why no get asks, or empty.
};

Question QuestionOf(const rdb::TableProperties& table,
                    const rdb::Options& options, bool has_codec) {
  Question question;
  const auto whole = table.user_collected_properties.find(
      "rocksdb.block.based.table.whole.key.filtering");
  if (whole == table.user_collected_properties.end() || whole->second != "0") {
    return question;
  }
  const std::string& name = table.prefix_extractor_name;
  auto ours = RowPrefixExtractor::Parse(name);
  if (ours.ok()) {
    question.only_prefixes = *std::move(ours);
    question.is_of_codec = has_codec;
  } else if (options.prefix_extractor != nullptr &&
             options.prefix_extractor->AsString() == name) {
    question.only_prefixes = options.prefix_extractor;
  } else if (!rdb::SliceTransform::CreateFromString({}, name,
                                                    &question.only_prefixes)
                  .ok() ||
             question.only_prefixes == nullptr) {
    question.unknown = absl::StrCat("the filter holds prefixes of ", name,
                                    " alone, which is not configured");
  }
  return question;
}

// Bytes between two keys that follow one another, where the file holds nothing.
struct Gap {
  std::string key;   // The lower of the two keys.
  std::string low;   // No neighbour is at most `low`, which is not below `key`,
  std::string high;  // nor at least `high`, unless that is empty.
  // Neighbours differ from the key in one byte of these.
  size_t begin = 0;
  size_t end = 0;
  bool fits = false;  // The codec fits the key.
  int failures = 0;   // Since the last neighbour that was found.
};

// The filters of one file.
class Filters {
 public:
  Filters(const SstFilters& filters, const Question& question)
      : filters_(filters), question_(question) {}

  // False for keys that the codec did not write: they neither hold all key
  // levels of the filter nor end where one of them does.
  bool Fits(std::string_view key) const {
    if (!IsByCodec() || key.empty()) return true;
    const KeyCodec::Prefixes prefixes =
        filters_.key_codec.PrefixesOf(key, filters_.key_level_count);
    if (prefixes.count == 0) return false;
    const size_t size = filters_.key_codec.SegmentsSize(
        key, prefixes.count, prefixes.sizes[prefixes.count - 1]);
    return size > 0 &&
           (prefixes.count == filters_.key_level_count || size == key.size());
  }

  // The filter key that a get of `key` asks for; nothing if it asks for none.
  std::optional<std::string_view> AskedBy(std::string_view key) const {
    const auto entry = EntryOf(key);
    if (!entry.has_value()) return std::nullopt;
    return AskedPrefix(filters_.key_level_count, filters_.key_codec, *entry);
  }

  // True if `prefix` is one of the filter keys that `key` was added as.
  bool IsOf(std::string_view prefix, std::string_view key) const {
    if (!IsByCodec()) return AskedBy(key) == prefix;
    const KeyCodec::Prefixes prefixes =
        filters_.key_codec.PrefixesOf(key, filters_.key_level_count);
    for (size_t i = 0; i < prefixes.count; ++i) {
      if (key.substr(0, prefixes.sizes[i]) == prefix) return true;
    }
    return false;
  }

  // Asks the filter that holds `stored`, which is a key of the file.
  bool Passes(std::string_view key, std::string_view stored) {
    for (size_t i = 0; i < filters_.count && !MayContain(stored); ++i) {
      current_ = (current_ + 1) % filters_.count;
    }
    return MayContain(key);
  }

  // The first filter from `begin` on that passes `stored`, or nothing.
  std::optional<size_t> FirstThatPasses(std::string_view stored,
                                        size_t begin) const {
    const auto entry = EntryOf(stored);
    if (!entry.has_value()) return begin;  // Gets of it ask no filter.
    for (size_t i = begin; i < filters_.count; ++i) {
      if (filters_.may_contain(i, *entry)) return i;
    }
    return std::nullopt;
  }

 private:
  // The bytes that RocksDB passes to the filter for a get.
  std::optional<std::string_view> EntryOf(std::string_view key) const {
    if (question_.only_prefixes == nullptr) return key;
    const rdb::Slice slice(key.data(), key.size());
    if (!question_.only_prefixes->InDomain(slice)) return std::nullopt;
    return ViewOf(question_.only_prefixes->Transform(slice));
  }
  // True if the codec finds the filter keys.
  bool IsByCodec() const {
    return question_.only_prefixes == nullptr || question_.is_of_codec;
  }
  bool MayContain(std::string_view key) const {
    const auto entry = EntryOf(key);
    return !entry.has_value() || filters_.may_contain(current_, *entry);
  }

  const SstFilters& filters_;
  const Question& question_;
  size_t current_ = 0;
};

// Finds stored keys that the filters deny. A get asks one filter, and keys that
// follow one another never ask an earlier one. So filters that pass all of
// their keys are never blamed, and where they deny some, false positives of
// later ones soon run out. With several filters it may be an earlier key that
// was denied than the first one that no filter passes.
class Denials {
 public:
  Denials(const rdb::Comparator* order, const Filters& filters,
          KeySample* sample)
      : order_(order), filters_(filters), sample_(sample) {}

  // Keys come in the order of the file; where one does not, all filters are
  // asked.
  void Take(const std::string& key) {
    ++sample_->stored;
    if (last_.has_value() &&
        order_->CompareWithoutTimestamp(*last_, /*a_has_ts=*/false, key,
                                        /*b_has_ts=*/false) > 0) {
      current_ = 0;
    }
    last_ = key;
    const auto passing = filters_.FirstThatPasses(key, current_);
    if (passing.has_value()) {
      current_ = *passing;
      return;
    }
    if (sample_->denied == 0) sample_->first_denied = key;
    ++sample_->denied;
  }

 private:
  const rdb::Comparator* const order_;
  const Filters& filters_;
  KeySample* const sample_;
  std::optional<std::string> last_;
  size_t current_ = 0;
};

// Reads stored keys at several places of the file, and the gaps between them.
class KeyReader {
 public:
  KeyReader(rdb::Iterator* it, const rdb::Comparator* order,
            const Filters& filters, KeySample* sample)
      : it_(it),
        takes_any_bytes_(TakesAnyBytes(*order)),
        filters_(filters),
        denials_(order, filters, sample),
        sample_(sample) {}

  // False if the file's keys are in no order of their bytes.
  bool is_in_order() const { return is_in_order_; }

  std::vector<Gap> ReadGaps() {
    skipped_.Any();
    it_->SeekToFirst();
    if (!it_->Valid()) return {};
    const std::string first = it_->key().ToString();
    const bool is_clean_before = !skipped_.Any();
    it_->SeekToLast();
    if (!it_->Valid()) return {};
    const std::string last = it_->key().ToString();
    const bool is_clean_behind = !skipped_.Any();
    if (last < first) order_ = Order::kReverse;
    if (order_ == Order::kReverse) it_->SeekToFirst();
    if (order_ == Order::kReverse ? is_clean_before : is_clean_behind) {
      AddOpenGap();
    }
    it_->SeekToFirst();
    if (!it_->Valid()) return {};
    std::vector<std::string> targets;
    if (takes_any_bytes_) targets = Targets(first, last);
    ReadWindow();
    for (const std::string& target : targets) {
      if (IsBefore(target, key_)) continue;  // It was read.
      it_->Seek(target);
      if (it_->Valid()) ReadWindow();
    }
    return std::move(gaps_);
  }

 private:
  bool IsBefore(std::string_view a, std::string_view b) const {
    return order_ == Order::kReverse ? a > b : a < b;
  }

  // Places between the first and the last key, in the order of the file.
  std::vector<std::string> Targets(const std::string& first,
                                   const std::string& last) {
    const std::string& low = std::min(first, last);
    const std::string& high = std::max(first, last);
    const size_t common = CommonSize(low, high);
    const auto number = [common](const std::string& key) {
      uint64_t value = 0;
      for (size_t i = 0; i < sizeof(value); ++i) {
        const size_t at = common + i;
        value = value << 8 |
                (at < key.size() ? static_cast<unsigned char>(key[at]) : 0);
      }
      return value;
    };
    std::uniform_int_distribution<uint64_t> draw(number(low), number(high));
    std::vector<std::string> targets;
    for (size_t i = 1; i < kWindows; ++i) {
      const uint64_t value = draw(random_);
      std::string target = low.substr(0, common);
      for (int shift = 56; shift >= 0; shift -= 8) {
        target.push_back(static_cast<char>(value >> shift & 0xff));
      }
      targets.push_back(std::move(target));
    }
    std::sort(targets.begin(), targets.end(),
              [this](const auto& a, const auto& b) { return IsBefore(a, b); });
    return targets;
  }

  void ReadWindow() {
    TakeKey(/*is_first=*/true);
    for (size_t i = 1; i < kKeysOfWindow; ++i) {
      skipped_.Any();
      std::string low = key_;
      it_->Next();
      const auto prefix = filters_.AskedBy(key_);
      if (order_ == Order::kBytewise && takes_any_bytes_ && it_->Valid() &&
          prefix.has_value() && prefix->size() < key_.size() &&
          filters_.Fits(key_) && filters_.IsOf(*prefix, ViewOf(it_->key()))) {
        // The next filter key is behind all keys of this one.
        low = std::string(*prefix);
        while (!low.empty() && low.back() == '\xff') low.pop_back();
        if (low.empty()) break;
        ++low.back();
        it_->Seek(low);
      }
      const bool has_gap = !skipped_.Any();
      if (!it_->Valid()) break;
      if (has_gap) AddGap(key_, low, it_->key().ToString());
      if (!IsBefore(key_, ViewOf(it_->key()))) is_in_order_ = false;
      TakeKey(/*is_first=*/false);
    }
  }

  void TakeKey(bool is_first) {
    const std::string before = std::move(key_);
    key_ = it_->key().ToString();
    ++sample_->keys;
    denials_.Take(key_);
    if (filters_.Fits(key_)) return;
    ++sample_->misfits;
    if (!is_first && filters_.AskedBy(key_) == filters_.AskedBy(before)) {
      ++sample_->sharing_misfits;
    }
  }

  void AddGap(std::string key, std::string low, std::string high) {
    if (order_ == Order::kReverse) {
      std::swap(low, high);
      key = low;
    }
    const size_t common = CommonSize(low, high);
    AddGap({std::move(key), std::move(low), std::move(high), common});
  }
  void AddGap(Gap gap) {
    gap.fits = filters_.Fits(gap.key);
    const auto asked = filters_.AskedBy(gap.key);
    gap.end = gap.fits && asked.has_value() ? asked->size() : gap.key.size();
    gaps_.push_back(std::move(gap));
  }

  // Above the largest key, where the iterator is, there is room even where the
  // keys of the file are all numbers of a range.
  void AddOpenGap() {
    const std::string key = it_->key().ToString();
    if (order_ == Order::kReverse) {
      it_->Next();
    } else {
      it_->Prev();
    }
    const size_t common =
        it_->Valid() ? CommonSize(ViewOf(it_->key()), key) : 0;
    AddGap({key, key, "", common});
    // Some 65,536 numbers above it, and the end of a segment.
    Gap& gap = gaps_.back();
    gap.begin = std::min(gap.begin, gap.end);
    gap.begin -= std::min<size_t>(gap.begin, 3);
  }

  rdb::Iterator* const it_;
  const bool takes_any_bytes_;
  Order order_ = Order::kBytewise;
  bool is_in_order_ = true;
  const Filters& filters_;
  Denials denials_;
  KeySample* const sample_;
  SkippedTombstones skipped_;
  std::mt19937_64 random_;  // The same sequence in each run.
  std::string key_;         // The last one that was read.
  std::vector<Gap> gaps_;
};

// Increases one byte of the gap's key, half of the time by 1, as counters do.
std::string Increased(const Gap& gap, std::mt19937_64* random) {
  std::string key = gap.key;
  if (gap.begin >= gap.end) return key;
  const size_t at = gap.begin + (*random)() % (gap.end - gap.begin);
  const auto byte = static_cast<unsigned char>(key[at]);
  const bool is_limited = at == gap.begin && at < gap.high.size();
  const unsigned most =
      is_limited ? static_cast<unsigned char>(gap.high[at]) : 0xff;
  if (byte >= most) return key;
  const uint64_t step =
      (*random)() % 2 == 0 ? 1 : 1 + (*random)() % (most - byte);
  key[at] = static_cast<char>(byte + step);
  return key;
}

// Asks each gap in turn while it has neighbours.
void Ask(std::vector<Gap> gaps, uint64_t ask_count, Filters* filters,
         KeySample* sample) {
  std::mt19937_64 random;  // The same sequence in each run.
  std::unordered_set<std::string> known;
  const auto is_neighbour = [&](const Gap& gap, const std::string& key) {
    if (key <= gap.low || (!gap.high.empty() && key >= gap.high)) return false;
    const auto asked = filters->AskedBy(key);
    if (!asked.has_value()) return false;
    return !gap.fits ||
           (filters->Fits(key) && !filters->IsOf(*asked, gap.key) &&
            !filters->IsOf(*asked, gap.high));
  };
  for (size_t i = 0; !gaps.empty() && sample->asked < ask_count; ++i) {
    i %= gaps.size();
    Gap& gap = gaps[i];
    const std::string key = Increased(gap, &random);
    if (is_neighbour(gap, key) && known.insert(key).second) {
      gap.failures = 0;
      ++sample->asked;
      sample->passed += filters->Passes(key, gap.key) ? 1 : 0;
    } else if (++gap.failures == kMostFailures) {
      gap = std::move(gaps.back());
      gaps.pop_back();
    }
  }
}

// Asks for each stored key.
rdb::Status AskAll(rdb::SstFileReader* reader, rdb::ReadOptions read,
                   const rdb::Comparator* order, const Filters& filters,
                   KeySample* sample) {
  read.readahead_size = 2 << 20;
  const std::unique_ptr<rdb::Iterator> it(reader->NewIterator(read));
  KeySample all;
  Denials denials(order, filters, &all);
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    denials.Take(it->key().ToString());
  }
  // After an error, the keys of the sample may have told more.
  if (it->status().ok() || all.denied > 0) {
    sample->stored = all.stored;
    sample->denied = all.denied;
    sample->first_denied = all.first_denied;
  }
  return it->status();
}

// Releases before 8.5 store the timestamps of all keys.
template <typename Options, typename Properties>
auto TakeTimestamps(const Properties& table, Options* options,
                    int /*preferred*/)
    -> decltype(options->persist_user_defined_timestamps =
                    table.user_defined_timestamps_persisted != 0) {
  return options->persist_user_defined_timestamps =
             table.user_defined_timestamps_persisted != 0;
}
template <typename Options, typename Properties>
bool TakeTimestamps(const Properties& /*table*/, Options* /*options*/,
                    double /*otherwise*/) {
  return true;
}

}  // namespace

KeySample AskKeys(const std::string& path, const rdb::Options& options,
                  const SstFilters& filters, const KeysToAsk& keys) {
  KeySample sample;
  rdb::Options without;  // No filter policy.
  without.env = options.env;
  without.merge_operator = std::make_shared<AnyValue>();
  if (options.comparator != nullptr) without.comparator = options.comparator;
  auto reader = std::make_unique<rdb::SstFileReader>(without);
  rdb::Status opened = reader->Open(path);
  auto table = opened.ok() ? reader->GetTableProperties() : nullptr;
  if (table != nullptr) {
    const bool is_other = table->comparator_name != without.comparator->Name();
    if (is_other && !rdb::Comparator::CreateFromString(
                         {}, table->comparator_name, &without.comparator)
                         .ok()) {
      sample.unknown = absl::StrCat("comparator ", table->comparator_name,
                                    " is not configured");
      return sample;
    }
    if (!TakeTimestamps(*table, &without, 0) || is_other) {
      reader = std::make_unique<rdb::SstFileReader>(without);
      opened = reader->Open(path);
      table = opened.ok() ? reader->GetTableProperties() : nullptr;
    }
  }
  if (table == nullptr) {
    sample.unknown = opened.ok() ? "no table properties" : opened.ToString();
    return sample;
  }
  const Question question = QuestionOf(*table, options, filters.has_codec);
  sample.unknown = question.unknown;
  if (!sample.unknown.empty()) return sample;

  rdb::ReadOptions read;
  read.total_order_seek = true;
  read.fill_cache = false;
  read.ignore_range_deletions = true;
  const std::string newest(without.comparator->timestamp_size(), '\xff');
  const rdb::Slice timestamp(newest);
  if (!newest.empty()) read.timestamp = &timestamp;
  const std::unique_ptr<rdb::Iterator> it(reader->NewIterator(read));
  Filters asked(filters, question);
  KeyReader key_reader(it.get(), without.comparator, asked, &sample);
  std::vector<Gap> gaps = key_reader.ReadGaps();
  rdb::Status status = it->status();
  if (keys.all_keys && status.ok()) {
    status = AskAll(reader.get(), read, without.comparator, asked, &sample);
  }
  if (!status.ok()) {
    sample.unknown = status.ToString();
  } else if (keys.neighbours > 0 && !key_reader.is_in_order()) {
    sample.misfits = sample.sharing_misfits = 0;
    sample.unknown = absl::StrCat("comparator ", table->comparator_name,
                                  " does not order keys by their bytes");
  } else if (keys.neighbours > 0) {
    Ask(std::move(gaps), keys.neighbours, &asked, &sample);
    if (sample.asked == 0) {
      sample.unknown = "there are no neighbours of its keys";
    }
  }
  return sample;
}

}  // namespace rowbloom::plugin
