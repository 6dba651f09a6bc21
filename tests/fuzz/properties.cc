// SPDX-License-Identifier: Apache-2.0

#include "fuzz/properties.h"

#include <algorithm>
#include <memory>

#include "filter/compact/compact.h"
#include "filter/compact/compact_layout.h"
#include "filter/family.h"
#include "fuzz/require.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/key_codec.h"
#include "rowbloom/memfilter/guava.h"
#include "rowbloom/memfilter/mem_filter.h"
#include "rowbloom/memfilter/redisson.h"
#include "testing/faulty_source.h"
#include "testing/filters.h"
#include "testing/key_codecs.h"
#include "testing/keys.h"
#include "testing/reseal.h"
#include "util/coding.h"

namespace rowbloom::fuzz {

namespace {

using testing::Cell;

// Takes values off the front of the input; returns zeros once it is used up.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  uint8_t Byte() {
    uint8_t value = 0;
    util::ReadFixed(&bytes_, &value);
    return value;
  }
  uint64_t Integer(int size_bytes) {
    uint64_t value = 0;
    for (int i = 0; i < size_bytes; ++i) value = value << 8 | Byte();
    return value;
  }
  std::string_view Bytes(size_t max_size) {
    const size_t size = std::min<size_t>(
        bytes_.size(), max_size == 0 ? 0 : Byte() % (max_size + 1));
    const std::string_view taken =
        bytes_.substr(0, std::min(size, bytes_.size()));
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view Rest() { return bytes_; }

 private:
  std::string_view bytes_;
};

// Changes to any bytes: offsets, taken modulo the size, with masks to flip.
using Damage = std::vector<std::pair<size_t, uint8_t>>;

Damage TakeDamage(Input* input) {
  Damage damage(input->Byte() % 4);
  for (auto& [offset, mask] : damage) {
    offset = input->Integer(2);
    mask = input->Byte();
  }
  return damage;
}

std::string Damaged(std::string bytes, const Damage& damage) {
  for (const auto& [offset, mask] : damage) {
    if (bytes.empty()) break;
    char& byte = bytes[offset % bytes.size()];
    byte = static_cast<char>(static_cast<uint8_t>(byte) ^ mask);
  }
  return bytes;
}

// The first ones are none.
constexpr const char* kCodecs[] = {"",
                                   "",
                                   "1.rest",
                                   "fixed:1,fixed:2",
                                   "delimiter:a,-ordered,rest",
                                   "ordered,ordered,fixed:1",
                                   "length:1,delimiter:0x00,rest",
                                   "-fixed:1,length:1,ordered,rest"};

// Takes options of small chunks; the caller sets the length of prefixes.
FilterOptions TakeOptions(Input* input) {
  const uint8_t flags = input->Byte();
  FilterOptions options;
  options.bloom_type = static_cast<BloomType>(1 + flags % 4);
  options.rowcol_adds_rows = (flags & 4) != 0;
  options.chunk_size_bytes = 256;
  options.filter_spec = FilterSpec::BitsPerKey(
      FilterFamilyNames()[(flags >> 3) % FilterFamilyNames().size()],
      1 + input->Byte() % 24);
  const char* const codec = kCodecs[flags >> 5];
  if (*codec != '\0' &&
      options.bloom_type != BloomType::kRowPrefixFixedLength) {
    options.key_codec = *KeyCodec::Parse(codec);
  }
  return options;
}

std::string WriteBlock(const FilterOptions& options,
                       const std::vector<Cell>& cells) {
  std::string block;
  const auto sink = NewStringSink(&block);
  FilterBlockWriter writer(options, sink.get());
  for (const Cell& cell : cells) writer.Add(cell.row, cell.qualifier);
  REQUIRE(writer.Finish().ok());
  return block;
}

void AskEverything(const FilterReader& reader, std::string_view bytes) {
  for (const FilterChunkInfo& chunk : reader.Chunks()) {
    reader.MayContain(chunk.first_row);
    reader.MayContain(chunk.first_row, chunk.first_qualifier);
  }
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 20); ++i) {
    const FilterKey row = FilterKey::Row(bytes.substr(i, 5));
    const FilterKey cell = FilterKey::RowCol(row, bytes.substr(0, i));
    const FilterKey prefix = FilterKey::Prefix(row.row());
    const FilterKey keys[] = {row, cell, prefix};
    bool answers[3];
    reader.MayContain(keys, answers);
    for (size_t k = 0; k < 3; ++k) {
      REQUIRE(answers[k] == reader.MayContain(keys[k]));
    }
  }
}

