"""What to say of wheels whose collision cylinder and `<axis>` do not agree: a forgotten or mistaken
axis or rpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .layout import Joint, Layout
from .rims import PARALLEL, crossed_cylinder, is_horizontal

# names of joints that are upright on purpose
_TURNED_BY_HAND = ("steer", "caster", "castor", "swivel", "pivot")


def upright_axes(layout: Layout) -> list[Joint]:
    """Continuous joints named wheel that turn about the vertical, although their collision cylinder
    lies."""
    found = []
    for joint in layout.joints.values():
        names = joint.name.lower(), joint.child.lower()
        if (
            joint.type != "continuous"
            or is_horizontal(layout, joint)
            or not any("wheel" in name for name in names)
        ):
            continue
        if joint.element.find("axis") is None or any(
            word in name for word in _TURNED_BY_HAND for name in names
        ):
            continue
        crossed = crossed_cylinder(layout, joint)
        if crossed and abs(layout.axis_R(joint)[2]) > 0.7 and _lies(layout, joint, crossed[1]):
            found.append(joint)
    return found


def suggest_axis(layout: Layout, joints: Sequence[Joint]) -> str:
    """The `<axis>` that each of the joints was probably meant to have, with the line where it
    stands."""
    first, *others = joints
    radius, along = crossed_cylinder(layout, first)
    axis = first.element.find("axis")
    text = (f'{layout.source.at(axis)}: <axis xyz="{axis.get("xyz")}"/> does not lie along the '
            'wheel\'s axle: its '
            f"collision cylinder (radius {radius:g} m) lies along ({_axle(layout, first, along)}) "
            "in the joint's "
            f'frame. Did you mean <axis xyz="{_axle(layout, first, along)}"/>?')
    for joint in others:
        line = joint.element.find("axis").sourceline
        text += f' {joint.name}, line {line}: <axis xyz="{_axle(layout, joint, crossed_cylinder(layout, joint)[1])}"/>.'
    return text


def steering_hint(joints: Sequence[Joint]) -> str:
    """How a joint that is upright on purpose says so."""
    return (f" (If {'it steers' if len(joints) == 1 else 'they steer'} a wheel drawn in one piece "
            "with it, say so in the joint's name, such as front_steering_joint.)")


def describe_crossed_axle(layout: Layout, joint: Joint, radius: float, along: np.ndarray) -> str:
    """A wheel whose axle is horizontal, but across its cylinder."""
    if joint.element.find("axis") is not None and _lies(layout, joint, along):
        return suggest_axis(layout, [joint])
    along = along * np.sign(along[np.argmax(np.abs(along))])
    cylinder, axle = _words(along), _words(joint.axis)
    upright = abs((layout.X_RL[joint.child][:3, :3] @ along)[2]) > 0.7
    turn = '<origin rpy="1.5707963 0 0"/>'
    text = (f"{layout.source.at(joint.element)}: its collision cylinder (radius {radius:g} m) "
            f"stands along ({cylinder}), across the axle ({axle}) that the joint turns about. ")
    if joint.element.find("axis") is None:
        axis = "0 1 0" if upright else cylinder
        text += f'The joint has no <axis>, which in URDF means x: write <axis xyz="{axis}"/>'
        return text + (f" and turn the shapes onto it with {turn}: a URDF cylinder stands along z"
                       if upright else "")
    return text + ("A URDF cylinder stands along z: turn the wheel's shapes onto the axle with "
                   f"{turn} (an axle along y), or correct <axis>")


def _lies(layout: Layout, joint: Joint, along: np.ndarray) -> bool:
    return abs((layout.X_RL[joint.child][:3, :3] @ along)[2]) < PARALLEL


def _axle(layout: Layout, joint: Joint, along: np.ndarray) -> str:
    """The cylinder's direction, to the left (or forward) in the root's frame, so that positive
    speed rolls ahead."""
    there = np.round(layout.X_RL[joint.child][:3, :3] @ along, 4)
    sign = np.sign(there[1]) or np.sign(there[0]) or 1.0
    return _words(sign * along)


def _words(vector: np.ndarray) -> str:
    return " ".join(f"{c + 0.0:g}" for c in np.round(vector, 4))
