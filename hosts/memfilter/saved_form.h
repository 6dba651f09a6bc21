// SPDX-License-Identifier: Apache-2.0
//
// The envelope of a saved filter: its kind, its parameters as varints and its
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

namespace rowbloom::internal::memfilter {

class SavedFormWriter {
 public:
  explicit SavedFormWriter(MemFilterKind kind) : kind_(kind) {}

  void AddVarint(uint64_t value);
  void AddDouble(double value);
  // `words` must stay valid until Finish().
  void AddWords(absl::Span<const uint64_t> words) { words_.push_back(words); }
  std::string Finish() const;

 private:
  const MemFilterKind kind_;
  std::string parameters_;
  std::vector<absl::Span<const uint64_t>> words_;
};

// Reads in the order of writing. A failed read is remembered: call Finish()
// before using the values for more than sizes.
class SavedFormReader {
 public:
  // Checks everything under the checksum, and that the filter is of this kind.
  static absl::StatusOr<SavedFormReader> Open(std::string_view bytes,
                                              MemFilterKind kind);

  uint64_t Varint();
  double Double();
  // Reads the shape of an array of bits; refuses an invalid one.
  BloomShape Shape();
  // Returns false, and allocates nothing, if there are too few words left.
  bool Bits(uint64_t bit_count, BitArray* bits);
  // Records that the value read last is invalid, with the offset after it.
  void Refuse(absl::string_view what);
  // DataLoss if a read failed or bytes are left; ResourceExhausted if there was
  // no memory.
  absl::Status Finish();

 private:
  std::string_view parameters_;
  size_t parameters_end_ = 0;  // Offset.
  std::string_view words_;
  absl::Status status_;
};

// The kind of a saved filter. DataLoss for damage, Unimplemented for a newer
// version or a kind that this library does not know.
absl::StatusOr<MemFilterKind> SavedFormKind(std::string_view bytes);

// The size of the saved filter that begins with these bytes; the size of a
// header if they are fewer than that. DataLoss if no filter begins so.
absl::StatusOr<uint64_t> SavedFormSize(std::string_view first_bytes);

}  // namespace rowbloom::internal::memfilter

#endif  // ROWBLOOM_MEMFILTER_SAVED_FORM_H_
