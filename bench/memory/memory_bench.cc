// SPDX-License-Identifier: Apache-2.0
//
// The resident memory of writers of filters, and of readers and their cache, as
// the system sees it.
//
//   memory_bench sst --json memory_sst.json

#include "bench/memory/measures.h"

int main(int argc, char** argv) {
  using namespace rowbloom::bench;
  MemoryOptions options;
  Json (*measure)(const MemoryOptions&) = nullptr;
  CLI::App app("Resident memory, as the system sees it.");
  app.require_subcommand(1);
  const auto command = [&](const char* name, const char* help,
                           Json (*function)(const MemoryOptions&)) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->add_flag("--quick", options.quick, "Small options, for a test");
    sub->callback([&measure, function] { measure = function; });
    return sub;
  };
  CLI::App* sst =
      command("sst", "Of a process that writes SSTs, by filter", MeasureSsts);
  sst->add_option("--filters", options.filters, "Filters")->delimiter(',');
  sst->add_option("--keys", options.keys, "Keys of the SST of one thread")
      ->delimiter(',');
  command("cache", "Of a reader cache whose chunks change", MeasureCaches);
  command("readers", "Of open readers", MeasureReaders);
  return RunToJson("memory_bench", &app, argc, argv,
                   [&] { return measure(options); });
}
