"""From a file to a `Description`: read, validate, find the wheels, give every joint its role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from numbers import Real

from ..errors import ModelError
from .casters import check_unrolled, infer_casters
from .description import DRIVEN_FROM, Description
from .inference import FoundWheel, find_unlisted, infer_wheels, rolling_candidates
from .layout import Layout
from .listed_wheels import complete_wheels, find_joint, read_wheels
from .repair import repair_scales, snap_joints, straighten_steering
from .roles import assign_roles, choose_driven, couple, read_damping, read_limits
from .skid import check_turning, read_skid
from .source import read_source
from .stance import check_heights, on_one_axle
from .tag import parse_tag
from .validate import validate
from .wheel_inertia import inertia_notices


def describe(source, *, wheels=None, free=(), locked=None, skid=None, speeds=None, packages=None,
             arguments=None) -> Description:
    """Decide everything about a robot that is not mechanics.

    Parameters
    ----------
    source
        Path to a URDF or xacro file, or a string of XML.
    wheels
        Sequence of `Wheel`: all contacts with the ground; overrides `<nhmech>`, which overrides
        inference.
    free
        Names of joints to release that would be locked.
    locked
        Joint -> position [rad, m] at which to hold it; otherwise zero, clipped into the limits.
    skid
        None, "mid-axle", a track factor, or names of wheels whose sideways grip is released.
    speeds
        Names of the independent speeds, or None to have them chosen.
    packages
        ROS package name -> folder.
    arguments
        Of a xacro file: name -> value.

    Raises
    ------
    ModelError
        For unusable files, wheels that cannot be found or do not fit, and names that do not exist.
    """
    document = read_source(source, packages, arguments)
    notices = repair_scales(document) + validate(document)
    tag = parse_tag(document)
    given_free, given_locked = _names(free, "free") or (), _positions(locked)
    free = (*given_free, *(name for name in tag.free if name not in given_locked))
    locked = {name: q for name, q in tag.lock.items() if name not in given_free} | given_locked
    speeds = _names(speeds, "speeds") or tag.speeds
    for name in locked:
        find_joint(Layout(document), name, "locked")
    origin = "<nhmech>" if wheels is None else "wheels="
    wheels = tag.wheels if wheels is None else wheels
    wheels = None if wheels is None else read_wheels(wheels, origin)
    notices += snap_joints(document, _carriers(Layout(document, locked), wheels))
    layout = Layout(document, locked)
    if wheels is None:
        contacts, found = _infer(layout)
    else:
        contacts, found = complete_wheels(layout, wheels, origin)
    notices += found + inertia_notices(layout, contacts)
    chosen = [c.wheel for c in contacts]
    skid = read_skid(tag.skid if skid is None else skid, chosen)
    roles, said = assign_roles(layout, chosen, free, locked)
    notices += said + (find_unlisted(layout, chosen, roles.locked, locked) if wheels is not None
                       else [])
    if len(chosen) > 3:
        notices += straighten_steering(layout, roles.steering)
    check_turning(layout, chosen, roles.steering, skid, held=locked, inferred=wheels is None)
    roles, mimic, said = couple(layout, roles, locked)
    notices += said
    driven, whence, said = choose_driven(layout, chosen, roles, tag.drive)
    notices += said
    limits, said = read_limits(layout, roles, driven)
    notices += said
    damping, said = read_damping(layout, roles)
    notices += said + _massless(layout, roles.moving)
    if len(chosen) > 1 and on_one_axle(layout, chosen):
        notices.append("all contacts are under one axle: "
                       "nothing supports the vehicle before or behind it, its pitch is free")
    notices.append(f"{DRIVEN_FROM}{whence}" if driven else "no joint is driven")
    return Description(
        xml=document.text,
        name=document.root.get("name"),
        root=layout.root,
        wheels=tuple(chosen),
        rolling=roles.rolling,
        path=document.path,
        steering=roles.steering,
        driven=driven,
        free=roles.free,
        locked=roles.locked,
        mimic=mimic,
        damping=damping,
        limits=limits,
        speeds=speeds,
        skid=skid,
        reasons={c.wheel.name: c.reason for c in contacts},
        notices=tuple(notices),
        packages=document.packages,
    )


def _infer(layout: Layout) -> tuple[list[FoundWheel], list[str]]:
    contacts, notices = infer_wheels(layout)
    check_heights(layout, [c.wheel for c in contacts])
    check_unrolled(layout, contacts)
    casters, said = infer_casters(layout, contacts)
    return contacts + casters, notices + said


def _carriers(layout: Layout, wheels) -> set[str]:
    """Joints between the root and any wheel, given or to be inferred."""
    links = [j.child for j in rolling_candidates(layout)] if wheels is None else []
    for wheel in wheels or ():
        if wheel.joint in layout.joints:
            links.append(layout.joints[wheel.joint].child)
        elif wheel.link in layout.links:
            links.append(wheel.link)
    return {joint.name for link in links for joint in layout.path(link)}


def _massless(layout: Layout, moving: Sequence[str]) -> list[str]:
    """A notice about moving bodies without any mass."""
    light = []
    for name in moving:
        links = [layout.links[link] for link in layout.rigid(layout.joints[name].child)]
        masses = [float(m.get("value")) for link in links for m in link.findall("inertial/mass")]
        if not any(masses):
            light.append(layout.joints[name].child)
    return (
        [f"{', '.join(light)}: moves but has no mass in the file; taken as massless"]
        if light
        else []
    )


def _names(value, what: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = (value,)
    try:
        names = tuple(value)
    except TypeError:
        names = (value,)
    if not all(isinstance(name, str) for name in names):
        raise ModelError(f"{what}={value!r} must be a sequence of names")
    return names


def _positions(locked) -> dict[str, float]:
    if locked is None:
        return {}
    if not isinstance(locked, Mapping):
        raise ModelError(f"locked={locked!r} must map joint names to positions, such as "
                         f"{{'arm_joint': 0.3}}")
    for name, position in locked.items():
        if isinstance(position, bool) or not isinstance(position, Real) or not isfinite(position):
            raise ModelError(f"locked: position {position!r} of {name!r} must be a finite number "
                             "[rad, m]")
    return {str(name): float(position) for name, position in locked.items()}
