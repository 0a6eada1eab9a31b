"""Vehicles that ideal rolling keeps from turning, and what gives way then: rollers, or tyres that
scrub."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...checks import read_number
from ...errors import FEW, InputError, ModelError, Remedy, listed
from ..description import SKID_MODELS, FoundWheel, MidAxle, Released, Scrubbing, Skid
from ..layout import Joint, Layout, matches_name, to_words
from ..notice import Notice, NoticeKind
from ..remedy import option, suggest
from ..wheel import Wheel
from .axis_hints import is_upright
from .axle_lines import (
    Meeting,
    angle_between,
    group_by_axle,
    group_by_body,
    is_rectangle,
    meet,
)
from .kinds import (
    find_contradictions,
    fit_rollers,
    identify_wheel,
    list_names,
    say,
    type_wheels,
    usual_mecanum,
)
from .listed_wheels import Origin
from .rims import PARALLEL
from .stance import AUXILIARY, BESIDE, centre_R, on_one_axle
from .swivels import is_swivel

# parts of the names of links of a tracked vehicle
_TRACK = "track(?!e|ing|_?cam|_?ball)|crawler|raupe|chenille|oruga"
SkidArgument = str | float | Sequence[str] | Skid | None      # as users write it


def read_skid(value: SkidArgument) -> Skid | None:
    """What gives way: "mid-axle", a positive track factor, names of wheels, or "coulomb"; None is
    nothing.
    """
    if value is None or isinstance(value, MidAxle | Released | Scrubbing):
        return value
    if isinstance(value, str):
        return SKID_MODELS[value] if value in SKID_MODELS else Released((value,))
    if isinstance(value, (int, float)):
        return MidAxle(read_number("skid", value, "a positive track factor, 1 for the true track "
                                   "and more for the usual scrubbing", above=0))
    names = tuple(value) if isinstance(value, Sequence) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"skid {value!r} must be 'mid-axle', 'coulomb', a track factor such as "
                         "1.5, or names of wheels whose sideways grip is released")
    return Released(names)


def check_released(skid: Skid | None, wheels: Sequence[Wheel], origin: Origin) -> None:
    """Raises an error that lists the wheels there are where one to release has no such name."""
    names = [w.name for w in wheels]
    for name in skid.wheels if isinstance(skid, Released) else ():
        if name not in names:
            raise origin.error(f"{name!r} is neither 'mid-axle' nor 'coulomb' nor the name of a "
                               "wheel whose sideways grip is released; the wheels are "
                               f"{listed(names)}")


@dataclass(frozen=True)
class Turning:
    """What lets a vehicle turn."""

    contacts: list[FoundWheel]  # all of them, with rollers where they have some
    skid: Skid | None  # what gives way; None where nothing has to
    notices: list[Notice]  # what was assumed, to be read before all others


def choose_turning(layout: Layout, contacts: Sequence[FoundWheel], steering: Collection[str],
                   skid: Skid | None, *, held: Mapping[str, float], inferred: bool) -> Turning:
    """How the wheels of each body let it turn, and what gives way where ideal rolling forbids it.

    Wheels on parallel axles of one body only roll straight. They have rollers if the file says so;
    otherwise a body that nothing steers skids about its middle, and of a trailer's axles, or those
    behind a steered axle, one rolls and the others slip sideways. With the user's `skid` nothing is
    assumed. If a joint that the user `held` [rad, m] would steer, going straight is intended. Only
    `inferred` wheels, which were not listed, may change their kind.
    """
    found, notices = list(contacts), list[Notice]()
    if inferred and skid is None:
        found, notices = fit_rollers(layout, found, steering)
    else:
        notices = find_contradictions(layout, found, steering)
    notices += _report_unsteered(layout, [c.wheel for c in found], steering)
    if isinstance(skid, MidAxle | Scrubbing):
        return Turning(found, skid, notices)
    released = skid.wheels if skid else ()
    wheels = [c.wheel for c in found]
    if skid is None and _scrub(layout, wheels, steering):
        return Turning(found, Scrubbing(), notices)
    # what slides by friction forbids nothing
    holding = [w for w in wheels if w.name not in released and w.law != "coulomb"]
    bodies = group_by_body(layout, holding, steering)
    on_purpose = [name for name in held if _would_steer(layout, wheels, name)]
    straight = {}
    for above, group in bodies.items():
        match meet(layout, group):
            case Meeting.NOWHERE, _ if on_purpose and not above:
                raise _held_error(group, on_purpose, held)
            case Meeting.NOWHERE, _ if inferred:
                raise _crossing_error(layout, group, found)
            case Meeting.POINT, np.ndarray() as centre if not above:
                notices.append(_circle_notice(layout, group, found, centre))
            case Meeting.PARALLEL, _ if not on_purpose:
                _check_steering(layout, group, found, steering)
                straight[above] = group
    others = [above for above in bodies if above and not is_swivel(layout, above[-1], wheels)]
    if skid is None and [*straight] == [()] and not others and len(straight[()]) > 3:
        return Turning(found, MidAxle(), [*notices, _skid_notice(layout, straight[()], found)])
    kept = [_choose_axle(layout, group, wheels) for group in straight.values()]
    slips = {above: [w.name for w in group if w not in axle]
             for (above, group), axle in zip(straight.items(), kept)
             if len(group) > 2 and skid is None}
    for (above, group), axle in zip(straight.items(), kept):
        rest = [*released, *(name for other in slips if other != above for name in slips[other])]
        notices.append(_release_notice(layout, group, axle, rest, above in slips))
    released += tuple(name for names in slips.values() for name in names)
    return Turning(found, Released(released) if released else None, notices)


def _scrub(layout: Layout, wheels: Sequence[Wheel], steering: Collection[str]) -> bool:
    """Whether the wheels fixed to the base are on parallel axles and all slide by friction."""
    base = group_by_body(layout, wheels, steering).get((), [])
    return (bool(base) and all(wheel.law == "coulomb" for wheel in base)
            and meet(layout, base)[0] is Meeting.PARALLEL)


def _check_steering(layout: Layout, group: Sequence[Wheel], contacts: Sequence[FoundWheel],
                    steering: Collection[str]) -> None:
    """Raises `ModelError` where a joint above some of the wheels should let them turn and cannot:
    one about the wheel's own axle, or an upright one that its limits hold."""
    paths = [layout.path(layout.carrier(c.wheel)) for c in contacts]
    own = [[j for j in layout.path(layout.carrier(wheel))
            if j.turns and not all(j in path for path in paths)] for wheel in group]
    for wheel, (*above, rolling) in zip(group, own):
        for joint in above:
            if _is_coaxial(layout, joint, rolling, wheel.radius):
                raise layout.source.error(
                    joint.element,
                    f"turns about the axle of the wheel on {rolling.name!r}, so it can neither "
                    "steer nor roll it, and the robot could only go straight; if it steers, its "
                    f'axis is upright: <axis xyz="{_upright(layout, joint)}"/>, with limits')
            if is_upright(layout, joint) and joint.lower == joint.upper:
                names = [j.name for joints in own for j in joints
                         if is_upright(layout, j) and j.lower == j.upper]
                raise ModelError(
                    f"{layout.source.at(joint.element)}: would steer a wheel, but its limits are "
                    f"both {joint.lower:g}, so the robot could only go straight",
                    suggest("Correct its <limit>, or let it turn without limits: ",
                            option("free", list(dict.fromkeys(names)))))


