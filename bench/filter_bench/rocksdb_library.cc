// SPDX-License-Identifier: Apache-2.0

#include "rocksdb_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "rocksdb/version.h"

namespace rowbloom::filter_bench {
namespace {

constexpr char kNewBloom[] = "_ZN7rocksdb20NewBloomFilterPolicyEdb";
constexpr char kNewRibbon[] = "_ZN7rocksdb21NewRibbonFilterPolicyEdi";
constexpr char kNewContext[] =
    "_ZN7rocksdb21FilterBuildingContextC1ERKNS_22BlockBasedTableOptionsE";
constexpr char kHash64[] = "_ZN7rocksdb6Hash64EPKcm";
constexpr char kVersion[] = "_ZN7rocksdb23GetRocksVersionAsStringB5cxx11Eb";

std::string HeaderRelease() {
  return std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR);
}

void* Load(const std::string& path) {
  // Distributions put major and minor into the soname, RocksDB's own build
  // the major alone.
  const std::vector<std::string> names =
      path.empty()
          ? std::vector<std::string>{"librocksdb.so." + HeaderRelease(),
                                     "librocksdb.so." +
                                         std::to_string(ROCKSDB_MAJOR)}
          : std::vector<std::string>{path};
  std::string errors;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return handle;
    }
    errors += std::string("\n  ") + dlerror();
  }
  throw std::runtime_error(
      "cannot load librocksdb; name one with --rocksdb-lib:" + errors);
}

// The bytes from `code` to the end of its executable segment, at most `limit`.
size_t CodeSize(const unsigned char* code, size_t limit) {
  struct Search {
    uintptr_t code;
    size_t size;
  } search = {reinterpret_cast<uintptr_t>(code), 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        Search* s = static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
              s->code >= begin && s->code - begin < segment.p_memsz) {
            s->size = segment.p_memsz - (s->code - begin);
            return 1;
          }
        }
        return 0;
      },
      &search);
  return std::min(limit, search.size);
}

// Whether the code multiplies and permutes eight 32-bit lanes at once:
// vpmulld and vpermd on 256-bit registers, which is how RocksDB's vectorized
// Bloom filter computes its probes and gathers their words, and what no
// compiler makes of its scalar loop. Each may be encoded as
//   VEX:  c4, low 5 bits 00010, low 3 bits 101 (256 bits, prefix 66), opcode
//   EVEX: 62, low 4 bits 0010, low 3 bits 101, bits 5 and 6 01, opcode
bool HasVectorProbes(const unsigned char* code, size_t size) {
  constexpr unsigned char kVpmulld = 0x40;
  constexpr unsigned char kVpermd = 0x36;
  bool multiplies = false;
  bool permutes = false;
  for (size_t i = 0; i + 5 <= size; ++i) {
    const unsigned char* c = code + i;
    unsigned char opcode = 0;
    if (c[0] == 0xc4 && (c[1] & 0x1f) == 2 && (c[2] & 7) == 5) {
      opcode = c[3];
    } else if (c[0] == 0x62 && (c[1] & 0x0f) == 2 && (c[2] & 7) == 5 &&
               (c[3] & 0x60) == 0x20) {
      opcode = c[4];
    }
    multiplies |= opcode == kVpmulld;
    permutes |= opcode == kVpermd;
  }
  return multiplies && permutes;
}

// Looks at the code of MayMatch(const Slice&), which the vtable has behind
// two destructors.
bool UsesAvx2(const rocksdb::FilterBitsReader& reader) {
  constexpr size_t kMayMatchSlot = 2;
  constexpr size_t kEnough = 512;  // The function and its inlined lookup.
  const auto* vtable =
      *reinterpret_cast<const unsigned char* const* const*>(&reader);
  const unsigned char* code = vtable[kMayMatchSlot];
  return HasVectorProbes(code, CodeSize(code, kEnough));
}

}  // namespace

template <class Function>
Function RocksDbLibrary::Find(const char* mangled_name) const {
  void* address = dlsym(handle_, mangled_name);
  if (address == nullptr) {
    throw std::runtime_error(std::string("this librocksdb has no ") +
                             mangled_name +
                             "; it must export all symbols and be built with "
                             "libstdc++");
  }
  return reinterpret_cast<Function>(address);
}

RocksDbLibrary::RocksDbLibrary(const std::string& path) : handle_(Load(path)) {
  version_ = Find<std::string (*)(bool)>(kVersion)(/*with_patch=*/true);
  if (version_.rfind(HeaderRelease() + ".", 0) != 0) {
    throw std::runtime_error(
        (path.empty() ? "librocksdb" : path) + " is RocksDB " + version_ +
        ", but this program was compiled with the headers of " +
        HeaderRelease() + "; use a library of that release");
  }
  new_bloom_ = Find<decltype(new_bloom_)>(kNewBloom);
  new_ribbon_ = Find<decltype(new_ribbon_)>(kNewRibbon);
  hash64_ = Find<Hash64>(kHash64);
  building_context_ =
      reinterpret_cast<rocksdb::FilterBuildingContext*>(context_);
  Find<void (*)(rocksdb::FilterBuildingContext*,
                const rocksdb::BlockBasedTableOptions&)>(kNewContext)(
      building_context_, table_options_);

  Dl_info info = {};
  dladdr(reinterpret_cast<void*>(new_bloom_), &info);
  file_name_ = std::filesystem::path(info.dli_fname).filename().string();

  const auto policy = NewBloomPolicy(10);
  const auto builder = NewBuilder(*policy);
  builder->AddKey("key");
  std::unique_ptr<const char[]> bytes;
  const std::unique_ptr<const rocksdb::FilterBitsReader> reader(
      policy->GetFilterBitsReader(builder->Finish(&bytes)));
  bloom_uses_avx2_ = UsesAvx2(*reader);
}

RocksDbLibrary::~RocksDbLibrary() {
  building_context_->~FilterBuildingContext();
}

std::unique_ptr<const rocksdb::FilterPolicy> RocksDbLibrary::NewBloomPolicy(
    double bits_per_key) const {
  return std::unique_ptr<const rocksdb::FilterPolicy>(
      new_bloom_(bits_per_key, false));
}

std::unique_ptr<const rocksdb::FilterPolicy> RocksDbLibrary::NewRibbonPolicy(
    double bloom_bits_per_key) const {
  return std::unique_ptr<const rocksdb::FilterPolicy>(
      new_ribbon_(bloom_bits_per_key, 0));
}

std::unique_ptr<rocksdb::FilterBitsBuilder> RocksDbLibrary::NewBuilder(
    const rocksdb::FilterPolicy& policy) const {
  return std::unique_ptr<rocksdb::FilterBitsBuilder>(
      policy.GetBuilderWithContext(*building_context_));
}

}  // namespace rowbloom::filter_bench
