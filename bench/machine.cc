// SPDX-License-Identifier: Apache-2.0

#include "bench/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "bench/program.h"
#include "rowbloom/version.h"

namespace rowbloom::bench {
namespace {

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown";
}

double Seconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

nlohmann::ordered_json MachineJson() {
  utsname os = {};
  uname(&os);
  return {
      {"cpu", CpuModel()},
      {"cores", std::thread::hardware_concurrency()},
      {"memory_bytes", static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE))},
      {"os", std::string(os.sysname) + " " + os.release + " " + os.machine},
#ifdef __clang__
      {"compiler", "clang " __VERSION__},
#else
      {"compiler", "gcc " __VERSION__},
#endif
      {"build_type", ROWBLOOM_BUILD_TYPE},
      {"rowbloom_version", ROWBLOOM_VERSION_STRING},
      {"commit", ROWBLOOM_COMMIT},
      {"command", CommandLine()},
  };
}

double ThreadCpuSeconds() { return Seconds(CLOCK_THREAD_CPUTIME_ID); }
double ProcessCpuSeconds() { return Seconds(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace rowbloom::bench
