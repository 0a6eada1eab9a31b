"""Wheels whose inertia cannot be that of their shape: zero, or turned otherwise than the cylinder
that rolls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..description import FoundWheel
from ..layout import Joint, Layout, positive, to_words
from ..notice import Notice, NoticeKind
from ..validate_inertia import read_inertia
from .rims import RimSource, find_rim

_ACROSS = 0.2    # of the larger moment: by so much the two across the axle may differ
# of the smaller moment across the axle: below it, the one about the axle is clearly the smallest
_SMALLEST = 0.8


def check_wheel_inertia(layout: Layout, contacts: Sequence[FoundWheel]) -> list[Notice]:
    """Notices about wheels that roll on a joint; those with the same fault share one.

    A body of revolution about the axle has equal moments across it, and a flat one its largest
    about it: a solid cylinder of mass m, radius r and length l has I = m r^2 / 2 about its axis and
    m (3 r^2 + l^2) / 12 across it. Measured wheels are rims with tyres and motors, so that only the
    order of the moments is judged, not their size.
    """
    wheels: dict[str, list[str]] = {}
    for wheel in (c.wheel for c in contacts):
        if wheel.joint is None:
            continue
        joint = layout.joints[wheel.joint]
        fault = _find_zero(layout, joint, wheel.radius) or _find_turn(layout, joint)
        if fault:
            wheels.setdefault(fault, []).append(wheel.name)
    return [Notice(NoticeKind.WHEEL_INERTIA, f"{', '.join(names)}: {fault}")
            for fault, names in wheels.items()]


def _find_zero(layout: Layout, joint: Joint, radius: float) -> str | None:
    """What is wrong with a rotor that has mass and no inertia; None with any other."""
    parts = [read_inertia(layout.source, element) for link in layout.rigid(joint.child)
             for element in layout.links[link].findall("inertial")]
    mass = sum(m for m, _, _ in parts)
    if not mass > 0 or any(np.any(inertia) for _, _, inertia in parts):
        return None
    return (f"the inertia is zero although the mass is {mass:.4g} kg, so that spinning it up takes "
            f"no effort; a solid disc of this mass and radius has {mass * radius ** 2 / 2:.4g} kg "
            "m^2 about its axle")


def _find_turn(layout: Layout, joint: Joint) -> str | None:
    """What is wrong with a wheel whose inertia belongs to another axle; None with any other."""
    rim = find_rim(layout, joint)
    if (rim is None or rim.source is not RimSource.COLLISION_PRIMITIVE
            or rim.shape != "cylinder"):
        return None
    inertial = layout.links[rim.link].find("inertial")
    if inertial is None:
        return None
    mass, X, inertia = read_inertia(layout.source, inertial)
    R = layout.X(joint.child, rim.link)[:3, :3] @ X[:3, :3]
    inertia = R @ inertia @ R.T                                # in the joint's frame
    plane = np.linalg.svd(joint.axis[None])[2][1:]             # (2, 3), across the axle
    axle = joint.axis @ inertia @ joint.axis
    low, high = np.linalg.eigvalsh(plane @ inertia @ plane.T)
    disc, across = mass * rim.radius ** 2 / 2, mass * (3 * rim.radius ** 2 + rim.width ** 2) / 12
    uneven = high - low > _ACROSS * high
    if not uneven and not (disc > across and axle < _SMALLEST * low):
        return None
    # tables give a cylinder's inertia with its axis along z
    moments, z = np.linalg.eigvalsh(inertia), R[:, 2]
    what_to_do = "correct the numbers"
    if (abs(z @ joint.axis) < _ACROSS
            and min(z @ inertia @ z, moments[2]) > moments[1] * (1 + _ACROSS)):
        what_to_do = ("give the <origin> of its <inertial> the rpy of its collision cylinder, or "
                      + what_to_do)
    why = "the two across it differ" if uneven else "the one about it is the smallest"
    shown = ", ".join(f"{name} {inertia[i, i]:.4g}" for i, name in enumerate(("ixx", "iyy", "izz")))
    direction = to_words(positive(joint.axis))
    return (f"the inertia is not that of a wheel with the axle ({direction}): in the joint's frame "
            f"its moments are {shown} kg m^2, of which {why}; a solid cylinder of "
            f"{mass:.4g} kg, radius {rim.radius:.4g} m and length {rim.width:.4g} m has {disc:.4g} "
            f"about the axle and {across:.4g} across it; {what_to_do}")
