"""The readings beside the picture of a page, in instruments and plots: pose, speed, and for each
wheel its rate and the share of friction in use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..analysis.friction import coefficients
from ..simulation.contact.phases import Phase
from ..simulation.runs.driven_twist import planar_twist
from ..simulation.simulated import Simulated
from ..simulation.state import base_pose
from ..vehicle.reactions import Reactions
from ..vehicle.vehicle import Vehicle
from .colours import contact_rgb
from .drawable import Snapshot
from .ground_forces import forces_at, friction_at, has_forces, needed_friction
from .overlays.contact_phases import wheel_phases

PERIOD = 0.05       # [s] of real time between two readings: faster ones cannot be read
# what the page says of a wheel
PHASES = {Phase.ROLLING: "rolls", Phase.SLIDING: "slides", Phase.AIRBORNE: "in the air"}


class Instruments:
    """Reads a vehicle for the page. `mu`: friction coefficients, as in `analysis.validity`.
    `paths`: joint -> where the page has what it moves."""

    def __init__(self, vehicle: Vehicle, mu: float | Mapping[str, float] | None = None,
                 paths: Mapping[int, str] = MappingProxyType({})):
        self.vehicle, self.mu, self._paths = vehicle, coefficients(vehicle, mu), paths
        names = vehicle.algebroid.v_names
        self._spins = {c.name: names.index(c.mount.wheel.joint) for c in vehicle.contacts
                       if c.mount.wheel.joint in names}
        self._held = {row.contact for row in vehicle.contact_rows if not row.is_normal}

    def __repr__(self) -> str:
        return f"<Instruments of {self.vehicle.name!r}>"

    def describe(self, moment: Snapshot) -> dict[str, Any]:
        """The message that stays the same; `moment` is any of the motion."""
        wheels, friction = [], friction_at(self.mu, moment)
        for i, contact in enumerate(self.vehicle.contacts):
            name, wheel, mu = contact.name, contact.mount.wheel, friction[contact.name]
            wheels.append({"name": name, "color": contact_rgb(i), "kind": wheel.kind,
                           "radius": wheel.radius, "mu": mu if math.isfinite(mu) else None,
                           "path": self._path(wheel.joint)})
        return {"type": "instruments", "wheels": wheels}

    def columns(self) -> list[dict[str, str]]:
        """Names and units of v and u, as `Trajectory.columns` has them."""
        simulated = Simulated.of(self.vehicle)
        units = [(f"{part}.{name}", unit) for part in "vu"
                 for name, unit in simulated.units(part).items()]
        return [{"name": f"{name} [{unit}]" if unit else name, "unit": unit}
                for name, unit in units]

    def _path(self, joint: str | None) -> str:
        """Of what turns with a wheel; empty for a fixed one."""
        if joint is None or not self.vehicle.model.existJointName(joint):
            return ""
        return self._paths.get(self.vehicle.model.getJointId(joint), "")

    def read(self, moment: Snapshot) -> dict[str, Any]:
        """The message of one moment: pose [m, m, rad], twist [m/s, m/s, rad/s]; and in the order of
        the wheels the rate [rad/s], the friction coefficient that rolling needs or sliding has, the
        normal force [N], each None if there is none, and what they do where they need not
        roll."""
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
        if moment.contacts is not None:
            found["phases"] = [PHASES[phase] for phase in wheel_phases(self.vehicle, moment)]
        if has_forces(self.vehicle, moment):
            ground = forces_at(self.vehicle, moment)
            found["normal"] = [ground.components[name].get("normal", 0.0) for name in wheels]
            found["needed"] = [self._needed_friction(name, ground) for name in wheels]
        return found

    def _needed_friction(self, wheel: str, forces: Reactions) -> float | None:
        """None for a contact without friction, and for one that the ground would have to pull."""
        normal = forces.components[wheel].get("normal", 0.0)
        if wheel not in self._held or not normal > 0:
            return None
        return needed_friction(self.vehicle, wheel, forces)
