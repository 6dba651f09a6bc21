// SPDX-License-Identifier: Apache-2.0
//
// Builds a group of stripes of compact: chooses the codes, and solves the
// equations of the keys that stay. For kernel files: internal linkage.
//
// A group is cut into up to four strands of consecutive stripes, one in each
// lane of gf2_lanes.h. Forward, stripe by stripe: the equations that are at
// home in a stripe, and those that found no pivot in the previous one, are
// eliminated over its 32 slots. An equation that finds no pivot here either has
// coefficients left in the next stripe only, and is carried there. If too
// many equations would be carried, the code takes keys out. If equations turn
// out to be dependent and contradict each other, the solver goes back and takes
// out more. The last stripe of a strand carries nothing, so that strands do
// not wait for each other. Backward, from the strand on the right: each pivot
// equation gives its slot, once the slots of the next stripe are known.

#ifndef ROWBLOOM_FILTER_COMPACT_COMPACT_SOLVER_H_
#define ROWBLOOM_FILTER_COMPACT_COMPACT_SOLVER_H_

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "filter/compact/compact_kernel.h"
#include "filter/gf2_lanes.h"

namespace rowbloom::filter {

namespace {

// The most equations that one stripe may carry to the next. More would fill
// the slots better, but be dependent there more often.
constexpr int kMaxCarried = 23;
// The most equations that the last homes of a strand may carry, the last home
// first. The last carries nothing and leaves a slot free, because as many
// equations as slots are dependent more often than not.
constexpr int kMaxCarriedNearEnd[] = {-1, 12, 20};
// The limits for a strand that ends the layer. A stripe that is no home
// follows, and the carried equations fill it.
constexpr int kMaxCarriedNearLayerEnd[] = {30, 28, 26};
static_assert(kStripeSlots + kMaxCarriedNearLayerEnd[0] < kMaxEquations);
// Equations that depend on each other leave slots without a pivot, so that a
// step carries more than its limit allowed. This many more than the largest
// limit are too many.
constexpr uint32_t kRankSlack = 4;
// The most times that a strand puts keys back. Random keys rarely need as many.
constexpr uint32_t kMaxPutBack = 100;
// Shorter strands would lose more keys at their ends than lanes gain time; only
// the step from one strand to two is worth it sooner.
constexpr uint32_t kMinStrandHomes = 48;
constexpr uint32_t kMinHomesOfTwoStrands = 24;

// The result of one step of the strands. Equations are bits, lanes are strands.
template <uint32_t kSideBits>
struct SolvedStep {
  Lanes next[kStripeSlots];  // Coefficients in the next stripe.
  Lanes sides[kSideBits];    // Right-hand sides; group.planes of them.
  Lanes carried;             // Equations without a pivot.
  uint64_t bumped_before[kLanes];
  uint8_t least_code[kLanes];  // Raised when it turned out to be too low.
  uint8_t contradictions[kLanes];
  uint8_t pivot_equation[kLanes]
                        [kStripeSlots];  // By slot; kMaxEquations if none.
};

struct Strand {
  uint32_t first_home;
  uint32_t home_count;
  uint32_t step_count;  // One more than homes where the layer ends.
  uint32_t step;        // The next step.
  uint64_t* bumped;     // The strand's part of the group's.
  uint64_t bumped_count;
  uint32_t raised_end;  // No least_code from here on is raised.
  uint32_t put_back_count;
};

inline uint32_t PositionInHome(uint64_t digest, uint64_t homes) {
  return static_cast<uint32_t>((digest * homes) >> 56);
}

// In the last layer, the keys that a strand's end leaves out are lost.
inline uint32_t StrandCount(uint32_t home_count, bool last_layer) {
  const uint32_t least =
      home_count >= kMinHomesOfTwoStrands && !last_layer ? 2 : 1;
  const uint32_t strands = home_count / kMinStrandHomes;
  return strands < least ? least : strands > kLanes ? kLanes : strands;
}

// Parts of the words of Lanes.
typedef uint8_t ROWBLOOM_MAY_ALIAS Part8;
typedef uint16_t ROWBLOOM_MAY_ALIAS Part16;
typedef uint32_t ROWBLOOM_MAY_ALIAS Part32;

template <uint32_t kBits>
struct PartOf;
template <>
struct PartOf<8> {
  typedef Part8 Type;
};
template <>
struct PartOf<16> {
  typedef Part16 Type;
};
template <>
struct PartOf<32> {
  typedef Part32 Type;
};

// The places of the parts of lane 0 that EquationsToPlanes<kBits> takes for
// equations.
template <uint32_t kBits>
struct PartOfEquation {
  uint16_t at[kMaxEquations];
};
template <uint32_t kBits>
constexpr PartOfEquation<kBits> MakePartOfEquation() {
  PartOfEquation<kBits> parts = {};
  constexpr uint32_t kParts = 64 / kBits;  // Parts of a word.
  for (uint32_t equation = 0; equation < kMaxEquations; ++equation) {
    parts.at[equation] = static_cast<uint16_t>(
        equation % kBits * kParts * kLanes +
        ((equation / kBits) ^ (kLowHalf == 0 ? 0 : kParts - 1)));
  }
  return parts;
}
template <uint32_t kBits>
constexpr PartOfEquation<kBits> kPartOfEquation = MakePartOfEquation<kBits>();

// Solves for up to kSideBits planes: fewer are transposed faster.
template <uint32_t kSideBits>
class GroupSolver {
 public:
  GroupSolver(CompactGroup* group, char* work)
      : group_(*group), steps_(reinterpret_cast<Step*>(work)) {}

