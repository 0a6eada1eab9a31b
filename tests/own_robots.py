"""Robots of our own with the traits of published ones, which need not be at hand: what a test asks
of one of those, it asks of these where they are not.

Numbers are ours; frames, casters, twin wheels, legs and who is told to drive are as such robots
have them. `python tests/own_robots.py NAME` prints the text of one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from math import pi

from support import joint, link, robot

import nhmech
from nhmech.vehicle.vehicle import Vehicle

Parts = list[str]
Z = (0, 0, 1)


def _wheel(name: str, parent: str, xyz, radius: float, *, mass: float = 0.5, com=(0.0, 0.0, 0.0),
           frame: str = "y", friction: str = "") -> Parts:
    """A wheel with its cylinder; `frame` says which axis of its own frame the axle is."""
    width, light = 0.4 * radius, 0.3 * mass * radius ** 2
    round_ = 0.5 * mass * radius ** 2
    turned = {"y": ((0, 0, 0), (pi / 2, 0, 0), (0, 1, 0)), "z": ((-pi / 2, 0, 0), (0, 0, 0), Z)}
    rpy, lying, axis = turned[frame]
    moments = (light, round_, light) if frame == "y" else (light, light, round_)
    words = " ".join(map(str, lying))
    shape = (f'<collision><origin rpy="{words}"/><geometry><cylinder radius="{radius}" '
             f'length="{width}"/></geometry></collision>')
    return [link(f"{name}_wheel", mass, moments, com, shape),
            joint(f"{name}_wheel_joint", parent, f"{name}_wheel", xyz, rpy, axis,
                  more=f'<limit effort="20" velocity="30"/>{friction}')]


def _turned(name: str, parent: str, xyz, limit: float | None = None, axis=Z) -> Parts:
    """A body on an upright joint, with an end where `limit` [rad] says one."""
    more = ("" if limit is None else
            f'<limit lower="{-limit}" upper="{limit}" effort="20" velocity="4"/>')
    return [link(name, 0.4, (2e-3,) * 3),
            joint(f"{name}_joint", parent, name, xyz, axis=axis, more=more,
                  kind="continuous" if limit is None else "revolute")]


def _base(mass: float, size, z: float, name: str = "base_link", at: float = 0.0) -> Parts:
    """A box whose centre is `at` [m] before the base's origin and `z` [m] above."""
    x, y, h = size
    inertia = tuple(mass / 12 * (a * a + b * b) for a, b in ((y, h), (x, h), (x, y)))
    shape = (f'<collision><origin xyz="{at} 0 {z}"/><geometry><box size="{x} {y} {h}"/></geometry>'
             '</collision>')
    return [link(name, mass, inertia, (at, 0.0, z), shape)]


def _ball(name: str, xyz, radius: float) -> Parts:
    shape = f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'
    return [link(name, 0.1, (1e-5,) * 3, body=shape),
            joint(f"{name}_joint", "base_link", name, xyz, kind="fixed")]


def _told(velocity: Iterable[str], position: Iterable[str] = ()) -> Parts:
    """Who is driven, as ros2_control has it."""
    pairs = [(name, "velocity") for name in velocity] + [(name, "position") for name in position]
    text = "".join(f'<joint name="{name}_joint"><command_interface name="{what}"/></joint>'
                   for name, what in pairs)
    return [f'<ros2_control name="hardware" type="system">{text}</ros2_control>']


_SIDES = (("left", 1), ("right", -1))
_ENDS = (("front", 1), ("rear", -1))
_CORNERS = [(f"{end}_{side}", x, y) for end, x in _ENDS for side, y in _SIDES]


def _pair(half_track: float, radius: float, x: float = 0.0, **words) -> Parts:
    return [part for side, y in _SIDES
            for part in _wheel(side, "base_link", (x, y * half_track, 0), radius, **words)]


def two_wheels(half_track: float = 0.11, radius: float = 0.045, x: float = 0.0) -> Parts:
    """Two wheels and a ball behind them, with the mass between: it lifts at 4 m/s^2, as real ones
    do at 1 to 7."""
    return [*_base(2.5, (0.3, 0.2, 0.1), 0.06, at=x - 0.05),
            *_pair(half_track, radius, x, frame="z"),
            *_ball("caster_link", (x - 0.12, 0, 0.02 - radius), 0.02),
            *_told(("left_wheel", "right_wheel"))]


def leading_axle() -> Parts:
    """The driven axle before the base's origin."""
    return two_wheels(0.2, 0.08, 0.1)


