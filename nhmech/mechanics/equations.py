"""What every equation former returns, and how it is put together."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from .elimination import factorise
from .frame import AdaptedFrame


@dataclass(frozen=True)
class Equations:
    """Equations of motion in quasi-velocities, as `casadi.Function`s of (t, q, xi, u, theta) unless said otherwise.

    drift         -> dq/dt (nq,), dxi/dt (nxi,)
    multipliers   -> lambda (len(frame.kept),) of the kept rows: A^T lambda is the generalised reaction
    velocity      (t, q, xi, theta) -> v (nv,)
    acceleration  -> dv/dt (nv,)
    names, units  of xi
    method        who formed them
    """

    frame: AdaptedFrame
    drift: ca.Function
    multipliers: ca.Function
    velocity: ca.Function
    acceleration: ca.Function
    names: tuple[str, ...]
    units: tuple[str, ...]
    method: str


def equations_of(method: str, frame: AdaptedFrame, xi: ca.SX, acceleration: ca.SX, lam: ca.SX) -> Equations:
    """Equations from dv/dt (nv,) and lambda, written in (t, q, v, u, theta); v is put onto the distribution here."""
    system = frame.constrained.system
    v = frame.velocity(xi)
    rate = acceleration[list(frame.speeds)]
    written = ca.substitute([system.q_rate, rate, lam, acceleration], [system.v], [ca.densify(v)])
    q_rate, xi_rate, lam, acceleration, v = (ca.densify(e) for e in system.expand(*written, v))
    inputs, names = [system.t, system.q, xi, system.u, system.theta], ["t", "q", "xi", "u", "theta"]
    options = {"cse": True}
    return Equations(
        frame,
        ca.Function("drift", inputs, [q_rate, xi_rate], names, ["q_rate", "xi_rate"], options),
        ca.Function("multipliers", inputs, [lam], names, ["lam"], options),
        ca.Function("velocity", [system.t, system.q, xi, system.theta], [v], ["t", "q", "xi", "theta"], ["v"], options),
        ca.Function("acceleration", inputs, [acceleration], names, ["a"], options),
        frame.names, frame.units, method)


def speed_symbols(frame: AdaptedFrame) -> ca.SX:
    """Symbols for xi, (nxi,)."""
    return ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in frame.names])


def solve_definite(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """x with matrix x = right for a symmetric positive definite matrix, whose diagonal is a safe pivot order."""
    n = matrix.shape[0]
    return factorise(matrix, [(i, i) for i in range(n)]).solve(right) if n else ca.SX(0, right.shape[1])
