// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/redis/redisson.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "memfilter/estimates.h"
#include "redis/replies.h"
#include "util/absl_view.h"

namespace rowbloom {

namespace {

using Kind = RedisReply::Kind;

// Redis's Lua takes some 8,000 arguments quickly; more are further commands.
constexpr uint64_t kMaxPositionsPerCommand = 5'000;
constexpr uint64_t kBitsPerRoundTrip = 500'000;
constexpr uint64_t kPartSize = 1 << 20;
constexpr uint64_t kPartsPerRoundTrip = 16;

// Both scripts return size, hashIterations, the mark, the value's length and
// one character for each element. KEYS: configuration, bits.
//
// ARGV: probes, positions.
constexpr char kLookUp[] = R"(
local c = redis.call('hmget', KEYS[1], 'size', 'hashIterations', 'rowbloom')
local n = redis.call('strlen', KEYS[2])
local a = {}
for i = 2, #ARGV, ARGV[1] do
  local b = '1'
  for j = i, i + ARGV[1] - 1 do
    if redis.call('getbit', KEYS[2], ARGV[j]) == 0 then b = '0' break end
  end
  a[#a + 1] = b
end
return {c[1], c[2], c[3], n, table.concat(a)})";

// ARGV: probes, positions, then bits, mark, bytes of the whole value, 1 if the
// filter had a mark, and the bytes that its value had. Adds nothing if the
// filter is not as they say.
constexpr char kAdd[] = R"(
local k = ARGV[1]
local m, mark, bytes = ARGV[#ARGV - 4], ARGV[#ARGV - 3], ARGV[#ARGV - 2] + 0
local c = redis.call('hmget', KEYS[1], 'size', 'hashIterations', 'rowbloom')
local n = redis.call('strlen', KEYS[2])
if c[1] ~= m or c[2] ~= k or n > bytes or n < ARGV[#ARGV] + 0 or
   (c[3] and (c[3] ~= mark or n ~= bytes)) or
   (not c[3] and ARGV[#ARGV - 1] == '1') then
  return {c[1], c[2], c[3], n, ''}
end
if not c[3] then
  local last = redis.call('getbit', KEYS[2], m - 1)
  redis.call('setbit', KEYS[2], m - 1, last)
  redis.call('hset', KEYS[1], 'rowbloom', mark)
end
local a = {}
for i = 2, #ARGV - 5, k do
  local b = '0'
  for j = i, i + k - 1 do
    if redis.call('setbit', KEYS[2], ARGV[j], 1) == 0 then b = '1' end
  end
  a[#a + 1] = b
end
return {c[1], c[2], mark, bytes, table.concat(a)})";

// ARGV: size, hashIterations, expectedInsertions, falseProbability, mark.
// Returns 1 if it made the filter, 0 if there is one, -1 if there are bits
// without a configuration. The bits come first: they are what memory can lack.
constexpr char kInit[] = R"(
if redis.call('exists', KEYS[1]) == 1 then return 0 end
if redis.call('exists', KEYS[2]) == 1 then return -1 end
redis.call('setbit', KEYS[2], ARGV[1] - 1, 0)
redis.call('hset', KEYS[1], 'size', ARGV[1])
redis.call('hset', KEYS[1], 'hashIterations', ARGV[2])
redis.call('hset', KEYS[1], 'expectedInsertions', ARGV[3])
redis.call('hset', KEYS[1], 'falseProbability', ARGV[4])
redis.call('hset', KEYS[1], 'rowbloom', ARGV[5])
return 1)";

// As Redisson writes a number: digits, no sign, no zero before others.
std::optional<uint64_t> ParseWhole(const RedisReply& reply) {
  uint64_t value = 0;
  if (reply.kind != Kind::kText || !absl::SimpleAtoi(reply.text, &value) ||
      absl::StrCat(value) != reply.text) {
    return std::nullopt;
  }
  return value;
}

// A word that no other filter has, so that one that was deleted and made anew
// with the same parameters is not taken for the old one.
std::string NewWord() {
  std::random_device device;
  const uint64_t word = uint64_t{device()} << 32 | device();
  return absl::StrCat(absl::Hex(word, absl::kZeroPad16));
}

// Add() writes it before its word: the filter was there before the mark.
constexpr char kSignOfAdd[] = "+";

// A mark ends with the codec's name.
std::string CodecOf(absl::string_view mark) {
  return std::string(mark.substr(mark.rfind(' ') + 1));
}

// An ACL forbids scripts, or the server has none.
bool RefusesScripts(const RedisReply& reply) {
  return reply.kind == Kind::kError &&
         (absl::StartsWith(reply.text, "NOPERM") ||
          absl::StartsWithIgnoreCase(reply.text, "ERR unknown command"));
}

std::string TextOf(const RedisReply& reply) {
  return reply.kind == Kind::kText ? absl::StrCat("\"", reply.text, "\"")
                                   : "missing";
}

absl::Status CheckName(const RedissonCodec& codec) {
  if (!codec.name().empty() && codec.name().find(' ') == std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("codec \"", codec.name(),
                   "\": elements are added with a codec whose name is not "
                   "empty and has no space"));
}

}  // namespace

bool RedissonSnapshot::MayContain(std::string_view element) const {
  const auto encoded = codec_.Text(element);
  return !encoded.ok() || filter_.MayContain(RedissonDigestOf(*encoded));
}

RemoteRedissonFilter::RemoteRedissonFilter(RedisConnection* connection,
                                           std::string_view name,
                                           const RedissonCodec& codec)
    : connection_(connection),
      name_(name),
      config_name_(name.find('{') == std::string_view::npos
                       ? absl::StrCat("{", util::AbslView(name), "}:config")
                       : absl::StrCat(util::AbslView(name), ":config")),
      codec_(codec) {}

absl::StatusOr<std::vector<RedisReply>> RemoteRedissonFilter::Send(
    absl::Span<const RedisCommand> commands) {
  ++stats_.round_trips;
  return redis::SendChecked(connection_, commands);
}

absl::StatusOr<std::vector<RedisReply>> RemoteRedissonFilter::Call(
    absl::Span<const RedisCommand> commands) {
  auto replies = Send(commands);
  if (!replies.ok()) return replies;
  for (const RedisReply& reply : *replies) {
    if (absl::Status status = redis::ErrorOf(reply, name_); !status.ok()) {
      return status;
    }
  }
  return replies;
}

absl::Status RemoteRedissonFilter::NoValue(absl::string_view more) const {
  return absl::DataLossError(
      absl::StrCat("redis filter \"", name_,
                   "\" has no value: nothing was added, or it was lost", more));
}

std::string RemoteRedissonFilter::Mark(absl::string_view word) const {
  return absl::StrCat(shape_.bit_count, " ", shape_.probe_count, " ", word, " ",
                      codec_.name());
}

uint64_t RemoteRedissonFilter::ValueSize() const {
  return (shape_.bit_count + 7) / 8;
}

RedisCommand RemoteRedissonFilter::ConfigCommand() const {
  return {"HMGET",           config_name_, "size",
          "hashIterations",  "rowbloom",   "expectedInsertions",
          "falseProbability"};
}

absl::StatusOr<RemoteRedissonFilter> RemoteRedissonFilter::Open(
    RedisConnection* connection, std::string_view name,
    const RedissonCodec& codec) {
  RemoteRedissonFilter filter(connection, name, codec);
  if (absl::Status status = filter.ReadConfig(); !status.ok()) return status;
  return filter;
}

absl::Status RemoteRedissonFilter::ReadConfig() {
  const auto replies = Call({ConfigCommand(), {"STRLEN", name_}});
  if (!replies.ok()) return replies.status();
  const std::vector<RedisReply>& config = (*replies)[0].elements;
  if (config.size() != 5) return redis::NotAReply(name_);
  if (config[0].kind == Kind::kNil || config[1].kind == Kind::kNil) {
    return absl::NotFoundError(absl::StrCat(
        "redis key \"", config_name_,
        "\" has no size and hashIterations: there is no Redisson filter \"",
        name_, "\""));
  }
  const auto size = ParseWhole(config[0]);
  const auto probes = ParseWhole(config[1]);
  const bool is_number = size.has_value() && probes.has_value();
  if (is_number) {
    shape_.bit_count = *size;
    shape_.probe_count = static_cast<uint32_t>(
        std::min<uint64_t>(*probes, kMaxRedissonProbes + 1));
  }
  if (!is_number || !ValidateRedissonShape(shape_).ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "redis key \"", config_name_, "\" has size ", TextOf(config[0]),
        " and hashIterations ", TextOf(config[1]), "; expected 1 to ",
        kMaxRedissonBits, " and 1 to ", kMaxRedissonProbes,
        ": delete both keys and add the elements again"));
  }
  if (config[2].kind == Kind::kText && codec_.name().empty()) {
    codec_ = RedissonCodec(CodecOf(config[2].text));
  }
  expected_insertions_ = ParseWhole(config[3]);
  double fpp = 0;
  if (absl::SimpleAtod(config[4].text, &fpp)) fpp_ = fpp;
  return Check(config, (*replies)[1]);
}

absl::Status RemoteRedissonFilter::Check(absl::Span<const RedisReply> config,
                                         const RedisReply& length) {
  if (config.size() < 3 || length.kind != Kind::kInteger) {
    return redis::NotAReply(name_);
  }
  if (config[0].kind == Kind::kNil || config[1].kind == Kind::kNil) {
    return absl::NotFoundError(
        absl::StrCat("redis key \"", config_name_,
                     "\" is gone: open or make the filter again"));
  }
  const std::string stored =
      absl::StrCat(config[0].text, " ", config[1].text, " ");
  const std::string& mark = config[2].text;
  const bool has_mark = config[2].kind == Kind::kText;
  if (has_mark && mark.rfind(stored, 0) != 0) {
    return absl::DataLossError(absl::StrCat(
        "redis key \"", config_name_, "\" says \"", stored,
        "\" for bits and probes, and its field rowbloom \"", mark,
        "\": a tryInit() of Redisson before 3.30 has overwritten them; delete "
        "both keys and add the elements again"));
  }
  if (stored != absl::StrCat(shape_.bit_count, " ", shape_.probe_count, " ")) {
    return absl::FailedPreconditionError(
        absl::StrCat("redis key \"", config_name_, "\" says \"", stored,
                     "\" for bits and probes, no longer ", shape_.bit_count,
                     " and ", shape_.probe_count, ": open the filter again"));
  }
  if (has_mark && CodecOf(mark) != codec_.name()) {
    return absl::FailedPreconditionError(
        absl::StrCat("redis filter \"", name_, "\" has elements of codec \"",
                     CodecOf(mark), "\", not of \"", codec_.name(), "\""));
  }
  // Init() marks no filter that is there.
  if (has_mark && (is_marked() ? mark != mark_
                               : is_open_ && mark.compare(stored.size(), 1,
                                                          kSignOfAdd) != 0)) {
    return absl::FailedPreconditionError(
        absl::StrCat("redis filter \"", name_,
                     "\" was deleted and made anew: open it again"));
  }
  if (is_marked() && !has_mark) {
    return absl::FailedPreconditionError(absl::StrCat(
        "redis key \"", config_name_,
        "\" has lost its field rowbloom: the filter was made anew, maybe with "
        "another codec; open it again"));
  }
  // A value has its full length if rowbloom has marked the filter. Else it ends
  // with the highest set bit.
  const uint64_t size = static_cast<uint64_t>(length.integer);
  if (size > ValueSize() || (has_mark && size != ValueSize())) {
    return absl::DataLossError(
        absl::StrCat("redis filter \"", name_, "\" has a value of ", size,
                     " bytes; ", shape_.bit_count, " bits have ",
                     has_mark ? "" : "at most ", ValueSize(),
                     ": its bits or its parameters were lost; delete both keys "
                     "and add the elements again"));
  }
  if (size < seen_size_) {
    return absl::DataLossError(absl::StrCat(
        "redis filter \"", name_, "\" has a value of ", size,
        " bytes, which had ", seen_size_,
        ": its bits were lost; delete both keys and add the elements again"));
  }
  seen_size_ = size;
  mark_ = mark;
  is_open_ = true;
  return absl::OkStatus();
}

absl::StatusOr<RemoteRedissonFilter> RemoteRedissonFilter::Init(
    RedisConnection* connection, std::string_view name,
    const RedissonCodec& codec, uint64_t expected_insertions, double fpp) {
  const auto shape = RedissonShape(expected_insertions, fpp);
  if (!shape.ok()) return shape.status();
  if (absl::Status status = CheckName(codec); !status.ok()) return status;
  RemoteRedissonFilter filter(connection, name, codec);
  filter.shape_ = *shape;
  const auto replies = filter.Call(
      {{"EVAL", kInit, "2", filter.config_name_, filter.name_,
        absl::StrCat(shape->bit_count), absl::StrCat(shape->probe_count),
        absl::StrCat(expected_insertions), redis::NumberText(fpp),
        filter.Mark(NewWord())}});
  if (!replies.ok()) return replies.status();
  if (replies->front().integer < 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "redis key \"", filter.name_, "\" exists without \"",
        filter.config_name_, "\": delete it or choose another name"));
  }
  if (absl::Status status = filter.ReadConfig(); !status.ok()) return status;
  if (filter.shape_ != *shape) {
    return absl::AlreadyExistsError(absl::StrCat(
        "redis filter \"", filter.name_, "\" has ", filter.shape_.bit_count,
        " bits and ", filter.shape_.probe_count, " probes; asked for ",
        shape->bit_count, " and ", shape->probe_count));
  }
  return filter;
}

