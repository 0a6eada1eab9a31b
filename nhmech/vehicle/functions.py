"""The expressions of a vehicle as functions of numbers, each made when it is first needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..mechanics.system import ConstrainedSystem
from ..once import cached_property
from ..symbolic.buffered import ThreadBuffered
from .contact import Contact


@dataclass(frozen=True, eq=False)
class VehicleFunctions:
    """`casadi.Function`s of (t, q, v, u, theta) or fewer of these, over all rows, dropped ones
    included."""

    constrained: ConstrainedSystem
    contact_list: Sequence[Contact]

    def __repr__(self) -> str:
        return "<VehicleFunctions: constraints, gamma, force, balance, contacts>"

    @cached_property
    def constraints(self) -> ca.Function:
        """(t, q, theta) -> A (m, nv), b (m,), phi (k,)."""
        return self.constrained.constraint_function()

    @cached_property
    def rows(self) -> ThreadBuffered:
        """`constraints`, for numbers."""
        return ThreadBuffered(self.constraints, matrices=[0])

    @cached_property
    def flow(self) -> ca.Function:
        """(t, q, v, theta) -> the nonlinear part of the rows, beside A v + b (m,)."""
        return self.constrained.flow_function()

    @cached_property
    def gamma(self) -> ca.Function:
        """(t, q, v, theta) -> gamma = (dA/dt) v + db/dt (m,)."""
        s, d = self.constrained.system, self.constrained.distribution
        return ca.Function("gamma", [s.t, s.q, s.v, s.theta], [s.rate(d.A @ s.v + d.b)])

    @cached_property
    def force(self) -> ca.Function:
        """(t, q, v, u, theta) -> tau (nv,)."""
        s = self.constrained.system
        return ca.Function("force", [s.t, s.q, s.v, s.u, s.theta], [ca.densify(s.force)])

    @cached_property
    def friction(self) -> ca.Function:
        """(t, q, v, u, theta, f) -> generalised force per unit force of each row, (nv, m), at the
        row forces f (m,)."""
        s, c = self.constrained.system, self.constrained
        return ca.Function("friction", [s.t, s.q, s.v, s.u, s.theta, c.loads],
                           [ca.densify(c.friction)])

    @cached_property
    def slip(self) -> ca.Function:
        """(t, q, theta) -> S (k, nv), s (k,): S v + s are the slip speeds of tyres [m/s]."""
        s = self.constrained.system
        speeds = ca.vertcat(ca.SX(0, 1), *[c.speed(d) for c in self.contact_list
                                           if c.mount.wheel.law == "tyre"
                                           for d in ("longitudinal", "lateral")])
        parts = [ca.jacobian(speeds, s.v), ca.substitute(speeds, s.v, ca.SX.zeros(s.v.shape))]
        return ca.Function("slip", [s.t, s.q, s.theta], [ca.densify(part) for part in parts])

    @cached_property
    def balance(self) -> ThreadBuffered:
        """(t, q, v, u, theta), numbers -> A (m, nv), gamma (m,), tau (nv,) at once."""
        s = self.constrained.system
        terms = [self.constraints(s.t, s.q, s.theta)[0], self.gamma(s.t, s.q, s.v, s.theta),
                 s.force]
        function = ca.Function("balance", [s.t, s.q, s.v, s.u, s.theta],
                               [ca.densify(term) for term in terms], {"cse": True})
        return ThreadBuffered(function, matrices=[0])

    @cached_property
    def contacts(self) -> ca.Function:
        """(t, q, theta) -> contact points K (3, k) in the frames of the carrying bodies, directions
        without slip of all contacts (3, n), and |axle x n| (k,), 1 without an axle."""
        s, contacts = self.constrained.system, self.contact_list
        points = ca.horzcat(*[c.point for c in contacts])
        directions = [ca.horzcat(*[c.directions[d] for d in c.held]) for c in contacts]
        sines = ca.vertcat(*[ca.SX(1) if c.sine is None else c.sine for c in contacts])
        return ca.Function("contacts", [s.t, s.q, s.theta],
                           [ca.densify(part) for part in (points, ca.horzcat(*directions), sines)])

    @cached_property
    def places(self) -> ThreadBuffered:
        """`contacts`, for numbers."""
        return ThreadBuffered(self.contacts, matrices=[0, 1])
