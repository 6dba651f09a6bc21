// SPDX-License-Identifier: Apache-2.0
//
// Writes cases for readers of the format: bytes, questions and the library's
// answers, one JSON file each. README.md describes the fields.
//
//   write_cases DIRECTORY vectors          those of vectors/, always the same
//   write_cases DIRECTORY SEED QUESTIONS   the golden files and random ones

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "format/case.h"

int main(int argc, char** argv) {
  const bool writes_vectors =
      argc == 3 && argv[2] == std::string_view("vectors");
  if (argc != 4 && !writes_vectors) {
    std::fprintf(stderr,
                 "usage: write_cases DIRECTORY vectors | SEED QUESTIONS\n");
    return 2;
  }
  rowbloom::cases::CaseWriter out(argv[1]);
  if (writes_vectors) {
    WriteVectors(&out);
  } else {
    WriteRandomCases(std::strtoull(argv[2], nullptr, 10),
                     std::strtoull(argv[3], nullptr, 10), &out);
  }
  return 0;
}
