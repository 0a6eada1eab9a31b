"""Balance laws along the motion: closed-form accelerations, momentum equations, conservation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import casadi as ca
import numpy as np

from ..mechanics.writing import Symbols, symbols
from .example import Example


def _states(example: Example, states: int = 6, seed: int = 0) -> Iterator[tuple]:
    """Random (t, q, xi, u), with q among the configurations at which the system decided on its
    rows."""
    rng = np.random.default_rng(seed)
    configurations, inputs = (
        example.constrained.configurations,
        example.constrained.system.u.numel(),
    )
    for k in range(states):
        t, xi = rng.uniform(0, 1), rng.normal(size=len(example.start["xi"]))
        yield t, configurations[k % len(configurations)], xi, rng.normal(size=inputs)


def imbalance(example: Example, quantity: Callable[[Symbols], ca.SX],
              rate: Callable[[Symbols], ca.SX], states: int = 6) -> float:
    """Largest |d/dt quantity - rate| along the motion at random states, relative to the rate where
    that is above one.

    Parameters
    ----------
    quantity, rate
        s -> expressions in t, q, v, u and parameters, of one shape.
    """
    system, equations, theta = (
        example.constrained.system,
        example.equations(),
        example.constrained.parameters,
    )
    s = symbols(system)
    value, expected = ca.SX(quantity(s)), ca.SX(rate(s))
    found = system.rate(value) + ca.jtimes(value, system.v, system.a)
    compare = ca.Function("balance",
                          [system.t, system.q, system.v, system.a, system.u, system.theta],
                          [found, expected])
    worst = 0.0
    for t, q, xi, u in _states(example, states):
        v, a = equations.velocity(t, q, xi, theta), equations.acceleration(t, q, xi, u, theta)
        left, right = (part.full() for part in compare(t, q, v, a, u, theta))
        worst = max(worst, float(np.abs(left - right).max() / max(1.0, np.abs(right).max())))
    return worst
