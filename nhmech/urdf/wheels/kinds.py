"""Tyres or rollers: what the wheels of a file have, judged by what is seen, told, named and drawn.

Each source gives clues. The first source whose clues agree decides, and a notice names the later
ones that say otherwise, so that no source overrules another in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import zip_longest
from math import pi
from pathlib import PurePosixPath
from typing import TypeAlias

import numpy as np

from ...errors import listed
from ..description import FoundWheel
from ..elements import DriveType, recognise
from ..layout import Layout
from ..notice import Notice, NoticeKind
from ..remedy import option, suggest, wheel_fields
from ..wheel import Wheel
from .axle_lines import Meeting, angle_between, group_by_body, is_rectangle, meet, surround
from .rollers import Rollers, find_rollers, find_tyre
from .stance import AUXILIARY, ahead_of, axle_R, centre_R
from .swivels import is_caster, is_idle_caster


class Tread(Enum):
    """What touches the ground; the value is how messages call such wheels."""

    TYRES = "plain tyres"
    MECANUM = "mecanum wheels"
    OMNI = "omni wheels"


@dataclass(frozen=True)
class Clue:
    """What one source says of one wheel."""

    tread: Tread
    source: str


@dataclass(frozen=True)
class TreadVerdict:
    """What a wheel is, by all sources."""

    tread: Tread | None = None  # None if the file does not say
    sources: tuple[str, ...] = ()  # what says so, the best evidence first
    against: tuple[str, ...] = ()  # what says otherwise
    rollers: Rollers | None = None
    is_own: bool = False  # whether the best evidence is about this wheel, and not about the robot

    @property
    def rolls_sideways(self) -> bool:
        """Whether it has rollers."""
        return self.tread in (Tread.MECANUM, Tread.OMNI)


# wheels with their verdicts, and why besides them
_Part: TypeAlias = "tuple[list[Wheel], list[TreadVerdict], str]"
_ACROSS = 0.5  # sine of the angle between axles that cross
SAID = 2       # of several sources, that a notice names
_TREADS = {
    DriveType.DIFFERENTIAL: Tread.TYRES,
    DriveType.SKID_STEER: Tread.TYRES,
    DriveType.ACKERMANN: Tread.TYRES,
    DriveType.TRICYCLE: Tread.TYRES,
    DriveType.MECANUM: Tread.MECANUM,
    DriveType.OMNI: Tread.OMNI,
}
_WORDS = (("mecanum", Tread.MECANUM), ("swedish", Tread.MECANUM), ("omni", Tread.OMNI),
          ("holonomic", Tread.OMNI))


def identify_wheel(layout: Layout, wheel: Wheel) -> TreadVerdict:
    """What a wheel on a joint is, by every source of the file."""
    assert wheel.joint is not None, "only a wheel that rolls has a tread"
    rollers = find_rollers(layout, layout.joints[wheel.joint])
    tread, is_own = None, False
    sources: list[str] = []
    against: list[str] = []
    for ask in _SOURCES:
        if ask is _read_mesh and tread is Tread.TYRES:
            continue                   # meshes are large, and this one would add nothing
        clues = _see(rollers) if ask is None else list(ask(layout, wheel))
        if tread is None and len({clue.tread for clue in clues}) == 1:
            tread, is_own = clues[0].tread, ask in _OWN
        for clue in clues:
            agrees = (clue.tread is Tread.TYRES) == (tread is Tread.TYRES)
            (sources if tread is not None and agrees else against).append(clue.source)
    if tread is None:
        return TreadVerdict(against=tuple(dict.fromkeys(against)))
    return TreadVerdict(tread, tuple(dict.fromkeys(sources)), tuple(dict.fromkeys(against)),
                        rollers, is_own)


def _see(rollers: Rollers | None) -> list[Clue]:
    if rollers is None:
        return []
    return [Clue(Tread.MECANUM if rollers.is_oblique else Tread.OMNI, rollers.source)]


def _find_swivel(layout: Layout, wheel: Wheel) -> Iterable[Clue]:
    """Evidence: a caster that could not turn is drawn above a wheel that rolls in any
    direction."""
    for joint in layout.path(layout.carrier(wheel)):
        if is_idle_caster(layout, joint, [wheel]):
            yield Clue(Tread.OMNI, "upright joints above them that have neither trail nor motor")


def _find_fixed_caster(layout: Layout, wheel: Wheel) -> Iterable[Clue]:
    """Evidence: a caster that is fixed above a wheel with a motor, which no caster has."""
    if layout.elements.rolls(wheel.name) and any(not joint.moves and is_caster(layout, joint.child)
                                                 for joint in layout.path(layout.carrier(wheel))):
        yield Clue(Tread.OMNI, "fixed casters above wheels with motors")


def _read_plugins(layout: Layout, wheel: Wheel) -> Iterable[Clue]:
    for plugin in layout.elements.drives:
        if plugin.drive in _TREADS and wheel.joint in (plugin.wheels or (wheel.joint,)):
            yield Clue(_TREADS[plugin.drive], f"the plugin {plugin.name!r}")


def _read_names(layout: Layout, wheel: Wheel) -> Iterable[Clue]:
    """Evidence: words in the names of the wheel's joint, links and meshes."""
    joint = layout.joints[wheel.name]
    links = layout.rigid(joint.child)
    meshes = [PurePosixPath(shape.mesh).name for link in links for tag in ("visual", "collision")
              for shape in layout.shapes(link, tag=tag)]
    for name in dict.fromkeys((joint.name, *links, *meshes)):
        for word, tread in _WORDS:
            if word in name.lower():
                yield Clue(tread, f"the name {name!r}")
                break


