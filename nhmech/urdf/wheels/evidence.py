"""Evidence, then verdict: what independent sources say of each joint that could roll, and the one
rule that decides which of them are wheels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from statistics import median

import numpy as np

from ..description import Fact, Witness
from ..elements import Interface
from ..layout import Joint, Layout, matches_name
from ..text.source import name_of
from .axis_hints import is_upright
from .radii import find_wheel_rim
from .rims import Rim, beside_cylinder, crossed_cylinder, has_camber, is_horizontal
from .rollers import roller_joints
from .stance import allowance, footprint
from .swivels import is_loose_ball

# of a wheel, in languages that robots are named in
_WORDS = ("wheel", "tyre", "tire", "reifen", "rueda", "roue", "ruota", "roda", "hjul", "kolo")
# of the radius: a rim that is higher over the plane hangs in the air, a lower one contradicts it
_IN_THE_AIR = 0.5
_CENTRED = 0.1          # of the radius: axes that pass the centre of a ball by less turn it there
_ALIKE = 0.05           # of the radius: partners on one axle differ by less
_DRUM = 1.5             # of the diameter: what is wider is a brush or a roller, if no wheel by name


class JointVerdict(Enum):
    """What a joint is taken for."""

    WHEEL = "wheel"                      # round, and on the ground
    NO_RADIUS = "wheel without radius"   # called a wheel, but no shape tells how large it is
    IN_THE_AIR = "in the air"            # round, but nowhere near the ground
    DRUM = "drum"                        # on the ground, but wide as a brush or a roller is
    NO_WHEEL = "no wheel"


@dataclass(frozen=True)
class Candidate:
    """A joint that could roll, because it turns about a level axis."""

    joint: Joint
    rim: Rim | None  # what is round about its axis; None where no shape is
    is_free: bool  # whether it can turn round and round
    is_named: bool  # whether a name on its rotor has a word for wheel
    is_listed: bool  # whether a plugin names it as a wheel
    # whether a controller commands its velocity, and neither position nor effort
    is_commanded: bool
    rollers: bool  # whether it carries a ring of rollers
    carries: bool  # whether anything else moves on it
    # radius of a cylinder on it that lies across its axis or beside it [m]; None where it has a
    # rim, or no such cylinder
    misplaced: float | None
    height: float  # of its rim's centre in the root's frame [m]; of its origin where it has no rim
    usual: float = 0.0  # median radius of all that could be wheels [m]; 0 where nothing is round

    @property
    def bottom(self) -> float:
        """Height of its lowest point in the root's frame [m]; of the axle without a shape."""
        return self.height - (self.misplaced or 0.0 if self.rim is None else self.rim.radius)

    @property
    def is_called(self) -> bool:
        """Whether anything calls it a wheel."""
        return self.is_named or self.is_listed or self.is_commanded

    @property
    def slack(self) -> float:
        """How far its lowest point may be off the plane of the others [m]."""
        radius = self.misplaced or 0.0 if self.rim is None else self.rim.radius
        return allowance(radius, self.usual)


@dataclass(frozen=True)
class Findings:
    """All joints that could roll, and the plane that the wheels among them stand on."""

    axles: tuple[Candidate, ...]  # in the order of the file
    floor: float | None  # height of the plane in the root's frame [m]; None where nothing tells it
    # of each axle, by the name of its joint
    verdicts: dict[str, JointVerdict] = field(default_factory=dict)

    def of(self, *verdicts: JointVerdict) -> list[Candidate]:
        """The axles with one of these verdicts."""
        return [axle for axle in self.axles if self.verdicts[axle.joint.name] in verdicts]


def weigh(layout: Layout) -> Findings:
    """Every joint that could roll, with the verdict on it."""
    axles = _read_axles(layout)
    floor = _find_floor(layout, axles)
    findings = Findings(tuple(axles), floor)
    findings.verdicts.update((axle.joint.name, judge_joint(axle, floor, axles, layout))
                             for axle in axles)
    return findings