size_t RemoteRedissonFilter::ElementsPerCommand() const {
  return static_cast<size_t>(
      std::max<uint64_t>(1, kMaxPositionsPerCommand / shape_.probe_count));
}

std::vector<RedisCommand> RemoteRedissonFilter::ScriptCommands(
    const char* script, const std::vector<std::string>& arguments,
    absl::Span<const std::string> encoded) const {
  const size_t per_command = ElementsPerCommand();
  std::vector<RedisCommand> commands;
  for (size_t i = 0; i < encoded.size(); i += per_command) {
    RedisCommand command = {"EVAL", script,
                            "2",    config_name_,
                            name_,  absl::StrCat(shape_.probe_count)};
    for (const std::string& element : encoded.subspan(i, per_command)) {
      RedissonProbes probes(RedissonDigestOf(element), shape_.bit_count);
      for (uint32_t j = 0; j < shape_.probe_count; ++j) {
        command.push_back(absl::StrCat(probes.Next()));
      }
    }
    command.insert(command.end(), arguments.begin(), arguments.end());
    commands.push_back(std::move(command));
  }
  return commands;
}

absl::Status RemoteRedissonFilter::CheckScriptReply(const RedisReply& reply,
                                                    size_t answers) {
  if (absl::Status status = redis::ErrorOf(reply, name_); !status.ok()) {
    return status;
  }
  if (reply.elements.size() != 5) return redis::NotAReply(name_);
  absl::Status status = Check(reply.elements, reply.elements[3]);
  if (!status.ok()) return status;
  if (reply.elements[3].integer == 0) return NoValue();
  if (reply.elements[4].text.size() != answers) return redis::NotAReply(name_);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<bool>> RemoteRedissonFilter::Add(
    absl::Span<const std::string_view> elements) {
  std::vector<std::string> encoded;
  for (const std::string_view element : elements) {
    auto bytes = codec_.Text(element);
    if (!bytes.ok()) return bytes.status();
    encoded.push_back(*std::move(bytes));
  }
  return AddEncoded(encoded);
}

absl::StatusOr<std::vector<bool>> RemoteRedissonFilter::AddEncoded(
    absl::Span<const std::string> encoded) {
  if (absl::Status status = CheckName(codec_); !status.ok()) return status;
  std::vector<bool> added;
  const bool was_marked = is_marked();
  const std::vector<RedisCommand> commands =
      ScriptCommands(kAdd,
                     {absl::StrCat(shape_.bit_count),
                      was_marked ? mark_ : Mark(kSignOfAdd + NewWord()),
                      absl::StrCat(ValueSize()), was_marked ? "1" : "0",
                      absl::StrCat(seen_size_)},
                     encoded);
  if (commands.empty()) return added;
  const auto replies = Send(commands);
  if (!replies.ok()) return replies.status();
  for (size_t i = 0; i < commands.size(); ++i) {
    const size_t answers =
        (commands[i].size() - 11) / shape_.probe_count;  // Beside 11 others.
    const RedisReply& reply = (*replies)[i];
    const absl::Status status = CheckScriptReply(reply, answers);
    // Another process has added first: the mark is its own, and known now.
    if (i == 0 && !was_marked && is_marked() && reply.elements.size() == 5 &&
        reply.elements[4].text.empty()) {
      return AddEncoded(encoded);
    }
    if (!status.ok()) return status;
    for (const char answer : reply.elements[4].text) {
      added.push_back(answer == '1');
    }
  }
  return added;
}

void RemoteRedissonFilter::CountUnknown(const absl::Status& status,
                                        uint64_t lookups) {
  last_error_ = status;
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
      stats_.config_changed += lookups;
      break;
    case absl::StatusCode::kDataLoss:
      stats_.bits_lost += lookups;
      break;
    case absl::StatusCode::kInvalidArgument:
      stats_.unencodable += lookups;
      break;
    default:
      stats_.unreachable += lookups;
  }
}

