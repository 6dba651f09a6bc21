// SPDX-License-Identifier: Apache-2.0
//
// rowbloom rebuild: copies an HFile and gives it another filter.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "output.h"
#include "report.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/hfile.h"
#include "rowbloom/hfile_writer.h"
#include "rowbloom/io.h"
#include "verbs.h"
#include "whole_number.h"

namespace rowbloom::tools {
namespace {

struct RebuildArguments {
  std::string in;
  std::string out;
  std::string bloom_type;
  uint32_t prefix_length = 0;
  float error_rate = HFileWriterOptions().error_rate;
  int64_t chunk_size = HFileWriterOptions().chunk_size_bytes;
  int max_fold = HFileWriterOptions().max_fold;
  std::string hash;
  std::string compression;
  uint32_t block_size = HFileWriterOptions().block_size_bytes;
  bool widest = false;
  bool json = false;
};

// Takes options from the arguments, whose names CLI11 has checked, and the
// others from the file.
absl::StatusOr<HFileWriterOptions> OptionsFor(const RebuildArguments& arguments,
                                              const HFileReader& reader) {
  if (!reader.properties().comparator_is_known) {
    return absl::UnimplementedError(
        arguments.in + ": comparator \"" +
        EscapeBytes(reader.properties().comparator) +
        "\" is not known, nor what order its cells are to have");
  }
  HFileWriterOptions options = OptionsOf(reader);
  if (!arguments.bloom_type.empty()) {
    options.bloom_type = *ParseBloomType(arguments.bloom_type);
  } else if (!reader.general_filter().error.ok() &&
             options.bloom_type == BloomType::kNone) {
    return absl::FailedPreconditionError(
        std::string(reader.general_filter().error.message()) +
        ": name another by --bloom_type");
  }
  if (!arguments.hash.empty()) options.hash = *ParseHFileHash(arguments.hash);
  if (!arguments.compression.empty()) {
    options.compression = *ParseHFileCompression(arguments.compression);
  }
  if (arguments.prefix_length > 0) {
    if (options.bloom_type != BloomType::kRowPrefixFixedLength) {
      return absl::FailedPreconditionError(
          "--prefix_length is of bloom type ROWPREFIX_FIXED_LENGTH, and this "
          "is " +
          std::string(BloomTypeName(options.bloom_type)));
    }
    options.prefix_length_bytes = arguments.prefix_length;
  }
  options.error_rate = arguments.error_rate;
  options.chunk_size_bytes = arguments.chunk_size;
  options.max_fold = arguments.max_fold;
  options.block_size_bytes = arguments.block_size;
  if (arguments.widest) options.profile = HFileProfile::kWidest;
  return options;
}

// They are held in memory until they are written.
absl::Status ReadMetaBlocks(const std::string& path, const HFileReader& reader,
                            HFileWriterOptions* options) {
  constexpr uint64_t kMaxBytes = 64 << 20;
  const absl::Status& error = reader.properties().meta_blocks_error;
  if (!error.ok()) return error;
  uint64_t bytes = 0;
  for (const std::string& name : reader.properties().meta_blocks) {
    absl::StatusOr<std::string> block = reader.ReadMetaBlock(name);
    if (!block.ok()) return block.status();
    bytes += block->size();
    if (bytes > kMaxBytes) {
      return absl::ResourceExhaustedError(path +
                                          ": meta blocks of more than 64 MiB");
    }
    options->meta_blocks[name] = *std::move(block);
  }
  return absl::OkStatus();
}

// The writer's error about a cell has no path. Either the file is damaged, and
// Verify() reports the place, or its cells do not suit the options.
absl::Status Refusal(const std::string& path, const HFileReader& reader,
                     const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  absl::Status verified = reader.Verify(/*with_keys=*/false);
  if (!verified.ok()) return verified;
  return absl::InvalidArgumentError(path + ": " +
                                    std::string(status.message()));
}

absl::Status CopyCells(const std::string& path, const HFileReader& reader,
                       HFileWriter* writer) {
  constexpr uint64_t kCellsBetweenReports = 1 << 16;
  ProgressLine progress;
  const std::unique_ptr<HFileCellReader> cells = reader.NewCellReader();
  HFileCell cell;
  for (uint64_t done = 0; cells->Next(&cell); ++done) {
    if (done % kCellsBetweenReports == 0) {
      progress.ShowCount("cells", done, reader.properties().cell_count);
    }
    absl::Status status = writer->Add(cell);
    if (!status.ok()) return Refusal(path, reader, status);
  }
  if (!cells->status().ok()) return cells->status();
  return Refusal(path, reader, writer->Finish());
}

// Adds the properties of the file's filters to *fields.
absl::Status Describe(const std::string& path, const char* which, bool verify,
                      Json* fields) {
  const auto source = OpenFileSource(path);
  if (!source.ok()) return source.status();
  const auto reader = HFileReader::Open(source->get());
  if (!reader.ok()) return reader.status();
  if (verify) {
    absl::Status status = (*reader)->Verify(/*with_keys=*/true);
    if (!status.ok()) return status;
  }
  const HFileBloomInfo& filter = (*reader)->general_filter();
  (*fields)[which] = {
      {"bloom_type", std::string(BloomTypeName(filter.bloom_type))},
      {"key_count", filter.key_count},
      {"hash_count", filter.hash_count},
      {"chunk_count", filter.chunks.size()},
      {"filter_size_bytes", filter.size_bytes},
      {"file_size_bytes", (*source)->size_bytes()}};
  return absl::OkStatus();
}

absl::Status Write(const RebuildArguments& arguments, const std::string& path) {
  const auto source = OpenFileSource(arguments.in);
  if (!source.ok()) return source.status();
  const auto reader = HFileReader::Open(source->get());
  if (absl::IsInvalidArgument(reader.status())) {  // Not an HFile, or cut off.
    return absl::DataLossError(std::string(reader.status().message()));
  }
  if (!reader.ok()) return reader.status();
  auto options = OptionsFor(arguments, **reader);
  if (!options.ok()) return options.status();
  absl::Status status = ReadMetaBlocks(arguments.in, **reader, &*options);
  if (!status.ok()) return status;
  const auto sink = OpenFileSink(path);
  if (!sink.ok()) return sink.status();
  const auto writer = HFileWriter::Make(*options, sink->get());
  if (!writer.ok()) return writer.status();
  status = CopyCells(arguments.in, **reader, writer->get());
  if (!status.ok()) return status;
  return (*sink)->SyncAndClose();
}

absl::Status Rebuild(const RebuildArguments& arguments, Json* fields) {
  std::error_code error;
  if (std::filesystem::exists(arguments.out, error)) {
    return absl::AlreadyExistsError(arguments.out + ": exists");
  }
  // The name appears when the file is complete.
  const std::string unfinished =
      arguments.out + ".unfinished." + std::to_string(getpid());
  absl::Status status = Write(arguments, unfinished);
  if (status.ok()) status = Describe(arguments.in, "before", false, fields);
  if (status.ok()) status = Describe(unfinished, "after", true, fields);
  if (status.ok()) {
    std::filesystem::rename(unfinished, arguments.out, error);
    if (error) {
      status = absl::UnavailableError(arguments.out + ": " + error.message());
    }
  }
  if (!status.ok()) std::filesystem::remove(unfinished, error);
  return status;
}

int RunRebuild(const RebuildArguments& arguments) {
  Json fields{{"path", EscapeControls(arguments.in)},
              {"out", EscapeControls(arguments.out)}};
  const absl::Status status = Rebuild(arguments, &fields);
  if (arguments.json) {
    if (!status.ok()) {
      fields["error"] = EscapeControls(std::string(status.message()));
    }
    PrintDocument("rowbloom-rebuild", fields);
  }
  if (!status.ok()) {
    std::cerr << "rowbloom: " << EscapeControls(std::string(status.message()))
              << "\n";
    const bool is_damage = absl::IsDataLoss(status) ||
                           absl::IsOutOfRange(status) ||
                           absl::IsUnimplemented(status);
    return is_damage ? kExitDamaged : kExitUsage;
  }
  if (!arguments.json) {
    Json rows = Json::array();
    for (const char* which : {"before", "after"}) {
      Json row{{"filter", which}};
      row.update(fields[which]);
      rows.push_back(std::move(row));
    }
    std::cout << fields["out"].get<std::string>() << ": written and verified\n"
              << Table(rows);
  }
  return FlushOutput(kExitOk);
}

}  // namespace

void AddRebuild(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<RebuildArguments>();
  CLI::App* verb = app->add_subcommand(
      "rebuild", "Write an HFile again, with a new filter from its cells");
  verb->add_option("IN", arguments->in, "The HFile")->required();
  verb->add_option("OUT", arguments->out, "The new one; must not exist")
      ->required();
  verb->add_option("--bloom_type", arguments->bloom_type,
                   "NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH")
      ->check(CLI::IsMember({"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"},
                            CLI::ignore_case));
  verb->add_option("--prefix_length", arguments->prefix_length,
                   "Length in bytes of the prefix of ROWPREFIX_FIXED_LENGTH")
      ->transform(WholeNumber())
      ->check(CLI::Range(1, 32767));
  verb->add_option("--error_rate", arguments->error_rate,
                   "False positive rate, as io.storefile.bloom.error.rate")
      ->capture_default_str();
  verb->add_option(
          "--chunk_size", arguments->chunk_size,
          "Size in bytes of a Bloom chunk, as io.storefile.bloom.block.size")
      ->transform(WholeNumber())
      ->capture_default_str();
  verb->add_option("--max_fold", arguments->max_fold,
                   "As io.storefile.bloom.max.fold")
      ->transform(WholeNumber())
      ->capture_default_str();
  verb->add_option("--hash", arguments->hash, "JENKINS, MURMUR or MURMUR3")
      ->check(
          CLI::IsMember({"JENKINS", "MURMUR", "MURMUR3"}, CLI::ignore_case));
  verb->add_option("--compression", arguments->compression,
                   "NONE, GZ, SNAPPY, LZ4 or ZSTD")
      ->check(CLI::IsMember({"NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"},
                            CLI::ignore_case));
  verb->add_option("--block_size", arguments->block_size,
                   "Size in bytes of a data block")
      ->transform(WholeNumber())
      ->capture_default_str();
  verb->add_flag("--widest", arguments->widest,
                 "Name comparators as HBase 0.98 to 4 all know them");
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-rebuild)");
  verb->callback(
      [arguments, exit_code] { *exit_code = RunRebuild(*arguments); });
}

}  // namespace rowbloom::tools
