"""Layouts of robots whose wheels are known, for tests of what is said about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from support import joint, link, robot

from nhmech import Wheel
from nhmech.urdf.description import FoundWheel, Reason
from nhmech.urdf.layout import Layout
from nhmech.urdf.text.source import read_source

SHIFT = np.array([0.7, 0.25, 0.3])     # of all that stands, so that no plane is through the origin


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


def place(name: str, xyz, rpy=(0, 0, 0), axis=(0, 1, 0), kind="fixed", more="") -> str:
    """The joint that holds a link beside the wheels of `stand`, on its base."""
    return joint(f"to_{name}", "base", name, SHIFT + xyz, rpy, axis, kind, more)


def mesh(file: Path, points, tag="collision", **placed) -> str:
    """A shape whose mesh has these vertices."""
    corners = np.repeat(np.asarray(points, "<f4"), 3, axis=0).reshape(-1, 9)
    faces = np.zeros(len(corners), [("normal", "<f4", 3), ("corners", "<f4", 9), ("more", "<u2")])
    faces["corners"] = corners
    file.write_bytes(bytes(80) + len(faces).to_bytes(4, "little") + faces.tobytes())
    return shape("mesh", tag=tag, filename=file, **placed)


def stand(*wheels: tuple, links: tuple = (), **words) -> tuple[Layout, list[Wheel]]:
    """Wheels (x, y, height of the axle, radius, axle along y if left out) on a base, all of them
    shifted."""
    parts, made = [link("base", **words), *links], []
    for k, (x, y, z, radius, *axis) in enumerate(wheels):
        axis = axis[0] if axis else (0.0, 1.0, 0.0)
        parts += [link(f"w{k}", 0.01),
                  joint(f"j{k}", "base", f"w{k}", SHIFT + (x, y, z), axis=axis)]
        made.append(Wheel(f"j{k}", radius=radius, axis=axis, point=(0.0, 0.0, 0.0)))
    return laid(*parts), made
