// SPDX-License-Identifier: Apache-2.0
//
// The payloads of blocks: uncompressed, a gzip stream, or Hadoop's framing: the
// total size, then the compressed size and bytes of each piece. Hadoop's native
// ZSTD writes one plain frame.
//
// HBase decompresses into a buffer of 256 KiB: a piece is at most as large as
// that, less the bytes that a codec can add to incompressible data. After a
// payload of more than one piece, HBase's stream ends with an empty frame.

#ifndef ROWBLOOM_HFILE_COMPRESSION_H_
#define ROWBLOOM_HFILE_COMPRESSION_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rowbloom/hfile_types.h"

namespace rowbloom::hfile {

inline constexpr size_t kCodecBufferSize = 256 << 10;
inline constexpr size_t kMaxPieceSize =
    kCodecBufferSize - (kCodecBufferSize / 6 + 32);

// DataLoss if `in` is not a compressed form of exactly `uncompressed_size`
// bytes; Unimplemented for an unsupported codec.
absl::StatusOr<std::string> Decompress(HFileCompression compression,
                                       std::string_view in,
                                       size_t uncompressed_size);

// *out becomes the compressed form. Unimplemented for an unsupported codec.
absl::Status Compress(HFileCompression compression, std::string_view in,
                      std::string* out);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_COMPRESSION_H_
