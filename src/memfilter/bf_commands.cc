// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/bf_commands.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_view.h"
#include "memfilter/saved_form.h"

namespace rowbloom {

namespace {

absl::Status NotFound(std::string_view key) {
  return absl::NotFoundError(
      absl::StrCat("there is no filter \"", base::AbslView(key), "\""));
}

absl::StatusOr<ScalableFilter> Make(const BfReserveOptions& options) {
  if (options.non_scaling && options.expansion) {
    return absl::InvalidArgumentError("a non-scaling filter has no expansion");
  }
  ScalableOptions made;
  made.target_fpr = options.error_rate;
  made.capacity = options.capacity;
  made.expansion = options.expansion.value_or(made.expansion);
  made.non_scaling = options.non_scaling;
  return ScalableFilter::New(made);
}

// Up to the first error, which is the last answer.
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

absl::StatusOr<ScalableFilter*> BfCommands::FindOrMake(
    std::string_view key, const BfReserveOptions& options) {
  auto it = filters_.find(key);
  if (it == filters_.end()) {
    auto filter = Make(options);
    if (!filter.ok()) return filter.status();
    it = filters_.emplace(key, *std::move(filter)).first;
  }
  return &it->second;
}

absl::Status BfCommands::Reserve(std::string_view key,
                                 const BfReserveOptions& options) {
  if (Find(key) != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrCat("there is a filter \"", base::AbslView(key), "\""));
  }
  return FindOrMake(key, options).status();
}

absl::StatusOr<bool> BfCommands::Add(std::string_view key,
                                     std::string_view item) {
  return MAdd(key, {item}).front();
}

std::vector<absl::StatusOr<bool>> BfCommands::MAdd(
    std::string_view key, absl::Span<const std::string_view> items) {
  const auto filter = FindOrMake(key, {});
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
  if (options.no_create && Find(key) == nullptr) return NotFound(key);
  const auto filter = FindOrMake(key, options.reserve);
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

// An iterator is where the next chunk begins.
absl::StatusOr<BfChunk> BfCommands::ScanDump(std::string_view key,
                                             uint64_t iterator,
                                             size_t max_chunk_bytes) {
  if (max_chunk_bytes == 0) {
    return absl::InvalidArgumentError("chunks of 0 bytes");
  }
  if (iterator == 0) {
    const ScalableFilter* filter = Find(key);
    if (filter == nullptr) return NotFound(key);
    dumps_.insert_or_assign(std::string(key), filter->Save());
  }
  const auto dump = dumps_.find(key);
  if (dump == dumps_.end() || iterator > dump->second.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("dump of filter \"", base::AbslView(key), "\": iterator ",
                     iterator, " was not given out"));
  }
  BfChunk chunk;
  chunk.data =
      dump->second.substr(static_cast<size_t>(iterator), max_chunk_bytes);
  if (chunk.data.empty()) {
    dumps_.erase(dump);
  } else {
    chunk.iterator = iterator + chunk.data.size();
  }
  return chunk;
}

absl::Status BfCommands::LoadChunk(std::string_view key, uint64_t iterator,
                                   std::string_view data) {
  if (data.empty() || iterator < data.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "chunk of ", data.size(), " bytes with iterator ", iterator));
  }
  const uint64_t begin = iterator - data.size();
  auto load = loads_.find(key);
  if (begin == 0) {
    load = loads_.insert_or_assign(std::string(key), std::string()).first;
  } else if (load == loads_.end() || load->second.size() != begin) {
    if (load != loads_.end()) loads_.erase(load);
    return absl::InvalidArgumentError(
        absl::StrCat("chunk that begins at ", begin, " is out of order"));
  }
  std::string& bytes = load->second;
  bytes.append(data);
  const auto size = memfilter::SavedFormSize(bytes);
  if (size.ok() && bytes.size() < *size) return absl::OkStatus();
  absl::Status status = size.status();
  if (status.ok()) {
    auto filter = ScalableFilter::Load(bytes);
    status = filter.status();
    if (status.ok()) {
      filters_.insert_or_assign(std::string(key), *std::move(filter));
    }
  }
  loads_.erase(load);
  return status;
}

}  // namespace rowbloom
