"""Mass matrix, forces and contact rows of a vehicle in full velocities w, for steps in which wheels
may slide or leave the ground."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...compile.compiled_function import compile_function
from ...mechanics.distribution import Component
from ...mechanics.system import LagrangianSystem
from ...once import cached_property
from ...symbolic.buffered import Buffered
from ...vehicle.bodies import UPRIGHT, BodyContacts
from ...vehicle.tyres import generalised_force, relaxations, tyre_force, tyre_of
from ...vehicle.vehicle import Vehicle
from ..state_vector import StateVector
from .body_rows import BodyRows
from .contact_rows import ContactRows, read_coefficients, sliding_wheels
from .motion import STILL, TOUCHING, base_axes, to_world
from .phases import FLIES, ROLLS, SLIDES


@dataclass(frozen=True, eq=False)
class NonsmoothTerms:
    """The functions that a step in full velocities w evaluates.

    w (nv,) is v with the base's velocities along the axes of W: v = T(q) w. (Momentum along body
    axes is not conserved, because these turn within a step.) All quantities come from the
    vehicle's own Gibbs function S and rows: M = d2S/dv'2, and F = tau - dS/dv' at v' = dv/dt =
    (dT/dt) w.
    """

    vehicle: Vehicle
    # first the wheels, then the points of bodies that can touch the ground; the rows and heights of
    # the latter follow those of the distribution
    contacts: tuple[ContactRows, ...]
    bilateral: tuple[int, ...]  # rows of couplings, mimic joints and gauges, not of contacts
    bodies: BodyContacts  # the points of bodies that can touch the ground

    @classmethod
    def of(cls, vehicle: Vehicle, mu: float | Mapping[str, float] | None = None,
           contact: str | None = "coulomb", bodies: BodyContacts | None = None) -> NonsmoothTerms:
        """The terms of a vehicle. `mu` and `contact` as in `Simulator`; bodies that `mu` does not
        name get the mean coefficient of the wheels that may slide. Raises `InputError` for a wheel
        without a coefficient."""
        distribution = vehicle.constrained.distribution
        rows = {held: i for i, held in enumerate(distribution.components) if held is not None}
        bodies = bodies or BodyContacts.none(vehicle)
        known = read_coefficients(vehicle, mu, sliding_wheels(vehicle.description, contact),
                                  tuple(dict.fromkeys(bodies.links)))
        contacts = [
            ContactRows(name, rows[Component(name, "normal")],
                        tuple(i for held, i in rows.items()
                              if held.contact == name and not held.is_normal),
                        distribution.phi_rows.index(rows[Component(name, "normal")]), known[name])
            for name in vehicle.contact_names]
        free = tuple(i for i, held in enumerate(distribution.components) if held is None)
        m, k = distribution.m, len(distribution.phi_rows)
        contacts += [ContactRows(link, row, (row + 1, row + 2), k + i, known[link])
                     for i, link in enumerate(bodies.links) for row in (m + 3 * i,)]
        return cls(vehicle, tuple(contacts), free, bodies)

    def __repr__(self) -> str:
        return f"<NonsmoothTerms of {self.vehicle.name!r}: {len(self.contacts)} contacts>"

    @cached_property
    def nv(self) -> int:
        return self.vehicle.algebroid.nv

    @cached_property
    def m(self) -> int:
        """Number of rows."""
        return self.own + 3 * len(self.bodies.links)

    @cached_property
    def own(self) -> int:
        """Number of rows of the distribution, which come first."""
        return self.vehicle.constrained.distribution.m

    @cached_property
    def body_rows(self) -> BodyRows:
        """The remaining rows, of points of bodies."""
        return BodyRows(self.vehicle, self.bodies, base_axes(self._system.q, self.nv))

    @cached_property
    def forms(self) -> tuple[int, ...]:
        """Row of each entry of phi."""
        rows = self.vehicle.constrained.distribution.phi_rows
        return (*rows, *(c.normal for c in self.contacts if c.height >= len(rows)))

    @cached_property
    def bilateral_heights(self) -> tuple[int, ...]:
        """Indices in phi of bilateral constraints."""
        d = self.vehicle.constrained.distribution
        return tuple(k for k, row in enumerate(d.phi_rows) if row in self.bilateral)

    @cached_property
    def per_metre(self) -> np.ndarray:
        """For each velocity, the value that moves the vehicle by about 1 m/s, (nv,)."""
        scales = self.vehicle.constrained.scales
        assert scales is not None, "vehicles have scales"
        return 1 / scales

    @cached_property
    def size(self) -> float:
        """A length of the vehicle [m]; tolerances of heights are relative to it."""
        return float(1 / self.per_metre[3])

    @cached_property
    def speed(self) -> float:
        """Speed after a fall from `size`, about [m/s]; tolerances of speeds are relative to it."""
        return float(np.sqrt(self.size * abs(self.vehicle.parameters.values["gravity"])))

    def fastest(self, w: np.ndarray) -> float:
        """The largest of the velocities w, converted to [m/s] by `per_metre`."""
        return float(np.abs(w / self.per_metre).max())

    def change(self, before: np.ndarray, w: np.ndarray) -> float:
        """Relative change of the velocities."""
        size = max(self.speed, self.fastest(w))
        return self.fastest(w - before) / size if size else 0.0

    @cached_property
    def heights(self) -> np.ndarray:
        """Index in phi of the height of each contact, (n,)."""
        return np.array([c.height for c in self.contacts], dtype=int)

    @cached_property
    def normals(self) -> np.ndarray:
        """Row of the normal speed of each contact, (n,)."""
        return np.array([c.normal for c in self.contacts], dtype=int)

    @cached_property
    def _along(self) -> np.ndarray:
        """Rows of the speeds along the ground, (n, 2); m where a contact has fewer than two."""
        return np.array([(*c.along, self.m, self.m)[:2] for c in self.contacts],
                        dtype=int).reshape(-1, 2)

    # -- places ------------------------------------------------------------------------------------
    @cached_property
    def nconf(self) -> int:
        """Length of x."""
        return self._vector.nconf

    @cached_property
    def _vector(self) -> StateVector:
        return StateVector(self.vehicle.algebroid, 0)

    @cached_property
    def _places(self) -> tuple[np.ndarray, ...]:
        """Indices in q and x of plain coordinates, and of angles; for an angle, that of its cosine
        in q."""
        slots = self._vector.slots
        plain = [(iq, ix) for ix, iq, angle in slots if not angle]
        turning = [(iq, ix) for ix, iq, angle in slots if angle]
        return tuple(np.array(part, dtype=int).reshape(-1, 2).T for part in (plain, turning))

    def configuration(self, x: np.ndarray) -> np.ndarray:
        """q (nq,) of x."""
        (iq, ix), (jq, jx) = self._places
        q, angles = np.empty(len(iq) + 2 * len(jq)), x[jx]
        q[iq], q[jq], q[jq + 1] = x[ix], np.cos(angles), np.sin(angles)
        return q

    @cached_property
    def move(self) -> ca.Function:
        """(x, factor, w) -> x displaced by factor * w; the base turns by a rotation vector in W."""
        x, w = ca.SX.sym("x", self.nconf), ca.SX.sym("w", self.nv)
        factor = ca.SX.sym("factor")
        step = factor * w
        square = ca.sumsqr(step[3:6])
        large = square > 1e-12
        angle = ca.sqrt(ca.if_else(large, square, 1.0))
        s = ca.if_else(large, ca.sin(angle / 2) / angle, 0.5 - square / 48)
        c = ca.sqrt(1 - s * s * square)
        c = ca.if_else(large, ca.cos(angle / 2), c)
        a, b, bw = s * step[3:6], x[3:6], x[6]
        turned = ca.vertcat(c * b + bw * a + ca.cross(a, b), c * bw - ca.dot(a, b))
        moved = ca.vertcat(x[:3] + step[:3], turned / ca.norm_2(turned), x[7:] + step[6:])
        return ca.Function("nonsmooth_move", [x, factor, w], [ca.densify(moved)], {"cse": True})

    @cached_property
    def mover(self) -> Buffered:
        """`move`, for numbers."""
        return Buffered(self.move)

    # -- what a step is made of --------------------------------------------------------------------
    @cached_property
    def momentum_function(self) -> ca.Function:
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
        system, w, b = self._system, ca.SX.sym("w", self.nv), ca.SX.sym("b", self.nv)
        lam, (closed, h) = ca.SX.sym("lam", self.own), self._state
        T = base_axes(system.q, self.nv)
        v = T @ w
        # from the turning of the body axes
        turning = ca.vertcat(-ca.cross(v[3:6], v[:3]), ca.SX(self.nv - 3, 1))
        gibbs = ca.substitute(system.gibbs, ca.vertcat(system.v, system.a),
                              ca.vertcat(v, T @ b + turning))
        mass, gradient = ca.hessian(gibbs, b)
        still = ca.SX.zeros(self.nv, 1)
        tyres = self._tyre_forces(lam, closed)
        slope = ca.jacobian(tyres, lam)
        force = T.T @ ca.substitute(system.force + tyres, system.v, v)
        inertial = ca.substitute(gradient, b, still)
        force -= inertial
        mass = ca.substitute(mass, b, still)
        D = ca.jacobian(force, w) + h * self._by_deflection(force)
        pulls = self._lean_rows(self.vehicle.constrained.distribution.A)
        pulls += ca.substitute(slope, system.v, v).T
        force -= T.T @ (ca.substitute(slope, system.v, v) @ lam)
        outputs = [ca.densify(part) for part in (mass, force, D, (pulls @ T).T,
                                                 -ca.dot(inertial, w))]
        return self.of_x("nonsmooth_momentum", [system.t, system.q, w, system.u, system.theta, lam,
                                                closed, h], outputs)

    @cached_property
    def rows_function(self) -> ca.Function:
        """(t, x, w, theta, closed, h) -> A^T (nv, own), b (own,), phi (k,): the rows A w + b of the
        distribution, linearised near the given w (rates of tyre deflections are not linear in w).
        `closed` and `h` as in `momentum_function`."""
        system, w, (closed, h) = self._system, ca.SX.sym("w", self.nv), self._state
        T = base_axes(system.q, self.nv)
        A, b, flow = self._speeds(closed)
        bent = ca.substitute(flow, system.v, T @ w)
        slope = ca.jacobian(bent, w) + h * self._by_deflection(bent)
        phi = ca.SX(self.vehicle.constrained.distribution.phi)
        for i, c in enumerate(self.contacts[:len(self.vehicle.contacts)]):
            phi[c.height] = self._lean(i, phi[c.height], UPRIGHT, ca.inf)
        outputs = [ca.densify(part) for part in ((A @ T + slope).T, b + bent - slope @ w, phi)]
        return self.of_x("nonsmooth_rows", [system.t, system.q, w, system.theta, closed, h],
                         outputs)

    def _lean(self, i: int, part: ca.SX, least: float = 0.0, flat: float = 0.0) -> ca.SX:
        """An expression at the contact point of wheel i; `flat` where |axle x n| <= `least`: the
        wheel then lies on its side, and its rolling direction is undefined (0/0)."""
        sine = self.vehicle.contacts[i].sine
        if sine is None or not self.bodies.links:
            return part
        return ca.if_else(sine > least, part, flat)

    def _lean_rows(self, rows: ca.SX) -> ca.SX:
        """Rows (m, ...), set to zero for wheels that lie on their side."""
        found = ca.SX(rows)
        for i, c in enumerate(self.contacts[:len(self.vehicle.contacts)]):
            for row in c.rows:
                found[row, :] = self._lean(i, found[row, :])
        return found

    @cached_property
    def _state(self) -> tuple[ca.SX, ca.SX]:
        return ca.SX.sym("closed", len(self.vehicle.contacts)), ca.SX.sym("h")

    def _tyre_forces(self, lam: ca.SX, closed: ca.SX) -> ca.SX:
        """Generalised force tau (nv,) of tyres at the loads lam, less what `system.force` already
        contains."""
        found = ca.SX(self.nv, 1)
        for i, c in enumerate(self.vehicle.contacts):
            if (tyre := tyre_of(c)) is not None:
                load = lam[self.contacts[i].normal]
                force = generalised_force(c, tyre_force(self.vehicle, c, tyre, load),
                                          self._system.v)
                found += self._lean(i, force * (closed[i] - (tyre.load is None)))
        return found

    @cached_property
    def follow_loads(self) -> bool:
        """Whether the coefficients of some tyre change with its load."""
        tyres = map(tyre_of, self.vehicle.contacts)
        return any(tyre is not None and tyre.follows is not None for tyre in tyres)

    def _speeds(self, closed: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """A (m, nv), b (m,) and flow (m,) of all rows; a tyre in the air is not deflected by the
        ground."""
        d = self.vehicle.constrained.distribution
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
        slope = ca.SX(expression.numel(), self.nv)
        for own in self.vehicle.constrained.distribution.followers.values():
            z = space.q[space.q_names.index(space.v_names[own])]
            slope[:, own] = ca.jacobian(expression, z)
        return slope

    def of_x(self, name: str, inputs: list[ca.SX], outputs: list[ca.SX]) -> ca.Function:
        """A function of x from expressions in q."""
        x = ca.SX.sym("x", self.nconf)
        q = inputs[1]
        outputs = ca.substitute(outputs, [q], [self._vector.configuration(x)])
        return ca.Function(name, [inputs[0], x, *inputs[2:]], outputs, {"cse": True})

    @cached_property
    def _momentum(self) -> Buffered:
        return compile_function(self.momentum_function, [0, 2, 3])

    @cached_property
    def _rows(self) -> Buffered:
        return compile_function(self.rows_function, [0])

    def momentum(self, t: float, x: np.ndarray, w: np.ndarray, u: np.ndarray, lam: np.ndarray,
                 closed: np.ndarray, h: float = 0.0) -> list[np.ndarray]:
        """M, F, D, G (m, nv) and the power of `momentum_function`, with the rows of bodies;
        copies."""
        M, F, D, G, power = self._momentum(t, x, w, u, self.vehicle.theta, lam[:self.own],
                                           closed[:len(self.vehicle.contacts)], h)
        pulls = G.T.copy()
        if self.bodies.links:
            pulls = np.concatenate((pulls, self.body_rows.read(t, x)[0]))
        return [M.copy(), F.copy(), D.copy(), pulls, power.copy()]

    def read_rows(self, t: float, x: np.ndarray, w: np.ndarray, closed: np.ndarray,
                  h: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A (m, nv), b (m,) and phi of `rows_function`, with the rows of bodies; copies."""
        found = self._rows(t, x, w, self.vehicle.theta, closed[:len(self.vehicle.contacts)], h)
        A, b, phi = found[0].T.copy(), found[1].copy(), found[2].copy()
        if self.bodies.links:
            A, b, phi = map(np.concatenate, zip((A, b, phi), self.body_rows.read(t, x)))
        return A, b, phi

    def read_heights(self, x: np.ndarray) -> np.ndarray:
        """Heights of all contacts at t = 0, (n,) [m]."""
        at_rest = np.zeros(self.nv), np.zeros(len(self.contacts))
        return self.read_rows(0.0, x, *at_rest)[2][self.heights]

    @cached_property
    def mobility(self) -> float:
        """The largest change of the velocity of a contact by a unit impulse [1/kg], for the vehicle
        at rest."""
        q = self.vehicle.configuration()
        x = np.zeros(self.nconf)
        for ix, iq, angle in self._vector.slots:
            x[ix] = math.atan2(q[iq + 1], q[iq]) if angle else q[iq]
        at_rest = np.zeros(self.nv), np.ones(len(self.contacts))
        u, lam = np.zeros(self._system.u.numel()), np.zeros(self.m)
        mass, _, _, G, _ = self.momentum(0.0, x, at_rest[0], u, lam, at_rest[1])
        A = self.read_rows(0.0, x, *at_rest)[0]
        moved = np.linalg.lstsq(mass, G.T, rcond=1e-12)[0]
        return float(np.einsum("ij,ji->i", A, moved).max(initial=0.0))

    def find_phases(self, rows: tuple[np.ndarray, ...], w: np.ndarray) -> np.ndarray:
        """Phases of the contacts, (n,), from their heights and speeds at one moment."""
        A, b, phi = rows
        slip = np.append(np.abs(A @ w + b), 0.0)[self._along].max(axis=1)
        return np.where(phi[self.heights] > TOUCHING * self.size, FLIES,
                        np.where(slip > STILL * self.speed, SLIDES, ROLLS))

    @cached_property
    def effect(self) -> Buffered:
        """(t, q, v, u, theta) -> dtau/du (nv, nu)."""
        s = self._system
        return compile_function(ca.Function("nonsmooth_effect", [s.t, s.q, s.v, s.u, s.theta],
                                     [ca.densify(ca.jacobian(s.force, s.u))]), [0])

    def gamma(self, t: float, x: np.ndarray, v: np.ndarray, closed: np.ndarray) -> np.ndarray:
        """Time derivative of A w + b for constant w, if no contact changes its phase, (m,)."""
        q, wheels = self.configuration(x), closed[:len(self.vehicle.contacts)]
        found, = self._own_gamma(t, q, v, self.vehicle.theta, wheels)
        more = self.body_rows.gamma(t, x, to_world(q, v)) if self.bodies.links else np.zeros(0)
        return np.concatenate((found, more))

    @cached_property
    def _own_gamma(self) -> Buffered:
        s, (closed, _) = self._system, self._state
        A, b, flow = self._speeds(closed)
        T = base_axes(s.q, self.nv)
        w = ca.SX.sym("w", self.nv)
        held = ca.substitute(s.rate(ca.substitute(A @ s.v + b + flow, s.v, T @ w)), w, T.T @ s.v)
        return compile_function(ca.Function("nonsmooth_gamma", [s.t, s.q, s.v, s.theta, closed],
                                     [ca.densify(held)]))

    @property
    def _system(self) -> LagrangianSystem:
        return self.vehicle.constrained.system
