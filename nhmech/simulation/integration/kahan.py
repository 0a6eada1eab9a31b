"""Kahan's method for equations that are quadratic in the speeds, in a Strang splitting."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from ...mechanics.equations import solve_definite
from .flow import Flow
from .gauss import Gauss

DRIFT = Gauss(1)      # the implicit midpoint rule


@dataclass(frozen=True)
class Kahan:
    """Strang's splitting, symmetric and of order 2: half a step of dq/dt with constant xi, a step
    of dxi/dt with constant q, and another half step of dq/dt.

    dxi/dt = f is quadratic in xi, because the kinetic energy is. For such equations Kahan's method
    is linear in the new xi, and a step of -dt is its inverse::

        xi' = xi + dt (I - dt/2 df/dxi)^-1 f(xi)

    The drift is the implicit midpoint rule with the symmetric projection of `Gauss`.

    Source: Kahan, Unconventional numerical methods for trajectory calculations (1993);
    Celledoni, McLachlan, Owren, Quispel, J. Phys. A 46 (2013) 025201.
    """

    @property
    def rates(self) -> int:
        return 2

    def step(self, flow: Flow) -> ca.Function:
        t, x, u, theta, dt = held = flow.arguments(ca.MX)
        nconf = flow.state_vector.nconf
        drift, middle = DRIFT.raw_step(replace(flow, rate=flow.held)), t + dt / 2
        before, first = drift(t, x, u, theta, dt / 2)
        xi = self._kick(flow)(middle, before, u, theta, dt)
        raw, second = drift(middle, ca.vertcat(before[:nconf], xi), u, theta, dt / 2)
        x_next, *_, health = flow.end(t + dt, raw, theta)
        return ca.Function("nhmech_advance", held, [x_next, health, first * second])

    def _kick(self, flow: Flow) -> ca.Function:
        """(t, x, u, theta, dt) -> xi after dt with constant q."""
        t, x, u, theta, dt = held = flow.arguments(ca.SX)
        vector = flow.state_vector
        _, xi = vector.split(x)
        _, f = vector.split(flow.rate(t, x, u, theta))
        slope = ca.jacobian(f, x)[:, vector.nconf:]
        step = solve_definite(ca.SX.eye(xi.numel()) - dt / 2 * slope, dt * f)
        return ca.Function("nhmech_kick", held, [ca.densify(xi + step)], {"cse": True})
