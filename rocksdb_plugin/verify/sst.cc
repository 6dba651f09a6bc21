// SPDX-License-Identifier: Apache-2.0
//
// Reads the filters in an SST by RocksDB's public API: opens the table with a
// policy that keeps the bytes it gets.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "policy/builtin_filter.h"
#include "release.h"
#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "rowbloom/rocksdb_verify.h"
#include "sst_path.h"
#include "sst_properties.h"
#include "status.h"

namespace rowbloom {

using plugin::CheckRocksDbRelease;
using plugin::FromRocksDb;
using plugin::kBuiltinCompatibilityName;
using plugin::ReadSstProperties;
using plugin::SstPath;

namespace {

// Claims to read the filters of `compatibility_name`, keeps the bytes that
// RocksDB passes to it, and returns no reader, which RocksDB takes as "no
// filter".
class CapturingPolicy : public rdb::FilterPolicy {
 public:
  CapturingPolicy(const char* compatibility_name,
                  std::vector<std::string>* filters)
      : compatibility_name_(compatibility_name), filters_(filters) {}

  const char* Name() const override { return "rowbloom.capture"; }
  const char* CompatibilityName() const override { return compatibility_name_; }
  rdb::FilterBitsBuilder* GetBuilderWithContext(
      const rdb::FilterBuildingContext&) const override {
    return nullptr;
  }
  rdb::FilterBitsReader* GetFilterBitsReader(
      const rdb::Slice& contents) const override {
    filters_->emplace_back(contents.data(), contents.size());
    return nullptr;
  }

 private:
  const char* const compatibility_name_;
  std::vector<std::string>* const filters_;
};

rdb::Options TableOptions(const rdb::Options& from,
                          const char* compatibility_name,
                          std::vector<std::string>* filters) {
  rdb::BlockBasedTableOptions table_options;
  table_options.filter_policy =
      std::make_shared<CapturingPolicy>(compatibility_name, filters);
  // With this off, opening a table loads its filter, all partitions of it.
  table_options.cache_index_and_filter_blocks = false;
  // Partitions pass through a cache; they are kept by the policy, not here.
  table_options.block_cache = rdb::NewLRUCache(64 << 10, /*num_shard_bits=*/0);
  rdb::Options options;
  options.env = from.env;
  options.comparator = from.comparator;
  options.table_factory.reset(rdb::NewBlockBasedTableFactory(table_options));
  return options;
}

// The bytes of a file that may not be there; reads that fail are empty.
class FileToRead {
 public:
  FileToRead(const std::string& path, rdb::Env* env) {
    if (!env->GetFileSize(path, &size_bytes_).ok() ||
        !env->NewRandomAccessFile(path, &file_, rdb::EnvOptions()).ok()) {
      file_ = nullptr;
    }
  }

  uint64_t size_bytes() const { return size_bytes_; }
  std::string At(uint64_t offset, size_t size) const {
    std::string scratch(size, '\0');
    rdb::Slice bytes;
    if (file_ == nullptr ||
        !file_->Read(offset, size, &bytes, scratch.data()).ok() ||
        bytes.size() != size) {
      return "";
    }
    return bytes.ToString();
  }
  std::string Last(size_t size) const {
    return size > size_bytes_ ? "" : At(size_bytes_ - size, size);
  }

