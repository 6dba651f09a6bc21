// SPDX-License-Identifier: Apache-2.0
//
// A key codec says how flat user keys hold 1 to 8 segments, and which leading
// bytes of a key are filter keys. (row, qualifier) is the case of two.
//
//   auto codec = KeyCodec::Parse("tenant.fixed:4,user.delimiter:/,at.rest");
//   std::string key;
//   absl::Status s = codec->Encode({"acme", "ann", "17:04"}, &key);
//   db->Put(wo, key, value);  // "acmeann/17:04"
//   KeyCodec::Prefixes found = codec->PrefixesOf(key);
//   // "acme", "acmeann/" and all of the key
//
// Its text is a list of segments, [-][NAME.]KIND, separated by commas:
//
// | kind          | bytes of the segment in the key | may hold             |
// |---------------|---------------------------------|----------------------|
// | "ordered"     | esc(segment) 00 01              | any bytes            |
// | "fixed:N"     | segment                         | N bytes              |
// | "delimiter:C" | segment C                       | any bytes but C      |
// | "length:1"    | its size in 1 byte, segment     | up to 255 bytes      |
// | "length:4"    | its size in 4 bytes, big-endian | any bytes            |
// | "rest"        | segment                         | any bytes; the last  |
//
// esc() writes each byte 00 as 00 FF and leaves all others. Each segment ends a
// key level, and the key up to there is a filter key, its prefix of that key
// level; a segment after '-' ends none. A name is a label for people: a letter
// and up to 14 letters, digits and '_'. Codecs that differ in names alone are
// equal. A text of one segment needs a name, because some of these stand for
// two:
//
//   "whole_key"    key.rest: any keys, without prefixes
//   "ordered"      row.ordered,column.ordered
//   "fixed:N"      row.fixed:N,column.rest
//   "delimiter:C"  row.delimiter:C,column.rest
//
// C is one byte, neither ',' nor ';', or 0xHH. Bytes may follow the last
// segment, unless it is "rest": a version, for example.
//
// | last segment of the prefix | prefix                                    |
// |----------------------------|-------------------------------------------|
// | "ordered"                  | all up to the terminator's 00, not its 01 |
// | "rest"                     | the whole key, if "rest" is not empty     |
// | others                     | all up to the segment's end               |
//
// An "ordered" prefix leaves out the 01 so that the exclusive upper bound of
// its keys, which ends with 00 02, has the same prefix: RocksDB's
// auto_prefix_mode filters a scan only when both ends do. The digest of a
// filter key is DigestBytes() of the prefix, for every key level: a caller
// hashes once.
//
// Flat keys compare bytewise as their lists of segments do, if all segments
// are "ordered", "fixed" or "rest". With "delimiter" they do so only where no
// segment holds a byte below C, and with "length" only among equal sizes.
//
// Copy it freely; it is some hundred bytes. All methods are const and
// thread-safe. Prefixes are found by one pass over the key.

#ifndef ROWBLOOM_KEY_CODEC_H_
#define ROWBLOOM_KEY_CODEC_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

class KeyCodec {
 public:
  static constexpr size_t kMaxSegments = 8;
  static constexpr size_t kMaxNameSize = 15;
  // ToString() is no longer; a filter's metadata holds two bytes more.
  static constexpr size_t kMaxTextSize = 253;
  static constexpr uint32_t kMaxRowSize = 1 << 20;

  // Persisted numbers, never reused.
  enum class Kind : uint8_t {
    kOrdered = 1,
    kFixed = 2,
    kDelimiter = 3,
    kLength = 4,
    kRest = 5,
  };
  struct Segment {
    Kind kind = Kind::kOrdered;
    bool ends_key_level = true;
    // The kind sets the next two. True if a prefix that ends here lacks the
    // segment's last byte, as with "ordered".
    bool leaves_out_byte = false;
    // True if the segment has all bytes that are left, as with "rest".
    bool takes_rest = false;
    uint32_t parameter = 0;  // Size, delimiter or size of the length; else 0.
  };

  // One segment: the filter key is the key, which may have any layout.
  static KeyCodec WholeKey();
  // The three codecs of two segments, row and column.
  static KeyCodec Ordered();
  // `row_size_bytes` from 1 to kMaxRowSize.
  static KeyCodec FixedRow(uint32_t row_size_bytes);
  static KeyCodec Delimiter(char delimiter);

