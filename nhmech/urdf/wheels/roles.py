"""What each joint is for: rolling, steering, released by the user, or locked; what leads it, and
whether it is driven."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import FEW, Remedy, did_you_mean, listed
from ..description import Mimic
from ..elements import DrivePlugin, DriveType
from ..layout import Joint, Layout, matches_name
from ..notice import Notice, NoticeKind
from ..remedy import option, suggest
from ..wheel import Wheel
from .listed_wheels import Origin, find_joint
from .rims import is_horizontal
from .stance import AUXILIARY, ahead_of, axle_R, centre_R
from .swivels import UPRIGHT, is_caster, is_idle_caster, is_swivel, steering_joints

_IN_LINE = 1e-3    # of a distance: what is that little to the side is straight behind
_HARDWARE = {"<ros2_control>", "<transmission>"}
# parts of the names of wheels with a motor
_MOTOR = "drive(?!r)|driving|traction|motor|propuls|antrieb"
_MEET = ": axles of steered wheels have to meet in one point, and "
CHOOSE = Remedy("To choose others: <drive joint=\"...\"/> in the <nhmech> of the file, or "
                "Wheel(..., driven=True)",
                "To choose others: <drive joint=\"...\"/> in the element that `nhmech inspect "
                "--tag` prints")


@dataclass(frozen=True)
class Roles:
    """Every moving joint is in exactly one of rolling, steering, free and locked (joint -> position
    [rad, m])."""

    rolling: tuple[str, ...]
    steering: tuple[str, ...]
    free: tuple[str, ...]
    locked: dict[str, float]

    @property
    def moving(self) -> tuple[str, ...]:
        """Joints that move: rolling, then steering, then free."""
        return self.rolling + self.steering + self.free


def assign_roles(layout: Layout, wheels: Sequence[Wheel], free: Sequence[str],
                 locked: Mapping[str, float],
                 in_file: Collection[str] = ()) -> tuple[Roles, list[Notice]]:
    """The role of every joint that can move, and notices.

    Steering is what rolling needs: of the continuous and revolute joints above a wheel that grips,
    with an axis within 45 degrees of the vertical, the nearest. One above all contacts is not
    needed, because the base floats, unless it is a turntable that carries a body with a mass; one
    above the joints of a leg only places the foot, but a ball coupling is the hitch of a trailer; a
    caster that nothing could turn is held.
    `locked` maps joints to positions [rad, m]; `in_file` are the `free` and `locked` joints that
    the file's `<nhmech>` names. Raises `InputError`, or `ModelError` if the file says so, for names
    that do not exist or do not move, a rolling joint that is to be locked, a joint both free and
    locked, and a position outside the joint's limits.
    """
    rolling = tuple(w.joint for w in wheels if w.joint is not None)
    notices: list[Notice] = []
    for name, position in locked.items():
        _check_lock(layout, name, position, rolling, free,
                    Origin.TAG if name in in_file else Origin.LOCKED)
    for name in free:
        _find_moving(layout, name, Origin.TAG if name in in_file else Origin.FREE)
    steering: list[str] = []
    for joint in steering_joints(layout, wheels):
        if joint.name in locked or (joint.name not in free
                                    and is_idle_caster(layout, joint, wheels)):
            continue
        if joint.lower == joint.upper and joint.name not in free:
            notices.append(Notice(NoticeKind.LOCKED_STEERING,
                                  f"{layout.source.at(joint.element)}: steers a wheel but its "
                                  f"limits are both {joint.lower:g}; it is locked"))
            continue
        steering.append(joint.name)
    released = tuple(dict.fromkeys(n for n in free if n not in rolling and n not in steering))
    moving = {*rolling, *steering, *released}
    rest = {j.name: float(locked.get(j.name, j.start)) for j in layout.joints.values()
            if j.moves and j.name not in moving}
    return Roles(rolling, tuple(steering), released, rest), notices


def report_held(roles: Roles, given: Collection[str]) -> list[Notice]:
    """One notice about the joints that are held without the user having said so."""
    held = {name: position for name, position in roles.locked.items() if name not in given}
    if not held:
        return []
    away = sum(position != 0 for position in held.values())
    where = "" if not away else f" ({away} at the limit nearest to it, or where <mimic> puts them)"
    are, joints = ("is", "joint") if len(held) == 1 else ("are", "joints")
    return [Notice(NoticeKind.HELD,
                   f"{len(held)} {joints} that rolling does not need {are} held at zero{where}: "
                   f"{listed(held, FEW)}",
                   suggest("To release one: ", option("free", [next(iter(held))])))]


def report_leaning(layout: Layout, wheels: Sequence[Wheel], roles: Roles,
                   given: Collection[str]) -> list[Notice]:
    """A notice about joints above some of the wheels that are held and lean: those of a skateboard
    steer as its deck tilts."""
    paths = [layout.path(layout.carrier(wheel)) for wheel in wheels]
    leaning = dict.fromkeys(
        joint.name for path in paths for joint in path
        if joint.name in roles.locked and joint.name not in given and joint.turns
        and not is_horizontal(layout, joint) and abs(layout.axis_R(joint)[2]) < UPRIGHT
        and not all(joint in other for other in paths))
    if not leaning:
        return []
    return [Notice(NoticeKind.LEANING_STEERING,
                   f"{listed(leaning)}: held, because only axes within 45 degrees of the vertical "
                   "steer; a truck that steers as its deck tilts is not simulated")]


def _find_moving(layout: Layout, name: str, origin: Origin) -> Joint:
    joint = find_joint(layout, name, origin)
    if not joint.moves:
        raise origin.error(f"{layout.source.at(joint.element)} is fixed and cannot move; leave it "
                           "out")
    return joint


def _check_lock(layout: Layout, name: str, position: float, rolling: Collection[str],
                free: Collection[str], origin: Origin) -> None:
    joint = _find_moving(layout, name, origin)
    if name in rolling:
        raise origin.error(f"{name!r} is the rolling joint of a wheel; to brake it, leave it "
                           "unlocked and command velocity 0")
    if name in free:
        raise origin.error(f"joint {name!r} is both free and locked; choose one")
    if not joint.lower <= position <= joint.upper:
        raise origin.error(f"position {position:g} of {name!r} is outside its limits "
                           f"{joint.lower:g} .. {joint.upper:g}")


def couple(layout: Layout, roles: Roles, given: Collection[str],
           wheels: Sequence[Wheel]) -> tuple[Roles, tuple[Mimic, ...], list[Notice]]:
    """`<mimic>` among the moving joints, the roles with locked followers moved along, and notices.

    Dropped, with a notice, on rolling and steering joints, but for one that couples front and rear
    where no axle is fixed: the others follow from it, or contradict it. A locked follower of a
    locked joint is held where its leader puts it; a locked follower of a free joint is freed with
    it. Joints that the user has `given` a position keep it.
    """
    mimics = _read_mimics(layout)
    roles, notices = _free_followers(roles, mimics, given)
    roles = _hold_followers(roles, mimics, given)
    kept = [m for m in mimics if _couples_ends(layout, roles, wheels, m)][:1]
    rows = [*kept, *(m for m in mimics if m.joint in roles.free and m.leader in roles.moving)]
    notices += [Notice(NoticeKind.DROPPED_MIMIC,
                       f"{m.joint}: its <mimic> of {m.leader} is dropped, because {m.leader} does "
                       "not move")
                for m in mimics if m.joint in roles.free and m.leader not in roles.moving]
    dropped = [m for m in mimics if m.joint in (*roles.rolling, *roles.steering) and m not in kept]
    if dropped:
        why = dict.fromkeys(_why_dropped(layout, roles, wheels, m) for m in dropped
                            if m.joint in roles.steering)
        notices.append(Notice(NoticeKind.DROPPED_MIMIC,
                              f"{', '.join(m.joint for m in dropped)}: <mimic> is dropped on "
                              "rolling and steering joints; rolling itself couples them"
                              f"{_MEET if why else ''}{', '.join(why)}"))
    return roles, tuple(rows), notices


def _couples_ends(layout: Layout, roles: Roles, wheels: Sequence[Wheel], mimic: Mimic) -> bool:
    """Whether two steering joints, one behind the other, turn alike or oppositely and nothing but
    them says where the robot turns: with that, rolling has one steering angle left. Wheels beside
    each other at equal angles would scrub."""
    above = [[joint.name for joint in layout.path(layout.carrier(wheel))
              if joint.name in roles.steering] for wheel in wheels if wheel.traits.held]
    apart = _apart(layout, roles, wheels, mimic)
    if (abs(mimic.multiplier) != 1 or mimic.offset or not all(above) or apart is None
            or any(is_swivel(layout, name, wheels) for name in (mimic.joint, mimic.leader))):
        return False
    axis, same = (layout.axis_R(layout.joints[name]) for name in (mimic.joint, mimic.leader))
    return _is_along(apart) and np.allclose(axis, same, rtol=0.0, atol=_IN_LINE)


def _is_along(apart: np.ndarray) -> bool:
    """Whether a way (2,) is along the first axis."""
    return bool(abs(apart[1]) < _IN_LINE * np.hypot(*apart))


def _apart(layout: Layout, roles: Roles, wheels: Sequence[Wheel],
           mimic: Mimic) -> np.ndarray | None:
    """How far the wheel that a joint steers is ahead and to the left (2,) [m] of its leader's; None
    where one of them does not steer one alone."""
    steered: dict[str, Wheel] = {}
    for wheel in wheels:
        names = [joint.name for joint in layout.path(layout.carrier(wheel))
                 if joint.name in roles.steering]
        if wheel.traits.held and wheel.axis is not None and len(names) == 1:
            steered[names[0]] = wheel
    one, other = steered.get(mimic.joint), steered.get(mimic.leader)
    if one is None or other is None:
        return None
    apart, left = centre_R(layout, one) - centre_R(layout, other), axle_R(layout, one)
    return np.array([apart @ ahead_of(left), apart @ left])


def _why_dropped(layout: Layout, roles: Roles, wheels: Sequence[Wheel], mimic: Mimic) -> str:
    """Why a `<mimic>` between steered wheels is not what their axles ask for."""
    apart = _apart(layout, roles, wheels, mimic)
    if apart is None or _is_along(apart[::-1]):
        return "those of wheels beside each other at equal angles are parallel"
    if _is_along(apart):
        return ("those of wheels one behind the other are linked once, by equal or opposite "
                "angles, where no axle is fixed")
    return "those of wheels at a diagonal do not at equal or opposite angles"


def _read_mimics(layout: Layout) -> list[Mimic]:
    """Of every joint that can move."""
    found = [(joint.name, joint.element.find("mimic")) for joint in layout.joints.values()
             if joint.moves]
    return [Mimic(name, element.get("joint", ""), layout.source.number(element, "multiplier", 1.0),
                  layout.source.number(element, "offset", 0.0))
            for name, element in found if element is not None]


def _free_followers(roles: Roles, mimics: Sequence[Mimic],
                    given: Collection[str]) -> tuple[Roles, list[Notice]]:
    """The roles with locked followers of free joints free, followers of followers too."""
    free, locked, notices = list(roles.free), dict(roles.locked), []
    for _ in mimics:                    # as often as a chain of followers can be long
        freed = [m for m in mimics if m.joint in locked and m.joint not in given
                 and m.leader in free]
        for m in freed:
            free.append(m.joint)
            del locked[m.joint]
            notices.append(Notice(NoticeKind.FREED_FOLLOWER,
                                  f"{m.joint}: is free because it mimics {m.leader}, which is "
                                  "free"))
    return replace(roles, free=tuple(free), locked=locked), notices


def _hold_followers(roles: Roles, mimics: Sequence[Mimic], given: Collection[str]) -> Roles:
    """The roles with locked followers of locked joints where their leaders put them."""
    locked = dict(roles.locked)
    for _ in mimics:
        for m in mimics:
            if m.joint in locked and m.joint not in given and m.leader in locked:
                locked[m.joint] = m.multiplier * locked[m.leader] + m.offset
    return replace(roles, locked=locked)


def choose_driven(layout: Layout, wheels: Sequence[Wheel], roles: Roles,
                  drive: Sequence[str] | None) -> tuple[tuple[str, ...], list[Notice]]:
    """The driven joints in the order of `roles.moving`, and notices, one of which says who names
    them.

    They are those of `<drive>`; else the wheels with a command interface in `<ros2_control>`, else
    those with a `<transmission>`, else those that a plugin drives, else the usual ones, and every
    other joint that one of these elements commands. `Wheel.driven` adds and removes some.
    """
    for name in drive or ():
        find_joint(layout, name, Origin.DRIVE)
        if name not in roles.moving:
            raise Origin.DRIVE.error(f"{layout.source.label}: joint {name!r} is locked; joints "
                                     f"that move: {', '.join(roles.moving)}; a wheel that is left "
                                     "out where wheels are listed is locked")
    told = {**{f"<{tag}>": [c.joint for c in layout.elements.commands if c.tag == tag]
               for tag in ("ros2_control", "transmission")},
            **{f"the plugin {plugin.name}": _driven_by(layout, plugin, roles)
               for plugin in layout.elements.drives},
            "<gazebo>": [c.joint for c in layout.elements.commands if c.tag == "gazebo"]}
    strangers = _find_strangers(layout, told)
    origin, chosen, notices, is_usual = _chosen_of_file(layout, wheels, roles, told)
    wanted = set(drive) if drive else chosen
    for wheel in wheels:
        if wheel.joint is not None and wheel.driven is not None:
            wanted = wanted | {wheel.joint} if wheel.driven else wanted - {wheel.joint}
    although = ""
    if not is_usual and wanted != chosen:
        although = f", although {origin} drives {listed(n for n in roles.moving if n in chosen)}"
    if drive:
        origin, notices, is_usual = "<nhmech>", [], False
    elif wanted != chosen:
        origin, is_usual = "the wheels given", False
    driven = tuple(name for name in roles.moving if name in wanted)
    notices = [*strangers, *notices]
    if driven:
        return driven, [*notices, Notice(NoticeKind.DRIVEN_FROM,
                                         f"driven joints from {origin}{although}",
                                         CHOOSE if is_usual else None)]
    return driven, [*notices, Notice(NoticeKind.NOT_DRIVEN, f"no joint is driven{although}")]


def _chosen_of_file(layout: Layout, wheels: Sequence[Wheel], roles: Roles,
                    told: Mapping[str, Sequence[str]]) -> tuple[str, set[str], list[Notice], bool]:
    """Who names the driven joints, these joints, notices, and whether the wheels among them are
    the usual ones.

    `told` maps elements to the joints that they command. Of the wheels, the first element that
    commands one is believed, for those after it are often left over from another simulator; a
    hinge, or a steering joint, that any of them commands has a motor; so has the steering if only
    wheels are told of as hardware.
    """
    origins: list[str] = []
    chosen: set[str] = set()
    notices: list[Notice] = []
    for element, names in told.items():
        named, more = _follow(layout, roles, [_joint_of(layout, name) for name in names])
        new = named - chosen - (set(roles.rolling) if chosen & set(roles.rolling) else set())
        if new:
            chosen |= new
            origins.append(element)
            notices += more
    if chosen & set(roles.rolling):
        left = {name for name in roles.steering if not is_swivel(layout, name, wheels)}
        # a plugin for two sides steers by their speeds
        if not left or chosen & left or not {*origins} <= _HARDWARE:
            return listed(origins), chosen, notices, False
        return (f"{listed(origins)}, and the steering, of which nothing is said there",
                chosen | left, notices, False)
    usual, which = _usual_drive(layout, wheels, roles)
    if chosen & set(roles.steering):
        return (f"{listed(origins)}, which {'names' if len(origins) == 1 else 'name'} no wheel; "
                f"by convention {which}"), chosen | usual & set(roles.rolling), notices, True
    return (f"convention, since the file does not say: the steering, and {which}", chosen | usual,
            notices, True)


def _joint_of(layout: Layout, name: str) -> str:
    """A joint's name; of a link that no joint is called after, the joint that it hangs on."""
    return name if name in layout.joints or name not in layout.above else layout.above[name].name


