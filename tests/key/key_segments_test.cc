// SPDX-License-Identifier: Apache-2.0
//
// Key codecs of 1 to 8 segments; those of two, row and column, have
// key_codec_test.cc.

#include <gtest/gtest.h>

#include "rowbloom/key_codec.h"
#include "testing/key_codecs.h"

namespace rowbloom {
namespace {

using namespace std::string_literals;
using testing::AnyCodec;
using testing::AnySegments;
using testing::Random;
using testing::Views;

KeyCodec Codec(std::string_view text) {
  const absl::StatusOr<KeyCodec> codec = KeyCodec::Parse(text);
  EXPECT_TRUE(codec.ok()) << codec.status();
  return codec.ok() ? *codec : KeyCodec::Ordered();
}

std::string Encoded(const KeyCodec& codec,
                    const std::vector<std::string_view>& segments) {
  std::string key;
  EXPECT_TRUE(codec.Encode(segments, &key).ok());
  return key;
}

// The prefixes themselves.
std::vector<std::string> PrefixesOf(const KeyCodec& codec,
                                    const std::string& key) {
  const KeyCodec::Prefixes prefixes = codec.PrefixesOf(key);
  std::vector<std::string> result;
  for (size_t i = 0; i < prefixes.count; ++i) {
    result.push_back(key.substr(0, prefixes.sizes[i]));
  }
  return result;
}

TEST(KeySegments, BytesOfEachKindArePinned) {
  EXPECT_EQ(Encoded(Codec("fixed:2,delimiter:/,length:1,length:4,ordered,rest"),
                    {"ab", "c", "de", "fgh", "i\0"s, "j"}),
            "ab"
            "c/"
            "\2de"
            "\0\0\0\3fgh"
            "i\0\xff\0\1"
            "j"s);
}

TEST(KeySegments, PrefixesAreTheDocumentedOnes) {
  const KeyCodec codec =
      Codec("tenant.fixed:2,user.delimiter:/,row.ordered,cell.rest");
  using Strings = std::vector<std::string>;
  EXPECT_EQ(PrefixesOf(codec, "abuser/r\0\1cell"s),
            (Strings{"ab", "abuser/", "abuser/r\0"s, "abuser/r\0\1cell"s}));
  EXPECT_EQ(PrefixesOf(codec, "abuser/r\0\1"s),
            (Strings{"ab", "abuser/", "abuser/r\0"s}));
  EXPECT_EQ(PrefixesOf(codec, "abuser/r\0\2"s),
            (Strings{"ab", "abuser/", "abuser/r\0"s}));
  EXPECT_EQ(PrefixesOf(codec, "abuser/r\0\xff"s), (Strings{"ab", "abuser/"}));
  EXPECT_EQ(PrefixesOf(codec, "abuser"), (Strings{"ab"}));
  EXPECT_EQ(PrefixesOf(codec, "a"), (Strings{}));
}

TEST(KeySegments, ASegmentAfterMinusEndsNoLevel) {
  const KeyCodec codec = Codec("-shard.fixed:1,user.delimiter:/,-at.fixed:2");
  EXPECT_EQ(codec.key_level_count(), 1u);
  EXPECT_EQ(codec.SegmentsOfKeyLevel(1), 2u);
  EXPECT_EQ(codec.KeyLevelName(1), "user");
  EXPECT_EQ(PrefixesOf(codec, "7ann/12"), (std::vector<std::string>{"7ann/"}));
  EXPECT_TRUE(codec.PrefixesOf("7ann").has_segment);
  EXPECT_FALSE(codec.PrefixesOf("").has_segment);
}

// A hash of Apache Kvrocks with cluster mode: namespace, slot, user key,
// version and field.
TEST(KeySegments, AKeyOfKvrocksIsOfOneCodec) {
  const KeyCodec codec = Codec(
      "ns.length:1,-slot.fixed:2,key.length:4,version.fixed:8,field.rest");
  const std::string key =
      "\x07"
      "default"
      "\x12\x34"
      "\0\0\0\x06"
      "user:1"
      "\0\x05\xd3\0\0\0\0\x01"
      "email"s;
  EXPECT_EQ(Encoded(codec, {"default", "\x12\x34", "user:1",
                            "\0\x05\xd3\0\0\0\0\x01"s, "email"}),
            key);
  EXPECT_EQ(PrefixesOf(codec, key),
            (std::vector<std::string>{key.substr(0, 8), key.substr(0, 20),
                                      key.substr(0, 28), key}));
}

TEST(KeySegments, TextFormsRoundTrip) {
  for (const std::string& text :
       {"a.ordered"s, "tenant.fixed:4,user.delimiter:0x1f,row.ordered"s,
        "-fixed:2,rest"s, "ns.length:1,-length:4,fixed:1,x_1.rest"s,
        "1.fixed:8"s, "key.rest"s, "whole_key"s}) {
    EXPECT_EQ(Codec(text).ToString(), text);
  }
  EXPECT_EQ(Codec("a.delimiter:.,b.delimiter:|").ToString(),
            "a.delimiter:0x2e,b.delimiter:0x7c");
  EXPECT_EQ(Codec("a.fixed:4").ToStringWithoutNames(), "1.fixed:4");
  // The three codecs of row and column are key codecs of two segments.
  EXPECT_TRUE(Codec("x.ordered,y.ordered") == KeyCodec::Ordered());
  EXPECT_TRUE(Codec("fixed:3,rest") == KeyCodec::FixedRow(3));
  EXPECT_TRUE(Codec("delimiter:|,rest") == KeyCodec::Delimiter('|'));
  EXPECT_TRUE(Codec("key.rest") == KeyCodec::WholeKey());
  EXPECT_EQ(Codec("1.rest").ToString(), "whole_key");
  EXPECT_EQ(Codec("key.rest").ToStringWithoutNames(), "whole_key");
  EXPECT_EQ(Codec("ordered,ordered").ToString(), "ordered");
  EXPECT_EQ(Codec("x.ordered,y.ordered").ToString(), "x.ordered,y.ordered");
  EXPECT_EQ(Codec("x.ordered,y.ordered").ToStringWithoutNames(), "ordered");
  EXPECT_FALSE(Codec("fixed:3,-rest") == KeyCodec::FixedRow(3));
  EXPECT_FALSE(Codec("a.fixed:3") == KeyCodec::FixedRow(3));
  Random random(11);
  for (int i = 0; i < 5000; ++i) {
    const KeyCodec codec = AnyCodec(&random);
    const KeyCodec again = Codec(codec.ToString());
    ASSERT_EQ(again.ToString(), codec.ToString());
    ASSERT_TRUE(again == codec);
    ASSERT_TRUE(Codec(codec.ToStringWithoutNames()) == codec);
    for (size_t key_level = 1; key_level <= codec.key_level_count();
         ++key_level) {
      ASSERT_EQ(again.KeyLevelName(key_level), codec.KeyLevelName(key_level));
    }
  }
}

TEST(KeySegments, BadTextIsRefusedAndSaysWhy) {
  const std::pair<std::string, std::string> cases[] = {
      {"rest,fixed:1", "not the last"},
      {"rest,rest", "not the last"},
      {"rest", "needs a name"},
      {"length:1", "needs a name"},
      {"length:2,rest", "length:1, length:4"},
      {"a.ordered,a.rest", "named a"},
      {"a b.ordered,rest", "a name has"},
      {".ordered,rest", "a name has"},
      {"2.ordered,rest", "a name has"},
      {"nameofsixteenbyt.ordered,rest", "a name has"},
      {"-a.ordered,-b.rest", "no segment ends a key level"},
      {"fixed:1,", "unknown kind"},
      {"ordered,ordered,ordered,ordered,ordered,ordered,ordered,ordered,rest",
       "more than 8"},
  };
  for (const auto& [text, why] : cases) {
    const absl::StatusOr<KeyCodec> codec = KeyCodec::Parse(text);
    EXPECT_TRUE(absl::IsInvalidArgument(codec.status())) << text;
    EXPECT_NE(codec.status().ToString().find(why), std::string::npos)
        << codec.status();
  }
}

TEST(KeySegments, DecodeUndoesEncode) {
  Random random(12);
  for (int i = 0; i < 20000; ++i) {
    const KeyCodec codec = AnyCodec(&random);
    const std::vector<std::string> segments = AnySegments(codec, 5, &random);
    const bool has_rest =
        codec.segment(codec.segment_count() - 1).kind == KeyCodec::Kind::kRest;
    const std::string suffix = has_rest ? "" : random.Bytes(3);
    std::vector<std::string> decoded;
    std::string decoded_suffix;
    const std::string key = Encoded(codec, Views(segments)) + suffix;
    ASSERT_TRUE(codec.Decode(key, &decoded, &decoded_suffix).ok());
    ASSERT_EQ(decoded, segments);
    ASSERT_EQ(decoded_suffix, suffix);
  }
}

TEST(KeySegments, ASegmentThatIsNotWholeIsNamedByItsNumberAndNotDecoded) {
  const KeyCodec codec = Codec("fixed:2,delimiter:/,length:1");
  std::vector<std::string> segments = {"old"};
  std::string suffix = "old";
  EXPECT_EQ(codec.Decode("abc/\x05xyz", &segments, &suffix),
            absl::InvalidArgumentError("key of 8 bytes: segment 3 (length:1) "
                                       "at 4 is not whole"));
  EXPECT_EQ(segments, std::vector<std::string>({"ab", "c"}));
  EXPECT_EQ(suffix, "");
}

TEST(KeySegments, SegmentsThatACodecCannotHoldAreRefusedAndNothingIsAppended) {
  const KeyCodec codec = Codec("fixed:2,delimiter:/,length:1");
  std::string key = "before";
  EXPECT_FALSE(codec.Encode({"abc"}, &key).ok());
  EXPECT_FALSE(codec.Encode({"ab", "c/d"}, &key).ok());
  EXPECT_FALSE(codec.Encode({"ab", "c", std::string(256, 'x')}, &key).ok());
  EXPECT_FALSE(codec.Encode({"ab", "c", "d", "e"}, &key).ok());
  EXPECT_FALSE(codec.EncodePrefix({}, &key).ok());
  EXPECT_FALSE(codec.UpperBound({}, &key).ok());
  EXPECT_EQ(key, "before");
  EXPECT_TRUE(codec.Encode({"ab", "c", std::string(255, 'x')}, &key).ok());
}

TEST(KeySegments, APrefixIsThePrefixOfItsSegmentsAndOfEveryKeyWithThem) {
  Random random(13);
  for (int i = 0; i < 20000; ++i) {
    const KeyCodec codec = AnyCodec(&random);
    const std::vector<std::string> segments = AnySegments(codec, 4, &random);
    const std::string key = Encoded(codec, Views(segments));
    const KeyCodec::Prefixes prefixes = codec.PrefixesOf(key);
    // Only an empty "rest" is no prefix.
    ASSERT_TRUE(prefixes.count == codec.key_level_count() ||
                (prefixes.count + 1 == codec.key_level_count() &&
                 segments.back().empty()));
    for (size_t key_level = 1; key_level <= prefixes.count; ++key_level) {
      std::string prefix;
      ASSERT_TRUE(
          codec
              .EncodePrefix(
                  Views(segments, codec.SegmentsOfKeyLevel(key_level)), &prefix)
              .ok());
      ASSERT_EQ(key.substr(0, prefix.size()), prefix);
      if (codec.LastSegmentOf(key_level).leaves_out_byte) prefix.pop_back();
      ASSERT_EQ(key.substr(0, prefixes.sizes[key_level - 1]), prefix);
      const KeyCodec::Prefixes again = codec.PrefixesOf(prefix);
      ASSERT_EQ(again.count, key_level);
      ASSERT_EQ(again.sizes[key_level - 1], prefix.size());
    }
    size_t row = 0;
    const size_t column = codec.SecondPrefixSize(key, &row);
    ASSERT_EQ(row, prefixes.count > 0 ? prefixes.sizes[0] : 0);
    ASSERT_EQ(column, prefixes.count > 1 ? prefixes.sizes[1] : 0);
    ASSERT_EQ(codec.FirstPrefixSize(key), row);
  }
}

TEST(KeySegments, PrefixesOfTheNextKeyFollowFromThoseOfTheLast) {
  Random random(14);
  size_t kept_levels = 0;
  for (int i = 0; i < 2000; ++i) {
    const KeyCodec codec = AnyCodec(&random);
    std::vector<std::string> segments = AnySegments(codec, 3, &random);
    std::string last;
    KeyCodec::Prefixes prefixes;
    for (int j = 0; j < 20; ++j) {
      const size_t at = random.Below(segments.size());
      segments[at] = testing::FitSegment(codec.segment(at), random.Bytes(3));
      std::string key = Encoded(codec, Views(segments));
      if (random.Below(3) == 0) key.resize(random.Below(key.size() + 1));
      if (random.Below(3) == 0) key += random.Bytes(2);
      const size_t common = static_cast<size_t>(
          std::mismatch(last.begin(), last.end(), key.begin(), key.end())
              .first -
          last.begin());
      const size_t max_key_levels =
          random.Below(2) == 0 ? KeyCodec::kMaxSegments : 1 + random.Below(4);
      kept_levels +=
          codec.UpdatePrefixes(key, common, &prefixes, max_key_levels);
      const KeyCodec::Prefixes right = codec.PrefixesOf(key, max_key_levels);
      ASSERT_EQ(prefixes.count, right.count) << codec.ToString();
      ASSERT_EQ(prefixes.has_segment, right.has_segment);
      ASSERT_TRUE(std::equal(right.sizes.begin(),
                             right.sizes.begin() + right.count,
                             prefixes.sizes.begin()));
      last = key;
    }
  }
  EXPECT_GT(kept_levels, 20000u);
}

std::vector<std::string> Successors(const KeyCodec& codec, std::string_view key,
                                    size_t max_key_levels) {
  std::vector<std::string> successors;
  EXPECT_TRUE(codec.VisitSuccessors(
      key, codec.PrefixesOf(key, max_key_levels), max_key_levels,
      /*max_tries=*/1000,
      [&](std::string_view prefix) { successors.emplace_back(prefix); }));
  EXPECT_TRUE(successors.empty() || codec.MayHaveSuccessors(max_key_levels));
  return successors;
}

TEST(KeySegments, SuccessorsAreTheDocumentedOnes) {
  using Strings = std::vector<std::string>;
  const KeyCodec codec = Codec("fixed:1,delimiter:/,length:1,ordered,rest");
  EXPECT_EQ(Successors(codec, "a.b/\1cd\0\1e"s, 8), (Strings{"a/", "a.b/\1d"}));
  EXPECT_EQ(Successors(codec, "a.b/\1cd\0\1e"s, 2), Strings{"a/"});
  EXPECT_EQ(Successors(codec, "a.b", 8), Strings{"a/"});
  EXPECT_EQ(Successors(codec, "a.b/\1\xff", 8), Strings{"a/"});
  EXPECT_FALSE(codec.MayHaveSuccessors(1));
  EXPECT_FALSE(KeyCodec::Ordered().MayHaveSuccessors(2));
  EXPECT_FALSE(KeyCodec::FixedRow(2).MayHaveSuccessors(2));
  // The limit may be above the codec's key levels.
  for (const char* text : {"whole_key", "ordered", "fixed:2", "delimiter:/"}) {
    EXPECT_FALSE(Codec(text).MayHaveSuccessors(KeyCodec::kMaxSegments)) << text;
  }
  EXPECT_TRUE(codec.MayHaveSuccessors(KeyCodec::kMaxSegments));
  const auto ignore = [](std::string_view) {};
  const std::string dots = "a" + std::string(10, '.');
  EXPECT_TRUE(
      codec.VisitSuccessors(dots, codec.PrefixesOf(dots), 8, 10, ignore));
  EXPECT_FALSE(
      codec.VisitSuccessors(dots, codec.PrefixesOf(dots), 8, 9, ignore));
}

TEST(KeySegments, NoSuccessorThatIsAPrefixIsForgotten) {
  Random random(16);
  size_t count = 0;
  for (int i = 0; i < 20000; ++i) {
    const KeyCodec codec = AnyCodec(&random);
    std::string key = Encoded(codec, Views(AnySegments(codec, 3, &random)));
    if (random.Below(3) == 0) key.resize(random.Below(key.size() + 1));
    const std::vector<std::string> successors = Successors(codec, key, 8);
    for (size_t at = 0; at < key.size(); ++at) {
      std::string successor = key.substr(0, at + 1);
      if (successor.back() == '\xff') continue;
      ++successor.back();
      const KeyCodec::Prefixes prefixes = codec.PrefixesOf(successor);
      const bool is_prefix =
          prefixes.count >= 2 &&
          prefixes.sizes[prefixes.count - 1] == successor.size() &&
          !codec.LastSegmentOf(prefixes.count).takes_rest;
      ASSERT_EQ(is_prefix, std::find(successors.begin(), successors.end(),
                                     successor) != successors.end())
          << codec.ToString();
      count += is_prefix ? 1 : 0;
    }
  }
  EXPECT_GT(count, 5000u);
}

TEST(KeySegments, ACodecBeginsAsTheOneWhoseKeysArePrefixesOfItsOwn) {
  const KeyCodec ordered = KeyCodec::Ordered();
  EXPECT_TRUE(ordered.BeginsAs(ordered));
  EXPECT_TRUE(Codec("-x.ordered,ordered,rest").BeginsAs(ordered));
  EXPECT_FALSE(Codec("ordered,-ordered,rest").BeginsAs(ordered));
  EXPECT_FALSE(Codec("a.ordered").BeginsAs(ordered));
  EXPECT_FALSE(KeyCodec::FixedRow(2).BeginsAs(KeyCodec::FixedRow(3)));
}

TEST(KeySegments, BoundsHoldExactlyTheKeysOfTheSegments) {
  Random random(15);
  size_t inside_count = 0;
  for (int i = 0; i < 50000; ++i) {
    const KeyCodec codec = AnyCodec(&random);
    const std::vector<std::string> a = AnySegments(codec, 2, &random);
    std::vector<std::string> b = AnySegments(codec, 2, &random);
    const size_t same = random.Below(codec.segment_count() + 1);
    std::copy_n(a.begin(), same, b.begin());
    const size_t count = 1 + random.Below(codec.segment_count());
    std::string lower, upper;
    ASSERT_TRUE(codec.LowerBound(Views(a, count), &lower).ok());
    ASSERT_TRUE(codec.UpperBound(Views(a, count), &upper).ok());
    const std::string key = Encoded(codec, Views(b));
    const bool inside = key >= lower && (upper.empty() || key < upper);
    ASSERT_EQ(inside, Views(a, count) == Views(b, count)) << codec.ToString();
    inside_count += inside ? 1 : 0;
  }
  EXPECT_GT(inside_count, 10000u);
}

TEST(KeySegments, EncodingsOfOrderedFixedAndRestKeepTheOrder) {
  Random random(16);
  const KeyCodec codec = Codec("fixed:2,ordered,ordered,rest");
  for (int i = 0; i < 50000; ++i) {
    const std::vector<std::string> a = AnySegments(codec, 3, &random);
    std::vector<std::string> b = AnySegments(codec, 3, &random);
    std::copy_n(a.begin(), random.Below(5), b.begin());
    ASSERT_EQ(Encoded(codec, Views(a)) < Encoded(codec, Views(b)), a < b);
  }
}

}  // namespace
}  // namespace rowbloom
