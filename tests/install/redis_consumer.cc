// SPDX-License-Identifier: Apache-2.0
//
// A stranger's program: elements as Redisson hashes them, and a server that is
// not there.

#include <cstdio>

#include "rowbloom/redis/codec.h"
#include "rowbloom/redis/connection.h"
#include "rowbloom/redis/redisson.h"

int main() {
  const rowbloom::RedissonCodec codec("Kryo5Codec");
  const auto encoded = codec.Text("user17");
  if (!encoded.ok()) return 1;
  auto filter = rowbloom::RedissonFilter::New(100'000, 0.03);
  if (!filter.ok()) return 2;
  filter->Add(rowbloom::RedissonDigestOf(*encoded));
  if (!filter->MayContain(rowbloom::RedissonDigestOf(*encoded))) return 3;

  const auto address =
      rowbloom::ParseRedisUrl("unix:///nonexistent/socket?name=seen");
  if (!address.ok()) return 4;
  const auto connection = rowbloom::ConnectRedis(address->options);
  if (connection.ok()) return 5;
  std::printf("%s\n", connection.status().ToString().c_str());
  return 0;
}
