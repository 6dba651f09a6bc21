// SPDX-License-Identifier: Apache-2.0

#include "hfile/bloom_chunk.h"

#include <cstddef>
#include <utility>

namespace rowbloom::hfile {

void ChunkBuilder::Add(std::string_view key) {
  const Probes probes(type_, key);
  const auto bit_count = static_cast<int32_t>(geometry_.size_bytes * 8);
  for (int32_t i = 0; i < geometry_.hash_count; ++i) {
    const int32_t bit = probes.Bit(i, bit_count);
    char& byte = bits_[static_cast<size_t>(bit >> 3)];
    byte = static_cast<char>(byte | 1 << (bit & 7));
  }
  ++key_count_;
}

std::string ChunkBuilder::Finish() {
  FoldGeometry(key_count_, &geometry_);
  const auto folded = static_cast<size_t>(geometry_.size_bytes);
  // Probes are remainders, and the folded size divides the first one.
  for (size_t i = folded; i < bits_.size(); ++i) {
    bits_[i % folded] = static_cast<char>(bits_[i % folded] | bits_[i]);
  }
  bits_.resize(folded);
  return std::move(bits_);
}

}  // namespace rowbloom::hfile
