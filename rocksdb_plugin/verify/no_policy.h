// SPDX-License-Identifier: Apache-2.0
//
// The checks of options and of files say this in the same words.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_NO_POLICY_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_NO_POLICY_H_

namespace rowbloom::plugin {

inline constexpr char kNoPolicyWarning[] =
    "filter_policy is nullptr: each get reads a block of each SST that may "
    "hold the key; RocksDB drops a filter_policy whose text it cannot parse, "
    "whose name it does not know, or whose library is not registered, without "
    "an error (RegisterRocksDb(), ParseRocksDbFilterPolicy())";

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_NO_POLICY_H_
