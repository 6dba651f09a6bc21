// SPDX-License-Identifier: Apache-2.0

#include "filter/blocked_bloom/blocked_bloom.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "filter/blocked_bloom/blocked_bloom_kernel.h"
#include "filter/blocked_bloom/blocked_bloom_model.h"
#include "filter/collecting_builder.h"

namespace rowbloom::filter {

namespace {

constexpr uint8_t kCode = 2;
constexpr double kLineBits = 8.0 * kLineSize;
// Bits of FilterDescriptor::parameters.
constexpr uint64_t kProbeCountMask = 0xff;
// The kind of these lines; no other kind is defined.
constexpr uint64_t kLineKind = 0x100;
// 2^40 lines hold 7e13 keys at 8 bits; more is damage.
constexpr uint64_t kMaxLineCount = uint64_t{1} << 40;

uint64_t LineCount(double bits_per_key, uint64_t key_count) {
  return std::max<uint64_t>(
      1, static_cast<uint64_t>(std::ceil(static_cast<double>(key_count) *
                                         bits_per_key / kLineBits)));
}

EncodedFilter Encode(DigestList digests, double bits_per_key, Kernel kernel) {
  const uint64_t line_count = LineCount(bits_per_key, digests.size());
  const uint32_t probe_count = BlockedBloomProbeCount(bits_per_key);
  const BlockedBloomKernel functions =
      BlockedBloomKernelFor(kernel, probe_count);
  EncodedFilter filter;
  filter.units.resize(line_count * kLineSize);
  digests.ForEachBlock([&](const uint64_t* block, size_t count) {
    functions.add(block, count, line_count, probe_count, filter.units.data());
  });
  filter.descriptor.family_code = kCode;
  filter.descriptor.unit_count = 1;
  filter.descriptor.parameters = probe_count | kLineKind;
  filter.descriptor.unit_size_bytes[0] = filter.units.size();
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
  const uint32_t probe_count =
      static_cast<uint32_t>(descriptor.parameters & kProbeCountMask);
  if ((descriptor.parameters & ~kProbeCountMask) != kLineKind ||
      probe_count < 1 || probe_count > kMaxProbeCount) {
    return absl::DataLossError(
        absl::StrCat("blocked_bloom with parameters ", descriptor.parameters,
                     ": must be 256 plus 1 to 16 probes"));
  }
  // Each key takes at least one bit. This also limits the time for rates, which
  // are sums over keys.
  if (descriptor.key_count > size * 8) {
    return absl::DataLossError(absl::StrCat("blocked_bloom of ", size,
                                            " bytes says that it holds ",
                                            descriptor.key_count, " keys"));
  }
  state->slot_count = size / kLineSize;
  state->parameter = probe_count;
  const BlockedBloomKernel functions =
      BlockedBloomKernelFor(kernel, probe_count);
  *lookup = {functions.may_contain, functions.may_contain_batch, ExpectedFpr,
             functions.prefetch};
  return absl::OkStatus();
}

}  // namespace

BlockedBloomKernel BlockedBloomKernelFor(
    Kernel kernel, [[maybe_unused]] uint32_t probe_count) {
  switch (ConcreteKernel(kernel)) {
#if ROWBLOOM_X86_KERNELS
    case Kernel::kSse42:
      return Sse42BlockedBloomKernel(probe_count);
    case Kernel::kAvx2:
    case Kernel::kAvx512:
      return Avx2BlockedBloomKernel(probe_count);
#elif ROWBLOOM_ARM_KERNELS
    case Kernel::kNeon:
      return NeonBlockedBloomKernel(probe_count);
#endif
    default:
      return PortableBlockedBloomKernel();
  }
}

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
    [](double bits_per_key, Kernel kernel) -> std::unique_ptr<FilterBuilder> {
      return std::make_unique<CollectingBuilder<EncodeBy<Encode>>>(bits_per_key,
                                                                   kernel);
    },
    Parse,
    nullptr};

}  // namespace rowbloom::filter
