// SPDX-License-Identifier: Apache-2.0
//
// Replies of the server as statuses.
//
//   auto replies = SendChecked(connection, commands);
//   absl::Status status = ErrorOf(replies->front(), name);

#ifndef ROWBLOOM_REDIS_REPLIES_H_
#define ROWBLOOM_REDIS_REPLIES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/redis/connection.h"

namespace rowbloom::redis {

// Unavailable: the client returned another number or kind of replies.
absl::Status NotAReply(std::string_view name);
// OK unless the reply is an error: FailedPrecondition for a key of another
// type, Unavailable for any other.
absl::Status ErrorOf(const RedisReply& reply, std::string_view name);
// Sends the commands and checks the number of replies.
absl::StatusOr<std::vector<RedisReply>> SendChecked(
    RedisConnection* connection, absl::Span<const RedisCommand> commands);

// The shortest text of the number.
std::string NumberText(double value);

}  // namespace rowbloom::redis

#endif  // ROWBLOOM_REDIS_REPLIES_H_
