"""Formulas under headings, as plain text or as a LaTeX document."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 100             # columns of plain text
LINE = 75               # signs of a line of LaTeX, as they are seen

_SPECIAL = re.compile(r"([_#$%&{}])")


@dataclass(frozen=True)
class Section:
    """Formulas that belong together."""

    heading: str  # in words
    # (left, right) of "left = right"; or (words, "") of what is no formula
    formulas: tuple[tuple[str, str], ...]


def to_text(sections: Sequence[Section]) -> str:
    """Headings, with the formulas indented under them."""
    lines = []
    for section in sections:
        lines += ["", section.heading]
        for left, right in section.formulas:
            formula = f"{left} = {right}" if right else left
            lines += textwrap.wrap(formula, WIDTH, initial_indent="  ", subsequent_indent="      ",
                                   break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines[1:])


def to_latex(title: str, sections: Sequence[Section]) -> str:
    """A document that compiles by itself."""
    parts = [f"\\section*{{{_escape(section.heading)}}}\n" + (
        _align("align*", section) if any(right for _, right in section.formulas)
        else "\n\n".join(_escape(left) for left, _ in section.formulas)) for section in sections]
    return "\n".join((r"\documentclass{article}", r"\usepackage{amsmath}",
                      r"\usepackage[margin=2cm]{geometry}", r"\begin{document}",
                      f"\\section*{{{_escape(title)}}}", *parts, r"\end{document}", ""))


def to_notebook(sections: Sequence[Section]) -> str:
    """The formulas alone, for a notebook."""
    return "\n".join(f"$$\n{_align('aligned', section)}\n$$" for section in sections
                     if any(right for _, right in section.formulas))


def _align(environment: str, section: Section) -> str:
    rows = []
    for left, right in section.formulas:
        if right:
            first, *more = _break_lines(right)
            left = f"{{}}{left}" if left.startswith("[") else left     # no option of the row
            rows += [f"{left} &= {first}", *(f"&\\quad {part}" for part in more)]
        else:
            rows.append(f"&\\text{{{_escape(left)}}}")
    return f"\\begin{{{environment}}}\n" + " \\\\\n".join(rows) + f"\n\\end{{{environment}}}"


def _escape(words: str) -> str:
    return _SPECIAL.sub(r"\\\1", words)


def _break_lines(formula: str) -> list[str]:
    """Lines of a formula, broken before a sign that stands in no bracket."""
    terms, depth, begin = [], 0, 0
    for place, sign in enumerate(formula):
        depth += (sign in "{(") - (sign in "})")
        if not depth and formula[place:place + 3] in (" + ", " - "):
            terms.append(formula[begin:place])
            begin = place + 1
    terms.append(formula[begin:])
    lines = [terms[0]]
    for term in terms[1:]:
        if _seen(lines[-1]) + _seen(term) > LINE:
            lines.append(term)
        else:
            lines[-1] += f" {term}"
    return lines


def _seen(formula: str) -> int:
    """About how many of its characters are visible: of a fraction, the wider of numerator and
    denominator."""
    while (found := re.search(r"\\frac\{((?:[^{}]|\{[^{}]*\})*)\}\{((?:[^{}]|\{[^{}]*\})*)\}",
                              formula)) is not None:
        formula = formula[:found.start()] + max(found[1], found[2], key=len) \
            + formula[found.end():]
    return len(re.sub(r"\\(left|right|mathrm|dot|ddot)|[{}_^ ]|\\(?=[a-z])", "", formula))
