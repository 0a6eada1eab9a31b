"""Hamel's equations: Lagrange-d'Alembert in quasi-velocities adapted to the constraints."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from .equations import Equations, equations_of, solve_definite, speed_symbols
from .frame import AdaptedFrame, adapted_frame
from .quasi_velocities import change_of_basis
from .system import HasConstrained


@check_arguments
@hear_ctrl_c()
def hamel(constrained: HasConstrained, speeds: Sequence[str] | None = None, *,
          frame: AdaptedFrame | None = None) -> Equations:
    """Equations of motion by Hamel, in quasi-velocities.

    d/dt(dl/dw^a) = rho(X_a) l - C^g_ab w^b dl/dw^g + dX_a/dt|_q . p + Q_a, in the basis X = Phi^-1
    of the fibre.

    w = (xi, eta) with eta = A v, l(t, q, w) = L(t, q, X w), C the Hamel symbols, that is the
    structure functions in that basis. The first nxi equations hold with eta = -b put in after
    differentiation and give dxi/dt; the others give the multipliers. Source: paper 002, eqs. (3),
    (13), (16); Hamel 1904.

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
    frame.constrained.require_ideal("hamel")
    constrained, system, n = frame.constrained, frame.constrained.system, frame.nxi
    lagrangian = system.require_lagrangian("hamel")
    t, q, v, kept = system.t, system.q, system.v, list(frame.kept)
    b = constrained.distribution.b[kept]
    X = frame.inverse
    adapted = change_of_basis(system.algebroid, X,
                              frame.names + tuple(constrained.distribution.names[i] for i in kept))
    w, w_rate = ca.SX.sym("w", X.shape[0]), ca.SX.sym("w_rate", X.shape[0])
    on_basis = ca.substitute(lagrangian, v, X @ w)
    momentum = ca.gradient(on_basis, w)
    q_rate = adapted.anchor @ w
    left = (ca.jtimes(momentum, q, q_rate) + ca.jtimes(momentum, t, ca.SX(1))
            + ca.jtimes(momentum, w, w_rate))
    left -= adapted.anchor.T @ ca.gradient(on_basis, q)
    left += ca.vertcat(*[sum((momentum[g] * (C[a, :] @ w) for g, C in enumerate(adapted.structure)),
                             ca.SX(0)) for a in range(w.numel())])
    drift = ca.jtimes(X, t, ca.SX(1)) if ca.depends_on(X, t) else ca.SX(*X.shape)
    left -= drift.T @ ca.substitute(ca.gradient(lagrangian, v), v, X @ w)
    balance = left - X.T @ ca.substitute(system.force, v, X @ w)

    xi, xi_rate = speed_symbols(frame), ca.SX.sym("xi_rate", n)
    on = ca.densify(ca.vertcat(xi, -b))
    b_rate = ca.jtimes(b, q, ca.substitute(q_rate, w, on)) + ca.jtimes(b, t, ca.SX(1))
    balance = ca.substitute(ca.substitute(balance, w_rate,
                                          ca.densify(ca.vertcat(xi_rate, -b_rate))), w, on)
    zero = ca.substitute(balance[:n], xi_rate, ca.SX.zeros(n))
    solved = -solve_definite(ca.jacobian(balance[:n], xi_rate), zero)
    V = frame.velocity(xi)
    acceleration = ca.substitute(frame.solve(solved, -frame.gamma), v, V)
    return equations_of("hamel", frame, xi, acceleration,
                        ca.substitute(balance[n:], xi_rate, solved))