 private:
  std::unique_ptr<rdb::RandomAccessFile> file_;
  uint64_t size_bytes_ = 0;
};

// RocksDB calls an SST of a newer format_version corrupt. The footer tells it
// from a damaged one: from version 6 on it holds an extended magic.
constexpr size_t kFooterBytes = 53;
constexpr size_t kExtendedMagicOffset = 1;
constexpr std::string_view kExtendedMagic{"\x3e\x00\x7a\x00", 4};
constexpr size_t kFormatVersionOffset = kFooterBytes - 12;
constexpr uint32_t kLeastNewerVersion = 6;
constexpr uint32_t kMostPlausibleVersion = 255;

// The format_version that the SST's footer claims; 0 if it has no such footer.
uint32_t ClaimedFormatVersion(const std::string& path, rdb::Env* env) {
  const std::string footer = FileToRead(path, env).Last(kFooterBytes);
  if (footer.empty() ||
      footer.compare(kExtendedMagicOffset, kExtendedMagic.size(),
                     kExtendedMagic) != 0) {
    return 0;
  }
  uint32_t version = 0;
  for (int i = 3; i >= 0; --i) {
    version = version << 8 |
              static_cast<unsigned char>(footer[kFormatVersionOffset + i]);
  }
  return version;
}

// --- Tables of LevelDB ------------------------------------------------------

// They end as RocksDB's of format_version 0 do: handle of the meta index,
// handle of the index, padding, magic. RocksDB's meta index always names the
// properties and is never compressed.
constexpr size_t kLegacyFooterBytes = 48;
constexpr std::string_view kLegacyMagic{"\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8};
constexpr std::string_view kPropertiesName = "rocksdb.properties";
constexpr uint64_t kMostMetaIndexBytes = 1 << 20;

bool ReadVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// For a table that RocksDB opened, so that its meta index is undamaged, and
// whose properties it did not find; or, from RocksDB 11 on, that it does not
// read.
bool IsOfLevelDb(const std::string& path, rdb::Env* env) {
  const FileToRead file(path, env);
  const std::string footer = file.Last(kLegacyFooterBytes);
  if (footer.empty() ||
      footer.substr(kLegacyFooterBytes - kLegacyMagic.size()) != kLegacyMagic) {
    return false;
  }
  std::string_view rest = footer;
  uint64_t offset = 0;
  uint64_t size = 0;
  if (!ReadVarint(&rest, &offset) || !ReadVarint(&rest, &size) || size == 0 ||
      size > kMostMetaIndexBytes || offset > file.size_bytes()) {
    return false;
  }
  const std::string meta_index = file.At(offset, static_cast<size_t>(size));
  return !meta_index.empty() &&
         meta_index.find(kPropertiesName) == std::string::npos;
}

absl::Status LevelDbError(const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat(
      path,
      ": a table of LevelDB, whose filters RocksDB does not ask; LevelDB "
      "checks them if its database is opened with Options::paranoid_checks"));
}

// The status of a table that RocksDB opened and that has no properties.
absl::Status ExplainNoProperties(const std::string& path, rdb::Env* env) {
  if (IsOfLevelDb(path, env)) return LevelDbError(path);
  return absl::DataLossError(absl::StrCat(path, ": no table properties"));
}

// The factory of a table that is not block based, which its last bytes tell, or
// nullptr. Such tables ask no filter_policy.
const char* OtherFactory(const std::string& path, rdb::Env* env) {
  constexpr struct {
    std::string_view magic;
    const char* factory;
  } kOthers[] = {
      {{"\x64\x95\xbf\x63\x96\x22\x42\x82", 8}, "PlainTableFactory"},
      {{"\xb8\x13\x8f\x7a\xeb\x18\x34\x4f", 8}, "PlainTableFactory"},
      {{"\x73\x78\xf1\xc5\xd0\x89\x67\x92", 8}, "CuckooTableFactory"}};
  const std::string last = FileToRead(path, env).Last(kLegacyMagic.size());
  for (const auto& other : kOthers) {
    if (last == other.magic) return other.factory;
  }
  return nullptr;
}

// The status of a failed Open(): Unimplemented for a newer format_version.
absl::Status ExplainOpen(const std::string& path, rdb::Env* env,
                         const rdb::Status& status) {
  // RocksDB from 11 on reads no format_version below 2.
  if (status.IsNotSupported() && IsOfLevelDb(path, env)) {
    return LevelDbError(path);
  }
  absl::Status explained = FromRocksDb(status);
  if (!absl::IsDataLoss(explained)) return explained;
  if (const char* factory = OtherFactory(path, env)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": a table of ", factory, ", which asks no filter_policy"));
  }
  if (status.ToString().find("unsupported format_version") ==
      std::string::npos) {
    return explained;
  }
  const uint32_t version = ClaimedFormatVersion(path, env);
  if (version < kLeastNewerVersion || version > kMostPlausibleVersion) {
    return explained;
  }
  return absl::UnimplementedError(absl::StrCat(
      path, ": format_version ", version, " is newer than those that RocksDB ",
      ROCKSDB_MAJOR, ".", ROCKSDB_MINOR, ".", ROCKSDB_PATCH,
      " reads, which this program was built with; use one built with the "
      "release that wrote the SST, or a later one"));
}

}  // namespace

