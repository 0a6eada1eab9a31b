"""Pictures of a page that `save_html` wrote, without its bar: moving ones and stills. They need
Chromium."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

PAGE = 640, 440                    # of the page, in units in which `shown` and `aside` are
EVERYTHING = ("bar", "title", "legend")
FPS = 10                           # frames a second
QUALITY = {True: 80, False: 40}    # of a still, of a moving picture
CUT = """
    for (const name of %s) document.getElementById(name).style.display = "none";
    nhmech.viewer.camera.setViewOffset(%g, %g, %g, %g, %g, %g), 0
"""


def film(html: Path, file: Path, at: Sequence[float], aside: tuple[int, int] = (0, 0),
         shown: tuple[int, int] = (600, 400), width: int = 480, hide: Sequence[str] = EVERYTHING,
         quality: int | None = None) -> None:
    """A small moving picture, or a still, of the middle of a page at these times [s].

    aside  of the middle, to the right and downwards
    shown  width and height of the part that is kept
    width  of the picture [pixels]
    hide   what of the page's writing is left out
    """
    quality = quality or QUALITY[len(at) == 1]
    from PIL import Image

    from nhmech.view.picture import open_page

    corner = [(PAGE[k] - shown[k]) / 2 + aside[k] for k in (0, 1)]
    scale, frames = width / shown[0], []
    with open_page(html, tuple(round(scale * size) for size in shown)) as browser:
        browser.evaluate(CUT % (list(hide), *(scale * size for size in (*PAGE, *corner, *shown))))
        for t in at:
            browser.evaluate(f"nhmech.seek({float(t)}), 0")
            frames.append(Image.open(io.BytesIO(browser.picture())).convert("RGB"))
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=round(1000 / FPS),
                   loop=0, method=6, quality=quality)
