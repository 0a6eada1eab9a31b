"""`nhmech inspect`: what the loader found in a robot, what it decided, and why."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..errors import MechanicsError
from ..urdf.description import Reason
from .completion import robot_argument
from .inspect_text import print_report
from .options import RobotOptions, load_robot, robot_options

if TYPE_CHECKING:
    from ..vehicle.vehicle import Vehicle


def wheel_rows(vehicle: Vehicle) -> list[dict]:
    """One dict a wheel, in the description's order."""
    from ..vehicle.friction import own_friction

    description, friction = vehicle.description, own_friction(vehicle)
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
            "mu": friction[wheel.name],
            "reason": description.reasons[wheel.name],
            "evidence": description.reasons[wheel.name].facts,
        }
        for wheel in description.wheels
    ]


def report(vehicle: Vehicle) -> dict[str, Any]:
    """Everything `nhmech inspect --json` prints."""
    from ..analysis.summary import (
        geometry_summary,
        mechanics_summary,
        mobility_summary,
        size_summary,
    )

    d = vehicle.description
    return {
        "name": d.name,
        "path": None if d.path is None else str(d.path),
        "root": d.root,
        "wheels": wheel_rows(vehicle),
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
        "size": size_summary(vehicle),
        "mechanics": mechanics_summary(vehicle),
        "mobility": attempt(mobility_summary, vehicle),
        "geometry": attempt(geometry_summary, vehicle),
    }


def attempt(summarise: Callable[[Vehicle], dict], vehicle: Vehicle) -> dict[str, Any]:
    """The summary, or the reason why there is none; the other summaries are shown in any case."""
    try:
        return summarise(vehicle)
    except MechanicsError as error:
        return {"error": error.command_line}


def to_json(value: Any) -> Any:
    """`value` in JSON's types: tuples and arrays become lists, dataclasses objects, a reason its
    sentence, infinite and undefined numbers null."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, Reason):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, np.ndarray)):
        return [to_json(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


@click.command(short_help="List the wheels and joints that were found, with the reasons.")
@robot_argument
@robot_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--tag", is_flag=True,
              help="Print the findings as an <nhmech> element to paste into <robot> and correct.")
def inspect(file: str, robot: RobotOptions, as_json: bool, tag: bool) -> None:
    """List the wheels and joints that were found in FILE, and why.

    FILE is a URDF or xacro file, or the name of a shipped robot.

    \b
    nhmech inspect robot.urdf
    nhmech inspect robot.urdf --tag          an element that makes the choice the file's own
    nhmech inspect robot.urdf --json
    """
    vehicle = load_robot(file, robot)
    if tag:
        from ..urdf.tag import format_tag

        click.echo(format_tag(vehicle.description))
    elif as_json:
        click.echo(json.dumps(to_json(report(vehicle)), indent=2))
    else:
        print_report(report(vehicle))