void OpenVerifyAndAsk(std::string_view bytes) {
  const auto source = NewMemorySource(bytes, "fuzz");
  const auto reader = FilterReader::Open(source.get(), {}, {});
  if (!reader.ok()) {
    REQUIRE(reader.status().code() == absl::StatusCode::kDataLoss ||
            reader.status().code() == absl::StatusCode::kUnimplemented ||
            reader.status().code() == absl::StatusCode::kFailedPrecondition);
    return;
  }
  const absl::Status verified = (*reader)->Verify();
  REQUIRE(verified.ok() || verified.code() == absl::StatusCode::kDataLoss);
  AskEverything(**reader, bytes);
}

// Opening, verifying and asking any bytes as a filter block does no harm, even
// with right checksums.
void FilterBlockProperty(std::string_view bytes) {
  OpenVerifyAndAsk(bytes);
  // Checks again with right checksums, which mutation alone does not find.
  std::string resealed(bytes);
  testing::Reseal(&resealed);
  OpenVerifyAndAsk(resealed);
}

// Parsing, verifying and asking any bytes as a filter blob does no harm.
void FilterBlobProperty(std::string_view bytes) {
  const auto parsed = ParseFilterBlob(bytes);
  if (!parsed.ok()) {
    REQUIRE(!VerifyFilterBlob(bytes).ok());
    return;
  }
  (void)VerifyFilterBlob(bytes);
  for (const Kernel kernel : AvailableKernels()) {
    const auto again = ParseFilterBlob(bytes, kernel);
    REQUIRE(again.ok());
    for (size_t i = 0; i < 16; ++i) {
      const KeyDigest digest = DigestBytes(bytes.substr(0, i));
      REQUIRE(again->view.MayContain(digest) ==
              parsed->view.MayContain(digest));
    }
  }
}

// Any cells are written and found again; no damage that the rest of the bytes
// describes loses one.
void RoundTripProperty(std::string_view bytes) {
  Input input(bytes);
  FilterOptions options = TakeOptions(&input);
  if (options.bloom_type == BloomType::kRowPrefixFixedLength) {
    options.prefix_length_bytes = 1 + input.Byte() % 4;
  }
  const Damage damage = TakeDamage(&input);
  std::vector<Cell> cells;
  while (!input.empty()) {
    Cell cell;
    cell.row = input.Bytes(6);
    cell.qualifier = input.Bytes(4);
    cells.push_back(cell);
  }
  std::sort(cells.begin(), cells.end());
  const std::string whole = WriteBlock(options, cells);
  const std::string block = Damaged(whole, damage);
  const auto source = NewMemorySource(block, "fuzz");
  const auto reader = FilterReader::Open(source.get(), {}, {});
  if (block == whole) {
    REQUIRE(reader.ok());
    REQUIRE((*reader)->Verify().ok());
  } else {
    REQUIRE(!reader.ok() || !(*reader)->Verify().ok());
  }
  if (!reader.ok()) return;
  for (const Cell& cell : cells) {
    REQUIRE((*reader)->MayContain(cell.row));
    REQUIRE((*reader)->MayContain(cell.row, cell.qualifier));
    for (size_t size = 0; size <= cell.row.size(); ++size) {
      REQUIRE((*reader)->MayContain(
          FilterKey::Prefix(std::string_view(cell.row).substr(0, size))));
    }
  }
}

