"""The elements of a robot's file for simulators and controllers: driven joints, steering joints,
sizes of wheels, friction.

`<gazebo>` plugins, `<ros2_control>`, `<transmission>` and the friction below
`<gazebo reference="...">` are no part of the robot itself, and are often left over from another
one: what they say is evidence beside other evidence. Nothing here is ever an error: a number that
is none is taken as absent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import isfinite

from .text.source import Element, name_of


class DriveType(str, Enum):
    """How a plugin makes a vehicle move; the value is what messages call it."""

    DIFFERENTIAL = "differential drive"
    SKID_STEER = "skid steer"
    ACKERMANN = "Ackermann"
    TRICYCLE = "tricycle"
    MECANUM = "mecanum"
    OMNI = "omni"
    PLANAR = "planar move"       # moves the whole model over the ground, whatever its wheels do


class Interface(str, Enum):
    """The quantity by which a joint is commanded."""

    POSITION = "position"
    VELOCITY = "velocity"
    EFFORT = "effort"


@dataclass(frozen=True)
class DrivePlugin:
    """A `<plugin>` that drives a vehicle."""

    drive: DriveType  # which sort
    name: str  # the file or class by which it was recognised
    # joints that it turns, in the order of the file; names that the robot does not have included
    wheels: tuple[str, ...]
    # those of them that it only watches, such as the encoder wheels of a tricycle
    idle: tuple[str, ...]
    steering: tuple[str, ...]  # joints that it steers with
    radii: dict[str, float]  # joint -> radius of its wheel [m], where the plugin is told one
    # of left and right wheels [m], often tuned and not measured; None where it is not told
    separation: float | None
    element: Element = field(repr=False, compare=False)  # the `<plugin>`


@dataclass(frozen=True)
class Command:
    """A joint with a command interface."""

    joint: str  # its name, also where the robot has no such joint
    # by what it is commanded; empty where the element does not say (old transmissions)
    interfaces: frozenset[Interface]
    tag: str  # the element that says so: "ros2_control", "transmission" or "gazebo"

    @property
    def turns_on(self) -> bool:
        """Whether the joint is meant to turn on and on, as a driven wheel does."""
        return bool(self.interfaces & {Interface.VELOCITY, Interface.EFFORT})


@dataclass(frozen=True)
class Sides:
    """The joints that one element takes for those of wheels on the left and on the right."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    element: Element = field(repr=False, compare=False)  # the first that names one of them
    separation: float | None = None  # of left and right wheels [m]; None where it is not told
    # the element that tells it
    apart: Element | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class LinkFriction:
    """The friction of a link."""

    mu1: float | None  # along `direction`, or everywhere without one
    mu2: float | None  # across `direction`
    direction: tuple[float, float, float] | None = None  # `<fdir1>`, of any length
    frame: str | None = None  # the link in which `direction` is expressed; None is the link itself

    @property
    def mu(self) -> float | None:
        """The coefficient of what holds: the smaller of the two, that along the rollers where only
        they hold. None where the file has none above zero."""
        told = [mu for mu in (self.mu1, self.mu2) if mu is not None]
        return (self.mu1 if self.is_oblique else min(told, default=None)) or None

    @property
    def is_oblique(self) -> bool:
        """Whether it holds along one direction only, which lies across the axes of its frame: how
        the rollers of a mecanum wheel are imitated."""
        if self.direction is None or not self.mu1 or self.mu2 is None:
            return False
        x, y, _ = map(abs, self.direction)
        return self.mu2 < _FREE * self.mu1 and min(x, y) > _OBLIQUE * max(x, y)