bool RemoteRedissonFilter::MayContain(std::string_view element) {
  bool may_contain = true;
  MayContain({&element, 1}, &may_contain);
  return may_contain;
}

void RemoteRedissonFilter::MayContain(
    absl::Span<const std::string_view> elements, bool* may_contain) {
  std::vector<std::string> encoded;
  std::vector<size_t> places;
  for (size_t i = 0; i < elements.size(); ++i) {
    may_contain[i] = true;
    auto bytes = codec_.Text(elements[i]);
    if (bytes.ok()) {
      encoded.push_back(*std::move(bytes));
      places.push_back(i);
    } else {
      ++stats_.lookups;
      CountUnknown(bytes.status(), 1);
    }
  }
  const auto answers = std::make_unique<bool[]>(encoded.size());
  MayContainEncoded(encoded, answers.get());
  for (size_t i = 0; i < places.size(); ++i) {
    may_contain[places[i]] = answers[i];
  }
}

void RemoteRedissonFilter::MayContainEncoded(
    absl::Span<const std::string> encoded, bool* may_contain) {
  std::fill_n(may_contain, encoded.size(), true);
  if (encoded.empty()) return;
  stats_.lookups += encoded.size();
  if (scripts_refused_) return AskWithoutScripts(encoded, may_contain);
  const std::vector<RedisCommand> commands =
      ScriptCommands(kLookUp, {}, encoded);
  const auto replies = Send(commands);
  if (!replies.ok()) return CountUnknown(replies.status(), encoded.size());
  if (RefusesScripts(replies->front())) {
    scripts_refused_ = true;
    return AskWithoutScripts(encoded, may_contain);
  }
  for (size_t i = 0; i < commands.size(); ++i) {
    const size_t answers =
        (commands[i].size() - 6) / shape_.probe_count;  // Beside 6 others.
    const absl::Status status = CheckScriptReply((*replies)[i], answers);
    if (!status.ok()) {
      CountUnknown(status, answers);
    } else {
      for (size_t j = 0; j < answers; ++j) {
        may_contain[j] = (*replies)[i].elements[4].text[j] != '0';
        stats_.negatives += !may_contain[j];
      }
    }
    may_contain += answers;
  }
}

