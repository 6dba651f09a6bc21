// SPDX-License-Identifier: Apache-2.0
//
// Asks the library the questions of a case and writes its answers as JSON.

#include "format/case.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_reader.h"
#include "util/coding.h"

namespace rowbloom::cases {

namespace {

constexpr const char* kKindNames[] = {"row", "cell", "prefix", "digest"};

std::string_view KindName(const Question& question) {
  return kKindNames[static_cast<size_t>(question.kind)];
}

std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString({bytes.data(), bytes.size()});
}

const char* JsonOf(bool value) { return value ? "true" : "false"; }

std::string HexOf(uint64_t value) { return absl::StrFormat("%016x", value); }

std::string JsonOf(const Question& question) {
  if (question.kind == Question::Kind::kDigest) {
    return absl::StrCat("\"", HexOf(question.digest.h1),
                        HexOf(question.digest.h2), "\"");
  }
  const std::string first = absl::StrCat("\"", Hex(question.row), "\"");
  if (question.kind != Question::Kind::kCell) return first;
  return absl::StrCat("[", first, ",\"", Hex(question.qualifier), "\"]");
}

// The library's judgement of bytes, and its answers if it reads them.
struct Subject {
  bool opens = false;
  bool verifies = false;
  std::function<bool(const Question&)> may_contain;
};
using Reader = std::function<Subject(const std::string& bytes)>;

// The reader lives as long as the function that it returns.
Reader BlockReader(const DigestSecret& secret) {
  return [secret](const std::string& bytes) {
    struct Opened {
      std::string bytes;
      std::unique_ptr<RandomAccessSource> source;
      std::unique_ptr<FilterReader> reader;
    };
    auto opened = std::make_shared<Opened>();
    opened->bytes = bytes;
    opened->source = NewMemorySource(opened->bytes);
    FilterReaderOptions options;
    options.loading = FilterLoading::kAlways;
    options.secret = secret;
    auto reader = FilterReader::Open(opened->source.get(), {}, options);
    if (!reader.ok()) return Subject();
    opened->reader = *std::move(reader);
    return Subject{true, opened->reader->Verify().ok(),
                   [opened](const Question& question) {
                     return opened->reader->MayContain(question.key());
                   }};
  };
}

Subject ReadBlob(const std::string& bytes) {
  const auto blob = std::make_shared<std::string>(bytes);
  const auto parsed = ParseFilterBlob(*blob);
  if (!parsed.ok()) return {};
  return {true, VerifyFilterBlob(*blob).ok(),
          [blob, view = parsed->view](const Question& question) {
            return view.MayContain(question.key().digest());
          }};
}

Subject ReadMemFilter(const std::string& bytes) {
  constexpr size_t kKind = 9;
  if (bytes.size() > kKind && bytes[kKind] == 8) {  // Redisson.
    auto loaded = RedissonFilter::Load(bytes);
    if (!loaded.ok()) return {};
    const auto filter = std::make_shared<RedissonFilter>(*std::move(loaded));
    return {true, true, [filter](const Question& question) {
              return filter->MayContain(question.digest);
            }};
  }
  auto loaded = LoadMemFilter(bytes);
  if (!loaded.ok()) return {};
  const std::shared_ptr<MemFilter> filter = *std::move(loaded);
  return {true, true, [filter](const Question& question) {
            return filter->MayContain(question.key().digest());
          }};
}

Reader ReaderOf(const Case& made) {
  if (made.format == "filter_block") return BlockReader(made.secret);
  return made.format == "filter_blob" ? Reader(ReadBlob)
                                      : Reader(ReadMemFilter);
}

std::string JsonOfQuestions(const Case& made, const Subject& subject) {
  std::vector<std::string> kinds;
  for (const char* kind : kKindNames) {
    std::vector<std::string> answers[2];
    for (const Question& question : made.questions) {
      if (KindName(question) != kind) continue;
      answers[subject.may_contain(question)].push_back(JsonOf(question));
    }
    if (answers[0].empty() && answers[1].empty()) continue;
    kinds.push_back(absl::StrCat(
        "\"", kind, "\": {\"no\": [", absl::StrJoin(answers[0], ","),
        "],\n    \"maybe\": [", absl::StrJoin(answers[1], ","), "]}"));
  }
  return absl::StrCat("{", absl::StrJoin(kinds, ",\n   "), "}");
}

// The document gives the size of a variant, and the bytes that differ.
std::string JsonOfVariant(const Case& made, const std::string& variant) {
  constexpr size_t kQuestions = 8;
  const Subject subject = ReaderOf(made)(variant);
  std::vector<std::string> changes;
  for (size_t i = 0; i < variant.size(); ++i) {
    if (variant[i] == made.bytes[i]) continue;
    changes.push_back(
        absl::StrCat("[", i, ",", static_cast<uint8_t>(variant[i]), "]"));
  }
  std::vector<std::string> answers;
  const size_t count = std::min(made.questions.size(), kQuestions);
  for (size_t i = 0; subject.opens && i < count; ++i) {
    const Question& question = made.questions[i];
    answers.push_back(absl::StrCat(
        "[\"", std::string(KindName(question)), "\",", JsonOf(question), ",\"",
        subject.may_contain(question) ? "maybe" : "no", "\"]"));
  }
  return absl::StrCat("{\"size\": ", variant.size(), ", \"set\": [",
                      absl::StrJoin(changes, ","),
                      "], \"opens\": ", JsonOf(subject.opens),
                      ", \"verifies\": ", JsonOf(subject.verifies),
                      ", \"answers\": [", absl::StrJoin(answers, ","), "]}");
}

std::string BytesOfSecret(const DigestSecret& secret) {
  std::string bytes;
  for (const uint64_t word : secret.words) util::AppendFixed(word, &bytes);
  return bytes;
}

}  // namespace

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "write_cases: %s\n", what.c_str());
  std::exit(1);
}

FilterKey Question::key() const {
  switch (kind) {
    case Kind::kCell:
      return FilterKey::RowCol(row, qualifier);
    case Kind::kPrefix:
      return FilterKey::Prefix(row);
    default:
      return FilterKey::Row(row);
  }
}

CaseWriter::CaseWriter(std::filesystem::path directory)
    : directory_(std::move(directory)) {
  std::filesystem::create_directories(directory_);
}

void CaseWriter::Write(const Case& made) {
  const Subject subject = ReaderOf(made)(made.bytes);
  if (!subject.verifies) Die(made.name + " is not read");
  std::vector<std::string> variants;
  for (const std::string& variant : made.variants) {
    variants.push_back(JsonOfVariant(made, variant));
  }
  const std::string secret = BytesOfSecret(made.secret);
  const bool has_secret = secret.find_first_not_of('\0') != std::string::npos;
  std::ofstream file(directory_ / (made.name + ".json"));
  file << "{\"version\": 1, \"format\": \"" << made.format
       << "\", \"about\": \"" << made.about << "\",\n"
       << (has_secret ? absl::StrCat(" \"secret\": \"", Hex(secret), "\",\n")
                      : "")
       << " \"bytes\": \"" << Hex(made.bytes)
       << "\",\n \"questions\": " << JsonOfQuestions(made, subject)
       << ",\n \"variants\": [" << absl::StrJoin(variants, ",\n  ") << "]}\n";
  if (!file.flush()) Die(made.name + " is not written");
  questions_ += made.questions.size();
}

}  // namespace rowbloom::cases
