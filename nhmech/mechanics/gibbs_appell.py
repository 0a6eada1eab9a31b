"""The Gibbs-Appell equations."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from .elimination import factorise
from .equations import Equations
from .frame import AdaptedFrame, adapted_frame
from .system import ConstrainedSystem


def gibbs_appell(constrained: ConstrainedSystem, speeds: Sequence[str] | None = None, *, frame: AdaptedFrame | None = None) -> Equations:
    """dS/d(dxi/dt) = E^T tau, with v = E xi + e0 and dv/dt solved from Phi dv/dt = [dxi/dt; -gamma].

    The reduced mass matrix is the Hessian of S in dxi/dt, the bias its gradient at dxi/dt = 0. The multipliers are the
    components of dS/da - tau along the rows, A^T lambda = dS/da - tau. Source: paper 002, eq. (17); Gibbs 1879, Appell 1899.

    constrained  a `ConstrainedSystem`, or anything with one as `.constrained`
    speeds       names of the independent speeds; chosen by conditioning where None

    Raises `MechanicsError` where rows or speeds do not define a frame.
    """
    constrained = constrained.constrained
    system, d = constrained.system, constrained.distribution
    frame = adapted_frame(constrained, speeds) if frame is None else frame
    t, q, v, a, u, theta = system.t, system.q, system.v, system.a, system.u, system.theta
    kept, n = list(frame.kept), frame.nxi
    xi = ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in frame.names])
    xi_rate = ca.SX.sym("xi_rate", n)

    on_frame = frame.velocity(xi)
    gamma = system.rate((d.A @ v + d.b)[kept])
    rate = frame.solve(xi_rate, -gamma)                                  # dv/dt(t, q, v, dxi/dt)
    gibbs = ca.substitute(system.gibbs, a, rate)
    gradient = ca.gradient(gibbs, xi_rate)
    bias = ca.substitute(gradient, xi_rate, ca.SX.zeros(n))
    mass = ca.jacobian(gradient, xi_rate)
    balance = ca.densify(ca.mtimes(frame.E.T, system.force)) - bias
    solved = _solve_symmetric(mass, balance)

    def of_xi(*expressions: ca.SX) -> list[ca.SX]:
        return [ca.densify(e) for e in ca.substitute(list(expressions), [v], [on_frame])]

    q_rate, xi_solved = of_xi(system.q_rate, solved)
    acceleration = ca.substitute(rate, xi_rate, solved)
    residual = ca.substitute(ca.gradient(system.gibbs, a), a, acceleration) - system.force
    rows = frame.solve(ca.SX(n, len(kept)), ca.SX.eye(len(kept)))
    lam, dv = of_xi(rows.T @ residual, acceleration)
    inputs, names = [t, q, xi, u, theta], ["t", "q", "xi", "u", "theta"]
    options = {"cse": True}
    return Equations(
        frame,
        ca.Function("drift", inputs, [q_rate, xi_solved], names, ["q_rate", "xi_rate"], options),
        ca.Function("multipliers", inputs, [lam], names, ["lam"], options),
        ca.Function("velocity", [t, q, xi, theta], [ca.densify(on_frame)], ["t", "q", "xi", "theta"], ["v"], options),
        ca.Function("acceleration", inputs, [dv], names, ["a"], options),
        frame.names, frame.units)


def _solve_symmetric(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """x with matrix x = right for a symmetric positive definite matrix: its diagonal is a safe pivot order."""
    n = matrix.shape[0]
    return factorise(matrix, [(i, i) for i in range(n)]).solve(right) if n else ca.SX(0, 1)
