"""`nhmech inspect`: what the loader found in a robot, what it decided, and why."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING

import click
import numpy as np

from .options import load_robot, robot

if TYPE_CHECKING:
    from ..vehicle.description import Description

LINES = 60
WIDTH = 200


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
    from ..analysis.summary import geometry_summary, mobility_summary

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
            "mimic": [{"joint": m.joint, "leader": m.leader, "multiplier": m.multiplier, "offset": m.offset} for m in d.mimic],
        },
        "notices": vehicle.notices,
        "mechanics": vehicle.summary(),
        "mobility": mobility_summary(vehicle),
        "geometry": geometry_summary(vehicle),
    }


def plain(value):
    """`value` in JSON's types: tuples and arrays become lists, infinite and undefined numbers null."""
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
        return ", ".join(f"{key} {words(value)}".rstrip() for key, value in values.items()) or "none"
    if isinstance(values, (list, tuple)):
        return ", ".join(words(value) for value in values) or "none"
    return f"{values:.4g}" if isinstance(values, float) else str(values)


def table(rows: list[list[str]]) -> list[str]:
    """Lines with the columns below each other; whole words, however wide the terminal is."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def facts(values: dict) -> list[str]:
    return table([["", name, words(value)] for name, value in values.items()])


def counted(mechanics: dict) -> dict:
    """The mechanics' summary with the lists of rows shortened to what is worth reading."""
    short = {key: value for key, value in mechanics.items() if key not in ("name", "rows", "kept_rows", "dropped_rows")}
    if {"rows", "kept_rows"} <= mechanics.keys():
        short["rows"] = f"{len(mechanics['rows'])}, {len(mechanics['kept_rows'])} of them independent"
    return dict(sorted(short.items(), key=lambda item: type(item[1]) is not int))  # the numbers first


def clipped(line: str) -> str:
    """One line of the terminal's history, not five."""
    return line if len(line) <= WIDTH else f"{line[:WIDTH - 13]} ... (--json)"


def report_lines(found: dict) -> list[tuple[str, list[str]]]:
    """(title, lines) of each section for people, at most `LINES` lines in all: reasons and notices give way to what was found out."""
    from ..analysis.summary import geometry_lines, mobility_lines

    head = ["wheel", "kind", "radius [m]", "link", "centre [m]", "axis", "driven"]
    wheels = [
        [wheel["name"], wheel["kind"], f"{wheel['radius']:.4g}", wheel["link"] or "-", vector(wheel["centre"]), vector(wheel["axis"]),
         "yes" if wheel["driven"] else "no"]
        for wheel in found["wheels"]
    ]
    mimic = [f"{m['joint']} = {m['multiplier']:g} {m['leader']} + {m['offset']:g}" for m in found["joints"]["mimic"]]
    sections = {
        "": table([head, *wheels]),
        "why": facts({wheel["name"]: wheel["reason"] for wheel in found["wheels"]}),
        "joints": facts(found["joints"] | {"mimic": mimic}),
        "mechanics": facts(counted(found["mechanics"])),
        "mobility": facts(mobility_lines(found["mobility"])),
        "geometry": facts(geometry_lines(found["geometry"])),
        "notices": [f"  - {notice}" for notice in found["notices"]],
    }
    for title, least in (("why", 0), ("notices", 3), ("", 12)):
        over = 1 + sum(2 + len(lines) for lines in sections.values()) - LINES
        if over > 0 and len(sections[title]) > least:
            kept = max(least, len(sections[title]) - over - 1)
            sections[title] = sections[title][:kept] + [f"  ... {len(sections[title]) - kept} more (--json)"]
    return [(title, [clipped(line) for line in lines]) for title, lines in sections.items() if lines]


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
@click.option("--tag", is_flag=True, help="Print an <nhmech> element that says the same, to paste into <robot> and correct.")
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
        from ..vehicle.tag import format_tag

        click.echo(format_tag(vehicle.description))
    elif as_json:
        click.echo(json.dumps(plain(report(vehicle)), indent=2))
    else:
        print_report(report(vehicle))
