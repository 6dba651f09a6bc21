// SPDX-License-Identifier: Apache-2.0
//
// Each allocation of a call fails in turn: the call returns its code, and its
// objects can be used again or freed.

#include <gtest/gtest.h>

#include <functional>

#include "rowbloom/c.h"
#include "testing/allocation_counter.h"
#include "testing/keys.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ROWBLOOM_FINDS_LEAKS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ROWBLOOM_FINDS_LEAKS 1
#endif
#ifdef ROWBLOOM_FINDS_LEAKS
#include <sanitizer/lsan_interface.h>
#endif

namespace rowbloom {
namespace {

using testing::AllocationWillFail;
using testing::FailAllocation;
using testing::NumberedRow;

// The core has no exceptions: what its functions hold then leaks.
class LeaksAreExpected {
 public:
#ifdef ROWBLOOM_FINDS_LEAKS
  LeaksAreExpected() { __lsan_disable(); }
  ~LeaksAreExpected() { __lsan_enable(); }
#else
  LeaksAreExpected() {}
#endif
};

// `run` returns the first code that is not ROWBLOOM_OK. It must be that of
// memory until so many allocations may happen that none fails. A call that can
// do without some of its memory may succeed before.
void FailEachAllocation(const std::function<rowbloom_code()>& run,
                        bool can_do_without = false) {
  if (!testing::kCountsAllocations) GTEST_SKIP();
  const LeaksAreExpected leaks;
  size_t nth = 0;
  for (;;) {
    FailAllocation(++nth);
    const rowbloom_code code = run();
    const bool all_succeeded = AllocationWillFail();
    FailAllocation(0);
    if (all_succeeded) {
      EXPECT_EQ(code, ROWBLOOM_OK);
      break;
    }
    if (can_do_without && code == ROWBLOOM_OK) continue;
    ASSERT_EQ(code, ROWBLOOM_RESOURCE_EXHAUSTED) << "allocation " << nth;
  }
  EXPECT_GT(nth, 1u);
}

TEST(CMemory, FilterIsRefused) {
  FailEachAllocation([]() -> rowbloom_code {
    rowbloom_error error;
    rowbloom_builder* builder = nullptr;
    rowbloom_code code =
        rowbloom_builder_new("compact:bits_per_key=10", &builder, &error);
    if (code != ROWBLOOM_OK) {
      EXPECT_STREQ(error.message, "out of memory");
      return code;
    }
    for (uint64_t i = 0; i < 500; ++i) {
      rowbloom_builder_add(builder, &i, sizeof(i), nullptr, 0);
    }
    rowbloom_buffer bytes = {};
    code = rowbloom_builder_finish(builder, &bytes, &error);
    if (code == ROWBLOOM_OK) {
      rowbloom_filter* filter = nullptr;
      code = rowbloom_filter_open(bytes.data, bytes.size, &filter, &error);
      rowbloom_filter_free(filter);
    } else {
      // The builder is empty and goes on.
      FailAllocation(0);
      rowbloom_builder_add(builder, "row", 3, nullptr, 0);
      EXPECT_EQ(rowbloom_builder_finish(builder, &bytes, &error), ROWBLOOM_OK);
    }
    rowbloom_buffer_free(&bytes);
    rowbloom_builder_free(builder);
    return code;
  });
}

TEST(CMemory, AFilterWithALostKeyIsNeverFinished) {
  if (!testing::kCountsAllocations) GTEST_SKIP();
  const LeaksAreExpected leaks;
  bool all_succeeded = false;
  for (size_t nth = 1; !all_succeeded; ++nth) {
    rowbloom_error error;
    rowbloom_builder* builder = nullptr;
    rowbloom_buffer bytes = {};
    ASSERT_EQ(rowbloom_builder_new(nullptr, &builder, &error), ROWBLOOM_OK);
    rowbloom_builder_add(builder, "row", 3, nullptr, 0);
    rowbloom_builder_add(builder, nullptr, 3, nullptr, 0);
    FailAllocation(nth);
    rowbloom_code code = rowbloom_builder_finish(builder, &bytes, &error);
    all_succeeded = AllocationWillFail();
    FailAllocation(0);
    if (code == ROWBLOOM_RESOURCE_EXHAUSTED) {
      code = rowbloom_builder_finish(builder, &bytes, &error);
    }
    EXPECT_EQ(code, ROWBLOOM_INVALID_ARGUMENT) << "allocation " << nth;
    rowbloom_buffer_free(&bytes);
    rowbloom_builder_free(builder);
  }
}

TEST(CMemory, FilterBlockIsRefused) {
  const auto append = [](void*, const void*, size_t, rowbloom_error*) {
    return rowbloom_code{ROWBLOOM_OK};
  };
  FailEachAllocation([&]() -> rowbloom_code {
    rowbloom_error error;
    rowbloom_writer* writer = nullptr;
    rowbloom_code code = rowbloom_writer_new(
        "bloom_type=ROWCOL;filter_spec=fast;chunk_size_bytes=256", append,
        nullptr, &writer, &error);
    if (code != ROWBLOOM_OK) return code;
    for (int i = 0; i < 500; ++i) {
      char row[] = "row000";
      row[3] = static_cast<char>('0' + i / 100);
      row[4] = static_cast<char>('0' + i / 10 % 10);
      row[5] = static_cast<char>('0' + i % 10);
      rowbloom_writer_add(writer, row, 6, "q", 1);
    }
    code = rowbloom_writer_finish(writer, nullptr, &error);
    if (code != ROWBLOOM_OK) {
      EXPECT_NE(rowbloom_writer_finish(writer, nullptr, &error), ROWBLOOM_OK);
    }
    rowbloom_writer_free(writer);
    return code;
  });
}

TEST(CMemory, KeyIsRefused) {
  FailEachAllocation([]() -> rowbloom_code {
    rowbloom_error error;
    rowbloom_codec* codec = nullptr;
    rowbloom_buffer key = {}, row = {}, qualifier = {};
    rowbloom_code code = rowbloom_codec_new("delimiter:|", &codec, &error);
    const char text[] = "a row that is longer than a string keeps in place";
    if (code == ROWBLOOM_OK) {
      code = rowbloom_codec_encode(codec, text, sizeof(text), "q", 1, &key,
                                   &error);
    }
    if (code == ROWBLOOM_OK) {
      code = rowbloom_codec_decode(codec, key.data, key.size, &row, &qualifier,
                                   &error);
    }
    if (code == ROWBLOOM_OK) {
      code = rowbloom_codec_bounds(codec, text, sizeof(text), &row, &qualifier,
                                   &error);
    }
    const rowbloom_bytes segments[] = {{text, sizeof(text)}, {"q", 1}};
    if (code == ROWBLOOM_OK) {
      code = rowbloom_codec_encode_segments(codec, segments, 2, &key, &error);
    }
    if (code == ROWBLOOM_OK) {
      rowbloom_buffer decoded[] = {row, qualifier};
      code = rowbloom_codec_decode_segments(codec, key.data, key.size, decoded,
                                            2, &error);
      row = decoded[0];
      qualifier = decoded[1];
    }
    for (rowbloom_buffer* buffer : {&key, &row, &qualifier}) {
      rowbloom_buffer_free(buffer);
    }
    rowbloom_codec_free(codec);
    return code;
  });
}

TEST(CMemory, BudgetIsRefused) {
  const auto run = []() -> rowbloom_code {
    rowbloom_error error;
    rowbloom_budget* budget = nullptr;
    rowbloom_buffer spec = {};
    rowbloom_code code = rowbloom_budget_new("mode=fixed", &budget, &error);
    const rowbloom_run runs[] = {{1000, 1, ROWBLOOM_UNKNOWN_SHARE}};
    if (code == ROWBLOOM_OK) {
      code =
          rowbloom_budget_set_live(budget, "key_count=1000", runs, 1, &error);
    }
    if (code == ROWBLOOM_OK) {
      code = rowbloom_budget_for_file(budget, "is_flush=true", &spec, &error);
    }
    rowbloom_buffer_free(&spec);
    rowbloom_budget_free(budget);
    return code;
  };
  // std::stable_sort() can.
  FailEachAllocation(run, /*can_do_without=*/true);
}

TEST(CMemory, MemFilterIsRefused) {
  for (const char* options :
       {"capacity=10", "kind=concurrent;key_count=1000"}) {
    SCOPED_TRACE(options);
    FailEachAllocation([&]() -> rowbloom_code {
      rowbloom_error error;
      rowbloom_memfilter* filter = nullptr;
      rowbloom_memfilter* loaded = nullptr;
      rowbloom_buffer bytes = {};
      rowbloom_code code = rowbloom_memfilter_new(options, &filter, &error);
      uint64_t added = 0;
      for (; code == ROWBLOOM_OK && added < 500; ++added) {
        code = rowbloom_memfilter_add(filter, &added, sizeof(added), nullptr, 0,
                                      nullptr, &error);
      }
      for (uint64_t i = 0; i + 1 < added; ++i) {
        EXPECT_TRUE(
            rowbloom_memfilter_may_contain(filter, &i, sizeof(i), nullptr, 0));
      }
      if (code == ROWBLOOM_OK) {
        code = rowbloom_memfilter_save(filter, &bytes, &error);
      }
      if (code == ROWBLOOM_OK) {
        code = rowbloom_memfilter_load(bytes.data, bytes.size, &loaded, &error);
      }
      rowbloom_buffer_free(&bytes);
      rowbloom_memfilter_free(filter);
      rowbloom_memfilter_free(loaded);
      return code;
    });
  }
}

}  // namespace
}  // namespace rowbloom
