"""A discrete-gradient method on a skew form of the equations, which conserves energy."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...mechanics.equations import solve_definite
from .flow import Flow, solve_by_iteration
from .gauss import Gauss

NEWTON = Gauss(1)      # its derivatives are used here too, since both are midpoint rules
# [m, rad] the third-order change of the energy in a smaller move is below rounding, so that the
# gradient needs no correction (which would be 0 / 0)
TINY = 1e-8
KEPT = 1e-9     # power relative to energy [1/s] that is rounding


@dataclass(frozen=True)
class DiscreteGradient:
    """A symmetric method of order 2 that conserves energy to rounding.

    With c the configuration's part of x, R = d(dc/dt)/dxi and E = xi . M(c) xi / 2 + V(c), the
    equations of motion without inputs are an almost-Poisson form, with J skew::

        dc/dt = R w,    M dxi/dt = -R^T dE/dc + J(c, xi) w,    w = M^-1 dE/dxi = xi

    J comes from the equations themselves: g = M dxi/dt + R^T dE/dc is quadratic in xi, and
    xi . g = 0, so that (dg_a/dxi_b - dg_b/dxi_a) xi_b = 3 g_a, and J is a third of that bracket.
    The step takes R, M and J in the middle. It replaces dE/dxi by (M(c) + M(c')) (xi + xi') / 4,
    and dE/dc by Gonzalez' gradient of (E(c, xi) + E(c, xi')) / 2 in c. The product of these with
    the step is E' - E, which vanishes because J is skew.

    Where forces do work all the same, as a damper within a bumper that no sample had reached, the
    step fails.

    E is evaluated at the configuration projected onto the constraints, so that the projection after
    the step does not change it.

    Source: Gonzalez, J. Nonlinear Sci. 6 (1996) 449; Celledoni, Farre Puiggali, Hoiseth, Martin de
    Diego, J. Nonlinear Sci. 29 (2019) 1523.
    """

    @property
    def rates(self) -> int:
        return 10

    def step(self, flow: Flow) -> ca.Function:
        t, x, u, theta, dt = held = flow.arguments(ca.MX)
        begin, newton = NEWTON.start(flow)(*held)
        z, solved = solve_by_iteration(self._corrections(flow), begin, *held, newton)
        x_next, *_, health = flow.end(t + dt, _project(flow, t + dt, x + dt * z, theta), theta)
        power, size = self._power(flow)(t, x, theta)
        return ca.Function("nhmech_advance", held, [x_next, health, solved, power <= KEPT * size])

    def _corrections(self, flow: Flow) -> ca.Function:
        """(z, t, x, u, theta, dt, newton) -> z, size of the correction; z is the mean rate."""
        t, x, u, theta, dt = held = flow.arguments(ca.SX)
        nx, nconf = x.numel(), flow.state_vector.nconf
        z = ca.SX.sym("z", nx)
        newton = ca.SX.sym("newton", NEWTON.start(flow).size1_out(1))
        energy, form = self._energy(flow), self._form(flow)
        ends, move = (x, x + dt * z), dt * z[:nconf]
        middle, xi = (ends[0] + ends[1]) / 2, [flow.state_vector.split(end)[1] for end in ends]
        mass, moves, skew = form(t, middle, theta)

        def mean(c: ca.SX) -> ca.SX:
            """Mean of the energies with the speeds of both ends."""
            return sum(energy(t, ca.vertcat(c, speeds), theta)[0] for speeds in xi) / 2

        c = ca.SX.sym("c", nconf)
        slope = ca.substitute(ca.gradient(mean(c), c), c, middle[:nconf])
        missing = mean(ends[1][:nconf]) - mean(ends[0][:nconf]) - ca.dot(slope, move)
        slope += missing / (ca.sumsqr(move) + TINY ** 2) * move
        masses = (energy(t, end, theta)[1] for end in ends)
        speeds = solve_definite(mass, sum(masses) @ flow.state_vector.split(middle)[1] / 2)
        rate = ca.vertcat(moves @ speeds, solve_definite(mass, skew @ speeds - moves.T @ slope))
        correction = NEWTON.correct(newton, dt, rate - z, nconf)
        size = ca.sqrt(ca.sumsqr(dt * correction / (1 + ca.fabs(x))) / nx)
        return ca.Function("nhmech_corrections", [z, *held, newton], [z + correction, size],
                           {"cse": True})

    def _energy(self, flow: Flow) -> ca.Function:
        """(t, x, theta) -> energy of x projected onto the constraints, M (nxi, nxi)."""
        t, x, _, theta, _ = flow.arguments(ca.SX)
        system, vector = flow.equations.constrained.system, flow.state_vector
        raw = ca.SX.sym("raw", vector.nx)
        configuration, xi = vector.split(raw)
        q = vector.configuration(configuration)
        v = flow.equations.velocity(t, q, xi, theta)
        energy = ca.substitute(
            system.expand(system.energy), [system.t, system.q, system.v, system.theta],
            [t, q, ca.densify(v), theta])[0]
        mass = ca.jacobian(ca.gradient(energy, xi), xi)
        found = ca.substitute([energy, ca.densify(mass)], [raw], [_project(flow, t, x, theta)])
        return ca.Function("nhmech_energy", [t, x, theta], found, {"cse": True})

    def _power(self, flow: Flow) -> ca.Function:
        """(t, x, theta) -> |dE/dt| = |xi . g|, and 1 + |E| with the sizes of its terms."""
        t, x, _, theta, _ = flow.arguments(ca.SX)
        xi, energy = flow.state_vector.split(x)[1], self._energy(flow)(t, x, theta)[0]
        parts = self._balance(flow)(t, x, theta)
        return ca.Function("nhmech_power", [t, x, theta], [
            ca.fabs(ca.dot(xi, sum(parts))),
            1 + ca.fabs(energy) + ca.dot(ca.fabs(xi), sum(map(ca.fabs, parts)))], {"cse": True})

    def _balance(self, flow: Flow) -> ca.Function:
        """(t, x, theta) -> M dxi/dt, R^T dE/dc, whose sum is g (nxi,)."""
        t, x, u, theta, _ = flow.arguments(ca.SX)
        vector, nconf = flow.state_vector, flow.state_vector.nconf
        energy, mass = self._energy(flow)(t, x, theta)
        moved, xi_rate = vector.split(flow.rate(t, x, ca.SX.zeros(u.numel(), 1), theta))
        moves = ca.jacobian(moved, x)[:, nconf:]
        return ca.Function("nhmech_balance", [t, x, theta], [
            mass @ xi_rate, ca.densify(moves.T @ ca.gradient(energy, x)[:nconf])], {"cse": True})

    def _form(self, flow: Flow) -> ca.Function:
        """(t, x, theta) -> M, R (nconf, nxi), J (nxi, nxi)."""
        t, x, u, theta, _ = flow.arguments(ca.SX)
        vector, nconf = flow.state_vector, flow.state_vector.nconf
        mass = self._energy(flow)(t, x, theta)[1]
        moved = vector.split(flow.rate(t, x, ca.SX.zeros(u.numel(), 1), theta))[0]
        moves = ca.jacobian(moved, x)[:, nconf:]
        slope = ca.jacobian(sum(self._balance(flow)(t, x, theta)), x)[:, nconf:]
        return ca.Function("nhmech_form", [t, x, theta],
                           [mass, ca.densify(moves), ca.densify(slope - slope.T) / 3],
                           {"cse": True})


def _project(flow: Flow, t, x, theta):
    """x projected onto the constraints, to rounding, by two steps of Newton's method: one leaves
    the square of the error before."""
    return flow.end(t, flow.end(t, x, theta)[0], theta)[0]
