"""Wheels of a robot that says nothing about them, from the verdicts on its joints."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ModelError, listed
from .axis_hints import axis_error, axle_error, is_upright, upright_axes
from .description import Fact, Reason
from .evidence import (
    Axle,
    Findings,
    Verdict,
    find_rivals,
    has_word,
    is_free,
    is_handle,
    read_facts,
    weigh,
)
from .layout import Joint, Layout, to_triple
from .notice import Notice, NoticeKind
from .radii import Radius, choose_radius, read_radii, report_radii, weigh_radii
from .remedy import Blank, WheelFields, ask_for_packages, option, suggest, wheel_fields
from .rims import (
    PARALLEL,
    Rim,
    RimSource,
    UnusedMesh,
    crossed_cylinder,
    find_rim,
    unused_meshes,
)
from .stance import footprint
from .wheel import Wheel

_MOST = 8                  # joints that one message names
_FILES = 3                 # meshes of which one message says what is wrong
_MEASURE = ", with RADIUS the distance from the axle to the ground in metres"
_LEANING = (0.02, 0.7)     # of a unit axle: its vertical part where it neither lies nor stands


@dataclass(frozen=True)
class FoundWheel:
    """A wheel with link, axis and point filled in, and where it and its radius came from."""

    wheel: Wheel
    reason: Reason


def rolling_candidates(layout: Layout) -> list[Joint]:
    """Joints that inference would call wheels."""
    return [axle.joint for axle in weigh(layout).of(Verdict.WHEEL, Verdict.NO_RADIUS)]


def infer_wheels(layout: Layout) -> tuple[list[FoundWheel], list[Notice]]:
    """The wheels of a robot that says nothing about them, and notices.

    Raises
    ------
    ModelError
        Where no joint rolls (listing those that could), where an axle leans, or where nothing
        tells a wheel's radius.
    """
    findings = weigh(layout)
    axles = findings.of(Verdict.WHEEL, Verdict.NO_RADIUS)
    if leaning := _find_leaning(layout, findings):
        raise _leaning_error(layout, [a.joint for a in axles], leaning)
    if not axles:
        raise _no_wheel_error(layout, findings)
    if pair := find_rivals(findings):
        raise _rival_error(layout, axles[0], pair)
    contacts: list[FoundWheel] = []
    unknown: list[Axle] = []
    against: dict[str, Reason] = {}
    for axle in axles:
        found = _measure(layout, axle, findings)
        if found is None:
            unknown.append(axle)
            continue
        contact, contradiction = found
        contacts.append(contact)
        if contradiction is not None:
            against[axle.joint.name] = contradiction
    if unknown:
        raise _radius_error(layout, contacts, unknown)
    notices = report_radii(against)
    for axle in findings.of(Verdict.IN_THE_AIR):
        if axle.is_called and findings.floor is not None:
            notices.append(Notice(
                NoticeKind.HANDLE,
                f"{axle.joint.name}: no wheel, because its lowest point is "
                f"{axle.bottom - findings.floor:.4g} m above the plane of the wheels"))
    handles = [j.name for j in layout.joints.values()
               if j.turns and has_word(layout, j.child) and is_handle(layout, j)]
    if handles:
        notices.append(Notice(NoticeKind.HANDLE,
                              f"{', '.join(handles)}: no wheel, because nothing on it can touch "
                              "the ground; it only leads other joints by <mimic>"))
    return contacts, notices


def _measure(layout: Layout, axle: Axle,
             findings: Findings) -> tuple[FoundWheel, Reason | None] | None:
    """The wheel on an axle and what contradicts its radius; None where nothing tells it."""
    joint = axle.joint
    radii = read_radii(layout, joint, axle.height)
    chosen = choose_radius(radii, axle.rim)
    if chosen is None and findings.floor is not None and axle.height > findings.floor:
        chosen = Radius.of_plane(axle.height - findings.floor)
        radii = [chosen]
    if chosen is None or (crossed_cylinder(layout, joint)
                          and (chosen.rim is None
                               or chosen.rim.source is RimSource.VISUAL_PRIMITIVE)):
        return None
    facts, contradiction = weigh_radii(radii, chosen.value, chosen)
    rim = chosen.rim or axle.rim
    wheel = Wheel(joint.name, "disc", chosen.value, axis=to_triple(joint.axis), link=joint.child,
                  point=(0.0, 0.0, 0.0) if rim is None else rim.centre)
    witnesses = {fact.witness for fact in facts}
    facts += tuple(f for f in read_facts(layout, axle, findings) if f.witness not in witnesses)
    reason = _reason(joint, chosen, facts)
    if chosen.rim is None:
        contradiction = Reason(
            f"radius {chosen.value:.6g} m is only the {chosen.reason.pattern}: no collision or "
            "visual shape is round about the axle", chosen.reason.names)
    return FoundWheel(wheel, reason), contradiction


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
    out = [a.joint.name for a in weigh(layout).of(Verdict.WHEEL)
           if a.joint.name in locked and a.joint.name not in given]
    if not out:
        return []
    were = "was" if len(wheels) == 1 else "were"
    return [Notice(NoticeKind.UNLISTED_WHEEL,
                   f"{', '.join(out)}: would be found as wheels, but only "
                   f"{', '.join(w.name for w in wheels)} {were} listed; they are locked and touch "
                   "nothing",
                   suggest("List all that touch the ground, or lock them by name: ",
                           option("locked", dict.fromkeys(out, 0.0))))]


def _wheel(joint: Joint, rim: Rim) -> Wheel:
    return Wheel(joint.name, "disc", rim.radius, axis=to_triple(joint.axis), link=joint.child,
                 point=rim.centre)


def _reason(joint: Joint, chosen: Radius, facts: tuple[Fact, ...]) -> Reason:
    rim = chosen.rim
    names = (joint.name, *chosen.reason.names)
    turns = f"{{}} turns ({joint.type}) about a level axle and reaches the ground"
    if rim is None:
        return Reason(f"{turns}; radius {chosen.value:.6g} m is the {chosen.reason.pattern}", names,
                      facts)
    fixed = "" if rim.link == joint.child else ", fixed to the rotor"
    ball = "; a ball on an axle rolls like a disc of its radius" if rim.is_ball else ""
    return Reason(f"{turns}; radius {chosen.value:.6g} m from the coaxial {chosen.reason.pattern}"
                  f"{fixed}{ball}", names, facts)


def _find_leaning(layout: Layout, findings: Findings) -> list[Joint]:
    """Joints that would be wheels if their axle were level."""
    low, high = _LEANING
    leaning = []
    for joint in layout.joints.values():
        if (not joint.turns or not low <= abs(layout.axis_R(joint)[2]) < high
                or not (is_free(joint) or has_word(layout, joint.child))
                or layout.carried(joint.child)):
            continue
        rim = find_rim(layout, joint)
        if rim is None:
            continue
        X, sine = layout.X_RL[joint.child], np.sqrt(1 - layout.axis_R(joint)[2] ** 2)
        bottom = float(X[2, 3] + X[2, :3] @ rim.centre) - rim.radius * sine
        if findings.floor is None or bottom - findings.floor < rim.radius / 2:
            leaning.append(joint)
    return leaning


def _disc(layout: Layout, axle: Axle) -> WheelFields:
    """The wheel to type for a joint; its radius is blank where no source gives one."""
    chosen = choose_radius(read_radii(layout, axle.joint, axle.height), axle.rim)
    return {"joint": axle.joint.name, "kind": "disc",
            "radius": Blank.RADIUS if chosen is None else float(f"{chosen.value:.4g}")}


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


def _radius_error(layout: Layout, contacts: list[FoundWheel], unknown: list[Axle]) -> ModelError:
    first = unknown[0].joint
    if crossed := crossed_cylinder(layout, first):
        return axle_error(layout, first, *crossed)
    joints = [axle.joint for axle in unknown]
    meshes = _unused(layout, joints)
    shown = "; ".join(map(str, meshes[:_FILES]))
    wheels = [*(wheel_fields(c.wheel) for c in contacts), *(_disc(layout, a) for a in unknown)]
    return layout.source.error(
        first.element,
        f"the radius of {_names(joints)} is not in the file: no collision or visual shape is "
        f"round about the axle{': ' if shown else ''}{shown}",
        suggest(*ask_for_packages(m.package for m in meshes), "Give it: ", option("wheels", wheels),
                f" (and the casters, if there are any){_MEASURE}"))


def _unused(layout: Layout, joints: Sequence[Joint]) -> list[UnusedMesh]:
    """Meshes of these rotors that give no radius, each file once."""
    found: dict[str, UnusedMesh] = {}
    for mesh in (m for joint in joints for m in unused_meshes(layout, joint)):
        found.setdefault(mesh.filename, mesh)
    return list(found.values())


def _rival_error(layout: Layout, lowest: Axle, pair: Sequence[Axle]) -> ModelError:
    return ModelError(
        f"{layout.source.label}: {lowest.joint.name} alone reaches the lowest plane, and nothing "
        f"but its round shape speaks for a wheel; {_names([a.joint for a in pair])} are a pair "
        "above it",
        suggest("If it rolls: ", option("wheels", [_disc(layout, lowest)]), "; if they do: ",
                option("wheels", [_disc(layout, a) for a in pair])))


def _no_wheel_error(layout: Layout, findings: Findings) -> ModelError:
    turning = [j for j in layout.joints.values() if j.turns]
    label = layout.source.label
    if mistaken := upright_axes(layout):
        return axis_error(layout, mistaken, steer=True)
    if not turning:
        return ModelError(f"{label}: no joint turns, so nothing can roll; "
                          "a wheel hangs on a continuous joint with a horizontal axle")
    text = (f"{label}: no rolling joint was found: nothing that turns about a horizontal axle is "
            "round and stands on the ground")
    upright = [j for j in turning if is_upright(layout, j)]
    dummies = [j for j in upright if has_word(layout, j.child)]
    if dummies:
        text += f" ({_names(dummies)}: named wheel, but its axis is not horizontal)"
    free = [a for a in findings.axles if a.is_free] or list(findings.axles)
    if free:
        wheels = [_disc(layout, a) for a in free[:_MOST]]
        blank = any(w["radius"] is Blank.RADIUS for w in wheels)
        return ModelError(text, suggest(
            *ask_for_packages(m.package for m in _unused(layout, [a.joint for a in free])),
            "Name the wheels: ",
            option("wheels", wheels), "; these turn about horizontal axles",
            _MEASURE if blank else ""))
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
