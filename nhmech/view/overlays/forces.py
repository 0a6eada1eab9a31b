"""The ground's force on each wheel: an arrow in its friction cone, from green to red as more of it
is used."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ...analysis.friction import coefficients
from ...errors import NhmechError
from ...vehicle.reactions import Reactions, reactions
from ..messages import rgb, set_group
from . import Overlay, Row

PATH = "/overlays/forces"
# use of the friction -> colour
SHADES = {0.0: (0.10, 0.62, 0.25), 0.5: (0.10, 0.62, 0.25), 0.8: (0.95, 0.62, 0.05),
          1.0: (0.80, 0.08, 0.10)}
UNKNOWN = (0.25, 0.35, 0.50)                     # nobody said what the friction is
# opacities; below 1, so that an arrow is drawn after the wheel around it
ARROW, CONE = 0.999, 0.28
# radii of shaft and head, and length of the head, as shares of the vehicle's size
SHAFT, HEAD, LONG = 0.008, 0.022, 0.07


class Forces(Overlay):
    """Per contact the force that ideal rolling needs, from its point on, and its cone |tangential|
    <= mu normal.

    The scale is such that the mean load at rest is as long as the largest wheel is high. Forces are
    those of `vehicle.reactions.reactions`: where the wheels can share the load in many ways, the
    least-norm split with normals >= 0.

    Parameters
    ----------
    mu
        As `analysis.friction.coefficients` takes it; None: what the file says; no cone where nobody
        says anything.

    Raises
    ------
    NhmechError
        Where it has nothing to work with: something without wheels, a moment without speeds and
        inputs, a kinematic run.
    """

    def __init__(self, vehicle, mu=None):
        if not hasattr(vehicle, "contacts"):
            raise NhmechError(f"{vehicle.name} has no wheels: the ground's forces are drawn of a "
                              "vehicle only")
        self.vehicle, self._mu = vehicle, coefficients(vehicle, mu)
        self._weight = pin.computeTotalMass(vehicle.model) * float(
            np.linalg.norm(vehicle.model.gravity.linear)
        )
        self._high = 2 * max(c.mount.wheel.radius for c in vehicle.contacts)
        self._paths = {name: f"{PATH}/{i}" for i, name in enumerate(vehicle.contact_names)}
        self._last: tuple = None, None

    def objects(self, view) -> list[dict]:
        """Shaft, head and cone of height 1 m along z."""
        solid = {"type": "MeshBasicMaterial", "color": rgb(UNKNOWN), "side": 0, "transparent": True,
                 "opacity": ARROW, "depthTest": False}
        faint = {"type": "MeshBasicMaterial", "color": rgb(UNKNOWN), "side": 2, "transparent": True,
                 "opacity": CONE, "depthWrite": False}
        parts = {"shaft": (_round(SHAFT * view.size, SHAFT * view.size), solid),
                 "head": (_round(0.0, HEAD * view.size), solid),
                 "cone": (_round(1.0, 0.0, True), faint)}
        # three.js has them along y, about their middle
        raised = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0.5], [0, 0, 0, 1]])
        return [set_group(f"{path}/{name}", [(geometry, material, raised)],
                          False) for path in self._paths.values()
                for name, (geometry, material) in parts.items()]

    def at(self, moment, view) -> dict[str, np.ndarray | None]:
        ground = self._forces(moment)
        scale = (self._high or 0.3 * view.size) * len(self._paths) / max(self._weight, 1e-9)
        points, n, poses = (
            self.vehicle.contact_points(moment.q, moment.t),
            np.array(self.vehicle.ground.normal),
            {},
        )
        for (wheel, path), point in zip(self._paths.items(), points):
            force = scale * ground.world[wheel]
            normal = scale * ground.components[wheel].get("normal", 0.0)
            length, mu = float(np.linalg.norm(force)), self._mu[wheel]
            shown = length > 1e-3 * view.size
            head = min(LONG * view.size, 0.5 * length)
            poses[f"{path}/shaft"] = _along(point, force, 1.0, length - head) if shown else None
            poses[f"{path}/head"] = poses[f"{path}/cone"] = None
            if shown:
                wide = head / (LONG * view.size)
                poses[f"{path}/head"] = _along(point + force * (1 - head / length), force, wide,
                                               head)
            if np.isfinite(mu) and normal > 1e-3 * view.size:
                poses[f"{path}/cone"] = _along(point, n, mu * normal, normal)
        return poses

    def rows(self, moment) -> tuple[Row, ...]:
        """What each wheel needs of its friction."""
        ground, rows = self._forces(moment), []
        for wheel, path in self._paths.items():
            parts, mu = ground.components[wheel], self._mu[wheel]
            normal = parts.get("normal", 0.0)
            along = float(
                np.linalg.norm(ground.world[wheel] - normal * np.array(self.vehicle.ground.normal))
            )
            paints = {f"{path}/shaft": ARROW, f"{path}/head": ARROW, f"{path}/cone": CONE}
            if normal < 0:
                rows.append(Row(f"{wheel} is pulled: it lifts off", SHADES[1.0], paints))
                continue
            needed = (
                0.0 if along < 1e-9 * self._weight else along / normal if normal > 0 else np.inf
            )
            text = f"{wheel} needs \N{GREEK SMALL LETTER MU} {needed:.2f}" + (
                f" of {mu:g}" if np.isfinite(mu) else ""
            )
            rows.append(Row(text, _shade(needed / mu) if np.isfinite(mu) else UNKNOWN, paints))
        return tuple(rows)

    def _forces(self, moment) -> Reactions:
        """Worked out once for each moment."""
        known, forces = self._last
        if known is not moment:
            wanted = self.vehicle.constrained.system.u.numel()
            if moment.v is None or moment.u is None:
                raise NhmechError("overlay 'forces' needs speeds v and inputs u at each moment: "
                                  "show a State of a run; a kinematic run has no forces")
            if len(moment.u) != wanted:
                raise NhmechError(f"overlay 'forces': the run has {len(moment.u)} inputs, "
                                  f"{self.vehicle.name!r} has {wanted}; draw the vehicle that ran, "
                                  "with external wrenches trajectory.simulated.vehicle")
            forces = reactions(self.vehicle, moment.t, moment.q, moment.v, moment.u)
            self._last = moment, forces
        return forces


def _shade(use: float) -> tuple[float, float, float]:
    return tuple(float(np.interp(use, list(SHADES), part)) for part in zip(*SHADES.values()))


def _round(top: float, bottom: float, hollow: bool = False) -> dict:
    return {"type": "CylinderGeometry", "radiusTop": top, "radiusBottom": bottom, "height": 1.0,
            "radialSegments": 40, "openEnded": hollow}


def _along(origin: np.ndarray, direction: np.ndarray, thick: float, long: float) -> np.ndarray:
    """Pose whose z axis is the direction, scaled by `thick` across and by `long` along."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(z, [1.0, 0.0, 0.0] if abs(z[0]) < 0.9 else [0.0, 1.0, 0.0])
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = (
        np.column_stack([thick * x, thick * np.cross(z, x), long * z]),
        origin,
    )
    return pose
