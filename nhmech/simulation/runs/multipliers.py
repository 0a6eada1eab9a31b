"""Lagrange multipliers along a run, by the names of their rows."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from ...errors import InputError, SimulationError, listed
from ...mechanics.equations import Equations
from ...mechanics.lagrange_multipliers import saddle_point_system
from ...once import once
from ..simulated import Simulated


def multiplier_along(simulated: Simulated, row: str,
                     evaluate: Callable[[ca.Function], np.ndarray]) -> np.ndarray:
    """lambda of a row at each moment, (N,) of a run, (N, K) of a batch, from the saddle-point
    system of `lagrange_multipliers`, which needs no choice of independent speeds. `evaluate`
    returns the values of a function of (t, q, v, u, theta) at each moment, flattened by columns."""
    if simulated.vehicle is not None:
        raise SimulationError("the ground forces of a vehicle are `force(wheel, direction)` and "
                              "`reactions`; multiplier is for systems written by hand")
    d, kept = simulated.constrained.distribution, simulated.equations.frame.kept
    if row not in d.names:
        raise InputError(f"no row {row!r}; there are {listed(d.names) or 'none'}")
    if d.names.index(row) not in kept:
        raise InputError(f"the row {row!r} depends on others, and its multiplier is not "
                         f"determined; {listed(d.names[i] for i in kept)} have one")
    found = evaluate(_saddle(simulated.equations))
    size = simulated.constrained.system.algebroid.nv + len(kept)
    columns = found.reshape(*found.shape[:-1], size + 1, size)       # by columns
    matrix = np.swapaxes(columns[..., :size, :], -1, -2)
    solved = np.linalg.pinv(matrix, rcond=1e-13) @ columns[..., size, :, None]
    return solved[..., size - len(kept) + kept.index(d.names.index(row)), 0]


@once
def _saddle(equations: Equations) -> ca.Function:
    """(t, q, v, u, theta) -> the matrix of the saddle-point system with its right-hand side."""
    s = equations.constrained.system
    whole, = s.expand(ca.horzcat(*saddle_point_system(equations.frame)))
    return ca.Function("saddle", [s.t, s.q, s.v, s.u, s.theta], [ca.densify(whole)], {"cse": True})
