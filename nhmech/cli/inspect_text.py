"""The text of `nhmech inspect`: at most `LINES` lines of `WIDTH` columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import click
from rich.cells import cell_len

from ..errors import listed
from ..urdf.description import Reason

LINES = 60  # of a tall terminal
WIDTH = 120  # columns
ROWS = 3  # of one entry at most
DEEPEST = 40  # columns before a further row: long names leave room for the text
CUT = " ... (--json)"
# Rows of one entry of a section, one step after the other while there is too much. The lines that
# a notice suggests are there to be pasted: they are the last to be cut.
WHOLE = 12
STEPS: tuple[dict[str, int], ...] = (
    {"notices": WHOLE},
    {"why": 2, "joints": 2, "mechanics": 2, "geometry": 2},
    {"why": 1, "joints": 1, "mechanics": 1, "geometry": 1},
    {"mobility": 2, "evidence": 2},
    {"mobility": 1, "evidence": 1, "size": 1},
    *({"notices": rows} for rows in (6, 5, 4, 3, 2, 1)),
)


def format_vector(values: Iterable[float] | None) -> str:
    """Numbers separated by spaces; "-" for None."""
    return "-" if values is None else " ".join(f"{value:.4g}" for value in values)


def format_value(values: Any) -> str:
    """One line for a value: names separated by commas, `name value` for a dict."""
    if isinstance(values, dict):
        entries = (f"{key} {format_value(value)}".rstrip() for key, value in values.items())
        return ", ".join(entries) or "none"
    if isinstance(values, (list, tuple)):
        return ", ".join(map(format_value, values)) or "none"
    return f"{values:.4g}" if isinstance(values, float) else str(values)


@dataclass(frozen=True)
class Entry:
    """One printed entry: `lead` precedes the text, whose rows are aligned."""

    lead: str
    text: str

    def wrap(self, rows: int = ROWS) -> list[str]:
        """Rows of `WIDTH`; rows beyond the given number are cut off."""
        lines = textwrap.wrap(self.text, WIDTH, initial_indent=self.lead,
                              subsequent_indent=" " * min(len(self.lead), DEEPEST),
                              break_long_words=False, break_on_hyphens=False)
        lines = lines or [self.lead.rstrip()]
        if len(lines) > rows:
            lines = [*lines[:rows - 1], f"{lines[rows - 1][:WIDTH - len(CUT)].rstrip()}{CUT}"]
        return [line if len(line) <= WIDTH else f"{line[:WIDTH - len(CUT)]}{CUT}"
                for line in lines]


def _pad(text: str, width: int) -> str:
    """The text over so many columns of a terminal, of which many scripts take two a character."""
    return text + " " * (width - cell_len(text))


def format_table(rows: list[list[str]]) -> list[Entry]:
    """Aligned columns; words stay whole, however narrow the terminal is."""
    widths = [max(map(cell_len, column)) for column in zip(*rows)]
    return [Entry("", "  ".join(map(_pad, row, widths)).rstrip()) for row in rows]


def format_facts(values: Mapping[str, Any]) -> list[Entry]:
    """An entry for each name and value."""
    width = max(map(cell_len, values), default=0)
    return [Entry(f"  {_pad(name, width)}  ", format_value(value))
            for name, value in values.items()]


def describe_mechanics(mechanics: dict) -> dict[str, Any]:
    """The summary of the mechanics in words: lists of rows are counted; entries that are empty are
    left out."""
    support = {name: value for name, value in mechanics["support_offsets"].items()
               if abs(value) > 1e-9}
    led = f"{format_value(mechanics['followers'])}; led by {format_value(mechanics['leaders'])}"
    plane = (f"contacts off the common plane [m]: {format_value(support)}" if support
             else "all contacts in one plane")
    shown = {
        "coordinates": f"{mechanics['nq']} (nq), {mechanics['nv']} velocities (nv), "
                       f"{mechanics['nxi']} of them independent (nxi); "
                       f"{len(mechanics['rows'])} constraints, {len(mechanics['kept_rows'])} of "
                       "them independent",
        "speeds": ", ".join(f"{name} [{unit}]" for name, unit in mechanics["speeds"].items()),
        "couplings": led if mechanics["followers"] else "",
        "support": plane + (", the base level" if mechanics["level_base"] else ""),
        "symmetry": mechanics["symmetry"],
    }
    return {key: value for key, value in shown.items() if value}


def group_reasons(reasons: Mapping[str, Reason]) -> list[Entry]:
    """Reasons by wheel; those that differ only in names are printed once."""
    return group_wheels({name: (reason.pattern, str(reason)) for name, reason in reasons.items()})


def group_evidence(reasons: Mapping[str, Reason]) -> list[Entry]:
    """The sources that agree with each wheel and those that do not; similar wheels together."""
    clauses = {name: describe_evidence(reason) for name, reason in reasons.items() if reason.facts}
    return group_wheels({name: (clause, clause) for name, clause in clauses.items()})


def group_wheels(texts: Mapping[str, tuple[str, str]]) -> list[Entry]:
    """An entry for all wheels of a key: wheel -> (key, text)."""
    groups: dict[str, list[str]] = {}
    for name, (key, _) in texts.items():
        groups.setdefault(key, []).append(name)
    return format_facts({listed(names, 1): texts[names[0]][1] for names in groups.values()})


def describe_evidence(reason: Reason) -> str:
    """The evidence in words, such as "agree: collision mesh 0.1 m, level axle, name; not: common
    plane"."""
    sides = {"agree": reason.supporting, "not": reason.contradicting}
    return "; ".join(f"{side}: {', '.join(map(str, facts))}"
                     for side, facts in sides.items() if facts)


