// SPDX-License-Identifier: Apache-2.0
//
// Keys by number, in the two forms in which filters are given them: digests
// (RocksDB takes their 8 bytes as a key, and hashes them), and strings of 24
// bytes that both sides hash.
//
//   KeySet present(KeyForm::kString, seed, 0, 1000);
//   KeySet absent(KeyForm::kString, seed, kFirstAbsentKey, 1000);
//   builder->AddKey(present.Slice<KeyForm::kString>(7));
//
// Keys of different numbers differ, in either form.

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_KEYS_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rocksdb/slice.h"
#include "rowbloom/filter_key.h"

namespace rowbloom::filter_bench {

enum class KeyForm { kDigest, kString };
inline constexpr KeyForm kKeyForms[] = {KeyForm::kDigest, KeyForm::kString};
inline constexpr size_t kKeyFormCount = 2;

// Number of the first key that no filter holds.
inline constexpr uint64_t kFirstAbsentKey = uint64_t{1} << 48;

class KeySet {
 public:
  KeySet(KeyForm form, uint64_t seed, uint64_t first, size_t count);
  // `count` of the keys [begin, end) of another set, drawn at random.
  KeySet(const KeySet& from, size_t begin, size_t end, uint64_t draw,
         size_t count);

  KeyForm form() const { return form_; }
  size_t size() const { return words_.size() / WordsPerKey(form_); }

  template <KeyForm kForm>
  rocksdb::Slice Slice(size_t i) const {
    return {
        reinterpret_cast<const char*>(words_.data() + i * WordsPerKey(kForm)),
        WordsPerKey(kForm) * sizeof(KeyDigest)};
  }
  template <KeyForm kForm>
  KeyDigest Digest(size_t i) const {
    if constexpr (kForm == KeyForm::kDigest) {
      return words_[i];
    } else {
      const rocksdb::Slice bytes = Slice<kForm>(i);
      return DigestBytes(std::string_view(bytes.data(), bytes.size()));
    }
  }
  // Of KeyForm::kDigest.
  const KeyDigest* digests() const { return words_.data(); }

 private:
  static constexpr size_t WordsPerKey(KeyForm form) {
    return form == KeyForm::kDigest ? 1 : 3;
  }

  const KeyForm form_;
  std::vector<KeyDigest> words_;  // The keys, one behind the other.
};

// A bijection whose values look random.
inline uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_KEYS_H_
