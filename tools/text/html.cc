// SPDX-License-Identifier: Apache-2.0

#include "tools/text/html.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace rowbloom::tools {
namespace {

constexpr char kStyle[] = R"css(
:root { color-scheme: light dark; --bar: #8ecae680; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em;
  padding: 0 1em; }
h2 { margin: 1.5em 0 .3em; }
pre { border: 1px solid var(--line); border-left: 4px solid #2a9d8f;
  padding: .6em; white-space: pre-wrap; overflow-wrap: anywhere; }
li.warning::marker { content: "\26a0  "; }
div.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: .2em .8em .2em 0;
  text-align: left; vertical-align: top; white-space: nowrap; }
td.wide { white-space: normal; overflow-wrap: anywhere; }
td.number { background: linear-gradient(var(--bar) 0 0) right / 0 no-repeat; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
details { margin: .5em 0; }
)css";

// Fields that the page shows first, in this order.
constexpr const char* kOptions[] = {"option", "listeners", "place_option"};
constexpr const char* kRemarks[] = {"warnings", "warning", "notes", "note",
                                    "error"};

std::string Escape(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string Name(const std::string& field) {
  return Escape(absl::StrReplaceAll(field, {{"_", " "}}));
}

std::string Value(const Json& value) {
  return Escape(FieldText(value, std::string::npos));
}

bool IsShownFirst(const std::string& field) {
  const auto is = [&field](const char* other) { return field == other; };
  return std::any_of(std::begin(kOptions), std::end(kOptions), is) ||
         std::any_of(std::begin(kRemarks), std::end(kRemarks), is);
}

bool IsFlat(const Json& object) {
  return object.is_object() &&
         std::all_of(object.begin(), object.end(),
                     [](const Json& value) { return value.is_primitive(); });
}

std::string Fields(const Json& object) {
  std::string rows;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_primitive() || IsShownFirst(name)) continue;
    absl::StrAppend(&rows, "<tr><th>", Name(name), "</th><td class=\"wide\">",
                    Value(value), "</td></tr>\n");
  }
  if (rows.empty()) return rows;
  return absl::StrCat("<div class=\"table\"><table>\n", rows,
                      "</table></div>\n");
}

// Columns of one unit have bars of one scale.
std::string_view UnitOf(std::string_view column) {
  for (const std::string_view unit : {"bits", "reads", "fpr"}) {
    if (column.find(unit) != column.npos) return unit;
  }
  return column;
}

// A bar as long as the value's share of the largest of its unit.
std::string Bar(const Json& value, double largest) {
  if (!value.is_number_float() || largest <= 0) return "";
  char style[64];
  std::snprintf(style, sizeof(style),
                " style=\"background-size: %.1f%% 100%%\"",
                100 * std::max(0.0, value.get<double>()) / largest);
  return style;
}

std::string TableOf(const Json& rows) {
  Json is_number = Json::object();  // By column, in their order.
  std::map<std::string, double, std::less<>> largest;  // By unit.
  for (const Json& row : rows) {
    for (const auto& [column, value] : row.items()) {
      Json& known = is_number.emplace(column, false).first.value();
      if (!value.is_number()) continue;
      known = true;
      double& most = largest[std::string(UnitOf(column))];
      most = std::max(most, value.get<double>());
    }
  }
  std::vector<std::string> lines(rows.size() + 1, "<tr>");
  for (const auto& [column, is_a_number] : is_number.items()) {
    const char* style = is_a_number ? " class=\"number\"" : "";
    absl::StrAppend(&lines[0], "<th", style, ">", Name(column), "</th>");
    for (size_t i = 0; i < rows.size(); ++i) {
      const Json value = rows[i].value(column, Json());
      absl::StrAppend(&lines[i + 1], "<td", style,
                      rows.size() > 1
                          ? Bar(value, largest[std::string(UnitOf(column))])
                          : "",
                      ">", Value(value), "</td>");
    }
  }
  std::string table = "<div class=\"table\"><table>\n";
  for (const std::string& line : lines) {
    absl::StrAppend(&table, line, "</tr>\n");
  }
  return table + "</table></div>\n";
}

std::string Section(const Json& object);

std::string ArrayOf(const Json& values) {
  if (std::all_of(values.begin(), values.end(), IsFlat)) return TableOf(values);
  std::string html;
  for (const Json& value : values) {
    if (!value.is_object()) {
      absl::StrAppend(&html, "<p>", Escape(value.dump()), "</p>\n");
      continue;
    }
    // The first field names the object.
    std::string name = Value(value.front());
    if (value.contains("status")) name += ": " + Value(value["status"]);
    absl::StrAppend(&html, "<details", values.size() == 1 ? " open" : "",
                    "><summary>", name, "</summary>\n", Section(value),
                    "</details>\n");
  }
  return html;
}

// Options and remarks, fields, and below them what has fields of its own.
std::string Section(const Json& object) {
  std::string html;
  for (const char* name : kOptions) {
    const Json option = object.value(name, Json());
    if (!option.is_string()) continue;
    if (html.empty()) html = "<p>Set these options:</p>\n";
    absl::StrAppend(&html, "<pre>", Value(option), "</pre>\n");
  }
  std::string remarks;
  for (const char* name : kRemarks) {
    Json texts = object.value(name, Json());
    if (!texts.is_array()) texts = Json::array({texts});
    for (const Json& text : texts) {
      if (text.is_null()) continue;
      const bool is_note = std::string_view(name).substr(0, 4) == "note";
      absl::StrAppend(&remarks, is_note ? "<li>" : "<li class=\"warning\">",
                      Value(text), "</li>\n");
    }
  }
  if (!remarks.empty()) absl::StrAppend(&html, "<ul>\n", remarks, "</ul>\n");
  html += Fields(object);
  for (const auto& [name, value] : object.items()) {
    if (value.is_primitive() || value.empty() || IsShownFirst(name)) continue;
    absl::StrAppend(&html, "<h2>", Name(name), "</h2>\n",
                    value.is_array() ? ArrayOf(value) : Section(value));
  }
  return html;
}

}  // namespace

std::string HtmlPage(const Json& document) {
  const std::string title = Value(document.value("format", Json("rowbloom")));
  Json fields = document;
  fields.erase("format");
  fields.erase("version");
  // Texts could end the element, or begin one in it.
  const std::string json = absl::StrReplaceAll(
      document.dump(1, ' ', false, Json::error_handler_t::replace),
      {{"<", "\\u003c"}});
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
      title, "</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n<h1>",
      title, "</h1>\n", Section(fields),
      "<script type=\"application/json\" id=\"document\">\n", json,
      "\n</script>\n</body>\n</html>\n");
}

absl::Status CheckHtmlPath(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return absl::OkStatus();
  constexpr std::string_view kBegin = "<!DOCTYPE html>";
  std::string begin(kBegin.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (file.gcount() == 0 || begin == kBegin) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(
      EscapeControls(path), " is a file, but no page: name another one"));
}

absl::Status WriteHtmlPage(const Json& document, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file << HtmlPage(document) << std::flush;
  if (file) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(path, ": cannot write the page: ", std::strerror(errno)));
}

}  // namespace rowbloom::tools
