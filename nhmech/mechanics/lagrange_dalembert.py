"""Lagrange-d'Alembert with the constrained Lagrangian and the curvature of the constraints."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from .algebroid import bracket
from .equations import Equations, equations_of, solve_definite, speed_symbols
from .frame import AdaptedFrame, adapted_frame
from .system import HasConstrained


@check_arguments
@hear_ctrl_c()
def lagrange_dalembert(constrained: HasConstrained, speeds: Sequence[str] | None = None, *,
                       frame: AdaptedFrame | None = None) -> Equations:
    """Equations of motion by Lagrange and d'Alembert, with the curvature of the constraints.

    d/dt(dL_c/dxi^a) - X_a(L_c) = tau . E_a - p . ([E_a, V] - dE_a/dt|_q), with L_c(t, q, xi) = L(t,
    q, E xi + e0).

    V = E xi + e0 is the velocity as a section, p = dL/dv on it, X_a = rho(E_a); the bracket is the
    curvature of the Ehresmann connection whose horizontal lift is E, and for e0 = 0 on a tangent
    bundle this is eq. (3.4) of paper 000.

    Parameters
    ----------
    constrained, speeds, frame
        As in `gibbs_appell`.

    Raises
    ------
    MechanicsError
        For a system that has no Lagrangian.
    """
    frame = adapted_frame(constrained, speeds) if frame is None else frame
    frame.constrained.require_ideal("lagrange_dalembert")
    system, n = frame.constrained.system, frame.nxi
    lagrangian = system.require_lagrangian("lagrange_dalembert")
    algebroid, t, q, v = system.algebroid, system.t, system.q, system.v
    xi, xi_rate = speed_symbols(frame), ca.SX.sym("xi_rate", n)
    E, V = frame.E, frame.velocity(xi)
    on_frame = ca.substitute(lagrangian, v, V)
    momentum = ca.substitute(ca.gradient(lagrangian, v), v, V)
    q_rate = algebroid.anchor @ V
    own = ca.gradient(on_frame, xi)
    own_rate = ca.jtimes(own, q, q_rate) + ca.jtimes(own, t, ca.SX(1)) + ca.jtimes(own, xi, xi_rate)
    left = own_rate - (algebroid.anchor @ E).T @ ca.gradient(on_frame, q)
    curvature = [ca.dot(momentum, bracket(algebroid, E[:, a],
                                          V) - ca.jtimes(E[:, a], t, ca.SX(1))) for a in range(n)]
    balance = left + ca.vertcat(ca.SX(0, 1), *curvature) - E.T @ ca.substitute(system.force, v, V)
    zero = ca.substitute(balance, xi_rate, ca.SX.zeros(n))
    solved = -solve_definite(ca.jacobian(balance, xi_rate), zero)
    acceleration = ca.substitute(frame.solve(solved, -frame.gamma), v, V)
    lam = ca.substitute(frame.multipliers(acceleration), v, V)
    return equations_of("lagrange_dalembert", frame, xi, acceleration, lam)
