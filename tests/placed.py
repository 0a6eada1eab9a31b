"""Layouts of robots whose wheels are known, for tests of what is said about them."""

from __future__ import annotations

from support import joint, link, robot

from nhmech import Wheel
from nhmech.urdf.description import FoundWheel, Reason
from nhmech.urdf.layout import Layout
from nhmech.urdf.text.source import read_source


def laid(*parts: str, **positions: float) -> Layout:
    """The layout of a robot with these links and joints, held at these positions."""
    return Layout(read_source(robot(*parts)), positions)


def found(*wheels: Wheel) -> list[FoundWheel]:
    return [FoundWheel(wheel, Reason("")) for wheel in wheels]


def limits(lower: float, upper: float) -> str:
    return f'<limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>'


def shape(kind: str, xyz=(0, 0, 0), rpy=(0, 0, 0), tag="collision", **sizes) -> str:
    """A collision or visual element."""
    words = " ".join(f'{name}="{value}"' for name, value in sizes.items())
    return (f'<{tag}><origin xyz="{" ".join(map(str, xyz))}" rpy="{" ".join(map(str, rpy))}"/>'
            f"<geometry><{kind} {words}/></geometry></{tag}>")


def stand(*wheels: tuple, links: tuple = (), **words) -> tuple[Layout, list[Wheel]]:
    """Wheels (x, y, height of the axle, radius, axle along y if left out) on a base."""
    parts, made = [link("base", **words), *links], []
    for k, (x, y, z, radius, *axis) in enumerate(wheels):
        axis = axis[0] if axis else (0.0, 1.0, 0.0)
        parts += [link(f"w{k}", 0.01), joint(f"j{k}", "base", f"w{k}", (x, y, z), axis=axis)]
        made.append(Wheel(f"j{k}", radius=radius, axis=axis, point=(0.0, 0.0, 0.0)))
    return laid(*parts), made
