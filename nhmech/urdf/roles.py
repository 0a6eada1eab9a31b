"""What each joint is for: rolling, steering, released by the user, or locked; its limits, damping
and couplings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, inf, isfinite, pi, radians

import numpy as np

from ..errors import ModelError
from .casters import is_caster
from .description import JointLimits, Mimic
from .layout import Joint, Layout
from .listed_wheels import find_joint
from .source import number
from .stance import centre_R
from .wheel import Wheel

# a steering axis is within 45 degrees of the vertical: a bicycle's is 18 degrees off
_UPRIGHT = cos(pi / 4)


@dataclass(frozen=True)
class Roles:
    """Every moving joint is in exactly one of rolling, steering, free and locked (joint -> position
    [rad, m])."""

    rolling: tuple[str, ...]
    steering: tuple[str, ...]
    free: tuple[str, ...]
    locked: dict[str, float]

    @property
    def moving(self) -> tuple[str, ...]:
        """Joints that move: rolling, then steering, then free."""
        return self.rolling + self.steering + self.free


def assign_roles(layout: Layout, wheels: Sequence[Wheel], free: Sequence[str],
                 locked: Mapping[str, float]) -> tuple[Roles, list[str]]:
    """The role of every joint that can move, and notices.

    Steering are the continuous and revolute joints between the root and a wheel that grips, with an
    axis within 45 degrees of the vertical.

    Raises
    ------
    ModelError
        For names that do not exist or do not move, a rolling joint that is to be locked, a joint
        both free and locked, a position outside the joint's limits.
    """
    rolling = tuple(w.joint for w in wheels if w.joint is not None)
    notices: list[str] = []
    for name, position in locked.items():
        _check_lock(layout, name, position, rolling, free)
    released = [_moving(layout, name, "free").name for name in free]
    steering = []
    for wheel in wheels:
        for joint in layout.path(wheel.link) if wheel.traits.held else ():
            if (
                joint.name in rolling
                or joint.name in steering
                or joint.name in locked
                or not joint.turns
            ):
                continue
            if abs(layout.axis_R(joint)[2]) < _UPRIGHT:
                continue
            held = joint.lower == joint.upper and joint.name not in released
            if held and "lower" in joint.element.find("limit").attrib:
                notices.append(f"{layout.source.at(joint.element)}: steers a wheel but its limits "
                               f"are both {joint.lower:g}; it is locked")
                continue
            steering.append(joint.name)
    free = tuple(dict.fromkeys(n for n in released if n not in rolling and n not in steering))
    taken = {*rolling, *steering, *free}
    rest = {j.name: float(locked.get(j.name, j.start)) for j in layout.joints.values()
            if j.moves and j.name not in taken}
    return Roles(rolling, tuple(steering), free, rest), notices


def couple(layout: Layout, roles: Roles,
           given: Mapping[str, float]) -> tuple[Roles, tuple[Mimic, ...], list[str]]:
    """`<mimic>` among the moving joints, the roles with locked followers moved along, and notices.

    Dropped, with a notice, on rolling and steering joints. A locked follower of a locked joint is
    held where its leader puts it; a locked follower of a free joint is freed with it.
    """
    mimics = {}
    for joint in layout.joints.values():
        element = joint.element.find("mimic")
        if joint.moves and element is not None:
            source = layout.source
            multiplier, offset = (number(source, element,
                                         *word) for word in (("multiplier", 1.0), ("offset", 0.0)))
            mimics[joint.name] = Mimic(joint.name, element.get("joint"), multiplier, offset)
    free, locked, notices, rows, dropped = list(roles.free), dict(roles.locked), [], [], []
    freed = True
    while freed:
        freed = [n for n, m in mimics.items() if n in locked and n not in given
                 and m.leader in free]
        for name in freed:
            free.append(name)
            del locked[name]
            notices.append(
                f"{name}: is free because it mimics {mimics[name].leader}, which is free"
            )
    for _ in mimics:
        for name, m in mimics.items():
            if name in locked and name not in given and m.leader in locked:
                locked[name] = m.multiplier * locked[m.leader] + m.offset
    for name, m in mimics.items():
        if name in roles.rolling or name in roles.steering:
            dropped.append(name)
        elif name in free:
            if m.leader in (*roles.rolling, *roles.steering, *free):
                rows.append(m)
            else:
                notices.append(f"{name}: its <mimic> of {m.leader} is dropped, because {m.leader} "
                               "does not move")
    if dropped:
        notices.append(f"{', '.join(dropped)}: <mimic> is dropped on rolling and steering joints; "
                       "rolling itself couples them")
    return Roles(roles.rolling, roles.steering, tuple(free), locked), tuple(rows), notices


def read_limits(layout: Layout, roles: Roles,
                driven: Sequence[str]) -> tuple[dict[str, JointLimits], list[str]]:
    """Limits of the moving joints, and notices; those a rolling joint has on its angle are
    ignored."""
    limits, rolling_limits, zero, unlimited = {}, [], [], []
    for name in roles.moving:
        joint = layout.joints[name]
        element = joint.element.find("limit")
        effort = velocity = inf
        if element is not None:
            effort, velocity = (number(layout.source, element, a, 0.0) or inf
                                for a in ("effort", "velocity"))
            said = [number(layout.source, element,
                           a) for a in ("effort", "velocity") if element.get(a) is not None]
            zero += [name] if name in driven and 0 in said else []
        lower, upper = joint.lower, joint.upper
        if name in roles.rolling:
            rolling_limits += [name] if joint.type == "revolute" else []
            lower, upper = -inf, inf
        elif joint.type != "continuous" and not isfinite(lower):
            unlimited.append(name)
        limits[name] = JointLimits(lower, upper, velocity, effort)
    notices = []
    if rolling_limits:
        notices.append(f"{', '.join(rolling_limits)}: revolute, but rolls; limits on its angle are "
                       "ignored")
    if zero:
        notices.append(f"{', '.join(zero)}: effort or velocity limit 0 is taken as no limit")
    if unlimited:
        notices.append(f"{', '.join(unlimited)}: <limit> has neither lower nor upper; taken as "
                       "unlimited")
    return limits, notices


def read_damping(layout: Layout, roles: Roles) -> tuple[dict[str, float], list[str]]:
    """Viscous coefficients of the moving joints [N m s/rad, N s/m], and a notice where there is
    Coulomb friction."""
    damping, rubbing = {}, []
    for name in roles.moving:
        element = layout.joints[name].element.find("dynamics")
        if element is None:
            continue
        if (coefficient := number(layout.source, element, "damping", 0.0)) > 0:
            damping[name] = coefficient
        if number(layout.source, element, "friction", 0.0) > 0:
            rubbing.append(name)
    if not rubbing:
        return damping, []
    return damping, [f"{', '.join(rubbing)}: Coulomb friction ignored; "
                     "with_parameters({'<joint>.rolling_resistance': [N m]}) gives a smooth one"]


def _moving(layout: Layout, name: str, origin: str) -> Joint:
    joint = find_joint(layout, name, origin)
    if not joint.moves:
        raise ModelError(f"{origin}: {layout.source.at(joint.element)} is fixed and cannot move; "
                         "leave it out")
    return joint


def _check_lock(layout: Layout, name: str, position, rolling, free) -> None:
    joint = _moving(layout, name, "locked")
    if name in rolling:
        raise ModelError(f"locked: {name!r} is the rolling joint of a wheel; to brake it, leave it "
                         "unlocked and command velocity 0")
    if name in free:
        raise ModelError(f"joint {name!r} is both in free and in locked; choose one")
    if not joint.lower <= position <= joint.upper:
        raise ModelError(f"locked: position {position:g} of {name!r} is outside its limits "
                         f"{joint.lower:g} .. {joint.upper:g}")


# m: a wheel this far behind a vertical axis swings in like a furniture caster or a trailer
_TRAIL = 1e-3
_VERTICAL = cos(radians(5))


def choose_driven(layout: Layout, wheels: Sequence[Wheel], roles: Roles,
                  drive: Sequence[str] | None) -> tuple[tuple[str, ...], str, list[str]]:
    """The driven joints in the order of `roles.moving`, where that came from, and notices.

    Raises
    ------
    ModelError
        Where `<drive>` names a joint that does not exist or does not move.
    """
    notices: list[str] = []
    if drive:
        for name in drive:
            find_joint(layout, name, "<drive>")
            if name not in roles.moving:
                raise ModelError(f"{layout.source.label}: <drive joint={name!r}/> is locked; "
                                 f"joints that move: {', '.join(roles.moving)}; a wheel that is "
                                 "left out where wheels are listed is locked")
        chosen, origin = set(drive), "<nhmech>"
    else:
        for origin, named in (("<ros2_control>", _commanded(layout)),
                              ("<transmission>", _transmitted(layout))):
            chosen, notice = _followed(layout, roles, named)
            if chosen:
                notices += notice
                break
        else:
            chosen = _customary(layout, wheels, roles)
            origin = "custom, for the file has no command interface: every wheel that is no caster, and its steering"
    for wheel in wheels:
        if wheel.joint is not None and wheel.driven is not None:
            chosen = chosen | {wheel.joint} if wheel.driven else chosen - {wheel.joint}
    return tuple(name for name in roles.moving if name in chosen), origin, notices


def is_swivel(layout: Layout, name: str, wheels: Sequence[Wheel]) -> bool:
    """Whether a steering joint only follows: named caster, or vertical with its wheels off its axis
    (swivel, hitch)."""
    joint = layout.joints[name]
    if "caster" in name.lower() or is_caster(layout, joint.child):
        return True
    if abs(layout.axis_R(joint)[2]) < _VERTICAL:
        return False
    at, axis = layout.X_RL[joint.child][:3, 3], layout.axis_R(joint)
    carried = [w for w in wheels if joint in layout.path(w.link)]
    trails = []
    for wheel in carried:
        d = centre_R(layout, wheel) - at
        d -= axis * (axis @ d)
        if wheel.axis is not None:
            lateral = layout.X_RL[wheel.link][:3, :3] @ np.array(wheel.axis)
            d -= lateral * (lateral @ d)
        trails.append(float(np.linalg.norm(d)))
    return bool(trails) and min(trails) > _TRAIL


def _customary(layout: Layout, wheels: Sequence[Wheel], roles: Roles) -> set[str]:
    swivels = {name for name in roles.steering if is_swivel(layout, name, wheels)}
    chosen = set(roles.steering) - swivels
    for wheel in wheels:
        if wheel.joint is None or is_caster(layout, wheel.link):
            continue
        if not any(joint.name in swivels for joint in layout.path(wheel.link)):
            chosen.add(wheel.joint)
    return chosen


def _commanded(layout: Layout) -> list[str]:
    return [e.get("name") for e in layout.source.root.iterfind("ros2_control//joint")
            if e.find("command_interface") is not None]


def _transmitted(layout: Layout) -> list[str]:
    return [e.get("name") for e in layout.source.root.iterfind("transmission//joint")]


def _followed(layout: Layout, roles: Roles, named: Sequence[str]) -> tuple[set[str], list[str]]:
    """The named joints that move; where one does not, the moving joints that mimic it in its
    place."""
    chosen, notices = set(), []
    for name in named:
        if name in roles.moving:
            chosen.add(name)
            continue
        followers = [e.getparent().get("name") for e in layout.source.root.iterfind("joint/mimic")
                     if e.get("joint") == name]
        followers = [f for f in followers if f in roles.moving]
        if followers:
            chosen |= set(followers)
            notices.append(f"{name}: commanded in the file but does not move here; "
                           f"{', '.join(followers)}, which mimic it, are driven instead")
    return chosen, notices
