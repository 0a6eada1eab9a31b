"""The pages' style sheets: words are legible on whatever lies behind them, light and dark."""

import colorsys
import re

import pytest

from nhmech.view.static import read_static

SHEETS = ("page.css", "drive.css", "written.css")
PAIRS = [("ink", "page"), ("ink", "panel"), ("ink", "plain"), ("alarm", "panel"),
         ("page", "ink")]                                       # words, and what they stand on
# what is no text
SEEN = [("fill", "groove"), ("quiet", "groove"), ("focus", "page"), ("focus", "panel")]


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
