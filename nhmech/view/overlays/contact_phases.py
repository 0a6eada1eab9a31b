"""What the wheels of a run with Coulomb friction did: skid marks, and wheels in the air."""

from __future__ import annotations

import coal
import numpy as np

from ...simulation.contact.motion import Phase
from ...simulation.runs.trajectory import Trajectory
from ...vehicle.vehicle import Vehicle
from ..camera import View
from ..drawable import Colour, Drawable, Motion, Snapshot
from ..floor import ribbon
from ..messages import rgb, set_group
from ..shapes import convert
from .overlay import Layer, Overlay, Poses

PATH = "/overlays/wheels_in_the_air"
SKID: Colour = (0.07, 0.07, 0.08)
LIFTED: Colour = (0.50, 0.22, 0.78)
GLASS = 0.38       # opacity of what surrounds a wheel in the air
AROUND = 1.25      # its radius over that of the wheel
WIDER = 1.2        # a skid mark than a trail, which it lies on


class ContactPhases(Overlay):
    """Overlay: a ball of glass around each wheel that is in the air; and trails as the wheels left
    them, with skid marks where they slid and none where they flew.

    Parameters
    ----------
    vehicle, trajectory
        Of a run with Coulomb friction.
    """

    layer = Layer("wheels in the air", (PATH,), is_shown=True)

    def __init__(self, vehicle: Vehicle, trajectory: Trajectory):
        self._vehicle, self._spans = vehicle, trajectory.phases
        self._ends = np.array([span.end for span in self._spans])
        seen = {phase for span in self._spans for name, phase in span.wheels.items()
                if name in vehicle.contact_names}
        self.legend = tuple(line for phase, line in (
            (Phase.SLIDING, ("skid mark", SKID)), (Phase.AIRBORNE, ("wheel in the air", LIFTED)))
            if phase in seen)

    @classmethod
    def of(cls, vehicle: Drawable, motion: Motion) -> ContactPhases | None:
        """Of a run in which wheels may have slid; None of any other."""
        if not isinstance(vehicle, Vehicle) or not isinstance(motion, Trajectory):
            return None
        return None if motion.contact is None else cls(vehicle, motion)

    def _phases(self, t: float) -> list[Phase]:
        """Of each wheel, at a time [s]."""
        k = min(int(np.searchsorted(self._ends, t)), len(self._spans) - 1)
        return [self._spans[k].wheels[name] for name in self._vehicle.contact_names]

    def trails(self, times: np.ndarray, points: np.ndarray, size: float) -> list[dict]:
        """The messages of trails through points (m, n, 3) at these times (m,) [s], and of the skid
        marks on them."""
        phases = np.array([self._phases(t) for t in (times[1:] + times[:-1]) / 2])
        normal, n = np.array(self._vehicle.ground.normal), points.shape[1]
        found = [ribbon(f"/trails/{i}", points[:, i], size, normal, i,
                        shown=phases[:, i] != Phase.AIRBORNE) for i in range(n)]
        return found + [
            ribbon(f"/trails/skid {i}", points[:, i], WIDER * size, normal, n + i, SKID, slides)
            for i in range(n) if (slides := phases[:, i] == Phase.SLIDING).any()]

    def objects(self, view: View) -> list[dict]:
        glass = {"type": "MeshBasicMaterial", "color": rgb(LIFTED), "side": 0, "transparent": True,
                 "opacity": GLASS}
        return [set_group(f"{PATH}/{i}", [(geometry, glass, turned)
                                          for geometry, turned in convert(coal.Sphere(1.0))],
                          casts_shadow=False)
                for i in range(len(self._vehicle.contacts))]

    def at(self, moment: Snapshot, view: View) -> Poses:
        n, poses = np.array(self._vehicle.ground.normal), {}
        points = self._vehicle.contact_points(moment.q, moment.t)
        for i, (c, phase) in enumerate(zip(self._vehicle.contacts, self._phases(moment.t))):
            radius = c.mount.wheel.radius or 0.05 * view.size
            pose = np.diag([*3 * [AROUND * radius], 1.0])
            pose[:3, 3] = points[i] + radius * n
            poses[f"{PATH}/{i}"] = pose if phase is Phase.AIRBORNE else None
        return poses
