"""Small repairs of the text before anybody else reads it: angles rounded to 1.57, mesh scales of
four numbers."""

from __future__ import annotations

from collections.abc import Iterable
from math import pi

import numpy as np

from .layout import Layout
from .source import Source, vector

SNAP = 2.5e-3  # rad; 4.71 is 2.4e-3 away from 3 pi / 2, 3.14 is 1.6e-3 away from pi
# rad; steering axes leaning less are upright where a lean would lift one of more than three
# contacts
LEAN = 0.05
_WORTH_SAYING = 1e-5  # rad


def repair_scales(source: Source) -> list[str]:
    """A mesh's scale must have three numbers, or the parser drops the whole link; a fourth one is
    cut off.

    Returns notices.

    Raises
    ------
    ModelError
        For one, two or more than four numbers.
    """
    notices = []
    for mesh in source.root.iter("mesh"):
        scale = mesh.get("scale")
        if scale is None:
            continue
        if len(scale.split()) == 4:
            vector(source, mesh, "scale", 4)
            mesh.set("scale", " ".join(scale.split()[:3]))
            notices.append(f"{source.at(mesh)}: scale={scale!r} has four numbers; the first three "
                           "are used")
        else:
            vector(source, mesh, "scale", 3)
    return notices


def snap_joints(source: Source, names: Iterable[str]) -> list[str]:
    """Turn joint frames that were meant to be at right angles exactly there: rpy 1.57 becomes pi/2.

    Only the named joints (those that carry wheels) and only angles within `SNAP` of a non-zero
    multiple of pi/2, and axes within `SNAP` of a coordinate axis. Without it every axle of such a
    robot leans by 0.0008 rad, and a car's tilted steering axes lock it. Returns a notice about
    changes of 1e-5 rad and more.
    """
    wanted, rounded, largest = set(names), [], 0.0
    for joint in source.root.findall("joint"):
        if joint.get("name") not in wanted:
            continue
        change = 0.0
        origin, axis = joint.find("origin"), joint.find("axis")
        if origin is not None and origin.get("rpy"):
            rpy = vector(source, origin, "rpy", 3)
            snapped = [_snap(angle) for angle in rpy]
            if snapped != list(rpy):
                change = max(abs(a - b) for a, b in zip(rpy, snapped, strict=True))
                origin.set("rpy", " ".join(repr(angle) for angle in snapped))
        if axis is not None and joint.get("type") != "fixed":
            given = np.array(vector(source, axis, "xyz", 3))
            unit = given / np.linalg.norm(given)
            straight = np.where(np.abs(unit) > 0.5, np.sign(unit), 0.0)
            tilt = float(np.linalg.norm(unit - straight))
            if 0 < tilt < SNAP:
                change = max(change, tilt)
                axis.set("xyz", " ".join(repr(float(c)) for c in straight))
        if change >= _WORTH_SAYING:
            rounded.append(joint.get("name"))
            largest = max(largest, change)
    if not rounded:
        return []
    return [f"{', '.join(rounded)}: angles rounded to 1.57 and the like are taken as the right "
            f"angles they stand for (up to {largest:.1e} rad away)"]


def straighten_steering(layout: Layout, names: Iterable[str]) -> list[str]:
    """Makes steering axes that lean by less than `LEAN` upright in the start pose.

    For more than three contacts: a rigid base cannot follow what leaning axes do to the heights.
    Returns a notice.
    """
    leaning = []
    for name in names:
        joint = layout.joints[name]
        axis = layout.axis_R(joint)
        lean = float(np.arctan2(np.hypot(axis[0], axis[1]), abs(axis[2])))
        if not 1e-12 < lean < LEAN:
            continue
        upright = layout.X_RL[joint.child][:3, :3].T @ (0, 0, np.sign(axis[2]))
        layout.source.root.find(f"joint[@name='{name}']/axis").set(
            "xyz", " ".join(repr(float(c)) for c in upright)
        )
        leaning.append(f"{name} ({np.degrees(lean):.2g} deg)")
    return [f"{', '.join(leaning)}: leaning steering axes are taken as upright, "
            "since more than three contacts bear a rigid base"] if leaning else []


def _snap(angle: float) -> float:
    turns = round(angle / (pi / 2))
    near = turns * (pi / 2)
    return near if turns != 0 and abs(angle - near) < SNAP else angle