// Plain reads, which an ACL of +@read has. The filter is checked before and
// after the bits, as by Snapshot().
void RemoteRedissonFilter::AskWithoutScripts(
    absl::Span<const std::string> encoded, bool* may_contain) {
  const size_t per_command = ElementsPerCommand();
  // The replies to one Send() have a limit.
  const size_t per_round_trip =
      kBitsPerRoundTrip / kMaxPositionsPerCommand * per_command;
  if (encoded.size() > per_round_trip) {
    AskWithoutScripts(encoded.first(per_round_trip), may_contain);
    return AskWithoutScripts(encoded.subspan(per_round_trip),
                             may_contain + per_round_trip);
  }
  std::vector<RedisCommand> commands = {ConfigCommand(), {"STRLEN", name_}};
  for (size_t i = 0; i < encoded.size(); i += per_command) {
    RedisCommand command = {"BITFIELD_RO", name_};
    for (const std::string& element : encoded.subspan(i, per_command)) {
      RedissonProbes probes(RedissonDigestOf(element), shape_.bit_count);
      for (uint32_t j = 0; j < shape_.probe_count; ++j) {
        command.insert(command.end(),
                       {"GET", "u1", absl::StrCat(probes.Next())});
      }
    }
    commands.push_back(std::move(command));
  }
  commands.push_back(ConfigCommand());
  commands.push_back({"STRLEN", name_});
  const auto replies = Call(commands);
  absl::Status status = replies.status();
  for (size_t i = 0; status.ok() && i < commands.size();
       i += commands.size() - 2) {
    status = Check((*replies)[i].elements, (*replies)[i + 1]);
    if (status.ok() && (*replies)[i + 1].integer == 0) status = NoValue();
  }
  std::vector<bool> bits;
  for (size_t i = 2; status.ok() && i + 2 < commands.size(); ++i) {
    for (const RedisReply& bit : (*replies)[i].elements) {
      bits.push_back(bit.kind != Kind::kInteger || bit.integer != 0);
    }
  }
  if (status.ok() && bits.size() != encoded.size() * shape_.probe_count) {
    status = redis::NotAReply(name_);
  }
  if (!status.ok()) return CountUnknown(status, encoded.size());
  for (size_t i = 0; i < encoded.size(); ++i) {
    const auto begin =
        bits.begin() + static_cast<ptrdiff_t>(i * shape_.probe_count);
    may_contain[i] = std::find(begin, begin + shape_.probe_count, false) ==
                     begin + shape_.probe_count;
    stats_.negatives += !may_contain[i];
  }
}

