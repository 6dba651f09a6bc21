// SPDX-License-Identifier: Apache-2.0
//
// rowbloom lookup: prints the filters' answers for a row or one of its columns,
// or for those that the lines of a file name.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "tools/text/arguments.h"
#include "tools/text/output.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {
namespace {

struct LookupArguments {
  std::string path;
  std::vector<std::string> db_paths;
  std::string row;
  std::string qualifier;
  std::string rows;  // A file of them; "-" is standard input.
  std::string codec;
  bool hex = false;
  bool family_delete = false;
  bool json = false;
};

Json AnswerFields(const LookupAnswer& answer) {
  Json fields;
  fields["answer"] = answer.may_contain ? "maybe" : "no";
  fields["asked"] = OrNull(answer.asked);
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
  } else if (question.qualifier.has_value() && !file.has_qualifiers()) {
    // InvalidArgument would say that the filter is of no known format.
    status = absl::FailedPreconditionError("its elements have no qualifiers");
  } else {
    status = file.Lookup(question, &answer);
  }
  if (!status.ok()) answer.reason = "cannot be trusted";
  entry->update(AnswerFields(answer));
  return status;
}

LookupQuestion MakeQuestion(const LookupArguments& arguments,
                            const std::string& row,
                            const std::optional<std::string>& qualifier) {
  LookupQuestion question;
  question.family_delete = arguments.family_delete;
  question.codec = arguments.codec;
  question.row = arguments.hex ? FromHex("ROW", row) : row;
  if (qualifier.has_value()) {
    question.qualifier =
        arguments.hex ? FromHex("QUALIFIER", *qualifier) : *qualifier;
  }
  return question;
}

// A line has a row, or a row, a tab and a qualifier. It ends with LF or CR LF;
// a row whose last byte is CR needs --hex.
std::vector<LookupQuestion> ReadQuestions(const LookupArguments& arguments) {
  const auto fail = [&](const std::string& what) {
    throw CLI::ValidationError("--rows",
                               EscapeControls(arguments.rows) + ": " + what);
  };
  std::ifstream file;
  if (arguments.rows != "-") {
    std::error_code error;
    if (std::filesystem::is_directory(arguments.rows, error)) {
      fail("is a directory, not a file of rows");
    }
    file.open(arguments.rows, std::ios::binary);
    if (!file) fail("cannot be read");
  }
  std::vector<LookupQuestion> questions;
  std::istream& lines = arguments.rows == "-" ? std::cin : file;
  for (std::string line; ReadLine(lines, &line);) {
    const size_t tab = line.find('\t');
    if (line.empty() || tab == 0) {
      fail("line " + std::to_string(questions.size() + 1) + " has no row");
    }
    questions.push_back(MakeQuestion(arguments, line.substr(0, tab),
                                     tab == std::string::npos
                                         ? std::optional<std::string>()
                                         : line.substr(tab + 1)));
  }
  // Standard input says that of a failed read to C alone.
  if (lines.bad() || (&lines == &std::cin && std::ferror(stdin) != 0)) {
    fail("cannot be read to its end");
  }
  return questions;
}

Json NameFields(const LookupQuestion& question) {
  return {{"row", EscapeBytes(question.row)},
          {"qualifier", question.qualifier.has_value()
                            ? Json(EscapeBytes(*question.qualifier))
                            : Json()}};
}

// Asks a file all questions; the answers are in entry["answers"].
absl::Status AskAll(const FilterFile& file,
                    const std::vector<LookupQuestion>& questions, Json* entry) {
  absl::Status status;
  uint64_t negatives = 0;
  Json answers = Json::array();
  for (const LookupQuestion& question : questions) {
    Json answer = NameFields(question);
    status.Update(Ask(file, question, &answer));
    if (questions.size() > 1) answer.erase("probes");
    if (answer["answer"] == "no") ++negatives;
    answers.push_back(std::move(answer));
  }
  (*entry)["maybe"] = questions.size() - negatives;
  (*entry)["no"] = negatives;
  (*entry)["answers"] = std::move(answers);
  return status;
}

// The answer to one question, with its reason.
std::string ReasonedAnswer(const Json& entry) {
  const Json& answer = entry["answers"][0];
  std::string line = entry["path"].get<std::string>() + ": " +
                     answer["answer"].get<std::string>() + " (";
  if (!answer["asked"].is_null()) {
    line += answer["asked"].get<std::string>() + ": ";
  }
  line += answer["reason"].get<std::string>() + ")\n";
  if (answer.contains("probes")) line += Table(answer["probes"]);
  if (entry["status"] != "ok") line += StatusLine(entry);
  return line;
}

// A line for each answer, with tabs between path, row, qualifier and answer.
std::string AnswerLines(const Json& entry) {
  std::string text;
  for (const Json& answer : entry["answers"]) {
    text += entry["path"].get<std::string>() + "\t" +
            answer["row"].get<std::string>() + "\t" +
            (answer["qualifier"].is_null()
                 ? ""
                 : answer["qualifier"].get<std::string>()) +
            "\t" + answer["answer"].get<std::string>() + "\n";
  }
  if (entry["status"] != "ok") text += StatusLine(entry);
  return text;
}

int RunLookup(const LookupArguments& arguments, bool has_qualifier) {
  const bool is_one = arguments.rows.empty();
  const std::vector<LookupQuestion> questions =
      is_one ? std::vector<LookupQuestion>{MakeQuestion(
                   arguments, arguments.row,
                   has_qualifier ? std::optional(arguments.qualifier)
                                 : std::nullopt)}
             : ReadQuestions(arguments);
  Report report;
  report.format = "rowbloom-lookup";
  report.db_paths = arguments.db_paths;
  report.ask = [&](const TargetFile&, const FilterFile& file, Json* entry) {
    return AskAll(file, questions, entry);
  };
  report.text = is_one ? ReasonedAnswer : AnswerLines;
  LookupAnswer unread;
  unread.reason = "cannot be read";
  Json answers = Json::array();
  for (const LookupQuestion& question : questions) {
    answers.push_back(NameFields(question));
    answers.back().update(AnswerFields(unread));
  }
  report.unasked = {
      {"maybe", questions.size()}, {"no", 0}, {"answers", std::move(answers)}};
  return RunReport(report, {arguments.path}, {arguments.json, ""});
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
  CLI::Option* row = verb->add_option("ROW", arguments->row, "The row");
  CLI::Option* qualifier =
      verb->add_option("QUALIFIER", arguments->qualifier, "The qualifier");
  CLI::Option* rows =
      verb->add_option("--rows", arguments->rows,
                       "A file of lines of ROW, or ROW, a tab and QUALIFIER; "
                       "- is standard input")
          ->excludes(row);
  verb->add_option("--codec", arguments->codec,
                   "Codec of a Redisson filter's elements; not needed if "
                   "rowbloom has added to it");
  verb->add_flag("--hex", arguments->hex,
                 "ROW and QUALIFIER are hexadecimal bytes");
  verb->add_flag("--family_delete", arguments->family_delete,
                 "Ask an HFile whether the row's family may be deleted in it")
      ->excludes(qualifier);
  AddDbPath(verb, &arguments->db_paths);
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-lookup)");
  verb->callback([arguments, row, rows, qualifier, exit_code] {
    if (row->count() + rows->count() == 0) {
      throw CLI::RequiredError("ROW or --rows");
    }
    *exit_code = RunLookup(*arguments, qualifier->count() > 0);
  });
}

}  // namespace rowbloom::tools
