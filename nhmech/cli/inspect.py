"""`nhmech inspect`: what the loader found in a robot, what it decided, and why."""

from __future__ import annotations

import json
import re
import textwrap
from math import isfinite
from typing import TYPE_CHECKING

import click
import numpy as np

from .options import load_robot, robot

if TYPE_CHECKING:
    from ..urdf.description import Description

LINES = 60
WIDTH = 120
ROWS = 3         # that one entry takes at most


def wheel_rows(description: Description) -> list[dict]:
    """One dict a wheel, in the description's order."""
    return [
        {
            "name": wheel.name,
            "kind": wheel.kind,
            "radius": wheel.radius,
            "crown": wheel.crown,
            "roller_angle": wheel.roller_angle,
            "link": wheel.link,
            "centre": wheel.point,
            "axis": wheel.axis,
            "driven": wheel.joint in description.driven,
            "reason": description.reasons.get(wheel.name, ""),
        }
        for wheel in description.wheels
    ]


def report(vehicle) -> dict:
    """Everything `nhmech inspect --json` prints."""
    from ..analysis.summary import geometry_summary, mechanics_summary, mobility_summary

    d = vehicle.description
    return {
        "name": d.name,
        "path": None if d.path is None else str(d.path),
        "root": d.root,
        "wheels": wheel_rows(d),
        "joints": {
            "rolling": d.rolling,
            "driven": d.driven,
            "steering": d.steering,
            "free": d.free,
            "locked": d.locked,
            "mimic": [{"joint": m.joint, "leader": m.leader, "multiplier": m.multiplier,
                       "offset": m.offset}
                      for m in d.mimic],
        },
        "notices": vehicle.notices,
        "mechanics": mechanics_summary(vehicle),
        "mobility": mobility_summary(vehicle),
        "geometry": geometry_summary(vehicle),
    }


def plain(value):
    """`value` in JSON's types: tuples and arrays become lists, infinite and undefined numbers
    null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def vector(values) -> str:
    return "-" if values is None else " ".join(f"{value:.4g}" for value in values)


def words(values) -> str:
    """One line for a value: names with commas between them, `name value` for a dict."""
    if isinstance(values, dict):
        return ", ".join(f"{key} {words(value)}".rstrip() for key,
                         value in values.items()) or "none"
    if isinstance(values, (list, tuple)):
        return ", ".join(words(value) for value in values) or "none"
    return f"{values:.4g}" if isinstance(values, float) else str(values)


def table(rows: list[list[str]]) -> list[str]:
    """Lines with the columns below each other; whole words, however wide the terminal is."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell,
                      width in zip(row, widths)).rstrip() for row in rows]


def facts(values: dict) -> list[str]:
    return table([["", name, words(value)] for name, value in values.items()])


def sizes(mechanics: dict) -> dict:
    """The mechanics' summary in words; lists of rows are counted, what is empty or zero is left
    out."""
    support = {name: value for name,
               value in mechanics["support_offsets"].items() if abs(value) > 1e-9}
    led = f"{words(mechanics['couplings'])}; led by {words(mechanics['leaders'])}"
    plane = (
        f"contacts off the common plane [m]: {words(support)}"
        if support
        else "all contacts in one plane"
    )
    shown = {
        "coordinates": f"{mechanics['nq']} (nq), {mechanics['nv']} velocities (nv), "
                       f"{mechanics['nxi']} of them independent (nxi)",
        "speeds": ", ".join(f"{name} [{unit}]" for name, unit in mechanics["speeds"].items()),
        "inputs": words(mechanics["inputs"]),
        "rows": f"{len(mechanics['rows'])} constraints, {len(mechanics['kept_rows'])} of them "
                "independent",
        "couplings": led if mechanics["couplings"] else "",
        "support": plane + (", the base level" if mechanics["level_base"] else ""),
        "symmetry": mechanics["symmetry"],
    }
    known = {"name", "nq", "nv", "nxi", "speeds", "inputs", "rows", "kept_rows", "dropped_rows",
             "couplings", "leaders", "support_offsets", "level_base", "symmetry"}
    further = {key: value for key, value in mechanics.items() if key not in known}
    return {key: value for key,
            value in (shown | further).items() if value not in ("", [], (), None)}


def likewise(reasons: dict[str, str]) -> list[str]:
    """Reasons by wheel; those that differ in names only are said once."""
    groups: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        groups.setdefault(re.sub(r"'[^']*'", "''", reason), []).append(name)
    return facts({names[0] + (f" and {len(names) - 1} more" if len(names) > 1
                              else ""): reasons[names[0]]
                  for names in groups.values()})


