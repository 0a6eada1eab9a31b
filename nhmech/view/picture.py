"""Pictures and moving pictures of an exported page, taken by a headless Chromium."""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path

from ..errors import NhmechError
from .browser import Browser

HIDE_CONTROLS = "document.getElementById('bar').style.display = document.getElementById('title').style.display = 'none', 0"


def screenshot(html_path, png_path, at: float = 0.0, size: tuple[int, int] = (1000, 700)) -> Path:
    """Picture of the page that `save_html` wrote, at `at` [s] after its start; `size` in pixels. Returns the path of the PNG."""
    with _page(html_path, size) as browser:
        browser.evaluate(f"nhmech.seek({float(at)}), 0")
        Path(png_path).write_bytes(browser.picture())
    return Path(png_path)


def save_gif(html_path, gif_path, times: Iterable[float], size: tuple[int, int] = (640, 420), fps: float = 15.0, controls: bool = False) -> Path:
    """Moving picture of the page at these `times` [s after its start], played at `fps` frames a second and in a loop. Needs Pillow."""
    from PIL import Image

    frames = []
    with _page(html_path, size) as browser:
        if not controls:
            browser.evaluate(HIDE_CONTROLS)
        for t in times:
            browser.evaluate(f"nhmech.seek({float(t)}), 0")
            frames.append(Image.open(io.BytesIO(browser.picture())).convert("RGB"))
    if not frames:
        raise NhmechError("a moving picture needs at least one time")
    palette = frames[-1].quantize(255, Image.Quantize.MAXCOVERAGE)  # keeps rare colours, such as the trails
    indexed = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    indexed[0].save(gif_path, save_all=True, append_images=indexed[1:], duration=round(1000 / fps), loop=0, optimize=True)
    return Path(gif_path)


@contextmanager
def _page(html_path, size: tuple[int, int]):
    path = Path(html_path).resolve()
    if not path.is_file():
        raise NhmechError(f"{path} does not exist; write it with save_html")
    with Browser(path.as_uri(), size) as browser:
        browser.wait_for("nhmech.state.ready")
        yield browser
