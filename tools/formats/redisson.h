// SPDX-License-Identifier: Apache-2.0
//
// Filters of Redisson: mem_filter_file.cc has saved ones, redis_server.cc those
// on a server.

#ifndef ROWBLOOM_TOOLS_FORMATS_REDISSON_H_
#define ROWBLOOM_TOOLS_FORMATS_REDISSON_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rowbloom/memfilter/redisson.h"
#include "tools/formats/filter_file.h"

namespace rowbloom::tools {

// InvalidArgument would say that the filter is of no known format.
inline absl::Status WrongQuestion(absl::string_view why) {
  return absl::FailedPreconditionError(why);
}

void InspectRedisson(const RedissonFilter& filter, Json* entry);
// Encodes the element with the codec of the question.
absl::Status AskRedisson(const RedissonFilter& filter,
                         const LookupQuestion& question, LookupAnswer* answer);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_FORMATS_REDISSON_H_