def judge_joint(axle: Candidate, floor: float | None, axles: Sequence[Candidate],
                layout: Layout) -> JointVerdict:
    """The one rule by which a joint is a wheel.

    A wheel is round about a level axle and reaches the ground. What is round and hangs clearly
    above it is none, whatever it is called. What is nearly on the ground contradicts itself, so
    that it is taken for a wheel, and the check of heights refuses it. A joint that is not free
    needs a second witness: a partner on its axle, a controller or a name; one on which something
    moves, that nothing on it touches the ground. What is far wider than high, among others of its
    body that are called wheels, is a drum. Where no shape tells, a name, an element or a
    cylinder that is turned wrongly makes a wheel only if another source gives the radius.
    """
    gap = None if floor is None else axle.bottom - floor
    if axle.rim is None:
        turned = axle.misplaced is not None and axle.is_free and gap is not None and (
            abs(gap) <= axle.slack)
        below = floor is not None and axle.height <= floor
        if axle.carries or below or not (axle.is_called or turned):
            return JointVerdict.NO_WHEEL
        high = floor is not None and _hangs(axle, floor, axles) and not axle.is_listed
        return JointVerdict.IN_THE_AIR if high else JointVerdict.NO_RADIUS
    if gap is None:      # above the axles of wheels without a shape
        return JointVerdict.IN_THE_AIR
    if axle.carries:
        stands = abs(gap) <= axle.slack and axle.is_free and not any(
            abs(a.bottom - axle.bottom) <= axle.slack for a in _above(layout, axle, axles))
        return JointVerdict.WHEEL if stands else JointVerdict.NO_WHEEL
    if abs(gap) > axle.slack and (abs(gap) > _IN_THE_AIR * axle.rim.radius
                                  or _is_shaft(layout, axle, axles)):
        return JointVerdict.WHEEL if axle.is_listed else JointVerdict.IN_THE_AIR
    if not axle.is_free and not axle.is_called and not _has_partner(layout, axle, axles):
        return JointVerdict.NO_WHEEL
    return JointVerdict.DRUM if _is_drum(layout, axle, axles) else JointVerdict.WHEEL


def _is_drum(layout: Layout, axle: Candidate, axles: Sequence[Candidate]) -> bool:
    """Whether a rim is far wider than a wheel's, and a name or a plugin speaks only for others that
    bear the same body, or others stand without it on more than one axle."""
    def is_wide(a: Candidate) -> bool:
        return a.rim is not None and a.rim.width > 2 * _DRUM * a.rim.radius

    def is_told(a: Candidate) -> bool:
        return a.is_named or a.is_listed

    def hinges(a: Candidate) -> list[Joint]:
        return [j for j in layout.path(a.joint.parent) if j.turns and is_upright(layout, j)]
    if not is_wide(axle) or is_told(axle):
        return False
    others = [a for a in axles if a.rim is not None and not is_wide(a) and not a.carries]
    standing = [a for a in others if abs(a.bottom - axle.bottom) <= a.slack]
    return any(is_told(a) and hinges(a) == hinges(axle) for a in others) or any(
        _offset(layout, standing[0], a) is None for a in standing[1:])


def _above(layout: Layout, axle: Candidate, axles: Sequence[Candidate]) -> list[Candidate]:
    """The axles that an axle carries."""
    return [a for a in axles if a is not axle and axle.joint in layout.path(a.joint.parent)]


def find_lone(findings: Findings) -> Candidate | None:
    """The only wheel that there is, if only its shape and a motor speak for it; None otherwise."""
    wheels = findings.of(JointVerdict.WHEEL, JointVerdict.NO_RADIUS)
    told = len(wheels) != 1 or wheels[0].is_named or wheels[0].is_listed
    return None if told else wheels[0]


def find_rivals(findings: Findings) -> list[Candidate]:
    """Free axles in the air that share a plane; empty where there are none."""
    above = [a for a in findings.of(JointVerdict.IN_THE_AIR) if a.is_free and a.rim]
    for axle in above:
        level = [a for a in above if abs(a.bottom - axle.bottom) <= axle.slack]
        if len(level) > 1:
            return level
    return []


def is_almost_standing(layout: Layout, axle: Candidate, findings: Findings) -> bool:
    """Whether an axle in the air could be a wheel that somebody placed too high: it is free, alone
    on its line or with equals, and hangs by less than its radius."""
    return (axle.rim is not None and findings.floor is not None and axle.is_free
            and not axle.carries and axle.bottom - findings.floor < axle.rim.radius
            and not _is_shaft(layout, axle, findings.axles))


def _hangs(axle: Candidate, floor: float, axles: Sequence[Candidate]) -> bool:
    """Whether an axle without a shape is too high for a wheel, by the size of the others."""
    standing = [a.rim.radius for a in axles if a.rim and a.bottom - floor <= a.slack]
    return bool(standing) and axle.height - floor > (1 + _IN_THE_AIR) * max(standing)


