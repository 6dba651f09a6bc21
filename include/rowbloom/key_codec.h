// SPDX-License-Identifier: Apache-2.0
//
// How an engine's flat user key holds (row, qualifier), and which of its
// leading bytes are the row part and the column part.
//
//   KeyCodec codec = KeyCodec::Ordered();
//   std::string key;
//   absl::Status s = codec.Encode("user17", "email", &key);
//   db->Put(wo, key, value);  // ...and codec.RowPartSize(key) is the row part
//
// | codec         | flat key                          | row, qualifier       |
// |---------------|-----------------------------------|----------------------|
// | "ordered"     | esc(row) 00 01 esc(qual) 00 01    | any bytes; may carry |
// |               | + suffix                          | a suffix (version)   |
// | "fixed:N"     | row (N bytes) + qualifier         | row of N bytes       |
// | "delimiter:C" | row C qualifier                   | row without byte C   |
//
// esc() writes each byte 00 as 00 FF and leaves all others. Encodings of
// "ordered" and "fixed" compare bytewise as (row, qualifier) does; those of
// "delimiter" do so only where no row holds a byte below C.
//
// Row part and column part are what a filter over flat keys holds:
//
// | codec         | row part             | column part                       |
// |---------------|----------------------|-----------------------------------|
// | "ordered"     | esc(row) 00          | esc(row) 00 01 esc(qual) 00       |
// | "fixed:N"     | the first N bytes    | the whole key, if longer than N   |
// | "delimiter:C" | row C                | the whole key, if longer than that|
//
// The part ends with the terminator's 00 and not its 01, so that the row's
// exclusive upper bound, esc(row) 00 02, has the same row part as its keys:
// RocksDB's auto_prefix_mode filters a scan only when both ends do.
//
// A value of a few bytes; copy it freely. All methods are const and
// thread-safe. Part sizes are found by one pass over the key.

#ifndef ROWBLOOM_KEY_CODEC_H_
#define ROWBLOOM_KEY_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

class KeyCodec {
 public:
  // Persisted numbers, never reused.
  enum class Kind : uint8_t { kOrdered = 1, kFixedRow = 2, kDelimiter = 3 };

  static KeyCodec Ordered() { return KeyCodec(Kind::kOrdered, 0); }
  // `row_size_bytes` from 1 to kMaxRowSize.
  static KeyCodec FixedRow(uint32_t row_size_bytes);
  static KeyCodec Delimiter(char delimiter);

  // "ordered", "fixed:8", "delimiter:|" or "delimiter:0x1f".
  static absl::StatusOr<KeyCodec> Parse(std::string_view text);
  std::string ToString() const;

  // The persisted form is a kind and its parameter (row size or delimiter).
  static absl::StatusOr<KeyCodec> FromParts(uint8_t kind, uint32_t parameter);
  Kind kind() const { return kind_; }
  uint32_t parameter() const { return parameter_; }

  // Appends the flat key to *key. InvalidArgument if this codec cannot hold
  // the row; *key is then unchanged.
  absl::Status Encode(std::string_view row, std::string_view qualifier,
                      std::string* key) const;

  // Decodes a flat key; row and qualifier must not be null. InvalidArgument
  // names the first bad offset. A suffix behind an "ordered" key is ignored;
  // `suffix`, if given, receives it.
  absl::Status Decode(std::string_view key, std::string* row,
                      std::string* qualifier,
                      std::string* suffix = nullptr) const;

  // Bounds of a scan over one row: all keys of the row k satisfy
  // RowLowerBound(row) <= k < RowUpperBound(row), and no other key does.
  // InvalidArgument as for Encode. Both append to *bound; an empty upper bound
  // means "to the end".
  absl::Status RowLowerBound(std::string_view row, std::string* bound) const;
  absl::Status RowUpperBound(std::string_view row, std::string* bound) const;

  // Size of `key`'s row part; 0 if it holds no whole row.
  size_t RowPartSize(std::string_view key) const;
  // Size of `key`'s column part; 0 if it holds no whole column. Sets
  // *row_part_size as RowPartSize() would.
  size_t ColumnPartSize(std::string_view key, size_t* row_part_size) const;

  static constexpr uint32_t kMaxRowSize = 1 << 20;

  friend bool operator==(const KeyCodec& a, const KeyCodec& b) {
    return a.kind_ == b.kind_ && a.parameter_ == b.parameter_;
  }

 private:
  KeyCodec(Kind kind, uint32_t parameter)
      : kind_(kind), parameter_(parameter) {}

  Kind kind_;
  uint32_t parameter_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_KEY_CODEC_H_
