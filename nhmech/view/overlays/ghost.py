"""Another run beside the one that is played: its vehicle, translucent, and its track."""

from __future__ import annotations

import numpy as np

from ...checks import check_arguments
from ...errors import printable
from ..camera import View
from ..colours import CONTACTS
from ..drawable import Drawable, Playable, Snapshot, check_run
from ..floor import ribbon
from ..sampling import interpolate, sample
from ..scene import Scene
from .overlay import Layer, Overlay, Poses

# violet, pink, green and brown: none that the first two wheels have, and darker than the trails
SHADES = ((0.42, 0.24, 0.66), (0.78, 0.20, 0.42), (0.0, 0.50, 0.38), (0.62, 0.42, 0.0))


@check_arguments
class Ghost(Overlay):
    """Overlay: the vehicle of another run at the same time.

    The ghost rests before the start of that run and after its end.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    trajectory
        The other run: t (N,) [s] and q (N, nq).
    name
        In the legend; two ghosts need two names.
    number
        Chooses its colour.

    Examples
    --------
    save_html(vehicle, run, "both.html", overlays=[Ghost(vehicle, other_run, "other")])
    """

    def __init__(self, vehicle: Drawable, trajectory: Playable, name: str = "ghost",
                 number: int = 0):
        check_run(vehicle, trajectory)
        colour, name = SHADES[number % len(SHADES)], printable(name)
        self.legend = ((name, colour),)
        self._root, self._colour, self._number = f"/ghosts/{name.replace('/', '_')}", colour, number
        self.layer = Layer(name, (self._root,), is_shown=True)
        self._scene, self._trajectory = Scene(vehicle, f"{self._root}/bodies", colour), trajectory
        _, q = sample(vehicle.model, trajectory, fps=30.0)
        self.points = np.array([self._scene.middle(row) for row in q])

    def objects(self, view: View) -> list[dict]:
        if len(self.points) < 2:
            return self._scene.groups()
        # narrower than the trails, and above all of them
        track = ribbon(f"{self._root}/track", self.points, 0.6 * view.size,
                       self._scene.vehicle.ground.normal, len(CONTACTS) + self._number,
                       self._colour)
        return [*self._scene.groups(), track]

    def at(self, moment: Snapshot, view: View) -> Poses:
        now = np.array([moment.t])
        return self._scene.bodies(interpolate(self._scene.vehicle.model, self._trajectory, now)[0])
