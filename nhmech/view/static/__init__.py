"""Scripts, styles and pages for the browser, shipped as files."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def read_static(name: str) -> str:
    """Text of one of the files in this folder."""
    return (files(__name__) / name).read_text(encoding="utf-8")
