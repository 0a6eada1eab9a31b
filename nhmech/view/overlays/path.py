"""The reference path: a dashed line on the ground."""

from __future__ import annotations

import numpy as np

from ...checks import check_arguments
from ...control.path import Path
from ...errors import InputError
from ..camera import View
from ..drawable import Drawable
from ..floor import RIBBON
from ..messages import rgb, set_group
from ..shapes import buffer_geometry
from .overlay import Layer, Overlay

COLOUR = (0.16, 0.19, 0.24)
PATH = "/overlays/path"
# length of a dash and of a gap, width, height above the ground, as shares of the vehicle's size
DASH, WIDTH, LIFT = 0.10, 1.0 * RIBBON, 0.03 * RIBBON
PIECES = 4  # straight pieces of a dash, which follows the path's bend
MOST = 4000  # dashes of a long path: about 1 MB of triangles


@check_arguments
class ReferencePath(Overlay):
    """Overlay: a path from its beginning to its end, laid onto the ground along z.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    path
        A `nhmech.control.Path`.

    Raises
    ------
    InputError
        For a path without an end, and on a vertical wall.
    """

    needs = ("path",)
    legend = (("path to follow", COLOUR),)
    layer = Layer("path to follow", (PATH,), is_shown=True)

    def __init__(self, vehicle: Drawable, path: Path | None):
        if not isinstance(path, Path) or not np.isfinite(path.length):
            found = "there is no path" if path is None else f"{path!r} is no path with an end"
            raise InputError(f"overlay 'path': {found}; name the one that is followed, "
                             "such as --path figure8, or give a control.path.Path")
        if vehicle.ground.normal[2] < 1e-3:
            raise InputError("overlay 'path': a path is laid down along z and cannot lie on a "
                             f"wall of normal {vehicle.ground.normal}")
        self._ground, self._path = vehicle.ground, path
        self.points = self._project(path.point(np.linspace(0.0, path.length, 200)))

    def objects(self, view: View) -> list[dict]:
        """All dashes as one flat strip."""
        count = int(np.clip(np.round(self._path.length / (2 * DASH * view.size)), 1, MOST))
        starts = np.arange(count) * self._path.length / count
        s = (starts[:, None] + np.linspace(0.0, 0.5 * self._path.length / count,
                                           PIECES + 1)).ravel()
        x, y, heading, _ = self._path.at(s)
        left = 0.5 * WIDTH * view.size * np.stack([-np.sin(heading), np.cos(heading)], axis=-1)
        middle = np.stack([x, y], axis=-1)
        vertices = self._project(np.stack([middle - left, middle + left], axis=-2).reshape(-1, 2))
        k = 2 * np.arange(count * (PIECES + 1)).reshape(count, -1)[:, :-1].ravel()
        faces = np.stack([k, k + 1, k + 3, k, k + 3, k + 2], axis=1).reshape(-1, 3)
        material = {"type": "MeshBasicMaterial", "color": rgb(COLOUR), "side": 2,
                    "polygonOffset": True, "polygonOffsetFactor": -1, "polygonOffsetUnits": -1}
        lifted = vertices + LIFT * view.size * np.array(self._ground.normal)
        return [set_group(PATH, [(buffer_geometry(lifted, faces), material, np.eye(4))],
                          casts_shadow=False)]

    def _project(self, xy: np.ndarray) -> np.ndarray:
        """Points (n, 3) of the ground above or below xy (n, 2)."""
        n, point = np.array(self._ground.normal), np.array(self._ground.point)
        return np.column_stack([xy, point[2] - (xy - point[:2]) @ n[:2] / n[2]])
