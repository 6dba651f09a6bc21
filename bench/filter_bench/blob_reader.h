// SPDX-License-Identifier: Apache-2.0
//
// A filter blob behind an interface, as a host's reader object is. The
// implementation is out of sight, so that a lookup is a virtual call.
//
//   std::unique_ptr<const BlobReader> reader = NewBlobReader(blob);
//   reader->MayMatch(digest);
//
// The blob must outlive the reader.

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_BLOB_READER_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_BLOB_READER_H_

#include <memory>
#include <string_view>

#include "rowbloom/filter.h"
#include "rowbloom/filter_key.h"

namespace rowbloom::filter_bench {

class BlobReader {
 public:
  virtual ~BlobReader() = default;
  virtual bool MayMatch(KeyDigest digest) const = 0;
};

// Throws std::runtime_error if these are not the bytes of a filter blob.
FilterView ParseBlob(std::string_view blob);
std::unique_ptr<const BlobReader> NewBlobReader(std::string_view blob);

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_BLOB_READER_H_
