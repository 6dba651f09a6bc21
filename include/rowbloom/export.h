// SPDX-License-Identifier: Apache-2.0
//
// Public headers open their namespace with ROWBLOOM_EXPORT, so that a shared
// library exports what they declare and, built with -fvisibility=hidden,
// nothing else:
//
//   namespace ROWBLOOM_EXPORT rowbloom {
//
// Only that block is exported, not the same namespace opened elsewhere, nor a
// class that is marked with ROWBLOOM_HIDDEN.
//
// Static libraries are built, and their users' code is compiled, with
// ROWBLOOM_STATIC_DEFINE: what contains them and is compiled with
// -fvisibility=hidden exports nothing of rowbloom. The CMake targets and
// pkg-config set it.

#ifndef ROWBLOOM_EXPORT_H_
#define ROWBLOOM_EXPORT_H_

#if defined(__GNUC__) && !defined(ROWBLOOM_STATIC_DEFINE)
#define ROWBLOOM_EXPORT [[gnu::visibility("default")]]
#define ROWBLOOM_HIDDEN [[gnu::visibility("hidden")]]
#else
#define ROWBLOOM_EXPORT
#define ROWBLOOM_HIDDEN
#endif

#endif  // ROWBLOOM_EXPORT_H_