// Two readers of one block share a cache and an id; the exact set is known.
class ReaderLife {
 public:
  explicit ReaderLife(Input* input) {
    FilterOptions options = TakeOptions(input);
    if (options.bloom_type == BloomType::kRowPrefixFixedLength) {
      options.prefix_length_bytes = 2;
    }
    testing::Random random(input->Integer(2));
    cells_ = testing::SortedCells(&random, input->Byte());
    others_ = testing::SortedCells(&random, 30);
    block_ = WriteBlock(options, cells_);
    source_ = NewMemorySource(block_, "fuzz");
    faulty_ = std::make_unique<testing::FaultySource>(source_.get());
    const uint8_t more = input->Byte();
    reader_options_.cache = (more & 3) == 0 ? nullptr : cache_.get();
    reader_options_.loading =
        (more & 8) != 0 ? FilterLoading::kAlways : FilterLoading::kWhenItPays;
    reader_options_.file_id = 3;
    reader_options_.stats = &stats_;
    cache_->SetCapacity(64 * input->Byte());
    Reopen(0, false);
    Reopen(1, false);
    most_bytes_ = cache_->GetUsage().usage_bytes;
  }

  void Act(Input* input) {
    const uint8_t action = input->Byte();
    const size_t which = action & 1;
    switch (action / 2 % 10) {
      case 0:
      case 1:
        Ask(which, TakeCell(input), input->Byte(), /*times=*/1);
        break;
      case 2:  // Often, so that samples are drawn.
        Ask(which, TakeCell(input), input->Byte(), /*times=*/100);
        break;
      case 3:
        AskBatch(input);
        break;
      case 4:
        cache_->SetCapacity(64 * input->Byte());
        break;
      case 5:
        cache_->EraseFile(3);
        break;
      case 6:
        Reopen(which, (input->Byte() & 1) != 0);
        break;
      case 7:
        faulty_->FailRead(1 + input->Byte() % 4);
        break;
      case 8: {
        const uint64_t at = input->Integer(2) % block_.size();
        faulty_->FlipBit(at, action / 20 % 8);
        break;
      }
      case 9:
        if ((action & 1) != 0) {
          faulty_->ShortenReads(input->Byte());
        } else {
          faulty_->Heal();
        }
        break;
    }
    const FilterCache::Usage usage = cache_->GetUsage();
    REQUIRE(usage.usage_bytes <= std::max(most_bytes_, usage.capacity_bytes));
    most_bytes_ = usage.usage_bytes;
  }

 private:
  const Cell& TakeCell(Input* input) {
    const uint8_t byte = input->Byte();
    const std::vector<Cell>& cells =
        byte % 2 == 0 && !cells_.empty() ? cells_ : others_;
    return cells[(size_t{byte} * 256 + input->Byte()) / 2 % cells.size()];
  }
  bool IsThere(const FilterKey& key) const {
    const auto it = std::lower_bound(
        cells_.begin(), cells_.end(),
        Cell{std::string(key.row()), std::string(key.qualifier())});
    if (key.is_prefix()) {
      return it != cells_.end() &&
             it->row.compare(0, key.row().size(), key.row()) == 0;
    }
    return it != cells_.end() && it->row == key.row() &&
           (!key.has_qualifier() || it->qualifier == key.qualifier());
  }
  void Check(size_t which, const FilterKey& key, bool answer, bool tell) {
    REQUIRE(answer || !IsThere(key));
    if (answer && tell) readers_[which]->TellOutcome(IsThere(key), 4096);
  }
  void Ask(size_t which, const Cell& cell, uint8_t how, int times) {
    const FilterKey row = FilterKey::Row(cell.row);
    const FilterKey key =
        (how & 1) != 0   ? FilterKey::RowCol(row, cell.qualifier)
        : (how & 4) != 0 ? FilterKey::Prefix(row.row().substr(0, how >> 4))
                         : row;
    for (int i = 0; i < times; ++i) {
      Check(which, key, readers_[which]->MayContain(key), (how & 2) != 0);
    }
  }
  void AskBatch(Input* input) {
    std::vector<const Cell*> cells(1 + input->Byte() % 40);
    for (const Cell*& cell : cells) cell = &TakeCell(input);
    std::vector<FilterKey> keys;
    for (const Cell* cell : cells) {
      keys.push_back(FilterKey::RowCol(cell->row, cell->qualifier));
    }
    std::vector<FilterQuestion> questions;
    for (const FilterKey& key : keys) {
      questions.push_back({readers_[questions.size() % 2].get(), &key});
    }
    const auto answers = std::make_unique<bool[]>(keys.size());
    FilterReader::MayContain(questions, answers.get());
    for (size_t i = 0; i < keys.size(); ++i) {
      Check(i % 2, keys[i], answers[i], i % 3 == 0);
    }
  }
  // Keeps an open reader if no other takes its place.
  void Reopen(size_t which, bool prefetch) {
    reader_options_.prefetch = prefetch;
    auto reader = FilterReader::Open(faulty_.get(), {}, reader_options_);
    REQUIRE(reader.ok() || readers_[which] != nullptr);
    if (reader.ok()) readers_[which] = *std::move(reader);
  }