@dataclass(frozen=True)
class Elements:
    """All such evidence of one file."""

    drives: tuple[DrivePlugin, ...] = ()  # plugins that drive, in the order of the file
    # joints with command interfaces; those of `<ros2_control>` go first
    commands: tuple[Command, ...] = ()
    friction: dict[str, LinkFriction] = field(default_factory=dict)  # link -> its friction
    # link -> `<kp>` of its contacts [N/m]
    stiffness: dict[str, float] = field(default_factory=dict)
    # link -> radius of the wheel it is [m], from plugins that name links (wheel slip)
    radii: dict[str, float] = field(default_factory=dict)
    # joint -> line of the parameter of its `<ros2_control>` that gives a radius, and radius [m]
    controlled: dict[str, tuple[int, float]] = field(default_factory=dict)
    sides: tuple[Sides, ...] = ()  # of plugins, of each `<ros2_control>`, of all transmissions
    # names of hardware and controllers, such as "diff_drive_controller.yaml"; weak evidence
    words: tuple[str, ...] = ()

    def wheel_radii(self, joint: str, links: Sequence[str] = ()) -> dict[str, float]:
        """What says it -> radius [m] of the wheel on a joint, of which `links` are the rotor."""
        found = {f"plugin {plugin.name} (line {plugin.element.sourceline})": plugin.radii[joint]
                 for plugin in self.drives if joint in plugin.radii}
        if joint in self.controlled:
            line, radius = self.controlled[joint]
            found[f"<ros2_control> (line {line})"] = radius
        return found | {f"wheel slip of {link}": self.radii[link] for link in links
                        if link in self.radii}

    def rolls(self, joint: str) -> list[str]:
        """Elements that take a joint for a rolling or driven one."""
        found = [f"plugin {plugin.name}" for plugin in self.drives if joint in plugin.wheels]
        return found + [f"<{command.tag}>" for command in self.commands
                        if command.joint == joint and command.turns_on]

    def steers(self, joint: str) -> list[str]:
        """Elements that take a joint for a steering one; a position interface says no more than
        that it does not roll."""
        found = [f"plugin {plugin.name}" for plugin in self.drives if joint in plugin.steering]
        return found + [f"<{command.tag}>" for command in self.commands if command.joint == joint
                        and command.interfaces == {Interface.POSITION}]


_FREE = 0.1        # of the other coefficient: a friction below it lets the wheel slip that way
_OBLIQUE = 0.3     # of a direction's larger component: a smaller one is along an axis

# letters of a plugin's file or class -> drive; the first that fits counts
_DRIVES = (
    ("skidsteer", DriveType.SKID_STEER),
    ("mecanum", DriveType.MECANUM),
    ("omnidrive", DriveType.OMNI),
    ("omniwheel", DriveType.OMNI),
    ("omnidirectional", DriveType.OMNI),
    ("holonomic", DriveType.OMNI),
    ("acker", DriveType.ACKERMANN),
    ("steerbot", DriveType.ACKERMANN),
    ("tricycle", DriveType.TRICYCLE),
    ("diffdrive", DriveType.DIFFERENTIAL),
    ("differentialdrive", DriveType.DIFFERENTIAL),
    ("planarmove", DriveType.PLANAR),
    ("forcebasedmove", DriveType.PLANAR),
    ("velocitycontrol", DriveType.PLANAR),
)
# ends of the tags inside such a plugin, in small letters without underscores
_JOINT = ("joint", "jointname")
_STEERING = ("steer", "hinge", "kingpin")
_IDLE = ("encoder", "passive", "idle", "caster", "castor")
_RADII = (("wheeldiameter", 0.5), ("wheelradius", 1.0))
_SEPARATIONS = ("wheelseparation", "wheeltrack", "trackwidth")
# letters of a plugin that moves single joints -> by what it is commanded
_SERVOS = {"jointpositioncontroller": Interface.POSITION, "jointcontroller": Interface.VELOCITY}
_INTERFACES = {interface.value: interface for interface in Interface}


def read_elements(robot: Element) -> Elements:
    """The evidence in a `<robot>` element."""
    plugins = [plugin for gazebo in robot.iterfind("gazebo") for plugin in gazebo.iter("plugin")]
    drives = [drive for drive in map(_read_drive, plugins) if drive is not None]
    friction: dict[str, LinkFriction] = {}
    stiffness: dict[str, float] = {}
    for gazebo in robot.iterfind("gazebo"):
        link, found = gazebo.get("reference"), _read_friction(gazebo)
        if link and found is not None:
            friction[link] = found
        if link and (kp := _read_stiffness(gazebo)):
            stiffness[link] = kp
    radii = {link: radius for plugin in plugins for wheel in plugin.iter("wheel")
             if (link := wheel.get("link_name")) and (radius := _length(_text(wheel,
                                                                              "wheel_radius")))}
    commands = [*_read_interfaces(robot), *_read_transmissions(robot), *_read_servos(plugins)]
    blocks = [*robot.iterfind("ros2_control")]
    joints = {name_of(joint) for joint in robot.iterfind("joint")}
    # a transmission has its side in its name
    drawn = [(_letters(name_of(transmission)), name_of(joint), transmission)
             for transmission in robot.iterfind("transmission")
             for joint in transmission.iter("joint")]
    sides = [_read_sides(parameters, joints) for parameters in (
        *([*_parameters(element)] for element in (*plugins, *blocks)), drawn)]
    words = [e.text.strip() for path in ("ros2_control/hardware/plugin", "gazebo//parameters")
             for e in robot.iterfind(path) if e.text and e.text.strip()]
    return Elements(tuple(drives), tuple(commands), friction, stiffness, radii,
                    _read_controlled(blocks), tuple(filter(None, sides)), tuple(words))


