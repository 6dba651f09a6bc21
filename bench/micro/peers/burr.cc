// SPDX-License-Identifier: Apache-2.0
//
// BuRR's "fast" filter of 8 bits for `filter_bench --peers`. With BURR, a
// checkout of lorenzhs/BuRR with its submodules:
//
//   g++ -O3 -DNDEBUG -march=native -std=c++17 -shared -fPIC -I. \
//       -isystem BURR -isystem BURR/tlx -isystem BURR/ips2ra/include \
//       -isystem BURR/DySECT bench/micro/peers/burr.cc BURR/sorter.cpp \
//       $(find BURR/tlx/tlx/logger BURR/tlx/tlx/die -name '*.cpp') -ltbb -o
//       burr.so
//
// Its sorter needs libtbb-dev.

#include <ribbon.hpp>
#include <stdexcept>

#include "bench/micro/peer.h"

namespace {

struct Config : ribbon::FastFilterConfig</*result_bits=*/8, uint64_t> {
  static constexpr bool log = false;
  // A digest is a hash already.
  static uint64_t HashFn(uint64_t digest, uint64_t /*seed*/) { return digest; }
};

class Burr final : public rowbloom::bench::Peer {
 public:
  Burr(const uint64_t* digests, size_t count)
      : filter_(static_cast<size_t>(kSlotsPerKey * static_cast<double>(count)),
                kSlotsPerKey, /*seed=*/42) {
    if (!filter_.AddRange(digests, digests + count)) {
      throw std::runtime_error("BuRR cannot be built");
    }
    filter_.BackSubst();
  }
  bool MayContain(uint64_t digest) const override {
    return filter_.QueryFilter(digest);
  }
  size_t size_bytes() const override { return filter_.Size(); }

 private:
  // The load that the authors' ribbon.cpp takes for this configuration.
  static constexpr double kSlotsPerKey = 1 - 4.0 / 64;

  ribbon::ribbon_filter</*depth=*/2, Config> filter_;
};

}  // namespace

extern "C" rowbloom::bench::Peer* rowbloom_bench_peer(const uint64_t* digests,
                                                      size_t count) {
  return new Burr(digests, count);
}
