"""Heights of wheels in the start pose, and whether they are on one axle."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import median

import numpy as np

from ..layout import Layout, matches_name, placement
from ..wheel import Wheel
from .rims import PARALLEL

# of the radius: a wheel that is farther off the plane of the others does not stand on it
_OFF_PLANE = 0.1
_CASTERS_OFF = 0.15     # of the wheels' radius: makers seldom place all casters exactly
BESIDE = 0.05      # of the radius: axles that are no farther from one line are on it
AUXILIARY = 0.5     # of other wheels' radius: smaller ones only bear a load or gauge a height
UP = (0.0, 0.0, 1.0)     # the root's z axis
_SMALL = 0.05      # [m] the usual radius of a robot whose wheels have none


def centre_R(layout: Layout, wheel: Wheel) -> np.ndarray:
    """Wheel centre (3,) in the root's frame [m]."""
    X = layout.X_RL[layout.carrier(wheel)]
    return X[:3, :3] @ np.array(wheel.point) + X[:3, 3]


def axle_R(layout: Layout, wheel: Wheel) -> np.ndarray:
    """Axle (3,) in the root's frame, unit."""
    return layout.X_RL[layout.carrier(wheel)][:3, :3] @ np.array(wheel.axis)


def axle_directions(layout: Layout, wheels: Sequence[Wheel]) -> list[np.ndarray]:
    """Axles (3,) of wheels in the root's frame, of parallel ones the first."""
    axles: list[np.ndarray] = []
    for axle in (axle_R(layout, wheel) for wheel in wheels if wheel.axis is not None):
        if all(abs(axle @ other) < 1 - PARALLEL ** 2 for other in axles):
            axles.append(axle)
    return axles


def ahead_of(axle: np.ndarray) -> np.ndarray:
    """Where a wheel rolls ahead, (3,) level, if its axle (3,) points to the left."""
    x, y, _ = axle
    return np.array([y, -x, 0.0])


def bottom_R(layout: Layout, wheel: Wheel, up: Sequence[float] | np.ndarray = UP) -> float:
    """Height of the contact point along `up` (3,), a unit vector in the root's frame [m]."""
    along = 0.0 if wheel.axis is None else float(axle_R(layout, wheel) @ up)
    sine = sqrt(max(0.0, 1 - along ** 2))
    flat, crown = wheel.traits.profile(sine, along, wheel.radius, wheel.crown)
    return float(centre_R(layout, wheel) @ up - flat * sine - crown)


def allowance(radius: float, usual: float) -> float:
    """How far a wheel may be off the common plane [m]: a part of its radius, or of the robot's
    usual one where it is far smaller."""
    return _OFF_PLANE * max(radius, usual / 2)


def tolerance(wheels: Sequence[Wheel]) -> float:
    """How far casters may be off the common plane of these wheels [m]."""
    return _CASTERS_OFF * usual_radius(wheels)


def usual_radius(wheels: Sequence[Wheel]) -> float:
    """The median radius of wheels [m], which says how large a robot is; a small robot's where none
    has one, as blades."""
    return median([w.radius for w in wheels if w.radius > 0] or [_SMALL])


def ground_height(layout: Layout, wheels: Sequence[Wheel]) -> float:
    """Height of the plane that most wheels stand on, in the root's frame [m]."""
    return median(bottom_R(layout, w) for w in wheels)


def footprint(layout: Layout) -> tuple[str, float] | None:
    """The file's base_footprint, which marks the ground, and its height in the root's frame [m].

    None without one.
    """
    return next(((name, float(layout.X_RL[name][2, 3])) for name in layout.links
                 if matches_name("footprint", name) and layout.body(name) == layout.root), None)


def on_one_axle(layout: Layout, wheels: Sequence[Wheel]) -> bool:
    """Whether all contacts lie below one straight axle, so that the vehicle can pitch about it."""
    if not wheels or any(w.axis is None for w in wheels):
        return False
    first, p0 = axle_R(layout, wheels[0]), centre_R(layout, wheels[0])
    for wheel in wheels[1:]:
        reach = np.cross(centre_R(layout, wheel) - p0, first)
        across = np.linalg.norm(np.cross(axle_R(layout, wheel), first))
        if across > 0.02 or np.linalg.norm(reach) > BESIDE * wheel.radius:
            return False
    return True


def centre_of_mass(layout: Layout) -> np.ndarray:
    """Centre of mass of the robot, (3,) in the root's frame [m]; its origin without masses."""
    total, moment = 0.0, np.zeros(3)
    for link, element in layout.links.items():
        for inertial in element.iterfind("inertial"):
            m = layout.mass(link)
            total += m
            moment += m * (layout.X_RL[link] @ placement(layout.source, inertial))[:3, 3]
    return moment / total if total > 0 else moment
