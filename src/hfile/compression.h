// SPDX-License-Identifier: Apache-2.0
//
// The payloads of blocks: as they are, a gzip stream, or in Hadoop's framing:
// the size of all, then for each piece its compressed size and bytes, until
// all is there. What Hadoop's native ZSTD writes is one plain frame.
//
// HBase decompresses into a buffer of 256 KiB: a piece is at most as large as
// that, less what a codec can add to bytes that do not shrink. Behind a payload
// of more than one piece HBase's stream ends with an empty frame.

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

// DataLoss if `in` is not a compressed form of exactly so many bytes;
// Unimplemented for a codec that is not here.
absl::StatusOr<std::string> Decompress(HFileCompression compression,
                                       std::string_view in,
                                       size_t uncompressed_size);

// *out becomes the compressed form. Unimplemented for a codec that is not here.
absl::Status Compress(HFileCompression compression, std::string_view in,
                      std::string* out);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_COMPRESSION_H_