  static size_t WorkSize(uint32_t home_count) {
    const uint32_t strands = StrandCount(home_count, true);
    return sizeof(Step) * ((home_count + strands - 1) / strands + 1);
  }

  void Solve() {
    CutIntoStrands();
    while (EliminateStep()) {
    }
    for (uint32_t k = strand_count_; k > 0; --k) {
      Substitute(strands_[k - 1], k - 1);
    }
    CollectBumped();
  }

 private:
  using Step = SolvedStep<kSideBits>;

  void CutIntoStrands();
  bool EliminateStep();
  uint64_t LoadEquations(uint32_t k, uint64_t carried);
  void Settle(uint32_t k, uint64_t rest, uint64_t contradictions);
  void GoBack(uint32_t k, bool contradiction);
  void Store(uint32_t lane, Lanes rest);
  void StorePivots(uint32_t active, Step* step) const;
  void Substitute(const Strand& strand, uint32_t lane);
  void CollectBumped();

  uint32_t Home(const Strand& s) const { return s.first_home + s.step; }
  // Keys at home in the strand's next stripe.
  uint64_t KeyCount(const Strand& s) const {
    return s.step >= s.home_count
               ? 0
               : group_.starts[Home(s) + 1] - group_.starts[Home(s)];
  }
  bool IsLastStep(const Strand& s) const { return s.step + 1 == s.step_count; }
  int CarriedLimit(const Strand& s) const;
  uint32_t CodeAfter(uint32_t code) const {
    return group_.last_layer ? kCodes - 1 : code + 1;
  }
  uint64_t CountStaying(const Strand& s, uint32_t code) const;

