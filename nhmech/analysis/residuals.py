"""The residuals of the constraints along a run."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..compile.pointwise import Pointwise
from ..mechanics.system import ConstrainedSystem
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated

SAMPLES = 500       # states at which the constraints are evaluated at most, spread over the run


@check_arguments
def residuals(trajectory: Trajectory, simulated: Simulated | None = None) -> tuple[float, float]:
    """Largest violation of the constraints over a run: of the rows, and of phi.

    They are max |A v + b| / max(1, |v|), with `Distribution.flow`, and max |phi|, dropped rows
    included. In a run with Coulomb friction, moments at which wheels may slide or be in the air are
    left out.

    Parameters
    ----------
    trajectory
        The run.
    simulated
        What moved; that of the trajectory if None.
    """
    simulated = trajectory.simulated if simulated is None else simulated
    made, theta = simulated.constrained, simulated.theta
    rolled = np.flatnonzero(trajectory.rolled)
    if not len(rolled):
        return 0.0, 0.0
    some = rolled[np.unique(np.linspace(0, len(rolled) - 1, min(SAMPLES, len(rolled))).astype(int))]
    v = trajectory.v[some]
    slip, height = Pointwise(_left_over(made))(trajectory.t[some, None], trajectory.q[some], v,
                                               theta)
    size = np.maximum(1.0, np.linalg.norm(v, axis=1))
    return (float(np.max(np.linalg.norm(slip, axis=1) / size)),
            float(np.max(np.abs(height), initial=0.0)))


def _left_over(made: ConstrainedSystem) -> ca.Function:
    """(t, q, v, theta) -> A v + b with the flow (m,), and phi (k,)."""
    s = made.system
    A, b, phi = made.constraint_function()(s.t, s.q, s.theta)
    flow = made.flow_function()(s.t, s.q, s.v, s.theta)
    return ca.Function("left_over", [s.t, s.q, s.v, s.theta],
                       [ca.densify(part) for part in (A @ s.v + b + flow, phi)])