  std::vector<Cell> cells_, others_;
  std::string block_;
  std::unique_ptr<RandomAccessSource> source_;
  std::unique_ptr<testing::FaultySource> faulty_;
  const std::unique_ptr<FilterCache> cache_ = NewShardedLruCache({0, 0});
  FilterStats stats_;
  FilterReaderOptions reader_options_;
  size_t most_bytes_ = 0;  // Pinned bytes may stay when the capacity shrinks.
  std::unique_ptr<FilterReader> readers_[2];
};

// Readers with caches of any size, asked, told, resized, erased, reopened and
// given broken reads in any order, lose no row of an exact set.
void ReaderProperty(std::string_view bytes) {
  Input input(bytes);
  ReaderLife life(&input);
  for (int i = 0; i < 300 && !input.empty(); ++i) life.Act(&input);
}

// The lookups of compact for large filters, which no input of a fuzzer is, must
// give these answers, too.
void AskFarLookups(const FilterDescriptor& descriptor,
                   absl::Span<const std::string_view> units, Kernel kernel,
                   const std::vector<KeyDigest>& digests,
                   const std::vector<bool>& answers) {
  FilterState state;
  for (const std::string_view unit : units) {
    state.unit[state.unit_count++] = unit.data();
  }
  FilterLookup near;
  REQUIRE(filter::kCompactFamily.parse(descriptor, kernel, &state, &near).ok());
  const filter::CompactLookup far =
      filter::CompactKernelFor(kernel).lookup(state, false);
  std::vector<uint64_t> values;
  for (const KeyDigest digest : digests) values.push_back(digest.value);
  const auto batch = std::make_unique<bool[]>(digests.size());
  far.may_contain_batch(state, values.data(), values.size(), batch.get());
  for (size_t i = 0; i < digests.size(); ++i) {
    REQUIRE(batch[i] == answers[i]);
    REQUIRE(far.may_contain(state, values[i]) == answers[i]);
  }
}