  // A text as above: "whole_key", "ordered", "fixed:8", "delimiter:|",
  // "delimiter:0x1f" or a list of segments. InvalidArgument names the segment
  // and what is allowed, or the size of a codec whose ToString() is longer
  // than kMaxTextSize.
  static absl::StatusOr<KeyCodec> Parse(std::string_view text);
  // Parse() returns an equal codec with the same names. The form without names
  // is the same for equal codecs.
  std::string ToString() const { return ToText(/*with_names=*/true); }
  std::string ToStringWithoutNames() const {
    return ToText(/*with_names=*/false);
  }

  // The short persisted form is the first segment's kind and parameter: of
  // whole keys, or the codec of row and column with such a row. InvalidArgument
  // if no codec has such a form.
  static absl::StatusOr<KeyCodec> FromShortForm(uint8_t kind,
                                                uint32_t parameter);
  // True if FromShortForm() returns this codec, and it has no names.
  bool HasShortForm() const;

  size_t segment_count() const { return segment_count_; }
  // `index` is below segment_count(), and counts from 0.
  const Segment& segment(size_t index) const { return segments_[index]; }
  // The name, or the segment's number, from 1, if it has none.
  std::string SegmentName(size_t index) const;

  // Key levels count from 1, the shortest prefix, to key_level_count(), at
  // least 1.
  size_t key_level_count() const { return key_level_count_; }
  // The number of segments in a prefix of the key level.
  size_t SegmentsOfKeyLevel(size_t key_level) const {
    return key_level_segments_[key_level - 1];
  }
  // The segment that ends the key level.
  const Segment& LastSegmentOf(size_t key_level) const {
    return segments_[SegmentsOfKeyLevel(key_level) - 1];
  }
  std::string KeyLevelName(size_t key_level) const {
    return SegmentName(SegmentsOfKeyLevel(key_level) - 1);
  }

  // Appends the flat key of the first segments, up to all, to *key.
  // InvalidArgument if the codec cannot hold one of them; *key is then
  // unchanged.
  absl::Status Encode(absl::Span<const std::string_view> segments,
                      std::string* key) const;
  // Appends the prefix of these segments, for FilterKey::Prefix(), if they end
  // a key level. At least one segment; errors as for Encode().
  absl::Status EncodePrefix(absl::Span<const std::string_view> segments,
                            std::string* prefix) const;
  // For a row and a qualifier: the first two segments.
  absl::Status Encode(std::string_view row, std::string_view qualifier,
                      std::string* key) const;

  // Decodes a flat key. InvalidArgument names the first bad offset. The bytes
  // after the last segment are ignored; `suffix`, if given, receives them.
  // After an error, *segments are those before that offset, and *suffix is
  // empty.
  absl::Status Decode(std::string_view key, std::vector<std::string>* segments,
                      std::string* suffix = nullptr) const;
  // For a codec of two segments (checked); row and qualifier must not be null.
  absl::Status Decode(std::string_view key, std::string* row,
                      std::string* qualifier,
                      std::string* suffix = nullptr) const;

  // Bounds of a scan over the keys that begin with these segments: they satisfy
  // LowerBound(segments) <= k < UpperBound(segments), and no other key of the
  // codec does. At least one segment; errors as for Encode(). Both append to
  // *bound; an empty upper bound means "to the end".
  absl::Status LowerBound(absl::Span<const std::string_view> segments,
                          std::string* bound) const {
    return Encode(segments, bound);
  }
  absl::Status UpperBound(absl::Span<const std::string_view> segments,
                          std::string* bound) const;