absl::StatusOr<uint64_t> RemoteRedissonFilter::Count() {
  const auto replies =
      Call({ConfigCommand(), {"STRLEN", name_}, {"BITCOUNT", name_}});
  if (!replies.ok()) return replies.status();
  absl::Status status = Check((*replies)[0].elements, (*replies)[1]);
  if (!status.ok()) return status;
  return internal::memfilter::KeysThatSet(
      shape_, static_cast<uint64_t>((*replies)[2].integer));
}

absl::StatusOr<RedissonSnapshot> RemoteRedissonFilter::Snapshot() {
  const auto taken_at = std::chrono::system_clock::now();
  std::string value(static_cast<size_t>(ValueSize()), '\0');
  for (uint64_t begin = 0; begin < ValueSize();
       begin += kPartsPerRoundTrip * kPartSize) {
    // The filter is checked before and after the parts: a part of a remade
    // filter does not go unnoticed.
    std::vector<RedisCommand> commands = {ConfigCommand(), {"STRLEN", name_}};
    const uint64_t end =
        std::min(ValueSize(), begin + kPartsPerRoundTrip * kPartSize);
    for (uint64_t at = begin; at < end; at += kPartSize) {
      commands.push_back({"GETRANGE", name_, absl::StrCat(at),
                          absl::StrCat(std::min(end, at + kPartSize) - 1)});
    }
    commands.push_back(ConfigCommand());
    commands.push_back({"STRLEN", name_});
    const auto replies = Call(commands);
    if (!replies.ok()) return replies.status();
    const size_t last = replies->size() - 1;
    for (const size_t i : {size_t{0}, last - 1}) {
      const RedisReply& length = (*replies)[i + 1];
      absl::Status status = Check((*replies)[i].elements, length);
      if (!status.ok()) return status;
      if (length.integer == 0) return NoValue();
    }
    // A value that only Redisson has written ends with its highest set bit, and
    // may grow between two of these commands.
    const uint64_t size = static_cast<uint64_t>((*replies)[1].integer);
    for (size_t i = 2; i < last - 1; ++i) {
      const std::string& part = (*replies)[i].text;
      const uint64_t at = begin + (i - 2) * kPartSize;
      const uint64_t part_end = std::min(end, at + kPartSize);
      if (at + part.size() > part_end ||
          at + part.size() < std::min(part_end, size)) {
        return redis::NotAReply(name_);
      }
      value.replace(static_cast<size_t>(at), part.size(), part);
    }
  }
  auto filter = RedissonFilter::FromRedis(shape_, value);
  if (!filter.ok()) return filter.status();
  return RedissonSnapshot(*std::move(filter), codec_, taken_at);
}

