// SPDX-License-Identifier: Apache-2.0

#include "policy/scan_question.h"

namespace rowbloom {

namespace {
thread_local const ScanQuestion* question_of_this_thread = nullptr;
}  // namespace

ScanQuestion::Scope::Scope(const ScanQuestion* question)
    : outer_(question_of_this_thread) {
  question_of_this_thread = question;
}

ScanQuestion::Scope::~Scope() { question_of_this_thread = outer_; }

const ScanQuestion* ScanQuestion::OfThisThread() {
  return question_of_this_thread;
}

}  // namespace rowbloom
