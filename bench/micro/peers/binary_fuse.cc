// SPDX-License-Identifier: Apache-2.0
//
// A binary fuse filter of 8 bits for `filter_bench --peers`. With FUSE, a
// checkout of FastFilter/xor_singleheader:
//
//   g++ -O3 -DNDEBUG -march=native -std=c++17 -shared -fPIC -I. \
//       -isystem FUSE/include bench/micro/peers/binary_fuse.cc -o fuse.so

#include <binaryfusefilter.h>

#include <stdexcept>
#include <vector>

#include "bench/micro/peer.h"

namespace {

class BinaryFuse final : public rowbloom::bench::Peer {
 public:
  BinaryFuse(const uint64_t* digests, uint32_t count) {
    // The authors' function may write to the keys.
    std::vector<uint64_t> keys(digests, digests + count);
    if (!binary_fuse8_allocate(count, &filter_) ||
        !binary_fuse8_populate(keys.data(), count, &filter_)) {
      throw std::runtime_error("binary_fuse8 cannot be built");
    }
  }
  ~BinaryFuse() override { binary_fuse8_free(&filter_); }
  bool MayContain(uint64_t digest) const override {
    return binary_fuse8_contain(digest, &filter_);
  }
  size_t size_bytes() const override {
    return binary_fuse8_serialization_bytes(&filter_);
  }

 private:
  binary_fuse8_t filter_ = {};
};

}  // namespace

extern "C" rowbloom::bench::Peer* rowbloom_bench_peer(const uint64_t* digests,
                                                      size_t count) {
  return new BinaryFuse(digests, static_cast<uint32_t>(count));
}
