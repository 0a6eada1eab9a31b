"""Upright joints above wheels: which of them swing like a caster, which only look like one, which
steer."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians

import numpy as np

from ..layout import Joint, Layout, LinkShape, matches_name
from ..wheel import Wheel
from .axis_hints import is_upright
from .rims import find_rim, is_horizontal
from .stance import axle_R, centre_R

# a steering axis is within 45 degrees of the vertical: a bicycle's is 18 degrees off
UPRIGHT = cos(radians(45))
# level joints between a steering joint and its wheel: a suspension has a swing arm, a leg has hip
# and knee
_SWING_ARMS = 1
_BODY = 0.01       # of the robot's mass: what is lighter on a turntable only places it in a world
# a swivel's axis is within 5 degrees of it
_VERTICAL = cos(radians(5))
_BESIDE = 0.05     # of the radius: what is so near to an axis is on it
_CASTER = "cast[eo]r"
_STEERS = "steer|articulat"     # parts of the names of hinges with a motor


def steering_joints(layout: Layout, wheels: Sequence[Wheel]) -> list[Joint]:
    """The nearest upright joint above each wheel that grips, where it is not above all contacts or
    carries a body, and is no part of a leg; below a ball coupling, whose joints turn every way, a
    trailer stands on two wheels or more."""
    paths = {wheel.name: layout.path(layout.carrier(wheel)) for wheel in wheels}
    bodies = [layout.body(layout.carrier(wheel) if wheel.joint is None
                          else layout.joints[wheel.joint].parent) for wheel in wheels]
    found: dict[str, Joint] = {}
    for wheel, body in zip(wheels, bodies, strict=True):
        if not wheel.traits.held:
            continue
        above = [joint for joint in paths[wheel.name]
                 if joint.turns and joint.name != wheel.joint]
        for below, joint in enumerate(reversed(above)):
            if abs(layout.axis_R(joint)[2]) >= UPRIGHT:
                if ((below <= _SWING_ARMS or bodies.count(body) > 1)
                        and (not all(joint in path for path in paths.values())
                             or _carries_body(layout, joint))):
                    found[joint.name] = joint
                break
    return [joint for joint in layout.joints.values() if joint.name in found]


def _carries_body(layout: Layout, joint: Joint) -> bool:
    """Whether what is not below a joint is a body: a chain of links that only places the robot in a
    world has hardly any mass, or slides along the ground and is not drawn."""
    drawn = any(layout.shapes(link, tag=tag) for tag in ("collision", "visual")
                for link in layout.rigid(layout.body(joint.parent)))
    if not drawn and any(j.moves and not j.turns and is_horizontal(layout, j)
                         for j in layout.path(joint.child)):
        return False
    below, above = (sum(layout.mass(link) for link in layout.links
                        if (joint in layout.path(link)) is carried) for carried in (True, False))
    return above > _BODY * below


def is_swivel(layout: Layout, name: str, wheels: Sequence[Wheel]) -> bool:
    """Whether a steering joint only follows: named caster, or vertical with its wheels off its axis
    (swivel, hitch) in a robot in which another wheel leads, unless it has limits and a name that
    says that it steers. Where all trail, as below a turntable or in modules with an offset, none
    follows; but single wheels do beside a turntable with several, which can turn it."""
    joint = layout.joints[name]
    if matches_name(_CASTER, name) or is_caster(layout, joint.child):
        return True
    is_hinge = not joint.is_free and matches_name(_STEERS, name)
    if is_hinge or not _trails(layout, joint, wheels):
        return False
    steering = steering_joints(layout, wheels)
    paths = [[above for above in layout.path(layout.carrier(wheel)) if above in steering]
             for wheel in wheels if wheel.traits.held]
    trailing = [[above for above in path if matches_name(_CASTER, above.name, above.child)
                 or _trails(layout, above, wheels)] for path in paths]
    if not all(trailing):
        return True
    most = max(sum(above in path for path in paths) for found in trailing for above in found)
    return sum(joint in path for path in paths) == 1 < most


def _trails(layout: Layout, joint: Joint, wheels: Sequence[Wheel]) -> bool:
    """Whether a joint is vertical, and its wheels off its axis. The pivot of a wheel that is
    steered, which has limits, may be beside it by less than a radius; one that swings in, like that
    of a furniture caster, by hardly anything."""
    at, axis = layout.X_RL[joint.child][:3, 3], layout.axis_R(joint)
    if not joint.turns or abs(axis[2]) < _VERTICAL:
        return False
    trails = []
    beside = _BESIDE if joint.is_free else 1.0
    for wheel in wheels:
        if joint not in layout.path(layout.carrier(wheel)):
            continue
        d = centre_R(layout, wheel) - at
        d -= axis * (axis @ d)
        if wheel.axis is not None:
            lateral = axle_R(layout, wheel)
            d -= lateral * (lateral @ d)
        trails.append(float(np.linalg.norm(d)) - beside * wheel.radius)
    return bool(trails) and min(trails) > 0


def swings(layout: Layout, joint: Joint) -> bool:
    """Whether a joint turns about an upright axis and nothing limits, links or commands it."""
    return (joint.turns and is_upright(layout, joint) and joint.is_free
            and joint.element.find("mimic") is None
            and not layout.elements.steers(joint.name)
            and all(command.joint != joint.name for command in layout.elements.commands))


def is_idle_caster(layout: Layout, joint: Joint, wheels: Sequence[Wheel]) -> bool:
    """Whether nothing can turn an upright joint above a wheel: the only one that it carries stands
    just below it, without a trail, and no motor turns it.

    That no motor does so is said by a name, a caster's, or by a file that tells that other wheels
    are driven. Such a joint is drawn where a wheel goes any way.
    """
    carried = [w for w in wheels if w.joint and joint in layout.path(layout.carrier(w))]
    if len(carried) != 1 or not swings(layout, joint):
        return False
    links = (joint.child, layout.carrier(carried[0]))
    if not any(is_caster(layout, link) for link in links) and not _is_left_out(
            layout, joint, carried[0].name):
        return False
    beside = np.cross(centre_R(layout, carried[0]) - layout.X_RL[joint.child][:3, 3],
                      layout.axis_R(joint))
    return bool(np.linalg.norm(beside) < _BESIDE * carried[0].radius)


def _is_left_out(layout: Layout, joint: Joint, wheel: str) -> bool:
    """Whether the file lists driven wheels without this one, and no name says that the joint above
    it steers."""
    rolls = layout.elements.rolls
    return not rolls(wheel) and not matches_name("steer", joint.name, joint.child) and any(
        rolls(other.name) for other in layout.joints.values()
        if other.turns and other.is_free and is_horizontal(layout, other))


def is_loose_ball(layout: Layout, joint: Joint) -> bool:
    """Whether a joint turns a ball that only supports the robot: a ball is drawn to go any way,
    which rolling about its one axle would forbid.

    It turns freely, no motor turns it, nothing above it steers it, leaves it a trail or rolls with
    it, and the file says that others are the wheels: by its name, or because they have motors or
    rims, while it has no twin on its axle.
    """
    balls = _balls(layout, joint) if joint.turns and joint.is_free else []
    if not balls or layout.elements.rolls(joint.name):
        return False
    centre = (layout.X_RL[joint.child] @ [*balls[0].centre, 1.0])[:3]
    for above in layout.path(joint.parent):
        if above.turns and (above.is_free if is_horizontal(layout, above) else is_upright(
                layout, above) and not (swings(layout, above) and _is_on(
                    layout, above, centre, balls[0].size[0]))):
            return False
    if is_caster(layout, joint.child):
        return True
    others = [other for other in layout.joints.values()
              if other is not joint and other.turns and other.is_free]
    if any(is_horizontal(layout, other) and _is_on(
            layout, joint, layout.X_RL[other.child][:3, 3], balls[0].size[0]) for other in others):
        return False
    return any(layout.elements.rolls(other.name) or (
        is_horizontal(layout, other) and not _balls(layout, other)
        and find_rim(layout, other)) for other in others)


def _is_on(layout: Layout, joint: Joint, point: np.ndarray, radius: float) -> bool:
    """Whether a point in the root's frame is on a joint's axis, as wheels of a radius have it."""
    beside = np.cross(point - layout.X_RL[joint.child][:3, 3], layout.axis_R(joint))
    return bool(np.linalg.norm(beside) < _BESIDE * radius)


def _balls(layout: Layout, joint: Joint) -> list[LinkShape]:
    """What a joint turns, in its child's frame, if all of it is balls on its axis."""
    links = layout.rigid(joint.child)
    shapes = [s for link in links for s in layout.shapes(link, joint.child)] or [
        s for link in links for s in layout.shapes(link, joint.child, "visual")]
    balls = [s for s in shapes if s.kind == "sphere" and s.size[0] > 0 and np.linalg.norm(
        np.cross(s.centre, joint.axis)) < _BESIDE * s.size[0]]
    return balls if len(balls) == len(shapes) else []


def is_caster(layout: Layout, link: str) -> bool:
    """Whether a link, or the joint it hangs on, is named caster."""
    return matches_name(_CASTER, *_names_of(layout, link))


def _names_of(layout: Layout, link: str) -> tuple[str, ...]:
    return (link, layout.above[link].name) if link in layout.above else (link,)
