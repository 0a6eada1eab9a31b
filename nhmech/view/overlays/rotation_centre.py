"""The rotation centre: a mark on the ground where the axles meet, and a line to it from each of
their wheels."""

from __future__ import annotations

import numpy as np

from ...analysis.axles import AxleReader
from ...checks import check_arguments
from ...errors import InputError
from ...vehicle.vehicle import Vehicle
from ..camera import View
from ..drawable import Snapshot
from ..messages import rgb, set_group
from ..shapes import buffer_geometry, strip
from .overlay import Layer, Overlay, Poses

COLOUR = (0.38, 0.12, 0.55)
PATH = "/overlays/rotation_centre"
# radii, width, height above the ground, as shares of the vehicle's size
MARK, RING, LINE, LIFT = 0.03, (0.055, 0.08), 0.014, 0.006


@check_arguments
class RotationCentre(Overlay):
    """Overlay: the point about which the base turns.

    It is not drawn where axles are parallel, or where it is farther away than the drawn ground.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.

    Raises
    ------
    InputError
        For something without axles.
    """

    legend = (("rotation centre", COLOUR),)
    layer = Layer("rotation centre", (PATH,), is_shown=True)

    def __init__(self, vehicle: Vehicle):
        if not isinstance(vehicle, Vehicle):
            raise InputError(f"{vehicle.name} has no axles: a rotation centre can only be drawn on "
                             "a vehicle")
        self.vehicle, self._axles = vehicle, AxleReader(vehicle)
        self._lines = {c.name: f"{PATH}/axles/{i}" for i, c in enumerate(self._axles.contacts)}

    def objects(self, view: View) -> list[dict]:
        """A ring around a dot, and strips of length 1 m along x."""
        material = {"type": "MeshBasicMaterial", "color": rgb(COLOUR), "side": 2,
                    "polygonOffset": True, "polygonOffsetFactor": -20, "polygonOffsetUnits": -20}
        faint = {**material, "transparent": True, "opacity": 0.45}
        dot, ring = _annulus(0.0, MARK * view.size), _annulus(*(r * view.size for r in RING))
        parts = {f"{PATH}/mark": [(dot, material, np.eye(4)), (ring, material, np.eye(4))]}
        parts |= dict.fromkeys(self._lines.values(), [(strip(LINE * view.size), faint, np.eye(4))])
        return [set_group(path, part, casts_shadow=False) for path, part in parts.items()]

    def at(self, moment: Snapshot, view: View) -> Poses:
        hidden: dict[str, None] = dict.fromkeys([f"{PATH}/mark", *self._lines.values()])
        centre = self._axles.centre(moment.q, moment.v)
        if centre is None or np.linalg.norm(centre - moment.q[:3]) > view.reach:
            return hidden
        ground, lift = self.vehicle.ground, LIFT * view.size
        n = np.array(ground.normal)
        centre = centre - n * (n @ (centre - ground.point) - lift)
        pose = np.eye(4)
        pose[:3, :3] = np.column_stack([*ground.tangents, n])
        pose[:3, 3] = centre
        found: dict[str, np.ndarray | None] = {f"{PATH}/mark": pose}
        points = dict(zip(self.vehicle.contact_names,
                          self.vehicle.contact_points(moment.q, moment.t)))
        for wheel in self._axles.at(moment.q).wheels:
            start = points[wheel] + lift * n
            along = centre - start
            length = np.linalg.norm(along)
            if length > 1e-3 * view.size:
                line = np.eye(4)
                line[:3, :3] = np.column_stack([along, np.cross(n, along / length), n])
                line[:3, 3] = start
                found[self._lines[wheel]] = line
        return hidden | found


def _annulus(inner: float, outer: float) -> dict:
    """A flat ring about the origin by its radii [m], normal along z."""
    angles = np.linspace(0, 2 * np.pi, 49)[:-1]
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(48)])
    k = np.arange(48)
    after = (k + 1) % 48
    faces = np.vstack([np.stack([k, k + 48, after + 48], axis=1),
                       np.stack([k, after + 48, after], axis=1)])
    return buffer_geometry(np.vstack([inner * circle, outer * circle]), faces)