def read_facts(layout: Layout, axle: Candidate, findings: Findings) -> tuple[Fact, ...]:
    """What speaks for an axle that is taken as a wheel, the radii apart."""
    wheels = findings.of(JointVerdict.WHEEL, JointVerdict.NO_RADIUS)
    facts = [Fact(Witness.AXLE, True), Fact(Witness.JOINT, axle.is_free)]
    if axle.rollers:
        facts.append(Fact(Witness.ROLLERS, True))
    else:
        facts.append(Fact(Witness.LEAF, not axle.carries))
    if axle.rim is not None and findings.floor is not None and len(wheels) > 1:
        on_plane = abs(axle.bottom - findings.floor) <= axle.slack
        radius = None if on_plane else axle.height - findings.floor
        facts.append(Fact(Witness.PLANE, on_plane, radius))
    if _has_partner(layout, axle, wheels):
        facts.append(Fact(Witness.PARTNER, True))
    if axle.is_listed or axle.is_commanded:
        facts.append(Fact(Witness.ELEMENT, True))
    if axle.is_named:
        facts.append(Fact(Witness.NAME, True))
    return tuple(facts)


# --- what a joint shows -----------------------------------------------------------------------


def _read_axles(layout: Layout) -> list[Candidate]:
    """Meshes are read last, and not where an arm's wrist hangs far above the wheels."""
    joints = [j for j in layout.joints.values() if _could_roll(layout, j)]
    axles = {j.name: _read_axle(layout, j, find_wheel_rim(layout, j, meshes=False))
             for j in joints}
    drawn = [j for j in joints if axles[j.name].rim is None]
    for joint in sorted(drawn, key=lambda j: not _is_plausible(axles[j.name])):
        axle = axles[joint.name]
        if not _is_plausible(axle):
            known = [a for a in axles.values() if a.rim and _is_plausible(a)]
            if known and axle.height - min(a.bottom for a in known) > 2 * max(
                    a.rim.radius for a in known if a.rim):
                continue
        axles[joint.name] = _read_axle(layout, joint, find_wheel_rim(layout, joint))
    rims = ([a.rim.radius for a in axles.values() if a.rim and _is_plausible(a)]
            or [a.rim.radius for a in axles.values() if a.rim]
            or [a.misplaced for a in axles.values() if a.misplaced])
    usual = median(rims or [0.0])
    return [replace(axle, usual=usual) for axle in axles.values()]


def _is_plausible(axle: Candidate) -> bool:
    return not axle.carries and (axle.is_free or axle.is_called)


def _could_roll(layout: Layout, joint: Joint) -> bool:
    level = is_horizontal(layout, joint) or has_camber(layout, joint)
    if not joint.turns or not level or is_handle(layout, joint):
        return False
    above = layout.above.get(layout.body(joint.parent))
    if above is not None and above.turns and joint in roller_joints(layout, above):
        return False
    return not is_ball_joint(layout, joint.child) and not is_loose_ball(layout, joint)


def _read_axle(layout: Layout, joint: Joint, rim: Rim | None) -> Candidate:
    X = layout.X_RL[joint.child]
    centre = np.zeros(3) if rim is None else np.array(rim.centre)
    carried, rollers = layout.carried_joints(joint.child), roller_joints(layout, joint)
    wrong = None if rim is not None else (crossed_cylinder(layout, joint)
                                          or beside_cylinder(layout, joint))
    return Candidate(
        joint, rim,
        is_free=joint.is_free,
        is_named=has_word(layout, joint.child),
        is_listed=any(joint.name in plugin.wheels for plugin in layout.elements.drives),
        is_commanded=any(c.joint == joint.name and c.interfaces == {Interface.VELOCITY}
                         for c in layout.elements.commands),
        rollers=bool(rollers),
        carries=len(carried) > len(rollers),
        misplaced=None if wrong is None else wrong[0],
        height=float(X[2, 3] + X[2, :3] @ centre))


def is_handle(layout: Layout, joint: Joint) -> bool:
    """Whether a joint only leads others by `<mimic>`: something on those can touch the ground, and
    nothing on it."""
    led = [layout.joints[name_of(mimic.getparent())]
           for mimic in layout.source.root.findall("joint/mimic")
           if mimic.get("joint") == joint.name]
    return not _collides(layout, joint) and any(_collides(layout, other) for other in led)


def _collides(layout: Layout, joint: Joint) -> bool:
    return any(map(layout.shapes, layout.rigid(joint.child)))