  CompactGroup& group_;
  Step* const steps_;
  uint32_t strand_count_ = 0;
  Strand strands_[kLanes];
  // The equations of one step: first as equations, then as planes. Rows that
  // are no equations have any bits.
  Lanes planes_[2 * kStripeSlots + kMaxPlanes] = {};
  Lanes pivots_[kStripeSlots];
};

template <uint32_t kSideBits>
void GroupSolver<kSideBits>::CutIntoStrands() {
  const uint32_t homes = group_.home_count;
  strand_count_ = StrandCount(homes, group_.last_layer);
  const uint32_t length = (homes + strand_count_ - 1) / strand_count_;
  for (uint32_t k = 0; k < strand_count_; ++k) {
    Strand& s = strands_[k];
    s = {};
    s.first_home = k * length;
    s.home_count = k + 1 < strand_count_ ? length : homes - s.first_home;
    s.step_count = s.home_count;
    if (k + 1 == strand_count_ && group_.ends_layer) ++s.step_count;
    for (uint32_t step = 0; step < s.step_count; ++step) {
      steps_[step].least_code[k] = 0;
      steps_[step].contradictions[k] = 0;
    }
    s.bumped = group_.bumped + (group_.starts[s.first_home] - group_.starts[0]);
  }
}

template <uint32_t kSideBits>
int GroupSolver<kSideBits>::CarriedLimit(const Strand& s) const {
  const uint32_t homes_left = s.home_count - 1 - s.step;
  if (s.step_count > s.home_count) {
    constexpr uint32_t kNear = sizeof(kMaxCarriedNearLayerEnd) / sizeof(int);
    return homes_left < kNear ? kMaxCarriedNearLayerEnd[homes_left]
                              : kMaxCarried;
  }
  constexpr uint32_t kNear = sizeof(kMaxCarriedNearEnd) / sizeof(int);
  return homes_left < kNear ? kMaxCarriedNearEnd[homes_left] : kMaxCarried;
}

template <uint32_t kSideBits>
uint64_t GroupSolver<kSideBits>::CountStaying(const Strand& s,
                                              uint32_t code) const {
  const uint32_t threshold = kThresholdOfCode[code];
  if (threshold == 0) return KeyCount(s);
  if (threshold == kAllBumped) return 0;
  const uint64_t end = group_.starts[Home(s) + 1];
  uint64_t staying = 0;
  for (uint64_t i = group_.starts[Home(s)]; i < end; ++i) {
    staying +=
        PositionInHome(group_.digests[i], group_.layer_homes) >= threshold;
  }
  return staying;
}

// Chooses the code of strand k's next stripe, and writes the equations that
// stay where `carried` has none. Returns all equations.
template <uint32_t kSideBits>
uint64_t GroupSolver<kSideBits>::LoadEquations(uint32_t k, uint64_t carried) {
  Strand& s = strands_[k];
  const uint32_t home = Home(s);
  steps_[s.step].bumped_before[k] = s.bumped_count;
  if (s.step >= s.home_count) {
    group_.codes[home] = 0;
    return carried;
  }
  const int old_equations = static_cast<int>(internal::CountOnes(carried));
  uint32_t code = steps_[s.step].least_code[k];
  int limit = CarriedLimit(s);
  const int most = static_cast<int>(kStripeSlots) + limit - old_equations;
  const uint64_t room = static_cast<uint64_t>(
      most < 0 ? 0
      : most < static_cast<int>(kMaxEquations) - old_equations
          ? most
          : kMaxEquations - old_equations);
  while (code < kCodes - 1 && CountStaying(s, code) > room) {
    code = CodeAfter(code);
  }
  group_.codes[home] = static_cast<uint8_t>(code);
  const uint32_t threshold = kThresholdOfCode[code];
  uint64_t equations = carried;
  typedef typename PartOf<kSideBits>::Type Side;
  Part32* const home_half = reinterpret_cast<Part32*>(planes_) + 2 * k;
  Part32* const next_half = home_half + 2 * kLanes * kStripeSlots;
  Side* const side =
      reinterpret_cast<Side*>(planes_ + 2 * kStripeSlots) + 64 / kSideBits * k;
  const auto write = [&](uint64_t digest) {
    const uint32_t equation = internal::LowestOne(~equations);
    const uint64_t coefficients = Mix64(digest, group_.seed);
    home_half[kPartOfEquation<32>.at[equation]] =
        static_cast<uint32_t>(coefficients);
    next_half[kPartOfEquation<32>.at[equation]] =
        static_cast<uint32_t>(coefficients >> 32);
    side[kPartOfEquation<kSideBits>.at[equation]] =
        static_cast<Side>(Fingerprint32(coefficients));
  };
  const uint64_t* const end = group_.digests + group_.starts[home + 1];
  const uint64_t* digest = group_.digests + group_.starts[home];
  if (threshold == 0) {
    for (; digest != end; ++digest) {
      write(*digest);
      equations |= equations + 1;
    }
    return equations;
  }
  // Without a branch on the position, which is random. An equation that does
  // not stay is overwritten by the next, or is no equation.
  uint64_t* bumped = s.bumped + s.bumped_count;
  for (; digest != end; ++digest) {
    write(*digest);
    *bumped = *digest;
    const uint64_t stays =
        PositionInHome(*digest, group_.layer_homes) >= threshold;
    equations |= equations + stays;
    bumped += 1 - stays;
  }
  s.bumped_count = static_cast<uint64_t>(bumped - s.bumped);
  return equations;
}

template <uint32_t kSideBits>
bool GroupSolver<kSideBits>::EliminateStep() {
  uint32_t step = ~0u;
  for (uint32_t k = 0; k < strand_count_; ++k) {
    const Strand& s = strands_[k];
    if (s.step < s.step_count && s.step < step) step = s.step;
  }
  if (step == ~0u) return false;
  const uint32_t plane_count = 2 * kStripeSlots + group_.planes;
  Lanes equations = {};
  Lanes carried = {};
  uint32_t active = 0;
  for (uint32_t k = 0; k < strand_count_; ++k) {
    if (strands_[k].step != step || step >= strands_[k].step_count) continue;
    active |= 1u << k;
    if (step > 0) carried[k] = steps_[step - 1].carried[k];
    equations[k] = LoadEquations(k, carried[k]);
  }
  EquationsToPlanes(planes_);
  EquationsToPlanes(planes_ + kStripeSlots);
  EquationsToPlanes<kSideBits>(planes_ + 2 * kStripeSlots);
  if (step > 0) {
    const Step& before = steps_[step - 1];
    for (uint32_t j = 0; j < kStripeSlots; ++j) {
      planes_[j] = (planes_[j] & ~carried) | (before.next[j] & carried);
      planes_[kStripeSlots + j] &= ~carried;
    }
    for (uint32_t c = 0; c < group_.planes; ++c) {
      Lanes& plane = planes_[2 * kStripeSlots + c];
      plane = (plane & ~carried) | (before.sides[c] & carried);
    }
  }
  Lanes rest =
      Eliminate(planes_, kStripeSlots, plane_count, equations, pivots_);
  Lanes any_next = {};
  Lanes any_side = {};
  for (uint32_t j = 0; j < kStripeSlots; ++j) {
    any_next |= planes_[kStripeSlots + j];
  }
  for (uint32_t c = 0; c < group_.planes; ++c) {
    any_side |= planes_[2 * kStripeSlots + c];
  }
  const Lanes contradictions = rest & ~any_next & any_side;
  rest &= any_next;
  if (active == (1u << kLanes) - 1) {
    Step& to = steps_[step];
    for (uint32_t j = 0; j < kStripeSlots; ++j) {
      to.next[j] = planes_[kStripeSlots + j];
    }
    for (uint32_t c = 0; c < group_.planes; ++c) {
      to.sides[c] = planes_[2 * kStripeSlots + c];
    }
    to.carried = rest;
  } else {
    for (uint32_t k = 0; k < strand_count_; ++k) {
      if ((active >> k & 1) != 0) Store(k, rest);
    }
  }
  StorePivots(active, &steps_[step]);
  for (uint32_t k = 0; k < strand_count_; ++k) {
    if ((active >> k & 1) != 0) Settle(k, rest[k], contradictions[k]);
  }
  return true;
}

template <uint32_t kSideBits>
void GroupSolver<kSideBits>::Store(uint32_t k, Lanes rest) {
  Step& to = steps_[strands_[k].step];
  for (uint32_t j = 0; j < kStripeSlots; ++j) {
    to.next[j][k] = planes_[kStripeSlots + j][k];
  }
  for (uint32_t c = 0; c < group_.planes; ++c) {
    to.sides[c][k] = planes_[2 * kStripeSlots + c][k];
  }
  to.carried[k] = rest[k];
}

template <uint32_t kSideBits>
void GroupSolver<kSideBits>::StorePivots(uint32_t active, Step* step) const {
#if defined(__AVX512VPOPCNTDQ__)
  for (uint32_t i = 0; i < kStripeSlots; i += 8) {
    Lanes equations = {};  // A byte for each of eight slots.
    ROWBLOOM_UNROLL
    for (uint32_t j = 0; j < 8; ++j) {
      const Lanes pivot = pivots_[i + j];
      // The number of bits below the pivot, or 64.
      equations |= reinterpret_cast<Lanes>(_mm256_popcnt_epi64(
                       reinterpret_cast<__m256i>((pivot - 1) & ~pivot)))
                   << (8 * j);
    }
    for (uint32_t k = 0; k < strand_count_; ++k) {
      if ((active >> k & 1) == 0) continue;
      const uint64_t bytes = equations[k];
      __builtin_memcpy(step->pivot_equation[k] + i, &bytes, sizeof(bytes));
    }
  }
#else
  for (uint32_t k = 0; k < strand_count_; ++k) {
    if ((active >> k & 1) == 0) continue;
    for (uint32_t i = 0; i < kStripeSlots; ++i) {
      const uint64_t pivot = pivots_[i][k];
      step->pivot_equation[k][i] = static_cast<uint8_t>(
          pivot == 0 ? kMaxEquations : internal::LowestOne(pivot));
    }
  }
#endif
}

// Completes the step, or goes back.
template <uint32_t kSideBits>
void GroupSolver<kSideBits>::Settle(uint32_t k, uint64_t rest,
                                    uint64_t contradictions) {
  Strand& s = strands_[k];
  constexpr uint32_t kMost = kMaxCarriedNearLayerEnd[0] + kRankSlack;
  const uint32_t limit = IsLastStep(s) ? 0 : kMost;
  if (contradictions != 0 || internal::CountOnes(rest) > limit) {
    GoBack(k, contradictions != 0);
    return;
  }
  ++s.step;
}

// After a failed step: raises the code of that step, or of the nearest one
// before it that has keys to take out, and continues the strand from there.
// Such a step exists, or there would be no equations. The work ends, because
// codes can be raised and put back only a limited number of times.
template <uint32_t kSideBits>
void GroupSolver<kSideBits>::GoBack(uint32_t k, bool contradiction) {
  Strand& s = strands_[k];
  const uint32_t failed = s.step;
  // Equations that depend on each other may be carried side by side for many
  // steps before they contradict each other. Until the solver has gone back to
  // their origin, taking out keys is in vain.
  if (s.raised_end > failed + 1 && s.put_back_count < kMaxPutBack) {
    ++s.put_back_count;
    while (s.raised_end > failed + 1) {
      Step& step = steps_[--s.raised_end];
      step.least_code[k] = 0;
      step.contradictions[k] = 0;
    }
  }
  const auto take_out = [&] {
    const uint32_t code = group_.codes[Home(s)];
    if (KeyCount(s) == 0 || code == kCodes - 1) return false;
    steps_[s.step].least_code[k] = static_cast<uint8_t>(CodeAfter(code));
    s.raised_end = s.raised_end > s.step ? s.raised_end : s.step + 1;
    s.bumped_count = steps_[s.step].bumped_before[k];
    return true;
  };
  // Equations that contradict each other mostly include some that were carried
  // here, but not always: the second time, take from here.
  if (!contradiction || ++steps_[failed].contradictions[k] % 2 == 0) {
    if (take_out()) return;
  }
  while (s.step > 0) {
    --s.step;
    if (take_out()) return;
  }
  s.step = failed;
  take_out();
}

#if defined(__AVX512BITALG__)

template <uint32_t kSideBits>
void GroupSolver<kSideBits>::Substitute(const Strand& s, uint32_t k) {
  constexpr uint32_t kBlocks = kSideBits / 8;  // Blocks of eight planes.
  const uint32_t planes = group_.planes;
  const uint32_t blocks = (planes + 7) / 8;
  // The slots of the next stripe.
  __m256i edge[kBlocks];
  for (uint32_t b = 0; b < blocks; ++b) {
    edge[b] = _mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(group_.edge + 8 * b));
  }
  const __m512i lane_of_two = _mm512_add_epi64(
      _mm512_setr_epi64(0, 4, 8, 12, 0, 4, 8, 12), _mm512_set1_epi64(k));
  const __m512i two_planes = _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1);
  for (uint32_t step = s.step_count; step > 0;) {
    const Step& solved = steps_[--step];
    uint32_t* const slots =
        group_.solution + size_t{s.first_home + step} * planes;
    const __m512i pivots = _mm512_broadcast_i64x4(_mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(solved.pivot_equation[k])));
    const __mmask64 has_pivot =
        _mm512_cmplt_epu8_mask(pivots, _mm512_set1_epi8(kMaxEquations));
    ROWBLOOM_UNROLL
    for (uint32_t b = 0; b < kBlocks; ++b) {
      if (b >= blocks) break;
      const Lanes* const from = solved.sides + 8 * b;
      // Several sums, so that additions do not wait for each other.
      __m512i sides[4] = {_mm512_inserti64x4(
          _mm512_permutex2var_epi64(_mm512_loadu_si512(from), lane_of_two,
                                    _mm512_loadu_si512(from + 2)),
          _mm512_castsi512_si256(_mm512_permutex2var_epi64(
              _mm512_loadu_si512(from + 4), lane_of_two,
              _mm512_loadu_si512(from + 6))),
          1)};
      sides[1] = sides[2] = sides[3] = _mm512_setzero_si512();
      const __m512i next = _mm512_cvtepu32_epi64(edge[b]);
      ROWBLOOM_UNROLL
      for (uint32_t j = 0; j < kStripeSlots; ++j) {
        __m512i& sum = sides[j % 4];
        sum = _mm512_mask_xor_epi64(
            sum,
            _mm512_test_epi64_mask(next, _mm512_set1_epi64(int64_t{1} << j)),
            sum, _mm512_set1_epi64(static_cast<long long>(solved.next[j][k])));
      }
      const __m512i side =
          _mm512_xor_si512(_mm512_xor_si512(sides[0], sides[1]),
                           _mm512_xor_si512(sides[2], sides[3]));
      uint64_t pairs[4];  // The slots of two planes each.
      ROWBLOOM_UNROLL
      for (uint32_t i = 0; i < 4; ++i) {
        pairs[i] = _mm512_mask_bitshuffle_epi64_mask(
            has_pivot,
            _mm512_permutexvar_epi64(
                _mm512_add_epi64(two_planes, _mm512_set1_epi64(2 * i)), side),
            pivots);
      }
      edge[b] = _mm256_setr_epi64x(
          static_cast<long long>(pairs[0]), static_cast<long long>(pairs[1]),
          static_cast<long long>(pairs[2]), static_cast<long long>(pairs[3]));
      const uint32_t count = planes - 8 * b < 8 ? planes - 8 * b : 8;
      _mm256_mask_storeu_epi32(
          slots + 8 * b, static_cast<__mmask8>((1u << count) - 1), edge[b]);
    }
  }
  for (uint32_t b = 0; b < blocks; ++b) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(group_.edge + 8 * b),
                        edge[b]);
  }
}

