// SPDX-License-Identifier: Apache-2.0
//
// The envelope of a saved filter: which kind, its parameters as varints, its
// words, under one checksum. Bytes: docs/memfilters.md, section "Saved form".
//
//   SavedFormWriter writer(MemFilterKind::kStandard);
//   writer.AddVarint(bit_count);
//   writer.AddWords(bits.words());
//   return writer.Finish();
//
//   absl::StatusOr<SavedFormReader> reader =
//       SavedFormReader::Open(bytes, MemFilterKind::kStandard);

#ifndef ROWBLOOM_MEMFILTER_SAVED_FORM_H_
#define ROWBLOOM_MEMFILTER_SAVED_FORM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "rowbloom/memfilter/bit_array.h"
#include "rowbloom/memfilter/mem_filter_kind.h"
#include "rowbloom/memfilter/sizing.h"

namespace rowbloom::memfilter {

class SavedFormWriter {
 public:
  explicit SavedFormWriter(MemFilterKind kind) : kind_(kind) {}

  void AddVarint(uint64_t value);
  void AddDouble(double value);
  // They must stay until Finish().
  void AddWords(absl::Span<const uint64_t> words) { words_.push_back(words); }
  std::string Finish() const;

 private:
  const MemFilterKind kind_;
  std::string parameters_;
  std::vector<absl::Span<const uint64_t>> words_;
};

// Reads in the order of writing. A read that fails is remembered: ask Finish()
// before what was read is used for more than sizes.
class SavedFormReader {
 public:
  // Checks everything under the checksum, and that the filter is of this kind.
  static absl::StatusOr<SavedFormReader> Open(std::string_view bytes,
                                              MemFilterKind kind);

  uint64_t Varint();
  double Double();
  // The shape of an array of bits, both valid, or a failure.
  BloomShape Shape();
  // False, and nothing allocated, if there are not so many words left.
  bool Bits(uint64_t bit_count, BitArray* bits);
  // What was read last makes no sense: says so, with its offset.
  void Refuse(absl::string_view what);
  // DataLoss for a read that failed, or if something is left;
  // ResourceExhausted if there was no memory.
  absl::Status Finish();

 private:
  std::string_view parameters_;
  size_t parameters_end_ = 0;  // Offset.
  std::string_view words_;
  absl::Status status_;
};

// Of any saved filter: DataLoss for damage, Unimplemented for a newer version
// or a kind that this library does not know.
absl::StatusOr<MemFilterKind> SavedFormKind(std::string_view bytes);

// How long the saved filter is that begins with these bytes; as long as a
// header's fields are missing, more than there are. DataLoss if none begins so.
absl::StatusOr<uint64_t> SavedFormSize(std::string_view first_bytes);

}  // namespace rowbloom::memfilter

#endif  // ROWBLOOM_MEMFILTER_SAVED_FORM_H_
