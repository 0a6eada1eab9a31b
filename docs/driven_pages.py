"""The pages of the gallery in which a vehicle runs by itself; `conf.py` has them written beside the
others when the documentation is built, and its pictures lead there."""

from __future__ import annotations

import os
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nhmech

FOLDER = "drive"
PICTURE = re.compile(r"^\[?(!\[[^\]]*\]\([^)]*\))(?:\]\([^)]*\))?$", re.M)
# HTML: to Sphinx, a link to a file that is made after the pages is a mistake
LINKED = """<a href="{page}">{picture}</a>

<a href="{page}"><strong>Drive it here</strong></a>, in a page in which it runs by itself, with its
own equations."""
# what the picture of a page that is no vehicle's shows
SHOWN = {"index": "differential_drive"}


def link(docname: str, text: str) -> str:
    """The source of a page with its first picture leading to the robot that runs."""
    folder, _, name = docname.rpartition("/")
    if folder == "gallery" and name in nhmech.urdf_names():
        page = f"{FOLDER}/{name}.html"
    elif docname in SHOWN:
        page = f"gallery/{FOLDER}/{SHOWN[docname]}.html"
    else:
        return text
    return PICTURE.sub(lambda found: LINKED.format(page=page, picture=found[1]), text, count=1)


def write_pages(built: Path) -> None:
    """All of them, where the HTML of the documentation was built; those that are newer than the
    package and their robot stay."""
    folder = built / "gallery" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    package = Path(nhmech.__file__).parent
    newest = max(file.stat().st_mtime for file in package.rglob("*.*") if file.suffix != ".pyc")
    stale = [name for name in nhmech.urdf_names() if not _is_newer(
        folder / f"{name}.html", max(newest, nhmech.urdf_path(name).stat().st_mtime))]
    if stale:
        with ProcessPoolExecutor(min(len(stale), os.cpu_count() or 1)) as pool:
            list(pool.map(write_page, stale, [folder] * len(stale)))


def write_page(name: str, folder: Path) -> None:
    """The page of one vehicle."""
    nhmech.save_page(nhmech.load(nhmech.urdf_path(name)), folder / f"{name}.html")


def _is_newer(page: Path, than: float) -> bool:
    return page.is_file() and page.stat().st_mtime > than
