// SPDX-License-Identifier: Apache-2.0
//
// The two protocol buffer messages of an HFile. protozero throws: proto.cc is
// the only file of the library that is compiled with exceptions, and catches
// all of them.

#ifndef ROWBLOOM_HFILE_PROTO_H_
#define ROWBLOOM_HFILE_PROTO_H_

#include <map>
#include <string>
#include <string_view>

#include "hfile/trailer.h"

namespace rowbloom::hfile {

// Sorted by name, as HBase sorts it.
using FileInfo = std::map<std::string, std::string, std::less<>>;

// Returns false if `message` is malformed. Fields that it lacks keep their
// values.
bool ParseTrailerProto(std::string_view message, Trailer* trailer);
// Also returns false beyond this many entries, since entries take more memory
// than bytes of the message.
inline constexpr size_t kMaxFileInfoEntries = 1 << 20;
bool ParseFileInfoProto(std::string_view message, FileInfo* info);

std::string TrailerProto(const Trailer& trailer);
std::string FileInfoProto(const FileInfo& info);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_PROTO_H_
