// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>

#include "c/boundary.h"
#include "rowbloom/false_positive_memo.h"

using namespace rowbloom;
using namespace rowbloom::c;

struct rowbloom_memo {
  FalsePositiveMemo memo;
};

extern "C" {

rowbloom_code rowbloom_memo_new(uint64_t capacity, rowbloom_memo** out,
                                rowbloom_error* error) {
  return CallShared(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = new rowbloom_memo{FalsePositiveMemo(
        static_cast<size_t>(std::min<uint64_t>(capacity, SIZE_MAX)))};
    return absl::OkStatus();
  });
}

bool rowbloom_memo_denies(const rowbloom_memo* memo, uint64_t file_id,
                          const void* row, size_t row_size,
                          const void* qualifier, size_t qualifier_size) {
  const std::optional<FilterKey> key =
      LookupKeyOf(row, row_size, qualifier, qualifier_size);
  if (memo == nullptr || !key) return false;
  return Shared([&] { return memo->memo.Denies(file_id, *key); });
}

void rowbloom_memo_remember(rowbloom_memo* memo, uint64_t file_id,
                            const void* row, size_t row_size,
                            const void* qualifier, size_t qualifier_size) {
  const std::optional<FilterKey> key =
      LookupKeyOf(row, row_size, qualifier, qualifier_size);
  if (memo == nullptr || !key) return;
  Shared([&] { memo->memo.Remember(file_id, *key); });
}

void rowbloom_memo_erase_file(rowbloom_memo* memo, uint64_t file_id) {
  if (memo == nullptr) return;
  Shared([&] { memo->memo.EraseFile(file_id); });
}

void rowbloom_memo_free(rowbloom_memo* memo) {
  Shared([&] { delete memo; });
}

}  // extern "C"