def _read_drive(plugin: Element) -> DrivePlugin | None:
    """A plugin that drives; None for a camera and the like."""
    # a user chooses the name of a classic plugin, but that of a newer one is its class
    names = [plugin.get("filename", "")]
    names += [name for name in (plugin.get("name", ""),) if "::" in name]
    for name in names:
        drive = recognise(name)
        if drive is not None:
            return _read_parameters(plugin, drive, name)
    # one that no list knows, of two wheels and how far they are apart
    unknown = _read_parameters(plugin, DriveType.DIFFERENTIAL, names[0] or plugin.get("name", ""))
    is_drive = unknown.separation and len(unknown.wheels) == 2 and not unknown.steering
    return unknown if is_drive else None


def recognise(name: str) -> DriveType | None:
    """The drive that a file, class or controller is named after; None for any other name."""
    letters = _letters(name)
    return next((drive for word, drive in _DRIVES if word in letters), None)


def _read_parameters(plugin: Element, drive: DriveType, name: str) -> DrivePlugin:
    wheels: dict[str, str] = {}        # joint -> the tag that names it
    steering: list[str] = []
    radii: dict[str, list[float]] = {}  # beginning of the tag -> radii
    separation = None
    for tag, text, _ in _parameters(plugin):
        if tag.endswith(_JOINT):
            for joint in text.split():
                if any(word in tag for word in _STEERING):
                    steering.append(joint)
                else:
                    wheels.setdefault(joint, tag)
        elif separation is None and tag.endswith(_SEPARATIONS):
            separation = _length(text)
        for end, factor in _RADII:
            if tag.endswith(end) and (length := _length(text)):
                radii.setdefault(tag.removesuffix(end), []).append(factor * length)
    idle = tuple(joint for joint, tag in wheels.items() if tag.startswith(_IDLE))
    return DrivePlugin(drive, name, tuple(wheels), idle, tuple(dict.fromkeys(steering)),
                       _share_radii(wheels, radii), separation, plugin)


def _share_radii(wheels: dict[str, str], radii: dict[str, list[float]]) -> dict[str, float]:
    """Joint -> radius. A tag such as `actuatedWheelDiameter` is for the joints whose tags begin
    alike; of several radii the first is for the first pair of wheels, and so on."""
    shared: dict[str, float] = {}
    for start in sorted(radii):        # the general tag first, so that a special one replaces it
        seen: dict[str, int] = {}
        for joint, tag in wheels.items():
            if tag.startswith(start):
                at = min(seen.get(tag, 0), len(radii[start]) - 1)
                seen[tag] = at + 1
                shared[joint] = radii[start][at]
    return shared


def _read_sides(parameters: Sequence[tuple[str, str, Element]],
                joints: Collection[str]) -> Sides | None:
    """Of names, in letters, with their texts and elements; None where they do not tell joints of
    both sides."""
    told: dict[str, list[str]] = {"left": [], "right": []}
    elements = []
    for name, text, element in parameters:
        named = [word for word in text.split() if word in joints]
        side = [word for word in told if word in name]
        if named and len(side) == 1:
            told[side[0]] += named
            elements.append(element)
    if not told["left"] or not told["right"]:
        return None
    lengths = [(length, element) for name, text, element in parameters
               if name.endswith(_SEPARATIONS) and (length := _length(text))]
    return Sides(tuple(told["left"]), tuple(told["right"]), elements[0],
                 *(lengths[0] if lengths else ()))


