// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/version.h"

namespace rowbloom {

const char* Version() { return ROWBLOOM_VERSION_STRING; }

}  // namespace rowbloom
