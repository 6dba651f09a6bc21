// SPDX-License-Identifier: Apache-2.0

#include "bench/reader/tree.h"

#include <limits>
#include <utility>

#include "bench/or_throw.h"

namespace rowbloom::bench {

std::array<char, 8> RowBytes(uint64_t row) {
  std::array<char, 8> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(row >> (56 - 8 * i));
  }
  return bytes;
}

Tree::Tree(const TreeShape& shape) : shape_(shape) {
  for (size_t level = 0; level < shape.level_keys.size(); ++level) {
    key_count_ += shape.level_keys[level];
    std::string& block = blocks_.emplace_back();
    FilterOptions options;
    options.filter_spec = shape.filter_spec;
    options.chunk_size_bytes = shape.chunk_size_bytes;
    if (!shape.level_bits_per_key.empty()) {
      const double bits = shape.level_bits_per_key[level];
      if (bits == 0) continue;
      options.filter_spec =
          FilterSpec::BitsPerKey(shape.filter_spec.family(), bits);
    }
    const std::unique_ptr<ByteSink> sink = NewStringSink(&block);
    FilterBlockWriter writer(options, sink.get());
    for (uint64_t i = 0; i < shape.level_keys[level]; ++i) {
      const std::array<char, 8> row = RowBytes(PresentRow(level, i));
      writer.Add({row.data(), row.size()}, {});
    }
    OrThrow(writer.Finish());
  }
}

uint64_t Tree::PresentRow(size_t level, uint64_t i) const {
  const uint64_t step =
      std::numeric_limits<uint64_t>::max() / shape_.level_keys[level];
  return i * step + Random(i * 8 + level).Next() % step;
}

void Tree::DrawPresent(Random* random, size_t* level, uint64_t* row) const {
  uint64_t i = random->Next() % key_count_;
  for (*level = 0; i >= shape_.level_keys[*level]; ++*level) {
    i -= shape_.level_keys[*level];
  }
  *row = PresentRow(*level, i);
}

Reads operator-(const Reads& a, const Reads& b) {
  return {a.gets - b.gets,
          a.needed_blocks - b.needed_blocks,
          a.wasted_blocks - b.wasted_blocks,
          a.unfiltered_blocks - b.unfiltered_blocks,
          a.filter_reads - b.filter_reads,
          a.filter_bytes - b.filter_bytes};
}

Reads operator+(const Reads& a, const Reads& b) { return a - (Reads{} - b); }

OpenTree::OpenTree(const Tree* tree, FilterReaderOptions options,
                   FalsePositiveMemo* memo)
    : memo_(memo) {
  for (size_t level = 0; level < tree->level_count(); ++level) {
    sources_.push_back(std::make_unique<CountingSource>(tree->block(level)));
    options.level = static_cast<int>(level);
    auto reader = FilterReader::Open(sources_.back().get(),
                                     {0, tree->block(level).size()}, options);
    if (absl::IsNotFound(reader.status())) {  // The level has no filter.
      readers_.emplace_back();
      continue;
    }
    readers_.push_back(OrThrow(std::move(reader)));
  }
  opened_ = reads();
}

bool OpenTree::Get(uint64_t row, size_t level) {
  const std::array<char, 8> bytes = RowBytes(row);
  const FilterKey key = FilterKey::Row({bytes.data(), bytes.size()});
  ++reads_.gets;
  for (size_t i = 0; i < readers_.size(); ++i) {
    ++reads_.unfiltered_blocks;
    const FilterReader* const reader = readers_[i].get();
    const bool may_contain =
        reader == nullptr ||
        (reader->MayContain(key) &&
         (memo_ == nullptr || !memo_->Denies(reader->file_id(), key)));
    if (may_contain) {
      ++(i == level ? reads_.needed_blocks : reads_.wasted_blocks);
    }
    if (may_contain && reader != nullptr) {
      reader->TellOutcome(i == level);
      if (memo_ != nullptr && i != level) {
        memo_->Remember(reader->file_id(), key);
      }
    }
    if (i == level) return may_contain;
  }
  return true;
}

Reads OpenTree::reads() const {
  Reads reads = reads_;
  for (const auto& source : sources_) {
    reads.filter_reads += source->reads();
    reads.filter_bytes += source->read_bytes();
  }
  return reads - opened_;
}

}  // namespace rowbloom::bench
