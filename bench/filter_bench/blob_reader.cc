// SPDX-License-Identifier: Apache-2.0

#include "blob_reader.h"

#include <stdexcept>

#include "rowbloom/filter_blob.h"

namespace rowbloom::filter_bench {
namespace {

class ViewReader final : public BlobReader {
 public:
  explicit ViewReader(std::string_view blob) : view_(ParseBlob(blob)) {}
  bool MayMatch(KeyDigest digest) const override {
    return view_.MayContain(digest);
  }

 private:
  const FilterView view_;
};

}  // namespace

FilterView ParseBlob(std::string_view blob) {
  const absl::StatusOr<FilterBlob> parsed = ParseFilterBlob(blob);
  if (!parsed.ok()) throw std::runtime_error(parsed.status().ToString());
  return parsed->view;
}

std::unique_ptr<const BlobReader> NewBlobReader(std::string_view blob) {
  return std::make_unique<ViewReader>(blob);
}

}  // namespace rowbloom::filter_bench
