// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/redis_bloom.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "memfilter/estimates.h"
#include "util/coding.h"

namespace rowbloom {

namespace {

// The constants of the module decide its ceilings: not the exact logarithms.
constexpr double kLn2SquaredOfModule = 0.480453013918201;
constexpr double kLn2OfModule = 0.693147180559945;
constexpr double kMaxRate = 0.25;
constexpr uint64_t kMaxCapacity = uint64_t{1} << 30;
constexpr uint32_t kMaxExpansion = 32768;
constexpr size_t kMaxLayersOfDump = 1024;

// A dump's header, little-endian and packed; the layers' fields follow it.
struct Header {
  static constexpr size_t kKeyCount = 0;    // 8 bytes.
  static constexpr size_t kLayerCount = 8;  // 4 bytes.
  static constexpr size_t kOptions = 12;    // 4 bytes.
  static constexpr size_t kExpansion = 16;  // 4 bytes; not before module 2.0.
  static constexpr size_t kSize = 20;
};
struct LayerHeader {
  static constexpr size_t kByteCount = 0;    // 8 bytes.
  static constexpr size_t kBitCount = 8;     // 8 bytes.
  static constexpr size_t kKeyCount = 16;    // 8 bytes.
  static constexpr size_t kRate = 24;        // 8 bytes, IEEE 754.
  static constexpr size_t kBitsPerKey = 32;  // 8 bytes, IEEE 754.
  static constexpr size_t kProbeCount = 40;  // 4 bytes.
  static constexpr size_t kCapacity = 44;    // 8 bytes.
  static constexpr size_t kBitPower = 52;    // 1 byte: 0.
  static constexpr size_t kSize = 53;
};

constexpr uint32_t kNoRound = 1;
constexpr uint32_t kEntriesAreBits = 2;
constexpr uint32_t kForce64 = 4;
constexpr uint32_t kNoScaling = 8;
constexpr uint32_t kKnownOptions =
    kNoRound | kEntriesAreBits | kForce64 | kNoScaling;

double BitsPerKey(double rate) {
  return std::fabs(std::log(rate) / kLn2SquaredOfModule);
}

uint32_t ProbeCount(double rate) {
  return static_cast<uint32_t>(std::ceil(kLn2OfModule * BitsPerKey(rate)));
}

// MurmurHash64A (Austin Appleby, public domain).
uint64_t Murmur64A(std::string_view bytes, uint64_t seed) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995u;
  constexpr int kShift = 47;
  uint64_t hash = seed ^ (bytes.size() * kMultiplier);
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word = util::LoadFixed<uint64_t>(bytes.data() + i);
    word *= kMultiplier;
    word ^= word >> kShift;
    hash = (hash ^ (word * kMultiplier)) * kMultiplier;
  }
  if (i < bytes.size()) {
    uint64_t rest = 0;
    for (size_t j = bytes.size(); j-- > i;) {
      rest = rest << 8 | static_cast<unsigned char>(bytes[j]);
    }
    hash = (hash ^ rest) * kMultiplier;
  }
  hash = (hash ^ (hash >> kShift)) * kMultiplier;
  return hash ^ (hash >> kShift);
}

// Calls visit(position) until it returns false.
template <typename Visit>
bool VisitPositions(const RedisBloomDigest& digest,
                    const RedisBloomFilter::Layer& layer, const Visit& visit) {
  uint64_t hash = digest.a;
  for (uint32_t i = 0; i < layer.probe_count; ++i, hash += digest.b) {
    if (!visit(hash % layer.bits.bit_count())) return false;
  }
  return true;
}

BloomShape ShapeOf(const RedisBloomFilter::Layer& layer) {
  return {layer.bits.bit_count(), layer.probe_count};
}

std::string BytesOf(const BitArray& bits) {
  std::string bytes(static_cast<size_t>(bits.bit_count() / 8), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bits.words()[i / 8] >> (i % 8 * 8));
  }
  return bytes;
}

absl::StatusOr<BitArray> BitsOf(std::string_view bytes) {
  auto bits = BitArray::New(8 * uint64_t{bytes.size()});
  if (!bits.ok()) return bits;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bits->mutable_words()[i / 8] |=
        uint64_t{static_cast<unsigned char>(bytes[i])} << (i % 8 * 8);
  }
  return bits;
}

absl::Status Damaged(size_t offset, const std::string& what) {
  return absl::DataLossError(
      absl::StrCat("RedisBloom dump, header at ", offset, ": ", what));
}

// A dump's header without the layers' fields.
struct DumpHeader {
  uint64_t key_count;
  uint32_t layer_count;
  uint32_t options;
  uint32_t expansion;

