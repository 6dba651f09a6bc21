// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>

#include "fuzz/properties.h"
#include "fuzz/require.h"
#include "hfile/block.h"
#include "hfile/checksum.h"
#include "hfile/trailer.h"
#include "rowbloom/hfile.h"

namespace rowbloom::fuzz {

namespace {

constexpr int kMostCells = 1000;

// Asks the reader everything; a file that Verify() finds whole denies no cell.
void CheckFile(std::string_view bytes) {
  const auto source = NewMemorySource(bytes);
  const auto cache = NewShardedLruCache({1 << 20});
  HFileReaderOptions options;
  options.cache = cache.get();
  const auto opened = HFileReader::Open(source.get(), options);
  if (!opened.ok()) return;
  const HFileReader& reader = **opened;
  const bool is_whole = reader.Verify(/*with_keys=*/true).ok();
  for (const std::string& name : reader.properties().meta_blocks) {
    reader.ReadMetaBlock(name).IgnoreError();
  }
  reader.MayContain("");
  reader.MayContain(std::string(70000, 'x'), "q");
  reader.MayContain(HFileRead{"row0", "row1"});
  const auto cells = reader.NewCellReader();
  HFileCell cell;
  for (int i = 0; i < kMostCells && cells->Next(&cell); ++i) {
    const bool may_contain = reader.MayContain(cell.row) &&
                             reader.MayContain(cell.row, cell.qualifier) &&
                             reader.MayContain(HFileRead::Get(cell.row));
    const bool deletes = cell.type == HFileCell::kDeleteFamily;
    const bool may_delete = !deletes || reader.MayContainFamilyDelete(cell.row);
    REQUIRE(!is_whole || (may_contain && may_delete));
    const HFileExplanation why = reader.Explain(cell.row, cell.qualifier);
    REQUIRE(why.may_contain == reader.MayContain(cell.row, cell.qualifier) ||
            !why.status.ok());
  }
}

// Returns the bytes with right checksums, as far as blocks follow each other.
std::string Resealed(std::string_view bytes) {
  std::string resealed(bytes);
  const auto source = NewMemorySource(bytes);
  const auto trailer = hfile::ReadTrailer(*source);
  if (!trailer.ok() || !trailer->blocks_have_checksums()) return resealed;
  hfile::BlockFormat format;
  format.source = source.get();
  format.end = trailer->offset;
  for (uint64_t offset = 0; offset < trailer->offset;) {
    const auto header = hfile::ReadBlockHeader(format, offset);
    if (!header.ok()) break;
    const size_t data_size = hfile::kHeaderSize + header->payload_size;
    std::string checksums;
    hfile::AppendChecksums(header->checksum, header->bytes_per_checksum,
                           std::string_view(resealed).substr(
                               static_cast<size_t>(offset), data_size),
                           &checksums);
    resealed.replace(static_cast<size_t>(offset) + data_size, checksums.size(),
                     checksums);
    offset += header->size;
  }
  return resealed;
}

}  // namespace

void HFileProperty(std::string_view bytes) {
  CheckFile(bytes);
  CheckFile(Resealed(bytes));
}

}  // namespace rowbloom::fuzz