#else

#if defined(__AVX2__)

// Bit b of byte r of the result is bit 32 * half + r of planes[b], for eight
// planes and 32 equations.
inline __m256i PlanesToEquations(const uint64_t* planes, uint32_t half) {
  const __m256i spread =
      _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
                       2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i bit =
      _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201u));
  __m256i equations = _mm256_setzero_si256();
  ROWBLOOM_UNROLL
  for (uint32_t c = 0; c < 8; ++c) {
    const __m256i word = _mm256_shuffle_epi8(
        _mm256_set1_epi32(static_cast<int>(planes[c] >> (32 * half))), spread);
    const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(word, bit), bit);
    equations = _mm256_or_si256(
        equations,
        _mm256_and_si256(set, _mm256_set1_epi8(static_cast<char>(1 << c))));
  }
  return equations;
}

inline void GatherSlots(const uint64_t* sides, const uint8_t* pivot_equation,
                        uint32_t planes, uint32_t* slots) {
  const __m256i by_equation[2] = {PlanesToEquations(sides, 0),
                                  PlanesToEquations(sides, 1)};
  const __m256i equations =
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pivot_equation));
  __m256i slot = _mm256_setzero_si256();
  ROWBLOOM_UNROLL
  for (int quarter = 0; quarter < 4; ++quarter) {
    const __m256i table =
        quarter % 2 == 0
            ? _mm256_permute2x128_si256(by_equation[quarter / 2],
                                        by_equation[quarter / 2], 0x00)
            : _mm256_permute2x128_si256(by_equation[quarter / 2],
                                        by_equation[quarter / 2], 0x11);
    // Equations of other quarters, and kMaxEquations, get the top bit, for
    // which the shuffle gives 0.
    const __m256i index = _mm256_adds_epu8(
        _mm256_xor_si256(equations,
                         _mm256_set1_epi8(static_cast<char>(16 * quarter))),
        _mm256_set1_epi8(0x70));
    slot = _mm256_or_si256(slot, _mm256_shuffle_epi8(table, index));
  }
  for (uint32_t c = 8; c > 0; --c) {
    if (c <= planes) {
      slots[c - 1] = static_cast<uint32_t>(_mm256_movemask_epi8(slot));
    }
    slot = _mm256_add_epi8(slot, slot);
  }
}