  bool non_scaling() const { return (options & kNoScaling) != 0; }
};

// Where a layer's fields begin; behind those of the last one, the bits.
size_t LayerOffset(size_t layer) {
  return Header::kSize + layer * LayerHeader::kSize;
}

// The bytes of a layer's bits.
uint64_t LayerBytes(std::string_view saved, size_t layer) {
  return util::LoadFixed<uint64_t>(
      &saved[LayerOffset(layer) + LayerHeader::kByteCount]);
}

absl::StatusOr<DumpHeader> ReadHeader(std::string_view saved) {
  if (saved.size() < Header::kSize) {
    return Damaged(0, absl::StrCat("only ", saved.size(), " bytes"));
  }
  DumpHeader header;
  header.key_count = util::LoadFixed<uint64_t>(&saved[Header::kKeyCount]);
  header.layer_count = util::LoadFixed<uint32_t>(&saved[Header::kLayerCount]);
  header.options = util::LoadFixed<uint32_t>(&saved[Header::kOptions]);
  header.expansion = util::LoadFixed<uint32_t>(&saved[Header::kExpansion]);
  if (header.layer_count == 0 || header.layer_count > kMaxLayersOfDump ||
      saved.size() < LayerOffset(header.layer_count)) {
    return Damaged(
        Header::kLayerCount,
        absl::StrCat(header.layer_count, " layers in ", saved.size(),
                     " bytes; 1 to ", kMaxLayersOfDump, " are valid"));
  }
  if ((header.options & ~kKnownOptions) != 0 ||
      (header.options & kForce64) == 0) {
    return absl::UnimplementedError(
        absl::StrCat("RedisBloom dump has options ", header.options, " at ",
                     Header::kOptions,
                     ": 5 and 13 are known; one without 4 has 32-bit hashes "
                     "of a module of 2017"));
  }
  if (header.expansion > kMaxExpansion) {
    return Damaged(Header::kExpansion,
                   absl::StrCat("expansion ", header.expansion));
  }
  // Modules 2.2.0 to 2.2.14 lost the expansion when they loaded a filter.
  if (header.expansion == 0 && !header.non_scaling()) header.expansion = 2;
  return header;
}

// The layer without its bits, which have at most `bytes_left` bytes.
absl::StatusOr<RedisBloomFilter::Layer> ReadLayerHeader(std::string_view saved,
                                                        size_t number,
                                                        uint64_t bytes_left) {
  const size_t at = LayerOffset(number);
  const char* fields = &saved[at];
  const uint64_t bytes = LayerBytes(saved, number);
  const uint64_t bit_count =
      util::LoadFixed<uint64_t>(fields + LayerHeader::kBitCount);
  RedisBloomFilter::Layer layer;
  layer.key_count = util::LoadFixed<uint64_t>(fields + LayerHeader::kKeyCount);
  layer.capacity = util::LoadFixed<uint64_t>(fields + LayerHeader::kCapacity);
  layer.fpr = absl::bit_cast<double>(
      util::LoadFixed<uint64_t>(fields + LayerHeader::kRate));
  layer.probe_count =
      util::LoadFixed<uint32_t>(fields + LayerHeader::kProbeCount);
  if (fields[LayerHeader::kBitPower] != 0) {
    return absl::UnimplementedError(absl::StrCat(
        "RedisBloom dump: layer ", number, " has a power of two of bits at ",
        at + LayerHeader::kBitPower, ", as modules of 2017 made"));
  }
  if (bytes == 0 || bytes > bytes_left || bit_count != 8 * bytes ||
      !(layer.fpr > 0 && layer.fpr < 1) ||
      layer.probe_count != ProbeCount(layer.fpr) || layer.capacity == 0 ||
      layer.capacity >> 53 != 0) {
    return Damaged(at, absl::StrCat("layer ", number,
                                    " has fields that contradict each "
                                    "other or the ",
                                    saved.size(), " bytes"));
  }
  return layer;
}

}  // namespace

BloomShape RedisBloomLayerShape(uint64_t capacity, double fpr) {
  // More bits do not fit an integer; no server has them.
  const double bits =
      std::min(static_cast<double>(capacity) * BitsPerKey(fpr), 0x1p62);
  const uint64_t words =
      std::max<uint64_t>((static_cast<uint64_t>(bits) + 63) / 64, 1);
  return {64 * words, ProbeCount(fpr)};
}

RedisBloomDigest RedisBloomDigest::Bytes(std::string_view item) {
  RedisBloomDigest digest;
  digest.a = Murmur64A(item, 0xc6a4a7935bd1e995u);
  digest.b = Murmur64A(item, digest.a);
  return digest;
}

