"""What the page of a driven vehicle shows beside the picture: pose, speed, and of each wheel its
rate and how much of its friction is used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..analysis.friction import coefficients
from ..simulation.contact.contact_forces import reactions_at
from ..simulation.runs.driven_twist import planar_twist
from ..simulation.state import base_pose
from ..vehicle.reactions import Reactions
from ..vehicle.vehicle import Vehicle
from .colours import contact_rgb
from .drawable import Snapshot

PERIOD = 0.05       # [s] of real time between two readings: faster ones cannot be read
ROUNDING = 1e-9     # of the vehicle's weight: a force along the ground that is none


class Instruments:
    """Reads a vehicle for the page.

    Parameters
    ----------
    vehicle
        What is driven.
    mu
        Friction coefficients, as in `analysis.validity`.
    paths
        Joint -> where the page has what it moves.
    """

    def __init__(self, vehicle: Vehicle, mu: float | Mapping[str, float] | None = None,
                 paths: Mapping[int, str] = MappingProxyType({})):
        self.vehicle, self.mu, self._paths = vehicle, coefficients(vehicle, mu), paths
        names = vehicle.algebroid.v_names
        self._spins = {c.name: names.index(c.mount.wheel.joint) for c in vehicle.contacts
                       if c.mount.wheel.joint in names}
        self._held = {row.contact for row in vehicle.contact_rows if row.direction != "normal"}
        masses = sum(inertia.mass for inertia in vehicle.model.inertias)
        self._least = ROUNDING * masses * float(np.linalg.norm(vehicle.model.gravity.linear))

    def __repr__(self) -> str:
        return f"<Instruments of {self.vehicle.name!r}>"

    def describe(self) -> dict[str, Any]:
        """The message that stays the same."""
        wheels = []
        for i, contact in enumerate(self.vehicle.contacts):
            name, wheel, mu = contact.name, contact.mount.wheel, self.mu[contact.name]
            wheels.append({"name": name, "color": contact_rgb(i), "kind": wheel.kind,
                           "radius": wheel.radius, "mu": mu if math.isfinite(mu) else None,
                           "path": self._path(wheel.joint)})
        return {"type": "instruments", "wheels": wheels}

    def _path(self, joint: str | None) -> str:
        """Of what turns with a wheel; empty for a fixed one."""
        if joint is None or not self.vehicle.model.existJointName(joint):
            return ""
        return self._paths.get(self.vehicle.model.getJointId(joint), "")

    def read(self, moment: Snapshot, *, forces: bool = True) -> dict[str, Any]:
        """The message of one moment: pose [m, m, rad], twist [m/s, m/s, rad/s]; and in the order of
        the wheels the rate [rad/s], the friction coefficient that rolling needs, and the normal
        force [N], each None where there is none."""
        X = base_pose(moment.q)
        yaw = math.atan2(X[1, 0], X[0, 0])
        found = {"type": "reading", "t": moment.t, "pose": [*X[:2, 3].tolist(), yaw]}
        if moment.v is None:
            return found
        v = moment.v
        found["twist"] = planar_twist(self.vehicle, moment.q, v).tolist()
        wheels = self.vehicle.contact_names
        found["rates"] = [float(v[self._spins[name]]) if name in self._spins else None
                          for name in wheels]
        u = moment.u
        if forces and u is not None and len(u) == self.vehicle.constrained.system.u.numel():
            ground = reactions_at(self.vehicle, moment.t, moment.q, v, u)
            found["normal"] = [ground.components[name].get("normal", 0.0) for name in wheels]
            found["needed"] = [self._needed(name, ground) for name in wheels]
        return found

    def _needed(self, wheel: str, forces: Reactions) -> float | None:
        """None for a contact without friction, and for one that the ground would have to pull."""
        normal = forces.components[wheel].get("normal", 0.0)
        if wheel not in self._held or not normal > 0:
            return None
        across = forces.world[wheel] - normal * np.array(self.vehicle.ground.normal)
        size = float(np.linalg.norm(across))
        return 0.0 if size < self._least else size / normal