absl::StatusOr<RocksDbSst> ReadRocksDbSst(const std::string& path,
                                          const rdb::Options& options) {
  if (const absl::Status& s = CheckRocksDbRelease(); !s.ok()) return s;
  RocksDbSst sst;
  rdb::SstFileReader reader(
      TableOptions(options, kRocksDbCompatibilityName, &sst.filters));
  const rdb::Status status = reader.Open(path);
  if (!status.ok()) return ExplainOpen(path, options.env, status);

  const std::shared_ptr<const rdb::TableProperties> properties =
      reader.GetTableProperties();
  if (properties == nullptr) {
    return ExplainNoProperties(path, options.env);
  }
  sst.column_family_name = properties->column_family_name;
  sst.filter_policy_name = properties->filter_policy_name;
  sst.prefix_extractor_name = properties->prefix_extractor_name;
  sst.entry_count = properties->num_entries;
  sst.range_tombstone_count = properties->num_range_deletions;
  sst.filter_key_count = properties->num_filter_entries;
  sst.filter_size_bytes = properties->filter_size;
  if (sst.filter_size_bytes == 0) return sst;
  if (!sst.filters.empty()) {
    sst.owner = RocksDbFilterOwner::kRowbloom;
    return sst;
  }
  rdb::SstFileReader again(
      TableOptions(options, kBuiltinCompatibilityName, &sst.filters));
  const rdb::Status opened = again.Open(path);
  if (!opened.ok()) return FromRocksDb(opened);
  sst.owner = sst.filters.empty() ? RocksDbFilterOwner::kUnknown
                                  : RocksDbFilterOwner::kRocksDb;
  return sst;
}

namespace plugin {

absl::StatusOr<std::shared_ptr<const rdb::TableProperties>> ReadSstProperties(
    const std::string& path, const rdb::Options& options) {
  rdb::BlockBasedTableOptions table_options;  // No filter policy.
  table_options.no_block_cache = true;
  rdb::Options without;
  without.table_factory.reset(rdb::NewBlockBasedTableFactory(table_options));
  without.env = options.env;
  without.comparator = options.comparator;
  rdb::SstFileReader reader(without);
  const std::string found = SstPath(options.env, path);
  const rdb::Status status = reader.Open(found);
  if (!status.ok()) {
    if (options.env->FileExists(found).IsNotFound()) {
      return absl::NotFoundError(absl::StrCat(path, ": no such file"));
    }
    return ExplainOpen(found, options.env, status);
  }
  std::shared_ptr<const rdb::TableProperties> properties =
      reader.GetTableProperties();
  if (properties == nullptr) {
    return ExplainNoProperties(found, options.env);
  }
  return properties;
}

}  // namespace plugin

absl::Status VerifyRocksDbSstChecksums(const std::string& path,
                                       const rdb::Options& options) {
  if (const absl::Status& s = CheckRocksDbRelease(); !s.ok()) return s;
  std::vector<std::string> unused;
  rdb::SstFileReader reader(
      TableOptions(options, kRocksDbCompatibilityName, &unused));
  const rdb::Status status = reader.Open(path);
  if (!status.ok()) return ExplainOpen(path, options.env, status);
  rdb::ReadOptions read_options;
  read_options.fill_cache = false;
  read_options.readahead_size = 2 << 20;
  return FromRocksDb(reader.VerifyChecksum(read_options));
}

}  // namespace rowbloom
