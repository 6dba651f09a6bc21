// SPDX-License-Identifier: Apache-2.0
//
// rowbloom rebuild: copies HFiles and gives them other filters.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "rowbloom/bloom_type.h"
#include "rowbloom/hfile.h"
#include "rowbloom/hfile_writer.h"
#include "rowbloom/io.h"
#include "tools/formats/filter_file.h"
#include "tools/formats/paths.h"
#include "tools/hbase/versions.h"
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
  uint32_t block_size = HFileWriterOptions().block_size_bytes;
  bool widest = false;
  bool json = false;
};

// A file that is removed when this object or the process ends, unless it was
// given its name before. One at a time.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(const std::string& out)
      : path_(out + ".unfinished." + std::to_string(getpid())) {
    std::snprintf(for_signals_, sizeof(for_signals_), "%s", path_.c_str());
    struct sigaction action = {};
    action.sa_handler = RemoveAndEnd;
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
      struct sigaction before = {};
      sigaction(signal, nullptr, &before);
      // nohup ignores SIGHUP, a shell SIGINT in the background.
      if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
    // A write beyond the limit of the shell is an error like any other.
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, nullptr);
  }
  ~UnfinishedFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
    for_signals_[0] = '\0';
  }
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  static void RemoveAndEnd(int number) {
    unlink(for_signals_);
    signal(number, SIG_DFL);
    raise(number);
  }

  static inline char for_signals_[PATH_MAX] = "";
  const std::string path_;
};

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
  if (arguments.prefix_length > 0) {
    if (options.bloom_type != BloomType::kRowPrefixFixedLength) {
      return absl::FailedPreconditionError(
          "--prefix_length is of bloom type ROWPREFIX_FIXED_LENGTH, and this "
          "is " +
          std::string(BloomTypeName(options.bloom_type)));
    }
    options.prefix_length_bytes = arguments.prefix_length;
  }
  if (arguments.error_rate.has_value()) {
    options.error_rate = *arguments.error_rate;
  }
  if (arguments.chunk_size.has_value()) {
    options.chunk_size_bytes = *arguments.chunk_size;
    options.max_fold = HFileWriterOptions().max_fold;
  }
  if (arguments.max_fold.has_value()) options.max_fold = *arguments.max_fold;
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

// The properties of a file and its general filter. `rate` is the error rate
// that it was written for.
Json Describe(const HFileReader& reader, uint64_t file_bytes, float rate) {
  const HFileProperties& properties = reader.properties();
  const HFileBloomInfo& filter = reader.general_filter();
  HFileWriterOptions options = OptionsOf(reader);
  options.error_rate = rate;
  const auto plan = PlanHFileFilter(options, filter.key_count);
  const bool has_filter = filter.is_usable && plan.ok();
  return {
      {"bloom_type", std::string(BloomTypeName(filter.bloom_type))},
      {"key_count", filter.key_count},
      {"hash_count", filter.hash_count},
      {"chunk_count", filter.chunks.size()},
      {"filter_size_bytes", filter.size_bytes},
      {"file_size_bytes", file_bytes},
      {"error_rate", has_filter ? Json(std::round(rate * 1e6) / 1e6) : Json()},
      {"expected_fpr", has_filter ? Json(plan->expected_fpr) : Json()},
      {"hfile_version", std::to_string(properties.major_version) + "." +
                            std::to_string(properties.minor_version)},
      {"encoding", std::string(HFileEncodingName(properties.encoding))}};
}

// Opens the file again, verifies it and describes it.
absl::Status VerifyAndDescribe(const std::string& path, float rate,
                               Json* after) {
  const auto source = OpenFileSource(path);
  if (!source.ok()) return source.status();
  const auto reader = HFileReader::Open(source->get());
  if (!reader.ok()) return reader.status();
  absl::Status status = (*reader)->Verify(/*with_keys=*/true);
  if (status.ok()) *after = Describe(**reader, (*source)->size_bytes(), rate);
  return status;
}

