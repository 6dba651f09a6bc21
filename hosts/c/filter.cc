// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "c/boundary.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_spec.h"

using namespace rowbloom;
using namespace rowbloom::c;

struct rowbloom_builder {
  FilterSpec spec;
  std::unique_ptr<FilterBuilder> builder;
  absl::Status status;  // The first mistake since the last finish.
};

struct rowbloom_filter {
  FilterView view;
};

extern "C" {

rowbloom_code rowbloom_builder_new(const char* spec, rowbloom_builder** out,
                                   rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    auto builder = std::make_unique<rowbloom_builder>();
    if (spec != nullptr) {
      absl::StatusOr<FilterSpec> parsed = FilterSpec::Parse(spec);
      if (!parsed.ok()) return parsed.status();
      builder->spec = *std::move(parsed);
    }
    builder->builder = NewFilterBuilder(builder->spec);
    return Give(std::move(builder), out);
  });
}

void rowbloom_builder_add(rowbloom_builder* builder, const void* row,
                          size_t row_size, const void* qualifier,
                          size_t qualifier_size) {
  if (builder == nullptr) return;
  const std::optional<FilterKey> key =
      KeyOf(row, row_size, qualifier, qualifier_size);
  const auto add = [&] {
    if (!key) return CheckKey(row, row_size, qualifier, qualifier_size);
    builder->builder->Add(key->digest());
    return absl::OkStatus();
  };
  builder->status.Update(Guarded(add, NoMemory()));
}

void rowbloom_builder_add_many(rowbloom_builder* builder,
                               const rowbloom_key* keys, size_t count) {
  if (builder == nullptr) return;
  const auto check = [&] { return CheckKeys(keys, count, "keys"); };
  if (absl::Status status = Guarded(check, NoMemory()); !status.ok()) {
    builder->status.Update(status);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    rowbloom_builder_add(builder, keys[i].row, keys[i].row_size,
                         keys[i].qualifier, keys[i].qualifier_size);
  }
}

rowbloom_code rowbloom_builder_finish(rowbloom_builder* builder,
                                      rowbloom_buffer* filter,
                                      rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    Clear(filter);
    if (builder == nullptr) return NullArgument("builder");
    // Without memory for it, the mistake stays.
    auto fresh = NewFilterBuilder(builder->spec);
    absl::Status status = std::exchange(builder->status, absl::OkStatus());
    const auto full = std::exchange(builder->builder, std::move(fresh));
    if (filter == nullptr) return NullArgument("filter");
    if (!status.ok()) return status;
    return Fill(EncodeFilterBlob(full->Finish(), ""), filter);
  });
}

void rowbloom_builder_free(rowbloom_builder* builder) { delete builder; }

rowbloom_code rowbloom_filter_open(const void* bytes, size_t size,
                                   rowbloom_filter** out,
                                   rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    if (absl::Status status = CheckBytes(bytes, size, "bytes"); !status.ok()) {
      return status;
    }
    absl::StatusOr<FilterBlob> blob = ParseFilterBlob(View(bytes, size));
    if (!blob.ok()) return blob.status();
    return Give(std::make_unique<rowbloom_filter>(rowbloom_filter{blob->view}),
                out);
  });
}

bool rowbloom_filter_may_contain(const rowbloom_filter* filter, const void* row,
                                 size_t row_size, const void* qualifier,
                                 size_t qualifier_size) {
  const std::optional<FilterKey> key =
      KeyOf(row, row_size, qualifier, qualifier_size);
  return filter == nullptr || !key || filter->view.MayContain(key->digest());
}

rowbloom_code rowbloom_filter_verify(const void* bytes, size_t size,
                                     rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    absl::Status status = CheckBytes(bytes, size, "bytes");
    return status.ok() ? VerifyFilterBlob(View(bytes, size)) : status;
  });
}

void rowbloom_filter_free(rowbloom_filter* filter) { delete filter; }

}  // extern "C"
