// SPDX-License-Identifier: Apache-2.0
//
// rowbloom rebuild: copies HFiles and gives them other filters.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/hfile.h"
#include "rowbloom/hfile_writer.h"
#include "rowbloom/io.h"
#include "tools/formats/filter_file.h"
#include "tools/formats/paths.h"
#include "tools/hbase/properties.h"
#include "tools/hbase/rebuild_progress.h"
#include "tools/hbase/unfinished_file.h"
#include "tools/platform/platform.h"
#include "tools/text/arguments.h"
#include "tools/text/output.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {
namespace {

namespace fs = std::filesystem;

constexpr char kHFile[] = "hfile";
constexpr char kReference[] = "hfile_reference";

struct RebuildArguments {
  std::vector<std::string> paths;
  std::string into;
  std::string bloom_type;
  uint32_t prefix_length = 0;
  // Not given: as the file has it.
  std::optional<float> error_rate;
  std::optional<int64_t> chunk_size;
  std::optional<int> max_fold;
  std::string hash;
  std::string compression;
  std::string encoding;
  std::optional<uint32_t> block_size;
  bool widest = false;
  bool json = false;
  int jobs = 1;
  std::optional<uint32_t> progress_seconds;
};

// An HFile that is open for reading.
struct OpenedHFile {
  std::unique_ptr<RandomAccessSource> source;
  std::unique_ptr<HFileReader> reader;
};

absl::StatusOr<OpenedHFile> OpenAt(const std::string& path) {
  auto source = OpenFileSource(path);
  if (!source.ok()) return source.status();
  auto reader = HFileReader::Open(source->get());
  if (!reader.ok()) return reader.status();
  return OpenedHFile{*std::move(source), *std::move(reader)};
}

// Takes options from the arguments, whose names CLI11 has checked, and the
// others from the file.
absl::StatusOr<HFileWriterOptions> OptionsFor(const RebuildArguments& arguments,
                                              const std::string& in,
                                              const HFileReader& reader) {
  if (!reader.properties().comparator_is_known) {
    return absl::UnimplementedError(
        in + ": comparator \"" + EscapeBytes(reader.properties().comparator) +
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
  if (!arguments.encoding.empty()) {
    options.encoding = *ParseHFileEncoding(arguments.encoding);
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
  options.error_rate = arguments.error_rate.value_or(options.error_rate);
  if (arguments.chunk_size.has_value()) {
    options.chunk_size_bytes = *arguments.chunk_size;
    options.max_fold = HFileWriterOptions().max_fold;
  }
  options.max_fold = arguments.max_fold.value_or(options.max_fold);
  options.block_size_bytes =
      arguments.block_size.value_or(options.block_size_bytes);
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

// The part of a file in the progress of its run. Copying its cells is most of
// the work; the rest is done when this object ends.
class FileProgress {
 public:
  FileProgress(RebuildProgress* run, uint64_t bytes)
      : run_(run), left_(bytes), step_(bytes / kSteps) {}
  ~FileProgress() {
    run_->Add(left_);
    run_->FinishFile();
  }
  FileProgress(const FileProgress&) = delete;
  FileProgress& operator=(const FileProgress&) = delete;

  void ShowCopied(uint64_t cells, uint64_t of_cells) {
    constexpr uint64_t kCopySteps = 75;
    const uint64_t step = of_cells == 0 ? 0 : kCopySteps * cells / of_cells;
    for (; steps_ < step && steps_ < kCopySteps; ++steps_) {
      run_->Add(step_);
      left_ -= step_;
    }
  }

 private:
  static constexpr uint64_t kSteps = 100;

  RebuildProgress* const run_;
  uint64_t left_;
  const uint64_t step_;
  uint64_t steps_ = 0;
};

absl::Status CopyCells(const std::string& path, const HFileReader& reader,
                       FileProgress* progress, HFileWriter* writer) {
  constexpr uint64_t kCellsBetweenReports = 1 << 16;
  const std::unique_ptr<HFileCellReader> cells = reader.NewCellReader();
  HFileCell cell;
  for (uint64_t done = 0; cells->Next(&cell); ++done) {
    if (done % kCellsBetweenReports == 0) {
      progress->ShowCopied(done, reader.properties().cell_count);
    }
    absl::Status status = writer->Add(cell);
    if (!status.ok()) return Refusal(path, reader, status);
  }
  if (!cells->status().ok()) return cells->status();
  return Refusal(path, reader, writer->Finish());
}

// The properties of a file and its general filter. `options` are those that it
// was written with, as far as they are known.
Json Describe(const OpenedHFile& file, const HFileWriterOptions& options) {
  const HFileProperties& properties = file.reader->properties();
  const HFileBloomInfo& filter = file.reader->general_filter();
  const bool has_filter = filter.is_usable;
  const double rate = std::round(options.error_rate * 1e6) / 1e6;
  return {{"bloom_type", std::string(BloomTypeName(filter.bloom_type))},
          {"key_count", filter.key_count},
          {"hash",
           has_filter ? Json(std::string(HFileHashName(filter.hash))) : Json()},
          {"hash_count", filter.hash_count},
          {"chunk_count", filter.chunks.size()},
          {"filter_size_bytes", filter.size_bytes},
          {"file_size_bytes", file.source->size_bytes()},
          {"error_rate", has_filter ? Json(rate) : Json()},
          {"expected_fpr", ExpectedFprOf(*file.reader, filter)},
          {"hfile_version", std::to_string(properties.major_version) + "." +
                                std::to_string(properties.minor_version)},
          {"compression",
           std::string(HFileCompressionName(properties.compression))},
          {"checksum", std::string(HFileChecksumName(properties.checksum))},
          {"encoding", std::string(HFileEncodingName(properties.encoding))},
          {"block_size_bytes", options.block_size_bytes},
          {"tags_compressed", options.compress_tags},
          {"index_encoding", IndexEncoding(properties)}};
}

// "encoding NONE, was DIFF; ...": each property that the new file does not
// have from the old one. Sizes and numbers of the filter are not among them.
std::string ChangesText(const Json& entry) {
  std::vector<std::string> changes;
  for (const char* name :
       {"bloom_type", "error_rate", "hash", "hfile_version", "compression",
        "checksum", "encoding", "block_size_bytes", "tags_compressed",
        "index_encoding"}) {
    const Json& before = entry["before"][name];
    const Json& after = entry["after"][name];
    if (before == after) continue;
    changes.push_back(std::string(name) + " " +
                      FieldText(after, std::string::npos) + ", was " +
                      FieldText(before, std::string::npos));
  }
  return absl::StrJoin(changes, "; ");
}

// Writes the file, verifies it and describes both.
absl::Status Write(const RebuildArguments& arguments, const std::string& in,
                   const std::string& path, FileProgress* progress,
                   Json* fields) {
  const auto before = OpenAt(in);
  if (!before.ok()) return before.status();
  const HFileReader& reader = *before->reader;
  auto options = OptionsFor(arguments, in, reader);
  if (!options.ok()) return options.status();
  absl::Status status = ReadMetaBlocks(in, reader, &*options);
  if (!status.ok()) return status;
  const auto sink = OpenFileSink(path);
  if (!sink.ok()) return sink.status();
  const auto writer = HFileWriter::Make(*options, sink->get());
  if (!writer.ok()) return writer.status();
  status = CopyCells(in, reader, progress, writer->get());
  if (status.ok()) status = (*sink)->SyncAndClose();
  if (!status.ok()) return status;
  if (const char* note = ChecksumNote(reader.properties())) {
    (*fields)["note"] = EscapeControls(in + " " + note);
  }
  (*fields)["before"] = Describe(*before, OptionsOf(reader));
  const auto after = OpenAt(path);
  if (!after.ok()) return after.status();
  status = after->reader->Verify(/*with_keys=*/true);
  if (status.ok()) (*fields)["after"] = Describe(*after, *options);
  return status;
}

// Returns FilterFile::kind(), or an error that begins with the path.
absl::StatusOr<std::string> KindOf(const std::string& in,
                                   const std::string& place) {
  const auto file = OpenFilterFile(in, place);
  if (!file.ok()) {
    const std::string message(file.status().message());
    const bool has_path = message.rfind(in, 0) == 0;
    return absl::Status(file.status().code(),
                        has_path ? message : in + ": " + message);
  }
  return std::string((*file)->kind());
}

// Rebuilds an HFile.
absl::Status Rebuild(const RebuildArguments& arguments, const std::string& in,
                     const std::string& out, FileProgress* progress,
                     Json* fields) {
  // The name appears when the file is complete.
  UnfinishedFile unfinished(out);
  absl::Status status =
      Write(arguments, in, unfinished.path(), progress, fields);
  const std::string message(status.message());
  // An option does not suit the file, or a write failed: no damage.
  if (absl::IsInvalidArgument(status) ||
      message.rfind(unfinished.path() + ": write", 0) == 0) {
    return absl::FailedPreconditionError(message);
  }
  if (!status.ok()) return status;
  return unfinished.Finish();
}

// Says in what the file differs from one that is written with these options
// from `source`; empty if in nothing that either tells.
std::string DifferenceFrom(const HFileWriterOptions& options,
                           const HFileReader& source, const HFileReader& file) {
  const HFileProperties& properties = file.properties();
  const HFileBloomInfo& filter = file.general_filter();
  const bool has_cells = properties.cell_count > 0;  // Else it has no filter.
  const bool has_filter = has_cells && options.bloom_type != BloomType::kNone;
  const bool has_prefixes =
      has_filter && options.bloom_type == BloomType::kRowPrefixFixedLength;
  const auto plan = PlanHFileFilter(options, filter.key_count);
  const bool is_planned = plan.ok() && filter.is_usable &&
                          filter.hash_count == plan->hash_count &&
                          filter.chunks.size() == plan->chunk_count &&
                          filter.size_bytes == plan->size_bytes;
  const auto block_size = file.FindBlockSize();
  const std::pair<const char*, bool> differences[] = {
      {"number of cells",
       properties.cell_count != source.properties().cell_count},
      // The sequence id is in it.
      {"file info", OptionsOf(file).file_info != options.file_info},
      {"compression", properties.compression != options.compression},
      {"encoding", properties.encoding != options.encoding},
      {"size of data blocks",
       block_size.has_value() && (options.block_size_bytes < block_size->min ||
                                  options.block_size_bytes > block_size->max)},
      {"oldest version of HBase",
       options.profile == HFileProfile::kWidest &&
           HBaseVersionsFor(file).rfind("0.98", 0) != 0},
      {"bloom type", has_cells && filter.bloom_type != options.bloom_type},
      {"prefix length", has_prefixes && filter.prefix_length_bytes !=
                                            options.prefix_length_bytes},
      {"hash", has_filter && filter.hash != options.hash},
      {"size or rate of the filter", has_filter && !is_planned}};
  for (const auto& [name, is_other] : differences) {
    if (is_other) return std::string("it has another ") + name;
  }
  return "";
}

// OK if an earlier run wrote `out` from `in` with the same arguments, as far as
// the files tell, and it is not damaged.
absl::Status CheckKept(const RebuildArguments& arguments, const std::string& in,
                       const std::string& out) {
  const auto refuse = [&](const std::string& why) {
    return absl::AlreadyExistsError(
        out + ": exists and cannot stand for " + in + ": " + why +
        ". Remove it, or name another directory by --into");
  };
  std::error_code error;
  if (fs::equivalent(in, out, error)) return refuse("it is the same file");
  const auto source = OpenAt(in);
  if (!source.ok()) return source.status();
  const auto options = OptionsFor(arguments, in, *source->reader);
  if (!options.ok()) return options.status();
  const auto kept = OpenAt(out);
  if (!kept.ok()) return refuse(std::string(kept.status().message()));
  const std::string difference =
      DifferenceFrom(*options, *source->reader, *kept->reader);
  if (!difference.empty()) return refuse(difference);
  const absl::Status status = kept->reader->Verify(/*with_keys=*/true);
  if (!status.ok()) return refuse(std::string(status.message()));
  return absl::OkStatus();
}

// The directory below which the files of an argument keep their places: the
// argument itself, or what is before its first wildcard.
fs::path BaseOf(const std::string& argument) {
  std::error_code error;
  if (fs::is_directory(argument, error)) return argument;
  const size_t wildcard = fs::exists(argument, error)
                              ? argument.size()
                              : argument.find_first_of("*?[");
  return fs::path(argument.substr(0, wildcard) + "x").parent_path();
}

struct RebuildFile {
  TargetFile target;
  fs::path out;
  std::string kind = {};
  uint64_t size_bytes = 0;
  bool repeats_out = false;  // An earlier file of the run has the same `out`.
};

bool IsWithin(const fs::path& path, const fs::path& directory) {
  std::error_code error;
  const fs::path below =
      fs::weakly_canonical(path, error)
          .lexically_relative(fs::weakly_canonical(directory, error));
  return !below.empty() && *below.begin() != "..";
}

// IN and OUT, or with --into all files below the arguments, each once. Throws
// if the new files would be among them.
std::vector<RebuildFile> NamedFiles(const RebuildArguments& arguments) {
  std::vector<RebuildFile> files;
  for (const std::string& path : arguments.paths) {
    if (IsRedisPath(path)) {
      throw CLI::ValidationError(
          "IN OUT", EscapeControls(ShownPath(path)) + " is no HFile");
    }
  }
  if (arguments.into.empty()) {
    if (arguments.paths.size() != 2) {
      throw CLI::ValidationError(
          "rebuild", "needs IN and OUT, or --into with any number of paths");
    }
    return {{{arguments.paths[0]}, arguments.paths[1]}};
  }
  std::set<fs::path> seen;
  for (const std::string& argument : arguments.paths) {
    const fs::path base = BaseOf(argument);
    for (TargetFile& target : ExpandPaths({argument})) {
      const fs::path path = target.path;
      if (!seen.insert(path.lexically_normal()).second) continue;
      const std::string walked =
          target.path.substr(0, target.path.size() - target.place.size());
      if (walked != target.path && IsWithin(arguments.into, walked)) {
        throw CLI::ValidationError(
            "--into", EscapeControls(arguments.into) + " is within " +
                          EscapeControls(walked) +
                          ", whose files are rebuilt: name another directory");
      }
      fs::path out = arguments.into /
                     (base.empty() ? path : path.lexically_relative(base));
      files.push_back({std::move(target), std::move(out)});
    }
  }
  return files;
}

// FailedPrecondition for the files of a family whose file tracker is FILE.
absl::Status CheckTracker(const std::string& path) {
  const fs::path list = fs::path(path).parent_path() / ".filelist";
  std::error_code error;
  if (!fs::exists(list, error)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      platform::TextOf(list) +
      ": the table's hbase.store.file-tracker.impl is FILE. This list names "
      "the "
      "files that HBase opens: with others in their places the region would "
      "not open. Alter BLOOMFILTER and run major_compact on the table instead");
}

// Fills in kinds, sizes and errors. FailedPrecondition if the new files could
// not replace the old ones: beside a list of files, or if one of many is a
// reference, which would break.
absl::Status ExamineFiles(bool is_one, std::vector<RebuildFile>* files) {
  std::set<fs::path> outs;
  std::vector<RebuildFile*> strays;
  for (RebuildFile& file : *files) {
    if (!file.target.error.ok()) continue;
    const std::string& path = file.target.path;
    if (absl::Status status = CheckTracker(path); !status.ok()) return status;
    const auto kind = KindOf(path, file.target.place);
    file.target.error = kind.status();
    if (kind.ok()) file.kind = *kind;
    if (absl::IsInvalidArgument(kind.status()) && IsStray(file.target)) {
      strays.push_back(&file);
    }
    if (file.kind == kHFile) {
      std::error_code error;
      const auto size = fs::file_size(path, error);
      if (!error) file.size_bytes = size;
      file.repeats_out = !outs.insert(file.out).second;
    }
    if (is_one || file.kind != kReference) continue;
    return absl::FailedPreconditionError(
        path +
        ": a reference, of a region that was split or merged, to a file that "
        "would be replaced. Run major_compact on the table first, and rebuild "
        "when it has no references");
  }
  // Beside HFiles they are left out, by themselves they are errors.
  for (RebuildFile* stray : strays) {
    if (outs.empty()) break;
    stray->target.error = absl::OkStatus();
    stray->kind = "unknown";
  }
  return absl::OkStatus();
}

// Rebuilds a file of the run, or keeps what an earlier run with --into wrote,
// or leaves it out; *result says which.
absl::Status RebuildOrKeep(const RebuildArguments& arguments,
                           const RebuildFile& file, RebuildProgress* run,
                           const char** result, Json* entry) {
  FileProgress progress(run, file.size_bytes);
  const bool is_one = arguments.into.empty();
  const std::string& in = file.target.path;
  const std::string out = platform::TextOf(file.out);
  std::error_code error;
  if (!file.target.error.ok()) return file.target.error;
  if (file.kind != kHFile) {
    if (is_one) {
      return absl::InvalidArgumentError(
          in + ": not an HFile, but of the kind " + file.kind);
    }
    *result = "left_out";
    (*entry)["note"] =
        EscapeControls(in + ": left out: of the kind " + file.kind);
    return absl::OkStatus();
  }
  if (file.repeats_out) {
    return absl::AlreadyExistsError(out + ": is of another file of this run");
  }
  if (fs::exists(out, error)) {
    if (is_one) return absl::AlreadyExistsError(out + ": exists");
    *result = "kept";
    return CheckKept(arguments, in, out);
  }
  if (!is_one) fs::create_directories(file.out.parent_path(), error);
  *result = "written";
  return Rebuild(arguments, in, out, &progress, entry);
}

// Tells what became of a file; of the only one also its filters.
std::string EntryText(const Json& entry, bool is_one) {
  std::string text;
  if (entry.contains("note")) text = entry["note"].get<std::string>() + "\n";
  const bool is_written = entry["result"] == "written";
  if (is_written || entry["result"] == "kept") {
    const std::string changes = is_written ? ChangesText(entry) : "";
    text += entry["out"].get<std::string>() +
            (is_written ? ": written and verified" : ": kept") +
            (changes.empty() ? "" : ": " + changes) + "\n";
  }
  if (!is_one || !is_written) return text;
  Json rows = Json::array();
  for (const char* which : {"before", "after"}) {
    Json row{{"filter", which}};
    row.update(entry[which]);
    // The line above has them if they are not the same.
    for (const char* name : {"hash", "compression", "checksum",
                             "tags_compressed", "index_encoding"}) {
      row.erase(name);
    }
    rows.push_back(std::move(row));
  }
  return text + Table(rows);
}

struct RebuildResult {
  Json entry;
  absl::Status status;
};

RebuildResult RebuildOne(const RebuildArguments& arguments,
                         const RebuildFile& file, RebuildProgress* progress) {
  RebuildResult done;
  done.entry = {{"path", EscapeControls(file.target.path)},
                {"out", EscapeControls(ShownPath(platform::TextOf(file.out)))}};
  const char* result = "failed";
  done.status = RebuildOrKeep(arguments, file, progress, &result, &done.entry);
  if (!done.status.ok()) {
    result = "failed";
    done.entry["error"] = ErrorText(done.status);
  }
  done.entry["result"] = result;
  return done;
}

// Rebuilds the files by several threads, the largest file first, and calls
// `emit` with each result, in the order of the files.
void RebuildAll(const RebuildArguments& arguments,
                const std::vector<RebuildFile>& files,
                const std::function<void(RebuildResult)>& emit) {
  uint64_t bytes = 0;
  std::vector<size_t> order;
  for (const RebuildFile& file : files) {
    order.push_back(order.size());
    bytes += file.size_bytes;
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return files[a].size_bytes > files[b].size_bytes;
  });
  RebuildProgress progress(files.size(), bytes, arguments.progress_seconds);
  std::atomic<size_t> next = 0;
  std::vector<std::optional<RebuildResult>> results(files.size());
  size_t emitted = 0;
  const auto work = [&] {
    for (size_t i; (i = next++) < order.size();) {
      RebuildResult result = RebuildOne(arguments, files[order[i]], &progress);
      progress.Around([&] {
        results[order[i]] = std::move(result);
        for (; emitted < results.size() && results[emitted]; ++emitted) {
          emit(*std::exchange(results[emitted], std::nullopt));
        }
      });
    }
  };
  std::vector<std::thread> threads;
  const size_t jobs =
      std::min(static_cast<size_t>(arguments.jobs), files.size());
  while (threads.size() + 1 < jobs) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

// Removes what killed runs left in the places of these files, and says so.
void CleanUp(const std::vector<RebuildFile>& files, Json* summary) {
  std::vector<std::string> outs;
  for (const RebuildFile& file : files) {
    outs.push_back(platform::TextOf(file.out));
  }
  const Leftovers leftovers = RemoveLeftovers(outs);
  for (const std::string& path : leftovers.removed) {
    std::cerr << "rowbloom: " << EscapeControls(path)
              << ": removed; a run that was killed left it\n";
  }
  for (const std::string& path : leftovers.locked) {
    std::cerr << "rowbloom: " << EscapeControls(path)
              << ": not removed; another run may be writing it\n";
  }
  (*summary)["leftovers_removed"] = leftovers.removed.size();
}

int RunRebuild(const RebuildArguments& arguments) {
  const bool is_one = arguments.into.empty();
  std::vector<RebuildFile> files = NamedFiles(arguments);
  if (const absl::Status status = ExamineFiles(is_one, &files); !status.ok()) {
    PrintError(status);
    if (arguments.json) {
      PrintDocument("rowbloom-rebuild", {{"error", ErrorText(status)}});
    }
    return FlushOutput(kExitUsage);
  }
  int exit_code = kExitOk;
  Json summary{{"files", files.size()}};
  for (const char* count : {"written", "kept", "left_out", "failed"}) {
    summary[count] = 0;
  }
  CleanUp(files, &summary);
  Json entries = Json::array();
  RebuildAll(arguments, files, [&](RebuildResult done) {
    if (!done.status.ok()) PrintError(done.status);
    exit_code = WorseExitCode(exit_code, ExitCodeOf(done.status));
    Json& count = summary[done.entry["result"].get<std::string>()];
    count = count.get<uint64_t>() + 1;
    if (!arguments.json) {
      std::cout << EntryText(done.entry, is_one) << std::flush;
    }
    entries.push_back(std::move(done.entry));
  });
  if (arguments.json) {
    PrintDocument("rowbloom-rebuild",
                  is_one ? entries[0]
                         : Json{{"files", std::move(entries)},
                                {"summary", std::move(summary)}});
  } else if (!is_one) {
    std::cout << "sum\n" << FieldLines(summary);
  }
  return FlushOutput(exit_code);
}

}  // namespace

void AddRebuild(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<RebuildArguments>();
  CLI::App* verb = app->add_subcommand(
      "rebuild", "Write HFiles again, with new filters from their cells");
  verb->add_option("IN OUT", arguments->paths,
                   "The HFile, and the new one, which must not exist; with "
                   "--into any number of HFiles and directories")
      ->required();
  verb->add_option("--into", arguments->into,
                   "The directory of the new files, which keep their names and "
                   "places. Files that it has are kept: run it again to go on");
  const auto add = [&](const char* name, std::string* value,
                       const std::vector<std::string>& names) {
    verb->add_option(name, *value, absl::StrJoin(names, ", "))
        ->check(CLI::IsMember(names, CLI::ignore_case));
  };
  add("--bloom_type", &arguments->bloom_type,
      {"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"});
  verb->add_option("--prefix_length", arguments->prefix_length,
                   "Length in bytes of the prefix of ROWPREFIX_FIXED_LENGTH")
      ->transform(WholeNumber())
      ->check(CLI::Range(1, 32767));
  verb->add_option("--error_rate", arguments->error_rate,
                   "False positive rate, as io.storefile.bloom.error.rate; "
                   "default: the file's")
      ->check(ErrorRate());
  verb->add_option(
          "--chunk_size", arguments->chunk_size,
          "Size in bytes of a Bloom chunk, as io.storefile.bloom.block.size; "
          "default: the file's")
      ->transform(WholeNumber());
  verb->add_option("--max_fold", arguments->max_fold,
                   "As io.storefile.bloom.max.fold; default: the file's")
      ->transform(WholeNumber());
  add("--hash", &arguments->hash, {"JENKINS", "MURMUR", "MURMUR3"});
  add("--compression", &arguments->compression,
      {"NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"});
  add("--encoding", &arguments->encoding,
      {"NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"});
  verb->add_option("--block_size", arguments->block_size,
                   "Size in bytes of a data block; default: the file's")
      ->transform(WholeNumber());
  verb->add_option("-j,--jobs", arguments->jobs,
                   "Rebuild this many files at once, each by a thread")
      ->transform(WholeNumber())
      ->check(CLI::Range(1, UnfinishedFile::kMaxAtOnce))
      ->capture_default_str();
  verb->add_option("--progress", arguments->progress_seconds,
                   "Seconds between lines of progress on standard error; 0: "
                   "none; default: 1 on a terminal, 60 elsewhere")
      ->transform(WholeNumber());
  verb->add_flag("--widest", arguments->widest,
                 "Write files that HBase 0.98 to 4 all open");
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-rebuild)");
  verb->callback(
      [arguments, exit_code] { *exit_code = RunRebuild(*arguments); });
}

}  // namespace rowbloom::tools
