"""Gauss's collocation methods, which conserve quadratic integrals and are symmetric in time."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...mechanics.equations import solve_definite
from ...once import cached_property
from .flow import Flow, solve_by_iteration

USUAL = 7      # corrections in a usual step


@dataclass(frozen=True)
class Gauss:
    """Collocation at the zeros of Legendre's polynomial: s stages, order 2 s.

    The stages solve k_i = f(t + c_i dt, x~ + dt sum_j a_ij k_j), and the step ends at x~ + dt sum_i
    b_i k_i. The method is symmetric: a step of -dt leads back. It conserves quadratic integrals,
    such as the norm of a quaternion. The holonomic functions phi are not quadratic; they are kept
    by a symmetric projection, x~ = x + D(x) mu and x' = x~' + D(x') mu with the same mu and phi(x')
    = 0.

    Newton's method is simplified. The derivatives, which include dampers and springs, are evaluated
    once, in the middle of the step; of those of dq/dt only the one by xi is used, so that there is
    one matrix of the size of xi for each eigenvalue of (a_ij).

    Source: Hairer, Lubich, Wanner, Geometric Numerical Integration, sections II.1.3, V.4.1 and
    VIII.6.
    """

    stages: int  # s

    @cached_property
    def nodes(self) -> np.ndarray:
        """c (s,)."""
        return (np.polynomial.legendre.leggauss(self.stages)[0] + 1) / 2

    @cached_property
    def weights(self) -> np.ndarray:
        """b (s,)."""
        return np.polynomial.legendre.leggauss(self.stages)[1] / 2

    @cached_property
    def matrix(self) -> np.ndarray:
        """a (s, s): sum_j a_ij c_j^(k - 1) = c_i^k / k for k = 1 ... s."""
        powers = np.arange(1, self.stages + 1)
        vandermonde = self.nodes[:, None] ** (powers - 1)
        return self.nodes[:, None] ** powers / powers @ np.linalg.inv(vandermonde)

    @cached_property
    def blocks(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """T (s, s) and blocks, (1, 1) for a real eigenvalue and (2, 2) for a pair, with
        a = T diag(blocks) T^-1."""
        values, vectors = np.linalg.eig(self.matrix)
        columns, found = [], []
        for value, vector in zip(values, vectors.T):
            if abs(value.imag) < 1e-12:
                columns.append(vector.real)
                found.append(np.array([[value.real]]))
            elif value.imag > 0:
                columns += [vector.real, vector.imag]
                found.append(np.array([[value.real, value.imag], [-value.imag, value.real]]))
        return np.column_stack(columns), found

    @property
    def rates(self) -> int:
        return USUAL * self.stages

    def step(self, flow: Flow) -> ca.Function:
        t, x, u, theta, dt = held = flow.arguments(ca.MX)
        raw, solved = self.raw_step(flow)(*held)
        x_next, *_, health = flow.end(t + dt, raw, theta)
        return ca.Function("nhmech_advance", held, [x_next, health, solved])

    def raw_step(self, flow: Flow) -> ca.Function:
        """(t, x, u, theta, dt) -> x before the projection, whether the equations were solved."""
        t, x, u, theta, dt = held = flow.arguments(ca.MX)
        nx, s, lift = x.numel(), self.stages, flow.lift
        begin, newton = self.start(flow)(*held)
        directions, _ = lift(t, x, theta)
        count = directions.shape[1]
        z, solved = solve_by_iteration(
            self._corrections(flow), ca.vertcat(begin, ca.MX.zeros(count, 1)), *held, newton,
            directions)
        rates, mu = _split(z, count)
        rates = ca.reshape(rates, nx, s)
        end = x + directions @ mu + dt * (rates @ self.weights)
        return ca.Function("nhmech_raw", held,
                           [end + lift(t + dt, end, theta)[0] @ mu, solved])

    def start(self, flow: Flow) -> ca.Function:
        """(t, x, u, theta, dt) -> initial rates (nx s,), and a column of the data that `correct`
        reads: derivatives of f, and inverses, at the middle of a step by Euler's method."""
        t, x, u, theta, dt = held = flow.arguments(ca.SX)
        nconf = flow.state_vector.nconf
        first = flow.rate(t, x, u, theta)
        place = ca.SX.sym("place", x.numel())
        rate = flow.rate(t + dt / 2, place, u, theta)
        middle, slope = ca.substitute([rate, ca.jacobian(rate, place)], [place],
                                      [x + dt / 2 * first])
        begin = [first + float(2 * c) * (middle - first) for c in self.nodes]
        moves, force, damping = (slope[:nconf, nconf:], slope[nconf:, :nconf],
                                 slope[nconf:, nconf:])
        stiffness = force @ moves
        columns = [ca.vec(ca.densify(moves)), ca.vec(ca.densify(force))]
        for block in map(ca.SX, self.blocks[1]):
            size = block.shape[0] * damping.shape[0]
            matrix = (ca.SX.eye(size) - dt * ca.kron(block, damping)
                      - dt ** 2 * ca.kron(block @ block, stiffness))
            columns.append(ca.vec(ca.densify(solve_definite(matrix, ca.SX.eye(size)))))
        return ca.Function("nhmech_start", held, [ca.vertcat(*begin), ca.vertcat(*columns)],
                           {"cse": True})

    def correct(self, newton: ca.SX, dt: ca.SX, defect: ca.SX, nconf: int) -> ca.SX:
        """Corrections (nx, s) of the rates of the stages from their defects f - k (nx, s)."""
        nxi, (T, blocks) = defect.shape[0] - nconf, self.blocks
        at = nxi * nconf
        moves, force = (ca.reshape(newton[:at], nconf, nxi),
                        ca.reshape(newton[at:2 * at], nxi, nconf))
        at *= 2
        right = defect[nconf:, :] + dt * (force @ defect[:nconf, :]) @ self.matrix.T
        right, parts, column = right @ np.linalg.inv(T).T, [], 0
        for k in map(len, blocks):
            inverse = ca.reshape(newton[at:at + (k * nxi) ** 2], k * nxi, k * nxi)
            found = inverse @ ca.vec(right[:, column:column + k])
            parts.append(ca.reshape(found, nxi, k))
            at, column = at + (k * nxi) ** 2, column + k
        speeds = ca.horzcat(*parts) @ T.T
        return ca.vertcat(defect[:nconf, :] + moves @ (dt * speeds @ self.matrix.T), speeds)

    def _corrections(self, flow: Flow) -> ca.Function:
        """(z, t, x, u, theta, dt, newton, directions) -> z, size of the correction; z has the rates
        of all stages, then mu."""
        count = flow.lift.size2_out(0)
        points, update = self._points(flow, count), self._update(flow, count)
        symbol = flow.symbol(self.stages)
        held = t, x, u, theta, dt = flow.arguments(symbol)
        z = symbol.sym("z", update.size1_in(0))
        newton, directions = symbol.sym("newton", update.size1_in(1)), symbol.sym(
            "directions", x.numel(), count)
        stages, end = points(z, x, dt, directions)
        rates = [flow.rate(t + float(c) * dt, stages[:, i], u, theta)
                 for i, c in enumerate(self.nodes)]
        ahead, _ = flow.lift(t + dt, end, theta)
        _, mu = _split(z, count)
        _, phi = flow.lift(t + dt, end + ahead @ mu, theta)
        found = update(z, newton, x, dt, ca.horzcat(*rates), phi)
        return ca.Function("nhmech_corrections", [z, *held, newton, directions], found)

    def _points(self, flow: Flow, count: int) -> ca.Function:
        """(z, x, dt, directions) -> stages (nx, s), and the end before the projection (nx,)."""
        nx, s = flow.state_vector.nx, self.stages
        z, x, dt = ca.SX.sym("z", nx * s + count), ca.SX.sym("x", nx), ca.SX.sym("dt")
        directions = ca.SX.sym("directions", nx, count)
        rates, mu = _split(z, count)
        rates, start = ca.reshape(rates, nx, s), x + directions @ mu
        stages = ca.repmat(start, 1, s) + dt * (rates @ self.matrix.T)
        return ca.Function("nhmech_stages", [z, x, dt, directions],
                           [stages, start + dt * (rates @ self.weights)])

    def _update(self, flow: Flow, count: int) -> ca.Function:
        """(z, newton, x, dt, rates, phi) -> z, size of the correction."""
        nx, nconf, s = flow.state_vector.nx, flow.state_vector.nconf, self.stages
        nxi = nx - nconf
        newton = ca.SX.sym("newton", 2 * nxi * nconf + sum((len(block) * nxi) ** 2
                                                    for block in self.blocks[1]))
        z, x, dt = ca.SX.sym("z", nx * s + count), ca.SX.sym("x", nx), ca.SX.sym("dt")
        rates, phi = ca.SX.sym("rates", nx, s), ca.SX.sym("phi", count)
        defect = rates - ca.reshape(z[:nx * s], nx, s)
        correction = self.correct(newton, dt, defect, nconf)
        moved = ca.vertcat(ca.vec(dt * correction / ca.repmat(1 + ca.fabs(x), 1, s)), phi)
        # a sum, because it is NaN if a term is; a maximum would ignore NaN
        size = ca.sqrt(ca.sumsqr(moved) / moved.numel())
        return ca.Function("nhmech_update", [z, newton, x, dt, rates, phi],
                           [z + ca.vertcat(ca.vec(correction), -phi / 2), size], {"cse": True})


def _split(z: ca.SX | ca.MX, count: int) -> list:
    """The rates of all stages, and mu (count,); symbolic."""
    return ca.vertsplit(z, [0, z.numel() - count, z.numel()])
