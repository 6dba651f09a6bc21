// SPDX-License-Identifier: Apache-2.0

#include "filter/fast/fast_builder.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace rowbloom::filter {

namespace {

// Keys are ordered by line, and there by this many parts of the positions.
constexpr uint64_t kParts = 8;

// The most keys of a stretch. If all keys fit in the processor's cache, one
// stretch has them all: twice their number, since stretches have 2^k parts.
// Otherwise there must be enough stretches, because strands begin in the middle
// of some, which are then ordered twice.
size_t StretchKeys(size_t key_count) {
  constexpr size_t kLargest = size_t{1} << 14;
  if (key_count <= 8 * kLargest) return 2 * key_count;
  return std::clamp<size_t>(key_count / 32, kLargest / 4, kLargest);
}

// Equations that leave this many slots free hardly ever contradict each other.
constexpr uint32_t kSpareSlots = 6;

// Sorts a few digests by counting for each how many are less, because branches
// on their random order would be slower.
void SortFew(uint64_t* begin, uint64_t* end) {
  constexpr size_t kFew = 16;
  const size_t count = static_cast<size_t>(end - begin);
  if (count > kFew) {
    std::sort(begin, end);
    return;
  }
  uint64_t digests[kFew];
  std::copy(begin, end, digests);
  size_t places[kFew] = {};
  for (size_t i = 1; i < count; ++i) {
    size_t less = 0;
    for (size_t j = 0; j < i; ++j) {
      const size_t is_less = digests[j] <= digests[i] ? 1 : 0;
      less += is_less;
      places[j] += 1 - is_less;
    }
    places[i] = less;
  }
  for (size_t i = 0; i < count; ++i) begin[places[i]] = digests[i];
}

struct Stretch {
  size_t index = 0;
  StretchMemory memory;
  DigestStretch keys;
};

// Consecutive lines, solved one after the other in a lane of the kernel. A
// strand begins as if no keys were carried into its first line, and goes on
// into the next strand's lines until it carries the keys that were assumed
// there.
struct Strand {
  bool done = true;
  uint64_t line = 0;  // The next one; the first line follows the last.
  uint64_t end = 0;   // The first line of the next strand.
  std::shared_ptr<Stretch> stretch;

  // The keys at home in the line, by part; those from home_equations on are
  // equations.
  uint64_t* home_begin = nullptr;
  uint64_t* home_equations = nullptr;
  uint64_t* home_end = nullptr;
  size_t home_size() const {
    return static_cast<size_t>(home_end - home_begin);
  }

  // Keys from the previous line, and the number of keys at home there.
  uint32_t carried_count = 0;
  uint64_t carried[kFastMaxEquations];
  uint64_t keys_before = 0;
};

class LinesBuilder {
 public:
  LinesBuilder(DigestList digests, size_t stretch_keys, uint64_t line_count,
               uint32_t planes, const FastKernel& kernel, char* lines)
      : order_(std::move(digests), line_count * kParts, stretch_keys),
        line_count_(line_count),
        planes_(planes),
        slots_(FastSlots(planes)),
        max_equations_(FastEquations(planes)),
        kernel_(kernel),
        lines_(lines) {
    equations_.planes = planes;
  }

  uint64_t Build();

 private:
  void LoadStretch(Strand* strand, uint64_t line);
  void LoadHome(Strand* strand);
  void LoadEquations(uint32_t k);
  uint32_t ThresholdFor(uint32_t k) const;
  bool Carry(Strand* strand, uint32_t threshold) const;
  void Saturate(uint64_t line, uint64_t key_count);
  void Settle(uint32_t k);

  uint32_t PositionOf(uint64_t digest) const {
    return static_cast<uint32_t>((digest * line_count_) >> 57);
  }
  char* Line(uint64_t line) const {
    return lines_ + (line % line_count_) * kFastLineSize;
  }
  uint32_t GetThreshold(const char* line) const;
  void SetThreshold(uint32_t threshold, char* line) const;

  FastLines equations_{};
  const DigestOrder order_;
  const uint64_t line_count_;
  const uint32_t planes_;
  const uint32_t slots_;
  const uint32_t max_equations_;
  const FastKernel& kernel_;
  char* const lines_;
  Strand strands_[kFastLanes];
  uint64_t saturated_keys_ = 0;
};

void LinesBuilder::LoadStretch(Strand* strand, uint64_t line) {
  const size_t index = order_.StretchOf(line * kParts);
  if (strand->stretch != nullptr && strand->stretch->index == index) return;
  for (const Strand& other : strands_) {
    if (other.stretch != nullptr && other.stretch->index == index) {
      strand->stretch = other.stretch;
      return;
    }
  }
  if (strand->stretch == nullptr || strand->stretch.use_count() > 1) {
    strand->stretch = std::make_shared<Stretch>();
  }
  Stretch& stretch = *strand->stretch;
  stretch.index = index;
  stretch.keys = order_.Stretch(index, &stretch.memory);
}

// Finds the keys at home in the strand's line, and orders those by position
// that may be contradicted.
void LinesBuilder::LoadHome(Strand* strand) {
  Strand& s = *strand;
  const uint64_t line = s.line % line_count_;
  LoadStretch(strand, line);
  const DigestStretch& keys = s.stretch->keys;
  const uint64_t* starts = keys.starts + (line * kParts - keys.first_bucket);
  s.home_begin = keys.digests + starts[0];
  s.home_end = keys.digests + starts[kParts];
  const size_t certain = slots_ - kSpareSlots;
  if (s.carried_count + s.home_size() > certain) {
    const size_t doubtful =
        std::min(s.home_size(), s.carried_count + s.home_size() - certain);
    const uint64_t* end = starts + 1;
    while (*end - *starts < doubtful) ++end;
    SortFew(s.home_begin, keys.digests + *end);
  }
}

// Loads the carried keys first, then the keys at home by falling position: of
// equations that contradict each other, the earlier hold.
void LinesBuilder::LoadEquations(uint32_t k) {
  Strand& s = strands_[k];
  equations_.equation_count[k] = 0;
  if (s.done) return;
  LoadHome(&s);
  uint64_t* const equations = equations_.digests[k];
  uint32_t count = s.carried_count;
  std::copy_n(s.carried, count, equations);
  s.home_equations = s.home_end;
  if (count + s.home_size() <= max_equations_) {
    s.home_equations = s.home_begin;
    std::reverse_copy(s.home_begin, s.home_end, equations + count);
    count += static_cast<uint32_t>(s.home_size());
  } else {
    // Some keys may be equal, and one equation serves all equal keys.
    for (; s.home_equations != s.home_begin && count < max_equations_;
         --s.home_equations) {
      const uint64_t digest = s.home_equations[-1];
      if (count == 0 || digest != equations[count - 1]) {
        equations[count++] = digest;
      }
    }
  }
  equations_.equation_count[k] = count;
}

uint32_t LinesBuilder::GetThreshold(const char* line) const {
  if (planes_ != 8) return static_cast<uint8_t>(line[kFastThresholdByte]);
  uint32_t threshold = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    threshold |= uint32_t{static_cast<uint8_t>(line[56 + i])} >> 7 << i;
  }
  return threshold;
}

