"""Accelerations of a vehicle whose contacts keep their phases."""

from __future__ import annotations

import math

import numpy as np

from ...errors import SimulationError
from ...mechanics.frame import ROUNDS
from .contact_rows import ContactRows
from .impulses import COMPLIANCE, NEARER
from .motion import Motion, to_body, to_world
from .nonsmooth_terms import NonsmoothTerms
from .phases import FLIES, SLIDES


def accelerate(terms: NonsmoothTerms, motion: Motion,
               u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """dv/dt (nv,), its derivative by u (nv, nu), and the forces on the contacts by rows (m,) [N],
    while each contact keeps its phase.

    Redundant rows share the load as in a step: the ground has a small compliance, and the motion
    that it allows is removed. Friction of a sliding wheel opposes its slip. Forces of tyres are
    linearised in their loads, by iteration. Raises `SimulationError` if the accelerations are not
    determined.
    """
    found = _accelerate(terms, motion, u, motion.impulses)
    for _ in range(ROUNDS if terms.follow_loads else 0):
        found = _accelerate(terms, motion, u, found[2])
    return found


def _accelerate(terms: NonsmoothTerms, motion: Motion, u: np.ndarray,
                lam: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same with forces of tyres linearised near the loads lam (m,) [N]."""
    q, w = terms.configuration(motion.x), motion.w
    v = to_body(q, w)
    M, F, _, G, _ = terms.momentum(motion.t, motion.x, w, u, lam, motion.closed)
    A, b, _ = terms.read_rows(motion.t, motion.x, w, motion.closed)
    effect = to_world(q, terms.effect(motion.t, q, v, u, terms.vehicle.theta)[0])
    gamma = terms.gamma(motion.t, motion.x, v, motion.closed)
    held, pulls, sliding = _hold(terms, motion.phases, A @ w + b, G)
    nv, n = len(v), len(held)
    matrix, right = np.zeros((nv + n, nv + n)), np.zeros((nv + n, 1 + effect.shape[1]))
    matrix[:nv, :nv], matrix[nv:, :nv], matrix[:nv, nv:] = M, A[held], -pulls.T
    right[:nv, 0], right[:nv, 1:], right[nv:, 0] = F, effect, -gamma[held]
    give = COMPLIANCE * terms.mobility
    matrix[nv:, nv:].flat[::n + 1] = give
    found = np.zeros_like(right)
    for _ in range(1 + NEARER):
        nearer = right.copy()
        nearer[nv:] += give * found[nv:]
        # factors that are kept would be read by all cores at once, which takes them milliseconds
        # on a busy computer: OpenBLAS's dgetrs asks for them however small the matrix is
        try:
            found = np.linalg.solve(matrix, nearer)
        except np.linalg.LinAlgError:
            raise SimulationError(f"the accelerations at t = {motion.t:.6g} s are not determined: "
                                  "a part that can move has no mass") from None
    forces = np.zeros(len(A))
    forces[held] = found[nv:, 0]
    for c, friction in sliding:
        forces[list(c.along)] = friction * forces[c.normal]
    rates = to_body(q, found[:nv])
    # dv/dt = T dw/dt + the effect of turning body axes
    vx, vy, vz, x, y, z = v[:6].tolist()
    rates[:3, 0] -= y * vz - z * vy, z * vx - x * vz, x * vy - y * vx
    return rates[:, 0], rates[:, 1:], forces


def _hold(terms: NonsmoothTerms, phases: np.ndarray, slip: np.ndarray, G: np.ndarray,
          ) -> tuple[list[int], np.ndarray, list[tuple[ContactRows, np.ndarray]]]:
    """Indices of the rows that hold, (k,), and the directions of their forces, (k, nv), which
    include friction of sliding contacts; the sliding contacts, each with its friction over its
    normal force."""
    held, pulls, sliding = list(terms.bilateral), [G[list(terms.bilateral)]], []
    for c, phase in zip(terms.contacts, phases.tolist()):
        along = slip[list(c.along)]
        size = math.sqrt(along @ along)
        if phase == FLIES:
            continue
        if phase == SLIDES and size and c.mu < np.inf:
            friction = -c.mu / size * along
            sliding.append((c, friction))
            held.append(c.normal)
            pulls.append(G[c.normal, None] + friction @ G[list(c.along)])
        else:
            held += c.rows
            pulls.append(G[list(c.rows)])
    return held, np.concatenate(pulls), sliding
