"""Which number stands where in a row of a run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from .chart import Chart
from .moment import CLOCK, EXTRA


@dataclass(frozen=True, eq=False)
class Columns:
    """Of a row (t, q, v, u, angles); the same for all runs of a simulator.

    widths  of the five parts, in their order; `parts` has them by name
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
    def of(cls, chart: Chart) -> Columns:
        system, slots = chart.equations.frame.constrained.system, chart.flat.angle_slots()
        algebroid, positions = system.algebroid, chart.flat.names(())
        widths = (1, algebroid.nq, algebroid.nv, system.u.numel(), len(slots))
        parts = {name: slice(end - width, end) for name, width, end in zip(("t", "q", "v", "u", "angles"), widths, accumulate(widths))}
        names = {"q": algebroid.q_names, "v": algebroid.v_names, "xi": chart.equations.names, "u": system.u_names,
                 "angles": tuple(positions[i] for i in slots)}
        nqv, nx, nu = algebroid.nq + algebroid.nv, chart.flat.nx, system.u.numel()
        places = [CLOCK, *range(nqv), *range(nqv + nx, nqv + nx + nu), *(nqv + slot for slot in slots)]
        places = np.arange(nqv + nx + nu + EXTRA)[places]
        return cls(widths, parts, places, np.array(chart.speeds, dtype=np.intp), names)

    def part(self, rows: np.ndarray, name: str) -> np.ndarray:
        """t, q, v, xi, u or angles of rows."""
        if name == "xi":
            return self.part(rows, "v").take(self.speeds, axis=1)
        return rows[:, 0].copy() if name == "t" else rows[:, self.parts[name]]
