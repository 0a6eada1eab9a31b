"""Frames that are not quite what they were meant to be: rounded angles, axles that are nearly one,
leaning steering axes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from math import cos, pi, radians

import numpy as np
import pinocchio as pin
from lxml import etree

from ..errors import listed
from .description import FoundWheel
from .layout import SNAP, Joint, Layout, displacement, snap_axis, to_triple
from .notice import Notice, NoticeKind
from .repair import format_number
from .text.source import Element, Source, name_of
from .wheel import Wheel
from .wheels.axle_lines import group_by_axle, group_by_body
from .wheels.rims import PARALLEL
from .wheels.stance import BESIDE, ahead_of, axle_R, centre_R

# rad; steering axes leaning less are upright below three contacts and more: kingpins of cars lean
# by up to 15 degrees inwards and 10 backwards, struts of aircraft by less
LEAN = radians(20)
_UPRIGHT = cos(radians(5))     # a bicycle's fork leans by more, and its trail is meant
_ROUNDING = 1e-12      # rad, m; sines and cosines are not exact
_WORTH_SAYING = 1e-5   # rad
_SHIFT, _TURN = 1e-3, 1e-4     # of the radius, and rad: changes that are visible


def snap_joints(source: Source, names: Iterable[str]) -> list[Notice]:
    """Turn joint frames that were meant to be at right angles exactly there: rpy 1.57 becomes pi/2.

    Only the named joints (those that carry wheels) and only angles within `SNAP` of a non-zero
    multiple of pi/2, and axes within `SNAP` of a coordinate axis. Without it every axle of such a
    robot leans by 0.0008 rad, and a car's tilted steering axes lock it. A notice reports changes of
    1e-5 rad and more.
    """
    wanted = set(names)
    changes = {name_of(joint): max(_snap_origin(source, joint), _snap_axis(source, joint))
               for joint in source.root.findall("joint") if name_of(joint) in wanted}
    rounded = {name: change for name, change in changes.items() if change >= _WORTH_SAYING}
    if not rounded:
        return []
    return [Notice(NoticeKind.ROUNDED_ANGLES,
                   f"{', '.join(rounded)}: angles rounded to 1.57 and the like are taken as the "
                   f"right angles they stand for (up to {max(rounded.values()):.1e} rad away)")]


def straighten_axles(layout: Layout, contacts: Sequence[FoundWheel], steering: Collection[str], *,
                     inferred: bool) -> tuple[list[FoundWheel], list[Notice]]:
    """Put wheels of one body whose axles are nearly one line exactly on one, those that are steered
    exactly beside their pivot, and say so.

    They are turned and shifted to the middle of their axles, and radii that were found and are
    nearly the same are. Two axles that differ by the rounding of an exporter, or as little as those
    of a real robot do, would otherwise meet nowhere, or in one point, and the vehicle could not
    turn, or not move at all; a wheel a little behind its pivot would be a caster that turns at
    once.
    """
    moved: dict[str, FoundWheel] = {}
    said: list[str] = []
    wheels = [c.wheel for c in contacts]
    for above, group in group_by_body(layout, wheels, steering, blades=True).items():
        pivot = layout.joints[above[-1]] if above else None
        for line in _find_lines(layout, group):
            if len(line) == 1 and pivot is None:
                continue
            radius = _mean_radius(line) if inferred else None
            shift = turn = 0.0
            for wheel, X in _align(layout, line, pivot):
                centre = centre_R(layout, wheel)
                shift = max(shift, float(np.linalg.norm(X[:3, :3] @ centre + X[:3, 3] - centre)),
                            abs((radius or wheel.radius) - wheel.radius))
                turn = max(turn, float(np.linalg.norm(pin.log3(X[:3, :3]))))
                if max(turn, shift) > _ROUNDING:
                    contact = next(c for c in contacts if c.wheel is wheel)
                    moved[wheel.name] = _move(layout, contact, X, radius)
            least = _SHIFT * max(w.radius for w in line)     # blades are only turned
            by = [f"{1e3 * shift:.2g} mm"] * bool(shift >= least > 0)
            by += [f"{np.degrees(turn):.2g} degrees"] * bool(turn >= _TURN)
            if by:
                said.append(f"{listed(w.name for w in line)} (by up to {' and '.join(by)})")
    found = [moved.get(c.wheel.name, c) for c in contacts]
    if not said:
        return found, []
    return found, [Notice(NoticeKind.ONE_AXLE, "moved to where wheels of one axle, or below one "
                                               f"pivot, are: {listed(said)}")]


def _find_lines(layout: Layout, group: Sequence[Wheel]) -> Iterator[list[Wheel]]:
    """Wheels of one body by the line that their axles are on, or nearly so."""
    while group:
        lines = group_by_axle(layout, group)
        yield from lines
        group = [w for w in group if not any(w in line for line in lines)]


def _slack(line: Sequence[Wheel]) -> float:
    return BESIDE * max(w.radius for w in line)


def _mean_radius(line: Sequence[Wheel]) -> float | None:
    """Of wheels that differ by less than a hundredth; None of others, and of blades."""
    radii = [w.radius for w in line]
    mean = sum(radii) / len(radii)
    return mean if mean and max(radii) - min(radii) < 0.01 * mean else None


def _align(layout: Layout, line: Sequence[Wheel],
           pivot: Joint | None) -> Iterator[tuple[Wheel, np.ndarray]]:
    """The wheels of one axle, each with its correction (4, 4) in the root's frame."""
    first = axle_R(layout, line[0])
    axles = [a if a @ first > 0 else -a for a in (axle_R(layout, w) for w in line)]
    along = np.sum(axles, axis=0) * (1.0, 1.0, 0.0)
    along /= np.linalg.norm(along) or 1.0
    across = np.array([-along[1], along[0], 0.0])
    centres = np.array([centre_R(layout, w) for w in line])
    middle = centres.mean(axis=0)
    if pivot is not None and abs(layout.axis_R(pivot)[2]) > _UPRIGHT:
        trail = across @ (middle - layout.X_RL[pivot.child][:3, 3])
        middle -= (abs(trail) < _slack(line)) * trail * across
    level = np.ptp(centres[:, 2]) < _slack(line) and _mean_radius(line) is not None
    for wheel, axle, centre in zip(line, axles, centres, strict=True):
        X = np.eye(4)
        camber = axle[2] if abs(axle[2]) >= PARALLEL else 0.0
        to_axle = np.sqrt(1 - camber ** 2) * along + (0.0, 0.0, camber)
        X[:3, :3] = pin.Quaternion.FromTwoVectors(axle, to_axle).matrix()
        to = centre + across @ (middle - centre) * across
        to[2] = middle[2] if level else centre[2]
        X[:3, 3] = to - X[:3, :3] @ centre
        yield wheel, X


