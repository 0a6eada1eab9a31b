"""Pictures of an exported page, taken by a headless Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from ..errors import InputError
from ..paths import replace_file
from .browser import Browser


def screenshot(html_path: str | PathLike[str], png_path: str | PathLike[str], at: float = 0.0,
               size: tuple[int, int] = (1000, 700)) -> Path:
    """A picture of a recorded page; returns its path.

    Parameters
    ----------
    html_path
        A page that `save_html` wrote.
    png_path
        The file to write.
    at
        Moment of the page's run [s].
    size
        Width and height in pixels.

    Returns
    -------
    Path
        The picture.

    Raises
    ------
    NhmechError
        Where Chromium is missing or does not answer.
    """
    with open_page(html_path, size) as browser:
        browser.evaluate(f"nhmech.seek({float(at)}), 0")
        with replace_file(png_path) as new:
            new.write_bytes(browser.picture())
    return Path(png_path)


@contextmanager
def open_page(html_path: str | PathLike[str], size: tuple[int, int]) -> Iterator[Browser]:
    """The page in a headless browser, once it has been drawn."""
    path = Path(html_path).resolve()
    if not path.is_file():
        raise InputError(f"{path} does not exist; write it with save_html")
    with Browser(path.as_uri() + "#t=0", size) as browser:  # paused: who plays, draws all the time
        browser.wait_for("nhmech.state.ready")
        yield browser
