"""How the axles of wheels lie in the plane: on one body, on one line, and where they meet."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum

import numpy as np

from ..layout import Layout
from ..wheel import Wheel
from .stance import BESIDE, axle_R, centre_R

_SAME = 0.02       # rad: axles that cross at less are parallel
_CROSSED = 0.1     # rad: by so much wheels that stand around a point may leave half a turn empty


class Meeting(Enum):
    """Where the axles of the wheels of one body meet."""

    LINE = "on one line"
    PARALLEL = "at infinity"
    POINT = "in a point"
    NOWHERE = "nowhere"


def group_by_body(layout: Layout, wheels: Sequence[Wheel], steering: Collection[str], *,
                  blades: bool = False) -> dict[tuple[str, ...], list[Wheel]]:
    """Wheels that grip, by the joints that steer them; with `blades` all that hold sideways."""
    bodies: dict[tuple[str, ...], list[Wheel]] = {}
    for wheel in wheels:
        held = wheel.traits.grips and wheel.held and wheel.joint is not None
        if held or (blades and wheel.kind == "blade"):
            above = tuple(j.name for j in layout.path(layout.carrier(wheel)) if j.name in steering)
            bodies.setdefault(above, []).append(wheel)
    return bodies


def meet(layout: Layout, group: Sequence[Wheel]) -> tuple[Meeting, np.ndarray | None]:
    """Where axles meet, and at which point (2,) of the root's frame [m].

    To turn at the rate w about c is to move the origin by w (c_y, -c_x): the kernel of the rows
    (axle, moment of the axle) says where c is.
    """
    if all(angle_between(layout, w, group[0]) < _SAME for w in group):
        return (Meeting.LINE if len(group_by_axle(layout, group)) == 1 else Meeting.PARALLEL), None
    centres = np.array([centre_R(layout, w)[:2] for w in group])
    middle = centres.mean(axis=0)
    arms = centres - middle
    size = float(np.linalg.norm(arms, axis=1).max()) or 1.0
    axles = np.array([_from_above(layout, w) for w in group])
    moments = (arms[:, 0] * axles[:, 1] - arms[:, 1] * axles[:, 0]) / size
    _, values, kernel = np.linalg.svd(np.column_stack([axles, moments]))
    forward, lateral, turn = kernel[2]
    if len(group) > 2 and values[2] > _SAME * values[0]:
        return Meeting.NOWHERE, None
    if abs(turn) < _SAME * np.hypot(forward, lateral):
        return Meeting.PARALLEL, None
    return Meeting.POINT, middle + np.array([-lateral, forward]) / turn * size


def surround(layout: Layout, group: Sequence[Wheel], centre: np.ndarray) -> bool:
    """Whether wheels stand on all sides of a point: no half of the plane about it is empty."""
    arms = np.array([centre_R(layout, w)[:2] - centre for w in group])
    angles = np.sort(np.arctan2(arms[:, 1], arms[:, 0]))
    gaps = np.diff(angles, append=angles[0] + 2 * np.pi)
    return bool(gaps.max() < np.pi - _CROSSED)


def is_rectangle(layout: Layout, group: Sequence[Wheel]) -> bool:
    """Whether these are two wheels on each of two axles."""
    return [len(axle) for axle in group_by_axle(layout, group)] == [2, 2]


def angle_between(layout: Layout, wheel: Wheel, other: Wheel) -> float:
    """Sine of the angle between two axles, as seen from above: camber does not turn a wheel."""
    (a, b), (c, d) = _from_above(layout, wheel), _from_above(layout, other)
    return float(abs(a * d - b * c))


def _from_above(layout: Layout, wheel: Wheel) -> np.ndarray:
    """The axle's direction in the ground plane (2,), unit."""
    axle = axle_R(layout, wheel)[:2]
    return axle / (np.linalg.norm(axle) or 1.0)


def group_by_axle(layout: Layout, group: Sequence[Wheel]) -> list[list[Wheel]]:
    """Wheels grouped by the vertical plane of their axle, without those whose axles are not
    parallel to the first."""
    if not group:
        return []
    first = axle_R(layout, group[0])
    across = np.array([-first[1], first[0], 0.0])
    across /= np.linalg.norm(across) or 1.0
    axles: list[tuple[float, list[Wheel]]] = []
    for wheel in group:
        if angle_between(layout, wheel, group[0]) > _SAME:
            continue
        x = float(across @ centre_R(layout, wheel))
        slack = BESIDE * wheel.radius
        near = next((members for at, members in axles if abs(at - x) < slack), None)
        if near is None:
            axles.append((x, [wheel]))
        else:
            near.append(wheel)
    return [members for _, members in axles]