// Returns the answers, which every kernel must give one by one and in a batch;
// no answers if the descriptor is refused.
std::vector<bool> AskAllKernels(const FilterDescriptor& descriptor,
                                absl::Span<const std::string_view> units,
                                size_t shift,
                                const std::vector<KeyDigest>& digests) {
  const testing::UnitBlocks blocks(units, shift);
  const auto portable =
      FilterView::Parse(descriptor, blocks.units(), Kernel::kPortable);
  std::vector<bool> answers;
  if (portable.ok()) {
    REQUIRE(portable->expected_fpr() >= 0 && portable->expected_fpr() <= 1);
    for (const KeyDigest digest : digests) {
      answers.push_back(portable->MayContain(digest));
    }
  }
  for (const Kernel kernel : AvailableKernels()) {
    const auto view = FilterView::Parse(descriptor, blocks.units(), kernel);
    REQUIRE(view.status() == portable.status());
    if (!view.ok()) continue;
    const auto batch = std::make_unique<bool[]>(digests.size());
    view->MayContain(digests, batch.get());
    for (size_t i = 0; i < digests.size(); ++i) {
      REQUIRE(batch[i] == answers[i]);
      REQUIRE(view->MayContain(digests[i]) == answers[i]);
    }
    if (descriptor.family_name() == "compact") {
      AskFarLookups(descriptor, blocks.units(), kernel, digests, answers);
    }
  }
  return answers;
}

// Calls AskAllKernels() with every number of first units: returns one answer
// for each number and digest.
std::vector<bool> AskFirstUnits(const EncodedFilter& filter, size_t shift,
                                const std::vector<KeyDigest>& digests) {
  const std::vector<std::string_view> units = filter.UnitViews();
  std::vector<bool> all;
  for (size_t count = std::min<size_t>(1, units.size()); count <= units.size();
       ++count) {
    const std::vector<bool> answers =
        AskAllKernels(filter.descriptor,
                      absl::MakeConstSpan(units.data(), count), shift, digests);
    all.insert(all.end(), answers.begin(), answers.end());
  }
  return all;
}

// If a filter is accepted, so is a cut of it, which says "maybe" where the
// whole filter does. Any `choice` selects the steps.
void CutAndAsk(const EncodedFilter& filter, size_t shift, size_t choice,
               const std::vector<KeyDigest>& digests) {
  const uint32_t all = FilterSteps(filter.descriptor);
  const uint32_t steps = all == 0 ? 0 : 1 + static_cast<uint32_t>(choice % all);
  const EncodedFilter cut = testing::CutFilter(filter, steps);
  const std::vector<bool> fewer =
      AskAllKernels(cut.descriptor, cut.UnitViews(), shift, digests);
  const std::vector<bool> whole =
      AskAllKernels(filter.descriptor, filter.UnitViews(), shift, digests);
  REQUIRE(fewer.size() >= whole.size());
  for (size_t i = 0; i < whole.size(); ++i) REQUIRE(fewer[i] || !whole[i]);
}

// Takes planes, seed and homes of a small filter.
filter::CompactLayout TakeCompactLayout(Input* input) {
  filter::CompactLayout layout;
  layout.planes.lean = input->Byte() % filter::kMaxPlanes;
  layout.planes.rich_share = input->Byte();
  layout.seed = input->Byte();
  for (uint64_t& homes : layout.homes) homes = input->Byte() % 32;
  return layout;
}

void ClearReservedBits(const filter::CompactLayout& layout,
                       std::string* units) {
  char* unit = units->data();
  for (uint32_t u = 0; u < layout.planes.unit_count(); ++u) {
    if (!layout.planes.IsFullUnit(u)) {
      std::fill_n(unit + layout.StripesSize(u), filter::kPartialUnitPadding,
                  '\0');
    }
    unit += layout.UnitSize(u);
    if (u == 0 && layout.stripe_count() % 4 != 0) {
      const int codes = (1 << (2 * (layout.stripe_count() % 4))) - 1;
      unit[-1] = static_cast<char>(unit[-1] & codes);
    }
  }
}

