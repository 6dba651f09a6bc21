// SPDX-License-Identifier: Apache-2.0
//
// Rows in a saved filter: their shape and number, each row's key count, then
// all bits.

#ifndef ROWBLOOM_MEMFILTER_FILTER_ROWS_FORM_H_
#define ROWBLOOM_MEMFILTER_FILTER_ROWS_FORM_H_

#include "memfilter/saved_form.h"
#include "rowbloom/memfilter/filter_rows.h"

namespace rowbloom {

class FilterRowsForm {
 public:
  static void Save(const FilterRows& rows, memfilter::SavedFormWriter* writer);
  // Returns at least one row, unless *reader has refused. Allocates no more
  // bytes than the saved filter has.
  static FilterRows Load(memfilter::SavedFormReader* reader);
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_FILTER_ROWS_FORM_H_
