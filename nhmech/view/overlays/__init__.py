"""Overlays, drawn on top of a vehicle: one file with one class for each. A new overlay is a file
and a line here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...checks import read_word
from .overlay import Overlay

if TYPE_CHECKING:
    from ...control.path import Path
    from ..drawable import Drawable

# name -> module of this folder : class
OVERLAYS = {
    "rotation_centre": "rotation_centre:RotationCentre",
    "forces": "forces:Forces",
    "path": "path:ReferencePath",
}


def overlay_class(name: str) -> type[Overlay]:
    """The overlay of this name. Raises `InputError` for a name that does not exist."""
    module, _, attribute = OVERLAYS[read_word("overlay", name, OVERLAYS)].partition(":")
    return getattr(import_module(f".{module}", __name__), attribute)


def make_overlays(vehicle: Drawable, names: Iterable[str | Overlay], *,
                  mu: float | Mapping[str, float] | None = None,
                  path: Path | None = None) -> list[Overlay]:
    """The overlays of these names; an overlay object is taken as it is. `mu` is as in
    `analysis.friction.coefficients`, `path` the reference path. Raises `InputError` for unknown
    names, and if an overlay needs what the vehicle or the call does not have."""
    available = {"mu": mu, "path": path}
    made = []
    for name in names:
        if isinstance(name, Overlay):
            made.append(name)
        else:
            kind: Any = overlay_class(name)  # each is made from what it needs
            made.append(kind(vehicle, **{key: available[key] for key in kind.needs}))
    return made
