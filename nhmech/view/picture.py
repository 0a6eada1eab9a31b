"""Pictures of an exported page, taken by a headless Chromium."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from ..errors import NhmechError
from .browser import Browser


def screenshot(html_path, png_path, at: float = 0.0, size: tuple[int, int] = (1000, 700)) -> Path:
    """Picture of the page that `save_html` wrote, `at` [s] after its start; `size` in pixels.
    Returns its path."""
    with opened(html_path, size) as browser:
        browser.evaluate(f"nhmech.seek({float(at)}), 0")
        Path(png_path).write_bytes(browser.picture())
    return Path(png_path)


@contextmanager
def opened(html_path, size: tuple[int, int]):
    """The page in a headless browser, drawn."""
    path = Path(html_path).resolve()
    if not path.is_file():
        raise NhmechError(f"{path} does not exist; write it with save_html")
    with Browser(path.as_uri(), size) as browser:
        browser.wait_for("nhmech.state.ready")
        yield browser
