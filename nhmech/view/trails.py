"""Messages from which a running page draws the trails of the contacts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .colours import contact_rgb
from .drawable import Drawable
from .floor import RIBBON
from .overlays.contact_phases import SKID
from .shapes import floats


def trail_looks(vehicle: Drawable, size: float) -> dict[str, Any]:
    """Colours, width and the ground's normal; `size` of the vehicle [m]."""
    return {"colors": [contact_rgb(i) for i in range(len(vehicle.contact_names))],
            "width": RIBBON * size, "normal": list(vehicle.ground.normal), "skid": SKID}


def trail_piece(number: int, points: np.ndarray, phases: np.ndarray) -> dict[str, Any]:
    """The message of piece `number`, which replaces the earlier one; points (m, n, 3) [m] of all n
    contacts begin with the last two of the piece before, `phases` (m, n) are those up to each
    point."""
    codes = phases.ravel().tolist() if phases.any() else []
    return {"type": "trail", "path": f"/trails/{number}", "points": floats(points), "phases": codes}