absl::Status Write(const RebuildArguments& arguments, const std::string& in,
                   const std::string& path, Json* fields) {
  const auto source = OpenFileSource(in);
  if (!source.ok()) return source.status();
  const auto reader = HFileReader::Open(source->get());
  if (!reader.ok()) return reader.status();
  auto options = OptionsFor(arguments, in, **reader);
  if (!options.ok()) return options.status();
  absl::Status status = ReadMetaBlocks(in, **reader, &*options);
  if (!status.ok()) return status;
  const auto sink = OpenFileSink(path);
  if (!sink.ok()) return sink.status();
  const auto writer = HFileWriter::Make(*options, sink->get());
  if (!writer.ok()) return writer.status();
  status = CopyCells(in, **reader, writer->get());
  if (status.ok()) status = (*sink)->SyncAndClose();
  if (!status.ok()) return status;
  if (const char* note = ChecksumNote((*reader)->properties())) {
    (*fields)["note"] = in + " " + note;
  }
  (*fields)["before"] = Describe(**reader, (*source)->size_bytes(),
                                 OptionsOf(**reader).error_rate);
  return VerifyAndDescribe(path, options->error_rate, &(*fields)["after"]);
}

// The kind of an HFile, or of a file that HBase keeps among them. The error
// says what is wrong with another one: InvalidArgument if its format is
// another.
absl::StatusOr<std::string> KindOf(const std::string& in,
                                   const std::string& place) {
  const auto file = OpenFilterFile(in, place);
  if (!file.ok()) {
    const std::string message(file.status().message());
    const bool has_path = message.rfind(in, 0) == 0;
    return absl::Status(file.status().code(),
                        has_path ? message : in + ": " + message);
  }
  const std::string kind((*file)->kind());
  for (const char* known :
       {kHFile, kReference, "hfile_link", "unfinished", "recovered_edits"}) {
    if (kind == known) return kind;
  }
  return absl::InvalidArgumentError(in + ": not an HFile, but of the kind " +
                                    kind);
}

// Rebuilds an HFile.
absl::Status Rebuild(const RebuildArguments& arguments, const std::string& in,
                     const std::string& out, Json* fields) {
  std::error_code error;
  if (fs::exists(out, error)) return absl::AlreadyExistsError(out + ": exists");
  // The name appears when the file is complete.
  const UnfinishedFile unfinished(out);
  absl::Status status = Write(arguments, in, unfinished.path(), fields);
  const std::string message(status.message());
  // An option does not suit the file, or a write failed: no damage.
  if (absl::IsInvalidArgument(status) ||
      message.rfind(unfinished.path() + ": write", 0) == 0) {
    return absl::FailedPreconditionError(message);
  }
  if (!status.ok()) return status;
  fs::rename(unfinished.path(), out, error);
  if (error) return absl::UnavailableError(out + ": " + error.message());
  return absl::OkStatus();
}

