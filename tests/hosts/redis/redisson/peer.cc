// SPDX-License-Identifier: Apache-2.0
//
// rowbloom's side of compare.sh.
//
//   redisson_peer PORT before CODEC...  makes filters that Redisson then uses
//   redisson_peer PORT after CODEC...   exit code 1 if bits, answers or texts
//                                       differ from those of Redisson
//   redisson_peer PORT bench            times of batches of 1,000
//
// Keys, each followed by the codec's name:
//   java:     Redisson adds all 10,000 texts
//   cpp:      rowbloom does
//   both:     rowbloom adds the even ones, Redisson the odd ones
//   answers:  Redisson's answers of cpp: for 1,000 other texts
//   other:    Redisson adds numbers and long texts
//   trap:     rowbloom's; Redisson calls tryInit() with other parameters

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/redis/connection.h"
#include "rowbloom/redis/redisson.h"

namespace rowbloom {
namespace {

constexpr int kElements = 10'000;
constexpr double kRate = 0.01;

std::string Text(int i) {
  static constexpr const char* kOthers[] = {"\u00e9", "\u20ac", "\U0001f600"};
  uint64_t state = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u + 1;
  std::string text;
  for (int length = i % 81; length > 0; --length) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const unsigned c =
        static_cast<unsigned>((state >> 33) % (i % 3 == 0 ? 36 : 40));
    if (c < 36) {
      text.push_back(static_cast<char>(c < 26 ? 'a' + c : '0' + c - 26));
    } else if (c < 39) {
      text += kOthers[c - 36];
    } else {
      text.push_back('\0');
    }
  }
  return text;
}

std::vector<std::string> Texts(int begin, int end, int step) {
  std::vector<std::string> texts;
  for (int i = begin; i < end; i += step) texts.push_back(Text(i));
  return texts;
}

template <typename T>
T Checked(absl::StatusOr<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(result);
}

void Add(RemoteRedissonFilter* filter, const std::vector<std::string>& texts) {
  for (size_t i = 0; i < texts.size(); i += 1000) {
    const size_t end = std::min(i + 1000, texts.size());
    Checked(filter->Add(std::vector<std::string_view>(&texts[i], &texts[end])));
  }
}

// One character for each text, as Redisson's answers have.
std::string Answers(RemoteRedissonFilter* filter,
                    const std::vector<std::string>& texts) {
  const auto answers = std::make_unique<bool[]>(texts.size());
  filter->MayContain(std::vector<std::string_view>(texts.begin(), texts.end()),
                     answers.get());
  std::string characters;
  for (size_t i = 0; i < texts.size(); ++i) {
    characters.push_back(answers[i] ? '1' : '0');
  }
  return characters;
}

void Before(RedisConnection* connection, const std::string& name) {
  const RedissonCodec codec(name);
  auto cpp = Checked(RemoteRedissonFilter::Init(connection, "cpp:" + name,
                                                codec, kElements, kRate));
  Add(&cpp, Texts(0, kElements, 1));
  auto both = Checked(RemoteRedissonFilter::Init(connection, "both:" + name,
                                                 codec, kElements, kRate));
  Add(&both, Texts(0, kElements, 2));
  auto trap = Checked(
      RemoteRedissonFilter::Init(connection, "trap:" + name, codec, 100, 0.01));
  Add(&trap, Texts(0, 100, 1));
}

bool Same(const char* what, const std::string& name, const std::string& ours,
          const std::string& theirs) {
  if (ours != theirs) {
    std::printf("  rowbloom, %s: %s differ\n", name.c_str(), what);
  }
  return ours == theirs;
}

bool After(RedisConnection* connection, const std::string& name) {
  const RedissonCodec codec(name);
  const std::vector<std::string> texts = Texts(0, kElements, 1);
  bool good = true;
  std::vector<std::string> values;
  int64_t lost = 0;
  for (const char* kind : {"java:", "cpp:", "both:"}) {
    auto filter =
        Checked(RemoteRedissonFilter::Open(connection, kind + name, codec));
    const std::string answers = Answers(&filter, texts);
    lost += std::count(answers.begin(), answers.end(), '0');
    const auto snapshot = Checked(filter.Snapshot());
    for (const std::string& text : texts) lost += !snapshot.MayContain(text);
    values.push_back(snapshot.filter().ToRedis());
  }
  good &= lost == 0;
  good &= Same("bits of java: and cpp:", name, values[0], values[1]);
  good &= Same("bits of java: and both:", name, values[0], values[2]);

  // Redisson before 3.23 does not look at the last position.
  const std::vector<std::string> other_texts =
      Texts(kElements, kElements + 1000, 1);
  auto cpp =
      Checked(RemoteRedissonFilter::Open(connection, "cpp:" + name, codec));
  const std::string answers = Answers(&cpp, other_texts);
  const auto fewer = Checked(RedissonFilter::FromRedis(
      {cpp.shape().bit_count, cpp.shape().probe_count - 1}, values[1]));
  std::string answers_of_fewer;
  for (const std::string& text : other_texts) {
    answers_of_fewer.push_back(
        fewer.MayContain(RedissonDigestOf(Checked(codec.Text(text)))) ? '1'
                                                                      : '0');
  }
  const auto theirs = Checked(connection->Send({{"GET", "answers:" + name}}));
  const bool looks_at_all = theirs[0].text == answers;
  good &=
      looks_at_all || Same("answers", name, answers_of_fewer, theirs[0].text);

  if (name != "ByteArrayCodec") {
    auto others = Checked(RedissonFilter::New(1000, kRate));
    for (int i = -50; i < 50; ++i) {
      others.Add(RedissonDigestOf(Checked(codec.Int(i * 40'000'000))));
      others.Add(
          RedissonDigestOf(Checked(codec.Long(i * 180'000'000'000'000'000))));
    }
    for (const size_t length : {255, 256, 257, 300, 70'000}) {
      others.Add(
          RedissonDigestOf(Checked(codec.Text(std::string(length, 'x')))));
    }
    const auto other =
        Checked(RemoteRedissonFilter::Open(connection, "other:" + name, codec))
            .Snapshot();
    good &= Same("bits of numbers and long texts", name, others.ToRedis(),
                 Checked(other).filter().ToRedis());
  }

  // Redisson to 3.29 has overwritten the parameters, which Open() refuses and
  // an object of before answers with "maybe". Since then it keeps them.
  auto trap = RemoteRedissonFilter::Open(connection, "trap:" + name, codec);
  const bool is_kept = trap.ok();
  if (is_kept) {
    const std::string kept = Answers(&*trap, Texts(0, 100, 1));
    good &= Same("answers of trap:", name, kept, std::string(100, '1'));
  }
  good &= is_kept || trap.status().code() == absl::StatusCode::kDataLoss;
  std::printf(
      "  rowbloom, %s: %lld of 6 times %d lost, %zu bytes equal, %lld of 1,000 "
      "others \"maybe\"%s; tryInit() with other parameters %s\n",
      name.c_str(), static_cast<long long>(lost), kElements, values[0].size(),
      static_cast<long long>(std::count(answers.begin(), answers.end(), '1')),
      looks_at_all ? "" : " (Redisson ignores the last position)",
      is_kept ? "changed nothing" : "was found out");
  return good;
}

void Bench(RedisConnection* connection) {
  using Clock = std::chrono::steady_clock;
  auto filter = Checked(RemoteRedissonFilter::Init(
      connection, "bench:cpp", RedissonCodec("StringCodec"), 1'000'000, kRate));
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) texts.push_back("user" + std::to_string(i));
  const std::vector<std::string_view> batch(texts.begin(), texts.end());
  for (const bool is_add : {true, false}) {
    const uint64_t before = filter.stats().round_trips;
    std::vector<double> times;
    for (int round = 0; round < 40; ++round) {
      bool answers[1000];
      const auto start = Clock::now();
      if (is_add) {
        Checked(filter.Add(batch));
      } else {
        filter.MayContain(batch, answers);
      }
      times.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - start)
              .count());
    }
    std::sort(times.begin() + 20, times.end());
    std::printf(
        "  rowbloom: %s of 1,000: %.0f round trips, %.2f ms, the "
        "least %.2f\n",
        is_add ? "Add" : "MayContain",
        static_cast<double>(filter.stats().round_trips - before) / 40,
        times[30], times[20]);
  }
  Checked(filter.Delete());
}

}  // namespace
}  // namespace rowbloom

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  rowbloom::RedisOptions options;
  options.port = std::atoi(argv[1]);
  options.timeout = std::chrono::milliseconds(10'000);
  const auto connection = rowbloom::Checked(rowbloom::ConnectRedis(options));
  const std::string_view verb = argv[2];
  bool good = true;
  if (verb == "bench") rowbloom::Bench(connection.get());
  for (int i = 3; i < argc; ++i) {
    if (verb == "before") {
      rowbloom::Before(connection.get(), argv[i]);
    } else {
      good &= rowbloom::After(connection.get(), argv[i]);
    }
  }
  return good ? 0 : 1;
}