absl::StatusOr<RedisBloomFilter> RedisBloomFilter::New(
    const BfReserveOptions& options, uint64_t max_bytes) {
  if (!(options.error_rate > 0 && options.error_rate <= kMaxRate)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "error rate ", options.error_rate, ": must be above 0 and at most ",
        kMaxRate, ", which Redis 8 takes for more, and RedisBloom 2 does not"));
  }
  if (options.capacity < 1 || options.capacity > kMaxCapacity) {
    return absl::InvalidArgumentError(absl::StrCat(
        "capacity ", options.capacity, ": must be 1 to ", kMaxCapacity));
  }
  if (options.expansion.value_or(0) > kMaxExpansion ||
      (options.expansion && options.non_scaling)) {
    return absl::InvalidArgumentError(
        absl::StrCat("expansion ", *options.expansion, ": must be 0 to ",
                     kMaxExpansion, ", and a non-scaling filter has none"));
  }
  RedisBloomFilter filter;
  filter.max_bytes_ = max_bytes;
  filter.non_scaling_ = options.non_scaling || options.expansion == 0u;
  filter.expansion_ = options.expansion.value_or(filter.expansion_);
  filter.options_ =
      kNoRound | kForce64 | (filter.non_scaling_ ? kNoScaling : 0);
  const double rate = options.error_rate;
  absl::Status status = filter.AppendLayer(
      options.capacity, filter.non_scaling_ ? rate : rate / 2);
  if (!status.ok()) return status;
  return filter;
}

absl::Status RedisBloomFilter::AppendLayer(uint64_t capacity, double fpr) {
  const double needed = static_cast<double>(capacity) * BitsPerKey(fpr);
  const double limit = 8.0 * static_cast<double>(max_bytes_);
  if (layers_.size() >= kMaxLayersOfDump || !(fpr > 0) ||
      !(needed + 8.0 * static_cast<double>(memory_usage_bytes()) <= limit)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "RedisBloom filter of ", layers_.size(), " layers cannot have one for ",
        capacity, " more keys at rate ", fpr, ": it has at most ", max_bytes_,
        " bytes and ", kMaxLayersOfDump, " layers"));
  }
  const BloomShape shape = RedisBloomLayerShape(capacity, fpr);
  auto made = BitArray::New(shape.bit_count);
  if (!made.ok()) return made.status();
  layers_.push_back({*std::move(made), 0, capacity, fpr, shape.probe_count});
  return absl::OkStatus();
}

absl::StatusOr<bool> RedisBloomFilter::Add(std::string_view item) {
  const RedisBloomDigest digest = RedisBloomDigest::Bytes(item);
  if (MayContain(digest)) return false;
  if (layers_.back().key_count >= layers_.back().capacity) {
    if (non_scaling_) {
      return absl::ResourceExhaustedError(
          absl::StrCat("non-scaling filter is full: it has ",
                       layers_.back().key_count, " keys"));
    }
    // The limit of bytes refuses a capacity that does not fit.
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
    const uint64_t capacity = layers_.back().capacity;
    absl::Status status = AppendLayer(
        capacity > kMost / expansion_ ? kMost : capacity * expansion_,
        layers_.back().fpr / 2);
    if (!status.ok()) return status;
  }
  Layer& layer = layers_.back();
  VisitPositions(digest, layer, [&layer](uint64_t position) {
    layer.bits.Set(position);
    return true;
  });
  ++layer.key_count;
  return true;
}

bool RedisBloomFilter::MayContain(const RedisBloomDigest& digest) const {
  return std::any_of(
      layers_.rbegin(), layers_.rend(), [&digest](const Layer& layer) {
        return VisitPositions(digest, layer, [&layer](uint64_t position) {
          return layer.bits.Test(position);
        });
      });
}

double RedisBloomFilter::expected_fpr() const {
  double all_say_no = 1;
  for (const Layer& layer : layers_) {
    all_say_no *=
        1 - internal::memfilter::RateAt(ShapeOf(layer), layer.bits.CountSet());
  }
  return 1 - all_say_no;
}

uint64_t RedisBloomFilter::key_count() const {
  uint64_t count = 0;
  for (const Layer& layer : layers_) count += layer.key_count;
  return count;
}

uint64_t RedisBloomFilter::capacity() const {
  uint64_t capacity = 0;
  for (const Layer& layer : layers_) capacity += layer.capacity;
  return capacity;
}

uint64_t RedisBloomFilter::memory_usage_bytes() const {
  uint64_t bytes = sizeof(*this);
  for (const Layer& layer : layers_) {
    bytes += sizeof(layer) + layer.bits.memory_usage_bytes();
  }
  return bytes;
}

