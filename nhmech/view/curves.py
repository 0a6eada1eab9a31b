"""What a recorded page plots beside the picture: the readings of a run, and its columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..simulation.runs.trajectory import Trajectory
from ..vehicle.vehicle import Vehicle
from .drawable import Playable
from .instruments import Instruments
from .sampling import snapshots
from .scene import Scene
from .shapes import floats

MOST = 300      # moments of a curve, as many as a small plot shows


def make_curves(scene: Scene, motion: Playable) -> list[dict[str, Any]]:
    """The messages: of a vehicle's wheels, of readings at moments over the run, and of all columns
    of a trajectory there. None where there is nothing to plot: a picture, or no vehicle."""
    vehicle = scene.vehicle
    if not isinstance(vehicle, Vehicle) or not isinstance(motion, Trajectory) or len(motion.t) < 2:
        return []
    rows = np.unique(np.linspace(0, len(motion.t) - 1, MOST).round().astype(int))
    instruments = Instruments(vehicle, paths=scene.paths)
    moments = snapshots(vehicle.model, motion, motion.t[rows], motion.q[rows])
    readings = [instruments.read(moment) for moment in moments]
    columns = [{"name": f"{name} [{column.unit}]" if column.unit else name, "unit": column.unit,
                "values": floats(np.asarray(column.values)[rows])}
               for name, column in motion.columns().items() if name != "t"]
    return [instruments.describe(moments[0]), {"type": "readings", "readings": readings},
            {"type": "columns", "t": floats(motion.t[rows]), "columns": columns}]