// Takes any units, and a descriptor of any family. A compact descriptor fits
// its units: mutation alone does not find such sizes and parameters.
EncodedFilter TakeFilter(Input* input) {
  EncodedFilter filter;
  FilterDescriptor& descriptor = filter.descriptor;
  const auto families = filter::AllFamilies();
  descriptor.family_code = families[input->Byte() % families.size()]->code;
  descriptor.key_count = input->Integer(2);
  filter::CompactLayout layout;
  if (descriptor.family_code == filter::kCompactFamily.code) {
    layout = TakeCompactLayout(input);
    descriptor.parameters = layout.Encode();
    descriptor.unit_count = static_cast<uint8_t>(layout.planes.unit_count());
    for (uint32_t u = 0; u < descriptor.unit_count; ++u) {
      descriptor.unit_size_bytes[u] = layout.UnitSize(u);
    }
  } else {
    descriptor.parameters = input->Integer(8);
    descriptor.unit_count = input->Byte() % (FilterDescriptor::kMaxUnits + 1);
    for (size_t u = 0; u < descriptor.unit_count; ++u) {
      descriptor.unit_size_bytes[u] = input->Integer(2) % 2048;
    }
  }
  // The rest of the input is repeated to fill the units.
  const std::string rest(input->Rest());
  while (!rest.empty() && filter.units.size() < descriptor.total_size_bytes()) {
    filter.units += rest;
  }
  filter.units.resize(descriptor.total_size_bytes());
  ClearReservedBits(layout, &filter.units);
  return filter;
}

// Every kernel answers as the portable one does, for any units of any family. A
// filter that keeps only some steps says "maybe" wherever the whole one does.
void KernelProperty(std::string_view bytes) {
  Input input(bytes);
  const size_t choice = input.Byte();
  const size_t shift = choice % 64;
  // The ends of the filter are always asked.
  std::vector<KeyDigest> digests = {{0}, {~uint64_t{0}}};
  for (int more = input.Byte() % 40; more > 0; --more) {
    digests.push_back({input.Integer(8)});
  }
  const EncodedFilter filter = TakeFilter(&input);
  AskFirstUnits(filter, shift, digests);
  CutAndAsk(filter, shift, choice, digests);
}

// Takes arithmetic progressions, which include many sets that no hash function
// gives, and random digests.
std::vector<KeyDigest> TakeDigests(Input* input) {
  constexpr size_t kMost = 600;
  std::vector<KeyDigest> digests;
  while (!input->empty() && digests.size() < kMost) {
    const bool is_random = input->Byte() % 2 == 1;
    const size_t count = input->Integer(2) % (kMost - digests.size()) + 1;
    const uint64_t start = input->Integer(8);
    if (is_random) {
      testing::Random random(start);
      for (size_t i = 0; i < count; ++i) digests.push_back({random()});
    } else {
      const uint64_t stride = input->Integer(8);
      for (uint64_t i = 0; i < count; ++i) {
        digests.push_back({start + i * stride});
      }
    }
  }
  return digests;
}

// Every kernel builds the same bytes from any digests and loses none, even with
// fewer steps; damage to the bytes does no harm.
void BuilderProperty(std::string_view bytes) {
  Input input(bytes);
  const uint8_t family = input.Byte();
  const FilterSpec policy = FilterSpec::BitsPerKey(
      FilterFamilyNames()[family % FilterFamilyNames().size()],
      1 + static_cast<double>(input.Integer(2) % 2301) / 100);
  const size_t choice = input.Byte();
  const size_t shift = choice % 64;
  const Damage damage = TakeDamage(&input);
  const std::vector<KeyDigest> digests = TakeDigests(&input);

  EncodedFilter filter =
      testing::BuildFilter(policy, digests, Kernel::kPortable);
  for (const Kernel kernel : AvailableKernels()) {
    const EncodedFilter same = testing::BuildFilter(policy, digests, kernel);
    REQUIRE(same.descriptor == filter.descriptor);
    REQUIRE(same.units == filter.units);
    REQUIRE(same.saturated_keys == filter.saturated_keys);
  }
  const std::vector<bool> answers = AskFirstUnits(filter, shift, digests);
  const size_t passes = std::max<size_t>(1, filter.descriptor.unit_count);
  REQUIRE(answers == std::vector<bool>(passes * digests.size(), true));

  std::string descriptor_bytes;
  filter.descriptor.AppendTo(&descriptor_bytes);
  descriptor_bytes = Damaged(descriptor_bytes, damage);
  std::string_view parsed = descriptor_bytes;
  if (const auto descriptor = FilterDescriptor::Parse(&parsed);
      descriptor.ok()) {
    AskAllKernels(*descriptor, filter.UnitViews(), shift, digests);
    FilterAtStep(*descriptor, std::min<uint32_t>(1, FilterSteps(*descriptor)));
  }
  CutAndAsk(filter, shift, choice, digests);
  filter.units = Damaged(std::move(filter.units), damage);
  CutAndAsk(filter, shift, choice, digests);
}