// Says in what the file differs from one that is written with these options
// from `source`; empty if in nothing that either tells. Block sizes are in no
// file.
std::string DifferenceFrom(const HFileWriterOptions& options,
                           const HFileReader& source, const HFileReader& file) {
  const HFileProperties& properties = file.properties();
  const HFileBloomInfo& filter = file.general_filter();
  if (properties.cell_count != source.properties().cell_count) {
    return "it has " + std::to_string(properties.cell_count) +
           " cells, and the source has " +
           std::to_string(source.properties().cell_count);
  }
  // The sequence id is among them.
  if (OptionsOf(file).file_info != options.file_info) {
    return "its file info is another";
  }
  if (properties.compression != options.compression) {
    return "its compression is " +
           std::string(HFileCompressionName(properties.compression));
  }
  if (options.profile == HFileProfile::kWidest &&
      HBaseVersionsFor(file).rfind("0.98", 0) != 0) {
    return "HBase 0.98 does not open it";
  }
  if (properties.cell_count == 0) return "";  // Then there is no filter.
  if (filter.bloom_type != options.bloom_type) {
    return "its bloom type is " + std::string(BloomTypeName(filter.bloom_type));
  }
  if (options.bloom_type == BloomType::kNone) return "";
  const bool has_prefix_length =
      options.bloom_type != BloomType::kRowPrefixFixedLength ||
      filter.prefix_length_bytes == options.prefix_length_bytes;
  const auto plan = PlanHFileFilter(options, filter.key_count);
  const bool is_planned = plan.ok() && filter.is_usable &&
                          filter.hash == options.hash && has_prefix_length &&
                          filter.hash_count == plan->hash_count &&
                          filter.chunks.size() == plan->chunk_count &&
                          filter.size_bytes == plan->size_bytes;
  return is_planned ? "" : "its filter has another size, rate or hash";
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
  const auto source = OpenFileSource(in);
  if (!source.ok()) return source.status();
  const auto reader = HFileReader::Open(source->get());
  if (!reader.ok()) return reader.status();
  const auto options = OptionsFor(arguments, in, **reader);
  if (!options.ok()) return options.status();
  const auto kept_source = OpenFileSource(out);
  if (!kept_source.ok()) return kept_source.status();
  const auto kept = HFileReader::Open(kept_source->get());
  if (!kept.ok()) return refuse(std::string(kept.status().message()));
  const std::string difference = DifferenceFrom(*options, **reader, **kept);
  if (!difference.empty()) return refuse(difference);
  const absl::Status status = (*kept)->Verify(/*with_keys=*/true);
  if (!status.ok()) return refuse(std::string(status.message()));
  return absl::OkStatus();
}

std::string ErrorText(const absl::Status& status) {
  return EscapeControls(std::string(status.message()));
}

