"""Which number stands where in a row of a run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from .chart import Chart
from .commanded_twist import NAMES
from .moment import CLOCK, EXTRA


@dataclass(frozen=True, eq=False)
class Columns:
    """Of a row (t, q, v, u, angles), or (t, q, v, u, commanded_twist, angles) of a controller that commands one; the
    same for all runs of a simulator.

    widths  of the parts, in their order; `parts` has them by name
    places  where all of it stands in the block of a `Moment`
    speeds  which of v are independent
    names   as in `Trajectory.names`
    """

    widths: tuple[int, ...]
    parts: dict[str, slice]
    places: np.ndarray
    speeds: np.ndarray
    names: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, chart: Chart, twist: bool = False) -> Columns:
        system, slots = chart.equations.frame.constrained.system, chart.flat.angle_slots()
        algebroid, positions = system.algebroid, chart.flat.names(())
        beside = {"commanded_twist": NAMES} if twist else {}
        sizes = {"t": 1, "q": algebroid.nq, "v": algebroid.nv, "u": system.u.numel(),
                 **{part: len(told) for part, told in beside.items()}, "angles": len(slots)}
        parts = {name: slice(end - width, end) for (name, width), end in zip(sizes.items(), accumulate(sizes.values()))}
        names = {"q": algebroid.q_names, "v": algebroid.v_names, "xi": chart.equations.names, "u": system.u_names,
                 "angles": tuple(positions[i] for i in slots), **beside}
        nqv, nx, held = algebroid.nq + algebroid.nv, chart.flat.nx, sizes["u"] + sizes.get("commanded_twist", 0)
        places = [CLOCK, *range(nqv), *range(nqv + nx, nqv + nx + held), *(nqv + slot for slot in slots)]
        places = np.arange(nqv + nx + held + EXTRA)[places]
        return cls(tuple(sizes.values()), parts, places, np.array(chart.speeds, dtype=np.intp), names)

    def part(self, rows: np.ndarray, name: str) -> np.ndarray:
        """t, q, v, xi, u, angles or commanded_twist of rows."""
        if name == "xi":
            return self.part(rows, "v").take(self.speeds, axis=1)
        return rows[:, 0].copy() if name == "t" else rows[:, self.parts[name]]
