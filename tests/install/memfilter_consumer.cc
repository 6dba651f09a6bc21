// SPDX-License-Identifier: Apache-2.0
//
// A program that saves a filter of memory and loads it again. Exit code 0 if
// the loaded filter has the key that was added.

#include <string>

#include "rowbloom/memfilter/standard.h"

int main() {
  auto filter = rowbloom::StandardFilter::New(*rowbloom::ShapeFor(1000, 0.01));
  if (!filter.ok()) return 1;
  const rowbloom::KeyDigest key = rowbloom::DigestBytes("user17");
  filter->Add(key);
  const std::string saved = filter->Save();
  const auto loaded = rowbloom::StandardFilter::Load(saved);
  return loaded.ok() && loaded->MayContain(key) ? 0 : 1;
}
