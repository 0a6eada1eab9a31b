"""Vehicles that ideal rolling forbids to turn: parallel axles without steering."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import pi

import numpy as np

from ..checks import read_number
from ..errors import InputError, ModelError, listed
from .axis_hints import is_upright
from .description import MidAxle, Released, Skid
from .layout import Layout
from .listed_wheels import Origin
from .remedy import option, suggest, wheel_fields
from .stance import axle_R, centre_R
from .wheel import Wheel

SkidArgument = str | float | Sequence[str] | Skid | None      # as users write it

_SAME = 0.02       # rad: axles that cross at less are parallel
_CROSSED = 0.1     # rad: axles that cross at more are meant to


def read_skid(value: SkidArgument) -> Skid | None:
    """What gives way: "mid-axle", a positive track factor, or names of wheels; None is nothing.

    Raises
    ------
    InputError
        For anything else.
    """
    if value is None or isinstance(value, MidAxle | Released):
        return value
    if isinstance(value, str):
        return MidAxle() if value == "mid-axle" else Released((value,))
    if isinstance(value, (int, float)):
        return MidAxle(read_number("skid", value, "a positive track factor, 1 for the true track "
                                   "and more for the usual scrubbing", above=0))
    names = tuple(value) if isinstance(value, Sequence) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"skid {value!r} must be 'mid-axle', a track factor such as 1.5, or names "
                         "of wheels whose sideways grip is released")
    return Released(names)


def check_released(skid: Skid | None, wheels: Sequence[Wheel], origin: Origin) -> None:
    """Raises an error that lists the wheels there are where one to release has no such name."""
    names = [w.name for w in wheels]
    for name in skid.wheels if isinstance(skid, Released) else ():
        if name not in names:
            raise origin.error(f"{name!r} is neither 'mid-axle' nor the name of a wheel whose "
                               f"sideways grip is released; the wheels are {listed(names)}")


def check_turning(layout: Layout, wheels: Sequence[Wheel], steering: Sequence[str],
                  skid: Skid | None, *, held: Iterable[str] = (), inferred: bool = False) -> None:
    """Four or more wheels on two or more parallel axles of one body can only roll straight on.

    Parameters
    ----------
    layout
        The robot.
    wheels
        Its contacts.
    steering
        Joints that steer.
    skid
        What gives way: then there is nothing to check.
    held
        Joints that the user locks; where one of them would steer, going straight is intended.
    inferred
        Whether the wheels were found and not listed. Axles at angles to each other are then refused
        too: they are probably omni wheels.

    Raises
    ------
    ModelError
        That names the axles, and what `skid` and mecanum wheels to type.
    """
    if skid is not None or any(_would_steer(layout, wheels, name) for name in held):
        return
    bodies: dict[tuple, list[Wheel]] = {}
    for wheel in wheels:
        if wheel.traits.grips and wheel.joint is not None:
            above = tuple(j.name for j in layout.path(layout.carrier(wheel)) if j.name in steering)
            bodies.setdefault(above, []).append(wheel)
    for group in bodies.values():
        across = [w for w in group if _angle(layout, w, group[0]) > _CROSSED]
        if inferred and across:
            raise _crossing_error(layout, group, across[0])
        axles = _axles(layout, group)
        if len(group) >= 4 and len(axles) >= 2:
            raise _straight_error(layout, group, axles, wheels)


def _crossing_error(layout: Layout, group: Sequence[Wheel], other: Wheel) -> ModelError:
    omni = [wheel_fields(w, kind="omni") for w in group]
    return ModelError(
        f"{layout.source.label}: the axles of {group[0].name} and {other.name} are not parallel "
        "and nothing steers them: rolling without slip, it could at most turn about one point",
        suggest("If these are omni wheels, list them as such: ", option("wheels", omni),
                " (and the casters, if there are any)"))


def _straight_error(layout: Layout, group: Sequence[Wheel], axles: Sequence[Sequence[Wheel]],
                   wheels: Sequence[Wheel]) -> ModelError:
    table = "; ".join(f"x = {centre_R(layout, axle[0])[0]:.3f} m: "
                      f"{', '.join(w.name for w in axle)}" for axle in axles)
    fixed = [{"joint": None, "kind": w.kind, "radius": w.radius, "link": w.link}
             for w in wheels if w.joint is None]
    return ModelError(
        f"{layout.source.label}: {len(group)} wheels without steering on {len(axles)} parallel "
        f"axles ({table}): rolling without slip, it can only go straight",
        suggest("If it is skid-steered, choose ", option("skid", "mid-axle"),
                " (the wheels scrub, the middle does not slip sideways), ", option("skid", 1.5),
                " (the same with a wider apparent track), or the names of the wheels that may "
                "scrub. If these are mecanum wheels, list them as such: ",
                option("wheels", [*_mecanum(layout, group), *fixed])))


def _would_steer(layout: Layout, wheels: Sequence[Wheel], name: str) -> bool:
    joint = layout.joints[name]
    return (joint.turns and is_upright(layout, joint)
            and any(joint in layout.path(layout.carrier(w)) for w in wheels))


def _angle(layout: Layout, wheel: Wheel, other: Wheel) -> float:
    """Sine of the angle between two axles."""
    return float(np.linalg.norm(np.cross(axle_R(layout, wheel), axle_R(layout, other))))


def _axles(layout: Layout, group: Sequence[Wheel]) -> list[list[Wheel]]:
    """Wheels grouped by the vertical plane of their axle, without those whose axles are not
    parallel to the first."""
    first = axle_R(layout, group[0])
    across = np.array([-first[1], first[0], 0.0])
    across /= np.linalg.norm(across) or 1.0
    axles: list[tuple[float, list[Wheel]]] = []
    for wheel in group:
        if _angle(layout, wheel, group[0]) > _SAME:
            continue
        x = float(across @ centre_R(layout, wheel))
        slack = max(1e-3, 0.05 * wheel.radius)
        near = next((members for at, members in axles if abs(at - x) < slack), None)
        if near is None:
            axles.append((x, [wheel]))
        else:
            near.append(wheel)
    return [members for _, members in axles]


def _mecanum(layout: Layout, group: Sequence[Wheel]) -> list[dict[str, object]]:
    """The usual assembly: seen from above, the rollers that touch the ground make a diamond about
    the middle."""
    middle = np.mean([centre_R(layout, w) for w in group], axis=0)
    fields = []
    for wheel in group:
        x, y, _ = centre_R(layout, wheel) - middle
        angle = -pi / 4 if x * y > 0 else pi / 4
        fields.append(wheel_fields(wheel, kind="mecanum", roller_angle=angle))
    return fields
