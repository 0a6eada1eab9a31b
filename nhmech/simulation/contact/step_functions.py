"""The functions of a step in which wheels may slide or leave the ground, in full velocities w."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...mechanics.distribution import Distribution
from ...mechanics.system import LagrangianSystem
from ...once import cached_property
from ...vehicle.bodies import UPRIGHT
from ...vehicle.tyres import generalised_force, relaxations, tyre_force, tyre_of
from ...vehicle.vehicle import Vehicle
from ..state_vector import StateVector
from .contact_rows import ContactRows
from .motion import base_axes


@dataclass(frozen=True, eq=False)
class StepFunctions:
    """CasADi functions of the mass matrix, the forces and the rows of a vehicle's wheels.

    w (nv,) is v with the base's velocities along the axes of W: v = T(q) w. (Momentum along body
    axes is not conserved, because these turn within a step.) All quantities come from the
    vehicle's own Gibbs function S and rows: M = d2S/dv'2, and F = tau - dS/dv' at v' = dv/dt =
    (dT/dt) w.
    """

    vehicle: Vehicle
    wheels: tuple[ContactRows, ...]  # the contacts of the vehicle's wheels
    may_lie: bool  # whether a wheel may come to lie on its side

    def __repr__(self) -> str:
        return f"<StepFunctions of {self.vehicle.name!r}>"

    @cached_property
    def move(self) -> ca.Function:
        """(x, factor, w) -> x displaced by factor * w; the base turns by a rotation vector in W."""
        x, w = ca.SX.sym("x", self._vector.nconf), ca.SX.sym("w", self._nv)
        factor = ca.SX.sym("factor")
        step = factor * w
        # half the angle: sin(half) / (2 half) is 1/2 where its square would vanish
        half = ca.sqrt(ca.fmax(ca.sumsqr(step[3:6]), 1e-300)) / 2
        a, c, b, bw = ca.sin(half) / (2 * half) * step[3:6], ca.cos(half), x[3:6], x[6]
        turned = ca.vertcat(c * b + bw * a + ca.cross(a, b), c * bw - ca.dot(a, b))
        moved = ca.vertcat(x[:3] + step[:3], turned / ca.norm_2(turned), x[7:] + step[6:])
        return ca.Function("nonsmooth_move", [x, factor, w], [ca.densify(moved)], {"cse": True})

    @cached_property
    def momentum(self) -> ca.Function:
        """(t, x, w, u, theta, lam, closed, h) -> M (nv, nv), F (nv,), D (nv, nv), G^T (nv, own),
        power.

        M is the mass matrix. The forces are F + G^T lam, linearised near the given lam of the rows
        of the distribution; D is their derivative by w. `power` is that of gravity and inertia.

        Parameters
        ----------
        lam
            Row forces (own,) [N], on which the forces of tyres depend.
        closed
            1 for each wheel on the ground, 0 in the air.
        h
            Time [s] for which deflections of tyres grow at their rates: dx = h w.
        """
        system, w, b = self._system, ca.SX.sym("w", self._nv), ca.SX.sym("b", self._nv)
        lam, (closed, h) = ca.SX.sym("lam", self._distribution.m), self._state
        T = base_axes(system.q, self._nv)
        v = T @ w
        # from the turning of the body axes
        turning = ca.vertcat(-ca.cross(v[3:6], v[:3]), ca.SX(self._nv - 3, 1))
        gibbs = ca.substitute(system.gibbs, ca.vertcat(system.v, system.a),
                              ca.vertcat(v, T @ b + turning))
        mass, gradient = ca.hessian(gibbs, b)
        still = ca.SX.zeros(self._nv, 1)
        tyres = self._tyre_forces(lam, closed)
        slope = ca.jacobian(tyres, lam)
        force = T.T @ ca.substitute(system.force + tyres, system.v, v)
        inertial = ca.substitute(gradient, b, still)
        force -= inertial
        mass = ca.substitute(mass, b, still)
        D = ca.jacobian(force, w) + h * self._by_deflection(force)
        pulls = self._lean_rows(self._distribution.A)
        pulls += ca.substitute(slope, system.v, v).T
        force -= T.T @ (ca.substitute(slope, system.v, v) @ lam)
        outputs = [ca.densify(part) for part in (mass, force, D, (pulls @ T).T,
                                                 -ca.dot(inertial, w))]
        return self.of_x("nonsmooth_momentum", [system.t, system.q, w, system.u, system.theta, lam,
                                                closed, h], outputs)

    @cached_property
    def rows(self) -> ca.Function:
        """(t, x, w, theta, closed, h) -> A^T (nv, own), b (own,), phi (k,): the rows A w + b of the
        distribution, linearised near the given w (rates of tyre deflections are not linear in w).
        `closed` and `h` as in `momentum`."""
        system, w, (closed, h) = self._system, ca.SX.sym("w", self._nv), self._state
        T = base_axes(system.q, self._nv)
        A, b, flow = self._speeds(closed)
        bent = ca.substitute(flow, system.v, T @ w)
        slope = ca.jacobian(bent, w) + h * self._by_deflection(bent)
        phi = ca.SX(self._distribution.phi)
        for i, c in enumerate(self.wheels):
            phi[c.height] = self._lean(i, phi[c.height], UPRIGHT, ca.inf)
        outputs = [ca.densify(part) for part in ((A @ T + slope).T, b + bent - slope @ w, phi)]
        return self.of_x("nonsmooth_rows", [system.t, system.q, w, system.theta, closed, h],
                         outputs)

    def _lean(self, i: int, part: ca.SX, least: float = 0.0, flat: float = 0.0) -> ca.SX:
        """An expression at the contact point of wheel i; `flat` where |axle x n| <= `least`: the
        wheel then lies on its side, and its rolling direction is undefined (0/0)."""
        sine = self.vehicle.contacts[i].sine
        if sine is None or not self.may_lie:
            return part
        return ca.if_else(sine > least, part, flat)

    def _lean_rows(self, rows: ca.SX) -> ca.SX:
        """Rows (m, ...), set to zero for wheels that lie on their side."""
        found = ca.SX(rows)
        for i, c in enumerate(self.wheels):
            for row in c.rows:
                found[row, :] = self._lean(i, found[row, :])
        return found

    @cached_property
    def _state(self) -> tuple[ca.SX, ca.SX]:
        return ca.SX.sym("closed", len(self.vehicle.contacts)), ca.SX.sym("h")

    def _tyre_forces(self, lam: ca.SX, closed: ca.SX) -> ca.SX:
        """Generalised force tau (nv,) of tyres at the loads lam, less what `system.force` already
        contains."""
        found = ca.SX(self._nv, 1)
        for i, c in enumerate(self.vehicle.contacts):
            if (tyre := tyre_of(c)) is not None:
                load = lam[self.wheels[i].normal]
                force = generalised_force(c, tyre_force(self.vehicle, c, tyre, load),
                                          self._system.v)
                found += self._lean(i, force * (closed[i] - (tyre.load is None)))
        return found

    def _speeds(self, closed: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """A (m, nv), b (m,) and flow (m,) of all rows; a tyre in the air is not deflected by the
        ground."""
        d = self._distribution
        A, b = ca.SX(d.A), ca.SX(d.b)
        wheels = {bent.follower: i for i, c in enumerate(self.vehicle.contacts)
                  for bent in relaxations(self.vehicle, c).values()}
        for row, own in d.followers.items():
            touch, kept = closed[wheels[own]], A[row, own]
            A[row, :], b[row] = touch * A[row, :], touch * b[row]
            A[row, own] = kept
        return self._lean_rows(A), self._lean_rows(b), ca.SX(d.m, 1) if d.flow is None else d.flow

    def _by_deflection(self, expression: ca.SX) -> ca.SX:
        """Derivative of an expression (k,) by the deflections of tyres, in the columns of their
        rates, (k, nv)."""
        space = self.vehicle.algebroid
        slope = ca.SX(expression.numel(), self._nv)
        for own in self._distribution.followers.values():
            z = space.q[space.q_names.index(space.v_names[own])]
            slope[:, own] = ca.jacobian(expression, z)
        return slope

    def of_x(self, name: str, inputs: list[ca.SX], outputs: list[ca.SX]) -> ca.Function:
        """A function of x from expressions in q."""
        x = ca.SX.sym("x", self._vector.nconf)
        q = inputs[1]
        outputs = ca.substitute(outputs, [q], [self._vector.configuration(x)])
        return ca.Function(name, [inputs[0], x, *inputs[2:]], outputs, {"cse": True})

    @cached_property
    def effect(self) -> ca.Function:
        """(t, q, v, u, theta) -> dtau/du (nv, nu)."""
        s = self._system
        return ca.Function("nonsmooth_effect", [s.t, s.q, s.v, s.u, s.theta],
                           [ca.densify(ca.jacobian(s.force, s.u))])

    @cached_property
    def gamma(self) -> ca.Function:
        """(t, q, v, theta, closed) -> time derivative of A w + b for constant w, (own,)."""
        s, (closed, _) = self._system, self._state
        A, b, flow = self._speeds(closed)
        T = base_axes(s.q, self._nv)
        w = ca.SX.sym("w", self._nv)
        held = ca.substitute(s.rate(ca.substitute(A @ s.v + b + flow, s.v, T @ w)), w, T.T @ s.v)
        return ca.Function("nonsmooth_gamma", [s.t, s.q, s.v, s.theta, closed], [ca.densify(held)])

    @property
    def _nv(self) -> int:
        return self.vehicle.algebroid.nv

    @property
    def _vector(self) -> StateVector:
        return StateVector(self.vehicle.algebroid, 0)

    @property
    def _system(self) -> LagrangianSystem:
        return self.vehicle.constrained.system

    @property
    def _distribution(self) -> Distribution:
        return self.vehicle.constrained.distribution
