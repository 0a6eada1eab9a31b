"""Stability of steady motions whose momenta are not constant, but functions of the shape."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from .nonholonomic_connection import NonholonomicConnection, nonholonomic_connection
from .symmetry import Symmetry

PURE = 1e-9        # relative tolerance of terms in the momentum equation other than transport
STEADY = 1e-8      # tolerance of the force on the shape, relative to its slope


def shape_stability(symmetry: Symmetry, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Second variation of the energy on a leaf of transported momenta at a steady motion q, v, (2
    n, 2 n).

    Where the momentum equation is dp_b/dt = D_ba^c p_c xi^a, p depends on the shape alone: on p =
    P(r, c) the energy is xi^T G xi / 2 + U(r, P(r, c)), with U = p^T I_lock^-1 p / 2 + V. At a
    relative equilibrium xi = 0 and nabla U = 0, with nabla_a = X_a + D_ba^c p_c d/dp_b; it is
    stable, modulo the group, where nabla nabla U is positive definite. Source: Zenkov, Bloch and
    Marsden, Dynamics and Stability of Systems 13 (1998) 123, section 3.2 and theorem 3.3.
    """
    made = nonholonomic_connection(symmetry)
    system, theta = symmetry.constrained.system, symmetry.constrained.parameters
    xi, p = (ca.SX.sym(name, len(names)) for name, names in (("xi", made.names),
                                                             ("p", made.momenta)))
    u = ca.SX.zeros(system.u.shape)
    rate = made.drift(system.q, xi, p, u, system.theta)[2]
    slope = [ca.jacobian(ca.substitute(ca.gradient(rate[b], xi), xi, ca.SX.zeros(xi.shape)), p)
             for b in range(p.numel())]
    transport = [ca.vertcat(*[part[a, :] for part in slope]) for a in range(xi.numel())]
    pure = sum((xi[a] * (D @ p) for a, D in enumerate(transport)), ca.SX(p.numel(), 1))
    lagrangian = system.require_lagrangian("shape_stability")
    rest = ca.substitute(lagrangian, system.v, ca.SX.zeros(system.v.shape))
    inverse = ca.solve(made.inertia, p)
    U = ca.dot(p, inverse) / 2 - rest

    def nabla(f: ca.SX, a: int) -> ca.SX:
        along = system.algebroid.anchor @ made.horizontal[:, a]
        return ca.jtimes(f, system.q, along) + ca.jtimes(f, p, transport[a] @ p)

    n = xi.numel()
    first = [nabla(U, a) for a in range(n)]
    second = ca.SX(n, n)
    turns = []
    for a in range(n):
        for b in range(n):
            second[a, b] = nabla(first[b], a)
            turns.append(nabla(transport[b] @ p, a) - nabla(transport[a] @ p, b))
    inputs = [system.q, xi, p, system.theta]
    check = ca.Function("check", inputs, [ca.densify(part) for part in (
        rate - pure, rate, ca.vertcat(*turns),
        ca.vertcat(*[transport[a] @ p for a in range(n)], p))])
    _require_transport(symmetry, check, n, p.numel())
    here = _momenta(symmetry, made, v, q)
    values = ca.Function("values", [system.q, p, system.theta], [ca.densify(part) for part in (
        ca.vertcat(*first), second, made.metric)])
    force, hessian, metric = (part.full() for part in values(q, here, theta))
    if np.abs(force).max() > STEADY * np.abs(hessian).max():
        raise MechanicsError("this is not a relative equilibrium: the force on the shape is "
                             f"{np.abs(force).max():.3g}")
    return np.block([[metric, np.zeros((n, n))], [np.zeros((n, n)), (hessian + hessian.T) / 2]])


def _require_transport(symmetry: Symmetry, check: ca.Function, n: int, momenta: int) -> None:
    rng = np.random.default_rng(0)
    for place in symmetry.constrained.configurations:
        other, size, way, scale = (np.abs(part.full()).max(initial=0.0) for part in check(
            place, rng.normal(size=n), rng.normal(size=momenta), symmetry.constrained.parameters))
        if not other <= PURE * size + PURE * PURE * scale:
            raise MechanicsError("the momenta are not merely transported: their rates have terms "
                                 f"other than xi p ({other:.3g} of {size:.3g})")
        if not way <= PURE * scale:
            raise MechanicsError("transported momenta depend on the path of the shape, by "
                                 f"{way:.3g}, so there is no leaf")


def _momenta(symmetry: Symmetry, made: NonholonomicConnection, v: np.ndarray,
             q: np.ndarray) -> np.ndarray:
    """p at (q, v). Raises `MechanicsError` if the shape moves."""
    system, theta = symmetry.constrained.system, symmetry.constrained.parameters
    evaluate = ca.Function("p", [system.q, system.v, system.theta],
                           [ca.densify(made.vertical.T @ system.momentum)])
    p = evaluate(q, v, theta).full().ravel()
    steady = made.velocity(q, np.zeros(len(made.names)), p, theta).full().ravel()
    if np.abs(steady - v).max() > STEADY * np.abs(v).max():
        raise MechanicsError("this is not a relative equilibrium: its shape moves")
    return p
