// SPDX-License-Identifier: Apache-2.0

#include "hfile/compression.h"

#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "hfile/errors.h"
#include "hfile/vlong.h"
#include "util/absl_view.h"
#include "util/coding.h"

namespace rowbloom::hfile {

namespace {

constexpr int kGzipWindowBits = 15 + 16;  // zlib: a gzip header, not zlib's.
// Deflate has the greatest ratio except for ZSTD, where a block of 4 bytes can
// become 128 KiB.
constexpr size_t kMaxRatio = 1040;
constexpr size_t kMaxZstdRatio = 1 << 15;
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

absl::Status Damaged(HFileCompression compression, std::string_view what) {
  return DataLoss(util::AbslView(HFileCompressionName(compression)), ": ",
                  util::AbslView(what));
}

absl::Status NotHere(HFileCompression compression) {
  return Unimplemented("compression ", static_cast<int>(compression), " (",
                       util::AbslView(HFileCompressionName(compression)),
                       ") is not supported; supported: NONE, GZ, SNAPPY, LZ4, "
                       "ZSTD");
}

Bytef* AsBytes(const char* bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes));
}

absl::Status Gunzip(std::string_view in, std::string* out) {
  z_stream stream = {};
  stream.next_in = AsBytes(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  // One more byte of room detects a stream that is too long.
  std::string room(out->size() + 1, '\0');
  stream.next_out = AsBytes(room.data());
  stream.avail_out = static_cast<uInt>(room.size());
  if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) {
    return absl::ResourceExhaustedError("zlib: no memory");
  }
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.avail_in == 0 &&
                     stream.total_out == out->size();
  inflateEnd(&stream);
  if (!whole) {
    return Damaged(HFileCompression::kGz, "not a stream of the stated size");
  }
  room.pop_back();
  *out = std::move(room);
  return absl::OkStatus();
}

// Decompresses one piece of a framed payload; *size is the room in `out`, then
// the bytes that were written.
bool DecompressPiece(HFileCompression compression, std::string_view in,
                     char* out, size_t* size) {
  switch (compression) {
    case HFileCompression::kSnappy: {
      size_t stated;
      if (!snappy::GetUncompressedLength(in.data(), in.size(), &stated) ||
          stated > *size) {
        return false;
      }
      *size = stated;
      return snappy::RawUncompress(in.data(), in.size(), out);
    }
    case HFileCompression::kLz4: {
      const int done = LZ4_decompress_safe(
          in.data(), out, static_cast<int>(in.size()), static_cast<int>(*size));
      if (done < 0) return false;
      *size = static_cast<size_t>(done);
      return true;
    }
    case HFileCompression::kZstd: {
      const size_t done = ZSTD_decompress(out, *size, in.data(), in.size());
      if (ZSTD_isError(done) != 0) return false;
      *size = done;
      return true;
    }
    default:
      return false;
  }
}

absl::Status Unframe(HFileCompression compression, std::string_view in,
                     std::string* out) {
  size_t done = 0;
  while (!in.empty()) {
    uint32_t total;
    if (!util::ReadBigEndian(&in, &total) || total > out->size() - done) {
      return Damaged(compression, "a frame is longer than the payload");
    }
    const size_t end = done + total;
    while (done < end) {
      uint32_t size;
      std::string_view piece;
      size_t filled = end - done;
      if (!util::ReadBigEndian(&in, &size) || !ReadBytes(&in, size, &piece) ||
          !DecompressPiece(compression, piece, out->data() + done, &filled) ||
          filled == 0) {
        return Damaged(compression, "a piece cannot be decompressed");
      }
      done += filled;
    }
  }
  if (done == out->size()) return absl::OkStatus();
  return Damaged(compression,
                 absl::StrCat("only ", done, " of ", out->size(), " bytes"));
}

absl::Status Gzip(std::string_view in, std::string* out) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits,
                   8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return absl::ResourceExhaustedError("zlib: no memory");
  }
  out->resize(deflateBound(&stream, in.size()));
  stream.next_in = AsBytes(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = AsBytes(out->data());
  stream.avail_out = static_cast<uInt>(out->size());
  const int result = deflate(&stream, Z_FINISH);
  out->resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) return absl::InternalError("zlib: deflate");
  return absl::OkStatus();
}

