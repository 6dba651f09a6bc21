// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/redis/bf_commands.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redis/replies.h"
#include "util/absl_view.h"

namespace rowbloom {

namespace {

using Kind = RedisReply::Kind;
using Items = absl::Span<const std::string_view>;

void AppendItems(Items items, RedisCommand* command) {
  command->insert(command->end(), items.begin(), items.end());
}

// The module's error messages have no codes of their own, at most ERR.
absl::Status ErrorOf(const RedisReply& reply, std::string_view key) {
  absl::Status status = redis::ErrorOf(reply, key);
  if (status.ok()) return status;
  std::string text = absl::AsciiStrToLower(reply.text);
  if (absl::StartsWith(text, "err ")) text.erase(0, 4);
  // This message, and no other, quotes the command's arguments.
  if (absl::StartsWith(text, "unknown command")) {
    return absl::UnimplementedError(status.message());
  }
  const std::string code = reply.text.substr(0, reply.text.find(' '));
  if (!absl::IsUnavailable(status) ||
      (code != "ERR" && code == absl::AsciiStrToUpper(code) &&
       absl::ascii_isupper(static_cast<unsigned char>(code[0])))) {
    return status;
  }
  const auto says = [&text](absl::string_view words) {
    return absl::StrContains(text, words);
  };
  if (text == "item exists") return absl::AlreadyExistsError(status.message());
  if (text == "not found" || text == "no such key") {
    return absl::NotFoundError(status.message());
  }
  if (text == "non scaling filter is full") {
    return absl::ResourceExhaustedError(status.message());
  }
  if (says("(") || says("must be") || says("should be") || says("bad ") ||
      says("invalid")) {
    return absl::InvalidArgumentError(status.message());
  }
  return status;
}

absl::StatusOr<std::vector<absl::StatusOr<bool>>> AnswersOf(
    const RedisReply& reply, std::string_view key, size_t items) {
  std::vector<absl::StatusOr<bool>> answers;
  for (const RedisReply& element : reply.elements) {
    if (element.kind == Kind::kInteger) {
      answers.push_back(element.integer != 0);
    } else {
      absl::Status status = ErrorOf(element, key);
      answers.push_back(status.ok() ? redis::NotAReply(key) : status);
    }
  }
  // The module stops at the first error.
  if (answers.empty() || answers.size() > items ||
      (answers.size() < items && answers.back().ok())) {
    return redis::NotAReply(key);
  }
  const absl::Status last = answers.back().status();
  while (answers.size() < items) answers.emplace_back(last);
  return answers;
}

// RedisBloom's type and valkey-bloom's.
bool IsBloomType(const std::string& type) {
  return type == "MBbloom--" || type == "bloomfltr";
}

}  // namespace

absl::StatusOr<RedisReply> RemoteBfCommands::Call(std::string_view key,
                                                  const RedisCommand& command) {
  auto replies = redis::SendChecked(connection_, {command});
  if (!replies.ok()) return replies.status();
  absl::Status status = ErrorOf(replies->front(), key);
  if (!status.ok()) return status;
  return std::move(replies->front());
}

absl::StatusOr<uint64_t> RemoteBfCommands::CallForNumber(
    std::string_view key, const RedisCommand& command) {
  const auto reply = Call(key, command);
  if (!reply.ok()) return reply.status();
  if (reply->kind != Kind::kInteger) return redis::NotAReply(key);
  return static_cast<uint64_t>(reply->integer);
}

absl::StatusOr<std::vector<RedisReply>> RemoteBfCommands::CallTogether(
    std::string_view key, std::vector<RedisCommand> commands) {
  const size_t count = commands.size();
  commands.insert(commands.begin(), {"MULTI"});
  commands.push_back({"EXEC"});
  const auto replies = redis::SendChecked(connection_, commands);
  if (!replies.ok()) return replies.status();
  // The first error says why EXEC was refused.
  for (const RedisReply& reply : *replies) {
    if (absl::Status status = ErrorOf(reply, key); !status.ok()) return status;
  }
  if (replies->back().elements.size() != count) return redis::NotAReply(key);
  return replies->back().elements;
}

absl::Status RemoteBfCommands::Reserve(std::string_view key,
                                       const BfReserveOptions& options) {
  RedisCommand command = {"BF.RESERVE", std::string(key),
                          redis::NumberText(options.error_rate),
                          absl::StrCat(options.capacity)};
  if (options.expansion.has_value()) {
    command.insert(command.end(),
                   {"EXPANSION", absl::StrCat(*options.expansion)});
  }
  if (options.non_scaling) command.push_back("NONSCALING");
  return Call(key, command).status();
}

absl::StatusOr<bool> RemoteBfCommands::Add(std::string_view key,
                                           std::string_view item) {
  const auto added =
      CallForNumber(key, {"BF.ADD", std::string(key), std::string(item)});
  if (!added.ok()) return added.status();
  return *added != 0;
}

absl::StatusOr<std::vector<absl::StatusOr<bool>>> RemoteBfCommands::MAdd(
    std::string_view key, Items items) {
  RedisCommand command = {"BF.MADD", std::string(key)};
  AppendItems(items, &command);
  const auto reply = Call(key, command);
  if (!reply.ok()) return reply.status();
  return AnswersOf(*reply, key, items.size());
}

absl::StatusOr<std::vector<absl::StatusOr<bool>>> RemoteBfCommands::Insert(
    std::string_view key, const BfInsertOptions& options, Items items) {
  const BfReserveOptions& reserve = options.reserve;
  RedisCommand command = {"BF.INSERT", std::string(key)};
  const auto append = [&command](const char* name, std::string value) {
    command.insert(command.end(), {name, std::move(value)});
  };
  // NOCREATE with one of the others is the server's error.
  if (options.no_create) {
    command.push_back("NOCREATE");
  } else {
    append("CAPACITY", absl::StrCat(reserve.capacity));
    append("ERROR", redis::NumberText(reserve.error_rate));
    if (reserve.expansion.has_value()) {
      append("EXPANSION", absl::StrCat(*reserve.expansion));
    }
    if (reserve.non_scaling) command.push_back("NONSCALING");
  }
  command.push_back("ITEMS");
  AppendItems(items, &command);
  const auto reply = Call(key, command);
  if (!reply.ok()) return reply.status();
  return AnswersOf(*reply, key, items.size());
}

// TYPE and BF.MEXISTS are of one moment: between two commands another client
// could delete the key. BF.MEXISTS itself answers 0 of a missing key and of a
// key of another type.
void RemoteBfCommands::MExists(std::string_view key, Items items,
                               bool* may_exist) {
  std::fill_n(may_exist, items.size(), true);
  if (items.empty()) return;
  stats_.lookups += items.size();
  RedisCommand ask = {"BF.MEXISTS", std::string(key)};
  AppendItems(items, &ask);
  const auto replies =
      CallTogether(key, {{"TYPE", std::string(key)}, std::move(ask)});
  if (!replies.ok()) {
    last_error_ = replies.status();
    stats_.unreachable += items.size();
    return;
  }
  const std::vector<RedisReply>& done = *replies;
  if (done[0].kind == Kind::kText && !IsBloomType(done[0].text)) {
    last_error_ =
        done[0].text == "none"
            ? absl::NotFoundError(absl::StrCat(
                  "redis key \"", util::AbslView(key), "\" is missing"))
            : absl::FailedPreconditionError(absl::StrCat(
                  "redis key \"", util::AbslView(key), "\" has the type \"",
                  done[0].text,
                  "\"; the Bloom filters of RedisBloom have MBbloom-- and "
                  "those of valkey-bloom bloomfltr"));
    stats_.missing_key += items.size();
    return;
  }
  if (done[0].kind != Kind::kText || done[1].elements.size() != items.size()) {
    last_error_ = ErrorOf(done[1], key);
    if (last_error_.ok()) last_error_ = redis::NotAReply(key);
    stats_.unreachable += items.size();
    return;
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const RedisReply& answer = done[1].elements[i];
    may_exist[i] = answer.kind != Kind::kInteger || answer.integer != 0;
    stats_.negatives += !may_exist[i];
    if (answer.kind != Kind::kInteger) {
      last_error_ = redis::NotAReply(key);
      ++stats_.unreachable;
    }
  }
}

bool RemoteBfCommands::Exists(std::string_view key, std::string_view item) {
  bool may_exist = true;
  MExists(key, {&item, 1}, &may_exist);
  return may_exist;
}

absl::StatusOr<BfInfo> RemoteBfCommands::Info(std::string_view key) {
  const auto reply = Call(key, {"BF.INFO", std::string(key)});
  if (!reply.ok()) return reply.status();
  // Names and values in turn; valkey-bloom has more names.
  BfInfo info;
  for (size_t i = 0; i + 1 < reply->elements.size(); i += 2) {
    const std::string& name = reply->elements[i].text;
    const RedisReply& value = reply->elements[i + 1];
    const uint64_t number = static_cast<uint64_t>(value.integer);
    if (name == "Capacity") info.capacity = number;
    if (name == "Size") info.size_bytes = number;
    if (name == "Number of filters") info.filter_count = number;
    if (name == "Number of items inserted") info.item_count = number;
    if (name == "Expansion rate" && value.kind == Kind::kInteger) {
      info.expansion = static_cast<uint32_t>(number);
    }
  }
  if (info.filter_count == 0) return redis::NotAReply(key);
  return info;
}

absl::StatusOr<uint64_t> RemoteBfCommands::Card(std::string_view key) {
  return CallForNumber(key, {"BF.CARD", std::string(key)});
}

absl::StatusOr<bool> RemoteBfCommands::Delete(std::string_view key) {
  const auto deleted = CallForNumber(key, {"DEL", std::string(key)});
  if (!deleted.ok()) return deleted.status();
  return *deleted != 0;
}

absl::StatusOr<BfChunk> RemoteBfCommands::ScanDump(std::string_view key,
                                                   uint64_t iterator) {
  const auto reply =
      Call(key, {"BF.SCANDUMP", std::string(key), absl::StrCat(iterator)});
  if (!reply.ok()) return reply.status();
  if (reply->elements.size() != 2 ||
      reply->elements[0].kind != Kind::kInteger ||
      (reply->elements[1].kind != Kind::kText &&
       reply->elements[0].integer != 0)) {
    return redis::NotAReply(key);
  }
  return BfChunk{static_cast<uint64_t>(reply->elements[0].integer),
                 reply->elements[1].text};
}

absl::StatusOr<RedisBloomFilter> RemoteBfCommands::Dump(std::string_view key) {
  std::vector<BfChunk> chunks;
  uint64_t iterator = 0;
  uint64_t bytes = 0;
  uint64_t all_bytes = 0;  // 0 if the header does not tell.
  while (true) {
    auto chunk = ScanDump(key, iterator);
    if (!chunk.ok()) return chunk.status();
    if (chunk->iterator == 0) break;
    bytes += chunk->data.size();
    if (chunk->data.empty() || bytes > RedisBloomFilter::kDefaultMaxBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("redis filter \"", util::AbslView(key),
                       "\" has a dump of ", bytes, " bytes so far; at most ",
                       RedisBloomFilter::kDefaultMaxBytes, " are read"));
    }
    if (chunks.empty()) {
      const uint64_t behind = RedisBloomFilter::BytesBehind(chunk->data);
      if (behind > 0) all_bytes = bytes + behind;
    }
    iterator = chunk->iterator;
    chunks.push_back(*std::move(chunk));
    // Later chunks are of layers that were added meanwhile.
    if (bytes == all_bytes) break;
  }
  return RedisBloomFilter::Load(chunks);
}

