// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/redis/codec.h"

#include <highwayhash/highwayhash_target.h>
#include <highwayhash/instruction_sets.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "util/absl_view.h"
#include "util/coding.h"

namespace rowbloom {

namespace {

constexpr std::string_view kByteArray = "ByteArrayCodec";
constexpr std::string_view kKryo5 = "Kryo5Codec";
constexpr std::string_view kMarshalling = "MarshallingCodec";

// The first byte of an element names its class.
constexpr char kKryoInt = 0x02;
constexpr char kKryoString = 0x03;
constexpr char kKryoLong = 0x09;
constexpr char kRiverVersion = 0x04;
constexpr char kRiverStringEmpty = 0x3d;
// A length in UTF-16 units of 1, 2 or 4 bytes; 0 stands for 256 and 65536.
constexpr char kRiverStringSmall = 0x3e;
constexpr char kRiverStringMedium = 0x3f;
constexpr char kRiverStringLarge = 0x40;
constexpr char kRiverInt = 0x4b;
constexpr char kRiverLong = 0x4c;

bool IsText(std::string_view codec) {
  return codec == "StringCodec" || codec == "LongCodec";
}

absl::Status Unknown(std::string_view codec) {
  return absl::InvalidArgumentError(absl::StrCat(
      "codec \"", util::AbslView(codec),
      "\" is not known: encode elements with it and hand over their bytes; "
      "known: StringCodec, ByteArrayCodec, LongCodec, Kryo5Codec, "
      "MarshallingCodec"));
}

// The UTF-16 units of a text, each by itself in the form of UTF-8: surrogates
// take three bytes each.
struct JavaChars {
  uint64_t unit_count = 0;
  std::string bytes;
};

void AppendUnit(uint32_t unit, bool zero_as_two_bytes, JavaChars* chars) {
  ++chars->unit_count;
  const auto append = [chars](uint32_t byte) {
    chars->bytes.push_back(static_cast<char>(byte));
  };
  if (unit < 0x80 && (unit != 0 || !zero_as_two_bytes)) {
    append(unit);
  } else if (unit < 0x800) {
    append(0xc0 | unit >> 6);
    append(0x80 | (unit & 0x3f));
  } else {
    append(0xe0 | unit >> 12);
    append(0x80 | (unit >> 6 & 0x3f));
    append(0x80 | (unit & 0x3f));
  }
}

// InvalidArgument for what is not UTF-8: a Java String has no such text.
absl::StatusOr<JavaChars> ToJavaChars(std::string_view text,
                                      bool zero_as_two_bytes) {
  JavaChars chars;
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&text](size_t at) -> uint32_t {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
    };
    const uint32_t first = byte(i);
    const size_t size = first < 0x80   ? 1
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                                       : 4;
    uint32_t point = size == 1 ? first : first & (0x7fu >> size);
    bool is_good = first < 0x80 || (first >= 0xc2 && first < 0xf5);
    for (size_t j = 1; j < size; ++j) {
      is_good &= byte(i + j) >> 6 == 2;
      point = point << 6 | (byte(i + j) & 0x3f);
    }
    is_good &= !(size == 3 && (point < 0x800 || point >> 11 == 0x1b));
    is_good &= !(size == 4 && (point < 0x10000 || point > 0x10ffff));
    if (!is_good) {
      return absl::InvalidArgumentError(
          absl::StrCat("element of ", text.size(), " bytes is not UTF-8 at ", i,
                       ": no Java String; hand over encoded bytes"));
    }
    if (point >= 0x10000) {
      point -= 0x10000;
      AppendUnit(0xd800 + (point >> 10), zero_as_two_bytes, &chars);
      AppendUnit(0xdc00 + (point & 0x3ff), zero_as_two_bytes, &chars);
    } else {
      AppendUnit(point, zero_as_two_bytes, &chars);
    }
    i += size;
  }
  return chars;
}

