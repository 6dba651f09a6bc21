// SPDX-License-Identifier: Apache-2.0

#include "hfile/proto.h"

#include <gtest/gtest.h>

#include <string>

namespace rowbloom::hfile {
namespace {

TEST(FileInfoProto, FieldsOfALaterVersionArePassedOver) {
  const FileInfo info = {{"hfile.A", "1"}, {"hfile.B", "2"}};
  const std::string field_9 = "\x4a\x03new";
  FileInfo parsed;
  ASSERT_TRUE(ParseFileInfoProto(field_9 + FileInfoProto(info), &parsed));
  EXPECT_EQ(parsed, info);
}

}  // namespace
}  // namespace rowbloom::hfile
