// SPDX-License-Identifier: Apache-2.0

#include "keys.h"

namespace rowbloom::filter_bench {

KeySet::KeySet(KeyForm form, uint64_t seed, uint64_t first, size_t count)
    : form_(form) {
  const uint64_t start = first + Mix(seed);
  words_.reserve(count * WordsPerKey(form));
  for (uint64_t i = start; i < start + count; ++i) {
    const uint64_t random = Mix(i);
    if (form == KeyForm::kString) {
      words_.push_back({0x2f746e756f636361});  // "account/"
      words_.push_back({Mix(random)});
    }
    words_.push_back({random});
  }
}

KeySet::KeySet(const KeySet& from, size_t begin, size_t end, uint64_t draw,
               size_t count)
    : form_(from.form_) {
  const size_t words = WordsPerKey(form_);
  words_.reserve(count * words);
  for (size_t i = 0; i < count; ++i) {
    const auto key = from.words_.begin() +
                     (begin + Mix(Mix(draw) + i) % (end - begin)) * words;
    words_.insert(words_.end(), key, key + words);
  }
}

}  // namespace rowbloom::filter_bench
