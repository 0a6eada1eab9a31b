"""Which joints take effort: from `<nhmech>`, else `<ros2_control>`, else `<transmission>`, else a builder's choice."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians

import numpy as np

from ..errors import ModelError
from .casters import is_caster
from .given import known_joint
from .layout import Layout
from .roles import Roles
from .stance import centre_R
from .wheel import Wheel

_TRAIL = 1e-3  # m: a wheel this far behind a vertical axis swings in like a furniture caster or a trailer
_VERTICAL = cos(radians(5))


def driven_joints(layout: Layout, wheels: Sequence[Wheel], roles: Roles,
                  drive: Sequence[str] | None) -> tuple[tuple[str, ...], str, list[str]]:
    """The driven joints in the order of `roles.moving`, where that came from, and notices.

    Raises `ModelError` where `<drive>` names a joint that does not exist or does not move.
    """
    notices: list[str] = []
    if drive:
        for name in drive:
            known_joint(layout, name, "<drive>")
            if name not in roles.moving:
                raise ModelError(f"{layout.source.label}: <drive joint={name!r}/> is locked; joints that move: "
                                 f"{', '.join(roles.moving)}; a wheel that is left out where wheels are listed is "
                                 "locked")
        chosen, origin = set(drive), "<nhmech>"
    else:
        for origin, named in (("<ros2_control>", _commanded(layout)), ("<transmission>", _transmitted(layout))):
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
    """Whether a steering joint only follows: named caster, or vertical with its wheels off its axis (swivel, hitch)."""
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
    """The named joints that move; where one does not, the moving joints that mimic it in its place."""
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
            notices.append(f"{name}: commanded in the file but does not move here; {', '.join(followers)}, which mimic "
                           "it, are driven instead")
    return chosen, notices
