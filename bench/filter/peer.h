// SPDX-License-Identifier: Apache-2.0
//
// The seam by which filter_bench times the filters of other authors, which are
// no part of this project: a shared library for `--peers` wraps one of them.
//
//   extern "C" rowbloom::bench::Peer* rowbloom_bench_peer(
//       const uint64_t* digests, size_t count) {
//     return new Wrapped(digests, count);  // A Peer.
//   }

#ifndef ROWBLOOM_BENCH_FILTER_PEER_H_
#define ROWBLOOM_BENCH_FILTER_PEER_H_

#include <cstddef>
#include <cstdint>

namespace rowbloom::bench {

class Peer {
 public:
  virtual ~Peer() = default;
  virtual bool MayContain(uint64_t digest) const = 0;
  // All that would have to be stored.
  virtual size_t size_bytes() const = 0;
};

// The library's one function, rowbloom_bench_peer: builds a filter of different
// digests. The caller deletes it. Throws std::runtime_error if it cannot.
using BuildPeer = Peer*(const uint64_t* digests, size_t count);

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_FILTER_PEER_H_
