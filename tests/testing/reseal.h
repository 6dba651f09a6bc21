// SPDX-License-Identifier: Apache-2.0
//
// Changes a filter block or a saved filter and makes the checksums right again,
// to test the checks behind the checksums.

#ifndef ROWBLOOM_TESTS_TESTING_RESEAL_H_
#define ROWBLOOM_TESTS_TESTING_RESEAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "block/format.h"
#include "testing/keys.h"
#include "util/coding.h"
#include "util/digest.h"

namespace rowbloom::testing {

inline void StoreU32(uint32_t value, size_t at, std::string* bytes) {
  std::string encoded;
  util::AppendFixed<uint32_t>(value, &encoded);
  bytes->replace(at, encoded.size(), encoded);
}

// Recomputes the checksum of a saved filter: section "Saved form" of
// docs/memfilters.md.
inline void ResealMemFilter(std::string* saved) {
  constexpr size_t kChecksum = 24;
  constexpr size_t kHeaderSize = 32;
  if (saved->size() < kHeaderSize) return;
  const std::string_view bytes = *saved;
  util::StoreFixed<uint64_t>(
      util::Hash64(bytes.substr(kHeaderSize),
                   util::Hash64(bytes.substr(0, kChecksum))),
      saved->data() + kChecksum);
}

// Recomputes the three checksums of the tail, where that is possible.
inline void Reseal(std::string* block) {
  using block::Footer;
  if (block->size() < Footer::kSize) return;
  const size_t footer = block->size() - Footer::kSize;
  const uint64_t index_offset =
      util::LoadFixed<uint64_t>(block->data() + footer + Footer::kIndexOffset);
  const uint64_t index_size =
      util::LoadFixed<uint64_t>(block->data() + footer + Footer::kIndexSize);
  if (index_offset <= footer && index_size <= footer - index_offset) {
    const std::string_view tail =
        std::string_view(*block).substr(index_offset, footer - index_offset);
    const uint32_t index = util::Checksum32(tail.substr(0, index_size));
    const uint32_t properties = util::Checksum32(tail.substr(index_size));
    StoreU32(index, footer + Footer::kIndexChecksum, block);
    StoreU32(properties, footer + Footer::kPropertiesChecksum, block);
  }
  StoreU32(util::Checksum32(
               std::string_view(*block).substr(footer, Footer::kChecksum)),
           footer + Footer::kChecksum, block);
}

inline void SetFooterByteAndReseal(size_t offset, uint8_t value,
                                   std::string* block) {
  (*block)[block->size() - block::Footer::kSize + offset] =
      static_cast<char>(value);
  Reseal(block);
}

// Changes one to four bytes anywhere in the tail.
inline void DamageAndReseal(Random* random, std::string* block) {
  const size_t footer = block->size() - block::Footer::kSize;
  const size_t begin = util::LoadFixed<uint64_t>(block->data() + footer +
                                                 block::Footer::kIndexOffset);
  const uint64_t count = 1 + random->Below(4);
  for (uint64_t i = 0; i < count; ++i) {
    (*block)[begin + random->Below(block->size() - begin)] = static_cast<char>(
        random->Below(4) == 0 ? (*random)() : random->Below(3) * 127);
  }
  Reseal(block);
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_RESEAL_H_
