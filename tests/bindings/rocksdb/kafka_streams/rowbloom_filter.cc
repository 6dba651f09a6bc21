// SPDX-License-Identifier: Apache-2.0
//
// The native method of RowbloomFilter.java.

#include <jni.h>

#include <memory>

#include "rocksdb/filter_policy.h"
#include "rocksdb/status.h"
#include "rowbloom/rocksdb.h"

// RocksJava's class Filter owns a pointer to a shared_ptr.
extern "C" JNIEXPORT jlong JNICALL Java_RowbloomFilter_create(JNIEnv* env,
                                                              jclass /*type*/,
                                                              jstring text) {
  const char* chars = env->GetStringUTFChars(text, nullptr);
  if (chars == nullptr) return 0;
  auto policy =
      std::make_unique<std::shared_ptr<const rocksdb::FilterPolicy>>();
  const rocksdb::Status status =
      rowbloom::ParseRocksDbFilterPolicy(chars, policy.get());
  env->ReleaseStringUTFChars(text, chars);
  if (status.ok()) return reinterpret_cast<jlong>(policy.release());
  env->ThrowNew(env->FindClass("java/lang/IllegalArgumentException"),
                status.ToString().c_str());
  return 0;
}