def _read_mesh(layout: Layout, wheel: Wheel) -> Iterable[Clue]:
    mesh = find_tyre(layout, layout.joints[wheel.name])
    if mesh is not None:
        yield Clue(Tread.TYRES, f"the tyre in the mesh {mesh!r}")


def _rubbing(layout: Layout, wheel: Wheel) -> Iterable[Clue]:
    """Evidence: friction along one oblique direction only."""
    for link in layout.rigid(layout.joints[wheel.name].child):
        friction = layout.elements.friction.get(link)
        if friction is not None and friction.is_oblique:
            yield Clue(Tread.MECANUM, "the friction along <fdir1>")


def _read_planar_plugins(layout: Layout, wheel: Wheel) -> Iterable[Clue]:
    """Evidence: plugins that move the model sideways too."""
    for plugin in layout.elements.drives:
        if plugin.drive is DriveType.PLANAR:
            yield Clue(Tread.OMNI, f"the plugin {plugin.name!r}")


def _read_robot_names(layout: Layout, wheel: Wheel) -> Iterable[Clue]:
    """Evidence: names of the robot, its hardware and its controllers."""
    for name in (layout.source.root.get("name", ""), *layout.elements.words):
        tread = next((t for word, t in _WORDS if word in name.lower()), None)
        if tread is None and (drive := recognise(name)) is not None:
            tread = _TREADS.get(drive)
        if tread is not None:
            yield Clue(tread, f"the name {PurePosixPath(name).name!r}")


# the best evidence first; None is what is seen of rollers
_SOURCES: tuple[Callable[[Layout, Wheel], Iterable[Clue]] | None, ...] = (
    None, _find_swivel, _read_plugins, _read_names, _read_mesh, _rubbing, _find_fixed_caster,
    _read_planar_plugins, _read_robot_names)
_OWN = (None, _find_swivel, _read_names, _read_mesh, _rubbing)


def usual_mecanum(layout: Layout, wheels: Sequence[Wheel],
                  verdicts: Sequence[TreadVerdict] = ()) -> list[Wheel]:
    """The wheels as mecanum wheels, with rollers at the angles that the file gives, or else as
    usually assembled: seen from above, the rollers on the ground form a diamond."""
    middle = np.mean([centre_R(layout, w) for w in wheels], axis=0)
    left = axle_R(layout, wheels[0])   # or right: the diagonals are the same
    forward = ahead_of(left)
    found = []
    for wheel, verdict in zip_longest(wheels, verdicts):
        offset = centre_R(layout, wheel) - middle
        angle = -pi / 4 if (forward @ offset > 0) == (left @ offset > 0) else pi / 4
        told = None if verdict is None else _find_angle(layout, wheel, verdict)
        found.append(replace(wheel, kind="mecanum",
                             roller_angle=angle if told is None else told[0]))
    return found


