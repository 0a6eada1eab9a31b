"""What checks of several systems share: states on the constraints, quantities along a motion,
balance laws, what a run conserves, the bracket term of a reduction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import casadi as ca
import numpy as np

from ..mechanics.algebroid import bracket
from ..mechanics.frame import adapted_frame
from ..mechanics.writing import Symbols, symbols
from .example import Example, apart, largest, solve


def along(example: Example, what: str | ca.SX, times: Sequence[float] | np.ndarray, q: np.ndarray,
          xi: np.ndarray) -> np.ndarray:
    """Values (N, k) at the states (times [s], q, xi) of a motion without inputs.

    Parameters
    ----------
    what
        An expression in the symbols (t, q, v, theta) of the system; or "acceleration", dv/dt; or
        "multipliers", those of the kept rows in the order of the rows.
    """
    equations, system, theta = (example.equations(), example.constrained.system,
                                example.constrained.parameters)
    if isinstance(what, str):
        function, u = getattr(equations, what), np.zeros(system.u.numel())
        order = np.argsort(equations.frame.kept) if what == "multipliers" else slice(None)
        return np.array([function(t, x, w, u, theta).full().ravel()[order]
                         for t, x, w in zip(times, q, xi)])
    function = ca.Function("along", [system.t, system.q, system.v, system.theta],
                           [ca.densify(what)])
    return np.array([function(t, x, equations.velocity(t, x, w, theta), theta).full().ravel()
                     for t, x, w in zip(times, q, xi)])


def random_motions(example: Example, count: int = 5) -> Iterator[tuple[np.ndarray, ...]]:
    """q (nq,), v (nv,), dv/dt (nv,) and lambda (m,) by Gibbs-Appell at random states on
    the constraints, t = 0 and no input."""
    configurations, rng = example.constrained.configurations, np.random.default_rng(1)
    q = np.array([configurations[k % len(configurations)] for k in range(count)])
    yield from zip(q, *motion_at(example, q, rng.normal(size=(count, len(example.start["xi"])))))


def motion_at(example: Example, q: np.ndarray,
              xi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """v, dv/dt (N, nv) and lambda (N, m) at N states (q, xi);
    lambda in the order of the rows, zero for rows that were dropped."""
    equations, constrained = example.equations(), example.constrained
    state, theta = (0, np.transpose(q),
                    np.transpose(xi)), np.tile(constrained.parameters, (len(q), 1)).T
    u = np.zeros((constrained.system.u.numel(), len(q)))
    lam = np.zeros((len(q), constrained.distribution.m))
    lam[:, list(equations.frame.kept)] = equations.multipliers(*state, u, theta).full().T
    return (equations.velocity(*state, theta).full().T,
            equations.acceleration(*state, u, theta).full().T, lam)


def wander(example: Example, *expressions: ca.SX, duration: float = 100.0,
           rtol: float = 1e-12) -> float:
    """Largest departure of each expression in (t, q, v, theta) from its first value in a run [s],
    relative to the size it reaches."""
    times = np.linspace(0, duration, 201)
    q, xi = solve(example, times, rtol=rtol)
    worst = 0.0
    for expression in expressions:
        values = along(example, expression, times, q, xi)
        worst = largest(worst, largest(values - values[0]) / np.linalg.norm(values, axis=1).max())
    return worst


def curvature_term(example: Example) -> ca.SX:
    """p . [E_1, E_2] on the constraints for a system of two speeds, p = dL/dv: a function of (q, v,
    theta).

    For a Chaplygin system it is omega(E_1, E_2) of the reduced 2-form, zero where the gyroscopic
    1-form vanishes (paper 004, section VI).
    """
    system, frame = example.constrained.system, adapted_frame(example.constrained, example.speeds)
    return ca.dot(system.momentum, bracket(system.algebroid, frame.E[:, 0], frame.E[:, 1]))


def _states(example: Example) -> Iterator[tuple]:
    """Random (t, q, xi, u), with q among the system's `configurations`."""
    rng = np.random.default_rng(0)
    configurations, inputs = (example.constrained.configurations,
                              example.constrained.system.u.numel())
    for k in range(6):
        t, xi = rng.uniform(0, 1), rng.normal(size=len(example.start["xi"]))
        yield t, configurations[k % len(configurations)], xi, rng.normal(size=inputs)


def imbalance(example: Example, quantity: Callable[[Symbols], ca.SX],
              rate: Callable[[Symbols], ca.SX]) -> float:
    """Largest |d/dt quantity - rate| along the motion at random states, relative to rates above
    one; quantity and rate are s -> expressions in t, q, v, u and parameters, of one shape."""
    system, equations, theta = (example.constrained.system, example.equations(),
                                example.constrained.parameters)
    s = symbols(system)
    value, expected = ca.SX(quantity(s)), ca.SX(rate(s))
    found = system.rate(value) + ca.jtimes(value, system.v, system.a)
    compare = ca.Function("balance",
                          [system.t, system.q, system.v, system.a, system.u, system.theta],
                          [found, expected])
    worst = 0.0
    for t, q, xi, u in _states(example):
        v, a = equations.velocity(t, q, xi, theta), equations.acceleration(t, q, xi, u, theta)
        left, right = (part.full() for part in compare(t, q, v, a, u, theta))
        worst = largest(worst, apart(left, right))
    return worst
