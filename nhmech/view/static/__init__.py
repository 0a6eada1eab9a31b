"""Scripts, styles and pages for the browser, shipped as files."""

from __future__ import annotations

import html
from functools import cache
from importlib.resources import files

from ...errors import printable


@cache
def read_static(name: str) -> str:
    """Text of one of the files in this folder."""
    return (files(__name__) / name).read_text(encoding="utf-8")


def escape(text: str) -> str:
    """A text of such a page: without markup, and without characters that no file holds."""
    return html.escape(printable(text))
