"""The nonholonomic momentum equation, checked along a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import check_arguments, read_array, show
from ..errors import REPR, InputError, listed
from ..mechanics.momentum import nonholonomic_momentum
from ..mechanics.symmetry import Symmetry

LEAST = 6       # points of a spline of degree 5


@dataclass(frozen=True)
class MomentumBalance:
    """The residual of the momentum equation along a run.

    The defect is J_f(t) - J_f(0) - the integral of the right side of the equation.

    Attributes
    ----------
    names
        Of the sections.
    momentum
        J_f (N, n).
    defect
        (N, n) in the momentum equation.
    """

    names: tuple[str, ...]
    momentum: np.ndarray
    defect: np.ndarray

    def __repr__(self) -> str:
        return (f"<MomentumBalance of {listed(self.names, REPR)} over {len(self.momentum)} states: "
                f"defect at most {np.abs(self.defect).max(initial=0.0):.2g}>")


@check_arguments
def momentum_balance(symmetry: Symmetry, t: np.ndarray, q: np.ndarray, v: np.ndarray,
                     u: np.ndarray | None = None) -> MomentumBalance:
    """Whether the momentum equation holds along a run (paper 004, eq. (24)).

    The equation is d/dt J_f = <dL/dv, S df/dt> + tau . S f.

    The right side is integrated with a spline of degree 5 through its values: the defect shrinks
    with the sixth power of the time step, or with the integrator's order.

    Parameters
    ----------
    symmetry
        From `mechanics.symmetry` or `mechanics.find_symmetry`.
    t, q, v, u
        (N,), (N, nq), (N, nv), (N, nu) of the run, N >= 6; u is zero if None.

    Raises
    ------
    MechanicsError
        If no combination of the generators lies in the distribution, or the system has no energy
        to take dL/dv of.
    """
    from scipy.interpolate import make_interp_spline

    constrained = symmetry.constrained
    found = nonholonomic_momentum(symmetry)
    system, count = constrained.system, np.size(t)
    t = read_array("t", t, (max(count, LEAST),), f"{LEAST} or more times [s]")
    if not (np.diff(t) > 0).all():
        raise InputError(f"t = {show(t)} must be times [s], each after the last")
    q, v, u = (
        read_array(name, value, (count, len(columns)), f"({count}, {len(columns)}) finite numbers, "
                   "a row for each t")
        for name, value, columns in (
            ("q", q, system.algebroid.q_names), ("v", v, system.algebroid.v_names),
            ("u", np.zeros((count, len(system.u_names))) if u is None else u, system.u_names)))
    theta = constrained.parameters
    J = np.array([found.momentum(*state, theta).full().ravel() for state in zip(t, q, v)])
    rate = np.array([found.rate(*state, theta).full().ravel() for state in zip(t, q, v, u)])
    integral = make_interp_spline(t, rate, k=5).antiderivative()
    return MomentumBalance(found.names, J, J - J[0] - integral(t))
