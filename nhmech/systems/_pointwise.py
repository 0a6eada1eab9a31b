"""What checks of several systems share: states on the constraints, what a run conserves,
the bracket term of a reduction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import casadi as ca
import numpy as np

from ..mechanics.algebroid import bracket
from ..mechanics.frame import adapted_frame
from ._along import along
from .example import Example, solve


def random_motions(
    example: Example, count: int = 5, seed: int = 1
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """q (nq,), v (nv,), dv/dt (nv,) and lambda (m,) by Gibbs-Appell at random states on
    the constraints, t = 0 and no input."""
    configurations, rng = example.constrained.configurations, np.random.default_rng(seed)
    q = np.array([configurations[k % len(configurations)] for k in range(count)])
    yield from zip(q, *motions(example, q, rng.normal(size=(count, len(example.start["xi"])))))


def motions(example: Example, q: np.ndarray,
            xi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """v, dv/dt (N, nv) and lambda (N, m) at N states (q, xi);
    lambda in the order of the rows, zero for rows that were dropped."""
    equations, constrained = example.equations(), example.constrained
    state, theta = (0, np.transpose(q),
                    np.transpose(xi)), np.tile(constrained.parameters, (len(q), 1)).T
    u = np.zeros((constrained.system.u.numel(), len(q)))
    lam = np.zeros((len(q), constrained.distribution.m))
    lam[:, list(equations.frame.kept)] = equations.multipliers(*state, u, theta).full().T
    return (
        equations.velocity(*state, theta).full().T,
        equations.acceleration(*state, u, theta).full().T,
        lam,
    )


def wander(example: Example, *expressions: ca.SX, duration: float = 100.0,
           start: Mapping | None = None, rtol: float = 1e-12) -> float:
    """Largest departure of each expression in (t, q, v, theta) from its first value in a run [s],
    relative to the size it reaches."""
    times = np.linspace(0, duration, 201)
    q, xi = solve(example, times, start=start, rtol=rtol)
    worst = 0.0
    for expression in expressions:
        values = along(example, expression, times, q, xi)
        worst = max(worst, np.abs(values - values[0]).max() / np.linalg.norm(values, axis=1).max())
    return float(worst)


def curvature_term(example: Example) -> ca.SX:
    """p . [E_1, E_2] on the constraints for a system of two speeds, p = dL/dv: a function of (q, v,
    theta).

    For a Chaplygin system it is omega(E_1, E_2) of the reduced 2-form, zero where the gyroscopic
    1-form vanishes (paper 004, section VI).
    """
    system, frame = example.constrained.system, adapted_frame(example.constrained, example.speeds)
    return ca.dot(system.momentum, bracket(system.algebroid, frame.E[:, 0], frame.E[:, 1]))
