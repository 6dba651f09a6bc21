// SPDX-License-Identifier: Apache-2.0
//
// point_get_bench: the data-block reads that row and row+column filters of each
// family save in a RocksDB tree, beside RocksDB's own filters on the same data.
// See bench/README.md.
//
// Exit codes: 0 fine; 1 a wrong answer or a failure; 2 usage; 130 interrupted.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/json_file.h"
#include "bench/program.h"
#include "bench/progress.h"
#include "bench/work_directory.h"
#include "dataset.h"
#include "measure.h"
#include "options.h"
#include "policies.h"
#include "report.h"
#include "tree.h"
#include "workload.h"

namespace rowbloom::point_get {
namespace {

// Filters within this of the wanted bytes or bits count as equal.
constexpr double kTolerance = 0.02;

void DefineFlags(CLI::App* app, Options* o) {
  app->add_option("--input", o->input,
                  "File of row<TAB>column lines to load (default: --words)");
  app->add_option("--words", o->words,
                  "File of words; each is a row with some of eight columns")
      ->capture_default_str();
  app->add_option("--rows", o->row_count, "Rows to load; 0 means all")
      ->capture_default_str();
  app->add_option("--gets", o->get_count,
                  "Point gets per policy, query and mix")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100000000}))
      ->capture_default_str();
  app->add_option("--bits_per_key", o->bits_per_key,
                  "Bits per filter key, or a list: 8,10,16")
      ->delimiter(',')
      ->check(CLI::Range(1.0, 24.0))
      ->capture_default_str();
  app->add_option("--policies", o->policies, "Only these (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember(PolicyNames()));
  app->add_option("--family", o->family,
                  "Filter family of rowbloom_row and rowbloom_rowcol")
      ->capture_default_str();
  app->add_flag("!--no_equal_filter_bytes", o->equal_filter_bytes,
                "Leave out the comparison at rocksdb_bloom's bytes per key");
  app->add_flag("!--no_equal_fpr", o->equal_fpr,
                "Leave out the comparison at rocksdb_bloom's rate");
  app->add_option("--levels", o->level_count, "Levels of the tree")
      ->check(CLI::Range(1, 6))
      ->capture_default_str();
  app->add_option("--level_ratio", o->level_ratio,
                  "How many times larger each level is than the one above")
      ->check(CLI::Range(1.0, 100.0))
      ->capture_default_str();
  app->add_option("--file_size_bytes", o->file_size_bytes,
                  "Size limit of the tree's files")
      ->check(CLI::Range(uint64_t{1} << 16, uint64_t{1} << 40))
      ->capture_default_str();
  app->add_option("--block_size_bytes", o->block_size_bytes,
                  "RocksDB's data block size")
      ->check(CLI::Range(uint64_t{256}, uint64_t{1} << 20))
      ->capture_default_str();
  app->add_option("--value_size_bytes", o->value_size_bytes, "Size of values")
      ->check(CLI::Range(uint64_t{8}, uint64_t{1} << 20))
      ->capture_default_str();
  app->add_option(
      "--directory", o->directory,
      "Where to put the databases (default: a temporary directory)");
  app->add_flag("--keep_databases", o->keep_databases,
                "Do not remove the databases at the end");
  app->add_flag("--direct_reads", o->direct_reads,
                "Read data blocks past the system's page cache");
  app->add_option("--json", o->json, "Write the results to this file too");
}

class Benchmark {
 public:
  Benchmark(const Options& options, bench::Progress* progress)
      : options_(options),
        progress_(progress),
        data_(Load()),
        directory_(options.directory, "point_get_bench",
                   options.keep_databases) {
    report_.input = options.input.empty() ? options.words : options.input;
    report_.row_count = data_.row_count();
    report_.cell_count = data_.cell_count();
    report_.qualifier_count = data_.qualifier_count();
    MakeGets();
  }

  const Report& Run() {
    for (const double bits : options_.bits_per_key) CompareAt(bits);
    if (options_.keep_databases) {
      std::fprintf(stderr, "The databases are in %s\n",
                   directory_.path().c_str());
    }
    return report_;
  }

 private:
  struct GetList {
    Query query;
    Mix mix;
    std::vector<PointGet> gets;
  };

  Dataset Load() {
    progress_->Begin("read the input", 0);
    Dataset data = options_.input.empty()
                       ? Dataset::FromWords(options_.words, options_.row_count)
                       : Dataset::FromCells(options_.input, options_.row_count);
    progress_->End();
    return data;
  }

  void MakeGets() {
    progress_->Begin("choose the point gets", 0);
    const ZipfSampler zipf(data_.row_count());
    for (const Query query : kReportedQueries) {
      for (const Mix mix : kMixes) {
        gets_.push_back(
            {query, mix,
             MakePointGets(data_, query, mix, zipf, options_.get_count)});
      }
    }
    // A filter must not lose these rows. They are asked, but not reported.
    present_rows_ = MakePointGets(
        data_, Query::kPresentRow, Mix::kUniform, zipf,
        std::min<uint64_t>(options_.get_count, kPresentRowChecks));
    progress_->End();
  }

