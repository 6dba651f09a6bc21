// SPDX-License-Identifier: Apache-2.0
//
// Solves the equations of four lines of fast side by side. For kernel files:
// internal linkage.

#ifndef ROWBLOOM_FILTER_FAST_FAST_SOLVER_H_
#define ROWBLOOM_FILTER_FAST_FAST_SOLVER_H_

#include <string.h>

#include "filter/fast/fast_kernel.h"
#include "filter/gf2_lanes.h"

namespace rowbloom::filter {

namespace {

static_assert(kFastLanes == kLanes && kFastMaxDenseSlots == kMaxEquations);

constexpr uint32_t kBytePlanes = 8;  // Planes that are a byte of a slot.
constexpr uint32_t kSideBytes = kFastFingerprintBytes;
constexpr uint32_t kMaxSparseSlots = FastSparseSlots(kFastMinPlanes);
constexpr uint32_t kMaxSparseBytes = kMaxSparseSlots / 8 * kFastMinPlanes;

inline uint64_t LoadWord(const void* bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof(word));
  return internal::kIsLittleEndian ? word : internal::SwapBytes64(word);
}

inline void StoreWord(uint64_t word, void* bytes) {
  if (!internal::kIsLittleEndian) word = internal::SwapBytes64(word);
  memcpy(bytes, &word, sizeof(word));
}

// Byte i of words[j] becomes byte j of words[i], for eight words.
inline void TransposeBytes(Lanes* words) { Transpose<8, 8>(words); }

// Bit i of byte j becomes bit j of byte i.
inline Lanes TransposeBits(Lanes word) {
  constexpr uint64_t kMasks[] = {0x00aa00aa00aa00aau, 0x0000cccc0000ccccu,
                                 0x00000000f0f0f0f0u};
  ROWBLOOM_UNROLL
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t distance = 7u << i;
    const Lanes swapped = (word ^ (word >> distance)) & kMasks[i];
    word ^= swapped ^ (swapped << distance);
  }
  return word;
}

class FastSolver {
 public:
  explicit FastSolver(FastLines* lines)
      : io_(*lines),
        planes_(lines->planes),
        dense_slots_(FastDenseSlots(planes_)),
        words_(reinterpret_cast<Lanes*>(lines->words)) {}

  void Solve() {
    for (uint32_t k = 0; k < kLanes; ++k) {
      io_.contradicted_count[k] = 0;
      const uint32_t count = planes_ < 8    ? LoadEquationsWithSparseSlots(k)
                             : planes_ == 8 ? LoadEquations<1>(k)
                                            : LoadEquations<2>(k);
      equations_[k] = count == 0 ? 0 : ~uint64_t{0} >> (kMaxEquations - count);
    }
    EquationsToPlanes<64>(words_);
    LoadSides();
    const Lanes rest = Eliminate(words_, dense_slots_, dense_slots_ + planes_,
                                 equations_, pivots_);
    FindContradictions(rest);
    FillDenseSlots<8>(0);
    if (planes_ > 8) FillDenseSlots<4>(8);
    if (planes_ > 12) FillDenseSlots<4>(12);
    for (uint32_t k = 0; planes_ < 8 && k < kLanes; ++k) FillSparseSlots(k);
    StoreSlots();
  }

 private:
  struct SparsePivot {
    uint64_t equation;
    uint64_t fingerprint;
  };

  void AddContradicted(uint32_t k, uint32_t i) {
    io_.contradicted[k][io_.contradicted_count[k]++] = static_cast<uint8_t>(i);
  }
  uint32_t SideBytes() const { return (planes_ + 7) / 8; }
  // Both return the number of equations to solve. Not inlined, so that their
  // loops have all registers.
  template <uint32_t kBytes>
  ROWBLOOM_NOINLINE uint32_t LoadEquations(uint32_t k);
  ROWBLOOM_NOINLINE uint32_t LoadEquationsWithSparseSlots(uint32_t k);
  void LoadSides();
  void FindContradictions(Lanes rest);
  template <uint32_t kCount>
  void FillDenseSlots(uint32_t first_plane);
  void FillSparseSlots(uint32_t k);
  void StoreSlots();

