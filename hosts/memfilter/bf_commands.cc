// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/bf_commands.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "memfilter/saved_form.h"
#include "util/absl_view.h"

namespace rowbloom {

namespace {

absl::Status NotFound(std::string_view key) {
  return absl::NotFoundError(
      absl::StrCat("there is no filter \"", util::AbslView(key), "\""));
}

constexpr int kOffsetBits = 48;
constexpr uint64_t kOffsetMask = (uint64_t{1} << kOffsetBits) - 1;
constexpr uint64_t kMaxDump = (uint64_t{1} << (64 - kOffsetBits)) - 1;

// Adds items up to the first error, which is the last answer.
std::vector<absl::StatusOr<bool>> AddItems(
    ScalableFilter* filter, absl::Span<const std::string_view> items) {
  std::vector<absl::StatusOr<bool>> answers;
  for (const std::string_view item : items) {
    answers.push_back(filter->Add(DigestBytes(item)));
    if (!answers.back().ok()) break;
  }
  return answers;
}

}  // namespace

const ScalableFilter* BfCommands::Find(std::string_view key) const {
  const auto it = filters_.find(key);
  return it == filters_.end() ? nullptr : &it->second;
}

absl::StatusOr<ScalableOptions> BfCommands::OptionsOf(
    const BfReserveOptions& options) const {
  if (options.non_scaling && options.expansion) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expansion ", *options.expansion, ": a non-scaling filter has none"));
  }
  ScalableOptions made;
  made.target_fpr = options.error_rate;
  made.capacity = options.capacity;
  made.non_scaling = options.non_scaling || options.expansion == 0;
  if (!made.non_scaling) {
    made.expansion = options.expansion.value_or(made.expansion);
  }
  made.max_memory_bytes = limits_.max_filter_bytes;
  if (absl::Status status = ValidateOptions(made); !status.ok()) return status;
  return made;
}

absl::StatusOr<ScalableFilter*> BfCommands::FindOrMake(
    std::string_view key, const ScalableOptions& options) {
  auto it = filters_.find(key);
  if (it == filters_.end()) {
    auto filter = ScalableFilter::New(options);
    if (!filter.ok()) return filter.status();
    it = filters_.emplace(key, *std::move(filter)).first;
  }
  return &it->second;
}

absl::Status BfCommands::Reserve(std::string_view key,
                                 const BfReserveOptions& options) {
  const auto made = OptionsOf(options);
  if (!made.ok()) return made.status();
  if (Find(key) != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrCat("there is a filter \"", util::AbslView(key), "\""));
  }
  return FindOrMake(key, *made).status();
}

absl::StatusOr<bool> BfCommands::Add(std::string_view key,
                                     std::string_view item) {
  return MAdd(key, {item}).front();
}

std::vector<absl::StatusOr<bool>> BfCommands::MAdd(
    std::string_view key, absl::Span<const std::string_view> items) {
  if (items.empty()) return {};
  const auto filter = FindOrMake(key, *OptionsOf({}));
  if (!filter.ok()) return {filter.status()};
  return AddItems(*filter, items);
}

bool BfCommands::Exists(std::string_view key, std::string_view item) const {
  const ScalableFilter* filter = Find(key);
  return filter != nullptr && filter->MayContain(DigestBytes(item));
}

std::vector<bool> BfCommands::MExists(
    std::string_view key, absl::Span<const std::string_view> items) const {
  std::vector<bool> answers;
  for (const std::string_view item : items) {
    answers.push_back(Exists(key, item));
  }
  return answers;
}

absl::StatusOr<std::vector<absl::StatusOr<bool>>> BfCommands::Insert(
    std::string_view key, const BfInsertOptions& options,
    absl::Span<const std::string_view> items) {
  const auto made = OptionsOf(options.reserve);
  if (!made.ok()) return made.status();
  if (options.no_create && Find(key) == nullptr) return NotFound(key);
  if (items.empty()) return std::vector<absl::StatusOr<bool>>();
  const auto filter = FindOrMake(key, *made);
  if (!filter.ok()) return filter.status();
  return AddItems(*filter, items);
}

absl::StatusOr<BfInfo> BfCommands::Info(std::string_view key) const {
  const ScalableFilter* filter = Find(key);
  if (filter == nullptr) return NotFound(key);
  BfInfo info;
  info.capacity = filter->capacity();
  info.size_bytes = filter->memory_usage_bytes();
  info.filter_count = filter->layer_count();
  info.item_count = filter->approximate_count();
  if (!filter->options().non_scaling) {
    info.expansion = filter->options().expansion;
  }
  return info;
}