  void CompareAt(double bits) {
    Comparison equal_bits;
    equal_bits.sizing = kEqualBits;
    equal_bits.bits_per_key = bits;
    for (const std::string& name : PolicyNames()) {
      if (!Wanted(name)) continue;
      equal_bits.results.push_back(
          name == kNone ? MeasureNone() : BuildAndMeasure(name, bits, {}));
    }
    report_.comparisons.push_back(equal_bits);
    if (!Wanted(kRocksDbBloom)) return;
    const PolicyResult& bloom = *std::find_if(
        equal_bits.results.begin(), equal_bits.results.end(),
        [](const PolicyResult& r) { return r.policy == kRocksDbBloom; });

    if (options_.equal_filter_bytes) {
      Comparison equal_bytes;
      equal_bytes.sizing = kEqualBytes;
      equal_bytes.bits_per_key = bits;
      for (const PolicyResult& result : equal_bits.results) {
        equal_bytes.results.push_back(AtFilterBytes(result, bloom));
      }
      report_.comparisons.push_back(std::move(equal_bytes));
    }
    if (options_.equal_fpr) {
      Comparison equal_fpr;
      equal_fpr.sizing = kEqualFpr;
      equal_fpr.bits_per_key = bits;
      equal_fpr.target_fpr = ObservedFpr(bloom);
      for (const PolicyResult& result : equal_bits.results) {
        equal_fpr.results.push_back(AtFpr(result, equal_fpr.target_fpr));
      }
      report_.comparisons.push_back(std::move(equal_fpr));
    }
  }

  bool Wanted(const std::string& policy) const {
    return options_.policies.empty() ||
           std::find(options_.policies.begin(), options_.policies.end(),
                     policy) != options_.policies.end();
  }

  // No filter is the same at any size.
  const PolicyResult& MeasureNone() {
    if (none_.policy.empty()) none_ = BuildAndMeasure(kNone, 0, {});
    return none_;
  }

  // The same policy with filters that take as many bytes for each of their
  // keys as those of `bloom`.
  PolicyResult AtFilterBytes(const PolicyResult& result,
                             const PolicyResult& bloom) {
    const double wanted = static_cast<double>(bloom.filter_size.bytes) *
                          static_cast<double>(result.filter_size.key_count) /
                          static_cast<double>(bloom.filter_size.key_count);
    const double bytes_before = static_cast<double>(result.filter_size.bytes);
    if (bytes_before == 0 ||
        std::abs(bytes_before / wanted - 1) <= kTolerance) {
      return result;
    }
    const double bits_before = result.bits_per_key;
    const double bits =
        ClampBitsPerKey(result.policy, bits_before * wanted / bytes_before);
    // Bytes need not be proportional to bits; then a line through both sizes
    // comes close enough.
    const auto better_bits = [&](const FilterSize& size) {
      const double bytes_now = static_cast<double>(size.bytes);
      if (std::abs(bytes_now / wanted - 1) <= kTolerance) return bits;
      return ClampBitsPerKey(
          result.policy, bits + (wanted - bytes_now) * (bits - bits_before) /
                                    (bytes_now - bytes_before));
    };
    return BuildAndMeasure(result.policy, bits, better_bits);
  }

  // Over all gets.
  static double ObservedFpr(const PolicyResult& result) {
    uint64_t false_positives = 0;
    uint64_t lookups = 0;
    for (const auto& run : result.runs) {
      false_positives += run.measurement.false_positives;
      lookups += run.measurement.reads.filter_lookups -
                 run.measurement.necessary_reads;
    }
    return static_cast<double>(false_positives) / static_cast<double>(lookups);
  }

  // The same policy with as few bits per key as that rate needs. RocksDB's
  // Ribbon is asked for a Bloom filter's rate as it is.
  PolicyResult AtFpr(const PolicyResult& result, double fpr) {
    const std::optional<double> bits =
        BitsPerKeyForFpr(result.policy, fpr, options_.family);
    if (!bits || std::abs(*bits / result.bits_per_key - 1) <= kTolerance) {
      return result;
    }
    return BuildAndMeasure(result.policy, *bits, {});
  }