std::string RedisBloomFilter::Header() const {
  std::string header;
  util::AppendFixed<uint64_t>(key_count(), &header);
  util::AppendFixed<uint32_t>(static_cast<uint32_t>(layers_.size()), &header);
  util::AppendFixed<uint32_t>(options_, &header);
  util::AppendFixed<uint32_t>(expansion_, &header);
  for (const Layer& layer : layers_) {
    util::AppendFixed<uint64_t>(layer.bits.bit_count() / 8, &header);
    util::AppendFixed<uint64_t>(layer.bits.bit_count(), &header);
    util::AppendFixed<uint64_t>(layer.key_count, &header);
    util::AppendFixed(absl::bit_cast<uint64_t>(layer.fpr), &header);
    util::AppendFixed(absl::bit_cast<uint64_t>(BitsPerKey(layer.fpr)), &header);
    util::AppendFixed<uint32_t>(layer.probe_count, &header);
    util::AppendFixed<uint64_t>(layer.capacity, &header);
    header.push_back(0);
  }
  return header;
}

std::vector<BfChunk> RedisBloomFilter::Dump(size_t max_chunk_bytes) const {
  std::vector<BfChunk> chunks = {{1, Header()}};
  for (const Layer& layer : layers_) {
    const std::string bytes = BytesOf(layer.bits);
    for (size_t at = 0; at < bytes.size();) {
      std::string data = bytes.substr(at, std::max<size_t>(max_chunk_bytes, 1));
      at += data.size();
      chunks.push_back({chunks.back().iterator + data.size(), std::move(data)});
    }
  }
  return chunks;
}

absl::StatusOr<RedisBloomFilter> RedisBloomFilter::Load(
    absl::Span<const BfChunk> chunks, uint64_t max_bytes) {
  std::string saved;
  uint64_t iterator = 1;
  for (const BfChunk& chunk : chunks) {
    if (&chunk != chunks.data()) iterator += chunk.data.size();
    if (chunk.iterator != iterator) {
      return absl::InvalidArgumentError(
          absl::StrCat("RedisBloom dump: a chunk of ", chunk.data.size(),
                       " bytes has iterator ", chunk.iterator, "; expected ",
                       iterator, ": a chunk is missing or out of order"));
    }
    saved += chunk.data;
  }
  return Load(saved, max_bytes);
}

uint64_t RedisBloomFilter::BytesBehind(std::string_view header) {
  if (header.size() < Header::kSize) return 0;
  const uint64_t layers =
      util::LoadFixed<uint32_t>(&header[Header::kLayerCount]);
  if (header.size() != Header::kSize + layers * LayerHeader::kSize) return 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < layers; ++i) bytes += LayerBytes(header, i);
  return bytes;
}

std::string RedisBloomFilter::Save() const {
  std::string saved = Header();
  for (const Layer& layer : layers_) saved += BytesOf(layer.bits);
  return saved;
}

absl::StatusOr<RedisBloomFilter> RedisBloomFilter::Load(std::string_view saved,
                                                        uint64_t max_bytes) {
  const auto header = ReadHeader(saved);
  if (!header.ok()) return header.status();
  RedisBloomFilter filter;
  filter.max_bytes_ = max_bytes;
  filter.options_ = header->options;
  filter.expansion_ = header->expansion;
  filter.non_scaling_ = header->non_scaling();

  // All sizes are checked before the bits are allocated.
  std::string_view bytes = saved.substr(LayerOffset(header->layer_count));
  uint64_t bytes_left = bytes.size();
  uint64_t keys_in_layers = 0;
  for (uint32_t i = 0; i < header->layer_count; ++i) {
    auto layer = ReadLayerHeader(saved, i, bytes_left);
    if (!layer.ok()) return layer.status();
    bytes_left -= LayerBytes(saved, i);
    keys_in_layers += layer->key_count;
    filter.layers_.push_back(*std::move(layer));
  }
  if (bytes_left != 0 || keys_in_layers != header->key_count) {
    return Damaged(
        0, absl::StrCat(bytes_left, " bytes are left, ", header->key_count,
                        " keys and ", keys_in_layers, " in the layers"));
  }
  if (saved.size() > max_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("RedisBloom dump of ", saved.size(),
                     " bytes: a filter has at most ", max_bytes));
  }
  for (uint32_t i = 0; i < header->layer_count; ++i) {
    const auto size = static_cast<size_t>(LayerBytes(saved, i));
    auto bits = BitsOf(bytes.substr(0, size));
    if (!bits.ok()) return bits.status();
    filter.layers_[i].bits = *std::move(bits);
    bytes.remove_prefix(size);
  }
  return filter;
}

}  // namespace rowbloom
