"""Quantities along a computed motion."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from .example import Example


def along(example: Example, what: str | ca.SX, times: Sequence[float] | np.ndarray, q: np.ndarray,
          xi: np.ndarray) -> np.ndarray:
    """Values (N, k) at the states (times [s], q, xi) of a motion without inputs.

    Parameters
    ----------
    what
        An expression in the symbols (t, q, v, theta) of the system; or "acceleration", dv/dt; or
        "multipliers", those of the kept rows in the order of the rows.
    """
    equations, system, theta = (
        example.equations(),
        example.constrained.system,
        example.constrained.parameters,
    )
    if isinstance(what, str):
        function, u = getattr(equations, what), np.zeros(system.u.numel())
        order = np.argsort(equations.frame.kept) if what == "multipliers" else slice(None)
        return np.array([function(t, x, w, u, theta).full().ravel()[order]
                         for t, x, w in zip(times, q, xi)])
    function = ca.Function("along", [system.t, system.q, system.v, system.theta],
                           [ca.densify(what)])
    return np.array([function(t, x, equations.velocity(t, x, w, theta), theta).full().ravel()
                     for t, x, w in zip(times, q, xi)])
