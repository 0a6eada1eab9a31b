"""Wheels from the tree alone: what is named wheel, turns about a horizontal axle and has a rim."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ModelError
from .axis_hints import describe_crossed_axle, steering_hint, suggest_axis, upright_axes
from .description import UNLISTED
from .layout import Joint, Layout
from .rims import PARALLEL, Rim, crossed_cylinder, find_rim, has_mesh, is_horizontal, radius_hint
from .stance import footprint
from .wheel import Wheel


@dataclass(frozen=True)
class FoundWheel:
    """A wheel with link, axis and point filled in, and one sentence: where it and its radius came
    from."""

    wheel: Wheel
    reason: str


def rolling_candidates(layout: Layout) -> list[Joint]:
    """Joints that inference would call wheels: continuous or revolute, horizontal, and named wheel.

    The name may be the joint's, its child link's, or that of a link with a coaxial rim that is
    fixed to the rotor (upkie's tyres, the rear wheels of the MIT racecar). A joint without a shape
    that others mimic is only a handle.
    """
    found = []
    for joint in layout.joints.values():
        if not joint.turns or not is_horizontal(layout, joint):
            continue
        if (
            _named(joint.name)
            or _named(joint.child)
            or find_rim(layout, joint, _tyres(layout, joint)) is not None
        ):
            if not is_handle(layout, joint):
                found.append(joint)
    return found


def is_handle(layout: Layout, joint: Joint) -> bool:
    """Whether a joint only leads others by `<mimic>`: nothing on it can touch the ground."""
    leads = any(e.get("joint") == joint.name for e in layout.source.root.findall("joint/mimic"))
    return leads and not any(
        layout.links[link].findall("collision") for link in layout.rigid(joint.child)
    )


def infer_wheels(layout: Layout) -> tuple[list[FoundWheel], list[str]]:
    """The wheels of a robot that says nothing about them, and notices.

    Raises
    ------
    ModelError
        Where no joint rolls (listing those that could), where an axle named wheel leans, or where a
        wheel's radius is nowhere but in a mesh.
    """
    joints = rolling_candidates(layout)
    named = [j for j in layout.joints.values() if j.turns and _named(j.name)]
    leaning = [j for j in named if 0.02 <= abs(layout.axis_R(j)[2]) < 0.7 and find_rim(layout, j)]
    if leaning:
        raise ModelError(_leans(layout, joints, leaning))
    if not joints:
        raise ModelError(_no_wheel(layout))
    contacts, unknown = [], []
    for joint in joints:
        tyres = None if _named(joint.name) or _named(joint.child) else _tyres(layout, joint)
        rim = find_rim(layout, joint, tyres)
        if rim is None:
            unknown.append(joint)
        else:
            contacts.append(FoundWheel(_wheel(joint, rim), _reason(joint, rim)))
    if unknown:
        raise ModelError(_no_radius(layout, contacts, unknown))
    handles = [j.name for j in layout.joints.values() if j.turns
               and _named(j.name) and is_handle(layout, j)]
    notices = []
    if handles:
        notices.append(f"{', '.join(handles)}: no wheel, because nothing on it can touch the "
                       "ground; it only leads other joints by <mimic>")
    return contacts, notices


def wheel_line(wheel: Wheel) -> str:
    """A wheel as a user would type it."""
    name = repr(wheel.joint) if wheel.joint is not None else "None"
    text = f"Wheel({name}, {wheel.kind!r}"
    text += f", {wheel.radius:.6g}" if wheel.radius else ""
    if wheel.joint is None:
        text += f", link={wheel.link!r}"
        for key in ("axis", "point"):
            if getattr(wheel, key) is not None:
                text += f", {key}=({', '.join(f'{c:.6g}' for c in getattr(wheel, key))})"
    return text + ")"


def _named(name: str) -> bool:
    return "wheel" in name.lower()


def _tyres(layout: Layout, joint: Joint) -> list[str]:
    """Links named wheel on the rotor, by their own name or that of the fixed joint that holds
    them."""
    return [
        link
        for link in layout.rigid(joint.child)[1:]
        if _named(link) or _named(layout.above[link].name)
    ]


def _wheel(joint: Joint, rim: Rim) -> Wheel:
    axis = tuple(float(c) + 0.0 for c in joint.axis)
    return Wheel(joint.name, "disc", rim.radius, axis=axis, link=joint.child, point=rim.centre)


def _reason(joint: Joint, rim: Rim) -> str:
    names = (("joint", joint.name), ("link", joint.child))
    by_name = next((f"{what} {name!r} is named wheel" for what, name in names if _named(name)),
                   None)
    by_name = by_name or f"it turns {rim.link!r}, which is fixed to its rotor"
    where = "" if rim.link == joint.child else f" {rim.link!r}, fixed to the rotor"
    shape = f"collision {rim.kind} of" + (where or f" {joint.child!r}")
    ball = "; a ball on an axle rolls like a disc of its radius" if rim.kind == "sphere" else ""
    return (f"{by_name} and its {joint.type} axle is horizontal; "
            f"radius {rim.radius:.6g} m from the coaxial {shape}{ball}")


def suggestion(layout: Layout, joint: Joint) -> str:
    """The `Wheel(...)` to type for a joint without a rim; RADIUS where nothing in the file tells
    it."""
    hint = radius_hint(layout, joint)
    return f"Wheel({joint.name!r}, 'disc', {'RADIUS' if hint is None else f'{hint:g}'})"


def _leans(layout: Layout, joints: list[Joint], leaning: list[Joint]) -> str:
    rims = [(j, find_rim(layout, j)) for j in [*joints, *leaning]]
    lines = [wheel_line(_wheel(j, rim)) for j, rim in rims if rim is not None]
    angle = np.degrees(np.arcsin(abs(layout.axis_R(leaning[0])[2])))
    return (
        f"{layout.source.at(leaning[0].element)}: named wheel, but its axle leans {angle:.1f} "
        "degrees in the start pose, so it may be a wheel with camber or none at all. List what "
        f"touches the ground: wheels=[{', '.join(lines)}]"
    )


def _no_radius(layout: Layout, contacts: list[FoundWheel], unknown: list[Joint]) -> str:
    lines = [wheel_line(c.wheel) for c in contacts] + [suggestion(layout, j) for j in unknown]
    first = unknown[0]
    if crossed := crossed_cylinder(layout, first):
        return describe_crossed_axle(layout, first, *crossed)
    shown = "is a mesh" if has_mesh(layout, first) else "there is none"
    guessed = any("RADIUS" not in suggestion(layout, j) for j in unknown)
    guess = ""
    if guessed:
        guess = ("; the numbers for these come from a visual cylinder, or from mass and inertia as "
                 "a solid disc, so check them")
    return (
        f"{layout.source.at(first.element)}: the radius of {_names(unknown)} is not in the file: "
        f"it would be that of a collision cylinder or sphere around the axle, and {shown}. Say it: "
        f"wheels=[{', '.join(lines)}] (and the casters, if there are any){guess}"
    )


def find_unlisted(layout: Layout, wheels: Sequence[Wheel], locked: Collection[str],
                  given: Collection[str]) -> list[str]:
    """A notice where others than the wheels listed were left out: their joints are `locked`, though
    not so `given`."""
    out = [j.name for j in rolling_candidates(layout) if j.name in locked and j.name not in given
           and find_rim(layout, j) is not None]
    listed = ", ".join(w.name for w in wheels)
    if not out:
        return []
    were = "was" if len(wheels) == 1 else "were"
    return [f"{', '.join(out)}: {UNLISTED}, but only {listed} {were} listed; they are locked and "
            "touch nothing. List all that touch the ground, or lock them by name"]


def _no_wheel(layout: Layout) -> str:
    turning = [j for j in layout.joints.values() if j.turns]
    label = layout.source.label
    if mistaken := upright_axes(layout):
        return suggest_axis(layout, mistaken) + steering_hint(mistaken)
    if not turning:
        return (f"{label}: no joint turns, so nothing can roll; "
                "a wheel hangs on a continuous joint with a horizontal axle")
    flat = [j for j in turning if is_horizontal(layout, j)]
    upright = [j for j in turning if abs(layout.axis_R(j)[2]) > 0.7]
    text = (f"{label}: no rolling joint was found: "
            "none that turns about a horizontal axle is named wheel, nor is its link.")
    dummies = [j for j in turning if _named(j.name) and j not in flat]
    if dummies:
        text += f" ({_names(dummies)}: named wheel, but its axis is not horizontal.)"
    if flat:
        lines = [suggestion(layout, j) for j in flat[:8]]
        text += f" Name the wheels: wheels=[{', '.join(lines)}]; these turn about horizontal axles"
        text += " (radii, where given, are those of visual cylinders, or of solid discs with their mass and inertia)."
    if upright and not flat:
        lines = [_blade(layout, j) for j in upright[:8]]
        text += (
            f" {_names(upright)} can only steer: a wheel drawn in one piece with its steering is a "
            f"contact without lateral slip that needs no rolling joint: wheels=[{', '.join(lines)}]"
        )
        text += (
            " with HEIGHT the contact's height in the link's frame."
            if any("HEIGHT" in x for x in lines)
            else ""
        )
    return text


def _blade(layout: Layout, joint: Joint) -> str:
    R = layout.X_RL[joint.child][:3, :3]
    lateral = np.round(R.T @ (0.0, 1.0, 0.0), 4) + 0.0
    axis = ", ".join(f"{c:g}" for c in lateral)
    touching = _lowest(layout, joint)
    point = (
        "0, 0, HEIGHT"
        if touching is None
        else ", ".join(f"{c + 0.0:g}" for c in np.round(touching, 6))
    )
    return f"Wheel(None, 'blade', link={joint.child!r}, axis=({axis}), point=({point}))"


def _lowest(layout: Layout, joint: Joint) -> np.ndarray | None:
    """Where the wheel drawn on a joint touches the ground, (3,) in the child's frame; None where no
    shape tells."""
    down = layout.X_RL[joint.child][:3, :3].T @ (0.0, 0.0, -1.0)
    points = []
    for shape in (
        s for link in layout.rigid(joint.child) for s in layout.shapes(link, joint.child)
    ):
        if shape.kind == "sphere" or (shape.kind == "cylinder"
                                      and abs(shape.X_LS[:3, 2] @ down) < PARALLEL):
            points.append(shape.centre + shape.size[0] * down)
    if not points and (floor := footprint(layout)) is not None:
        points = [(layout.X_RL[joint.child][2, 3] - floor) * down]
    return max(points, key=lambda p: p @ down, default=None)


def _names(joints) -> str:
    names = [j.name for j in joints]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
