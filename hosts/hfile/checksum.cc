// SPDX-License-Identifier: Apache-2.0

#include "hfile/checksum.h"

#include <isa-l/crc.h>

#include <limits>

#include "absl/strings/str_format.h"
#include "util/check.h"
#include "util/coding.h"

namespace rowbloom::hfile {

uint32_t Checksum(HFileChecksum type, std::string_view bytes) {
  RB_DCHECK(bytes.size() <= std::numeric_limits<int>::max());
  switch (type) {
    case HFileChecksum::kNull:
      return 0;
    case HFileChecksum::kCrc32:
      return crc32_gzip_refl(
          0, reinterpret_cast<const unsigned char*>(bytes.data()),
          bytes.size());
    case HFileChecksum::kCrc32c:
      // Reads only, but its parameter is not const.
      return ~crc32_iscsi(
          reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data())),
          static_cast<int>(bytes.size()), ~0U);
  }
  return 0;
}

size_t ChecksumsSize(uint64_t data_size, uint32_t bytes_per_checksum) {
  return static_cast<size_t>((data_size + bytes_per_checksum - 1) /
                             bytes_per_checksum * kChecksumSize);
}

void AppendChecksums(HFileChecksum type, uint32_t bytes_per_checksum,
                     std::string_view data, std::string* out) {
  while (!data.empty()) {
    const std::string_view piece = data.substr(0, bytes_per_checksum);
    util::AppendBigEndian(Checksum(type, piece), out);
    data.remove_prefix(piece.size());
  }
}

absl::Status VerifyChecksums(HFileChecksum type, uint32_t bytes_per_checksum,
                             std::string_view data,
                             std::string_view checksums) {
  for (size_t i = 0; !data.empty(); ++i) {
    const std::string_view piece = data.substr(0, bytes_per_checksum);
    data.remove_prefix(piece.size());
    uint32_t stored;
    if (!util::ReadBigEndian(&checksums, &stored)) {
      return absl::DataLossError("fewer checksums than data");
    }
    const uint32_t computed = Checksum(type, piece);
    if (stored != computed) {
      return absl::DataLossError(absl::StrFormat(
          "checksum %d is %08x, of the bytes %08x", i, stored, computed));
    }
  }
  return absl::OkStatus();
}

}  // namespace rowbloom::hfile
