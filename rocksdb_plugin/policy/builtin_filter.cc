// SPDX-License-Identifier: Apache-2.0

#include "policy/builtin_filter.h"

#include <memory>
#include <vector>

#include "filter_bits_abi.h"

namespace rowbloom::plugin {

BuiltinAsker AskerOfBuiltin(absl::Span<const std::string> filters) {
  // Each of RocksDB's policies reads the filters of all of them.
  const std::unique_ptr<const rdb::FilterPolicy> policy(
      rdb::NewBloomFilterPolicy(10));
  using Reader = std::unique_ptr<rdb::FilterBitsReader>;
  auto readers = std::make_shared<std::vector<Reader>>();
  for (const std::string& filter : filters) {
    readers->emplace_back(policy->GetFilterBitsReader(filter));
  }
  return [readers](size_t filter, std::string_view entry) {
    const Reader& reader = (*readers)[filter];
    return reader == nullptr ||
           reader->MayMatch(rdb::Slice(entry.data(), entry.size()));
  };
}

}  // namespace rowbloom::plugin
