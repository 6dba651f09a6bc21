// SPDX-License-Identifier: Apache-2.0
//
// Measures what somebody who chooses an SST's rows can do to its filter: the
// false positive rate for others' rows and the filter's size, for sets of rows
// whose digests are aimed at each family, without and with a secret. A row of
// any digest is made, since XXH3 is no cryptographic hash.
//
//   chosen_rows --json FILE
//
// Exit codes: 0 fine; 1 a lost row or a failure; 2 usage.

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/program.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_reader.h"

namespace {

using rowbloom::DigestSecret;
using rowbloom::FilterSpec;
using rowbloom::bench::Json;

struct Options {
  uint64_t rows = 100'000;
  uint64_t lookups = 1'000'000;
};
constexpr uint64_t kSeed = 1;

constexpr const char* kPolicies[] = {
    "blocked_bloom:bits_per_key=10", "fast:bits_per_key=6",
    "fast:bits_per_key=8",           "fast:bits_per_key=10",
    "fast:bits_per_key=16",          "compact:bits_per_key=10"};

constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;

uint64_t InverseOf(uint64_t odd) {
  uint64_t inverse = odd;  // Right in 3 bits; each round doubles them.
  for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

// The digest of row i.
struct RowSet {
  const char* name;
  uint64_t (*digest)(uint64_t i, uint64_t random_i);
};
constexpr RowSet kRowSets[] = {
    {"random", [](uint64_t, uint64_t random_i) { return random_i; }},
    {"i / golden ratio",
     [](uint64_t i, uint64_t) { return i * InverseOf(kGoldenRatio); }},
    {"64 to a line",
     [](uint64_t i, uint64_t) { return i / 64 * kGoldenRatio + i % 64; }},
    {"32 to a digest",
     [](uint64_t i, uint64_t) { return (i / 64 * 2 + i % 2) * kGoldenRatio; }},
};

void AppendWord(uint64_t word, std::string* row) {
  for (int i = 0; i < 8; ++i) {
    row->push_back(static_cast<char>(word >> (8 * i)));
  }
}

// 32 bytes. XXH3 adds two products of two words each, and constants: the first
// word makes the first product 0, so that the second is free; the third makes
// the second product what the fourth is.
std::string RowOf(uint64_t digest, uint64_t second_word) {
  uint64_t sum = digest ^ digest >> 32;
  sum *= InverseOf(0x165667919e3779f9);
  sum ^= sum >> 37;
  sum -= 32 * 0x9e3779b185ebca87;
  std::string row;
  AppendWord(0xbe4ba423396cfeb8, &row);
  AppendWord(__builtin_bswap64(second_word), &row);  // In order of bytes.
  AppendWord(0xdb979083e96dd4de ^ 1, &row);
  AppendWord(0x1f67b3b7a4a44072 ^ sum, &row);
  if (rowbloom::DigestBytes(row).value != digest) {
    throw std::runtime_error("a row has not the digest that it was made for");
  }
  return row;
}

struct Result {
  double fpr = 0;
  double bits_per_row = 0;
};

Result Measure(const Options& options, const std::string& policy,
               const RowSet& set, const DigestSecret& secret) {
  std::mt19937_64 random(kSeed);
  rowbloom::FilterOptions filter_options;
  filter_options.filter_spec = *FilterSpec::Parse(policy);
  filter_options.chunk_size_bytes = 1 << 24;
  filter_options.secret = secret;
  std::string block;
  const auto sink = rowbloom::NewStringSink(&block);
  rowbloom::FilterBlockWriter writer(filter_options, sink.get());
  std::vector<std::string> rows;
  for (uint64_t i = 0; i < options.rows; ++i) {
    rows.push_back(
        RowOf(set.digest(i, random()), i * (~uint64_t{0} / options.rows)));
    writer.Add(rows.back(), "");
  }
  const auto info = writer.Finish();
  if (!info.ok()) throw std::runtime_error(info.status().ToString());

  const auto source = rowbloom::NewMemorySource(block);
  const auto cache = rowbloom::NewShardedLruCache({1 << 28, 0});
  rowbloom::FilterReaderOptions reader_options;
  reader_options.cache = cache.get();
  reader_options.loading = rowbloom::FilterLoading::kAlways;
  reader_options.secret = secret;
  const auto reader =
      rowbloom::FilterReader::Open(source.get(), {}, reader_options);
  if (!reader.ok()) throw std::runtime_error(reader.status().ToString());
  for (const std::string& row : rows) {
    if (!(*reader)->MayContain(row)) throw std::runtime_error("a row is lost");
  }
  uint64_t positives = 0;
  for (uint64_t i = 0; i < options.lookups; ++i) {
    positives += (*reader)->MayContain(RowOf(random(), random()));
  }
  return {static_cast<double>(positives) / static_cast<double>(options.lookups),
          8 * static_cast<double>((*reader)->properties().filter_size_bytes) /
              static_cast<double>(options.rows)};
}

Json MeasureAll(const Options& options) {
  Json runs = Json::array();
  std::mt19937_64 random(~kSeed);
  const DigestSecret secret = {{random(), random()}};
  for (const char* policy : kPolicies) {
    for (const bool has_secret : {false, true}) {
      for (const RowSet& set : kRowSets) {
        const Result result =
            Measure(options, policy, set, has_secret ? secret : DigestSecret());
        runs.push_back({{"filter_spec", policy},
                        {"has_secret", has_secret},
                        {"rows", set.name},
                        {"fpr", result.fpr},
                        {"bits_per_row", result.bits_per_row}});
      }
    }
  }
  return {{"row_count", options.rows},
          {"lookups", options.lookups},
          {"runs", std::move(runs)}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("False positives of filters whose rows somebody has chosen.");
  app.option_defaults()->always_capture_default();
  app.add_option("--rows", options.rows, "In each filter")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000}));
  app.add_option("--lookups", options.lookups, "Of rows that are not there");
  return rowbloom::bench::RunToJson("chosen_rows", &app, argc, argv,
                                    [&] { return MeasureAll(options); });
}