def describe_part(part: dict, describe: Callable[[dict], Mapping[str, Any]]) -> list[Entry]:
    """The result, or the reason why there is none."""
    return format_facts({"not found": part["error"]} if "error" in part else describe(part))


def report_lines(found: dict) -> list[tuple[str, list[str]]]:
    """(title, lines) of each section, at most `LINES` in all: if there are too many, reasons and
    notices are shortened first."""
    from ..analysis.summary import geometry_lines, mobility_lines, size_lines

    head = ["wheel", "kind", "radius [m]", "link", "centre [m]", "axis", "driven", "mu"]
    wheels = [[wheel["name"], wheel["kind"], f"{wheel['radius']:.4g}", wheel["link"] or "-",
               format_vector(wheel["centre"]), format_vector(wheel["axis"]),
               "yes" if wheel["driven"] else "no",
               "-" if wheel["mu"] is None else f"{wheel['mu']:.4g}"] for wheel in found["wheels"]]
    reasons = {wheel["name"]: wheel["reason"] for wheel in found["wheels"]}
    mimic = [f"{m['joint']} = {m['multiplier']:g} {m['leader']} + {m['offset']:g}"
             for m in found["joints"]["mimic"]]
    # wheels, and which of them are driven, are in the table
    rolling = found["joints"]["rolling"]
    driven = [name for name in found["joints"]["driven"] if name not in rolling]
    joints = found["joints"] | {"rolling": (), "driven": driven, "mimic": mimic}
    entries = {
        "": format_table([head, *wheels]),
        "why": group_reasons(reasons),
        "evidence": group_evidence(reasons),
        "joints": format_facts({key: value for key, value in joints.items() if value}),
        "size": format_facts(size_lines(found["size"])),
        "mechanics": format_facts(describe_mechanics(found["mechanics"])),
        "mobility": describe_part(found["mobility"], mobility_lines),
        "geometry": describe_part(found["geometry"], geometry_lines),
        "notices": [Entry("  - ", notice.command_line) for notice in found["notices"]],
    }
    return [(title, lines) for title, lines in _fit(entries).items() if lines]


def _fit(entries: Mapping[str, list[Entry]]) -> dict[str, list[str]]:
    """The sections' lines, wrapped and shortened until all of them fit into `LINES`."""
    rows = dict.fromkeys(entries, ROWS)
    for step in STEPS:
        rows |= step
        sections = {title: [line for entry in found for line in entry.wrap(rows[title])]
                    for title, found in entries.items()}
        if _height(sections) <= LINES:
            break
    for title, least in (("why", 0), ("notices", 3), ("", 12)):
        lines, over = sections[title], _height(sections) - LINES
        if over > 0 and len(lines) > least:
            kept = max(least, len(lines) - over - 1)
            sections[title] = [*lines[:kept], f"  ... {len(lines) - kept} more (--json)"]
    return sections


def _height(sections: Mapping[str, list[str]]) -> int:
    """Lines of a page: the first, and each section with its title and an empty line."""
    return 1 + sum(2 + len(lines) for lines in sections.values() if lines)


def print_report(found: dict) -> None:
    """Print the report of `nhmech.cli.inspect.report`."""
    click.secho(found["name"], bold=True, nl=False)
    click.echo(f"  root link {found['root']}")
    for title, lines in report_lines(found):
        click.secho(f"\n{title}" if title else "", bold=True)
        click.echo("\n".join(lines))
