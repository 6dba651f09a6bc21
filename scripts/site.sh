#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# site.sh: builds build/site/html/index.html: the Markdown pages of the tree
# with search, and the API reference of the public headers. Fails at a link that
# leads nowhere. Installs mkdocs into build/site/venv; "scripts/check.sh site"
# installs doxygen first.
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in
  "") ;;
  -h | --help) sed -n '3,/^set/{/^set/d;s/^# //;p}' "$0"; exit 0 ;;
  *) echo "usage: site.sh" >&2; exit 2 ;;
esac

venv=build/site/venv
if [ ! -x "$venv/bin/mkdocs" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet mkdocs==1.6.1 mkdocs-material==9.8.2
fi
rm -rf build/site/pages build/site/html
mkdir -p build/site/pages
python3 docs/site/stage.py . build/site/pages
doxygen docs/site/Doxyfile
# With --quiet a strict build counts no warnings.
NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --strict \
  --config-file docs/site/mkdocs.yml
test -s build/site/html/search/search_index.json
test -s build/site/html/api/index.html
echo "build/site/html/index.html:" \
  "$(find build/site/html -name '*.html' | wc -l) pages"