absl::StatusOr<bool> RemoteRedissonFilter::Delete() {
  const auto replies = Call({{"DEL", name_, config_name_}});
  if (!replies.ok()) return replies.status();
  return replies->front().integer > 0;
}

absl::Status RemoteRedissonFilter::Expire(std::chrono::milliseconds after) {
  if (after.count() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("redis filter \"", name_, "\": cannot expire after ",
                     after.count(), " ms; must be 0 or more"));
  }
  const std::string time = absl::StrCat(after.count());
  const auto replies = Call({{"MULTI"},
                             {"PEXPIRE", name_, time},
                             {"PEXPIRE", config_name_, time},
                             {"EXEC"}});
  if (!replies.ok()) return replies.status();
  const RedisReply& done = replies->back();
  if (done.elements.size() != 2) return redis::NotAReply(name_);
  for (const RedisReply& element : done.elements) {
    absl::Status status = redis::ErrorOf(element, name_);
    if (!status.ok()) return status;
    if (element.kind != Kind::kInteger) return redis::NotAReply(name_);
  }
  if (done.elements[1].integer == 0) {
    return absl::NotFoundError(absl::StrCat("redis key \"", config_name_,
                                            "\": there is no such filter"));
  }
  if (done.elements[0].integer == 0) {
    return NoValue("; its configuration expires");
  }
  return absl::OkStatus();
}

}  // namespace rowbloom
