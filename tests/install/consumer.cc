// SPDX-License-Identifier: Apache-2.0
//
// A stranger's engine: it has its own source and sink, writes a filter block
// behind its data, and asks it through a cache. Exit code 0 if all answers are
// right.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/io.h"
#include "rowbloom/version.h"

namespace {

class Sink final : public rowbloom::ByteSink {
 public:
  explicit Sink(std::string* bytes) : bytes_(bytes) {}
  absl::Status Append(std::string_view bytes) override {
    bytes_->append(bytes);
    return absl::OkStatus();
  }

 private:
  std::string* const bytes_;
};

class Source final : public rowbloom::RandomAccessSource {
 public:
  explicit Source(std::string_view bytes) : bytes_(bytes) {}
  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    if (offset > bytes_.size() || size_bytes > bytes_.size() - offset) {
      return absl::OutOfRangeError("past the end");
    }
    ++read_count;
    std::memcpy(scratch, bytes_.data() + offset, size_bytes);
    *result = std::string_view(scratch, size_bytes);
    return absl::OkStatus();
  }
  uint64_t size_bytes() const override { return bytes_.size(); }
  std::string_view name() const override { return "sst"; }

  mutable int read_count = 0;

 private:
  const std::string_view bytes_;
};

constexpr int kRows = 5000;

std::string Row(int number) {
  const std::string digits = std::to_string(number);
  return "row" + std::string(5 - digits.size(), '0') + digits;
}

// Returns how many of every second row from `first` on are "maybe". Even rows
// are present, each with one column.
int CountMaybe(const rowbloom::FilterReader& reader, int first,
               std::string_view qualifier) {
  int maybe = 0;
  for (int i = first; i < 2 * kRows; i += 2) {
    maybe += reader.MayContain(Row(i), qualifier);
  }
  return maybe;
}

}  // namespace

int main() {
  std::string sst = "data blocks of some format";
  const uint64_t block_offset = sst.size();
  Sink sink(&sst);
  rowbloom::FilterOptions options;
  options.bloom_type = rowbloom::BloomType::kRowCol;
  options.chunk_size_bytes = 1024;
  rowbloom::FilterBlockWriter writer(options, &sink);
  for (int i = 0; i < 2 * kRows; i += 2) writer.Add(Row(i), "email");
  const auto info = writer.Finish();
  if (!info.ok() || info->chunk_count < 10) return 1;

  const Source source(sst);
  const auto cache = rowbloom::NewShardedLruCache({8 << 20});
  rowbloom::FilterStats stats;
  rowbloom::FilterReaderOptions reader_options;
  reader_options.cache = cache.get();
  reader_options.stats = &stats;
  reader_options.tail_size_bytes = info->tail_size_bytes;
  const auto reader = rowbloom::FilterReader::Open(
      &source, {block_offset, info->size_bytes}, reader_options);
  if (!reader.ok() || source.read_count != 1) return 2;

  if (CountMaybe(**reader, 0, "email") != kRows) return 3;  // All are present.
  const int reads = source.read_count;  // The tail, and each chunk once.
  if (reads != 1 + static_cast<int>(info->chunk_count)) return 4;
  // At most 5% of the absent columns, and of the absent rows, are "maybe".
  if (CountMaybe(**reader, 0, "phone") > kRows / 20) return 5;
  if (CountMaybe(**reader, 1, "email") > kRows / 20) return 6;
  if (source.read_count != reads) return 7;
  if (stats.Snapshot()[rowbloom::FilterCounter::kLookups] != 3 * kRows) {
    return 8;
  }
  // Open() reports damage by name and does not throw.
  const Source half(std::string_view(sst).substr(0, sst.size() / 2));
  const auto refused = rowbloom::FilterReader::Open(&half, {block_offset}, {});
  if (refused.ok()) return 9;
  if (std::strcmp(rowbloom::Version(), ROWBLOOM_VERSION_STRING) != 0) return 10;
  std::printf("rowbloom %s, C++%ld: %s\n", rowbloom::Version(),
              __cplusplus / 100 % 100, refused.status().ToString().c_str());
  return 0;
}