// The prefixes of a key are no longer than it, and are their own prefixes.
void CheckPrefixes(const KeyCodec& codec, std::string_view key) {
  size_t row_prefix = 0;
  const size_t column_prefix = codec.SecondPrefixSize(key, &row_prefix);
  REQUIRE(row_prefix <= key.size() && column_prefix <= key.size());
  REQUIRE(codec.FirstPrefixSize(key) == row_prefix);
  REQUIRE(codec.FirstPrefixSize(key.substr(0, row_prefix)) == row_prefix);
  if (column_prefix == 0) return;
  REQUIRE(column_prefix > row_prefix);
  size_t again = 0;
  REQUIRE(codec.SecondPrefixSize(key.substr(0, column_prefix), &again) ==
          column_prefix);
  REQUIRE(again == row_prefix);
}

// Decode undoes Encode, a prefix is its own prefix, order is kept; any key is
// decoded or refused.
void KeyCodecProperty(std::string_view bytes) {
  Input input(bytes);
  const uint8_t parameter = input.Byte();
  const KeyCodec codecs[] = {KeyCodec::Ordered(),
                             KeyCodec::FixedRow(1 + parameter % 8),
                             KeyCodec::Delimiter(static_cast<char>(parameter))};
  const KeyCodec& codec = codecs[input.Byte() % 3];
  const Cell a = {std::string(input.Bytes(16)), std::string(input.Bytes(16))};
  const Cell b = {std::string(input.Bytes(16)), std::string(input.Bytes(16))};
  std::string row, qualifier;
  std::vector<std::string> keys;
  for (const Cell& cell : {a, b}) {
    std::string key;
    if (!codec.Encode(cell.row, cell.qualifier, &key).ok()) {
      REQUIRE(key.empty());
      continue;
    }
    REQUIRE(codec.Decode(key, &row, &qualifier).ok());
    REQUIRE(row == cell.row && qualifier == cell.qualifier);
    keys.push_back(key);
  }
  if (keys.size() == 2 && codec.segment(0).kind != KeyCodec::Kind::kDelimiter) {
    REQUIRE((keys[0] < keys[1]) == (a < b));
    REQUIRE((keys[0] == keys[1]) == (a == b));
  }
  const std::string_view rest = input.Rest();
  (void)codec.Decode(rest, &row, &qualifier);
  for (size_t size = 0; size <= std::min<size_t>(rest.size(), 32); ++size) {
    CheckPrefixes(codec, rest.substr(0, size));
  }
  testing::Random random(parameter);
  const KeyCodec any = testing::AnyCodec(&random);
  std::vector<std::string> segments;
  if (any.Decode(rest, &segments).ok()) {
    std::string key;
    REQUIRE(any.Encode(testing::Views(segments), &key).ok());
    REQUIRE(rest.substr(0, key.size()) == key);
  }
  const KeyCodec::Prefixes prefixes = any.PrefixesOf(rest);
  for (size_t i = 0; i < prefixes.count; ++i) {
    REQUIRE(prefixes.sizes[i] <= rest.size());
    const KeyCodec::Prefixes again =
        any.PrefixesOf(rest.substr(0, prefixes.sizes[i]));
    REQUIRE(again.count == i + 1 && again.sizes[i] == prefixes.sizes[i]);
  }
}

