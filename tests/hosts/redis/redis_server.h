// SPDX-License-Identifier: Apache-2.0
//
// A redis-server of a test's own: on a Unix socket in a new directory, without
// files, killed at the end.
//
//   RedisServer server;
//   if (!server.is_running()) GTEST_SKIP() << RedisServer::kMissing;
//   auto connection = ConnectRedis(server.options());

#ifndef ROWBLOOM_TESTS_HOSTS_REDIS_REDIS_SERVER_H_
#define ROWBLOOM_TESTS_HOSTS_REDIS_REDIS_SERVER_H_

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rowbloom/redis/connection.h"

namespace rowbloom {

class RedisServer {
 public:
  static constexpr char kMissing[] =
      "there is no redis-server (Debian: redis-server)";

  // With the module of this file, if it is not empty.
  explicit RedisServer(const std::string& module = "") : module_(module) {
    directory_ = ::testing::TempDir() + "rowbloom_redis_XXXXXX";
    if (mkdtemp(directory_.data()) == nullptr) return;
    Start();
  }
  ~RedisServer() {
    Kill();
    std::filesystem::remove_all(directory_);
  }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  bool is_running() const { return process_ > 0; }
  const std::string& directory() const { return directory_; }
  RedisOptions options() const {
    RedisOptions options;
    options.unix_socket = directory_ + "/socket";
    options.connect_timeout = std::chrono::milliseconds(10'000);
    options.timeout = std::chrono::milliseconds(30'000);
    options.retry_after = std::chrono::milliseconds(0);
    return options;
  }

  // An empty server, in place of one that was killed.
  void Start() {
#ifdef ROWBLOOM_REDIS_SERVER
    std::vector<std::string> words = {ROWBLOOM_REDIS_SERVER,
                                      "--port",
                                      "0",
                                      "--unixsocket",
                                      directory_ + "/socket",
                                      "--save",
                                      "",
                                      "--appendonly",
                                      "no",
                                      "--dir",
                                      directory_};
    if (!module_.empty()) {
      words.insert(words.end(), {"--loadmodule", module_});
    }
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) {
      const int null = open("/dev/null", O_WRONLY);
      dup2(null, STDOUT_FILENO);
      execv(ROWBLOOM_REDIS_SERVER, arguments.data());
      _exit(127);
    }
    for (int i = 0; i < 1000; ++i) {
      if (ConnectRedis(options()).ok()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "redis-server does not answer";
#endif
  }
  void Signal(int signal) const {
    if (process_ > 0) kill(process_, signal);
  }
  void Kill() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  const std::string module_;
  std::string directory_;
  pid_t process_ = -1;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_TESTS_HOSTS_REDIS_REDIS_SERVER_H_
