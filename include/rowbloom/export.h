// SPDX-License-Identifier: Apache-2.0
//
// Public headers open their namespace with ROWBLOOM_EXPORT, so that a shared
// library exports what they declare and, built with -fvisibility=hidden,
// nothing else:
//
//   namespace ROWBLOOM_EXPORT rowbloom {
//
// Only that block is exported, not the same namespace opened elsewhere.

#ifndef ROWBLOOM_EXPORT_H_
#define ROWBLOOM_EXPORT_H_

#if defined(__GNUC__)
#define ROWBLOOM_EXPORT [[gnu::visibility("default")]]
#else
#define ROWBLOOM_EXPORT
#endif

#endif  // ROWBLOOM_EXPORT_H_