def _find_strangers(layout: Layout, told: Mapping[str, Sequence[str]]) -> list[Notice]:
    """Notices about names of joints to drive that no joint has."""
    notices = []
    for element, names in told.items():
        unknown = [name for name in dict.fromkeys(names) if name not in layout.joints]
        links = [name for name in unknown if name in layout.above]
        other = [name for name in unknown if name not in links]
        if links:
            notices.append(Notice(NoticeKind.UNKNOWN_JOINT,
                                  f"{element} names {listed(links)} as joints, but these are "
                                  "links; the joints that carry them are taken"))
        if other:
            notices.append(Notice(NoticeKind.UNKNOWN_JOINT,
                                  f"{element} names {listed(other, FEW)}, which the robot does "
                                  f"not have{did_you_mean(other[0], layout.joints)}"))
    return notices


def _driven_by(layout: Layout, plugin: DrivePlugin, roles: Roles) -> list[str]:
    """The joints that a plugin drives: its steering, and of an Ackermann car the wheels that do not
    steer."""
    wheels = [name for name in plugin.wheels if name not in plugin.idle]
    if plugin.drive is DriveType.ACKERMANN:
        fixed = [name for name in wheels if name in layout.joints
                 and not _is_steered(layout, layout.joints[name].parent, roles)]
        wheels = fixed or wheels
    return [*wheels, *plugin.steering]