def _move(layout: Layout, contact: FoundWheel, X: np.ndarray, radius: float | None) -> FoundWheel:
    """The contact with another radius and after a motion (4, 4) in the root's frame: of its joint
    in the file, or of itself where it has none."""
    wheel = contact.wheel
    if wheel.joint is None:
        X_RL = layout.X_RL[layout.carrier(wheel)]
        axis = X_RL[:3, :3].T @ X[:3, :3] @ axle_R(layout, wheel)
        point = X_RL[:3, :3].T @ (X[:3, :3] @ centre_R(layout, wheel) + X[:3, 3] - X_RL[:3, 3])
        return replace(contact, wheel=replace(wheel, axis=to_triple(axis), point=to_triple(point)))
    joint = layout.joints[wheel.joint]
    before = np.linalg.inv(layout.X_RL[joint.parent])
    X_PC = before @ X @ layout.X_RL[joint.child] @ np.linalg.inv(displacement(joint, joint.start))
    origin = joint.element.find("origin")
    if origin is None:
        origin = etree.SubElement(joint.element, "origin")
    format_number(origin, "xyz", X_PC[:3, 3])
    format_number(origin, "rpy", pin.rpy.matrixToRpy(X_PC[:3, :3]))
    return replace(contact, wheel=replace(wheel, radius=radius or wheel.radius))


