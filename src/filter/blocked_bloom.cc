// SPDX-License-Identifier: Apache-2.0

#include "filter/blocked_bloom.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "filter/blocked_bloom_kernel.h"
#include "filter/blocked_bloom_model.h"
#include "hash/digest.h"

namespace rowbloom::filter {

namespace {

constexpr uint8_t kCode = 2;
constexpr double kLineBits = 8.0 * kLineSize;
// 2^32 lines hold 2.7e11 keys at 8 bits; more is damage.
constexpr uint64_t kMaxLineCount = uint64_t{1} << 40;

BlockedBloomKernel KernelFor(Kernel kernel, uint32_t probe_count) {
#if defined(__x86_64__)
  if (kernel == Kernel::kAvx2 ||
      (kernel == Kernel::kBest && KernelAvailable(Kernel::kAvx2))) {
    return Avx2BlockedBloomKernel(probe_count);
  }
#endif
  return PortableBlockedBloomKernel(probe_count);
}

uint64_t LineCount(double bits_per_key, uint64_t key_count) {
  return std::max<uint64_t>(
      1, static_cast<uint64_t>(std::ceil(static_cast<double>(key_count) *
                                         bits_per_key / kLineBits)));
}

uint64_t LineOf(uint64_t digest, uint64_t line_count) {
  return static_cast<uint64_t>(
      (static_cast<unsigned __int128>(digest) * line_count) >> 64);
}

// Lines are in order of digest, so that a stretch of lines is a stretch of
// digests. Orders `digests` into stretches of about kStretch keys first, that
// the scattered writes of the second step stay in the cache.
constexpr size_t kStretch = size_t{1} << 14;

class LineBuilder {
 public:
  LineBuilder(const BlockedBloomKernel& kernel, uint32_t probe_count,
              uint64_t line_count, char* lines)
      : kernel_(kernel),
        probe_count_(probe_count),
        line_count_(line_count),
        lines_(lines) {}

  // Builds lines first_line .. end_line - 1, which hold these digests.
  void Build(const uint64_t* digests, size_t count, uint64_t first_line,
             uint64_t end_line) {
    const size_t lines = static_cast<size_t>(end_line - first_line);
    starts_.assign(lines + 1, 0);
    for (size_t i = 0; i < count; ++i) {
      ++starts_[LineOf(digests[i], line_count_) - first_line + 1];
    }
    for (size_t i = 0; i < lines; ++i) starts_[i + 1] += starts_[i];
    ordered_.resize(count);
    next_.assign(starts_.begin(), starts_.end() - 1);
    for (size_t i = 0; i < count; ++i) {
      ordered_[next_[LineOf(digests[i], line_count_) - first_line]++] =
          digests[i];
    }
    for (size_t i = 0; i < lines; ++i) {
      kernel_.build_line(ordered_.data() + starts_[i],
                         starts_[i + 1] - starts_[i], probe_count_,
                         lines_ + (first_line + i) * kLineSize);
    }
  }

 private:
  const BlockedBloomKernel& kernel_;
  const uint32_t probe_count_;
  const uint64_t line_count_;
  char* const lines_;
  std::vector<size_t> starts_;
  std::vector<size_t> next_;
  std::vector<uint64_t> ordered_;
};

void BuildLines(std::vector<uint64_t> digests, uint64_t line_count,
                uint32_t probe_count, char* lines) {
  const BlockedBloomKernel kernel = KernelFor(Kernel::kBest, probe_count);
  LineBuilder builder(kernel, probe_count, line_count, lines);
  // Stretches of 2^shift lines.
  uint32_t shift = 0;
  while ((line_count >> shift) * kStretch > digests.size()) ++shift;
  const uint64_t stretches = ((line_count - 1) >> shift) + 1;
  if (stretches == 1) {
    builder.Build(digests.data(), digests.size(), 0, line_count);
    return;
  }
  const auto stretch_of = [&](uint64_t digest) {
    return static_cast<size_t>(LineOf(digest, line_count) >> shift);
  };
  std::vector<size_t> starts(stretches + 1, 0);
  for (const uint64_t digest : digests) ++starts[stretch_of(digest) + 1];
  for (size_t s = 0; s < stretches; ++s) starts[s + 1] += starts[s];
  std::vector<uint64_t> ordered(digests.size());
  std::vector<size_t> next(starts.begin(), starts.end() - 1);
  for (const uint64_t digest : digests) {
    ordered[next[stretch_of(digest)]++] = digest;
  }
  std::vector<uint64_t>().swap(digests);
  for (uint64_t s = 0; s < stretches; ++s) {
    builder.Build(ordered.data() + starts[s], starts[s + 1] - starts[s],
                  s << shift, std::min(line_count, (s + 1) << shift));
  }
}

class BlockedBloomBuilder final : public FilterBuilder {
 public:
  explicit BlockedBloomBuilder(double bits_per_key)
      : bits_per_key_(bits_per_key) {}

