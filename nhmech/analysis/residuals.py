"""How well a run satisfies its constraints."""

from __future__ import annotations

import numpy as np

from ..checks import check_arguments
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated

SAMPLES = 500       # states at which the constraints are evaluated at most, spread over the run


@check_arguments
def residuals(trajectory: Trajectory, simulated: Simulated | None = None) -> tuple[float, float]:
    """Largest violation of the constraints over a run: of the rows, and of phi.

    They are max |A v + b| / max(1, |v|), with `Distribution.flow`, and max |phi|; dropped rows are
    among them. Of a run with Coulomb friction, moments at which wheels may slide or fly are left
    out.

    Parameters
    ----------
    trajectory
        The run.
    simulated
        What moved; that of the trajectory where None.
    """
    simulated = trajectory.simulated if simulated is None else simulated
    vehicle, slip, height = simulated.vehicle, 0.0, 0.0
    rolled = np.flatnonzero(trajectory.rolled)
    evaluate = (
        simulated.constrained.constraint_function()
        if vehicle is None
        else vehicle.functions.constraints
    )
    flows = simulated.constrained.flow_function()
    for i in rolled[np.unique(np.linspace(0, len(rolled) - 1,
                                          min(SAMPLES, len(rolled))).astype(int))]:
        v = trajectory.v[i]
        A, b, phi = evaluate(trajectory.t[i], trajectory.q[i], simulated.theta)
        b = b + flows(trajectory.t[i], trajectory.q[i], v, simulated.theta)
        slip = max(
            slip,
            float(np.linalg.norm(A.full() @ v + b.full().ravel()) / max(1.0, np.linalg.norm(v))),
        )
        height = max(height, float(np.max(np.abs(phi.full()), initial=0.0)))
    return slip, height
