"""Wheels from the tree alone: what is named wheel, turns about a horizontal axle and has a rim."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ModelError, listed
from .axis_hints import axis_error, axle_error, is_upright, upright_axes
from .description import Reason
from .layout import Joint, Layout, is_named, to_triple
from .notice import Notice, NoticeKind
from .remedy import Blank, WheelFields, option, suggest, wheel_fields
from .rims import PARALLEL, Rim, crossed_cylinder, find_rim, has_mesh, is_horizontal, radius_hint
from .stance import footprint
from .wheel import Wheel

_MOST = 8                  # joints that one message names
_LEANING = (0.02, 0.7)     # of a unit axle: its vertical part where it neither lies nor stands


@dataclass(frozen=True)
class FoundWheel:
    """A wheel with link, axis and point filled in, and where it and its radius came from."""

    wheel: Wheel
    reason: Reason


def rolling_candidates(layout: Layout) -> list[Joint]:
    """Joints that inference would call wheels: continuous or revolute, horizontal, and named wheel.

    The name may be the joint's, its child link's, or that of a link with a coaxial rim that is
    fixed to the rotor (upkie's tyres, the rear wheels of the MIT racecar). A joint without a shape
    that others mimic is only a handle.
    """
    found = []
    for joint in layout.joints.values():
        if not joint.turns or not is_horizontal(layout, joint) or is_handle(layout, joint):
            continue
        if (is_named("wheel", joint.name, joint.child)
                or find_rim(layout, joint, _tyres(layout, joint)) is not None):
            found.append(joint)
    return found


def is_handle(layout: Layout, joint: Joint) -> bool:
    """Whether a joint only leads others by `<mimic>`: nothing on it can touch the ground."""
    leads = any(e.get("joint") == joint.name for e in layout.source.root.findall("joint/mimic"))
    return leads and not any(
        layout.links[link].findall("collision") for link in layout.rigid(joint.child)
    )


def infer_wheels(layout: Layout) -> tuple[list[FoundWheel], list[Notice]]:
    """The wheels of a robot that says nothing about them, and notices.

    Raises
    ------
    ModelError
        Where no joint rolls (listing those that could), where an axle named wheel leans, or where a
        wheel's radius is nowhere but in a mesh.
    """
    joints = rolling_candidates(layout)
    named = [j for j in layout.joints.values() if j.turns and is_named("wheel", j.name)]
    low, high = _LEANING
    leaning = [j for j in named if low <= abs(layout.axis_R(j)[2]) < high and find_rim(layout, j)]
    if leaning:
        raise _leaning_error(layout, joints, leaning)
    if not joints:
        raise _no_wheel_error(layout)
    contacts, unknown = [], []
    for joint in joints:
        by_name = is_named("wheel", joint.name, joint.child)
        rim = find_rim(layout, joint, None if by_name else _tyres(layout, joint))
        if rim is None:
            unknown.append(joint)
        else:
            contacts.append(FoundWheel(_wheel(joint, rim), _reason(joint, rim)))
    if unknown:
        raise _radius_error(layout, contacts, unknown)
    handles = [j.name for j in named if is_handle(layout, j)]
    if not handles:
        return contacts, []
    return contacts, [Notice(NoticeKind.HANDLE,
                             f"{', '.join(handles)}: no wheel, because nothing on it can touch the "
                             "ground; it only leads other joints by <mimic>")]


def find_unlisted(layout: Layout, wheels: Sequence[Wheel], locked: Collection[str],
                  given: Collection[str]) -> list[Notice]:
    """A notice about joints that look like wheels but were left out where the wheels are listed.

    Parameters
    ----------
    layout
        The robot.
    wheels
        Those that are listed.
    locked
        Joints that are held.
    given
        Those of them that the user locked by name: they get no notice.
    """
    out = [j.name for j in rolling_candidates(layout) if j.name in locked and j.name not in given
           and find_rim(layout, j) is not None]
    if not out:
        return []
    were = "was" if len(wheels) == 1 else "were"
    return [Notice(NoticeKind.UNLISTED_WHEEL,
                   f"{', '.join(out)}: would be found as wheels, but only "
                   f"{', '.join(w.name for w in wheels)} {were} listed; they are locked and touch "
                   "nothing",
                   suggest("List all that touch the ground, or lock them by name: ",
                           option("locked", dict.fromkeys(out, 0.0))))]


def _tyres(layout: Layout, joint: Joint) -> list[str]:
    """Links named wheel on the rotor, by their own name or that of the fixed joint that holds
    them."""
    return [link for link in layout.rigid(joint.child)[1:]
            if is_named("wheel", link, layout.above[link].name)]


def _wheel(joint: Joint, rim: Rim) -> Wheel:
    return Wheel(joint.name, "disc", rim.radius, axis=to_triple(joint.axis), link=joint.child,
                 point=rim.centre)


def _reason(joint: Joint, rim: Rim) -> Reason:
    named, by_name = rim.link, "it turns {}, which is fixed to its rotor"
    for what, name in (("joint", joint.name), ("link", joint.child)):
        if is_named("wheel", name):
            named, by_name = name, what + " {} is named wheel"
            break
    fixed = "" if rim.link == joint.child else ", fixed to the rotor"
    ball = "; a ball on an axle rolls like a disc of its radius" if rim.kind == "sphere" else ""
    return Reason(f"{by_name} and its {joint.type} axle is horizontal; radius {rim.radius:.6g} m "
                  f"from the coaxial collision {rim.kind} of {{}}{fixed}{ball}", (named, rim.link))


def _disc(layout: Layout, joint: Joint) -> WheelFields:
    """The wheel to type for a joint without a rim; its radius is blank where nothing in the file
    tells it."""
    hint = radius_hint(layout, joint)
    return {"joint": joint.name, "kind": "disc", "radius": Blank.RADIUS if hint is None else hint}


def _blade(layout: Layout, joint: Joint) -> WheelFields:
    """The blade to type for a wheel that is drawn in one piece with its steering."""
    lateral = layout.X_RL[joint.child][:3, :3].T @ (0.0, 1.0, 0.0)
    touching = _lowest(layout, joint)
    point = (0.0, 0.0, Blank.HEIGHT) if touching is None else to_triple(touching, 6)
    return {"joint": None, "kind": "blade", "link": joint.child, "axis": to_triple(lateral, 4),
            "point": point}


def _lowest(layout: Layout, joint: Joint) -> np.ndarray | None:
    """Where the wheel drawn on a joint touches the ground, (3,) in the child's frame; None where no
    shape tells."""
    down = layout.X_RL[joint.child][:3, :3].T @ (0.0, 0.0, -1.0)
    points = []
    for shape in (
        s for link in layout.rigid(joint.child) for s in layout.shapes(link, joint.child)
    ):
        if shape.kind == "sphere" or (shape.kind == "cylinder"
                                      and abs(shape.axis @ down) < PARALLEL):
            points.append(shape.centre + shape.size[0] * down)
    if not points and (mark := footprint(layout)) is not None:
        points = [(layout.X_RL[joint.child][2, 3] - mark[1]) * down]
    return max(points, key=lambda p: p @ down, default=None)


def _leaning_error(layout: Layout, joints: list[Joint], leaning: list[Joint]) -> ModelError:
    rims = [(j, find_rim(layout, j)) for j in [*joints, *leaning]]
    first = leaning[0]
    angle = np.degrees(np.arcsin(abs(layout.axis_R(first)[2])))
    return layout.source.error(
        first.element,
        f"named wheel, but its axle leans {angle:.1f} degrees in the start pose, so it may be a "
        "wheel with camber or none at all",
        suggest("List what touches the ground: ",
                option("wheels", [_wheel(j, rim) for j, rim in rims if rim is not None])))


def _radius_error(layout: Layout, contacts: list[FoundWheel], unknown: list[Joint]) -> ModelError:
    first = unknown[0]
    if crossed := crossed_cylinder(layout, first):
        return axle_error(layout, first, *crossed)
    discs = [_disc(layout, j) for j in unknown]
    guess = ""
    if any(disc["radius"] is not Blank.RADIUS for disc in discs):
        guess = ("; the numbers for these come from a visual cylinder, or from mass and inertia as "
                 "a solid disc, so check them")
    shown = "is a mesh" if has_mesh(layout, first) else "there is none"
    return layout.source.error(
        first.element,
        f"the radius of {_names(unknown)} is not in the file: it would be that of a collision "
        f"cylinder or sphere around the axle, and {shown}",
        suggest("Give it: ", option("wheels", [*(wheel_fields(c.wheel) for c in contacts), *discs]),
                f" (and the casters, if there are any){guess}"))


def _no_wheel_error(layout: Layout) -> ModelError:
    turning = [j for j in layout.joints.values() if j.turns]
    label = layout.source.label
    if mistaken := upright_axes(layout):
        return axis_error(layout, mistaken, steer=True)
    if not turning:
        return ModelError(f"{label}: no joint turns, so nothing can roll; "
                          "a wheel hangs on a continuous joint with a horizontal axle")
    flat = [j for j in turning if is_horizontal(layout, j)]
    upright = [j for j in turning if is_upright(layout, j)]
    text = (f"{label}: no rolling joint was found: "
            "none that turns about a horizontal axle is named wheel, nor is its link")
    dummies = [j for j in turning if is_named("wheel", j.name) and j not in flat]
    if dummies:
        text += f" ({_names(dummies)}: named wheel, but its axis is not horizontal)"
    if flat:
        return ModelError(text, suggest(
            "Name the wheels: ", option("wheels", [_disc(layout, j) for j in flat[:_MOST]]),
            "; these turn about horizontal axles (radii, where given, are those of visual "
            "cylinders, or of solid discs with their mass and inertia)"))
    if not upright:
        return ModelError(text)
    blades = [_blade(layout, j) for j in upright[:_MOST]]
    blank = any(_lowest(layout, j) is None for j in upright[:_MOST])
    return ModelError(text, suggest(
        f"{_names(upright)} can only steer: a wheel drawn in one piece with its steering is a "
        "contact without lateral slip that needs no rolling joint: ", option("wheels", blades),
        " with HEIGHT the contact's height in the link's frame" if blank else ""))


def _names(joints: Sequence[Joint]) -> str:
    return listed((j.name for j in joints), _MOST)