void LinesBuilder::SetThreshold(uint32_t threshold, char* line) const {
  if (planes_ != 8) {
    line[kFastThresholdByte] = static_cast<char>(threshold);
    return;
  }
  for (uint32_t i = 0; i < 8; ++i) {
    line[56 + i] =
        static_cast<char>((line[56 + i] & 0x7f) | (threshold >> i & 1) << 7);
  }
}

// The lowest threshold that leaves only keys for which the solution is right.
uint32_t LinesBuilder::ThresholdFor(uint32_t k) const {
  const Strand& s = strands_[k];
  uint32_t threshold = 0;
  for (uint32_t i = 0; i < equations_.contradicted_count[k]; ++i) {
    const uint32_t equation = equations_.contradicted[k][i];
    if (equation < s.carried_count) continue;
    threshold =
        std::max(threshold, PositionOf(equations_.digests[k][equation]) + 1);
  }
  for (const uint64_t* key = s.home_begin; key != s.home_equations; ++key) {
    threshold = std::max(threshold, PositionOf(*key) + 1);
  }
  return threshold;
}

// Carries the keys below the threshold; false if the next line cannot take
// them.
bool LinesBuilder::Carry(Strand* strand, uint32_t threshold) const {
  strand->carried_count = 0;
  if (threshold == 0) return true;
  // The strand went once around, and still carries keys.
  if (strand->line >= strand->end + line_count_) return false;
  for (const uint64_t* key = strand->home_begin; key != strand->home_end;
       ++key) {
    if (PositionOf(*key) >= threshold) continue;
    if (strand->carried_count == slots_) return false;
    strand->carried[strand->carried_count++] = *key;
  }
  return true;
}

void LinesBuilder::Saturate(uint64_t line, uint64_t key_count) {
  if (GetThreshold(Line(line)) == kFastSaturated) return;
  SetThreshold(kFastSaturated, Line(line));
  saturated_keys_ += key_count;
}

// Takes over the solution of the strand's line.
void LinesBuilder::Settle(uint32_t k) {
  Strand& s = strands_[k];
  if (s.done) return;
  // A carried key must hold here; otherwise its home line is saturated.
  const uint8_t* const contradicted = equations_.contradicted[k];
  if (std::any_of(
          contradicted, contradicted + equations_.contradicted_count[k],
          [&](uint32_t equation) { return equation < s.carried_count; })) {
    Saturate(s.line - 1, s.keys_before);
  }
  char* const line = Line(s.line);
  const uint32_t old_threshold = GetThreshold(line);
  if (old_threshold == kFastSaturated) saturated_keys_ -= s.home_size();
  std::memcpy(line, equations_.lines[k], kFastLineSize);
  const uint32_t threshold = ThresholdFor(k);
  SetThreshold(threshold, line);
  if (!Carry(&s, threshold)) {
    Saturate(s.line, s.home_size());
    s.carried_count = 0;
  }
  s.keys_before = s.home_size();
  ++s.line;
  s.done = s.line >= s.end && (s.carried_count == 0 ||
                               (s.line > s.end && threshold == old_threshold));
}

uint64_t LinesBuilder::Build() {
  const uint32_t count =
      static_cast<uint32_t>(std::min<uint64_t>(line_count_, kFastLanes));
  for (uint32_t k = 0; k < count; ++k) {
    strands_[k].line = line_count_ * k / count;
    strands_[k].end = line_count_ * (k + 1) / count;
    strands_[k].done = false;
  }
  while (std::any_of(strands_, strands_ + count,
                     [](const Strand& s) { return !s.done; })) {
    for (uint32_t k = 0; k < count; ++k) LoadEquations(k);
    kernel_.solve(&equations_);
    for (uint32_t k = 0; k < count; ++k) Settle(k);
  }
  return saturated_keys_;
}

}  // namespace

uint64_t BuildFastLines(DigestList digests, uint64_t line_count,
                        uint32_t planes, const FastKernel& kernel,
                        char* lines) {
  const size_t stretch_keys = StretchKeys(digests.size());
  return LinesBuilder(std::move(digests), stretch_keys, line_count, planes,
                      kernel, lines)
      .Build();
}

}  // namespace rowbloom::filter