// Texts of policies, codecs and bloom types parse to values that print the same
// text, or are refused.
void OptionsTextProperty(std::string_view bytes) {
  if (const auto policy = FilterSpec::Parse(bytes); policy.ok()) {
    const auto again = FilterSpec::Parse(policy->ToString());
    REQUIRE(again.ok() && again->ToString() == policy->ToString());
    REQUIRE(again->bits_per_key() == policy->bits_per_key());
  }
  if (const auto codec = KeyCodec::Parse(bytes); codec.ok()) {
    const auto again = KeyCodec::Parse(codec->ToString());
    REQUIRE(again.ok() && *again == *codec);
  }
  if (const auto type = ParseBloomType(bytes); type.ok()) {
    REQUIRE(ParseBloomType(BloomTypeName(*type)).ok());
  }
}

bool IsRefusal(const absl::Status& status) {
  return status.code() == absl::StatusCode::kDataLoss ||
         status.code() == absl::StatusCode::kUnimplemented;
}

// Redisson's digests differ from those of the other filters, so that it has a
// loader of its own. Each loader says InvalidArgument to what the other takes.
void LoadRedissonAndGoOn(std::string_view bytes) {
  auto loaded = RedissonFilter::Load(bytes);
  if (!loaded.ok()) {
    REQUIRE(IsRefusal(loaded.status()));
    return;
  }
  REQUIRE(loaded->Save() == bytes);
  REQUIRE(loaded->fill() >= 0 && loaded->fill() <= 1);
  loaded->approximate_count();
  testing::Random random(bytes.size());
  for (int i = 0; i < 40; ++i) {
    const RedissonDigest digest = {random(), random()};
    loaded->Add(digest);
    REQUIRE(loaded->MayContain(digest));
  }
}

void LoadAndGoOn(std::string_view bytes) {
  auto loaded = LoadMemFilter(bytes);
  if (absl::IsInvalidArgument(loaded.status())) {
    LoadRedissonAndGoOn(bytes);
    return;
  }
  if (!loaded.ok()) {
    REQUIRE(IsRefusal(loaded.status()));
    return;
  }
  if ((*loaded)->kind() == MemFilterKind::kScalable) {
    // The saved filter may ask for a next layer of any size.
    loaded = AnyFilter(*ScalableFilter::Load(bytes, 1 << 22));
  }
  MemFilter& filter = **loaded;
  REQUIRE(filter.Save() == bytes);
  REQUIRE(filter.fill() >= 0 && filter.fill() <= 1);
  REQUIRE(filter.expected_fpr() >= 0 && filter.expected_fpr() <= 1);
  filter.approximate_count();
  testing::Random random(bytes.size());
  for (const KeyDigest key : testing::RandomDigests(&random, 40)) {
    if (filter.Add(key).ok()) REQUIRE(filter.MayContain(key));
  }
}

// Loading any bytes as a memfilter does no harm, even with a right checksum:
// they are refused, or the filter works and loses no key.
void MemFilterProperty(std::string_view bytes) {
  LoadAndGoOn(bytes);
  std::string resealed(bytes);
  testing::ResealMemFilter(&resealed);
  LoadAndGoOn(resealed);
  if (const auto guava = GuavaFilter::ReadFrom(bytes); guava.ok()) {
    REQUIRE(guava->WriteTo() == bytes);
  }
}

}  // namespace

const std::vector<Property>& AllProperties() {
  static const std::vector<Property>* const all =
      new std::vector<Property>{{"filter_block", FilterBlockProperty},
                                {"filter_blob", FilterBlobProperty},
                                {"round_trip", RoundTripProperty},
                                {"reader", ReaderProperty},
                                {"kernel", KernelProperty},
                                {"builder", BuilderProperty},
                                {"key_codec", KeyCodecProperty},
                                {"mem_filter", MemFilterProperty},
#ifdef ROWBLOOM_FUZZ_WITH_HFILE
                                {"hfile", HFileProperty},
#endif
                                {"options_text", OptionsTextProperty}};
  return *all;
}

}  // namespace rowbloom::fuzz
