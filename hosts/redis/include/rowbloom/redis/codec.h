// SPDX-License-Identifier: Apache-2.0
//
// The bytes by which a Redisson client hashes an element, and their digest. The
// bytes depend on the client's codec, which Redisson stores nowhere: with
// another codec every answer is wrong.
//
//   const RedissonCodec codec("Kryo5Codec");  // Redisson's default since 3.19.
//   absl::StatusOr<std::string> encoded = codec.Text("user17");
//   RedissonDigest digest = RedissonDigestOf(*encoded);
//
// Codecs known by name: StringCodec, ByteArrayCodec, LongCodec, Kryo5Codec
// without registered classes, MarshallingCodec (the default of 3.13 to 3.18).
// Elements of others are encoded by the caller. Values; any thread.

#ifndef ROWBLOOM_REDIS_CODEC_H_
#define ROWBLOOM_REDIS_CODEC_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "rowbloom/export.h"
#include "rowbloom/memfilter/redisson.h"

namespace ROWBLOOM_EXPORT rowbloom {

// HighwayHash-128 with Redisson's key.
RedissonDigest RedissonDigestOf(std::string_view encoded);

class RedissonCodec {
 public:
  // Any other name stands for a codec of the caller's.
  explicit RedissonCodec(std::string_view name) : name_(name) {}

  const std::string& name() const { return name_; }

  // A Java String with these UTF-8 bytes (with ByteArrayCodec: a byte[]), an
  // int or Integer, a long or Long. InvalidArgument if the bytes are not UTF-8
  // and the codec needs characters, if ByteArrayCodec gets a number, or if the
  // codec is not known by name.
  absl::StatusOr<std::string> Text(std::string_view text) const;
  absl::StatusOr<std::string> Int(int32_t value) const;
  absl::StatusOr<std::string> Long(int64_t value) const;

 private:
  std::string name_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_REDIS_CODEC_H_
