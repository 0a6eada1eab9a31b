"""Hints for wheels whose collision cylinder and `<axis>` do not agree: a forgotten or mistaken axis
or rpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import ModelError, Remedy
from ..layout import Joint, Layout, matches_name, positive, snap_axis, to_words
from ..text.source import Element
from .rims import PARALLEL, crossed_cylinder, is_horizontal
from .stance import BESIDE

# words in the names of joints that are upright on purpose
_TURNED_BY_HAND = ("steer", "caster", "castor", "swivel", "pivot")
_VERTICAL = 0.7        # of a unit axis: its vertical part from which it counts as upright


def is_upright(layout: Layout, joint: Joint) -> bool:
    """Whether the joint's axis is nearer to the vertical than to the ground."""
    return bool(abs(layout.axis_R(joint)[2]) > _VERTICAL)


def upright_axes(layout: Layout) -> list[Joint]:
    """Continuous joints that turn about the vertical, although their collision cylinder lies: those
    named wheel, or else those whose cylinders lie on one line, as wheels of one axle do."""
    found = _upright_axes(layout)
    named = [joint for joint in found if matches_name("wheel", joint.name, joint.child)]
    return named or [joint for joint in found if any(
        _share_line(layout, joint, other) for other in found if other is not joint)]


def _share_line(layout: Layout, joint: Joint, other: Joint) -> bool:
    radius, along = crossed_cylinder(layout, joint) or (0.0, joint.axis)
    X = layout.X_RL[joint.child]
    beside = np.cross(X[:3, :3] @ along, layout.X_RL[other.child][:3, 3] - X[:3, 3])
    _, second = crossed_cylinder(layout, other) or (0.0, other.axis)
    turned = np.cross(X[:3, :3] @ along, layout.X_RL[other.child][:3, :3] @ second)
    return bool(np.linalg.norm(beside) < BESIDE * radius and np.linalg.norm(turned) < PARALLEL)


def _upright_axes(layout: Layout) -> list[Joint]:
    found = []
    for joint in layout.joints.values():
        if joint.type != "continuous" or is_horizontal(layout, joint):
            continue
        by_hand = any(matches_name(word, joint.name, joint.child) for word in _TURNED_BY_HAND)
        if joint.element.find("axis") is None or by_hand:
            continue
        crossed = crossed_cylinder(layout, joint)
        if crossed and is_upright(layout, joint) and _lies(layout, joint, crossed[1]):
            found.append(joint)
    return found


def axis_error(layout: Layout, joints: Sequence[Joint], steer: bool = False) -> ModelError:
    """The error that gives each of the joints the `<axis>` that was probably meant, with its line.
    `joints`: with an `<axis>` that lies across their collision cylinder. `steer`: whether to add
    how a joint that is upright on purpose says so."""
    first, *others = joints
    radius, meant, given = _meant(layout, first)
    text = (f'{layout.source.at(given)}: <axis xyz="{given.get("xyz")}"/> does not lie along the '
            f"wheel's axle: its cylinder (radius {radius:g} m) lies along ({meant}) in the "
            f'joint\'s frame. Did you mean <axis xyz="{meant}"/>?')
    for joint in others:
        _, meant, given = _meant(layout, joint)
        text += f' {joint.name}, line {given.sourceline}: <axis xyz="{meant}"/>.'
    if steer:
        text += (f" (If {'they steer' if others else 'it steers'} a wheel drawn in one piece with "
                 "it, say so in the joint's name, such as front_steering_joint.)")
    return ModelError(text)


def axle_error(layout: Layout, joint: Joint, radius: float, along: np.ndarray,
               remedy: Remedy | None = None) -> ModelError:
    """The error about a wheel whose axle is horizontal, but across its cylinder; the remedy is for
    one whose cylinder stands upright, where the axle is right."""
    axis = joint.element.find("axis")
    if axis is not None and _lies(layout, joint, along):
        return axis_error(layout, [joint])
    cylinder = to_words(positive(along))
    upright = abs(layout.X_RL[joint.child][2, :3] @ along) > _VERTICAL
    turn = '<origin rpy="1.5707963 0 0"/>'
    text = (f"its cylinder (radius {radius:g} m) stands along ({cylinder}), across the "
            f"axle ({to_words(joint.axis)}) that the joint turns about. ")
    if axis is not None:
        text += ("A URDF cylinder stands along z: turn the wheel's shapes onto the axle with "
                 f"{turn} (an axle along y), or correct <axis>")
    else:
        text += ("The joint has no <axis>, which in URDF means x: write "
                 f'<axis xyz="{"0 1 0" if upright else cylinder}"/>')
        if upright:
            text += f" and turn the shapes onto it with {turn}: a URDF cylinder stands along z"
    right = axis is not None and upright
    return layout.source.error(joint.element, text, remedy if right else None)


def _meant(layout: Layout, joint: Joint) -> tuple[float, str, Element]:
    """Radius [m] of the cylinder across a joint, the axis that it asks for, the `<axis>` given."""
    crossed = crossed_cylinder(layout, joint)
    assert crossed is not None, "upright_axes and axle_error found it"
    radius, along = crossed
    axis = layout.source.child(joint.element, "axis")
    return radius, axle_words(layout, joint.child, along), axis


def axle_words(layout: Layout, link: str, along: np.ndarray) -> str:
    """The `<axis>` of an axle that lies along (3,) in the frame of a link: to the left (or forward)
    in the root's frame, so that positive speed rolls ahead."""
    x, y, _ = np.round(layout.X_RL[link][:3, :3] @ along, 4)
    return to_words((np.sign(y) or np.sign(x) or 1.0) * snap_axis(along))


def _lies(layout: Layout, joint: Joint, along: np.ndarray) -> bool:
    return bool(abs(layout.X_RL[joint.child][2, :3] @ along) < PARALLEL)