def is_ball_joint(layout: Layout, link: str) -> bool:
    """Whether a ball turns every way about its own centre, by joints on different level axes."""
    for shape in layout.shapes(link):
        if shape.kind != "sphere":
            continue
        centre = (layout.X_RL[link] @ [*shape.centre, 1.0])[:3]
        axes = []
        for joint in reversed(layout.path(link)):
            axis, at = layout.axis_R(joint), layout.X_RL[joint.child][:3, 3]
            off = np.linalg.norm(np.cross(axis, centre - at))
            if joint.turns and off < _CENTRED * shape.size[0]:
                axes.append(axis[:2])
            elif joint.moves:
                break
        if len(axes) > 1 and np.linalg.matrix_rank(np.array(axes), tol=0.1) == 2:
            return True
    return False


def turn_about_root(layout: Layout) -> list[Joint]:
    """The joints that turn about the centre of a root which is a ball, on different level axes;
    none where it is not so."""
    shapes = layout.shapes(layout.root)
    if [s.kind for s in shapes] != ["sphere"]:
        return []
    about = [j for j in layout.joints.values() if j.turns and np.linalg.norm(np.cross(
        layout.axis_R(j), shapes[0].centre - layout.X_RL[j.child][:3, 3]))
        < _CENTRED * shapes[0].size[0]]
    axes = np.array([layout.axis_R(j)[:2] for j in about]).reshape(-1, 2)
    return about if np.linalg.matrix_rank(axes, tol=0.1) == 2 else []


def has_word(layout: Layout, link: str) -> bool:
    """Whether a name of a link, of what is fixed to it or of the joints that hold them has a word
    for wheel."""
    names = [name for part in layout.rigid(link)
             for name in (part, *([layout.above[part].name] if part in layout.above else []))]
    return any(matches_name(word, *names) for word in _WORDS)


def _has_partner(layout: Layout, axle: Candidate, axles: Sequence[Candidate]) -> bool:
    """Whether another round axle of the same size lies on the same line."""
    return any(_offset(layout, axle, other) is not None for other in axles
               if other.rim and axle.rim
               and abs(other.rim.radius - axle.rim.radius) < _ALIKE * axle.rim.radius)


def _is_shaft(layout: Layout, axle: Candidate, axles: Sequence[Candidate]) -> bool:
    """Whether something larger turns beside it on the same line, so that it can never reach the
    ground: a gear, a pulley or a brake disc."""
    for other in axles:
        along = _offset(layout, axle, other)
        if (along is not None and other.rim and axle.rim
                and other.rim.radius > axle.rim.radius + axle.slack and along < other.rim.radius):
            return True
    return False


def _offset(layout: Layout, axle: Candidate, other: Candidate) -> float | None:
    """How far two axles are apart [m] along the line that they share; None if they do not."""
    if other.joint is axle.joint:
        return None
    direction, second = layout.axis_R(axle.joint), layout.axis_R(other.joint)
    p = layout.X_RL[other.joint.child][:3, 3] - layout.X_RL[axle.joint.child][:3, 3]
    along = float(abs(direction @ p))
    if np.linalg.norm(np.cross(direction, second)) > 0.1:
        return None
    return along if np.linalg.norm(p - direction * (direction @ p)) < axle.slack else None


# --- the ground -------------------------------------------------------------------------------


def _find_floor(layout: Layout, axles: Sequence[Candidate]) -> float | None:
    """Height of the plane that the wheels stand on, in the root's frame [m].

    The lowest plane of rims that more than one source supports: several axles reach it, the file's
    base_footprint lies in it, or one of its axles is called a wheel. Without one, the lowest of
    all; none, or base_footprint, where that is above axles of wheels that are called so.
    """
    mark = footprint(layout)
    leaves = [a for a in axles if not a.carries]
    known = ([a for a in leaves if a.rim and _is_plausible(a)] or [a for a in leaves if a.rim]
             or [a for a in leaves if a.misplaced and a.is_free] or [a for a in axles if a.rim])
    if not known:
        return None if mark is None else mark[1]
    planes: list[list[Candidate]] = []
    for axle in sorted(known, key=lambda a: a.bottom):
        if planes and axle.bottom - planes[-1][0].bottom <= axle.slack:
            planes[-1].append(axle)
        else:
            planes.append([axle])
    marked = [p for p in planes if mark and abs(p[0].bottom - mark[1]) <= p[0].slack]
    called = [p for p in planes if any(a.is_called for a in p)]
    bare = [a.height for a in leaves if a.is_called and a.is_free and not a.rim]
    if not marked and not called and bare and min(bare) <= planes[0][0].bottom:
        return None if mark is None else mark[1]
    if not marked and len(planes[0]) == 1:
        # a motor alone may be that of a drum, or of a gripper
        words = [p for p in planes if any(a.is_named or a.is_listed for a in p)] or called
        marked = [] if planes[0] in words else words
    return [*marked, planes[0]][0][0].bottom
