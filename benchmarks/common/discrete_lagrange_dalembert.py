"""The discrete Lagrange-d'Alembert method in coordinates."""

from __future__ import annotations

import casadi as ca
import numpy as np

import nhmech
from nhmech.systems.example import Example


class DiscreteLagrangeDAlembert:
    """Steps of Cortes and Martinez, Nonlinearity 14 (2001) 1365, with the midpoint rule:

        L_d(q0, q1) = dt L((q0 + q1) / 2, (q1 - q0) / dt)
        D1 L_d(q1, q2) + D2 L_d(q0, q1) = A(q1)^T lambda,    A((q1 + q2) / 2) (q2 - q1) = 0

    The first step comes from the momentum of the start, pushed by its own lambda.

    Parameters
    ----------
    example
        A textbook system whose q are coordinates: as many as fibre coordinates, and no constraint
        that is affine or holonomic.
    dt
        Step [s].
    """

    def __init__(self, example: Example, dt: float):
        made, start = example.constrained, example.start
        system, rows = made.system, made.distribution.A
        nq = system.algebroid.nq
        q, rate = ca.SX.sym("q", nq), ca.SX.sym("rate", nq)
        numbers = ca.DM(made.parameters)

        def written(expression, q_rate=None):
            """In q and dq/dt."""
            v = ca.solve(system.algebroid.anchor, rate if q_rate is None else q_rate)
            found = ca.substitute(expression, system.v, v)
            return ca.substitute(found, ca.vertcat(system.q, system.theta), ca.vertcat(q, numbers))

        lagrangian = ca.Function("L", [q, rate], [written(system.lagrangian)])
        form = ca.Function("A", [q], [written(rows @ ca.solve(system.algebroid.anchor,
                                                              ca.SX.eye(nq)))])
        self.dt, self._energy = dt, ca.Function("E", [q, rate], [written(system.energy)])
        one, two, push = (ca.SX.sym("one", nq), ca.SX.sym("two", nq),
                          ca.SX.sym("push", rows.shape[0]))
        momentum = ca.SX.sym("momentum", nq)
        discrete = dt * lagrangian((one + two) / 2, (two - one) / dt)
        residual = ca.vertcat(ca.gradient(discrete, one) + momentum - form(one).T @ push,
                              form((one + two) / 2) @ (two - one))
        self._solve = ca.rootfinder("step", "newton", {
            "x": ca.vertcat(two, push), "p": ca.vertcat(one, momentum), "g": residual},
            {"abstol": 1e-11})
        self._after = ca.Function("after", [one, two], [ca.gradient(discrete, two)])
        simulator = nhmech.Simulator(example)
        state = simulator.reset(q=np.asarray(start["q"], dtype=float), xi=dict(zip(
            example.speeds or simulator.atlas.primary.equations.names, start["xi"])))
        self._q = state.q.copy()
        anchor = ca.Function("rho", [system.q], [system.algebroid.anchor])
        self._rate = anchor(state.q) @ state.v
        self._first = ca.Function("p", [q, rate], [ca.gradient(lagrangian(q, rate), rate)])

    def run(self, steps: int) -> np.ndarray:
        """Configurations (steps + 1, nq)."""
        q, momentum = ca.DM(self._q), self._first(self._q, self._rate)
        found, move = [self._q], self.dt * self._rate
        nq = len(self._q)
        zero = np.zeros(self._solve.size1_in(0) - nq)
        for _ in range(steps):
            guess = ca.vertcat(q + move, zero)
            after = self._solve(guess, ca.vertcat(q, momentum))[:nq]
            momentum, move, q = self._after(q, after), after - q, after
            found.append(q.full().ravel())
        return np.array(found)

    def energy(self, path: np.ndarray) -> np.ndarray:
        """(K,) [J] in the middle of each step."""
        middle, rate = (path[1:] + path[:-1]) / 2, np.diff(path, axis=0) / self.dt
        return self._energy.map(len(middle))(middle.T, rate.T).full().ravel()
