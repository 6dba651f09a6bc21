// SPDX-License-Identifier: Apache-2.0
//
// Stands for formats/redis_server.cc where rowbloom is built without Redis.

#include "tools/formats/redisson.h"

namespace rowbloom::tools {
namespace {

absl::Status WithoutRedis() {
  return absl::FailedPreconditionError(
      "a filter in Redis, and this rowbloom was built without it");
}

}  // namespace

absl::Status AskRedisson(const RedissonFilter& /*filter*/,
                         const LookupQuestion& /*question*/,
                         LookupAnswer* /*answer*/) {
  return WithoutRedis();
}

FilterFileOrError OpenRedisFilter(const std::string& /*url*/) {
  return WithoutRedis();
}

}  // namespace rowbloom::tools
