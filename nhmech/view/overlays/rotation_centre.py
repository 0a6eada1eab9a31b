"""The rotation centre: a target on the ground where the axles meet, and a line to it from each of
their wheels."""

from __future__ import annotations

import numpy as np

from ...analysis.axles import AxleReader
from ...errors import NhmechError
from ..messages import rgb, set_group
from ..shapes import buffer_geometry
from . import Overlay

COLOUR = (0.38, 0.12, 0.55)
PATH = "/overlays/rotation_centre"
# radii, width, height above the ground, as shares of the vehicle's size
MARK, RING, LINE, LIFT = 0.03, (0.055, 0.08), 0.014, 0.006


class RotationCentre(Overlay):
    """Where `AxleReader.centre` is; nothing where axles are parallel, or it is farther away than
    the drawn ground."""

    legend = (("rotation centre", COLOUR),)

    def __init__(self, vehicle):
        if not hasattr(vehicle, "contacts"):
            raise NhmechError(f"{vehicle.name} has no axles: a rotation centre is drawn of a "
                              "vehicle only")
        self.vehicle, self._axles = vehicle, AxleReader(vehicle)
        self._lines = {c.name: f"{PATH}/axles/{i}" for i, c in enumerate(self._axles.contacts)}

    def objects(self, view) -> list[dict]:
        """A ring around a dot, and strips of length 1 m along x."""
        material = {"type": "MeshBasicMaterial", "color": rgb(COLOUR), "side": 2,
                    "polygonOffset": True, "polygonOffsetFactor": -20, "polygonOffsetUnits": -20}
        faint = {**material, "transparent": True, "opacity": 0.45}
        dot, ring = _annulus(0.0, MARK * view.size), _annulus(*(r * view.size for r in RING))
        half = 0.5 * LINE * view.size
        strip = buffer_geometry(np.array([[0, -half, 0], [1, -half, 0], [1, half, 0],
                                          [0, half, 0]]),
                                np.array([[0, 1, 2], [0, 2, 3]]))
        mark = set_group(f"{PATH}/mark", [(dot, material, np.eye(4)), (ring, material, np.eye(4))],
                         False)
        return [mark, *(set_group(path, [(strip, faint, np.eye(4))],
                                  False) for path in self._lines.values())]

    def at(self, moment, view) -> dict[str, np.ndarray | None]:
        hidden = dict.fromkeys([f"{PATH}/mark", *self._lines.values()])
        centre = self._axles.centre(moment.q, moment.v)
        if centre is None or np.linalg.norm(centre - moment.q[:3]) > view.reach:
            return hidden
        ground, lift = self.vehicle.ground, LIFT * view.size
        n = np.array(ground.normal)
        centre = centre - n * (n @ (centre - ground.point) - lift)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = np.column_stack([*ground.tangents, n]), centre
        found = {f"{PATH}/mark": pose}
        points = dict(zip(self.vehicle.contact_names,
                          self.vehicle.contact_points(moment.q, moment.t)))
        for wheel in self._axles.at(moment.q).wheels:
            start = points[wheel] + lift * n
            along = centre - start
            length = np.linalg.norm(along)
            if length > 1e-3 * view.size:
                line = np.eye(4)
                line[:3, :3], line[:3, 3] = (
                    np.column_stack([along, np.cross(n, along / length), n]),
                    start,
                )
                found[self._lines[wheel]] = line
        return hidden | found


def _annulus(inner: float, outer: float) -> dict:
    """Flat, about the origin, normal along z."""
    angles = np.linspace(0, 2 * np.pi, 49)[:-1]
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(48)])
    k = np.arange(48)
    after = (k + 1) % 48
    faces = np.vstack([np.stack([k, k + 48, after + 48], axis=1),
                       np.stack([k, after + 48, after], axis=1)])
    return buffer_geometry(np.vstack([inner * circle, outer * circle]), faces)
