// SPDX-License-Identifier: Apache-2.0
//
// The two protocol buffer messages of an HFile. protozero throws: proto.cc is
// the one file of the library that is compiled with exceptions, and lets none
// out.

#ifndef ROWBLOOM_HFILE_PROTO_H_
#define ROWBLOOM_HFILE_PROTO_H_

#include <map>
#include <string>
#include <string_view>

#include "hfile/trailer.h"

namespace rowbloom::hfile {

// By name, which is how HBase sorts it.
using FileInfo = std::map<std::string, std::string, std::less<>>;

// False if `message` is none. Fields that are not in it keep their values.
bool ParseTrailerProto(std::string_view message, Trailer* trailer);
// False also if it has more than these, which take more memory than bytes.
inline constexpr size_t kMaxFileInfoEntries = 1 << 20;
bool ParseFileInfoProto(std::string_view message, FileInfo* info);

std::string TrailerProto(const Trailer& trailer);
std::string FileInfoProto(const FileInfo& info);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_PROTO_H_
