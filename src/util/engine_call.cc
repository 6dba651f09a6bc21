// SPDX-License-Identifier: Apache-2.0

#include "util/engine_call.h"

#ifndef __cpp_exceptions
#error "Compile this file with exceptions: otherwise noexcept has no effect."
#endif

namespace rowbloom::util::internal {

void CallOrTerminate(void (*call)(void*), void* argument) noexcept {
  call(argument);
}

}  // namespace rowbloom::util::internal