def _find_angle(layout: Layout, wheel: Wheel, verdict: TreadVerdict) -> tuple[float, str] | None:
    """The roller angle [rad] of a mecanum wheel, and the source of it; None without a source."""
    if verdict.rollers is not None and verdict.rollers.turn and verdict.rollers.is_oblique:
        return verdict.rollers.angle, "the joints of the rollers"
    frictions = (layout.elements.friction.get(link)
                 for link in layout.rigid(layout.carrier(wheel)))
    for friction in frictions:
        if (friction is not None and friction.is_oblique and friction.frame in layout.links
                and layout.body(friction.frame) == layout.root):
            axle = axle_R(layout, wheel)
            along = layout.X_RL[friction.frame][:3, :3] @ np.array(friction.direction)
            angle = np.arctan2(along @ ahead_of(axle), along @ axle)
            return float(pi / 2 - (pi / 2 - angle) % pi), "<fdir1>"
    return None


def fit_rollers(layout: Layout, contacts: Sequence[FoundWheel],
                 steering: Collection[str]) -> tuple[list[FoundWheel], list[Notice]]:
    """The contacts, those of the base with rollers where the file says so, and a notice for each
    sort."""
    group = group_by_body(layout, [c.wheel for c in contacts], steering).get((), [])
    crossing = _find_crossing(layout, group)
    parts = _fit_group(layout, [w for w in group if w not in crossing])
    if crossing:
        parts.append(([replace(w, kind="omni") for w in crossing], [*crossing.values()],
                      "they are less than half as large as the wheels whose axles they cross, and "
                      "measure"))
    replaced = {w.name: w for wheels, _, _ in parts for w in wheels}
    found = [replace(c, wheel=replaced.get(c.wheel.name, c.wheel)) for c in contacts]
    return found, [_roller_notice(layout, wheels, its, found, why) for wheels, its, why in parts]


def _find_crossing(layout: Layout, group: Sequence[Wheel]) -> dict[Wheel, TreadVerdict]:
    """Small wheels across large ones on parallel axles, which as tyres would bar their way."""
    largest = max((w.radius for w in group), default=0.0)
    large = [w for w in group if w.radius >= AUXILIARY * largest]
    if len(large) < 2 or meet(layout, large)[0] not in (Meeting.LINE, Meeting.PARALLEL):
        return {}
    verdicts = {w: identify_wheel(layout, w) for w in group
                if w not in large and angle_between(layout, w, large[0]) > _ACROSS}
    return {w: verdict for w, verdict in verdicts.items() if verdict.tread is not Tread.TYRES}


def _fit_group(layout: Layout, group: Sequence[Wheel]) -> list[_Part]:
    """Wheels of one body that have rollers."""
    meeting, centre = meet(layout, group) if len(group) > 2 else (Meeting.LINE, None)
    if meeting is Meeting.LINE:
        return []
    verdicts = [identify_wheel(layout, w) for w in group]
    sideways = [v.rolls_sideways for v in verdicts]
    parts: list[_Part] = []
    if (centre is not None and surround(layout, group, centre)
            and not all(v.tread is Tread.TYRES for v in verdicts)):
        parts.append(([replace(w, kind="omni") for w in group], verdicts,
                      "their axles meet amid them"))
    elif meeting is Meeting.PARALLEL and all(sideways) and is_rectangle(layout, group):
        if all(v.tread is Tread.OMNI and v.rollers is not None for v in verdicts):
            wheels = [replace(w, kind="omni") for w in group]
        else:
            wheels = usual_mecanum(layout, group, verdicts)
        parts.append((wheels, verdicts, ""))
    else:
        own = [(w, v) for w, v in zip(group, verdicts) if v.rolls_sideways and v.is_own]
        oblique = [(w, v) for w, v in own if v.tread is Tread.MECANUM]
        # beside them there may be others, such as those that only measure
        if is_rectangle(layout, [w for w, _ in oblique]):
            wheels, its = [w for w, _ in oblique], [v for _, v in oblique]
            parts.append((usual_mecanum(layout, wheels, its), its, ""))
            own = [(w, v) for w, v in own if w not in wheels]
        if own:
            parts.append(([replace(w, kind="omni") for w, _ in own], [v for _, v in own], ""))
        sizes = {w.name: w.radius for wheels, _, _ in parts for w in wheels}
        small = [(w, v) for w, v in zip(group, verdicts)
                 if w.name not in sizes and v.tread is not Tread.TYRES
                 and w.radius < AUXILIARY * min(sizes.values(), default=0.0)]
        if small:
            parts.append(([replace(w, kind="omni") for w, _ in small], [v for _, v in small],
                          "they are less than half as large as the wheels with rollers beside "
                          "them, and measure"))
    return parts