int RunOne(const RebuildArguments& arguments) {
  const std::string& in = arguments.paths[0];
  const std::string& out = arguments.paths[1];
  Json fields{{"path", EscapeControls(in)}, {"out", EscapeControls(out)}};
  std::error_code error;
  absl::Status status;
  if (fs::exists(out, error)) {
    status = absl::AlreadyExistsError(out + ": exists");
  } else if (const auto kind = KindOf(in, ""); !kind.ok()) {
    status = kind.status();
  } else if (*kind != kHFile) {
    status = absl::InvalidArgumentError(
        in + ": not an HFile, but of the kind " + *kind);
  } else {
    status = Rebuild(arguments, in, out, &fields);
  }
  if (arguments.json) {
    if (!status.ok()) fields["error"] = ErrorText(status);
    PrintDocument("rowbloom-rebuild", fields);
  }
  if (!status.ok()) {
    std::cerr << "rowbloom: " << ErrorText(status) << "\n";
    ExitCode exit_code;
    exit_code.Add(status);
    return exit_code.value();
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
    if (fields.contains("note")) {
      std::cout << EscapeControls(fields["note"].get<std::string>()) << "\n";
    }
  }
  return FlushOutput(kExitOk);
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

// A file of a run with --into.
struct IntoFile {
  TargetFile target;
  fs::path out;
  std::string kind = {};
};

bool IsWithin(const fs::path& path, const fs::path& directory) {
  std::error_code error;
  const fs::path below =
      fs::weakly_canonical(path, error)
          .lexically_relative(fs::weakly_canonical(directory, error));
  return !below.empty() && *below.begin() != "..";
}

// All files below the arguments, each once. Throws if the new files would be
// among them.
std::vector<IntoFile> FilesFor(const RebuildArguments& arguments) {
  std::vector<IntoFile> files;
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

// Fills in the kinds and the errors. FailedPrecondition if one is a reference:
// it would break when the file that it names is replaced.
absl::Status FindKinds(std::vector<IntoFile>* files) {
  for (IntoFile& file : *files) {
    if (!file.target.error.ok()) continue;
    const auto kind = KindOf(file.target.path, file.target.place);
    file.target.error = kind.status();
    if (kind.ok()) file.kind = *kind;
    if (file.kind != kReference) continue;
    return absl::FailedPreconditionError(
        file.target.path +
        ": a reference, of a region that was split or merged, to a file that "
        "would be replaced. Run major_compact on the table first, and rebuild "
        "when it has no references");
  }
  return absl::OkStatus();
}

// Rebuilds all files below the arguments. Keeps those that an earlier run
// wrote.
int RunInto(const RebuildArguments& arguments) {
  std::vector<IntoFile> files = FilesFor(arguments);
  if (const absl::Status status = FindKinds(&files); !status.ok()) {
    std::cerr << "rowbloom: " << ErrorText(status) << "\n";
    if (arguments.json) {
      PrintDocument("rowbloom-rebuild", {{"error", ErrorText(status)}});
    }
    return FlushOutput(kExitUsage);
  }
  ExitCode exit_code;
  Json summary{{"files", 0},    {"written", 0}, {"kept", 0},
               {"left_out", 0}, {"failed", 0},  {"filter_size_bytes", 0}};
  Json entries = Json::array();
  std::set<fs::path> seen;
  ProgressLine progress;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto& [target, out, kind] = files[i];
    Json entry{{"path", EscapeControls(target.path)},
               {"out", EscapeControls(out.string())}};
    absl::Status status = target.error;
    const char* word = "written";
    std::error_code error;
    progress.Show(i, files.size(), target.path);
    if (!status.ok()) {
      // Told below.
    } else if (kind != kHFile) {
      word = "left_out";
      entry["note"] = ErrorText(absl::InvalidArgumentError(
          target.path + ": left out: of the kind " + kind));
    } else if (!seen.insert(out).second) {
      status = absl::AlreadyExistsError(out.string() +
                                        ": is of another file of this run");
    } else if (fs::exists(out, error)) {
      word = "kept";
      status = CheckKept(arguments, target.path, out.string());
    } else {
      fs::create_directories(out.parent_path(), error);
      status = Rebuild(arguments, target.path, out.string(), &entry);
    }
    progress.Clear();
    if (!status.ok()) {
      word = "failed";
      entry["error"] = ErrorText(status);
      std::cerr << "rowbloom: " << ErrorText(status) << "\n";
    }
    exit_code.Add(status);
    entry["result"] = word;
    summary["files"] = summary["files"].get<uint64_t>() + 1;
    summary[word] = summary[word].get<uint64_t>() + 1;
    if (entry.contains("after")) {
      summary["filter_size_bytes"] =
          summary["filter_size_bytes"].get<uint64_t>() +
          entry["after"]["filter_size_bytes"].get<uint64_t>();
    }
    if (arguments.json) {
      entries.push_back(std::move(entry));
      continue;
    }
    if (entry.contains("note")) {
      std::cout << entry["note"].get<std::string>() << "\n" << std::flush;
    }
    if (status.ok() && kind == kHFile) {
      std::cout << entry["out"].get<std::string>() << ": "
                << (word == std::string("kept") ? word : "written and verified")
                << "\n"
                << std::flush;
    }
  }
  if (arguments.json) {
    PrintDocument("rowbloom-rebuild", {{"files", std::move(entries)},
                                       {"summary", std::move(summary)}});
  } else {
    std::cout << "sum\n" << FieldLines(summary);
  }
  return FlushOutput(exit_code.value());
}

int RunRebuild(const RebuildArguments& arguments) {
  if (!arguments.into.empty()) return RunInto(arguments);
  if (arguments.paths.size() != 2) {
    throw CLI::ValidationError(
        "rebuild", "needs IN and OUT, or --into with any number of paths");
  }
  return RunOne(arguments);
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
  verb->add_option("--bloom_type", arguments->bloom_type,
                   "NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH")
      ->check(CLI::IsMember({"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"},
                            CLI::ignore_case));
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
                 "Write files that HBase 0.98 to 4 all open");
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-rebuild)");
  verb->callback(
      [arguments, exit_code] { *exit_code = RunRebuild(*arguments); });
}

}  // namespace rowbloom::tools
