"""Help for tests that look at a page: the mark that skips them where there is no Chromium, and
pictures as arrays."""

import io

import numpy as np
import pytest

from nhmech.view.browser import find_chromium

needs_chromium = pytest.mark.skipif(find_chromium() is None,
                                    reason="no chromium, chromium-browser or google-chrome on PATH")


def pixels(png: bytes) -> np.ndarray:
    """(height, width, 3) in 0..255 of a PNG."""
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def press(browser, code: str, key: str, down: bool = True, up: bool = True) -> None:
    """A key of the real keyboard, as the browser hears it: down, up, or both."""
    for kind, is_wanted in (("rawKeyDown", down), ("keyUp", up)):
        if is_wanted:
            browser._page("Input.dispatchKeyEvent", type=kind, code=code, key=key)


def hue(picture: np.ndarray, channel: int, margin: int = 60) -> np.ndarray:
    """Which pixels (height, width) have this channel stronger than both others by `margin`."""
    others = [c for c in range(3) if c != channel]
    return picture[..., channel] - picture[..., others].max(axis=-1) > margin