def _roller_notice(layout: Layout, wheels: Sequence[Wheel], verdicts: Sequence[TreadVerdict],
                   contacts: Sequence[FoundWheel], why: str) -> Notice:
    sources = list(dict.fromkeys(s for v in verdicts if v.rolls_sideways for s in v.sources))
    against = list(dict.fromkeys(s for v in verdicts for s in v.against))
    kind = wheels[0].kind
    reasons = [f"because {why}"] * bool(why) + [f"by {say(sources)}"] * bool(sources)
    text = f"{list_names(wheels)}: taken as {kind} wheels, {' and '.join(reasons)}"
    if against:
        text += f", although {say(against, 'speaks', 'speak')} against it"
    if kind != "mecanum" and why:      # as plain tyres they could turn on the spot at most
        return Notice(NoticeKind.ROLLERS, text)
    if kind != "mecanum":
        discs = [replace(w, kind="disc") for w in wheels]
        return Notice(NoticeKind.ROLLERS, text, suggest(
            "If they are plain tyres after all: ",
            option("wheels", type_wheels(contacts, discs))))
    degrees = ", ".join(f"{np.degrees(w.roller_angle or 0):+.3g}" for w in wheels)
    told = [_find_angle(layout, w, v) for w, v in zip(wheels, verdicts)]
    drawn = any(v.rollers is not None for v in verdicts)
    text += f". Their rollers are at {degrees} degrees to the axles, "
    if all(told):
        text += f"by {say(list(dict.fromkeys(who for _, who in filter(None, told))))}"
    else:
        text += "the usual assembly" + (", since meshes are often mirrored" if drawn else "")
    other = [replace(w, roller_angle=-(w.roller_angle or 0.0)) for w in wheels]
    return Notice(NoticeKind.ROLLERS, text, suggest(
        "If they are plain tyres that scrub: ", option("skid", "mid-axle"),
        ". If each roller is turned the other way: ",
        option("wheels", type_wheels(contacts, other))))


def find_contradictions(layout: Layout, contacts: Sequence[FoundWheel],
                        steering: Collection[str]) -> list[Notice]:
    """A notice where wheels that nothing steers, or their scrubbing, are the user's choice and not
    what the file says."""
    wheels = [c.wheel for c in contacts if c.wheel.joint is not None and c.wheel.traits.held
              and not any(j.name in steering for j in layout.path(layout.carrier(c.wheel)))]
    if len(wheels) < 3 or meet(layout, wheels)[0] is Meeting.LINE:
        return []
    wrong: dict[tuple[str, ...], list[str]] = {}
    for wheel in wheels:
        verdict = identify_wheel(layout, wheel)
        if verdict.tread is None or verdict.rolls_sideways == wheel.traits.has_rollers:
            continue
        if verdict.rolls_sideways and not verdict.is_own and not is_rectangle(layout, wheels):
            continue                   # a plugin that moves the model sideways says little alone
        key = (wheel.kind, verdict.tread.value, say(verdict.sources, "says", "say"))
        wrong.setdefault(key, []).append(wheel.name)
    return [Notice(NoticeKind.OTHER_KIND, f"{listed(names)}: {kind}, although {sources} {tread}")
            for (kind, tread, sources), names in wrong.items()]


def type_wheels(contacts: Sequence[FoundWheel], wheels: Sequence[Wheel]) -> list[dict[str, object]]:
    """All contacts as one types them, some of them replaced."""
    replaced = {w.name: w for w in wheels}
    return [wheel_fields(replaced.get(c.wheel.name, c.wheel)) for c in contacts]


def list_names(wheels: Sequence[Wheel]) -> str:
    return listed(w.name for w in wheels)


def say(sources: Sequence[str], one: str = "", many: str = "") -> str:
    """The sources, the first ones where there are many, with a verb in its number."""
    verb = one if len(sources) == 1 else many
    named, more = list(sources[:SAID]), len(sources) - SAID
    named += [f"{more} more"] if more > 1 else sources[SAID:]
    return " and ".join(named) + (f" {verb}" if verb else "")
