// SPDX-License-Identifier: Apache-2.0
//
// rowbloom lookup: prints the filters' answers for a row or one of its columns.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hex.h"
#include "output.h"
#include "report.h"
#include "verbs.h"

namespace rowbloom::tools {
namespace {

struct LookupArguments {
  std::string path;
  std::string row;
  std::string qualifier;
  std::string codec;
  bool hex = false;
  bool family_delete = false;
  bool json = false;
};

std::string_view AnswerWord(const LookupAnswer& answer) {
  return answer.may_contain ? "maybe" : "no";
}

Json AnswerFields(const LookupAnswer& answer) {
  Json fields;
  fields["answer"] = std::string(AnswerWord(answer));
  fields["asked"] = answer.asked.empty() ? Json() : Json(answer.asked);
  fields["chunk"] = answer.chunk < 0 ? Json() : Json(answer.chunk);
  fields["reason"] = EscapeControls(answer.reason);
  if (!answer.probes.empty()) fields["probes"] = answer.probes;
  return fields;
}

absl::Status Ask(const FilterFile& file, const LookupQuestion& question,
                 Json* entry) {
  LookupAnswer answer;
  absl::Status status;
  if (question.family_delete && !file.has_family_deletes()) {
    answer.reason = "has no delete family filter";
  } else {
    status = file.Lookup(question, &answer);
  }
  if (!status.ok()) answer.reason = "cannot be trusted";
  entry->update(AnswerFields(answer));
  return status;
}

std::string Text(const Json& entry) {
  std::string line = entry["path"].get<std::string>() + ": " +
                     entry["answer"].get<std::string>() + " (";
  if (!entry["asked"].is_null()) {
    line += entry["asked"].get<std::string>() + ": ";
  }
  line += entry["reason"].get<std::string>() + ")\n";
  if (entry.contains("probes")) line += Table(entry["probes"]);
  if (entry["status"] != "ok") line += StatusLine(entry);
  return line;
}

int RunLookup(const LookupArguments& arguments, bool has_qualifier) {
  LookupQuestion question;
  question.family_delete = arguments.family_delete;
  question.codec = arguments.codec;
  question.row = arguments.hex ? FromHex("ROW", arguments.row) : arguments.row;
  if (has_qualifier) {
    question.qualifier = arguments.hex
                             ? FromHex("QUALIFIER", arguments.qualifier)
                             : arguments.qualifier;
  }

  Report report;
  report.format = "rowbloom-lookup";
  report.header["row"] = EscapeBytes(question.row);
  report.header["qualifier"] =
      has_qualifier ? Json(EscapeBytes(*question.qualifier)) : Json();
  report.ask = [&question](const TargetFile&, const FilterFile& file,
                           Json* entry) { return Ask(file, question, entry); };
  report.text = Text;
  LookupAnswer unasked;
  unasked.reason = "cannot be read";
  report.unasked = AnswerFields(unasked);
  return RunReport(report, {arguments.path}, arguments.json);
}

}  // namespace

void AddLookup(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<LookupArguments>();
  CLI::App* verb = app->add_subcommand(
      "lookup", "Ask filters for a row, or for one column of it");
  verb->add_option("PATH", arguments->path,
                   "A filter block, an SST, an HFile, a saved mem filter, a "
                   "directory of them, or the URL of a filter in Redis")
      ->required();
  verb->add_option("ROW", arguments->row, "The row")->required();
  CLI::Option* qualifier =
      verb->add_option("QUALIFIER", arguments->qualifier, "The qualifier");
  verb->add_option("--codec", arguments->codec,
                   "Codec of a Redisson filter's elements; not needed if "
                   "rowbloom has added to it");
  verb->add_flag("--hex", arguments->hex,
                 "ROW and QUALIFIER are hexadecimal bytes");
  verb->add_flag("--family_delete", arguments->family_delete,
                 "Ask an HFile whether the row's family may be deleted in it")
      ->excludes(qualifier);
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-lookup)");
  verb->callback([arguments, qualifier, exit_code] {
    *exit_code = RunLookup(*arguments, qualifier->count() > 0);
  });
}

}  // namespace rowbloom::tools
