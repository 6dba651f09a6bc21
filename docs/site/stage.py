#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies what the site shows.

    stage.py ROOT PAGES

The Markdown pages of ROOT go to the same paths below PAGES, with the images
that they show. A source file or folder that a page links to becomes a page, and
the link leads there.
"""

import os
import re
import shutil
import sys
from pathlib import Path

LINK = re.compile(r"(\]\()([^)\s#]+)([^)\s]*\))")
CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.M | re.S)
IMAGES = {".svg", ".png"}
LANGUAGES = {".h": "cpp", ".cc": "cpp", ".py": "python", ".sh": "bash",
             ".json": "json", ".txt": "text", ".go": "go", ".rs": "rust"}


def main():
    root, pages = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    linked = set()

    def write(path, text):
        (pages / path).parent.mkdir(parents=True, exist_ok=True)
        (pages / path).write_text(text)

    def site_link(page, match):
        link = match[2]
        if re.match(r"[a-z]+:", link):
            return match[0]
        target = Path(os.path.normpath(root / page.parent / link))
        if target.suffix == ".md":
            return match[0]
        if target.is_dir() and (target / "README.md").exists():
            return f"{match[1]}{link.rstrip('/')}/README.md{match[3]}"
        linked.add(target.relative_to(root))
        if target.suffix in IMAGES:
            return match[0]
        name = link.rstrip("/") + (".folder.md" if target.is_dir() else ".md")
        return match[1] + name + match[3]

    for source in sorted(root.rglob("*.md")):
        page = source.relative_to(root)
        if page.parts[0] == "build" or page.parts[0].startswith("."):
            continue
        parts = CODE.split(source.read_text())
        parts[::2] = [LINK.sub(lambda match: site_link(page, match), part)
                      for part in parts[::2]]
        write(page, "".join(parts))
    for path in linked:
        source = root / path
        if source.suffix in IMAGES:
            (pages / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, pages / path)
        elif source.is_dir():
            names = sorted(entry.name for entry in source.iterdir())
            write(f"{path}.folder.md", f"# {path}\n\n" +
                  "".join(f"- `{name}`\n" for name in names))
        else:
            language = LANGUAGES.get(source.suffix, "text")
            text = source.read_text(errors="replace")
            write(f"{path}.md", "---\nsearch: {exclude: true}\n---\n"
                  f"# {path}\n\n````{language}\n{text}\n````\n")
    write("api.md",
          "# API\n\n[The public headers](api/index.html), by Doxygen.\n")


if __name__ == "__main__":
    main()
