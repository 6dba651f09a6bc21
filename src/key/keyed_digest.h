// SPDX-License-Identifier: Apache-2.0
//
// Mixes a store's secret into digests. Every filter block with a secret depends
// on the definition (docs/filter_block_format.md, section "Secret"), so it must
// never change.

#ifndef ROWBLOOM_KEY_KEYED_DIGEST_H_
#define ROWBLOOM_KEY_KEYED_DIGEST_H_

#include <cstdint>

#include "rowbloom/digest_secret.h"
#include "rowbloom/filter_key.h"

namespace rowbloom::key {

class DigestMixer {
 public:
  explicit DigestMixer(const DigestSecret& secret);

  bool has_secret() const { return check_ != 0; }
  // Distinguishes this secret from others; 0 without a secret.
  uint64_t check() const { return check_; }

  // The digest that filters are built from and queried with if there is a
  // secret.
  KeyDigest Mix(KeyDigest digest) const {
    // The high half of multiplier * digest + addend, modulo 2^128, both of 128
    // bits: any two digests are mapped independently of each other if nobody
    // knows the words (Dietzfelbinger 1996). That alone would keep arithmetic
    // progressions; the two shifts and the second product break them up.
    const unsigned __int128 low =
        static_cast<unsigned __int128>(multiplier_low_) * digest.value +
        addend_low_;
    uint64_t mixed = multiplier_high_ * digest.value +
                     static_cast<uint64_t>(low >> 64) + addend_high_;
    mixed ^= mixed >> 32;
    mixed *= 0x9fb21c651e98df25;
    return KeyDigest{mixed ^ mixed >> 32};
  }

 private:
  uint64_t check_ = 0;
  uint64_t multiplier_low_ = 0;
  uint64_t multiplier_high_ = 0;
  uint64_t addend_low_ = 0;
  uint64_t addend_high_ = 0;
};

}  // namespace rowbloom::key

#endif  // ROWBLOOM_KEY_KEYED_DIGEST_H_
