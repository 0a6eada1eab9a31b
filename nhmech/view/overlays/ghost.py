"""Another run beside the one that is played: its vehicle, translucent, and its way."""

from __future__ import annotations

import numpy as np

from ..colours import CONTACTS
from ..floor import ribbon
from ..sampling import at_times, sample
from ..scene import Scene
from . import Overlay

SHADES = ((0.10, 0.36, 0.75), (0.78, 0.20, 0.42), (0.0, 0.50, 0.38), (0.62, 0.42, 0.0))


class Ghost(Overlay):
    """Where the vehicle of another run is at the same time; before its start and after its end it
    stands there.

    Parameters
    ----------
    trajectory
        Has t (N,) [s] and q (N, nq).
    name
        In the legend; two ghosts need two names.
    number
        Chooses its colour.
    """

    def __init__(self, vehicle, trajectory, name: str = "ghost", number: int = 0):
        colour = SHADES[number % len(SHADES)]
        self.legend = ((name, colour),)
        self._root, self._colour, self._number = f"/ghosts/{name.replace('/', '_')}", colour, number
        self._scene, self._trajectory = Scene(vehicle, f"{self._root}/bodies", colour), trajectory
        _, q = sample(vehicle.model, trajectory, fps=30.0)
        self.points = np.array([self._scene.middle(row) for row in q])

    def objects(self, view) -> list[dict]:
        way = ribbon(f"{self._root}/way", self.points, 0.6 * view.size,
                     self._scene.vehicle.ground.normal, len(CONTACTS) + self._number, self._colour)
        return [*self._scene.groups(), *([way] if len(self.points) > 1 else [])]

    def at(self, moment, view) -> dict[str, np.ndarray | None]:
        return self._scene.bodies(at_times(self._scene.vehicle.model, self._trajectory,
                                           [moment.t])[0])
