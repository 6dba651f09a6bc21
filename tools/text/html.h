// SPDX-License-Identifier: Apache-2.0
//
// A report as one page of HTML that loads nothing from elsewhere.

#ifndef ROWBLOOM_TOOLS_TEXT_HTML_H_
#define ROWBLOOM_TOOLS_TEXT_HTML_H_

#include <string>

#include "absl/status/status.h"
#include "tools/text/output.h"

namespace rowbloom::tools {

// Shows a document of --json: the options to set, warnings and notes first,
// then fields, and arrays of objects as tables whose fractions have bars. The
// script element "document" holds the document itself.
std::string HtmlPage(const Json& document);

// An error if `path` is a file that is there and no such page: a forgotten file
// name is the next argument, an SST for example.
absl::Status CheckHtmlPath(const std::string& path);
// Writes the page to `path`. The error names it.
absl::Status WriteHtmlPage(const Json& document, const std::string& path);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_TEXT_HTML_H_
