// SPDX-License-Identifier: Apache-2.0

#include "workload.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "rowbloom/key_codec.h"

namespace rowbloom::point_get {
namespace {

constexpr double kZipfExponent = 0.99;  // As in YCSB.
constexpr uint64_t kGetsPerEpoch = 1000;
constexpr uint64_t kValueSeed = 100;
constexpr uint64_t kColumnChoiceSeed = 101;
constexpr uint64_t kGetSeed = 200;  // Plus query and mix.
constexpr uint64_t kLevelSeed = 300;

void Check(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

size_t ChooseRow(const Dataset& data, Mix mix, const ZipfSampler& zipf,
                 uint64_t get_number, uint64_t random) {
  if (mix == Mix::kUniform) return random % data.row_count();
  return Scramble(zipf.Rank(random), get_number / kGetsPerEpoch) %
         data.row_count();
}

}  // namespace

std::string_view QueryName(Query query) {
  switch (query) {
    case Query::kAbsentRow:
      return "absent_row";
    case Query::kAbsentColumn:
      return "absent_column";
    case Query::kPresentCell:
      return "present_cell";
    case Query::kPresentRow:
      return "present_row";
  }
  return "?";
}

std::string_view MixName(Mix mix) {
  return mix == Mix::kUniform ? "uniform" : "zipf";
}

bool IsRowQuery(Query query) {
  return query == Query::kAbsentRow || query == Query::kPresentRow;
}

bool IsPresent(Query query) {
  return query == Query::kPresentCell || query == Query::kPresentRow;
}

ZipfSampler::ZipfSampler(size_t count) {
  cumulative_.reserve(count);
  double sum = 0;
  for (size_t rank = 0; rank < count; ++rank) {
    sum += std::pow(static_cast<double>(rank + 1), -kZipfExponent);
    cumulative_.push_back(sum);
  }
}

size_t ZipfSampler::Rank(uint64_t random) const {
  const double share = std::ldexp(static_cast<double>(random >> 11), -53);
  const auto it = std::upper_bound(cumulative_.begin(), cumulative_.end(),
                                   share * cumulative_.back());
  return std::min<size_t>(it - cumulative_.begin(), cumulative_.size() - 1);
}

std::vector<PointGet> MakePointGets(const Dataset& data, Query query, Mix mix,
                                    const ZipfSampler& zipf, uint64_t count) {
  const uint64_t seed =
      kGetSeed + 10 * static_cast<uint64_t>(query) + static_cast<uint64_t>(mix);
  std::vector<PointGet> gets;
  gets.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const size_t row = ChooseRow(data, mix, zipf, i, Scramble(i, seed));
    switch (query) {
      case Query::kAbsentRow:
        gets.push_back({data.AbsentRow(row), ""});
        break;
      case Query::kPresentRow:
        gets.push_back({data.row(row), ""});
        break;
      case Query::kAbsentColumn:
        gets.push_back({data.row(row), data.AbsentQualifier(row)});
        break;
      case Query::kPresentCell: {
        const auto columns = data.columns(row);
        const uint32_t q =
            columns[Scramble(i, kColumnChoiceSeed) % columns.size()];
        gets.push_back({data.row(row), data.qualifier(q)});
        break;
      }
    }
  }
  return gets;
}

LevelChooser::LevelChooser(int level_count, double level_ratio) {
  double sum = 0;
  for (int level = 1; level <= level_count; ++level) {
    sum += std::pow(level_ratio, level);
    limits_.push_back(sum);
  }
}

int LevelChooser::Level(std::string_view row, uint32_t qualifier) const {
  const uint64_t hash = Scramble(row, kLevelSeed + qualifier);
  const double at = std::ldexp(static_cast<double>(hash), -64);
  size_t i = 0;
  while (i + 1 < limits_.size() && at * limits_.back() >= limits_[i]) ++i;
  return static_cast<int>(i) + 1;
}

std::string EncodeKey(std::string_view row, std::string_view qualifier) {
  std::string key;
  Check(KeyCodec::Ordered().Encode(row, qualifier, &key));
  return key;
}

void MakeValue(std::string_view key, size_t size_bytes, std::string* value) {
  value->resize(size_bytes);
  uint64_t word = Scramble(key, kValueSeed);
  for (size_t at = 0; at < size_bytes; at += sizeof(word)) {
    std::memcpy(value->data() + at, &word,
                std::min(sizeof(word), size_bytes - at));
    word = Scramble(word, kValueSeed);
  }
}

}  // namespace rowbloom::point_get
