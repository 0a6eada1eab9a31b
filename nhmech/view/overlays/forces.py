"""The ground's force on each wheel: an arrow in its friction cone, from green to red as more of the
friction is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from ...analysis.friction import coefficients
from ...checks import check_arguments
from ...errors import InputError
from ...simulation.contact.phases import Phase
from ...vehicle.reactions import Reactions
from ...vehicle.vehicle import Vehicle
from ..camera import View
from ..drawable import Colour, Snapshot
from ..ground_forces import forces_at, friction_at, has_forces, needed_friction
from ..messages import rgb, set_group
from ..shapes import pose_along
from .contact_phases import wheel_phases
from .overlay import Layer, LegendLine, Overlay, Poses

PATH = "/overlays/forces"
# share of the friction that is used -> colour: green, through orange, to red
SHADES: dict[float, Colour] = {0.0: (0.10, 0.62, 0.25), 0.5: (0.10, 0.62, 0.25),
                               0.8: (0.95, 0.62, 0.05), 1.0: (0.80, 0.08, 0.10)}
UNKNOWN: Colour = (0.25, 0.35, 0.50)  # of a wheel without a friction coefficient
# opacities; that of the arrow is below 1 so that it is drawn after the wheel around it
ARROW, CONE = 0.999, 0.28
# radii of shaft and head, and length of the head, as shares of the vehicle's size
SHAFT, HEAD, HEAD_LENGTH = 0.008, 0.022, 0.07
SHORTEST = 1e-3  # an arrow of this share of the vehicle's size is not drawn


@check_arguments
class Forces(Overlay):
    """Overlay: the force that ideal rolling needs at each contact, and its friction cone.

    The cone is `|tangential| <= mu normal`.

    The arrow of the mean load at rest is as long as the largest wheel is high. Forces are those of
    `vehicle.reactions.reactions`: where the wheels can share the load in many ways, the least-norm
    split with normals >= 0.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    mu
        Friction coefficients, as `analysis.friction.coefficients` takes them; None takes those of
        the file. A wheel without a coefficient has no cone.

    Attributes
    ----------
    paths
        Wheel -> where its arrow is on the page.

    Raises
    ------
    InputError
        For a system without wheels; when drawing, for a moment without velocities and inputs, as in
        a kinematic run.
    """

    needs = ("mu",)
    layer = Layer("forces", (PATH,), is_shown=True)

    def __init__(self, vehicle: Vehicle, mu: float | Mapping[str, float] | None = None):
        if not isinstance(vehicle, Vehicle):
            raise InputError(f"{vehicle.name} has no wheels: the ground's forces can only be drawn "
                             "on a vehicle")
        self.vehicle, self._mu = vehicle, coefficients(vehicle, mu)
        gravity = float(np.linalg.norm(vehicle.model.gravity.linear))
        self._weight = pin.computeTotalMass(vehicle.model) * gravity
        self._wheel_height = 2 * max(c.mount.wheel.radius for c in vehicle.contacts)
        self.paths = {name: f"{PATH}/{i}" for i, name in enumerate(vehicle.contact_names)}
        self._latest: tuple[Snapshot, Reactions] | None = None

    def objects(self, view: View) -> list[dict]:
        """Shaft, head and cone of height 1 m along z."""
        solid = {"type": "MeshBasicMaterial", "color": rgb(UNKNOWN), "side": 0, "transparent": True,
                 "opacity": ARROW, "depthTest": False}
        faint = {"type": "MeshBasicMaterial", "color": rgb(UNKNOWN), "side": 2, "transparent": True,
                 "opacity": CONE, "depthWrite": False}
        parts = {"shaft": (_cone(SHAFT * view.size, SHAFT * view.size), solid),
                 "head": (_cone(0.0, HEAD * view.size), solid),
                 "cone": (_cone(1.0, 0.0, is_open=True), faint)}
        # three.js has cones along y, about their middle
        raised = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0.5], [0, 0, 0, 1]])
        return [set_group(f"{path}/{name}", [(geometry, material, raised)], casts_shadow=False)
                for path in self.paths.values()
                for name, (geometry, material) in parts.items()]

    def measures(self, view: View) -> dict[str, Any]:
        """Length of an arrow [m/N], of a head at most [m], and of an arrow that is not drawn [m];
        and the colours by share of the friction."""
        # a vehicle on skates has no wheel to measure against
        mean_length = self._wheel_height or 0.3 * view.size
        return {"scale": mean_length * len(self.paths) / max(self._weight, 1e-9),
                "head": HEAD_LENGTH * view.size, "shortest": SHORTEST * view.size,
                "shades": [[share, *colour] for share, colour in SHADES.items()]}

    def at(self, moment: Snapshot, view: View) -> Poses:
        ground = self.reactions_at(moment)
        measures = self.measures(view)
        scale, longest, shortest = (measures[key] for key in ("scale", "head", "shortest"))
        points = self.vehicle.contact_points(moment.q, moment.t)
        n, friction = np.array(self.vehicle.ground.normal), friction_at(self._mu, moment)
        poses: dict[str, np.ndarray | None] = {}
        for (wheel, path), point in zip(self.paths.items(), points):
            force = scale * ground.world[wheel]
            normal = scale * ground.components[wheel].get("normal", 0.0)
            length, mu = float(np.linalg.norm(force)), friction[wheel]
            head = min(longest, 0.5 * length)
            poses |= dict.fromkeys((f"{path}/shaft", f"{path}/head", f"{path}/cone"))
            if length > shortest:
                base = point + force * (1 - head / length)
                poses[f"{path}/shaft"] = pose_along(point, force, 1.0, length - head)
                poses[f"{path}/head"] = pose_along(base, force, head / longest, head)
            if np.isfinite(mu) and normal > shortest:
                # its side is as long as the load: an arrow that leans stays beside it
                high = normal / np.hypot(1.0, mu)
                poses[f"{path}/cone"] = pose_along(point, n, mu * high, high)
        return poses

    def rows(self, moment: Snapshot) -> tuple[LegendLine, ...]:
        """The friction that each wheel needs."""
        ground = self.reactions_at(moment)
        friction = friction_at(self._mu, moment)
        return tuple(self._line(wheel, friction[wheel], ground, phase) for wheel, phase in
                     zip(self.paths, wheel_phases(self.vehicle, moment)))

    def _line(self, wheel: str, mu: float, ground: Reactions, phase: Phase) -> LegendLine:
        path, normal = self.paths[wheel], ground.components[wheel].get("normal", 0.0)
        paints = {f"{path}/shaft": ARROW, f"{path}/head": ARROW, f"{path}/cone": CONE}
        if normal < 0:
            return LegendLine(f"{wheel} is pulled: it lifts off", SHADES[1.0], paints)
        if phase == Phase.AIRBORNE:
            return LegendLine(f"{wheel} is in the air", UNKNOWN, paints)
        verb = "slides at" if phase == Phase.SLIDING else "needs"
        needed = needed_friction(self.vehicle, wheel, ground)
        text = f"{wheel} {verb} \N{GREEK SMALL LETTER MU} {needed:.2f}"
        if not np.isfinite(mu):
            return LegendLine(text, UNKNOWN, paints)
        return LegendLine(f"{text} of {mu:g}", _shade(needed / mu), paints)

    def reactions_at(self, moment: Snapshot) -> Reactions:
        """The ground's forces, solved once for each moment."""
        if self._latest is None or self._latest[0] is not moment:
            if moment.v is None or moment.u is None:
                raise InputError("overlay 'forces' needs speeds v and inputs u at each moment: "
                                 "show a State of a run; a kinematic run has no forces")
            if not has_forces(self.vehicle, moment):
                raise InputError(f"overlay 'forces': the run has {len(moment.u)} inputs, "
                                 f"{self.vehicle.name!r} has others; draw the vehicle that ran, "
                                 "with external wrenches trajectory.simulated.vehicle")
            self._latest = moment, forces_at(self.vehicle, moment)
        return self._latest[1]


def _shade(use: float) -> Colour:
    red, green, blue = (float(np.interp(use, list(SHADES), part))
                        for part in zip(*SHADES.values()))
    return red, green, blue


def _cone(top: float, bottom: float, is_open: bool = False) -> dict:
    """A cone or cylinder of height 1 m, by the radii [m] of its ends."""
    return {"type": "CylinderGeometry", "radiusTop": top, "radiusBottom": bottom, "height": 1.0,
            "radialSegments": 40, "openEnded": is_open}
