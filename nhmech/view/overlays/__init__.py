"""What can be drawn on top of a vehicle: one file for each, with one class. A new one is a file and
a line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

import numpy as np

from ...errors import NhmechError

# name -> module : class, and what of a run it is made with besides the vehicle
OVERLAYS = {
    "rotation_centre": ("rotation_centre:RotationCentre", ()),
    "forces": ("forces:Forces", ("mu",)),
    "path": ("path:ReferencePath", ("path",)),
}


@dataclass(frozen=True, eq=False)
class Moment:
    """What an overlay is drawn from: a configuration, its time [s]; speeds v (nv,) and inputs u
    (nu,), if known."""

    q: np.ndarray
    t: float = 0.0
    v: np.ndarray | None = None
    u: np.ndarray | None = None

    @classmethod
    def of(cls, state) -> Moment:
        """Of a configuration (nq,), or of what has q and perhaps t, v and u; a copy."""
        v, u = (None if value is None else np.array(value, dtype=float)
                for value in (getattr(state, "v", None), getattr(state, "u", None)))
        return cls(np.array(getattr(state, "q", state), dtype=float),
                   float(getattr(state, "t", 0.0)), v, u)


class Row(NamedTuple):
    """A line of the legend that changes: its text, its colour (r, g, b), and path -> opacity of the
    objects that are painted in that colour."""

    text: str
    colour: tuple[float, float, float]
    paints: Mapping[str, float] = {}


class Overlay:
    """One thing that is drawn.

    Attributes
    ----------
    legend
        ((name, colour (r, g, b)), ...) for the corner of the page.
    points
        (n, 3) [m] that the camera should see.
    """

    legend: tuple = ()
    points: np.ndarray = np.zeros((0, 3))

    def objects(self, view) -> list[dict]:
        """Messages that draw it once, each object at its own path."""
        return []

    def at(self, moment: Moment, view) -> dict[str, np.ndarray | None]:
        """Path -> pose (4, 4) in W, columns as long as its scale; None: not drawn now. Always the
        same paths."""
        return {}

    def rows(self, moment: Moment) -> tuple[Row, ...]:
        """Lines of the legend now; always as many."""
        return ()


def make_overlays(vehicle, names: Sequence, *, mu=None, path=None) -> list[Overlay]:
    """The overlays of these names; what is no name is taken as an overlay.

    Parameters
    ----------
    mu
        Friction coefficients, as `analysis.friction.coefficients` takes them.
    path
        The `control.path.Path` that is followed.

    Raises
    ------
    NhmechError
        For names that do not exist, and for what an overlay needs and the vehicle has not.
    """
    given, made = {"mu": mu, "path": path}, []
    for name in names:
        if isinstance(name, Overlay):
            made.append(name)
            continue
        if name not in OVERLAYS:
            raise NhmechError(f"no overlay {name!r}; there are {', '.join(OVERLAYS)}")
        place, wanted = OVERLAYS[name]
        module, _, attribute = place.partition(":")
        kind = getattr(import_module(f".{module}", __name__), attribute)
        made.append(kind(vehicle, **{key: given[key] for key in wanted}))
    return made