absl::StatusOr<std::string> KryoText(std::string_view text) {
  std::string encoded(1, kKryoString);
  const bool is_ascii = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x80;
  });
  if (is_ascii && text.size() >= 2 && text.size() <= 32) {
    encoded.append(text);
    encoded.back() = static_cast<char>(encoded.back() | 0x80);
    return encoded;
  }
  const auto chars = ToJavaChars(text, /*zero_as_two_bytes=*/false);
  if (!chars.ok()) return chars.status();
  // A varint whose first byte has a flag and 6 bits.
  const uint64_t length = chars->unit_count + 1;
  encoded.push_back(
      static_cast<char>(0x80 | (length > 0x3f ? 0x40 : 0) | (length & 0x3f)));
  if (length > 0x3f) util::AppendVarint(length >> 6, &encoded);
  return encoded + chars->bytes;
}

absl::StatusOr<std::string> RiverText(std::string_view text) {
  const auto chars = ToJavaChars(text, /*zero_as_two_bytes=*/true);
  if (!chars.ok()) return chars.status();
  const uint64_t length = chars->unit_count;
  std::string encoded(1, kRiverVersion);
  if (length == 0) {
    encoded.push_back(kRiverStringEmpty);
  } else if (length <= 0x100) {
    encoded.push_back(kRiverStringSmall);
    encoded.push_back(static_cast<char>(length));
  } else if (length <= 0x10000) {
    encoded.push_back(kRiverStringMedium);
    util::AppendBigEndian<uint16_t>(static_cast<uint16_t>(length), &encoded);
  } else {
    encoded.push_back(kRiverStringLarge);
    util::AppendBigEndian<uint32_t>(static_cast<uint32_t>(length), &encoded);
  }
  return encoded + chars->bytes;
}

uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^
         (value < 0 ? ~uint64_t{0} : uint64_t{0});
}

// At most nine bytes: the ninth has eight bits.
void AppendKryoLong(uint64_t value, std::string* out) {
  for (int i = 0; i < 8 && value >= 0x80; ++i, value >>= 7) {
    out->push_back(static_cast<char>(value | 0x80));
  }
  out->push_back(static_cast<char>(value));
}

}  // namespace

RedissonDigest RedissonDigestOf(std::string_view encoded) {
  alignas(32) static constexpr highwayhash::HHKey kKey = {
      0x9e3779b97f4a7c15u, 0xf39cc0605cedc834u, 0x1082276bf3a27251u,
      0xf86c6a11d0c18e95u};
  highwayhash::HHResult128 hash = {};
  highwayhash::InstructionSets::Run<highwayhash::HighwayHash>(
      kKey, encoded.data(), encoded.size(), &hash);
  return {hash[0], hash[1]};
}

absl::StatusOr<std::string> RedissonCodec::Text(std::string_view text) const {
  if (IsText(name_) || name_ == kByteArray) return std::string(text);
  if (name_ == kKryo5) return KryoText(text);
  if (name_ == kMarshalling) return RiverText(text);
  return Unknown(name_);
}

absl::StatusOr<std::string> RedissonCodec::Int(int32_t value) const {
  std::string encoded;
  if (name_ == kKryo5) {
    encoded.push_back(kKryoInt);
    util::AppendVarint(static_cast<uint32_t>(ZigZag(value)), &encoded);
  } else if (name_ == kMarshalling) {
    encoded.assign({kRiverVersion, kRiverInt});
    util::AppendBigEndian<uint32_t>(static_cast<uint32_t>(value), &encoded);
  } else {
    return Long(value);
  }
  return encoded;
}

absl::StatusOr<std::string> RedissonCodec::Long(int64_t value) const {
  std::string encoded;
  if (IsText(name_)) {
    absl::StrAppend(&encoded, value);
  } else if (name_ == kKryo5) {
    encoded.push_back(kKryoLong);
    AppendKryoLong(ZigZag(value), &encoded);
  } else if (name_ == kMarshalling) {
    encoded.assign({kRiverVersion, kRiverLong});
    util::AppendBigEndian<uint64_t>(static_cast<uint64_t>(value), &encoded);
  } else if (name_ == kByteArray) {
    return absl::InvalidArgumentError(
        "ByteArrayCodec encodes a byte[] only: hand over the bytes of the "
        "number as text");
  } else {
    return Unknown(name_);
  }
  return encoded;
}

}  // namespace rowbloom
