// SPDX-License-Identifier: Apache-2.0
//
// The builder of families that need to know all digests before they start.

#ifndef ROWBLOOM_FILTER_COLLECTING_BUILDER_H_
#define ROWBLOOM_FILTER_COLLECTING_BUILDER_H_

#include <memory>

#include "filter/digest_order.h"
#include "rowbloom/filter.h"

namespace rowbloom::filter {

// Encodes at least one digest; does not set the key count and the checksums.
using EncodeFunction = EncodedFilter (*)(DigestList digests,
                                         double bits_per_key, Kernel kernel);

// Collapses runs of equal digests, and passes the rest to `encode`.
std::unique_ptr<FilterBuilder> NewCollectingBuilder(EncodeFunction encode,
                                                    double bits_per_key,
                                                    Kernel kernel);

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_COLLECTING_BUILDER_H_