def _report_unsteered(layout: Layout, wheels: Sequence[Wheel],
                      steering: Collection[str]) -> list[Notice]:
    """A notice about wheels that nothing steers beside one on the same axle that a joint steers."""
    bodies = group_by_body(layout, wheels, steering)
    steered = [w for above, group in bodies.items() for w in group
               if above and not is_swivel(layout, above[-1], wheels)]
    beside = {w: other for w in bodies.get((), []) for other in steered
              if on_one_axle(layout, [w, other])}
    if not beside:
        return []
    moving = {j.name: to_words(layout.axis_R(j)) for w in beside
              for j in layout.path(layout.carrier(w))[:-1] if j.moves}
    why = "; ".join(f"{name} turns about ({axis})" for name, axis in moving.items())
    return [Notice(NoticeKind.LOCKED_STEERING,
                   f"{list_names([*beside])}: not steered, although "
                   f"{list_names([*beside.values()])} on the same axle is"
                   + f": {why}, and not about the vertical" * bool(why))]


def _is_coaxial(layout: Layout, joint: Joint, other: Joint, radius: float) -> bool:
    """Whether two joints turn about one line, as wheels of a radius have it."""
    axis = layout.axis_R(other)
    between = layout.X_RL[joint.child][:3, 3] - layout.X_RL[other.child][:3, 3]
    return bool(np.linalg.norm(np.cross(layout.axis_R(joint), axis)) < PARALLEL
                and np.linalg.norm(np.cross(between, axis)) < BESIDE * radius)


def _upright(layout: Layout, joint: Joint) -> str:
    """The vertical in the frame of a joint, as a file has it."""
    return to_words(layout.X_RL[joint.child][2, :3])


def _straight(layout: Layout, group: Sequence[Wheel]) -> str:
    return (f"nothing steers {len(group)} wheels on {len(group_by_axle(layout, group))} parallel "
            "axles, which without slip can only go straight")


def _skid_notice(layout: Layout, group: Sequence[Wheel],
                 contacts: Sequence[FoundWheel]) -> Notice:
    """Says that a vehicle is taken as skid steer, and what else it may be."""
    against = dict.fromkeys(s for w in group for s in identify_wheel(layout, w).against)
    text = (f"taken as skid steer: {_straight(layout, group)}; so they scrub, and the middle "
            "between the axles does not slip sideways")
    if tracks := [link for link in layout.links if matches_name(_TRACK, link)]:
        text += (f". {listed(tracks, FEW)}: by the name a track, of which only the wheels on the "
                 "ground are simulated, not the belt")
    if against:
        text += f", although {say(list(against), 'says', 'say')} otherwise"
    kept = _choose_axle(layout, group, group)
    released = tuple(w.name for w in group if w not in kept)
    mecanum: list[str | Remedy] = []
    if is_rectangle(layout, group):
        mecanum = [". If they are mecanum wheels: ",
                   option("wheels", type_wheels(contacts, usual_mecanum(layout, group)))]
    return Notice(NoticeKind.SKID, text, suggest(
        "With friction: ", option("skid", "coulomb"), "; with a wider apparent track: ",
        option("skid", 1.5), "; with one axle that holds while "
        "the others slip sideways: ", option("skid", released), *mecanum))


