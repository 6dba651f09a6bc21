// SPDX-License-Identifier: Apache-2.0
//
// mini_kv_crash_test: kills a process that writes to a store, again and again,
// and checks the store after each kill.
//
//   mini_kv_crash_test --kills 500 [--seed S] [--directory DIR]
//
// The writer reports each acknowledged write through a pipe. It makes flushes
// and compactions all the time, and sometimes a whole compaction. SIGKILL ends
// every other writer after a random delay; the others kill themselves in a
// random file operation of a flush or a compaction, where half of an append is
// written. Sometimes a part of a record is then added to the log. Then the
// store is opened again:
//
//   - it has every acknowledged write, and nothing else; the one write that was
//     under way may be there or not
//   - every block, and every filter of every live SST, verifies
//   - no other SST, log or half-written manifest is left
//
// All kills hit one store, which the next writer continues.
//
// Exit codes: 0 fine, 1 something was lost, 2 usage.

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "../manifest.h"
#include "../mini_kv.h"
#include "../wal.h"
#include "random_cells.h"
#include "stopping_files.h"
#include "temp_directory.h"

namespace mini_kv {
namespace {

constexpr uint64_t kMaxDelayMs = 60;
constexpr uint64_t kMaxOperations = 600;
// The average number of writes for each whole compaction.
constexpr uint64_t kWritesPerCompaction = 1500;

// The writer sends kAcknowledged for each write, and at the end the text of
// where it killed itself.
constexpr char kAcknowledged = '\0';

struct Args {
  uint64_t kills = 50;
  uint64_t seed = 0;
  std::string directory;  // Empty: a temporary one.
};

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "mini_kv_crash_test: FAILED: %s\n", what.c_str());
  std::exit(1);
}

void Check(const absl::Status& status, const std::string& doing) {
  if (!status.ok()) Fail(doing + ": " + status.ToString());
}

void Send(int fd, const char* bytes, size_t size) {
  if (write(fd, bytes, size) != static_cast<ssize_t>(size)) _exit(3);
}

// In the child: writes until it is killed. stop_at 0: others kill it.
[[noreturn]] void WriteUntilKilled(const std::string& directory, uint64_t seed,
                                   uint64_t stop_at, int report_fd) {
  const MiniKv* store = nullptr;
  Stats seen;  // Stats after the last completed write.
  StoppingFiles files(
      stop_at == 0 ? std::numeric_limits<uint64_t>::max() : stop_at,
      [&](const std::string& operation) {
        std::string where = "open: ";
        if (store != nullptr) {
          // A flush comes before the compactions that it makes due.
          const bool compacts = store->stats().compactions > seen.compactions;
          where = compacts ? "compaction: " : "flush: ";
        }
        where += operation;
        Send(report_fd, where.data(), where.size());
        raise(SIGKILL);
      });
  Options options = SmallOptions();
  options.files = &files;
  const auto opened = MiniKv::Open(options, directory);
  if (!opened.ok()) _exit(4);
  store = opened->get();
  RandomCells random(seed);
  while (true) {
    if (!Apply(random.Write(), opened->get()).ok()) _exit(5);
    Send(report_fd, &kAcknowledged, 1);
    if (random.Below(kWritesPerCompaction) == 0 && !(*opened)->Compact().ok()) {
      _exit(6);
    }
    seen = store->stats();
  }
}

// The reports of a writer until its end.
struct Report {
  uint64_t acknowledged = 0;
  std::string where;  // Where it killed itself.
};

Report ReadUntilKilled(pid_t child, int fd, uint64_t delay_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(delay_ms);
  Report report;
  bool killed = false;
  while (true) {
    if (!killed) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - Clock::now());
      pollfd readable = {fd, POLLIN, 0};
      if (left.count() <= 0 ||
          poll(&readable, 1, static_cast<int>(left.count())) == 0) {
        kill(child, SIGKILL);
        killed = true;
      }
    }
    // After the kill it reads the rest of the pipe.
    char bytes[4096];
    const ssize_t size = read(fd, bytes, sizeof(bytes));
    if (size <= 0) return report;
    for (const char byte : std::string_view(bytes, static_cast<size_t>(size))) {
      if (byte == kAcknowledged) {
        ++report.acknowledged;
      } else {
        report.where.push_back(byte);
      }
    }
  }
}

// Leaves a part of another record in the log, as if the process had been killed
// while it wrote it.
bool TearLog(const std::string& directory, RandomCells* random) {
  const auto manifest = ReadManifest(directory);
  if (!manifest.ok()) return false;
  const std::string path =
      directory + "/" + FileName(FileKind::kWal, manifest->wal_number);
  const auto wal = Wal::Open(path, [](const Cell&) {});
  Check(wal.status(), "opening the log");
  const uint64_t size = std::filesystem::file_size(path);
  const ModelKey key = random->Key();
  Check((*wal)->Append({{key.first, key.second}, "torn"}), "tearing the log");
  const uint64_t written = std::filesystem::file_size(path) - size;
  std::filesystem::resize_file(path, size + 1 + random->Below(written - 1));
  return true;
}

void CheckNoFileIsLeft(const std::string& directory) {
  const auto manifest = ReadManifest(directory);
  Check(manifest.status(), "reading the manifest");
  size_t named = 1;  // The log.
  for (const auto& level : manifest->levels) named += level.size();
  const auto names = ListDirectory(directory);
  Check(names.status(), "listing the directory");
  size_t found = 0;
  for (const std::string& name : *names) {
    FileKind kind;
    uint64_t number = 0;
    if (ParseFileName(name, &kind, &number)) ++found;
    if (name == kManifestTempName) Fail(name + " is left");
  }
  if (found != named) Fail("files are left that the manifest does not name");
}

