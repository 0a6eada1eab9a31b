"""Help for tests that look at a page: the mark that skips them where there is no Chromium, and
pictures as arrays."""

import io

import numpy as np
import pytest

from nhmech.view.browser import Browser, find_chromium

needs_chromium = pytest.mark.skipif(find_chromium() is None,
                                    reason="no chromium, chromium-browser or google-chrome on PATH")


BLANK = """for (const { prototype } of [WebGLRenderingContext, WebGL2RenderingContext])
  for (const draw of ["drawArrays", "drawElements"]) prototype[draw] = () => {};"""


class Undrawn(Browser):
    """A browser in which the scene stays blank, for tests of words, keys and numbers: without a
    graphics card, most of the time of a page goes into drawing."""

    def _page(self, method: str, **parameters: object) -> dict:
        if method == "Page.navigate":
            super()._page("Page.enable")
            super()._page("Page.addScriptToEvaluateOnNewDocument", source=BLANK)
        return super()._page(method, **parameters)


def pixels(png: bytes) -> np.ndarray:
    """(height, width, 3) in 0..255 of a PNG."""
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def press(browser, code: str, key: str, down: bool = True, up: bool = True) -> None:
    """A key of the real keyboard, as the browser hears it: down, up, or both."""
    for kind, is_wanted in (("rawKeyDown", down), ("keyUp", up)):
        if is_wanted:
            browser._page("Input.dispatchKeyEvent", type=kind, code=code, key=key)


CONTRAST = """(() => {
  const part = s => { const c = s.match(/[\\d.]+/g).map(Number);
                      return { rgb: c.slice(0, 3), a: c.length > 3 ? c[3] : 1 }; };
  const light = rgb => { const [r, g, b] = rgb.map(x => x / 255).map(
    x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const page = part(getComputedStyle(document.body).backgroundColor).rgb;
  const over = (top, below) => top.rgb.map((x, i) => top.a * x + (1 - top.a) * below[i]);
  const ground = e => { const layers = [];
    for (; e; e = e.parentElement) layers.unshift(part(getComputedStyle(e).backgroundColor));
    return layers.reduce((below, top) => over(top, below), page); };
  const found = [];
  for (const e of document.querySelectorAll('body *')) {
    if (e.closest('#meshcat-pane') || !e.getClientRects().length) continue;
    const text = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!text) continue;
    const a = light(part(getComputedStyle(e).color).rgb), b = light(ground(e));
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05),
                e.textContent.trim().slice(0, 40)]);
  }
  return found; })()"""
CONTROLS = """[...document.querySelectorAll("button, input, select")].filter(
    e => e.getClientRects().length && getComputedStyle(e).visibility === "visible")"""
FOCUSED = f"(() => {{ const controls = {CONTROLS};" + """
    const e = document.activeElement, style = getComputedStyle(e);
    if (e === document.body) return null;
    const box = e.getBoundingClientRect();
    const good = box.width > 0 && box.left >= -1 && box.right <= innerWidth + 1
      && box.top >= -1 && box.bottom <= innerHeight + 1
      && style.outlineStyle === "solid" && parseFloat(style.outlineWidth) >= 2;
    return [controls.indexOf(e), good, e.id || e.title || e.textContent]; })()"""


def tab_through(browser) -> tuple[dict[int, str], list[str], int]:
    """Presses the Tab key until the focus has gone round: what it reached, by place; which of that
    lies outside of the window or has no outline then; and how many controls the page shows. Where
    the focus comes back into a page, a slow browser may skip a control: it goes round again."""
    browser._page("Emulation.setFocusEmulationEnabled", enabled=True)
    reached: dict[int, str] = {}
    bad: list[str] = []
    count = browser.evaluate(f"{CONTROLS}.length")
    for _ in range(3 * count + 3):
        browser._page("Input.dispatchKeyEvent", type="rawKeyDown", code="Tab", key="Tab",
                      windowsVirtualKeyCode=9)
        now = browser.evaluate(FOCUSED)
        if now is None:
            continue
        place, good, name = now
        if place in reached and len(reached) == count:
            break
        if place >= 0:      # not a panel that scrolls, which has the focus too
            reached[place] = name
        bad += [] if good else [name]
    if browser.evaluate(f"{CONTROLS}.length") != count:      # one came or went meanwhile
        return tab_through(browser)
    return reached, bad, count


def hue(picture: np.ndarray, channel: int, margin: int = 60) -> np.ndarray:
    """Which pixels (height, width) have this channel stronger than both others by `margin`."""
    others = [c for c in range(3) if c != channel]
    return picture[..., channel] - picture[..., others].max(axis=-1) > margin
