"""Wheels of a robot that says nothing about them, from the verdicts on its joints."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ...errors import FEW, listed
from ..description import Fact, FoundWheel, Reason
from ..layout import Joint, Layout, to_triple
from ..notice import Notice, NoticeKind
from ..remedy import option, suggest
from ..wheel import Wheel
from .casters import list_wheels
from .evidence import (
    Candidate,
    Findings,
    JointVerdict,
    find_lone,
    find_rivals,
    has_word,
    is_almost_standing,
    is_handle,
    read_facts,
    weigh,
)
from .radii import Radius, choose_radius, read_radii, report_radii, weigh_radii
from .refusals import check_sides, leaning_error, lone_error, no_wheel_error, radius_error
from .rims import (
    RimSource,
    crossed_cylinder,
    equal_rims,
    find_rim,
    has_camber,
    is_horizontal,
)
from .rollers import roller_joints
from .swivels import is_loose_ball

_LEANING = (0.02, 0.7)     # of a unit axle: its vertical part where it neither lies nor stands


def rolling_candidates(layout: Layout) -> list[Joint]:
    """Joints that inference would call wheels."""
    return [axle.joint for axle in weigh(layout).of(JointVerdict.WHEEL, JointVerdict.NO_RADIUS)]


def infer_wheels(layout: Layout) -> tuple[list[FoundWheel], list[Notice]]:
    """The wheels of a robot that says nothing about them, and notices."""
    findings = weigh(layout)
    axles = findings.of(JointVerdict.WHEEL, JointVerdict.NO_RADIUS)
    if leaning := _find_leaning(layout, findings):
        raise leaning_error(layout, axles, leaning)
    if not axles:
        raise no_wheel_error(layout, findings)
    if lone := find_lone(findings):
        pair = find_rivals(findings)
        above = [j for j in layout.path(lone.joint.parent) if j.turns and is_horizontal(layout, j)]
        if pair or above:
            raise lone_error(layout, lone, pair, above)
    contacts: list[FoundWheel] = []
    unknown: list[Candidate] = []
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
        raise radius_error(layout, contacts, unknown)
    check_sides(layout, contacts)
    notices = [*report_radii(against), *_report_camber(layout, axles)]
    notices += _report_off_plane(layout, findings)
    for axle in findings.of(JointVerdict.DRUM):
        found = _measure(layout, axle, findings)
        notices.append(Notice(
            NoticeKind.HANDLE,
            f"{axle.joint.name}: no wheel, because it is far wider than high, as brushes and "
            "rollers are, and no name or plugin calls it one",
            found and suggest("If it bears a load: ", list_wheels(layout, [*contacts, found[0]]))))
    handles = [j.name for j in layout.joints.values()
               if j.turns and has_word(layout, j.child) and is_handle(layout, j)]
    if handles:
        notices.append(Notice(NoticeKind.HANDLE,
                              f"{', '.join(handles)}: no wheel, because nothing on it can touch "
                              "the ground; it only leads other joints by <mimic>"))
    return contacts, notices


def _measure(layout: Layout, axle: Candidate,
             findings: Findings) -> tuple[FoundWheel, Reason | None] | None:
    """The wheel on an axle and what contradicts its radius; None where nothing tells it."""
    joint = axle.joint
    radii = read_radii(layout, joint, axle.height)
    chosen = choose_radius(radii, axle.rim)
    others = any(a.rim for a in findings.of(JointVerdict.WHEEL))
    if chosen is None and others and findings.floor is not None:
        chosen = Radius.of_plane(axle.height - findings.floor)
        radii = [chosen]
    if chosen is None or _is_turned(layout, joint, chosen):
        return None
    facts, contradiction = weigh_radii(radii, chosen.value, chosen)
    point = np.zeros(3)
    if rim := chosen.rim:
        # of two wheels on one shaft the middle, which neither prefers
        point = np.mean([r.centre for r in equal_rims(layout, joint, rim)] or [rim.centre], axis=0)
    wheel = Wheel(joint.name, "disc", chosen.value, axis=to_triple(joint.axis), link=joint.child,
                  point=to_triple(point))
    witnesses = {fact.witness for fact in facts}
    facts += tuple(f for f in read_facts(layout, axle, findings) if f.witness not in witnesses)
    reason = _reason(joint, chosen, facts)
    if chosen.rim is None:
        contradiction = Reason(
            f"radius {chosen.value:.6g} m is only the {chosen.reason.pattern}: no collision or "
            "visual shape is round about the axle", chosen.reason.names)
    return FoundWheel(wheel, reason), contradiction


def _report_camber(layout: Layout, axles: Sequence[Candidate]) -> list[Notice]:
    """A notice about wheels whose axles lean."""
    lean = {axle.joint.name: np.degrees(np.arcsin(abs(layout.axis_R(axle.joint)[2])))
            for axle in axles if has_camber(layout, axle.joint)}
    if not lean:
        return []
    most = f"{max(lean.values()):.2g}"
    return [Notice(NoticeKind.CAMBER,
                   f"{listed(lean)}: taken as wheels with camber, which roll on their edge, "
                   f"because their axles lean by {most} degrees and mirror each other")]


def _report_off_plane(layout: Layout, findings: Findings) -> list[Notice]:
    """Notices about joints that something calls wheels, or that almost stand, and the plane."""
    floor = findings.floor
    gaps = {} if floor is None else {
        axle.joint.name: axle.bottom - floor for axle in findings.of(JointVerdict.IN_THE_AIR)
        if axle.is_called or is_almost_standing(layout, axle, findings)}
    notices = []
    for side, away in (("above", {name: gap for name, gap in gaps.items() if gap > 0}),
                       ("below", {name: -gap for name, gap in gaps.items() if gap < 0})):
        if not away:
            continue
        sizes = list(dict.fromkeys(f"{gap:.4g}" for gap in sorted(away.values())))
        most = f" to {sizes[-1]}" if len(sizes) > 1 else ""
        its = "its lowest point is" if len(away) == 1 else "their lowest points are"
        notices.append(Notice(NoticeKind.HANDLE,
                              f"{listed(away, FEW)}: no wheel, because {its} {sizes[0]}{most} m "
                              f"{side} the plane of the wheels"))
    return notices


def _is_turned(layout: Layout, joint: Joint, chosen: Radius) -> bool:
    """Whether a cylinder stands across an axle and nothing better than a height speaks for the
    axle; a height that confirms an upright one does."""
    crossed = crossed_cylinder(layout, joint)
    if crossed is None:
        return False
    radius, along = crossed
    if chosen.rim is not None:
        solid = any(map(layout.shapes, layout.rigid(joint.child)))
        return solid and chosen.rim.source is RimSource.VISUAL_PRIMITIVE
    lies = abs(layout.X_RL[joint.child][2, :3] @ along) < _LEANING[1]
    return lies or not chosen.agrees(radius)


def find_unlisted(layout: Layout, wheels: Sequence[Wheel], locked: Collection[str],
                  given: Collection[str]) -> list[Notice]:
    """A notice about joints that look like wheels but were left out where the wheels are listed.
    `given`: those of them that the user locked by name: they get no notice."""
    out = [a.joint.name for a in weigh(layout).of(JointVerdict.WHEEL)
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
    rollers = [roller for axle in findings.axles if axle.rollers
               for roller in roller_joints(layout, axle.joint)]
    for joint in layout.joints.values():
        if (joint in rollers or not joint.turns or not low <= abs(layout.axis_R(joint)[2]) < high
                or has_camber(layout, joint)
                or not (joint.is_free or has_word(layout, joint.child))
                or layout.carried_joints(joint.child) or is_loose_ball(layout, joint)):
            continue
        rim = find_rim(layout, joint)
        if rim is None:
            continue
        X, sine = layout.X_RL[joint.child], np.sqrt(1 - layout.axis_R(joint)[2] ** 2)
        bottom = float(X[2, 3] + X[2, :3] @ rim.centre) - rim.radius * sine
        if findings.floor is None or bottom - findings.floor < rim.radius / 2:
            leaning.append(joint)
    return leaning