absl::Status CompressPiece(HFileCompression compression, std::string_view in,
                           std::string* out) {
  switch (compression) {
    case HFileCompression::kSnappy:
      snappy::Compress(in.data(), in.size(), out);
      return absl::OkStatus();
    case HFileCompression::kLz4: {
      const int size = static_cast<int>(in.size());
      out->resize(static_cast<size_t>(LZ4_compressBound(size)));
      out->resize(static_cast<size_t>(LZ4_compress_default(
          in.data(), out->data(), size, static_cast<int>(out->size()))));
      return absl::OkStatus();
    }
    case HFileCompression::kZstd: {
      out->resize(ZSTD_compressBound(in.size()));
      const size_t size = ZSTD_compress(out->data(), out->size(), in.data(),
                                        in.size(), ZSTD_CLEVEL_DEFAULT);
      if (ZSTD_isError(size) != 0) {
        return absl::InternalError(ZSTD_getErrorName(size));
      }
      out->resize(size);
      return absl::OkStatus();
    }
    default:
      return NotHere(compression);
  }
}

absl::Status Frame(HFileCompression compression, std::string_view in,
                   std::string* out) {
  const bool is_cut = in.size() > kMaxPieceSize;
  out->clear();
  util::AppendBigEndian(static_cast<uint32_t>(in.size()), out);
  std::string piece;
  do {
    absl::Status status =
        CompressPiece(compression, in.substr(0, kMaxPieceSize), &piece);
    if (!status.ok()) return status;
    if (in.empty()) break;
    util::AppendBigEndian(static_cast<uint32_t>(piece.size()), out);
    out->append(piece);
    in.remove_prefix(std::min(in.size(), kMaxPieceSize));
  } while (!in.empty());
  if (is_cut) util::AppendBigEndian(uint32_t{0}, out);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> Decompress(HFileCompression compression,
                                       std::string_view in,
                                       size_t uncompressed_size) {
  if (in.size() > std::numeric_limits<int32_t>::max() ||
      uncompressed_size > std::numeric_limits<int32_t>::max()) {
    return Damaged(compression, "more than 2 GiB");
  }
  if (compression == HFileCompression::kNone) {
    if (in.size() == uncompressed_size) return std::string(in);
    return DataLoss("not compressed, and has ", in.size(), " bytes instead of ",
                    uncompressed_size);
  }
  // Refuses a size that no codec can reach, before allocating it.
  const size_t max_ratio =
      compression == HFileCompression::kZstd ? kMaxZstdRatio : kMaxRatio;
  if (uncompressed_size > (in.size() + 64) * max_ratio) {
    return Damaged(compression,
                   absl::StrCat(uncompressed_size, " bytes of ", in.size()));
  }
  std::string out(uncompressed_size, '\0');
  absl::Status status;
  switch (compression) {
    case HFileCompression::kGz:
      status = Gunzip(in, &out);
      break;
    case HFileCompression::kZstd:
      if (in.substr(0, kZstdMagic.size()) == kZstdMagic) {
        size_t size = out.size();
        if (!DecompressPiece(compression, in, out.data(), &size) ||
            size != out.size()) {
          status = Damaged(compression, "not a frame of the stated size");
        }
        break;
      }
      [[fallthrough]];
    case HFileCompression::kSnappy:
    case HFileCompression::kLz4:
      status = Unframe(compression, in, &out);
      break;
    default:
      status = NotHere(compression);
  }
  if (!status.ok()) return status;
  return out;
}

absl::Status Compress(HFileCompression compression, std::string_view in,
                      std::string* out) {
  if (in.size() > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("a block of ", in.size(), " bytes");
  }
  switch (compression) {
    case HFileCompression::kNone:
      *out = in;
      return absl::OkStatus();
    case HFileCompression::kGz:
      return Gzip(in, out);
    default:
      return Frame(compression, in, out);
  }
}

}  // namespace rowbloom::hfile
