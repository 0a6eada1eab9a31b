"""What `nhmech inspect` prints for people: at most `LINES` lines of `WIDTH` columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import click

from ..errors import listed
from ..urdf.description import Reason

LINES = 60  # of a tall terminal
WIDTH = 120  # columns
ROWS = 3  # of one entry at most


def format_vector(values: Iterable[float] | None) -> str:
    """Numbers with spaces between them; "-" for None."""
    return "-" if values is None else " ".join(f"{value:.4g}" for value in values)


def format_value(values: Any) -> str:
    """One line for a value: names with commas between them, `name value` for a dict."""
    if isinstance(values, dict):
        entries = (f"{key} {format_value(value)}".rstrip() for key, value in values.items())
        return ", ".join(entries) or "none"
    if isinstance(values, (list, tuple)):
        return ", ".join(map(format_value, values)) or "none"
    return f"{values:.4g}" if isinstance(values, float) else str(values)


def format_table(rows: list[list[str]]) -> list[str]:
    """Lines with aligned columns; words stay whole, however narrow the terminal is."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
            for row in rows]


def format_facts(values: Mapping[str, Any]) -> list[str]:
    """A line for each name and value."""
    return format_table([["", name, format_value(value)] for name, value in values.items()])


def describe_mechanics(mechanics: dict) -> dict[str, Any]:
    """The summary of the mechanics in words: lists of rows are counted; entries that are empty or
    zero are left out."""
    support = {name: value for name, value in mechanics["support_offsets"].items()
               if abs(value) > 1e-9}
    led = f"{format_value(mechanics['followers'])}; led by {format_value(mechanics['leaders'])}"
    plane = (f"contacts off the common plane [m]: {format_value(support)}" if support
             else "all contacts in one plane")
    shown = {
        "coordinates": f"{mechanics['nq']} (nq), {mechanics['nv']} velocities (nv), "
                       f"{mechanics['nxi']} of them independent (nxi)",
        "speeds": ", ".join(f"{name} [{unit}]" for name, unit in mechanics["speeds"].items()),
        "inputs": format_value(mechanics["inputs"]),
        "rows": f"{len(mechanics['rows'])} constraints, {len(mechanics['kept_rows'])} of them "
                "independent",
        "couplings": led if mechanics["followers"] else "",
        "support": plane + (", the base level" if mechanics["level_base"] else ""),
        "symmetry": mechanics["symmetry"],
    }
    known = {"name", "nq", "nv", "nxi", "speeds", "inputs", "rows", "kept_rows", "dropped_rows",
             "followers", "leaders", "support_offsets", "level_base", "symmetry"}
    further = {key: value for key, value in mechanics.items() if key not in known}
    return {key: value for key, value in (shown | further).items()
            if value not in ("", [], (), None)}


def group_reasons(reasons: Mapping[str, Reason]) -> list[str]:
    """Reasons by wheel; those that differ only in names are printed once."""
    groups: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        groups.setdefault(reason.pattern, []).append(name)
    return format_facts({listed(names, 1): str(reasons[names[0]]) for names in groups.values()})


def wrap_entry(line: str, rows: int = ROWS) -> list[str]:
    """The line in rows of `WIDTH`, indented below the entry's text; whatever does not fit into
    `rows` of them is cut off."""
    lead = re.match(r"  \S.*?  +|  - ", line)
    hang = 0 if lead is None else lead.end()
    lines = textwrap.wrap(line, WIDTH, subsequent_indent=" " * min(hang, 40),
                          break_long_words=False, break_on_hyphens=False) or [""]
    lines[0] = line[:len(line) - len(line.lstrip())] + lines[0].lstrip()
    if len(lines) > rows:
        lines = [*lines[:rows - 1], f"{lines[rows - 1][:WIDTH - 13].rstrip()} ... (--json)"]
    return [part if len(part) <= WIDTH else f"{part[:WIDTH - 13]} ... (--json)" for part in lines]


def report_lines(found: dict) -> list[tuple[str, list[str]]]:
    """(title, lines) of each section, at most `LINES` in all: where there is too much, reasons and
    notices are shortened first."""
    from ..analysis.summary import geometry_lines, mobility_lines

    head = ["wheel", "kind", "radius [m]", "link", "centre [m]", "axis", "driven"]
    wheels = [
        [wheel["name"], wheel["kind"], f"{wheel['radius']:.4g}", wheel["link"] or "-",
         format_vector(wheel["centre"]), format_vector(wheel["axis"]),
         "yes" if wheel["driven"] else "no"]
        for wheel in found["wheels"]
    ]
    mimic = [f"{m['joint']} = {m['multiplier']:g} {m['leader']} + {m['offset']:g}"
             for m in found["joints"]["mimic"]]
    joints = {key: value for key, value in (found["joints"] | {"mimic": mimic}).items() if value}
    entries = {
        "": format_table([head, *wheels]),
        "why": group_reasons({wheel["name"]: wheel["reason"] for wheel in found["wheels"]}),
        "joints": format_facts(joints),
        "mechanics": format_facts(describe_mechanics(found["mechanics"])),
        "mobility": format_facts(mobility_lines(found["mobility"])),
        "geometry": format_facts(geometry_lines(found["geometry"])),
        "notices": [f"  - {notice.command_line}" for notice in found["notices"]],
    }
    return [(title, lines) for title, lines in _fit(entries).items() if lines]


def _fit(entries: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The sections' lines, wrapped and shortened until all of them fit into `LINES`."""
    # long entries take fewer rows where there are many
    for few, many in ((ROWS, ROWS), (2, ROWS), (1, ROWS), (1, 2), (1, 1)):
        rows = {title: many if title in ("mobility", "geometry") else few for title in entries}
        sections = {title: [row for line in lines for row in wrap_entry(line, rows[title])]
                    for title, lines in entries.items()}
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
