"""The conditions of a run: slope, load, other numbers, and the start.

Each option is an argument that Python has too: `Ground.inclined`, `Vehicle.with_parameters`,
`Simulator.reset`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from ..checks import are_degrees
from .options import (
    Context,
    PairType,
    Parameter,
    Positive,
    RobotOptions,
    Typed,
    load_robot,
    naming,
    number,
    option,
    option_group,
)

if TYPE_CHECKING:
    from ..simulation.simulator import Simulator
    from ..vehicle.vehicle import Vehicle

PAYLOAD = ("payload.mass", "payload.x", "payload.y", "payload.z")


class Numbers(click.ParamType):
    """Finite numbers with commas between them, of which `45deg` is an angle in degrees."""

    def __init__(self, *counts: int, example: str):
        self.counts, self.example = counts, example
        self.name = "NUMBERS"

    def convert(self, value: Any, param: Parameter, ctx: Context) -> Typed:
        """The numbers."""
        try:
            found = Typed.of(map(number, value.split(",")), value)
        except ValueError:
            found = Typed()
        if len(found) not in self.counts or not all(map(isfinite, found)):
            self.fail(f"{value!r}: write {' or '.join(map(str, self.counts))} finite numbers, with "
                      f"commas between them, such as {self.example}", param, ctx)
        return found


class PoseType(Numbers):
    """`1,0,45deg`, or six numbers; what is typed in degrees without their unit is refused."""

    def convert(self, value: Any, param: Parameter, ctx: Context) -> Typed:
        """x, y, yaw [m, m, rad], or x, y, z, roll, pitch, yaw."""
        pose = super().convert(value, param, ctx)
        half = len(pose) // 2
        angles = pose[-half:]
        if are_degrees(angles):
            words = value.split(",")
            meant = ",".join([*words[:-half], *(f"{angle:g}deg" for angle in angles)])
            self.fail(f"{value!r}: more than a full turn; angles are in radians. If "
                      f"degrees were meant: {meant}", param, ctx)
        return pose


class PayloadType(click.ParamType):
    """`5@0.1,0,0.3` -> a mass [kg] and its place [m]."""

    name = "MASS@X,Y,Z"

    def convert(self, value: Any, param: Parameter, ctx: Context) -> Typed:
        """Mass, x, y and z."""
        mass, at, place = value.partition("@")
        whole = f"{mass},{place}" if at else "none"
        try:
            return Typed.of(Numbers(4, example="").convert(whole, param, ctx), value)
        except click.BadParameter:
            self.fail(f"{value!r}: write a mass [kg] and its position in the base's frame [m], "
                      "such as 5@0.1,0,0.3", param, ctx)


@dataclass(frozen=True)
class Load:
    """A load, and other numbers of the robot."""

    payload: tuple[float, ...] | None = option(
        "--payload", type=PayloadType(),
        help="Add a point mass [kg] at a position in the base's frame [m], e.g. 5@0.1,0,0.3.")
    parameters: tuple[tuple[str, float], ...] = option(
        "--param", type=PairType("VALUE", number), multiple=True,
        help="Change a number of the robot, e.g. base_link.mass=12 or "
             "left_wheel_joint.radius=0.11; repeat. See `Vehicle.with_parameters` for the names.")

    def put_on(self, vehicle: Vehicle) -> Vehicle:
        """The vehicle with its load and numbers."""
        if self.parameters:
            with naming("--param", self.parameters):
                vehicle = vehicle.with_parameters(dict(self.parameters))
        if self.payload is not None:
            with naming("--payload", self.payload):
                vehicle = vehicle.with_parameters(dict(zip(PAYLOAD, self.payload)))
        return vehicle


@dataclass(frozen=True)
class Conditions(Load):
    """The conditions of a run, with ground and start."""

    slope: tuple[float, ...] | None = option(
        "--slope", type=Numbers(1, 2, example="10deg, or 10deg,90deg"),
        metavar="ANGLE[,DIRECTION]",
        help="Tilt the ground by this angle: it rises along x, or along a direction given by its "
             "angle from x [rad; 10deg].")
    start: tuple[float, ...] | None = option(
        "--start", type=PoseType(3, 6, example="1,0,45deg"), metavar="X,Y,YAW",
        help="Where the base starts [m, m, rad; 45deg], or x,y,z,roll,pitch,yaw. Default: the "
             "beginning of the path, else the origin.")
    joints: tuple[tuple[str, float], ...] = option(
        "--joint", type=PairType("ANGLE", number), multiple=True,
        help="Position of a joint at the start [rad or m; 30deg]; repeat.")
    xi: tuple[tuple[str, float], ...] = option(
        "--xi", type=PairType("VALUE", number), multiple=True,
        help="Speed at the start [rad/s or m/s], of a joint or of the base, such as "
             "forward_speed=0.5; repeat. Default: at rest.")

    def load(self, file: str, robot: RobotOptions) -> Vehicle:
        """The robot on its ground, with its load and numbers."""
        from ..vehicle.ground import Ground

        with naming("--slope", self.slope):
            ground = Ground() if self.slope is None else Ground.inclined(*self.slope)
        return self.put_on(load_robot(file, robot, ground))

    def place(self, simulator: Simulator, start: Mapping[str, Any]) -> dict[str, Any]:
        """Put the simulator at `start`, arguments of its `reset`, changed as the options say, and
        return the arguments."""
        given = dict(start)
        if self.start is not None or self.joints:
            given.pop("q", None)      # the whole configuration contradicts a part of it
        simulator.reset(**given)
        # one after the other, so that an error names its option
        for flag, name, value in (("--start", "pose", self.start),
                                  ("--joint", "joints", self.joints), ("--xi", "xi", self.xi)):
            if value:
                given[name] = value if name == "pose" else _join(given.get(name), value)
                with naming(flag, value):
                    simulator.reset(**given)
        return given


@dataclass(frozen=True)
class RunConditions(Conditions):
    """The conditions of a run, with a fall for vehicles that may leave the ground."""

    drop: float | None = option(
        "--drop", type=Positive(), metavar="HEIGHT",
        help="Start in free fall, with the lowest point at this height above the ground [m] and "
             "the attitude of --start; needs --on-slip go-on.")

    def place(self, simulator: Simulator, start: Mapping[str, Any]) -> dict[str, Any]:
        """As in `Conditions`; a fall begins at rest unless `--xi` is given."""
        if self.drop is not None:      # first: what falls need not have stood
            start = {**start, "drop": self.drop} | ({} if self.xi else {"xi": None})
            if self.start is not None or self.joints:
                start.pop("q", None)
            with naming("--drop", (self.drop,)):
                simulator.reset(**start)
        return super().place(simulator, start)


NO_CONDITIONS = Conditions()

load_options = option_group("load", Load)
run_condition_options = option_group("conditions", RunConditions)
condition_options = option_group("conditions", Conditions)


def _join(known: object, pairs: tuple) -> dict[str, float]:
    """Numbers by name: `pairs`, then the known ones."""
    return {**(known if isinstance(known, Mapping) else {}), **dict(pairs)}
