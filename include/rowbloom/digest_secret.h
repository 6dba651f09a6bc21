// SPDX-License-Identifier: Apache-2.0
//
// A store's own secret, for stores whose rows are chosen by outsiders.
//
//   DigestSecret secret;  // Once for a store.
//   std::random_device device;
//   for (auto& word : secret.words) word = uint64_t{device()} << 32 | device();
//   filter_options.secret = secret;
//   reader_options.secret = secret;
//
// Digests are public. Somebody who chooses rows can choose their digests, aim
// many at one place of a filter, and so make it answer "maybe" for other rows:
// SECURITY.md has the numbers. A writer and a reader with a secret mix it into
// every digest, so that nobody else knows where a row falls. Keys are still
// hashed once for all stores.
//
// Keep the secret as long as the store's files: a filter block that was written
// with a secret is opened only with the same one. With another secret, or
// without one, Open() returns FailedPrecondition, and the SST is read without
// its filter. The rowbloom tool, which has no secrets, therefore reports such a
// block as unreadable. A reader that has a secret also reads blocks without
// one.
//
// Filters that RocksDB or LevelDB keeps have no secret.
//
// A block holds 64 bits that tell one secret from others, but not the secret.
// The secret protects against outsiders who choose rows and see answers. It is
// not encryption: somebody who reads filters and knows their rows may find it.

#ifndef ROWBLOOM_DIGEST_SECRET_H_
#define ROWBLOOM_DIGEST_SECRET_H_

#include <array>
#include <cstdint>

#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

struct DigestSecret {
  // 128 random bits. Both 0: no secret.
  std::array<uint64_t, 2> words{};
};

}  // namespace rowbloom

#endif  // ROWBLOOM_DIGEST_SECRET_H_