uint64_t BfCommands::Card(std::string_view key) const {
  const ScalableFilter* filter = Find(key);
  return filter == nullptr ? 0 : filter->approximate_count();
}

BfCommands::Transfers::iterator BfCommands::FindTransfer(Transfers* transfers,
                                                         std::string_view key,
                                                         uint64_t dump) {
  return std::find_if(transfers->begin(), transfers->end(),
                      [&](const Transfer& transfer) {
                        return transfer.key == key && transfer.dump == dump;
                      });
}

// Appends a transfer, and drops the oldest if there are more than `most`.
BfCommands::Transfers::iterator BfCommands::Begin(Transfer transfer,
                                                  size_t most,
                                                  Transfers* transfers) {
  transfers->push_back(std::move(transfer));
  if (transfers->size() > std::max<size_t>(most, 1)) transfers->pop_front();
  return std::prev(transfers->end());
}

absl::StatusOr<BfChunk> BfCommands::ScanDump(std::string_view key,
                                             uint64_t iterator,
                                             size_t max_chunk_bytes) {
  if (max_chunk_bytes == 0) {
    return absl::InvalidArgumentError("chunks of 0 bytes");
  }
  const ScalableFilter* filter = Find(key);
  if (filter == nullptr) return NotFound(key);
  auto dump = FindTransfer(&dumps_, key, iterator >> kOffsetBits);
  if (iterator == 0) {
    last_dump_ = last_dump_ % kMaxDump + 1;
    dump = Begin({std::string(key), last_dump_, filter->Save()},
                 limits_.max_dumps, &dumps_);
  }
  if (dump == dumps_.end() || (iterator & kOffsetMask) != dump->next) {
    return absl::InvalidArgumentError(
        absl::StrCat("filter \"", util::AbslView(key), "\" has no dump at ",
                     "iterator ", iterator));
  }
  BfChunk chunk;
  chunk.data = dump->bytes.substr(dump->next, max_chunk_bytes);
  if (chunk.data.empty()) {
    dumps_.erase(dump);
  } else {
    dump->next += chunk.data.size();
    chunk.iterator = dump->dump << kOffsetBits | dump->next;
  }
  return chunk;
}

absl::StatusOr<bool> BfCommands::AppendChunk(Transfer* load, uint64_t begin,
                                             std::string_view data) const {
  if (data.empty() || load->bytes.size() != begin) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk of ", data.size(), " bytes that begins at ", begin,
                     ": ", load->bytes.size(), " have been loaded"));
  }
  load->bytes.append(data);
  const auto size = memfilter::SavedFormSize(load->bytes);
  if (!size.ok()) return size.status();
  if (*size > limits_.max_filter_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("dump of ", *size, " bytes: a filter has at most ",
                     limits_.max_filter_bytes));
  }
  return load->bytes.size() >= *size;
}

absl::Status BfCommands::LoadChunk(std::string_view key, uint64_t iterator,
                                   std::string_view data) {
  const uint64_t dump = iterator >> kOffsetBits;
  // Wraps around if the chunk is longer than the offset; then it fits no load.
  const uint64_t begin = (iterator & kOffsetMask) - data.size();
  auto load = FindTransfer(&loads_, key, dump);
  if (begin == 0 && !data.empty()) {
    if (load != loads_.end()) loads_.erase(load);
    load = Begin({std::string(key), dump, ""}, limits_.max_loads, &loads_);
  } else if (load == loads_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk of ", data.size(), " bytes with iterator ",
                     iterator, " continues no load"));
  }
  const auto is_whole = AppendChunk(&*load, begin, data);
  if (is_whole.ok() && !*is_whole) return absl::OkStatus();
  absl::Status status = is_whole.status();
  if (status.ok()) {
    auto filter = ScalableFilter::Load(load->bytes, limits_.max_filter_bytes);
    status = filter.status();
    if (status.ok()) {
      filters_.insert_or_assign(load->key, *std::move(filter));
    }
  }
  loads_.erase(load);
  return status;
}

bool BfCommands::Delete(std::string_view key) {
  const auto is_of_key = [key](const Transfer& transfer) {
    return transfer.key == key;
  };
  dumps_.remove_if(is_of_key);
  loads_.remove_if(is_of_key);
  const auto it = filters_.find(key);
  if (it == filters_.end()) return false;
  filters_.erase(it);
  return true;
}

}  // namespace rowbloom
