// SPDX-License-Identifier: Apache-2.0

#include "key/keyed_digest.h"

#include <algorithm>
#include <string>

#include "util/coding.h"
#include "util/digest.h"

namespace rowbloom::key {

DigestMixer::DigestMixer(const DigestSecret& secret) {
  if (secret.words[0] == 0 && secret.words[1] == 0) return;
  std::string bytes;
  for (const uint64_t word : secret.words) util::AppendFixed(word, &bytes);
  check_ = std::max<uint64_t>(util::Hash64(bytes, 1), 1);
  multiplier_low_ = util::Hash64(bytes, 2);
  multiplier_high_ = util::Hash64(bytes, 3);
  addend_low_ = util::Hash64(bytes, 4);
  addend_high_ = util::Hash64(bytes, 5);
}

}  // namespace rowbloom::key
