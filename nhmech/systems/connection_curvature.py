"""The constrained Lagrangian and the curvature of an Ehresmann connection, on a connection without
any symmetry."""

from __future__ import annotations

from functools import partial

import casadi as ca
import numpy as np

from ..mechanics.algebroid import bracket, euclidean
from ..mechanics.writing import constrain, lagrangian_system
from .example import Check, Example, apart, largest

# the base's and the fibre's coordinates among (r1, r2, s1, s2)
R, S = slice(0, 2), slice(2, 4)


def connection(q: ca.SX) -> ca.SX:
    """A[a, alpha] (2, 2), a function of r and s."""
    r1, r2, s1, s2 = ca.vertsplit(q)
    return ca.blockcat([[s2 * ca.sin(r2) + r1, r1 * r2 * ca.cos(s1)],
                        [r2 ** 2, ca.sin(s1 + r1) + s2]])


def curvature(q: ca.SX, A: ca.SX) -> list[ca.SX]:
    """B^b_{alpha beta} = dA^b_alpha/dr^beta - dA^b_beta/dr^alpha + A^a_alpha dA^b_beta/ds^a -
    A^a_beta dA^b_alpha/ds^a.

    One (2, 2) for each b.
    """
    def form(b: int) -> ca.SX:
        slopes = ca.jacobian(A[b, :], q)                                     # (alpha, coordinate)
        return slopes[:, R] - slopes[:, R].T + (slopes[:, S] @ A).T - slopes[:, S] @ A

    return [form(0), form(1)]


def _lagrangian(s) -> ca.SX:
    base = (1 + s.q.s1 ** 2) * s.v.r1 ** 2 + (2 + ca.cos(s.q.r1)) * s.v.r2 ** 2
    kinetic = (base + (1.5 + ca.sin(s.q.r2) ** 2) * s.v.s1 ** 2 + s.v.s2 ** 2) / 2
    mixed = 0.3 * ca.cos(s.q.s2) * s.v.r1 * s.v.s1 + 0.2 * s.v.r2 * s.v.s2
    return kinetic + mixed - ca.sin(s.q.r1) * s.q.s2 - s.q.r2 ** 2 * s.q.s1 ** 2


def example() -> Example:
    """s' + A(r, s) r' = 0 with generic A and L (paper 000, eqs. (3.1)-(3.5)).

    The equations compared are::

        (3.2)  d/dt dL/dr' - dL/dr = A lambda,   lambda = d/dt dL/ds' - dL/ds
        (3.4)  d/dt dL_c/dr'^alpha - dL_c/dr^alpha + A^a_alpha dL_c/ds^a
                   = -dL/ds'^b B^b_{alpha beta} r'^beta,   L_c = L on s' = -A r'

    With h_alpha = d/dr^alpha - A^a_alpha d/ds^a, [h_1, h_2] = B_12 d/ds, so that dw(h_1, h_2) =
    -B_12 for w = ds + A dr: the paper's dw(q', .) = B r' dr needs a minus sign, its (3.4) and the
    last member of (3.5) are right.
    """
    space = euclidean("r1", "r2", "s1", "s2")
    particle = lagrangian_system(space, _lagrangian)
    q, v, a = particle.q, particle.v, particle.a
    A = connection(q)
    B = curvature(q, A)
    constrained = constrain(particle,
                            rows={f"w{b + 1}": partial(_row, b=b) for b in range(2)})
    L, momentum = particle.require_lagrangian("the field"), particle.momentum
    # d/dt dL/dq' - dL/dq
    free = ca.jtimes(momentum, q, v) + ca.jtimes(momentum, v, a) - ca.gradient(L, q)
    # (3.2)
    eliminated = free[R] - A.T @ free[S]
    on = ca.vertcat(v[R], -A @ v[R])
    L_c = ca.substitute(L, v, on)
    own = ca.gradient(L_c, v)[R]
    left = (ca.jtimes(own, q, on) + ca.jtimes(own, v, a) - ca.gradient(L_c, q)[R]
            + A.T @ ca.gradient(L_c, q)[S])
    curved = sum(momentum[S][b] * B[b] @ v[R] for b in range(2))
    # (3.4)
    reduced = left + curved
    values = ca.Function("values", [q, v, a], [eliminated, reduced, curved, free[S]])
    second = ca.Function("second", [q, v, a],
                         [ca.vertcat(a[R], -A @ a[R] - ca.jtimes(A @ v[R], q, v)), on])

    def states():
        rng = np.random.default_rng(1)
        for _ in range(5):
            place, speeds, rates = rng.normal(size=(3, 4))
            rates, speeds = second(place, second(place, speeds, rates)[1], rates)
            yield place, speeds, rates

    def identity() -> float:
        """(3.4) against (3.2) at arbitrary accelerations that respect the constraint; the curvature
        term is there."""
        worst = 0.0
        for state in states():
            first, other, term, _ = (value.full() for value in values(*state))
            if np.abs(term).max() < 1e-3:
                return np.inf
            worst = largest(worst, apart(other, first))
        return worst

    def brackets() -> float:
        """[h_1, h_2] = B_12 d/ds."""
        lift = ca.vertcat(ca.SX.eye(2), -A)
        vertical = ca.vertcat(0, 0, *[form[0, 1] for form in B])
        found = ca.Function("found", [q], [bracket(space, lift[:, 0], lift[:, 1]) - vertical])
        return largest(*(found(place) for place, _, _ in states()))

    def motion() -> float:
        """(3.4) and lambda at the accelerations of the method of multipliers, which forms neither
        L_c nor curvature."""
        equations, worst = made.equations("lagrange_multipliers"), 0.0
        order = np.argsort(equations.frame.kept)
        for place, speeds, _ in states():
            at: tuple = (0, place, speeds[:2], [], [])
            acceleration, lam = equations.acceleration(*at), equations.multipliers(*at)
            _, residual, _, force = values(place, speeds, acceleration)
            worst = largest(worst, residual, force - lam[order.tolist()])
        return worst

    made = Example(
        "connection_curvature", "Constrained Lagrangian with curvature term",
        "paper 000, eqs. (3.2)-(3.5)", constrained, {"q": (0.3, -0.4, 0.2, 0.5), "xi": (0.5, -0.3)},
        (Check("(3.4) is (3.2)", "paper 000, eqs. (3.2), (3.4)", 1e-12, identity),
         Check("curvature is the bracket of horizontal lifts", "paper 000, eq. (3.5)", 1e-12,
               brackets),
         Check("motion and multipliers by another method", "paper 000, eq. (3.4)", 1e-12, motion)),
        speeds=("r1'", "r2'"))
    return made


def _row(s, b: int) -> ca.SX:
    A = connection(ca.vertcat(s.q.r1, s.q.r2, s.q.s1, s.q.s2))
    return (s.v.s1, s.v.s2)[b] + A[b, 0] * s.v.r1 + A[b, 1] * s.v.r2
