// SPDX-License-Identifier: Apache-2.0

#include "redis/replies.h"

#include <charconv>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "util/absl_view.h"

namespace rowbloom::redis {

absl::Status NotAReply(std::string_view name) {
  return absl::UnavailableError(
      absl::StrCat("redis filter \"", util::AbslView(name),
                   "\": the client's replies do not fit the commands"));
}

absl::Status ErrorOf(const RedisReply& reply, std::string_view name) {
  if (reply.kind != RedisReply::Kind::kError) return absl::OkStatus();
  const std::string message =
      absl::StrCat("redis filter \"", util::AbslView(name),
                   "\": the server says: ", reply.text);
  // The error of a script has the error of its command in its text.
  if (reply.text.find("WRONGTYPE Operation") != std::string::npos) {
    return absl::FailedPreconditionError(absl::StrCat(
        message, "; delete the key of that type or choose another name"));
  }
  if (reply.text.find("NOPERM ") != std::string::npos) {
    return absl::PermissionDeniedError(absl::StrCat(
        message, "; hosts/redis/README.md lists the rights of each call"));
  }
  if (absl::StartsWith(reply.text, "MOVED ") ||
      absl::StartsWith(reply.text, "CROSSSLOT ")) {
    return absl::UnimplementedError(absl::StrCat(
        message, "; in a cluster, send by a client that knows its slots"));
  }
  return absl::UnavailableError(message);
}

absl::StatusOr<std::vector<RedisReply>> SendChecked(
    RedisConnection* connection, absl::Span<const RedisCommand> commands) {
  auto replies = connection->Send(commands);
  if (replies.ok() && replies->size() != commands.size()) {
    return absl::UnavailableError(absl::StrCat("the client returned ",
                                               replies->size(), " replies to ",
                                               commands.size(), " commands"));
  }
  return replies;
}

std::string NumberText(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

}  // namespace rowbloom::redis
