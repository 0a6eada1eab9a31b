"""Stability of steady motions whose momenta are not constant, but functions of the shape."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from .invariance import random_states
from .nonholonomic_connection import NonholonomicConnection, nonholonomic_connection
from .symmetry import Symmetry
from .system import ConstrainedSystem

PURE = 1e-9        # relative tolerance of terms in the momentum equation other than transport
STEADY = 1e-8      # tolerance of the force on the shape, relative to its change over the shapes
STATES = 8         # at which the momentum equation is looked at


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
    lagrangian = system.require_lagrangian("shape_stability")
    rest = ca.substitute(lagrangian, system.v, ca.SX.zeros(system.v.shape))
    U = ca.vertcat(ca.dot(p, ca.solve(made.inertia, p)) / 2, -rest)       # its two parts

    def nabla(f: ca.SX, a: int) -> ca.SX:
        along = system.algebroid.anchor @ made.horizontal[:, a]
        return ca.jtimes(f, system.q, along) + ca.jtimes(f, p, transport[a] @ p)

    n = xi.numel()
    pull = [D @ p for D in transport]
    check = ca.Function("check", [system.q, xi, p, system.theta], [ca.densify(part) for part in (
        rate, _row(p, pull), _row(p, [nabla(pull[b], a) for b in range(n) for a in range(n)]))])
    _require_transport(made, symmetry.constrained, check)
    if not n:
        raise MechanicsError("there is no shape that could carry them")
    here = _momenta(made, symmetry.constrained, q, v)
    first = [nabla(U, a) for a in range(n)]
    second = [nabla(first[b], a) for b in range(n) for a in range(n)]
    values = ca.Function("values", [system.q, p, system.theta], [
        ca.densify(part) for part in (_row(U, first), _row(U, second), made.metric)])
    forces, hessians, metric = (part.full() for part in values(q, here, theta))
    hessian = hessians.sum(axis=0).reshape(n, n)
    hessian[np.abs(hessian) <= PURE * np.abs(hessians).sum(axis=0).reshape(n, n)] = 0.0
    force, pace = np.abs(forces.sum(axis=0)), paces(symmetry.constrained, q, made.horizontal)
    reach = np.divide(1.0, pace, out=np.zeros(n), where=pace > 0)
    if not np.all(force <= STEADY * (np.abs(forces).sum(axis=0) + np.abs(hessian) @ reach)):
        raise MechanicsError("this is not a relative equilibrium: the force on the shape is "
                             f"{force.max():.3g}")
    return np.block([[metric, np.zeros((n, n))], [np.zeros((n, n)), (hessian + hessian.T) / 2]])


def _row(like: ca.SX, columns: list[ca.SX]) -> ca.SX:
    return ca.horzcat(ca.SX(like.numel(), 0), *columns)


def paces(constrained: ConstrainedSystem, q: np.ndarray, sections: ca.SX) -> np.ndarray:
    """How much of itself the configuration changes per unit of each section, (k,): of the largest
    values of its entries at q and at samples that are given, or of 1 if that is more."""
    system, samples = constrained.system, constrained.samples
    fields = ca.Function("fields", [system.q, system.theta], [
        ca.densify(system.algebroid.anchor @ sections)])(q, constrained.parameters).full()
    usual = np.ones(q.size) if samples is None else np.abs(samples).max(axis=0)
    extents = np.maximum(np.abs(q), usual)
    extents[extents == 0] = 1.0
    return np.abs(fields / extents[:, None]).max(axis=0, initial=0.0)


def _split(made: NonholonomicConnection, constrained: ConstrainedSystem) -> ca.Function:
    """(q, v, theta) -> xi, p."""
    system = constrained.system
    return ca.Function("split", [system.q, system.v, system.theta], [ca.densify(part) for part in (
        ca.solve(made.metric, made.horizontal.T @ system.momentum),
        made.vertical.T @ system.momentum)])


def _require_transport(made: NonholonomicConnection, constrained: ConstrainedSystem,
                       check: ca.Function) -> None:
    split, theta = _split(made, constrained), constrained.parameters
    unit = ca.SX.eye(constrained.system.algebroid.nv)
    for _, q, v, _ in random_states(constrained, STATES):
        xi, p = (part.full().ravel() for part in split(q, v, theta))
        rate, pull, turns = (part.full() for part in check(q, xi, p, theta))
        pace, n = paces(constrained, q, made.horizontal), len(xi)
        other = np.abs(rate.ravel() - pull @ xi)
        size = np.abs(pull) @ np.abs(xi) + np.abs(p) * (paces(constrained, q, unit) @ np.abs(v))
        if not np.all(other <= PURE * size):
            raise MechanicsError("the momenta are not merely transported: their rates have terms "
                                 f"other than xi p ({other.max():.3g} of {size.max():.3g})")
        turns = turns.reshape(len(p), n, n)
        way = np.abs(turns - turns.swapaxes(1, 2))
        size = np.abs(turns) + (np.abs(pull)[..., None] + np.multiply.outer(np.abs(p), pace / 2)[
            ..., None]) * pace
        if not np.all(way <= PURE * (size + size.swapaxes(1, 2))):
            raise MechanicsError("transported momenta depend on the path of the shape, by "
                                 f"{way.max():.3g}, so there is no leaf")


def _momenta(made: NonholonomicConnection, constrained: ConstrainedSystem, q: np.ndarray,
             v: np.ndarray) -> np.ndarray:
    """p at (q, v). Raises `MechanicsError` if the shape moves."""
    theta = constrained.parameters
    xi, p = (part.full().ravel() for part in _split(made, constrained)(q, v, theta))
    system = constrained.system
    twice = ca.Function("twice", [system.q, system.v, system.theta], [
        ca.dot(system.momentum, system.v), made.metric])
    energy, metric = (part.full() for part in twice(q, v, theta))
    if xi @ metric @ xi > STEADY ** 2 * energy:
        raise MechanicsError("this is not a relative equilibrium: its shape moves")
    return p
