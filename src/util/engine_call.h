// SPDX-License-Identifier: Apache-2.0
//
// Calls a function that an engine implements. An exception that leaves it ends
// the process by std::terminate(): the callers are compiled without exceptions,
// so that it would pass through them and leave what they hold.
//
//   status = EngineCall([&] { return sink->Append(bytes); });

#ifndef ROWBLOOM_UTIL_ENGINE_CALL_H_
#define ROWBLOOM_UTIL_ENGINE_CALL_H_

#include <optional>
#include <type_traits>

#include "rowbloom/export.h"

namespace rowbloom::util {

namespace internal {
// Compiled with exceptions; exported for rowbloom::hfile.
ROWBLOOM_EXPORT void CallOrTerminate(void (*call)(void*),
                                     void* argument) noexcept;
}  // namespace internal

template <typename Call>
auto EngineCall(Call call) {
  using Result = decltype(call());
  if constexpr (std::is_void_v<Result>) {
    internal::CallOrTerminate([](void* c) { (*static_cast<Call*>(c))(); },
                              &call);
  } else {
    std::optional<Result> result;
    auto keep = [&] { result.emplace(call()); };
    EngineCall(keep);
    return *std::move(result);
  }
}

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_ENGINE_CALL_H_