def wrapped(line: str, rows: int = ROWS) -> list[str]:
    """The line in rows of `WIDTH`, hanging below the entry's text; what is longer than `rows` of
    them is cut off."""
    hang = re.match(r"  \S.*?  +|  - |", line).end()
    lines = textwrap.wrap(line, WIDTH, subsequent_indent=" " * min(hang, 40),
                          break_long_words=False, break_on_hyphens=False) or [""]
    lines[0] = line[:len(line) - len(line.lstrip())] + lines[0].lstrip()
    if len(lines) > rows:
        lines = [*lines[:rows - 1], f"{lines[rows - 1][:WIDTH - 13].rstrip()} ... (--json)"]
    return [part if len(part) <= WIDTH else f"{part[:WIDTH - 13]} ... (--json)" for part in lines]


def report_lines(found: dict) -> list[tuple[str, list[str]]]:
    """(title, lines) of each section for people, at most `LINES` in all: reasons and notices give
    way to findings."""
    from ..analysis.summary import geometry_lines, mobility_lines

    head = ["wheel", "kind", "radius [m]", "link", "centre [m]", "axis", "driven"]
    wheels = [
        [wheel["name"], wheel["kind"], f"{wheel['radius']:.4g}", wheel["link"] or "-",
         vector(wheel["centre"]), vector(wheel["axis"]), "yes" if wheel["driven"] else "no"]
        for wheel in found["wheels"]
    ]
    mimic = [f"{m['joint']} = {m['multiplier']:g} {m['leader']} + {m['offset']:g}"
             for m in found["joints"]["mimic"]]
    joints = {key: value for key, value in (found["joints"] | {"mimic": mimic}).items() if value}
    entries = {
        "": table([head, *wheels]),
        "why": likewise({wheel["name"]: wheel["reason"] for wheel in found["wheels"]}),
        "joints": facts(joints),
        "mechanics": facts(sizes(found["mechanics"])),
        "mobility": facts(mobility_lines(found["mobility"])),
        "geometry": facts(geometry_lines(found["geometry"])),
        "notices": [f"  - {notice.command_line}" for notice in found["notices"]],
    }
    # long entries take fewer rows where there are many
    for few, many in ((ROWS, ROWS), (2, ROWS), (1, ROWS), (1, 2), (1, 1)):
        rows = {title: many if title in ("mobility", "geometry") else few for title in entries}
        sections = {title: [row for line in lines for row in wrapped(line, rows[title])]
                    for title, lines in entries.items()}
        if 1 + sum(2 + len(lines) for lines in sections.values() if lines) <= LINES:
            break
    for title, least in (("why", 0), ("notices", 3), ("", 12)):
        over = 1 + sum(2 + len(lines) for lines in sections.values() if lines) - LINES
        if over > 0 and len(sections[title]) > least:
            kept = max(least, len(sections[title]) - over - 1)
            sections[title] = sections[title][:kept] + [f"  ... {len(sections[title]) - kept} more "
                                                        "(--json)"]
    return [(title, lines) for title, lines in sections.items() if lines]


def print_report(found: dict) -> None:
    """The same for people."""
    click.secho(found["name"], bold=True, nl=False)
    click.echo(f"  root link {found['root']}")
    for title, lines in report_lines(found):
        click.secho(f"\n{title}" if title else "", bold=True)
        click.echo("\n".join(lines))


@click.command()
@robot
@click.option("--json", "as_json", is_flag=True, help="Print it for machines.")
@click.option("--tag", is_flag=True,
              help="Print an <nhmech> element that says the same, to paste into <robot> and "
                   "correct.")
def inspect(file, as_json, tag, **robot_options):
    """Say which wheels and joints were found in FILE, and why.

    FILE is a URDF or xacro file, or the name of a shipped robot.

    \b
    nhmech inspect robot.urdf
    nhmech inspect robot.urdf --tag          what to paste into the file to make the choice its own
    nhmech inspect robot.urdf --json
    """
    vehicle = load_robot(file, **robot_options)
    if tag:
        from ..urdf.tag import format_tag

        click.echo(format_tag(vehicle.description))
    elif as_json:
        click.echo(json.dumps(plain(report(vehicle)), indent=2))
    else:
        print_report(report(vehicle))
