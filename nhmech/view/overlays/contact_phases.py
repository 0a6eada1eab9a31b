"""The phases of the wheels in a run with Coulomb friction: skid marks, and wheels in the air."""

from __future__ import annotations

from collections.abc import Collection

import coal
import numpy as np

from ...simulation.contact.phases import Phase
from ...simulation.runs.trajectory import Trajectory
from ...vehicle.vehicle import Vehicle
from ..camera import View
from ..drawable import Colour, Drawable, Playable, Snapshot
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
    """Overlay: a ball of glass around each wheel that is in the air. `vehicle`: whose wheels may
    slide and fly. `seen`: what of that is in the legend."""

    layer = Layer("wheels in the air", (PATH,), is_shown=True)

    def __init__(self, vehicle: Vehicle,
                 seen: Collection[Phase] = (Phase.SLIDING, Phase.AIRBORNE)):
        self._vehicle = vehicle
        self.legend = tuple(line for phase, line in (
            (Phase.SLIDING, ("skid mark", SKID)), (Phase.AIRBORNE, ("wheel in the air", LIFTED)))
            if phase in seen)

    @classmethod
    def of(cls, vehicle: Drawable, motion: Playable) -> ContactPhases | None:
        """Of a run in which wheels may have slid; None of any other."""
        if (not isinstance(vehicle, Vehicle) or not isinstance(motion, Trajectory)
                or motion.contact is None):
            return None
        return cls(vehicle, {phase for span in motion.phases
                             for name, phase in span.wheels.items()
                             if name in vehicle.contact_names})

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
        phases = wheel_phases(self._vehicle, moment)
        for i, (c, phase) in enumerate(zip(self._vehicle.contacts, phases)):
            radius = c.mount.wheel.radius or 0.05 * view.size
            pose = np.diag([*3 * [AROUND * radius], 1.0])
            pose[:3, 3] = points[i] + radius * n
            poses[f"{PATH}/{i}"] = pose if phase == Phase.AIRBORNE else None
        return poses


def wheel_phases(vehicle: Drawable, moment: Snapshot) -> np.ndarray:
    """The phase of each contact, (n,); all roll if nothing else is known."""
    names = vehicle.contact_names
    if moment.contacts is None:
        return np.full(len(names), Phase.ROLLING)
    return np.array([moment.contacts.phases[name] for name in names])


def phases_along(vehicle: Drawable, run: Playable, times: np.ndarray) -> np.ndarray:
    """The phase of each contact at these times (m,) [s], (m, n); rolling if nothing is known."""
    if not isinstance(run, Trajectory) or run.contact is None:
        return np.full((len(times), len(vehicle.contact_names)), Phase.ROLLING)
    ends = np.array([span.end for span in run.phases])
    k = np.minimum(np.searchsorted(ends, times), len(ends) - 1)
    return np.array([[span.wheels[name] for name in vehicle.contact_names]
                     for span in run.phases])[k]


def draw_trail(i: int, points: np.ndarray, phases: np.ndarray, size: float, normal: np.ndarray,
               count: int, piece: str = "") -> list[dict]:
    """The messages of `piece` of the trail of contact i of `count` through points (m, 3) [m], with
    gaps where it flew, and of the skid marks on it; `phases` (m - 1,) are those between the
    points."""
    trail = ribbon(f"/trails/{i}{piece}", points, size, normal, i, shown=phases != Phase.AIRBORNE)
    slides = phases == Phase.SLIDING
    if not slides.any():
        return [trail]
    return [trail, ribbon(f"/trails/skid {i}{piece}", points, WIDER * size, normal, count + i, SKID,
                          slides)]
