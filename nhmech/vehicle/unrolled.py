"""Shapes that look like wheels and stand on the ground, but hang on no joint that could roll them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import ModelError
from .casters import is_caster
from .inference import Contact, wheel_line
from .layout import Layout
from .rims import PARALLEL
from .stance import ground_height, tolerance
from .wheel import Wheel


def check_unrolled(layout: Layout, contacts: Sequence[Contact]) -> None:
    """A link named wheel with a horizontal collision cylinder on the ground must roll, or it is missing from the model.

    Raises `ModelError` with the `wheels=` line in which each such wheel is a blade at its contact point: no lateral
    slip, free to go forward, which is what a wheel without rotational inertia does.
    """
    wheels = [c.wheel for c in contacts]
    ground, slack = ground_height(layout, wheels), tolerance(wheels)
    rotors = {link for w in wheels for link in layout.rigid(w.link)}
    stuck = []
    for link in layout.links:
        if link in rotors or is_caster(layout, link):
            continue
        if not any("wheel" in name.lower() for name in (link, layout.above[link].name if link in layout.above else "")):
            continue
        for shape in layout.shapes(link):
            R, p = layout.X_RL[link][:3, :3], layout.X_RL[link][:3, 3]
            axle = R @ shape.X_LS[:3, 2]
            centre = R @ shape.centre + p
            if shape.kind != "cylinder" or abs(axle[2]) > PARALLEL or abs(centre[2] - shape.size[0] - ground) > slack:
                continue
            # Another wheel rolls here already: this is its hub, fender or steering knuckle.
            if any(np.linalg.norm(layout.X_RL[w.link][:3, 3] - centre) < shape.size[0] for w in wheels):
                continue
            point = R.T @ (np.array([centre[0], centre[1], centre[2] - shape.size[0]]) - p)
            lateral = R.T @ axle
            lateral *= np.sign(axle[1]) or 1.0
            stuck.append(Wheel(None, "blade", link=link, axis=_rounded(lateral), point=_rounded(point)))
            break
    if stuck:
        first = layout.above.get(stuck[0].link)
        where = layout.source.at(first.element) if first is not None else layout.source.label
        one = len(stuck) == 1
        look, them = ("looks like a wheel that stands", "it") if one else ("look like wheels that stand", "them")
        names, lines = ", ".join(w.link for w in stuck), ", ".join(wheel_line(w) for w in [*wheels, *stuck])
        raise ModelError(
            f"{where}: {names} {look} on the ground, but no joint lets {them} roll{_why(first, layout)}. Let a "
            f"continuous joint turn each about its axle (<axis xyz=\"{_words(stuck[0].axis)}\"/>), or make each a "
            f"contact without lateral slip that needs none: wheels=[{lines}]"
        )


def _why(joint, layout: Layout) -> str:
    """What the wheel's own joint does instead."""
    if joint is None:
        return ""
    if not joint.turns:
        return f": its joint is {joint.type}"
    if joint.element.find("axis") is None:
        return ": its joint has no <axis>, which in URDF means x, across its axle"
    if abs(layout.axis_R(joint)[2]) > 0.7:
        return ": its joint only steers it"
    return f": its joint turns it about ({_words(joint.axis)}), across its axle"


def _words(vector) -> str:
    return " ".join(f"{c + 0.0:g}" for c in np.round(vector, 4))


def _rounded(array) -> tuple[float, float, float]:
    return tuple(float(c) + 0.0 for c in np.round(array, 6))
