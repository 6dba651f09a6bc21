// SPDX-License-Identifier: Apache-2.0
//
// The parts of an HFileReader: the trailer, the section that is loaded when a
// file is opened, and its two filters. hfile_reader.cc opens and answers,
// verify.cc reads the rest.

#ifndef ROWBLOOM_HFILE_HFILE_READER_IMPL_H_
#define ROWBLOOM_HFILE_HFILE_READER_IMPL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hfile/block.h"
#include "hfile/block_index.h"
#include "hfile/bloom_filter.h"
#include "hfile/cell_decoder.h"
#include "hfile/cell_key.h"
#include "hfile/file_info.h"
#include "hfile/trailer.h"
#include "rowbloom/hfile.h"

namespace rowbloom {  // A nested class is in its class's namespace.

class HFileReader::Impl {
 public:
  // One of the file's filters: its properties, and the filter itself if usable.
  struct Filter {
    HFileBloomInfo info;
    uint64_t meta_offset = 0;
    std::unique_ptr<hfile::BloomFilter> bloom;
    std::optional<hfile::CellKey> last_key;  // Views into info.
  };

  Impl(const RandomAccessSource* source, const HFileReaderOptions& options,
       const hfile::Trailer& trailer);
  static absl::StatusOr<std::unique_ptr<Impl>> Open(
      const RandomAccessSource* source, const HFileReaderOptions& options);

  // If `explanation` is not null, it receives the reason, and the lookup is not
  // counted.
  bool MayContainRow(std::string_view row, HFileExplanation* explanation) const;
  bool MayContainColumn(std::string_view row, std::string_view qualifier,
                        HFileExplanation* explanation) const;
  bool MayContainFamilyDelete(std::string_view row,
                              HFileExplanation* explanation) const;
  bool MayContain(const HFileRead& read) const;
  // Asks the filter, which must be usable, for one key.
  bool Probe(const Filter& filter, const hfile::BloomFilter::Question& question,
             HFileExplanation* explanation) const;

  absl::StatusOr<std::string> ReadMetaBlock(std::string_view name) const;
  absl::Status Verify(bool with_keys) const;

  const hfile::BlockFormat& format() const { return format_; }
  const hfile::Trailer& trailer() const { return trailer_; }
  const hfile::DataLayout& layout() const { return layout_; }
  // Trailer and data index agree that there are no cells.
  bool is_empty() const { return is_empty_; }
  const HFileProperties& properties() const { return properties_; }
  const Filter& general() const { return general_; }
  const Filter& delete_family() const { return delete_family_; }
  // The filter to which `info` belongs.
  const Filter& FilterOf(const HFileBloomInfo& info) const;
  // nullopt if the comparator is not known.
  std::optional<hfile::RowOrder> row_order() const { return row_order_; }
  bool Count(bool may_contain) const;

 private:
  struct BloomMetaBlock {
    uint64_t offset = 0;
    absl::StatusOr<std::string> payload;
  };
  // The payloads of the load-on-open section, as far as it could be read.
  struct Section {
    int root_count = 0;        // The data index, then the meta index.
    bool has_no_data = false;  // The first of them is empty.
    absl::StatusOr<std::string> meta_index;
    // The header of the meta index has the offset of the data index: HBase's
    // writers state it. True as well if damage hides that header.
    bool states_previous = true;
    std::optional<std::string> file_info;
    std::optional<BloomMetaBlock> general_meta;
    std::optional<BloomMetaBlock> delete_family_meta;
    hfile::BlockHeader file_info_header;
    uint64_t digest = 0;
    absl::Status error;  // The error that ended the read early.
  };

  absl::StatusOr<Section> ReadSection() const;
  void TakeChecksum(const hfile::BlockHeader& header);
  void TakeFileInfo(hfile::FileInfo info);
  absl::Status TakeMetaIndex(const Section& section);
  void MakeGeneralFilter(const Section& section);
  void MakeDeleteFamilyFilter(const Section& section);
  // Makes a filter of info.bloom_type from a meta block; sets info.error on
  // failure.
  void MakeFilter(const BloomMetaBlock& block,
                  const internal::cache::CachedChunksOptions& cached,
                  uint64_t file_digest, Filter* filter) const;
  void TakeChunkOrder();
  // Refuses a filter if damage hides the chunks of the other one.
  void RefuseBesideHidden(const Filter& other, Filter* filter) const;
  void Refuse(uint64_t offset, const absl::Status& status,
              HFileBloomInfo* info) const;
  // Refuses a filter that may be in the part that could not be read.
  static void RefuseUnread(const Section& section, HFileBloomInfo* info);
  internal::cache::CachedChunksOptions CachedAs(uint8_t filter_number) const;

  static bool IsBehindLast(const Filter& filter, const hfile::CellKey& key);
  bool IsEmpty(HFileExplanation* explanation) const;

  const RandomAccessSource* const source_;
  const std::unique_ptr<FilterCache> own_cache_;
  const HFileReaderOptions options_;  // Its cache is never nullptr.
  const hfile::Trailer trailer_;
  const uint64_t file_id_;
  hfile::BlockFormat format_;
  std::optional<hfile::RowOrder> row_order_;
  hfile::DataLayout layout_;
  HFileProperties properties_;
  std::map<std::string, hfile::IndexEntry, std::less<>> meta_blocks_;
  bool is_empty_ = false;
  Filter general_;
  Filter delete_family_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_HFILE_HFILE_READER_IMPL_H_
