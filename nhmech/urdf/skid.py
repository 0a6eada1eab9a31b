"""Vehicles that ideal rolling forbids to turn: parallel axles without steering."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from ..errors import ModelError
from .layout import Layout
from .stance import axle_R, centre_R
from .wheel import Wheel


def read_skid(skid, wheels: Sequence[Wheel]):
    """`skid=` as None, "mid-axle", a positive track factor, or a tuple of wheel names.

    Raises
    ------
    ModelError
        For anything else.
    """
    if skid is None or (isinstance(skid, str) and skid == "mid-axle"):
        return skid
    if isinstance(skid, (int, float)) and not isinstance(skid, bool):
        if not isfinite(skid) or skid <= 0:
            raise ModelError(f"skid={skid}: a track factor is a positive number, "
                             "1 for the true track and more for the usual scrubbing")
        return float(skid)
    names = [w.name for w in wheels]
    wanted = (skid,) if isinstance(skid, str) else skid
    try:
        wanted = tuple(wanted)
    except TypeError:
        wanted = ()
    if not wanted or any(name not in names for name in wanted):
        raise ModelError(f"skid={skid!r}: give 'mid-axle', a track factor such as 1.5, or names of "
                         f"wheels whose sideways grip is released, out of {', '.join(names)}")
    return wanted


def check_turning(layout: Layout, wheels: Sequence[Wheel], steering: Sequence[str], skid, *,
                  held=(), inferred: bool = False) -> None:
    """Four or more wheels on two or more parallel axles of one body can only roll straight on.

    Raises
    ------
    ModelError
        Unless `skid` says what gives way, or a steering joint is among those `held` by the user;
        the message names the axles, `skid=` and mecanum wheels. Where the wheels were inferred,
        also for axles at angles to each other (omni wheels, unless said).
    """
    if skid is not None or any(_would_steer(layout, wheels, name) for name in held):
        return
    bodies: dict[tuple, list[Wheel]] = {}
    for wheel in wheels:
        if wheel.traits.grips and wheel.joint is not None:
            above = tuple(j.name for j in layout.path(wheel.link) if j.name in steering)
            bodies.setdefault(above, []).append(wheel)
    for group in bodies.values():
        across = [w for w in group
                  if np.linalg.norm(np.cross(axle_R(layout, w), axle_R(layout, group[0]))) > 0.1]
        if inferred and across:
            lines = [f"Wheel({w.name!r}, 'omni', {w.radius:.6g})" for w in group]
            raise ModelError(
                f"{layout.source.label}: the axles of {group[0].name} and {across[0].name} are not "
                "parallel and nothing steers them: rolling without slip, it could at most turn "
                "about one point. If these are omni wheels, name their kind=\"omni\": "
                f"wheels=[{', '.join(lines)}] (and the casters, if there are any)"
            )
        axles = _axles(layout, group)
        if len(group) < 4 or len(axles) < 2:
            continue
        table = "; ".join(f"x = {centre_R(layout, axle[0])[0]:.3f} m: "
                          f"{', '.join(w.name for w in axle)}"
                          for axle in axles)
        raise ModelError(
            f"{layout.source.label}: {len(group)} wheels without steering on {len(axles)} parallel "
            f"axles ({table}): rolling without slip, it can only go straight. If it is "
            "skid-steered, say skid='mid-axle' (the wheels scrub, the middle does not slip "
            "sideways), skid=1.5 (the same with a wider apparent track), or name the wheels that "
            "may scrub. If these are mecanum wheels, name their kind=\"mecanum\": "
            f"wheels=[{_mecanum(layout, group, wheels)}]"
        )


def _would_steer(layout: Layout, wheels: Sequence[Wheel], name: str) -> bool:
    joint = layout.joints[name]
    return (
        joint.turns
        and abs(layout.axis_R(joint)[2]) > 0.7
        and any(joint in layout.path(w.link) for w in wheels)
    )


def _axles(layout: Layout, group: Sequence[Wheel]) -> list[list[Wheel]]:
    """Wheels grouped by the vertical plane of their axle, without those whose axles are not
    parallel to the first."""
    first = axle_R(layout, group[0])
    across = np.array([-first[1], first[0], 0.0])
    across /= np.linalg.norm(across) or 1.0
    axles: list[tuple[float, list[Wheel]]] = []
    for wheel in group:
        if np.linalg.norm(np.cross(axle_R(layout, wheel), first)) > 0.02:
            continue
        x = float(across @ centre_R(layout, wheel))
        near = next((members for at,
                     members in axles if abs(at - x) < max(1e-3, 0.05 * wheel.radius)), None)
        if near is None:
            axles.append((x, [wheel]))
        else:
            near.append(wheel)
    return [members for _, members in axles]


def _mecanum(layout: Layout, group: Sequence[Wheel], wheels: Sequence[Wheel]) -> str:
    """The usual assembly: seen from above, the rollers that touch the ground make a diamond about
    the middle."""
    middle = np.mean([centre_R(layout, w) for w in group], axis=0)
    lines = []
    for wheel in group:
        d = centre_R(layout, wheel) - middle
        angle = -1 if d[0] * d[1] > 0 else 1
        lines.append(f"Wheel({wheel.name!r}, 'mecanum', {wheel.radius:.6g}, "
                     f"roller_angle={'-' if angle < 0 else ''}0.785398)")
    lines += [f"Wheel(None, {w.kind!r}, {w.radius:.6g}, link={w.link!r})"
              for w in wheels if w.joint is None]
    return ", ".join(lines)