absl::Status RemoteBfCommands::Restore(std::string_view key,
                                       const RedisBloomFilter& filter) {
  // In the key's slot of a cluster, if the key has no braces. Random, so that
  // two calls do not load into one filter.
  std::random_device random;
  const std::string suffix =
      absl::StrCat(":loading:", absl::Hex(random()), absl::Hex(random()));
  const std::string part =
      key.find('{') == std::string_view::npos
          ? absl::StrCat("{", util::AbslView(key), "}", suffix)
          : absl::StrCat(util::AbslView(key), suffix);
  const auto call_both = [&](RedisCommand first, RedisCommand second) {
    const auto replies =
        CallTogether(key, {std::move(first), std::move(second)});
    if (!replies.ok()) return replies.status();
    absl::Status error = ErrorOf((*replies)[0], key);
    return error.ok() ? ErrorOf((*replies)[1], key) : error;
  };
  absl::Status status;
  for (const BfChunk& chunk : filter.Dump()) {
    if (!status.ok()) break;
    // If the connection breaks, the server deletes the part.
    status = call_both(
        {"BF.LOADCHUNK", part, absl::StrCat(chunk.iterator), chunk.data},
        {"PEXPIRE", part, "3600000"});
  }
  if (status.ok()) {
    status = call_both({"PERSIST", part}, {"RENAME", part, std::string(key)});
  }
  if (!status.ok()) Delete(part).IgnoreError();
  return status;
}

}  // namespace rowbloom