#else

inline void GatherSlots(const uint64_t* sides, const uint8_t* pivot_equation,
                        uint32_t planes, uint32_t* slots) {
  for (uint32_t c = 0; c < planes; ++c) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < kStripeSlots; ++i) {
      if (pivot_equation[i] == kMaxEquations) continue;
      word |= static_cast<uint32_t>(sides[c] >> pivot_equation[i] & 1) << i;
    }
    slots[c] = word;
  }
}

#endif

// `a` in the lanes where the top bit of `test` is 1, else 0.
inline Lanes IfTopBit(Lanes test, uint64_t a) {
#if defined(__AVX2__)
  return reinterpret_cast<Lanes>(_mm256_blendv_pd(
      _mm256_setzero_pd(), reinterpret_cast<__m256d>(Lanes{} + a),
      reinterpret_cast<__m256d>(test)));
#elif ROWBLOOM_GNU
  return a & reinterpret_cast<Lanes>(reinterpret_cast<SignedLanes>(test) < 0);
#else
  return ForEachLane([&](size_t i) { return test[i] >> 63 == 0 ? 0 : a; });
#endif
}

template <uint32_t kSideBits>
void GroupSolver<kSideBits>::Substitute(const Strand& s, uint32_t k) {
  const uint32_t planes = group_.planes;
  uint32_t* const edge = group_.edge;
  for (uint32_t step = s.step_count; step > 0;) {
    const Step& solved = steps_[--step];
    uint32_t* const slots =
        group_.solution + size_t{s.first_home + step} * planes;
    for (uint32_t c = 0; c < planes; c += 8) {
      const uint32_t count = planes - c < 8 ? planes - c : 8;
      Lanes sides[2] = {};
      Lanes next[2] = {};  // The next slot's bit on top.
      for (uint32_t i = 0; i < count; ++i) {
        sides[i / kLanes][i % kLanes] = solved.sides[c + i][k];
        next[i / kLanes][i % kLanes] = uint64_t{edge[c + i]} << 32;
      }
      ROWBLOOM_UNROLL
      for (uint32_t j = kStripeSlots; j > 0; --j) {
        const uint64_t equations = solved.next[j - 1][k];
        for (uint32_t i = 0; i < 2; ++i) {
          sides[i] ^= IfTopBit(next[i], equations);
          next[i] += next[i];
        }
      }
      GatherSlots(reinterpret_cast<const uint64_t*>(sides),
                  solved.pivot_equation[k], count, slots + c);
    }
    for (uint32_t c = 0; c < planes; ++c) edge[c] = slots[c];
  }
}

#endif

template <uint32_t kSideBits>
void GroupSolver<kSideBits>::CollectBumped() {
  group_.bumped_count = 0;
  for (uint32_t k = 0; k < strand_count_; ++k) {
    const Strand& s = strands_[k];
    for (uint64_t i = 0; i < s.bumped_count; ++i) {
      group_.bumped[group_.bumped_count++] = s.bumped[i];
    }
  }
}

inline size_t WorkSize(uint32_t home_count, uint32_t planes) {
  return planes <= 8    ? GroupSolver<8>::WorkSize(home_count)
         : planes <= 16 ? GroupSolver<16>::WorkSize(home_count)
                        : GroupSolver<32>::WorkSize(home_count);
}

void SolveGroup(CompactGroup* group, char* work) {
  if (group->planes <= 8) {
    GroupSolver<8>(group, work).Solve();
  } else if (group->planes <= 16) {
    GroupSolver<16>(group, work).Solve();
  } else {
    GroupSolver<32>(group, work).Solve();
  }
}

}  // namespace

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_COMPACT_COMPACT_SOLVER_H_
