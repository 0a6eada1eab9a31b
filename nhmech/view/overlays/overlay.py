"""The interface of overlays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from ...errors import REPR, listed
from ..camera import View
from ..drawable import Colour, Snapshot

Poses = Mapping[str, np.ndarray | None]  # path -> pose (4, 4) in W, None: not drawn now


class LegendLine(NamedTuple):
    """A line of the legend that changes: its text and colour, and path -> opacity of the objects
    that are painted in that colour."""

    text: str
    colour: Colour
    paints: Mapping[str, float] = {}


class Layer(NamedTuple):
    """A switch on the page: its name, the paths that it shows and hides, whether they are shown at
    first; and path -> text of names that are written beside bodies."""

    name: str
    paths: tuple[str, ...]
    is_shown: bool = False
    labels: Mapping[str, str] = {}

    def message(self) -> dict:
        """The message for the page."""
        return self._asdict()


class Overlay:
    """One thing that is drawn on top of a vehicle."""

    # what `make_overlays` passes besides the vehicle: "mu", "path"
    needs: ClassVar[tuple[str, ...]] = ()
    legend: tuple[tuple[str, Colour], ...] = ()  # (name, colour) for the corner of the page
    points: np.ndarray = np.zeros((0, 3))  # [m] that the camera should see
    layer: Layer | None = None  # its switch on the page; None if it is always shown

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {listed([name for name, _ in self.legend], REPR)}>"

    def objects(self, view: View) -> list[dict]:
        """Messages that draw it once, each object at its own path."""
        return []

    def at(self, moment: Snapshot, view: View) -> Poses:
        """Pose of each object, columns as long as its scale; the paths are always the same."""
        return {}

    def rows(self, moment: Snapshot) -> tuple[LegendLine, ...]:
        """Lines of the legend at this moment; their number is always the same."""
        return ()