def _is_steered(layout: Layout, link: str, roles: Roles) -> bool:
    return any(joint.name in roles.steering for joint in layout.path(link))


def _follow(layout: Layout, roles: Roles, names: Sequence[str]) -> tuple[set[str], list[Notice]]:
    """The named joints that move; for one that does not, the moving joints that mimic it."""
    chosen: set[str] = set()
    notices = []
    mimics = _read_mimics(layout)
    for name in names:
        if name in roles.moving:
            chosen.add(name)
            continue
        followers = [m.joint for m in mimics if m.leader == name and m.joint in roles.moving]
        if followers:
            chosen |= set(followers)
            notices.append(Notice(NoticeKind.DRIVEN_FOLLOWER,
                                  f"{name}: commanded in the file but does not move here; "
                                  f"{', '.join(followers)}, which mimic it, are driven instead"))
    return chosen, notices


def _usual_drive(layout: Layout, wheels: Sequence[Wheel], roles: Roles) -> tuple[set[str], str]:
    """Steering joints and the wheels with a motor, and which those are: the ones that names tell
    apart; else those that nothing steers, or all where all are steered or the others are rollers.

    Casters and what hangs on a swivel are left out.
    """
    swivels = {name for name in roles.steering if is_swivel(layout, name, wheels)}
    own = {wheel.joint: wheel for wheel in wheels if wheel.joint is not None
           and not is_caster(layout, layout.carrier(wheel))
           and not any(joint.name in swivels for joint in layout.path(layout.carrier(wheel)))}
    steering = {*roles.steering} - swivels
    named = {name for name in own if matches_name(_MOTOR, name, layout.joints[name].child)}
    if named and named != set(own):
        return steering | named, "the wheels whose names have a word for a motor"
    fixed = {name for name, wheel in own.items()
             if not _is_steered(layout, layout.carrier(wheel), roles)}
    largest = max((own[name].radius for name in fixed), default=0.0)
    fixed = {name for name in fixed if own[name].radius >= AUXILIARY * largest}
    turned = {name for name, wheel in own.items()
              if _is_steered(layout, layout.carrier(wheel), roles)}
    if fixed and turned and (max(own[name].radius for name in fixed)
                             < AUXILIARY * min(own[name].radius for name in turned)):
        return steering | turned, ("the wheels that it turns, since the others are rollers beside "
                                   "them")
    return steering | (fixed or set(own)), ("the wheels that nothing steers (all where all are "
                                            "steered), casters excepted")
