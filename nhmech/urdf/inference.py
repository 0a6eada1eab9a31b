"""Wheels from the tree alone: what is named wheel, turns about a horizontal axle and has a rim."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ModelError, Remedy, listed
from .axis_hints import axis_error, axle_error, is_upright, upright_axes
from .description import Reason
from .layout import Joint, Layout, is_named, to_triple
from .notice import Notice, NoticeKind
from .remedy import Blank, WheelFields, option, suggest, wheel_fields
from .rims import (
    PARALLEL,
    Rim,
    RimSource,
    UnusedMesh,
    compare_radius,
    crossed_cylinder,
    find_rim,
    is_horizontal,
    unused_meshes,
)
from .stance import footprint
from .wheel import Wheel

_MOST = 8                  # joints that one message names
_FILES = 3                 # meshes of which one message says what is wrong
_LEANING = (0.02, 0.7)     # of a unit axle: its vertical part where it neither lies nor stands


@dataclass(frozen=True)
class FoundWheel:
    """A wheel with link, axis and point filled in, and where it and its radius came from."""

    wheel: Wheel
    reason: Reason


def rolling_candidates(layout: Layout) -> list[Joint]:
    """Joints that inference would call wheels: continuous or revolute, horizontal, and named wheel,
    or else with a rim in one plane with those that are.

    The name may be the joint's, its child link's, or that of a link with a coaxial rim that is
    fixed to the rotor (upkie's tyres, the rear wheels of the MIT racecar). A joint without a shape
    that others mimic is only a handle.
    """
    flat = [j for j in layout.joints.values()
            if j.turns and is_horizontal(layout, j) and not is_handle(layout, j)]
    named = [j for j in flat if is_named("wheel", j.name, j.child)
             or find_rim(layout, j, _tyres(layout, j)) is not None]
    standing = _in_plane(layout, named, [j for j in flat if j not in named])
    return [j for j in flat if j in named or j in standing]


def _in_plane(layout: Layout, named: Sequence[Joint], others: Sequence[Joint]) -> list[Joint]:
    """Of the others, those that nothing moves on and whose rim stands where the named ones do."""
    rims = [(j, rim) for j in named
            if (rim := find_rim(layout, j, _rim_links(layout, j))) is not None]
    if not rims:
        return []
    floor = min(_bottom(layout, j, rim) for j, rim in rims)
    largest = max(rim.radius for _, rim in rims)
    found = []
    for joint in others:
        height = layout.X_RL[joint.child][2, 3] - floor
        # looked at first, because a mesh of an arm is large and tells nothing
        if not 0 < height < 2 * largest or layout.carries_joint(joint.child):
            continue
        rim = find_rim(layout, joint)
        if rim is not None and abs(_bottom(layout, joint, rim) - floor) < _slack(rim):
            found.append(joint)
    return found


def _bottom(layout: Layout, joint: Joint, rim: Rim) -> float:
    """Height of the lowest point of a rim in the root's frame [m]."""
    X = layout.X_RL[joint.child]
    return float(X[2, 3] + X[2, :3] @ rim.centre) - rim.radius


def _slack(rim: Rim) -> float:
    """How far a rim may be off the plane of the others [m], as in `check_heights`."""
    return max(5e-3, 0.1 * rim.radius)


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
        Where no joint rolls (listing those that could), where an axle named wheel leans, or where
        no shape tells a wheel's radius.
    """
    joints = rolling_candidates(layout)
    named = [j for j in layout.joints.values() if j.turns and is_named("wheel", j.name)]
    low, high = _LEANING
    leaning = [j for j in named if low <= abs(layout.axis_R(j)[2]) < high and find_rim(layout, j)]
    if leaning:
        raise _leaning_error(layout, joints, leaning)
    if not joints:
        raise _no_wheel_error(layout)
    contacts, unknown, notices = [], [], []
    for joint in joints:
        rim = find_rim(layout, joint, _rim_links(layout, joint))
        if rim is None or (rim.source is RimSource.VISUAL_PRIMITIVE
                           and crossed_cylinder(layout, joint)):
            unknown.append(joint)
        else:
            contacts.append(FoundWheel(_wheel(joint, rim), _reason(joint, rim)))
            notices += compare_radius(layout, joint, rim.radius, rim)
    if unknown:
        raise _radius_error(layout, contacts, unknown)
    handles = [j.name for j in named if is_handle(layout, j)]
    if handles:
        notices.append(Notice(NoticeKind.HANDLE,
                              f"{', '.join(handles)}: no wheel, because nothing on it can touch "
                              "the ground; it only leads other joints by <mimic>"))
    return contacts, notices


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


def _rim_links(layout: Layout, joint: Joint) -> list[str] | None:
    """Links in which the rim of a joint is looked for; None for the whole rotor."""
    if is_named("wheel", joint.name, joint.child):
        return None
    return _tyres(layout, joint) or None


def _wheel(joint: Joint, rim: Rim) -> Wheel:
    return Wheel(joint.name, "disc", rim.radius, axis=to_triple(joint.axis), link=joint.child,
                 point=rim.centre)


def _reason(joint: Joint, rim: Rim) -> Reason:
    named, by_name = rim.link, "it turns {}, which is fixed to its rotor"
    if rim.link == joint.child:
        by_name = "{} stands in the plane of the wheels"
    for what, name in (("joint", joint.name), ("link", joint.child)):
        if is_named("wheel", name):
            named, by_name = name, what + " {} is named wheel"
            break
    fixed = "" if rim.link == joint.child else ", fixed to the rotor"
    ball = "; a ball on an axle rolls like a disc of its radius" if rim.is_ball else ""
    return Reason(f"{by_name} and its {joint.type} axle is horizontal; radius {rim.radius:.6g} m "
                  f"from the coaxial {rim.reason.pattern}{fixed}{ball}",
                  (named, *rim.reason.names))


def _disc(layout: Layout, joint: Joint) -> WheelFields:
    """The wheel to type for a joint; its radius is blank where no shape tells it."""
    rim = find_rim(layout, joint)
    return {"joint": joint.name, "kind": "disc",
            "radius": Blank.RADIUS if rim is None else rim.radius}


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
    meshes = _unused(layout, unknown)
    shown = "; ".join(map(str, meshes[:_FILES]))
    wheels = [*(wheel_fields(c.wheel) for c in contacts), *(_disc(layout, j) for j in unknown)]
    return layout.source.error(
        first.element,
        f"the radius of {_names(unknown)} is not in the file: no collision or visual shape is "
        f"round about the axle{': ' if shown else ''}{shown}",
        suggest(*_find_meshes(meshes), "Give it: ", option("wheels", wheels),
                " (and the casters, if there are any), with RADIUS in metres"))


def _unused(layout: Layout, joints: Sequence[Joint]) -> list[UnusedMesh]:
    """Meshes of these rotors that give no radius, each file once."""
    found: dict[str, UnusedMesh] = {}
    for mesh in (m for joint in joints for m in unused_meshes(layout, joint)):
        found.setdefault(mesh.filename, mesh)
    return list(found.values())


def _find_meshes(meshes: Sequence[UnusedMesh]) -> list[str | Remedy]:
    """What to type so that missing meshes are found; nothing where none is missing."""
    packages = dict.fromkeys((m.package for m in meshes if m.package is not None), "FOLDER")
    if not packages:
        return []
    return ["Say where the meshes are: ", option("packages", packages),
            ", FOLDER being the package's. Or: "]


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
        round_ = _lowest_rims(layout, flat)
        meshes = _unused(layout, flat)
        note = ("are round about their horizontal axles and stand in one plane" if round_
                else "turn about horizontal axles; RADIUS is in metres")
        return ModelError(text, suggest(
            *_find_meshes(meshes), "Name the wheels: ",
            option("wheels", [_disc(layout, j) for j in (round_ or flat[:_MOST])]),
            f"; these {note}"))
    if not upright:
        return ModelError(text)
    blades = [_blade(layout, j) for j in upright[:_MOST]]
    blank = any(_lowest(layout, j) is None for j in upright[:_MOST])
    return ModelError(text, suggest(
        f"{_names(upright)} can only steer: a wheel drawn in one piece with its steering is a "
        "contact without lateral slip that needs no rolling joint: ", option("wheels", blades),
        " with HEIGHT the contact's height in the link's frame" if blank else ""))


def _lowest_rims(layout: Layout, joints: Sequence[Joint]) -> list[Joint]:
    """Of these joints, those that have a rim which reaches the lowest plane of all rims."""
    rims = [(j, rim) for j in joints if (rim := find_rim(layout, j)) is not None]
    floor = min((_bottom(layout, j, rim) for j, rim in rims), default=0.0)
    return [j for j, rim in rims if _bottom(layout, j, rim) <= floor + _slack(rim)]


def _names(joints: Sequence[Joint]) -> str:
    return listed((j.name for j in joints), _MOST)