def straighten_steering(layout: Layout, wheels: Sequence[Wheel],
                        names: Collection[str]) -> list[Notice]:
    """Make steering axes that lean by less than `LEAN` upright in the start pose.

    For three contacts and more: a rigid base on four cannot follow what leaning axes do to the
    heights; on three it would tilt by as much, and no twist, path or limit could be told for it.
    """
    leaning = []
    for name in names:
        joint = layout.joints[name]
        x, y, z = layout.axis_R(joint)
        lean = float(np.arctan2(np.hypot(x, y), abs(z)))
        if _ROUNDING < lean < LEAN:
            if steered := [w for w in wheels if _pivot(layout, w, names) is joint]:
                _shift_axis(layout, joint, _find_upright(layout, joint, steered))
            upright = np.sign(z) * layout.X_RL[joint.child][2, :3]
            axis = joint.element.find("axis")
            if axis is None:
                axis = etree.SubElement(joint.element, "axis")
            format_number(axis, "xyz", upright)
            leaning.append(f"{name} ({np.degrees(lean):.2g} deg)")
    if not leaning:
        return []
    return [Notice(NoticeKind.LEANING_STEERING,
                   f"{', '.join(leaning)}: leaning steering axes are taken as vertical, because "
                   "a rigid base cannot follow what they do to the heights of its contacts")]


def _pivot(layout: Layout, wheel: Wheel, names: Collection[str]) -> Joint | None:
    """The nearest of the named joints above a wheel with an axle."""
    path = layout.path(layout.carrier(wheel)) if wheel.axis is not None else []
    return next((joint for joint in reversed(path) if joint.name in names), None)


def _find_upright(layout: Layout, joint: Joint, wheels: Sequence[Wheel]) -> np.ndarray:
    """From the origin of a leaning joint to the vertical that stands for it, (3,) in the root's
    frame [m]: through that point of its axis beside the lower half of its wheels which trails
    them least."""
    origin, axis = layout.X_RL[joint.child][:3, 3], layout.axis_R(joint)
    centre = np.mean([centre_R(layout, w) for w in wheels], axis=0)
    radius = max(w.radius for w in wheels)
    ahead = ahead_of(axle_R(layout, wheels[0]))
    along = axis / axis[2]
    above = origin + along * (centre[2] - origin[2])       # at the height of the axle
    leads, sinks = ahead @ (above - centre), radius * (ahead @ along)
    share = np.clip(leads / sinks, 0.0, 1.0) if sinks else 0.0
    return (above - share * radius * along - origin) * (1.0, 1.0, 0.0)


def _shift_axis(layout: Layout, joint: Joint, shift: np.ndarray) -> None:
    """Move the axis of a joint by (3,) in the root's frame [m], and nothing that hangs on it."""
    by = layout.X_RL[joint.child][:3, :3].T @ shift
    if np.linalg.norm(by) < _ROUNDING:
        return
    carrier, root = f"{joint.child}-", layout.source.root
    etree.SubElement(root, "link", name=carrier)
    fixed = etree.SubElement(root, "joint", name=f"{carrier}joint", type="fixed")
    etree.SubElement(fixed, "parent", link=carrier)
    etree.SubElement(fixed, "child", link=joint.child)
    format_number(etree.SubElement(fixed, "origin"), "xyz", -by)
    layout.source.child(joint.element, "child").set("link", carrier)
    origin = joint.element.find("origin")
    if origin is None:
        origin = etree.SubElement(joint.element, "origin")
    format_number(origin, "xyz", joint.X_PC[:3, :3] @ by + joint.X_PC[:3, 3])


def _snap_origin(source: Source, joint: Element) -> float:
    """Round the angles of a joint's `<origin>`; returns the largest change [rad]."""
    origin = joint.find("origin")
    if origin is None or not origin.get("rpy"):
        return 0.0
    rpy = source.triple(origin, "rpy")
    snapped = [_snap(angle) for angle in rpy]
    if snapped != list(rpy):
        format_number(origin, "rpy", snapped)
    return max(abs(a - b) for a, b in zip(rpy, snapped, strict=True))


def _snap_axis(source: Source, joint: Element) -> float:
    """Round a joint's `<axis>` to a coordinate axis near it; returns the change [rad]."""
    axis = joint.find("axis")
    if axis is None or joint.get("type") == "fixed":
        return 0.0
    given = np.array(source.triple(axis, "xyz"))
    unit = given / np.linalg.norm(given)
    straight = snap_axis(unit)
    tilt = float(np.linalg.norm(unit - straight))
    if tilt > 0:
        format_number(axis, "xyz", straight)
    return tilt


def _snap(angle: float) -> float:
    turns = round(angle / (pi / 2))
    near = turns * (pi / 2)
    return near if turns != 0 and abs(angle - near) < SNAP else angle