  FastLines& io_;
  const uint32_t planes_;
  const uint32_t dense_slots_;
  // First equations, then planes: those of the slots, then the right-hand
  // sides.
  Lanes* const words_;
  Lanes equations_ = {};
  Lanes pivots_[kFastMaxDenseSlots];
  Lanes slots_[kSideBytes * kBytePlanes] = {};  // By plane.
  // With sparse slots, the indexes of the given equations to solve.
  uint8_t given_[kLanes][kMaxEquations];
  SparsePivot sparse_[kLanes][kMaxSparseSlots];
  char sparse_bytes_[kLanes][kMaxSparseBytes];  // Laid out as in a line.
};

template <uint32_t kBytes>
uint32_t FastSolver::LoadEquations(uint32_t k) {
  const uint64_t* const digests = io_.digests[k];
  const uint32_t count = io_.equation_count[k];
  for (uint32_t i = 0; i < count; i += 8) {
    uint64_t sides[kBytes] = {};
    ROWBLOOM_UNROLL
    for (uint32_t j = 0; j < 8; ++j) {
      const FastEquation equation =
          FastEquationOf(digests[i + j], kBytes == 1 ? 8 : kFastMaxPlanes);
      io_.words[i + j][k] = equation.equation;
      for (uint32_t b = 0; b < kBytes; ++b) {
        sides[b] |= (equation.fingerprint >> (8 * b) & 0xff) << (8 * j);
      }
    }
    for (uint32_t b = 0; b < kBytes; ++b) {
      StoreWord(sides[b], io_.fingerprints[b][k] + i);
    }
  }
  return count;
}

// The first equation of a sparse slot is its pivot equation: added to the
// others that have the slot, it leaves them with dense slots only.
uint32_t FastSolver::LoadEquationsWithSparseSlots(uint32_t k) {
  const uint32_t given_count = io_.equation_count[k];
  SparsePivot* const pivots = sparse_[k];
  FastEquation equations[kFastMaxEquations];
  uint8_t first[kMaxSparseSlots];
  for (uint32_t slot = 0; slot < FastSparseSlots(planes_); ++slot) {
    pivots[slot] = {};
  }
  for (uint32_t i = given_count; i > 0; --i) {
    equations[i - 1] = FastEquationOf(io_.digests[k][i - 1], planes_);
    first[equations[i - 1].sparse_slot] = static_cast<uint8_t>(i - 1);
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < given_count; ++i) {
    const FastEquation& equation = equations[i];
    SparsePivot* const pivot = &pivots[equation.sparse_slot];
    if (first[equation.sparse_slot] == i) {
      *pivot = {equation.equation, equation.fingerprint};
    } else if (count < kMaxEquations) {
      io_.words[count][k] = equation.equation ^ pivot->equation;
      io_.fingerprints[0][k][count] =
          static_cast<uint8_t>(equation.fingerprint ^ pivot->fingerprint);
      given_[k][count++] = static_cast<uint8_t>(i);
    } else {
      AddContradicted(k, i);
    }
  }
  return count;
}

// Stores the fingerprints as planes, after those of the slots.
void FastSolver::LoadSides() {
  for (uint32_t b = 0; b < SideBytes(); ++b) {
    Lanes sides[kBytePlanes];
    ROWBLOOM_UNROLL
    for (uint32_t i = 0; i < kBytePlanes; ++i) {
      const auto bytes_of = [&](uint32_t k) {
        return LoadWord(io_.fingerprints[b][k] + 8 * i);
      };
      sides[i] = TransposeBits(
          Lanes{bytes_of(0), bytes_of(1), bytes_of(2), bytes_of(3)});
    }
    TransposeBytes(sides);
    for (uint32_t i = 0; i < kBytePlanes; ++i) {
      words_[dense_slots_ + kBytePlanes * b + i] = sides[i];
    }
  }
}

void FastSolver::FindContradictions(Lanes rest) {
  Lanes wrong = {};
  for (uint32_t c = 0; c < planes_; ++c) wrong |= words_[dense_slots_ + c];
  wrong &= rest;
  for (uint32_t k = 0; k < kLanes; ++k) {
    for (uint64_t equations = wrong[k]; equations != 0;
         equations &= equations - 1) {
      const uint32_t equation = internal::LowestOne(equations);
      AddContradicted(k, planes_ >= 8 ? equation : given_[k][equation]);
    }
  }
}

