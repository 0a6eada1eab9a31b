"""The contents of the documentation, from the lists of links that readers of a Git host see: a
table of contents in Sphinx's own words would be shown there raw."""

from __future__ import annotations

import re

# page -> whether its headings are captions in the sidebar, and what is before them is no list
LISTS = {"index": True, "gallery": False, "theory/index": False}
HEADING = re.compile(r"^## (.+)$")
PAGE = re.compile(r"\]\((?!https?:)([^)#]+)\.(?:md|rst)\)")


def add_contents(docname: str, text: str) -> str:
    """The source of a page with hidden tables of contents of what it lists."""
    if docname not in LISTS:
        return text
    caption, trees = None if LISTS[docname] else "", dict[str, list[str]]()
    for line in text.splitlines():
        if heading := HEADING.match(line):
            caption = heading[1] if LISTS[docname] else ""
        elif caption is not None and line.startswith(("- ", "| ")):
            known = trees.setdefault(caption, [])
            known += [page for page in dict.fromkeys(PAGE.findall(line)) if page not in known]
    blocks = ["\n".join(["```{toctree}", ":hidden:", ":maxdepth: 1",
                         *([f":caption: {caption}"] if caption else []), "", *pages, "```"])
              for caption, pages in trees.items()]
    return "\n\n".join([text, *blocks, ""])