  void Add(KeyDigest digest) override {
    if (!digests_.empty() && digests_.back() == digest.value) return;
    digests_.push_back(digest.value);
  }
  uint64_t key_count() const override { return digests_.size(); }
  size_t memory_usage_bytes() const override {
    return digests_.capacity() * sizeof(uint64_t);
  }
  EncodedFilter Finish() override;

 private:
  const double bits_per_key_;
  std::vector<uint64_t> digests_;
};

EncodedFilter BlockedBloomBuilder::Finish() {
  std::vector<uint64_t> digests;
  digests.swap(digests_);
  if (digests.empty()) {
    return FindFamily("always_maybe")->new_builder(bits_per_key_)->Finish();
  }
  EncodedFilter filter;
  FilterDescriptor& descriptor = filter.descriptor;
  const uint64_t key_count = digests.size();
  const uint64_t line_count = LineCount(bits_per_key_, key_count);
  const uint32_t probe_count = BlockedBloomProbeCount(bits_per_key_);
  filter.units.resize(line_count * kLineSize);
  BuildLines(std::move(digests), line_count, probe_count, filter.units.data());
  descriptor.family_code = kCode;
  descriptor.unit_count = 1;
  descriptor.parameters = probe_count;
  descriptor.key_count = key_count;
  descriptor.unit_size_bytes[0] = filter.units.size();
  descriptor.unit_checksum[0] = hash::Checksum32(filter.units);
  return filter;
}

double ExpectedFpr(const FilterState& state, uint64_t key_count) {
  return BlockedBloomFpr(key_count, state.slot_count,
                         static_cast<uint32_t>(state.parameter));
}

absl::Status Parse(const FilterDescriptor& descriptor, Kernel kernel,
                   FilterState* state, FilterLookup* lookup) {
  const uint64_t size = descriptor.unit_size_bytes[0];
  if (descriptor.unit_count != 1 || size == 0 || size % kLineSize != 0 ||
      size / kLineSize > kMaxLineCount) {
    return absl::DataLossError(absl::StrCat(
        "blocked_bloom of ", static_cast<int>(descriptor.unit_count),
        " units, the first of ", size,
        " bytes: must be one unit of whole 64-byte lines"));
  }
  if (descriptor.parameters < 1 || descriptor.parameters > kMaxProbeCount) {
    return absl::DataLossError(absl::StrCat("blocked_bloom with probe count ",
                                            descriptor.parameters,
                                            ": must be 1 to 16"));
  }
  // At one bit a key or more. Not only damage: rates are sums over keys.
  if (descriptor.key_count > size * 8) {
    return absl::DataLossError(absl::StrCat("blocked_bloom of ", size,
                                            " bytes says that it holds ",
                                            descriptor.key_count, " keys"));
  }
  state->slot_count = size / kLineSize;
  state->parameter = descriptor.parameters;
  const BlockedBloomKernel functions =
      KernelFor(kernel, static_cast<uint32_t>(descriptor.parameters));
  *lookup = {functions.may_contain, functions.may_contain_batch, ExpectedFpr};
  return absl::OkStatus();
}

}  // namespace

const FilterFamily kBlockedBloomFamily = {
    kCode,
    "blocked_bloom",
    [](double bits_per_key) {
      return BlockedBloomFpr(bits_per_key,
                             BlockedBloomProbeCount(bits_per_key));
    },
    [](double bits_per_key, uint64_t size_bytes) {
      const uint64_t line_count = size_bytes / kLineSize;
      return static_cast<uint64_t>(static_cast<double>(line_count) * kLineBits /
                                   bits_per_key);
    },
    [](double bits_per_key, uint64_t key_count) {
      return key_count == 0 ? 0
                            : LineCount(bits_per_key, key_count) * kLineSize;
    },
    [](double bits_per_key) -> std::unique_ptr<FilterBuilder> {
      return std::make_unique<BlockedBloomBuilder>(bits_per_key);
    },
    Parse};

}  // namespace rowbloom::filter