  // `better_bits`, if given, may ask for other bits once the size is known.
  PolicyResult BuildAndMeasure(
      const std::string& name, double bits,
      const std::function<double(const FilterSize&)>& better_bits) {
    char label[64];
    std::snprintf(label, sizeof(label), bits == 0 ? "%s" : "%s at %.4g bits",
                  name.c_str(), bits);
    progress_->Begin(std::string("load ") + label, data_.cell_count());
    const Policy policy = MakePolicy(name, bits, options_.family);
    const Tree tree(
        TreeOptionsOf(options_),
        [this](int level, const PutCell& put) { PutLevel(level, put); }, policy,
        NewDatabasePath(name, bits), progress_);
    progress_->End();
    if (policy.filter != nullptr && tree.filter_size().files_without != 0) {
      throw std::runtime_error("files were written without the filter of " +
                               name);
    }
    if (better_bits) {
      const double better = better_bits(tree.filter_size());
      if (better != bits) return BuildAndMeasure(name, better, {});
    }
    CheckShape(tree, name);

    PolicyResult result;
    result.policy = name;
    result.bits_per_key = bits;
    result.filter_size = tree.filter_size();
    progress_->Begin(std::string("ask ") + label,
                     gets_.size() * options_.get_count + present_rows_.size());
    for (const GetList& list : gets_) {
      result.runs.push_back(
          {list.query, list.mix, Ask(tree, list.query, list.gets)});
    }
    Ask(tree, Query::kPresentRow, present_rows_);
    progress_->End();
    return result;
  }

  static TreeOptions TreeOptionsOf(const Options& options) {
    TreeOptions tree;
    tree.level_count = options.level_count;
    tree.file_size_bytes = options.file_size_bytes;
    tree.block_size_bytes = options.block_size_bytes;
    tree.direct_reads = options.direct_reads;
    tree.keep_database = options.keep_databases;
    return tree;
  }

  void PutLevel(int level, const PutCell& put) const {
    const LevelChooser chooser(options_.level_count, options_.level_ratio);
    std::string value;
    for (size_t i = 0; i < data_.row_count(); ++i) {
      for (const uint32_t q : data_.columns(i)) {
        if (chooser.Level(data_.row(i), q) != level) continue;
        const std::string key = EncodeKey(data_.row(i), data_.qualifier(q));
        MakeValue(key, options_.value_size_bytes, &value);
        put(key, value);
      }
    }
  }

  std::string NewDatabasePath(const std::string& policy, double bits) {
    char name[64];
    std::snprintf(name, sizeof(name), "%02d-%s-%.4g", ++database_count_,
                  policy.c_str(), bits);
    return directory_.path() + "/" + name;
  }

  Measurement Ask(const Tree& tree, Query query,
                  const std::vector<PointGet>& gets) {
    Measurement m = Measure(tree.db(), query, gets, options_.value_size_bytes,
                            options_.level_count, progress_);
    report_.answers_checked += m.gets;
    report_.wrong_answers += m.wrong_answers;
    return m;
  }

  void CheckShape(const Tree& tree, const std::string& name) {
    if (report_.levels.empty()) report_.levels = tree.levels();
    if (!(report_.levels == tree.levels())) {
      throw std::runtime_error("the tree of " + name +
                               " differs in shape from the others'");
    }
  }

  static constexpr uint64_t kPresentRowChecks = 50000;

  const Options& options_;
  bench::Progress* const progress_;
  const Dataset data_;
  const bench::WorkDirectory directory_;
  std::vector<GetList> gets_;
  std::vector<PointGet> present_rows_;
  PolicyResult none_;
  int database_count_ = 0;
  Report report_;
};

void PrintReport(const Options& options, const Report& report) {
  PrintTree(report, std::cout);
  // Filters that were asked for equal bits and those that have them are the
  // same but for Ribbon's.
  const std::string headline =
      std::any_of(report.comparisons.begin(), report.comparisons.end(),
                  [](const Comparison& c) { return c.sizing == kEqualBytes; })
          ? kEqualBytes
          : kEqualBits;
  for (const Comparison& comparison : report.comparisons) {
    if (comparison.sizing == headline) PrintQueries(comparison, std::cout);
  }
  for (const Comparison& comparison : report.comparisons) {
    if (comparison.sizing == headline || comparison.sizing == kEqualFpr) {
      PrintSummary(comparison, std::cout);
    }
  }
  for (const Comparison& comparison : report.comparisons) {
    if (comparison.sizing == headline) PrintChart(comparison, std::cout);
  }
  std::cout << "\nReads are counted by RocksDB. Data blocks are not cached; "
               "indexes and filters are\nin memory. Times are with files in "
            << (options.direct_reads ? "no cache" : "the system's page cache")
            << ".\n"
            << report.answers_checked << " answers checked, "
            << report.wrong_answers << " wrong.\n";
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Point gets in a RocksDB tree with row and row+column filters: how many "
      "data blocks\nare read with no filter, RocksDB's Bloom and Ribbon, and "
      "rowbloom's ROW and ROWCOL.");
  DefineFlags(&app, &options);
  return bench::RunProgram("point_get_bench", &app, argc, argv, [&] {
    const bench::JsonFile json(options.json);

    bench::Progress progress;
    Benchmark benchmark(options, &progress);
    const Report& report = benchmark.Run();
    PrintReport(options, report);
    json.Write(ToJson(options, report));
    return report.wrong_answers == 0 ? 0 : bench::kExitFailure;
  });
}

}  // namespace
}  // namespace rowbloom::point_get

int main(int argc, char** argv) {
  return rowbloom::point_get::Main(argc, argv);
}
