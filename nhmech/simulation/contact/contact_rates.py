"""Accelerations of a vehicle while each of its wheels goes on with what it does."""

from __future__ import annotations

import numpy as np

from ...mechanics.frame import ROUNDS
from .impulses import COMPLIANCE, NEARER
from .motion import Motion, Phase
from .nonsmooth_terms import NonsmoothTerms, to_body, to_world


def accelerate(terms: NonsmoothTerms, motion: Motion,
               u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """dv/dt (nv,), how it changes with u (nv, nu), and the forces on the contacts, row by row
    (m,) [N], while each wheel goes on with what it does.

    Rows that hold the same share the load as in a step, by a ground that gives way a little and
    has the motion that it allowed taken away again. A wheel that slides has friction against its
    slip. Forces of tyres that follow their loads are linear in them near the latest ones.
    """
    found = _accelerate(terms, motion, u, motion.impulses)
    for _ in range(ROUNDS if terms.follow_loads else 0):
        found = _accelerate(terms, motion, u, found[2])
    return found


def _accelerate(terms: NonsmoothTerms, motion: Motion, u: np.ndarray,
                lam: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the forces of tyres are linear in the loads near lam (m,) [N]."""
    theta, q = terms.vehicle.theta, terms.configuration(motion.x)
    v = to_body(q, motion.w)
    M, F, _, G = terms.momentum(motion.t, motion.x, motion.w, u, lam, motion.closed)
    A, b, _ = terms.read_rows(motion.t, motion.x, motion.w, motion.closed)
    effect = terms.effect(motion.t, q, v, u, theta)[0].copy()
    turn = np.zeros(len(v))
    turn[:3] = -np.cross(v[3:6], v[:3])             # dv/dt = T dw/dt + turn
    gamma = terms.gamma(motion.t, q, v, theta, motion.closed)[0] + A @ to_world(q, turn)
    held = list(terms.bilateral)
    slip, parts = A @ motion.w + b, [np.eye(len(A))[i] for i in held]
    for c, phase in zip(terms.contacts, motion.phases):
        if phase == Phase.AIRBORNE:
            continue
        pull = np.eye(len(A))[list(c.rows)]
        along = slip[list(c.along)]
        if phase == Phase.SLIDING and along.any() and c.mu < np.inf:
            pull = pull[:1] - c.mu * along / np.linalg.norm(along) @ pull[1:]
        held += c.rows[:len(pull)]
        parts += list(pull)
    nv, n = len(v), len(held)
    matrix = np.zeros((nv + n, nv + n))
    matrix[:nv, :nv], matrix[nv:, :nv] = M, A[held]
    matrix[:nv, nv:] = -(np.reshape(parts, (n, len(A))) @ G).T
    right = np.zeros((nv + n, 1 + effect.shape[1]))
    right[:nv, 0], right[nv:, 0] = F, -gamma[held]
    for j, column in enumerate(effect.T):
        right[:nv, 1 + j] = to_world(q, column)
    give = COMPLIANCE * np.abs(matrix[nv:, :nv] @ np.linalg.lstsq(
        M, matrix[nv:, :nv].T, rcond=1e-12)[0]).max(initial=0.0)
    matrix[nv:, nv:] = give * np.eye(n)
    found = np.zeros_like(right)
    for _ in range(1 + NEARER):
        nearer = right.copy()
        nearer[nv:] += give * found[nv:]
        found = np.linalg.solve(matrix, nearer)
    rates = np.array([to_body(q, column) for column in found[:nv].T]).T
    return (rates[:, 0] + turn, rates[:, 1:],
            np.reshape(parts, (n, len(A))).T @ found[nv:, 0])
