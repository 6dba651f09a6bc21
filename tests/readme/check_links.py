#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the links between the Markdown pages below ROOT, build/ left out.

    check_links.py ROOT

A relative link must lead to a file of the tree, and its anchor to a heading, as
GitHub names them, or to an id of that page. Exit code 0 when all do, 1 with the
links that do not.
"""

import re
import sys
from pathlib import Path

CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)


def anchors(page):
    text = page.read_text()
    found = set(re.findall(r'\bid="([^"]+)"', text))
    seen = {}
    headings = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for heading in re.findall(r"^#+ +(.*)$", headings, re.M):
        heading = re.sub(r"\]\([^)]*\)", "", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def main():
    root = Path(sys.argv[1])
    pages = [page.relative_to(root) for page in sorted(root.rglob("*.md"))]
    pages = [page for page in pages
             if page.parts[0] != "build" and not page.parts[0].startswith(".")]
    problems, count = [], 0
    for page in pages:
        text = CODE.sub("", (root / page).read_text())
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            path, _, anchor = link.partition("#")
            target = (root / page).parent / path if path else root / page
            if not target.exists():
                problems.append(f"{page}: {link}: there is no such file")
            elif anchor and anchor not in anchors(target):
                problems.append(f"{page}: {link}: there is no such heading")
    if count < 100:
        problems.append(f"only {count} links were found")
    print("\n".join(problems) or f"{count} links lead somewhere.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
