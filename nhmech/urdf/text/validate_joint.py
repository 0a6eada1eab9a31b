"""Checks of a joint: its name, type, axis, numbers, limits and leader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from math import radians

import numpy as np

from ...checks import are_degrees
from ...errors import listed
from .fault import Element, ElementError, Mend, collect_errors, deletion, setting
from .source import Source, link_at

_OWN_NAMES = ("root_joint", "universe")                       # Pinocchio's
# the base's coordinates and speeds
_BASE_NAMES = ("x", "y", "z", "qx", "qy", "qz", "qw", "forward_speed", "lateral_speed",
               "vertical_speed", "roll_rate", "pitch_rate", "yaw_rate")
_TYPES = ("revolute", "continuous", "prismatic", "fixed")
_UNSUPPORTED = ("floating", "planar")
_ALIKE = 0.85      # similarity of words from which one is the other misspelt: a letter too few
_BOUNDED = {"revolute": 'add it or make it type="continuous"', "prismatic": "add it"}
# element of a joint -> its attributes
_NUMBERS = {
    "limit": ("lower", "upper", "effort", "velocity"),
    "mimic": ("multiplier", "offset"),
    "safety_controller": ("k_velocity", "k_position", "soft_lower_limit", "soft_upper_limit"),
    "dynamics": ("damping", "friction"),
    "calibration": ("rising", "falling"),
}
_NEEDED = "k_velocity"                # without it parsers refuse its element
_REQUIRED = ("effort", "velocity")    # of a limit; parsers want them, 0 is none
UNLIMITED = -1     # as effort= or velocity= means none in SDF; it becomes 0, which is none here
# element of a joint -> its attributes that may not be negative, and how the complaint goes on
_NOT_NEGATIVE = {
    "dynamics": (("damping", "friction"), " and would create energy; use 0 or more"),
    "limit": (_REQUIRED, "; a limit is 0 or -1 (none) or more"),
}

Elements = Mapping[str, Element]


def check_joint(source: Source, joint: Element, joints: Elements) -> Iterator[ElementError]:
    """Faults of a joint itself, whatever links it connects."""
    for check in (_check_name, _check_type, _check_axis, _check_numbers, _check_limit):
        yield from collect_errors(check, source, joint)
    yield from collect_errors(_check_mimic, source, joint, joints)


def _check_name(source: Source, joint: Element) -> None:
    name = joint.get("name", "")
    if name in _OWN_NAMES:
        text, taken = "one of Pinocchio's own", "Pinocchio"
    elif name in _BASE_NAMES and joint.get("type") != "fixed":
        text, taken = "a coordinate or speed of the base", "the base"
    else:
        return

    def rename() -> None:
        joint.set("name", f"{name}_of_file")
        for mimic in source.root.iterfind("joint/mimic"):
            if mimic.get("joint") == name:
                mimic.set("joint", f"{name}_of_file")

    raise source.error(joint, f"the name {name!r} collides with {text}; rename the joint",
                       mend=Mend(f"a name that {taken} has taken", rename))


def _check_type(source: Source, joint: Element) -> None:
    kind = joint.get("type")
    if kind is None:
        raise source.error(joint, f"attribute type= is missing; it is one of {listed(_TYPES)}")
    if kind in _UNSUPPORTED:
        raise source.error(joint, f"{kind} joints are not supported; the base floats by itself, "
                                  "so make this one fixed or delete it",
                           mend=Mend("a joint that lets the base float is fixed",
                                     lambda: joint.set("type", "fixed"))
                           if _is_world(source, link_at(joint, "parent")) else None)
    if kind not in _TYPES:
        meant = get_close_matches(kind.strip().lower(), _TYPES, 1, _ALIKE)
        raise source.error(
            joint, f"joint type {kind!r} does not exist; it is one of {listed(_TYPES)}",
            mend=Mend("a misspelt joint type", setting(joint, "type", meant[0]))
            if meant else None)


def _is_world(source: Source, link: str) -> bool:
    """Whether a link represents the world: it has no parent and no mass."""
    return (not any(link_at(joint, "child") == link for joint in source.root.findall("joint"))
            and not any(element.get("name") == link and element.find("inertial") is not None
                        for element in source.root.findall("link")))


def _check_axis(source: Source, joint: Element) -> Iterator[ElementError]:
    for origin in joint.findall("origin"):
        yield from check_origin(source, origin)
    for axis in joint.findall("axis") if joint.get("type") != "fixed" else ():
        for error in collect_errors(_check_direction, source, axis):
            yield error if error.mend else source.error(
                axis, f'{error.fault.text}; give the axis of the joint, such as xyz="0 1 0"',
                mend=Mend("an axis without direction", deletion(axis), certain=False))


def _check_direction(source: Source, axis: Element) -> None:
    if np.linalg.norm(source.triple(axis, "xyz")) < 1e-9:
        raise source.error(axis, f"xyz={axis.get('xyz')!r} has no direction")


def check_origin(source: Source, origin: Element) -> Iterator[ElementError]:
    """Both triples of an `<origin>`, which may be missing."""
    yield from collect_errors(_read_xyz, source, origin)
    yield from collect_errors(_check_angles, source, origin)


def _read_xyz(source: Source, origin: Element) -> None:
    source.triple(origin, "xyz", None)


def _check_angles(source: Source, origin: Element) -> None:
    """Reports angles above a turn that are whole or half numbers: they are degrees."""
    rpy = source.triple(origin, "rpy", (0.0, 0.0, 0.0))
    if are_degrees(rpy):
        meant = " ".join(f"{radians(angle):.16g}" for angle in rpy)
        raise source.error(origin, f"rpy={origin.get('rpy')!r} is more than a turn; a URDF has "
                                   f'radians. If degrees were meant: rpy="{meant}"',
                           mend=Mend("an rpy in degrees", setting(origin, "rpy", meant)))


def _check_numbers(source: Source, joint: Element) -> Iterator[ElementError]:
    for tag, attributes in _NUMBERS.items():
        for element in joint.findall(tag):
            for name in attributes:
                yield from collect_errors(_check_number, source, element, name)
            if tag == "dynamics" and not {"damping", "friction"} & set(element.keys()):
                yield source.error(element, "has neither damping= nor friction=; give one or "
                                            "delete <dynamics>",
                                   mend=Mend("<dynamics> without numbers", deletion(element)))


def _check_number(source: Source, element: Element, name: str) -> None:
    """A number that is one, and not negative where it may not be; without it there is none."""
    def drop() -> None:
        if name in _REQUIRED:
            element.set(name, "0")
        elif name == _NEEDED:
            deletion(element)()
        else:
            element.attrib.pop(name, None)

    negative, rest = _NOT_NEGATIVE.get(element.tag, ((), ""))
    unusable = Mend(f"{name}= that is no number to be used", drop,
                    certain=element.tag != "mimic")
    try:
        value = source.number(element, name, None if name == _NEEDED else 0.0)
    except ElementError as error:
        raise source.error(element, error.fault.text, mend=error.mend or unusable) from None
    if name in _REQUIRED and value == UNLIMITED:
        element.set(name, "0")
    elif name in negative and value < 0:
        raise source.error(element, f"{name}={element.get(name)} is negative{rest}", mend=unusable)


def _check_limit(source: Source, joint: Element) -> Iterator[ElementError]:
    kind, limit = joint.get("type", ""), joint.find("limit")
    if limit is None:
        if kind in _BOUNDED:
            yield source.error(
                joint, f"a {kind} joint needs <limit lower= upper= effort= velocity=/>; "
                       f"{_BOUNDED[kind]}",
                mend=Mend(f"a {kind} joint without <limit> is unlimited", lambda: joint.append(
                    joint.makeelement("limit", {"effort": "0", "velocity": "0"}))))
        return
    for attribute in _REQUIRED:
        if limit.get(attribute) is None:
            yield source.error(limit, f"attribute {attribute}= is missing; give it a number, or 0 "
                                      "for no limit",
                               mend=Mend(f"a limit without {attribute}=",
                                         setting(limit, attribute, "0")))

    def drop() -> None:
        for attribute in ("lower", "upper"):
            limit.attrib.pop(attribute, None)

    if kind in _BOUNDED and (source.number(limit, "lower", 0.0)
                             > source.number(limit, "upper", 0.0)):
        yield source.error(limit, f"lower={limit.get('lower', 0)} is greater than "
                                  f"upper={limit.get('upper', 0)}; exchange them",
                           mend=Mend("limits whose lower is greater than the upper are "
                                     "dropped", drop))


def _check_mimic(source: Source, joint: Element, joints: Elements) -> Iterator[ElementError]:
    for mimic in joint.findall("mimic"):
        leader = mimic.get("joint")
        lost = Mend("<mimic> of a joint that does not exist", deletion(mimic), certain=False)
        if leader not in joints:
            yield source.error(mimic, f"mimics joint {leader!r}, which does not exist; the joints "
                                      f"are {listed(joints)}", mend=lost)
        elif leader == joint.get("name"):
            yield source.error(mimic, "a joint cannot mimic itself; name another joint or delete "
                                      "<mimic>", mend=Mend("a joint that mimics itself",
                                                           deletion(mimic)))
