"""One step of many cases, and its adjoint."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from ..analysis.derivatives import adjoint_function
from ..checks import read_positive
from ..compile.pointwise import Pointwise
from ..errors import InputError, SimulationError
from ..mechanics.system import HasConstrained
from ..simulation.dynamics import Dynamics, dynamics
from ..simulation.integration.integrators import POOR


class Steps:
    """The simulator's step x' = F(t, x, u, theta) of cases side by side, and w' dF/d(x, u, theta).
    `constrained`: a vehicle or a `ConstrainedSystem`; symbolic parameters are theta. `dt`: step
    [s]."""

    def __init__(self, constrained: HasConstrained, dt: float):
        self.dt = read_positive("dt", dt)
        self.dynamics: Dynamics = dynamics(constrained)
        self._step = Pointwise(self.dynamics.integrator)
        self._adjoint = Pointwise(adjoint_function(self.dynamics.simulated))
        self._turn = Lock()        # libraries of learning call from threads of their own

    def __repr__(self) -> str:
        return f"<Steps of {self.dynamics.simulated.name}, dt = {self.dt:g} s>"

    def check(self, floating: Callable[[Any], bool], x: Any, u: Any, theta: Any) -> None:
        """Raises `InputError` for shapes whose last axis does not fit the system, and for numbers
        that are not `floating`: results have the type of what they are made from."""
        f = self.dynamics
        for what, given, names in (("x", x, f.names), ("u", u, f.inputs),
                                   ("theta", theta, f.parameters)):
            if not given.shape or given.shape[-1] != len(names):
                raise InputError(f"{what} has shape {tuple(given.shape)}, expected "
                                 f"(..., {len(names)}): {', '.join(names)}")
            if not floating(given):
                raise InputError(f"{what} has numbers of type {given.dtype}; they must be real "
                                 "floating-point numbers, as float64 is")

    def advance(self, t: np.ndarray, x: np.ndarray, u: np.ndarray,
                theta: np.ndarray) -> np.ndarray:
        """x' (..., nx) of x (..., nx), u (..., nu), theta (..., ntheta), t (...)."""
        shape = x.shape
        with self._turn:
            after, health = self._step(*_rows(t, x, u, theta), np.array([self.dt]))
        bad = ~(np.isfinite(after).all(axis=1) & (np.abs(health[:, 1]) >= POOR))
        if bad.any():
            raise SimulationError(
                f"the step of case {int(bad.argmax())} (one of {int(bad.sum())}) failed: its "
                "numbers are not finite, or its independent speeds became singular; try a smaller "
                "dt, or other starts and inputs")
        return after.reshape(shape)

    def pull_back(self, t: np.ndarray, x: np.ndarray, u: np.ndarray, theta: np.ndarray,
                  w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Products of weights w (..., nx) on x' with its derivatives: (..., nx), (..., nu), (...,
        ntheta)."""
        cases, ends = x.shape[:-1], np.cumsum([x.shape[-1], u.shape[-1]])
        at, *parts = _rows(t, x, u, theta)
        with self._turn:
            (found,) = self._adjoint(at, np.hstack(parts), w.reshape(len(at), -1),
                                     np.array([self.dt]))
        gx, gu, gtheta = (part.reshape(*cases, -1) if part.size else
                          np.zeros((*cases, part.shape[1])) for part in np.split(found, ends, 1))
        return gx, gu, gtheta


def _rows(t: np.ndarray, *parts: np.ndarray) -> list[np.ndarray]:
    """(N, 1) of times, and (N, n) of each part, which have all cases before their last axis."""
    count = int(np.prod(parts[0].shape[:-1], dtype=int))
    return [np.broadcast_to(t, parts[0].shape[:-1]).reshape(count, 1),
            *(part.reshape(count, part.shape[-1]) for part in parts)]
