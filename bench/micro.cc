// SPDX-License-Identifier: Apache-2.0

#include "bench/micro.h"

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "bench/machine.h"
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define ROWBLOOM_BENCH_CALLGRIND
#endif

namespace rowbloom::bench {
namespace {

std::atomic<uint64_t> wrong_answers{0};

}  // namespace

void CountWrongAnswers(uint64_t count) { wrong_answers += count; }

void CountInstructions([[maybe_unused]] const std::string& name,
                       [[maybe_unused]] size_t count,
                       [[maybe_unused]] const std::function<void()>& work) {
#ifdef ROWBLOOM_BENCH_CALLGRIND
  static auto* const counted = new std::set<std::string>;
  if (RUNNING_ON_VALGRIND == 0 || !counted->insert(name).second) return;
  const std::string text = name + " " + std::to_string(count);
  work();  // The first call binds functions.
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS;  // Counts of all threads are 0 now.
  work();
  // The script finds the text in the name of the profile.
  CALLGRIND_DUMP_STATS_AT(text.c_str());
  CALLGRIND_STOP_INSTRUMENTATION;
#endif
}

int RunMicro(const char* name, CLI::App* app, int argc, char** argv,
             const std::function<void()>& add_benchmarks) {
  app->allow_extras();
  app->footer(
      "Further flags are Google Benchmark's: --benchmark_list_tests,\n"
      "--benchmark_filter=REGEX, --benchmark_min_time=SECONDS,\n"
      "--benchmark_repetitions=N, --benchmark_report_aggregates_only=true,\n"
      "--benchmark_enable_random_interleaving=true, "
      "--benchmark_out=FILE.json.\n");
  return RunProgram(name, app, argc, argv, [&] {
    std::vector<std::string> rest = app->remaining();
    rest.insert(rest.begin(), name);
    std::vector<char*> arguments;
    for (std::string& argument : rest) arguments.push_back(argument.data());
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (count > 1) {
      throw UsageError(std::string("unknown flag ") + arguments[1]);
    }
    benchmark::AddCustomContext("format_version", "1");
    const nlohmann::ordered_json machine = MachineJson();
    for (const auto& [key, value] : machine.items()) {
      benchmark::AddCustomContext(
          key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    add_benchmarks();
    if (benchmark::RunSpecifiedBenchmarks() == 0) {
      throw UsageError("no benchmark has such a name");
    }
    if (wrong_answers == 0) return 0;
    throw std::runtime_error(std::to_string(wrong_answers) + " wrong answers");
  });
}

}  // namespace rowbloom::bench