// A slot gets the right-hand side of its pivot equation; without a pivot
// equation, 0.
template <uint32_t kCount>
void FastSolver::FillDenseSlots(uint32_t first_plane) {
#if defined(__AVX512VL__)
  // Two planes at a time.
  __m512i sides[kCount / 2];
  __m512i slots[kCount / 2];
  ROWBLOOM_UNROLL
  for (uint32_t c = 0; c < kCount; c += 2) {
    sides[c / 2] = _mm512_loadu_si512(words_ + dense_slots_ + first_plane + c);
    slots[c / 2] = _mm512_setzero_si512();
  }
  __m512i bit = _mm512_set1_epi64(1);
  for (uint32_t i = 0; i < dense_slots_; ++i) {
    const __m512i pivot =
        _mm512_broadcast_i64x4(reinterpret_cast<__m256i>(pivots_[i]));
    ROWBLOOM_UNROLL
    for (uint32_t c = 0; c < kCount / 2; ++c) {
      slots[c] = _mm512_mask_or_epi64(
          slots[c], _mm512_test_epi64_mask(sides[c], pivot), slots[c], bit);
    }
    bit = _mm512_add_epi64(bit, bit);
  }
  ROWBLOOM_UNROLL
  for (uint32_t c = 0; c < kCount; c += 2) {
    _mm512_storeu_si512(slots_ + first_plane + c, slots[c / 2]);
  }
  for (uint32_t c = planes_; c < first_plane + kCount; ++c) {
    if (c >= first_plane) slots_[c] = Lanes{};
  }
#else
  const Lanes* const sides = words_ + dense_slots_ + first_plane;
  Lanes slots[kCount] = {};
  Lanes pivoted = {};
  Lanes bit = Lanes{} + 1;
  for (uint32_t i = 0; i < dense_slots_; ++i) {
    const Lanes pivot = pivots_[i];
    ROWBLOOM_UNROLL
    for (uint32_t c = 0; c < kCount; ++c) {
      slots[c] |= Holds(sides[c], pivot) & bit;
    }
    pivoted |= NonZero(pivot) & bit;
    bit <<= 1;
  }
  for (uint32_t c = 0; c < kCount; ++c) {
    slots_[first_plane + c] =
        first_plane + c < planes_ ? slots[c] & pivoted : Lanes{};
  }
#endif
}

// A sparse slot gets the bit that makes its pivot equation hold; without a
// pivot equation, 0.
void FastSolver::FillSparseSlots(uint32_t k) {
  char* out = sparse_bytes_[k];
  for (uint32_t slot = 0; slot < FastSparseSlots(planes_); slot += 8) {
    for (uint32_t c = 0; c < planes_; ++c) {
      const uint64_t dense = slots_[c][k];
      uint64_t byte = 0;
      for (uint32_t i = 0; i < 8; ++i) {
        const SparsePivot& pivot = sparse_[k][slot + i];
        const uint64_t side = pivot.fingerprint >> c;
        const uint64_t sum = internal::Parity(pivot.equation & dense);
        byte |= ((side ^ sum) & 1) << i;
      }
      *out++ = static_cast<char>(byte);
    }
  }
}

void FastSolver::StoreSlots() {
  for (uint32_t b = 0; b < SideBytes(); ++b) {
    TransposeBytes(slots_ + kBytePlanes * b);  // Now by group.
  }
  const uint32_t groups = (dense_slots_ + 7) / 8;
  for (uint32_t k = 0; k < kLanes; ++k) {
    // The last word may reach beyond the line, with zeros.
    char line[kFastLineSize + 8] = {};
    for (uint32_t g = 0; g < groups; ++g) {
      for (uint32_t b = 0; b < SideBytes(); ++b) {
        StoreWord(slots_[kBytePlanes * b + g][k],
                  line + g * planes_ + kBytePlanes * b);
      }
    }
    if (planes_ < 8) {
      memcpy(line + groups * planes_, sparse_bytes_[k],
             FastSparseSlots(planes_) / 8 * planes_);
    }
    memcpy(io_.lines[k], line, kFastLineSize);
  }
}

inline void SolveFastLines(FastLines* lines) { FastSolver(lines).Solve(); }

}  // namespace

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_FAST_FAST_SOLVER_H_
