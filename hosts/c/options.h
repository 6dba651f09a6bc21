// SPDX-License-Identifier: Apache-2.0
//
// Options as text: `name=value;name=value`.
//
//   Options options("writer", text);
//   options.Take("chunk_size_bytes", &chunk_size_bytes);
//   if (absl::Status status = options.Finish(); !status.ok()) return status;
//
// Take() leaves *value alone if the option is not there. Finish() returns the
// first error: InvalidArgument for text that is no such list, an option that is
// given twice or is not known, and a value of another type. Ranges are checked
// by the caller. The text must outlive the object. One thread.

#ifndef ROWBLOOM_C_OPTIONS_H_
#define ROWBLOOM_C_OPTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "rowbloom/digest_secret.h"

namespace rowbloom::c {

class Options {
 public:
  // `kind` is for messages. A NULL text is empty.
  Options(std::string_view kind, const char* text);

  void Take(std::string_view name, std::string* value);
  void Take(std::string_view name, bool* value);
  void Take(std::string_view name, int* value);
  void Take(std::string_view name, uint32_t* value);
  void Take(std::string_view name, uint64_t* value);
  void Take(std::string_view name, double* value);
  void Take(std::string_view name, DigestSecret* value);
  template <typename Value>
  void Take(std::string_view name, std::optional<Value>* value) {
    Value parsed{};
    const bool is_given = values_.count(name) > 0;
    Take(name, &parsed);
    if (is_given) *value = parsed;
  }

  absl::Status Finish();

 private:
  std::optional<std::string_view> TakeText(std::string_view name);
  template <typename Number, typename Parse>
  void TakeNumber(std::string_view name, const char* type, Parse parse,
                  Number* value);
  void Refuse(std::string_view problem);

  const std::string_view kind_;
  std::map<std::string_view, std::string_view> values_;
  std::vector<std::string_view> known_;
  absl::Status status_;
};

}  // namespace rowbloom::c

#endif  // ROWBLOOM_C_OPTIONS_H_
