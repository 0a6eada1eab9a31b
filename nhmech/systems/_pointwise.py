"""What checks of several systems share: states on the constraints, quantities along a run, the bracket term of a reduction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import casadi as ca
import numpy as np

from ..mechanics.algebroid import bracket
from ..mechanics.frame import adapted_frame
from .example import Example, solve


def random_states(example: Example, count: int = 5, seed: int = 1) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """q (nq,), v (nv,), dv/dt (nv,) and lambda (m,) by Gibbs-Appell at random states on the constraints, t = 0 and no input."""
    equations, theta = example.equations(), example.constrained.parameters
    configurations, rng = example.constrained.configurations, np.random.default_rng(seed)
    u = np.zeros(example.constrained.system.u.numel())
    for k in range(count):
        q, xi = configurations[k % len(configurations)], rng.normal(size=len(equations.names))
        values = equations.velocity(0, q, xi, theta), equations.acceleration(0, q, xi, u, theta), equations.multipliers(0, q, xi, u, theta)
        yield q, *(value.full().ravel() for value in values)


def along(example: Example, expression: ca.SX, q: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """An expression in (q, v, theta) of the system, at N states of a run, (N, k)."""
    system, n = example.constrained.system, xi.shape[1]
    frame, x = adapted_frame(example.constrained, example.speeds), ca.SX.sym("xi", n)
    on_frame = ca.substitute(ca.densify(expression), system.v, ca.densify(frame.velocity(x)))
    evaluate = ca.Function("along", [system.t, system.q, x, system.theta], [on_frame]).map(len(q))
    return evaluate(0, q.T, xi.T, np.tile(example.constrained.parameters, (len(q), 1)).T).full().T


def wander(example: Example, expression: ca.SX, *, duration: float = 100.0, start: Mapping | None = None, rtol: float = 1e-11) -> float:
    """Largest departure of an expression in (q, v, theta) from its first value in a run [s], relative to that value's size."""
    q, xi = solve(example, np.linspace(0, duration, 201), start=start, rtol=rtol)
    values = along(example, expression, q, xi)
    return float(np.abs(values - values[0]).max() / np.linalg.norm(values[0]))


def curvature_term(example: Example) -> ca.SX:
    """p . [E_1, E_2] on the constraints for a system of two speeds, p = dL/dv: a function of (q, v, theta).

    For a Chaplygin system it is omega(E_1, E_2) of the reduced 2-form, zero where the gyroscopic 1-form vanishes (paper 004, section VI).
    """
    system, frame = example.constrained.system, adapted_frame(example.constrained, example.speeds)
    return ca.dot(ca.gradient(system.lagrangian, system.v), bracket(system.algebroid, frame.E[:, 0], frame.E[:, 1]))