def _read_controlled(blocks: Sequence[Element]) -> dict[str, tuple[int, float]]:
    """Joint -> line and radius, where the parameters of its block give no other one."""
    found = {}
    for block in blocks:
        radii = [(inside.sourceline or 1, factor * length)
                 for tag, text, inside in _parameters(block) for end, factor in _RADII
                 if tag.endswith(end) and (length := _length(text))]
        if len({radius for _, radius in radii}) == 1:
            found.update({name_of(joint): radii[0] for joint in block.iterfind("joint")})
    return found


def _parameters(element: Element) -> Iterator[tuple[str, str, Element]]:
    """Name, in letters, text and element of everything inside an element; a `<param>` has its name
    as an attribute."""
    for inside in element.iterdescendants("*"):
        tag = _local(inside)
        yield (_letters(inside.get("name", "") if tag == "param" else tag),
               (inside.text or "").strip(), inside)


def _read_friction(gazebo: Element) -> LinkFriction | None:
    """Below a `<gazebo reference="...">`; None where nothing in it tells friction."""
    texts: dict[str, str] = {}
    frame = None
    for element in gazebo.iterdescendants("*"):
        tag = "mu1" if _local(element) == "mu" else _local(element)
        if tag in ("mu1", "mu2", "fdir1"):
            texts.setdefault(tag, element.get("value") or element.text or "")
        if tag == "fdir1":
            frame = next((value.strip() for name, value in element.attrib.items()
                          if str(name).endswith("expressed_in") and value.strip()), None)
    if not texts:
        return None
    direction = _numbers(texts.get("fdir1", ""))
    mu1, mu2 = (_first_positive(texts.get(tag, ""), zero=True) for tag in ("mu1", "mu2"))
    if len(direction) != 3 or not any(direction):
        return LinkFriction(mu1, mu2)
    x, y, z = direction
    return LinkFriction(mu1, mu2, (x, y, z), frame)


def _read_stiffness(gazebo: Element) -> float | None:
    """`<kp>` below a `<gazebo reference="...">`, also that of `<surface><contact><ode>`."""
    texts = (element.get("value") or element.text or "" for element in gazebo.iterdescendants("*")
             if _local(element) == "kp")
    return next((kp for text in texts if (kp := _first_positive(text, zero=False))), None)


def _read_interfaces(robot: Element) -> Iterator[Command]:
    for joint in robot.iterfind("ros2_control//joint"):
        given = {_INTERFACES.get(name_of(e)) for e in joint.iterfind("command_interface")}
        if given:
            yield Command(name_of(joint), frozenset(i for i in given if i is not None),
                          "ros2_control")


def _read_transmissions(robot: Element) -> Iterator[Command]:
    for transmission in robot.iterfind("transmission"):
        words = [_letters(e.text or "") for e in transmission.iter("hardwareInterface")]
        interfaces = frozenset(interface for name, interface in _INTERFACES.items()
                               if any(name in word for word in words))
        for joint in transmission.iter("joint"):
            if name_of(joint):
                yield Command(name_of(joint), interfaces, "transmission")


def _read_servos(plugins: Sequence[Element]) -> Iterator[Command]:
    """Plugins that each move the joints which they name, whatever these are for."""
    for plugin in plugins:
        word = _letters(plugin.get("filename", "") + plugin.get("name", ""))
        for interface in (interface for name, interface in _SERVOS.items() if name in word):
            for tag, text, _ in _parameters(plugin):
                if tag == "jointname" and text:
                    yield Command(text, frozenset({interface}), "gazebo")


def _letters(text: str) -> str:
    """Small letters alone, so that `leftJoint`, `left_joint` and `left-joint` are one."""
    return re.sub(r"[^a-z]", "", text.lower())


def _local(element: Element) -> str:
    return str(element.tag).rsplit("}", 1)[-1]


def _text(element: Element, tag: str) -> str:
    return element.findtext(tag) or ""


def _length(text: str) -> float | None:
    """A length above zero; None for anything else."""
    return _first_positive(text, zero=False)


def _first_positive(text: str, zero: bool) -> float | None:
    numbers = _numbers(text)
    if len(numbers) != 1 or numbers[0] < 0 or (numbers[0] == 0 and not zero):
        return None
    return numbers[0]


def _numbers(text: str) -> list[float]:
    """Finite numbers; none where a word of the text is no number."""
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        return []
    return numbers if all(map(isfinite, numbers)) else []
