"""The pages' style sheets: words are legible on whatever lies behind them, light and dark."""

import colorsys
import re
from contextlib import contextmanager

import pytest
from browser import CONTRAST, Undrawn, needs_chromium, tab_through
from support import at_length, shipped

import nhmech
from nhmech.control import DemoDrive
from nhmech.view import Drive, Viewer, save_html
from nhmech.view.static import read_static

SHEETS = ("page.css", "drive.css", "written.css")
PAIRS = [("ink", "page"), ("ink", "panel"), ("ink", "plain"), ("alarm", "panel"),
         ("page", "ink")]                                       # words, and what they stand on
# what is no text
SEEN = [("fill", "groove"), ("quiet", "groove"), ("quiet", "panel"), ("focus", "page"),
        ("focus", "panel")]


def colours(selector: str) -> dict[str, str]:
    """The variables of `:root` or `.dark`; what `.dark` does not set is that of `:root`."""
    block = re.search(rf"^{re.escape(selector)} {{(.*?)}}", read_static("page.css"), re.S | re.M)[1]
    own = dict(re.findall(r"--([\w-]+): ([^;]+);", block))
    return own if selector == ":root" else colours(":root") | own


def rgba(text: str) -> list[float]:
    if text.startswith("#"):
        digits = text[1:] if len(text) == 7 else "".join(2 * digit for digit in text[1:])
        return [int(digits[i:i + 2], 16) for i in (0, 2, 4)] + [1.0]
    numbers = [float(x) for x in re.findall(r"[\d.]+", text)]
    return [*numbers, 1.0][:4]


def luminance(rgb: list[float]) -> float:
    """Relative, of WCAG 2."""
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4
              for x in (part / 255 for part in rgb)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(words: str, ground: str) -> float:
    """The least, over a black and a white scene behind a ground that shows through."""
    *top, opacity = rgba(ground)
    found = []
    for behind in (0, 255):
        mixed = [opacity * x + (1 - opacity) * behind for x in top]
        a, b = luminance(rgba(words)[:3]), luminance(mixed)
        found.append((max(a, b) + 0.05) / (min(a, b) + 0.05))
    return min(found)


def test_contrast_is_that_of_the_standard():
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#000", "rgba(255, 255, 255, 0)") == pytest.approx(1)


@pytest.mark.parametrize("theme", [":root", ".dark"])
def test_words_and_marks_stand_out(theme):
    """4.5 of words, 3 of what is no text (WCAG 2, 1.4.3 and 1.4.11)."""
    known = colours(theme)
    assert not [(pair, found) for pair in PAIRS
                if (found := contrast(*(known[name] for name in pair))) < 4.5]
    assert not [(pair, found) for pair in SEEN
                if (found := contrast(*(known[name] for name in pair))) < 3.0]
    assert contrast("#ffffff", known["strong"]) >= 4.5
    for hue in range(0, 131, 5):        # of a friction bar, red to green
        rgb = colorsys.hls_to_rgb(hue / 360, float(known["shade"].rstrip("%")) / 100, 0.75)
        fill = "rgb(" + ", ".join(str(255 * part) for part in rgb) + ")"
        assert contrast(fill, known["groove"]) >= 3.0, hue


def test_verdicts_of_a_report_are_legible():
    text = read_static("report.css")
    ink = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", text))
    grounds = dict(re.findall(r"\.(\w+) \{ border-color: var\(--\w+\); background: (#\w+)", text))
    assert set(grounds) == {"good", "doubt", "bad"}
    assert not [(name, shown) for name, ground in grounds.items() for words in (name, "soft")
                if (shown := contrast(ink[words], ground)) < 4.5]


def test_buttons_with_colours_of_their_own_are_legible():
    """White words on what is painted without a variable; no text has another colour of its own."""
    text = "".join(map(read_static, SHEETS))
    own = re.findall(r"(?<![\w-])background: (#[0-9a-f]{3,8})", text)
    assert own and all(contrast("#ffffff", colour) >= 4.5 for colour in own)
    assert set(re.findall(r"(?<![\w-])color: ([^;}]+)", text)) <= {
        "#fff", "inherit", "var(--ink)", "var(--page)", "var(--alarm)"}


def test_the_focus_is_drawn_and_never_taken_away():
    text = "".join(map(read_static, SHEETS))
    assert ":focus-visible { outline: 2px solid var(--focus)" in text
    assert not re.search(r"outline:\s*(?:none|0)", text)


SIZES = ((1280, 800), (390, 844))
DARK = """(() => { const box = document.getElementById('dark');
    box.checked = %s; box.onchange(); return 0; })()"""


@contextmanager
def shown_page(kind, folder):
    """A page in a browser, and the buttons that open its panels."""
    vehicle = shipped("trailers")
    if kind == "written":
        with Undrawn(nhmech.save_page(vehicle, folder / "robot.html").as_uri(),
                     SIZES[0]) as browser:
            browser.wait_for("nhmech.state.ready && nhmech.written")
            yield browser, ["knobs"]
    elif kind == "recorded":
        run = nhmech.Simulator(vehicle).run(0.2)
        with Undrawn(save_html(vehicle, run, folder / "run.html").as_uri(), SIZES[0]) as browser:
            browser.wait_for("nhmech.state.ready")
            yield browser, ["graph"]
    elif kind == "live":
        with Viewer(vehicle) as viewer, Undrawn(viewer.url, SIZES[0]) as browser:
            viewer.display(nhmech.Simulator(vehicle).state)
            browser.wait_for("nhmech.state.ready && nhmech.plots.store.readings.length")
            yield browser, ["graph"]
    else:
        demo = {"demo": DemoDrive(vehicle)}
        with (Drive(vehicle, controllers=demo) as drive,
              Undrawn(drive.viewer.url, SIZES[0]) as browser):
            browser.wait_for("nhmech.state.ready && nhmech.drive.state.limits")
            yield browser, ["graph"]


@needs_chromium
@pytest.mark.browser
@pytest.mark.parametrize("kind", ["recorded", "drive", "written", *at_length("live")])
def test_words_are_legible_and_tab_reaches_every_control(kind, tmp_path):
    """As the browser paints them, light and dark, at two widths: contrast of 4.5 at least. The Tab
    key goes through all controls, each in the window and with an outline while it has the
    focus. What a live page has, that of a drive has too."""
    with shown_page(kind, tmp_path) as (browser, buttons):
        for width, height in SIZES:
            browser._page("Emulation.setDeviceMetricsOverride", width=width, height=height,
                          deviceScaleFactor=1, mobile=False)
            for name in (*buttons, "look", "ask"):
                browser.evaluate(f"document.getElementById('{name}').click(), 0")
                for dark in ("false", "true"):
                    browser.evaluate(DARK % dark)
                    found = browser.evaluate(CONTRAST)
                    assert len(found) > 3 and not [entry for entry in found if entry[0] < 4.5]
                reached, bad, count = tab_through(browser)
                assert not bad and len(reached) == count > 4, (bad, reached)
            for name in (*buttons, "ask"):      # closed again
                browser.evaluate(f"document.getElementById('{name}').click(), 0")