  // The sizes of a key's prefixes in RocksDB's filters, which leave out bytes:
  // see Segment. sizes[i] is that of key level i + 1.
  struct Prefixes {
    size_t count = 0;  // The key levels that the key holds whole.
    // The key holds at least one whole segment, even if it ends no key level.
    bool has_segment = false;
    std::array<size_t, kMaxSegments> sizes;
  };
  // Finds prefixes of the first `max_key_levels` key levels only.
  Prefixes PrefixesOf(std::string_view key,
                      size_t max_key_levels = kMaxSegments) const {
    Prefixes prefixes;
    FindPrefixes(key, max_key_levels, &prefixes);
    return prefixes;
  }
  // As PrefixesOf(), but takes from *prefixes, those of another key, what the
  // bytes that both keys begin with determine, and reads the key from there.
  // `common_size` is the number of such bytes. Returns the number of key levels
  // that were taken.
  size_t UpdatePrefixes(std::string_view key, size_t common_size,
                        Prefixes* prefixes,
                        size_t max_key_levels = kMaxSegments) const {
    // A prefix is determined by its bytes and the one after it, which could
    // escape the 00 of an "ordered" one. One with "rest" is the whole other
    // key, which is never shorter than what is common.
    const size_t limit =
        prefixes->count < max_key_levels ? prefixes->count : max_key_levels;
    size_t kept = 0;
    while (kept < limit && prefixes->sizes[kept] < common_size) ++kept;
    prefixes->count = kept;
    prefixes->has_segment = kept > 0;
    // Most neighbours differ in their last segment only. It is not empty: the
    // common bytes go on behind the prefixes before it.
    if (kept > 0 && kept == key_level_before_rest_ && kept < max_key_levels) {
      prefixes->sizes[prefixes->count++] = key.size();
    } else {
      FindPrefixes(key, max_key_levels, prefixes);
    }
    return kept;
  }

  // The size of the key's first segments, up to and with the last one of the
  // key level, as Encode() writes them; `prefix_size` is that of the key's
  // prefix of the key level. 0 if the key goes on otherwise, behind an
  // "ordered" prefix: the codec did not write it.
  size_t SegmentsSize(std::string_view key, size_t key_level,
                      size_t prefix_size) const;

  // Size of `key`'s prefix of key level 1; 0 if it holds none.
  size_t FirstPrefixSize(std::string_view key) const {
    Prefixes prefixes;
    FindPrefixes(key, 1, &prefixes);
    return prefixes.count == 0 ? 0 : prefixes.sizes[0];
  }
  // Size of `key`'s prefix of key level 2; 0 if it holds none. Sets *first_size
  // as FirstPrefixSize() would.
  size_t SecondPrefixSize(std::string_view key, size_t* first_size) const;

  // A successor of `key` is a beginning of it with the last byte increased by
  // 1, as a store's separator between two keys can be. Calls `visit` for those
  // that are prefixes of key levels 2 to `max_key_levels` and may be prefixes
  // of the next key as well; `prefixes` are those of `key`. False if there are
  // more candidates than `max_tries`, and not all were visited.
  bool VisitSuccessors(std::string_view key, const Prefixes& prefixes,
                       size_t max_key_levels, size_t max_tries,
                       absl::FunctionRef<void(std::string_view)> visit) const;
  // False if VisitSuccessors() has nothing to visit, whatever the key is.
  bool MayHaveSuccessors(size_t max_key_levels) const;

  // True if the first segments are encoded as all segments of `other`, and the
  // last of them ends a key level, as it does in `other`.
  bool BeginsAs(const KeyCodec& other) const;
  bool operator==(const KeyCodec& other) const;
  bool operator!=(const KeyCodec& other) const { return !(*this == other); }

 private:
  // Extends *prefixes, which holds `count` right ones, to at most `key_levels`.
  using Extend = void (*)(const KeyCodec& codec, std::string_view key,
                          size_t key_levels, Prefixes* prefixes);

  KeyCodec() = default;

  static KeyCodec OfShortForm(Kind kind, uint32_t parameter);
  bool IsOfShortForm() const;
  absl::Status AddSegment(std::string_view text);
  void Push(const Segment& segment, std::string_view name);
  std::string_view Name(size_t index) const;
  std::string ToText(bool with_names) const;

  void FindPrefixes(std::string_view key, size_t max_key_levels,
                    Prefixes* prefixes) const {
    extend_(
        *this, key,
        max_key_levels < key_level_count_ ? max_key_levels : key_level_count_,
        prefixes);
  }
  template <typename First, typename Next>
  static void ExtendPrefixes(const KeyCodec& codec, std::string_view key,
                             size_t key_levels, Prefixes* prefixes);
  // ExtendPrefixes() of the segments' kinds: each lookup of a filter asks for
  // prefixes, and finds them faster if the kinds are known.
  Extend extend_ = nullptr;

  std::array<Segment, kMaxSegments> segments_;
  uint8_t segment_count_ = 0;
  uint8_t key_level_count_ = 0;
  // The next key level is all bytes behind a prefix of this one; 0 if there is
  // none.
  uint8_t key_level_before_rest_ = 0;
  std::array<uint8_t, kMaxSegments> key_level_segments_ = {};
  // The names, each with a ',' after it; empty if no segment has one.
  std::string names_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_KEY_CODEC_H_