// Opens the store after a kill and compares it with *model, which then gets the
// write that was under way if the store has it.
void CheckStore(const std::string& directory, const RandomWrite& under_way,
                Model* model, uint64_t* cut_bytes) {
  auto store = MiniKv::Open(SmallOptions(), directory);
  Check(store.status(), "opening the store");
  CheckNoFileIsLeft(directory);
  const auto contents = Contents(store->get());
  Check(contents.status(), "scanning the store");
  Model with_write = *model;
  Apply(under_way, &with_write);
  if (*contents == with_write) {
    *model = with_write;
  } else if (*contents != *model) {
    Fail("the store does not hold what was acknowledged");
  }
  // The scan asks no filter. These gets ask for each cell, also for absent
  // ones.
  RandomCells keys(contents->size());
  for (const auto& [key, value] : *model) {
    const auto found = (*store)->Get(key.first, key.second);
    Check(found.status(), "reading a cell");
    if (*found != value) Fail("a get does not find an acknowledged cell");
    if (!(*store)->RowExists(key.first).value_or(false)) {
      Fail("the row of an acknowledged cell does not exist");
    }
    const ModelKey other = keys.Key();
    if (model->count(other) == 0 &&
        (*store)->Get(other.first, other.second).value_or("x")) {
      Fail("a get finds a cell that was deleted or never written");
    }
  }
  Check((*store)->Verify(), "verifying the store");
  const Stats stats = (*store)->stats();
  if (stats.unreadable_filters != 0) Fail("a live filter cannot be read");
  for (const LevelStats& level : (*store)->levels()) {
    if (level.ssts != 0 && level.filter_bytes == 0) Fail("filters are missing");
  }
  *cut_bytes += stats.cut_wal_bytes;
}

class CrashTest {
 public:
  CrashTest(const Args& args, const std::string& directory)
      : args_(args), directory_(directory), random_(args.seed) {}

  void Run() {
    for (uint64_t i = 0; i < args_.kills; ++i) KillOnce(i);
    std::printf("%llu kills, %llu acknowledged writes, %llu cells in the end\n",
                Printable(args_.kills), Printable(acknowledged_),
                Printable(model_.size()));
    std::printf("%llu bytes cut off %llu torn logs\n", Printable(cut_bytes_),
                Printable(torn_logs_));
    for (const auto& [where, count] : places_) {
      std::printf("%6llu  %s\n", Printable(count), where.c_str());
    }
    std::printf("nothing lost\n");
  }

 private:
  static unsigned long long Printable(uint64_t number) { return number; }

  void KillOnce(uint64_t number) {
    const uint64_t writer_seed = random_.Below(1ull << 60);
    const uint64_t delay_ms = 1 + random_.Below(kMaxDelayMs);
    const bool kills_itself = number % 2 == 1;
    const uint64_t stop_at =
        kills_itself ? 1 + random_.Below(kMaxOperations) : 0;
    int ends[2];
    if (pipe(ends) != 0) Fail("pipe");
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) Fail("fork");
    if (child == 0) {
      close(ends[0]);
      WriteUntilKilled(directory_, writer_seed, stop_at, ends[1]);
    }
    close(ends[1]);
    const Report report =
        ReadUntilKilled(child, ends[0], kills_itself ? 60000 : delay_ms);
    close(ends[0]);
    int ended = 0;
    if (waitpid(child, &ended, 0) != child || !WIFSIGNALED(ended) ||
        WTERMSIG(ended) != SIGKILL) {
      Fail("the writer ended by itself");
    }
    if (kills_itself && report.where.empty()) Fail("the writer hangs");
    ++places_[kills_itself ? report.where : "after a random delay"];
    acknowledged_ += report.acknowledged;

    RandomCells writes(writer_seed);
    for (uint64_t i = 0; i < report.acknowledged; ++i) {
      Apply(writes.Write(), &model_);
      writes.Below(kWritesPerCompaction);  // Draws as the writer does.
    }
    if (random_.Below(4) == 0 && TearLog(directory_, &random_)) ++torn_logs_;
    CheckStore(directory_, writes.Write(), &model_, &cut_bytes_);
  }

  const Args args_;
  const std::string directory_;
  RandomCells random_;
  Model model_;
  uint64_t acknowledged_ = 0;
  uint64_t torn_logs_ = 0;
  uint64_t cut_bytes_ = 0;
  std::map<std::string, uint64_t> places_;
};

int Usage() {
  std::fputs(
      "usage: mini_kv_crash_test [--kills N] [--seed S] [--directory DIR]\n",
      stderr);
  return 2;
}

int Main(int argc, char** argv) {
  Args args;
  args.seed = std::random_device()();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--kills") {
      args.kills = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (flag == "--seed") {
      args.seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (flag == "--directory") {
      args.directory = argv[i + 1];
    } else {
      return Usage();
    }
  }
  if (argc % 2 == 0) return Usage();
  std::printf("seed %llu\n", static_cast<unsigned long long>(args.seed));
  const TempDirectory temporary;
  CrashTest(args, args.directory.empty() ? temporary.path() : args.directory)
      .Run();
  return 0;
}

}  // namespace
}  // namespace mini_kv

int main(int argc, char** argv) { return mini_kv::Main(argc, argv); }
