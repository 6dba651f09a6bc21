// SPDX-License-Identifier: Apache-2.0

#include "hfile/file_info.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "hfile/errors.h"
#include "hfile/vlong.h"
#include "util/coding.h"

namespace rowbloom::hfile {

namespace {

constexpr std::string_view kProtoMagic = "PBUF";

bool ParsePlainFileInfo(std::string_view payload, FileInfo* info) {
  int32_t count;
  if (!util::ReadBigEndian(&payload, &count) || count < 0 ||
      static_cast<uint32_t>(count) > kMaxFileInfoEntries) {
    return false;
  }
  for (int32_t i = 0; i < count; ++i) {
    std::string_view name;
    std::string_view value;
    int8_t type;  // The value's type, always bytes.
    if (!ReadSizedBytes(&payload, &name) ||
        !util::ReadBigEndian(&payload, &type) ||
        !ReadSizedBytes(&payload, &value)) {
      return false;
    }
    info->insert_or_assign(std::string(name), std::string(value));
  }
  return payload.empty();
}

}  // namespace

absl::StatusOr<FileInfo> ParseFileInfo(std::string_view payload) {
  FileInfo info;
  bool parsed;
  if (payload.substr(0, kProtoMagic.size()) == kProtoMagic) {
    payload.remove_prefix(kProtoMagic.size());
    std::string_view message;
    parsed = util::ReadSized(&payload, &message) && payload.empty() &&
             ParseFileInfoProto(message, &info);
  } else {
    parsed = ParsePlainFileInfo(payload, &info);
  }
  if (!parsed) return absl::DataLossError("file info cannot be parsed");
  return info;
}

std::string SerializeFileInfo(const FileInfo& info) {
  std::string payload(kProtoMagic);
  util::AppendSized(FileInfoProto(info), &payload);
  return payload;
}

const std::string* FindInfo(const FileInfo& info, std::string_view name) {
  const auto found = info.find(name);
  return found == info.end() ? nullptr : &found->second;
}

bool IsUnknownBloomEntry(std::string_view name) {
  return name.substr(0, std::string_view(kBloomPrefix).size()) ==
             kBloomPrefix &&
         name != kBloomTypeName && name != kBloomParamName;
}

absl::Status CheckBloomEntries(const FileInfo& info) {
  for (const auto& [name, value] : info) {
    if (!IsUnknownBloomEntry(name)) continue;
    return Unimplemented("file info has \"", absl::CHexEscape(name),
                         "\", which may change what the filters hold; ",
                         kBloomTypeName, " and ", kBloomParamName,
                         " are known; a later rowbloom may know it");
  }
  return absl::OkStatus();
}

}  // namespace rowbloom::hfile
