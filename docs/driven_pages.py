"""The pages of the gallery in which a vehicle runs by itself; `conf.py` has them written beside the
others when the documentation is built."""

from __future__ import annotations

from pathlib import Path

import nhmech

FOLDER = "drive"
LINK = """
```{{raw}} html
<p><a href="{folder}/{name}.html"><strong>Drive it here</strong></a>, in a page in which it runs by
itself; <code>nhmech page {name}</code> writes that page.</p>
```
"""


def link(docname: str, text: str) -> str:
    """The source of a page of the gallery with the link below its picture."""
    folder, _, name = docname.partition("/")
    if folder != "gallery" or name not in nhmech.urdf_names():
        return text
    lines = text.splitlines(keepends=True)
    picture = next(i for i, line in enumerate(lines) if line.startswith("!["))
    lines.insert(picture + 1, LINK.format(folder=FOLDER, name=name))
    return "".join(lines)


def write_pages(built: Path) -> None:
    """All of them, where the HTML of the documentation was built."""
    folder = built / "gallery" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in nhmech.urdf_names():
        nhmech.save_page(nhmech.load(nhmech.urdf_path(name)), folder / f"{name}.html")
