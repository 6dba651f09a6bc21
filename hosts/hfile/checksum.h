// SPDX-License-Identifier: Apache-2.0
//
// The checksums after a block: one big-endian value for each piece of
// bytes_per_checksum bytes. NULL reserves them and leaves them zero.

#ifndef ROWBLOOM_HFILE_CHECKSUM_H_
#define ROWBLOOM_HFILE_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "rowbloom/hfile_types.h"

namespace rowbloom::hfile {

inline constexpr size_t kChecksumSize = 4;

uint32_t Checksum(HFileChecksum type, std::string_view bytes);

// Needs bytes_per_checksum > 0.
size_t ChecksumsSize(uint64_t data_size, uint32_t bytes_per_checksum);
void AppendChecksums(HFileChecksum type, uint32_t bytes_per_checksum,
                     std::string_view data, std::string* out);
// DataLoss names the piece. `checksums` has the right size.
absl::Status VerifyChecksums(HFileChecksum type, uint32_t bytes_per_checksum,
                             std::string_view data, std::string_view checksums);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_CHECKSUM_H_