def swivels() -> Parts:
    """Two driven wheels amid four castors that swivel, as carriers in warehouses have."""
    parts = [*_base(60.0, (0.8, 0.5, 0.2), 0.15), *_pair(0.23, 0.07)]
    for word, x, y in _CORNERS:
        place = (0.3, 0.18 * y, 0.03) if x > 0 else (-0.26, 0.15 * y, 0.03)
        parts += _turned(f"{word}_fork", "base_link", place)
        parts += _wheel(f"{word}_caster", f"{word}_fork", (-0.04, 0, -0.05), 0.05)
    return [*parts, *_told(("left_wheel", "right_wheel"))]


def car() -> Parts:
    """Two fixed wheels that drive, two that steer."""
    parts = _base(12.0, (0.9, 0.4, 0.2), 0.15)
    for side, y in _SIDES:
        parts += _wheel(f"rear_{side}", "base_link", (-0.28, 0.24 * y, 0), 0.12)
        parts += _turned(f"front_{side}_steer", "base_link", (0.28, 0.24 * y, 0), 0.6)
        parts += _wheel(f"front_{side}", f"front_{side}_steer", (0, 0, 0), 0.12)
    return [*parts, *_told([f"rear_{side}_wheel" for side, _ in _SIDES],
                           [f"front_{side}_steer" for side, _ in _SIDES])]


def tricycle() -> Parts:
    """A wheel that drives and steers before two that roll."""
    return [*_base(9.0, (0.8, 0.3, 0.2), 0.15), *_pair(0.25, 0.1, -0.3),
            *_turned("steer", "base_link", (0.35, 0, 0), 1.3),
            *_wheel("front", "steer", (0, 0, 0), 0.1), *_told(("front_wheel",), ("steer",))]


def mecanum() -> Parts:
    """Four wheels with rollers, which friction directions tell of."""
    parts = [*_base(30.0, (0.7, 0.45, 0.2), 0.15)]
    for word, x, y in _CORNERS:
        parts += _wheel(word, "base_link", (0.25 * x, 0.28 * y, 0), 0.1)
        parts.append(f'<gazebo reference="{word}_wheel"><mu1>1.0</mu1><mu2>0.0</mu2><fdir1 '
                     f'expressed_in="base_link">1 {-x * y} 0</fdir1></gazebo>')
    return [*parts, *_told([f"{word}_wheel" for word, _, _ in _CORNERS],),
            '<gazebo><plugin name="m" filename="mecanum_drive_controller.so"/></gazebo>']


def four_wheels() -> Parts:
    """Four fixed wheels of which nothing more is said."""
    return [*_base(17.0, (0.6, 0.4, 0.2), 0.1), *(part for word, x, y in _CORNERS for part in
            _wheel(word, "base_link", (0.26 * x, 0.27 * y, 0), 0.165))]


def twin_wheels() -> Parts:
    """Four modules that steer, with two wheels side by side on each."""
    parts, rolling = _base(100.0, (0.6, 0.6, 0.3), 0.3), []
    for word, x, y in _CORNERS:
        parts += _turned(f"{word}_module", "base_link", (0.22 * x, 0.22 * y, 0.08))
        for side, across in _SIDES:
            parts += _wheel(f"{word}_{side}", f"{word}_module", (0, 0.05 * across, 0), 0.08)
            rolling.append(f"{word}_{side}_wheel")
    return [*parts, *_told(rolling, [f"{word}_module" for word, _, _ in _CORNERS])]


def legs() -> Parts:
    """A body that balances on two legs with hip and knee, on wheels whose mass is beside the
    axle."""
    parts = _base(4.0, (0.15, 0.2, 0.25), 0.05)
    for side, y in _SIDES:
        parts += _turned(f"{side}_thigh", "base_link", (0.01, 0.12 * y, -0.1), 1.2, (0, 1, 0))
        parts += _turned(f"{side}_shank", f"{side}_thigh", (0, 0.03 * y, -0.17), 1.2, (0, 1, 0))
        parts += _wheel(side, f"{side}_shank", (0, 0.02 * y, -0.17), 0.06, com=(2e-4, 0, 1e-4))
    return [*parts, *_told(("left_wheel", "right_wheel"))]


# published robot -> ours with its traits
OWN: dict[str, Callable[[], Parts]] = {
    "andino": two_wheels, "linorobot2_2wd": two_wheels, "clearpath_dd100": leading_axle,
    "mir100": swivels, "gz_ackermann_drive": car, "gz_tricycle_drive": tricycle,
    "linorobot2_mecanum": mecanum, "clearpath_do100": mecanum, "clearpath_a200": four_wheels,
    "pr2": twin_wheels, "upkie": legs}
DESIGNS = {make.__name__: make for make in OWN.values()}


def text(name: str) -> str:
    """Of one of `DESIGNS`, or of ours with a published one's traits."""
    return robot(*(OWN.get(name) or DESIGNS[name])())


@cache
def own(name: str) -> Vehicle:
    """Likewise, loaded once."""
    return nhmech.load(text(name))


if __name__ == "__main__":
    print(text(sys.argv[1]))
