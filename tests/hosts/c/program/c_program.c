/* SPDX-License-Identifier: Apache-2.0 */
/* C99 and C11 compile the header, and C links to the library. */

#include <stdio.h>

#include "rowbloom/c.h"

static int fail(const char* call, const rowbloom_error* error) {
  fprintf(stderr, "%s: code %d: %s\n", call, (int)error->code, error->message);
  return 1;
}

int main(void) {
  rowbloom_error error;
  rowbloom_builder* builder = NULL;
  rowbloom_filter* filter = NULL;
  rowbloom_buffer bytes = {0};
  bool present, absent;

  if (rowbloom_abi() != ROWBLOOM_ABI) return 1;
  if (rowbloom_builder_new("ribbon", &builder, &error) !=
      ROWBLOOM_INVALID_ARGUMENT)
    return fail("rowbloom_builder_new", &error);
  if (rowbloom_builder_new("compact", &builder, &error) != ROWBLOOM_OK)
    return fail("rowbloom_builder_new", &error);
  rowbloom_builder_add(builder, "user17", 6, "email", 5);
  if (rowbloom_builder_finish(builder, &bytes, &error) != ROWBLOOM_OK)
    return fail("rowbloom_builder_finish", &error);
  if (rowbloom_filter_open(bytes.data, bytes.size, &filter, &error) !=
      ROWBLOOM_OK)
    return fail("rowbloom_filter_open", &error);
  present = rowbloom_filter_may_contain(filter, "user17", 6, "email", 5);
  absent = rowbloom_filter_may_contain(filter, "user17", 6, "phone", 5);
  rowbloom_filter_free(filter);
  rowbloom_buffer_free(&bytes);
  rowbloom_builder_free(builder);
  printf("%s: email %d, phone %d\n", rowbloom_version(), present, absent);
  return present && !absent ? 0 : 1;
}
