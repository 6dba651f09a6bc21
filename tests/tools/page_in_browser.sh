#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# page_in_browser.sh TOOL MAKE_INPUTS: a browser without a network shows the
# page of `advise --html` with its options, tables and numbers.
set -euo pipefail
tool=$(realpath "$1") make_inputs=$(realpath "$2")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
"$make_inputs" .
"$tool" advise reads --statistics reads.statistics --html page.html >advice.txt

# The document object model after the browser has read the page.
chromium --headless --no-sandbox --disable-gpu --host-resolver-rules="MAP * ^" \
  --user-data-dir="$directory/profile" --dump-dom "file://$PWD/page.html" \
  >dom.html 2>browser.log || { cat browser.log; exit 1; }
for text in '<h1>rowbloom-advise</h1>' '<h2>runs</h2>' '<h2>filters</h2>' \
  '<h2>places</h2>' '<pre>listeners={rowbloom.BudgetListener}</pre>' \
  "<pre>$(sed -n 's/^Set \(filter_policy=.*\)/\1/p' advice.txt)</pre>" \
  'background-size: 100.0% 100%'; do
  grep -qF "$text" dom.html || {
    echo "the browser does not show: $text"
    exit 1
  }
done
echo "A browser shows $(grep -c '<tr>' dom.html) lines of tables."
