// SPDX-License-Identifier: Apache-2.0
//
// The C API reads its options in tests/stability/options.golden, and no name
// that it knows is missing there.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "rowbloom/c.h"
#include "testing/option_texts.h"

namespace rowbloom {
namespace {

using testing::ExpectListed;
using testing::NamesIn;
using testing::OptionTexts;

class ReleasedCOptions : public ::testing::Test {
 protected:
  using Take = std::function<rowbloom_code(const char* options)>;

  ReleasedCOptions() {
    EXPECT_EQ(rowbloom_cache_new(1 << 20, &cache_, &error_), ROWBLOOM_OK);
    EXPECT_EQ(rowbloom_budget_new("", &budget_, &error_), ROWBLOOM_OK);
  }
  ~ReleasedCOptions() override {
    rowbloom_budget_free(budget_);
    rowbloom_cache_free(cache_);
  }

  // The functions that take options, by the kind of their texts. Each returns
  // ROWBLOOM_INVALID_ARGUMENT if it does not read them.
  std::map<std::string, Take> Takers() {
    return {
        {"c_writer",
         [this](const char* options) {
           return Drop(rowbloom_writer_free, [&](rowbloom_writer** out) {
             return rowbloom_writer_new(options, Append, nullptr, out, &error_);
           });
         }},
        {"c_writer_warm",
         [this](const char* options) {
           return Drop(rowbloom_writer_free, [&](rowbloom_writer** out) {
             return rowbloom_writer_new_warm(options, Append, nullptr, cache_,
                                             out, &error_);
           });
         }},
        {"c_reader",
         [this](
             const char* options) {  // NOT_FOUND: of an SST without a filter.
           const rowbloom_source source = {Read, nullptr, 0, nullptr};
           return Drop(rowbloom_reader_free, [&](rowbloom_reader** out) {
             return rowbloom_reader_open(&source, 0, 0, options, cache_,
                                         nullptr, out, &error_);
           });
         }},
        {"c_budget",
         [this](const char* options) {
           return Drop(rowbloom_budget_free, [&](rowbloom_budget** out) {
             return rowbloom_budget_new(options, out, &error_);
           });
         }},
        {"c_budget_live",
         [this](const char* options) {
           return rowbloom_budget_set_live(budget_, options, nullptr, 0,
                                           &error_);
         }},
        {"c_budget_file",
         [this](const char* options) {
           rowbloom_buffer spec = {};
           const rowbloom_code code =
               rowbloom_budget_for_file(budget_, options, &spec, &error_);
           rowbloom_buffer_free(&spec);
           return code;
         }},
        {"c_memfilter",
         [this](const char* options) {
           return Drop(rowbloom_memfilter_free, [&](rowbloom_memfilter** out) {
             return rowbloom_memfilter_new(options, out, &error_);
           });
         }},
    };
  }

  rowbloom_error error_ = {};

 private:
  static rowbloom_code Append(void*, const void*, size_t, rowbloom_error*) {
    return ROWBLOOM_OK;
  }
  static rowbloom_code Read(void*, uint64_t, void*, size_t, rowbloom_error*) {
    return ROWBLOOM_OK;
  }
  template <typename T, typename Make>
  static rowbloom_code Drop(void (*free)(T*), const Make& make) {
    T* made = nullptr;
    const rowbloom_code code = make(&made);
    free(made);
    return code;
  }

  rowbloom_cache* cache_ = nullptr;
  rowbloom_budget* budget_ = nullptr;
};

TEST_F(ReleasedCOptions, TextsAreRead) {
  for (const auto& [kind, take] : Takers()) {
    for (const std::string& text : OptionTexts(kind)) {
      const rowbloom_code code = take(text.c_str());
      EXPECT_EQ(code, kind == "c_reader" ? ROWBLOOM_NOT_FOUND : ROWBLOOM_OK)
          << kind << " " << text << ": " << error_.message;
    }
  }
}

TEST_F(ReleasedCOptions, NamesAreListed) {
  for (const auto& [kind, take] : Takers()) {
    EXPECT_EQ(take("no_such=1"), ROWBLOOM_INVALID_ARGUMENT) << kind;
    for (const std::string& name : NamesIn(error_.message)) {
      ExpectListed(kind, {name + "="});
    }
  }
  const auto expect_values = [&](const std::string& kind,
                                 const std::string& name) {
    EXPECT_EQ(Takers().at(kind)((name + "=no_such").c_str()),
              ROWBLOOM_INVALID_ARGUMENT);
    for (const std::string& value : NamesIn(error_.message)) {
      ExpectListed(kind, {name + "=" + value});
      const std::string text = name + "=" + value + ";no_such=1";
      EXPECT_EQ(Takers().at(kind)(text.c_str()), ROWBLOOM_INVALID_ARGUMENT);
      for (const std::string& other : NamesIn(error_.message)) {
        ExpectListed(kind, {other + "="});
      }
    }
  };
  expect_values("c_budget", "mode");
  expect_values("c_memfilter", "kind");
}

}  // namespace
}  // namespace rowbloom