def _release_notice(layout: Layout, group: Sequence[Wheel], kept: Sequence[Wheel],
                    rest: Sequence[str], is_assumed: bool) -> Notice:
    """Says that wheels on parallel axles of one body only go straight, and which of them slip
    sideways; `rest`: those of other bodies that do. `is_assumed`: whether the user has not
    chosen, and there are more than two wheels."""
    released = [w.name for w in group if w not in kept]
    first = option("skid", (*rest, *released))
    other = option("skid", (*rest, *(w.name for w in kept)))
    text = _straight(layout, group)
    if not is_assumed:
        return Notice(NoticeKind.SKID, text, suggest("To let some slip sideways: ", first, " or ",
                                                     other))
    return Notice(
        NoticeKind.SKID,
        f"{text}; so {list_names(kept)} {'roll' if len(kept) > 1 else 'rolls'} and "
        f"{listed(released)} {'slip' if len(released) > 1 else 'slips'} sideways",
        suggest("To choose others that slip sideways: ", other))


def _choose_axle(layout: Layout, group: Sequence[Wheel],
                 wheels: Sequence[Wheel]) -> Sequence[Wheel]:
    """The wheels of that axle of a body which rolls on; `wheels`: those of all bodies."""
    middle = np.mean([centre_R(layout, w) for w in group], axis=0)
    above = [j for j in layout.path(layout.carrier(group[0]))[:-1] if j.turns]
    others = [centre_R(layout, w) for w in wheels if w not in group]
    pivot = layout.X_RL[above[-1].child][:3, 3] if above else np.mean(others or [middle], axis=0)
    largest = max(w.radius for w in group)

    def rank(axle: Sequence[Wheel]) -> tuple[float, ...]:
        """The least for driven axles, those of wheels that are not less than half as large as
        others, those with more wheels, the nearest to the middle, the farthest from what draws the
        body or steers it."""
        at = np.mean([centre_R(layout, w) for w in axle], axis=0)
        from_middle, from_pivot = (float(np.linalg.norm(at - p)) for p in (middle, pivot))
        return (not any(layout.elements.rolls(w.name) for w in axle),
                max(w.radius for w in axle) < AUXILIARY * largest, -len(axle),
                round(from_middle, 3), -round(from_pivot, 3))
    return min(group_by_axle(layout, group), key=rank)


def _circle_notice(layout: Layout, group: Sequence[Wheel], contacts: Sequence[FoundWheel],
                   centre: np.ndarray) -> Notice:
    x, y = np.round(centre, 4) + 0.0
    omni = [replace(w, kind="omni") for w in group]
    return Notice(NoticeKind.SKID,
                  f"{list_names(group)}: nothing steers their axles, which meet at ({x:g}, {y:g}) "
                  f"m of {layout.root!r}: the robot can only roll in circles about this point",
                  suggest("If these are omni wheels: ",
                          option("wheels", type_wheels(contacts, omni))))


def _held_error(group: Sequence[Wheel], steering: Sequence[str],
                held: Mapping[str, float]) -> ModelError:
    first, *others = steering
    text = (f"{listed(steering)}: held as given, the axles of {list_names(group)} do not meet in "
            "one point, so the robot could not move")
    if not others:
        return ModelError(text)
    kept = {name: angle for name, angle in held.items() if name not in others}
    return ModelError(text, suggest(f"Hold {first} alone, which the others then follow: ",
                                    option("locked", kept)))


def _crossing_error(layout: Layout, group: Sequence[Wheel],
                    contacts: Sequence[FoundWheel]) -> ModelError:
    omni = type_wheels(contacts, [replace(w, kind="omni") for w in group])
    other = max(group, key=lambda w: angle_between(layout, w, group[0]))
    return ModelError(
        f"{layout.source.label}: the axles of {group[0].name} and {other.name} are not parallel, "
        f"nothing steers them, and those of {list_names(group)} do not meet in one point: rolling "
        "without slip, the robot could not move",
        suggest("If these are omni wheels, list them as such: ", option("wheels", omni)))


def _would_steer(layout: Layout, wheels: Sequence[Wheel], name: str) -> bool:
    """Whether a joint could steer some wheels, and not only turn the whole robot."""
    joint = layout.joints[name]
    carried = [joint in layout.path(layout.carrier(w)) for w in wheels]
    return joint.turns and is_upright(layout, joint) and any(carried) and not all(carried)
