"""Mass, force and contact rows of a vehicle in full velocities, for steps in which wheels may slide
or leave the ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..compile.buffered import Buffered, in_c
from ..errors import InputError, Remedy, listed
from ..mechanics.algebroid import rotation
from ..mechanics.distribution import Component
from ..mechanics.system import LagrangianSystem
from ..vehicle.friction import own_friction, read_friction
from ..vehicle.vehicle import Vehicle
from .state import base_pose


@dataclass(frozen=True)
class ContactRows:
    """Where one contact stands among the rows of a vehicle.

    Attributes
    ----------
    name
        The contact's.
    normal
        Row of its normal speed.
    along
        Rows of its speeds along the ground, as many as the wheel holds: two, one, or none.
    height
        Which of phi is its height.
    mu
        Friction coefficient.
    """

    name: str
    normal: int
    along: tuple[int, ...]
    height: int
    mu: float

    @property
    def rows(self) -> tuple[int, ...]:
        """All of them, the normal first."""
        return self.normal, *self.along


@dataclass(frozen=True, eq=False)
class NonsmoothTerms:
    """What a step in full velocities w is made of.

    w (nv,) is v with the base's velocities along the axes of W: v = T(q) w. Body axes turn within a
    step, and momentum along them is not kept. All quantities come from the vehicle's own Gibbs
    function and rows: M = d2S/dv2, and F = tau - dS/dv' at dv/dt = (dT/dt) w.

    Attributes
    ----------
    contacts
        All wheels on the ground.
    bilateral
        Rows that no friction limits: couplings, mimic joints, gauges.
    """

    vehicle: Vehicle
    contacts: tuple[ContactRows, ...]
    bilateral: tuple[int, ...]

    @classmethod
    def of(cls, vehicle: Vehicle,
           mu: float | Mapping[str, float] | None = None) -> NonsmoothTerms:
        """Of a vehicle, with `mu`, else the friction that its wheels come with.

        Raises
        ------
        InputError
            For a wheel without a coefficient, and where a mid-axle model lets wheels scrub.
        """
        distribution = vehicle.constrained.distribution
        if vehicle.description.track_factor is not None:
            raise InputError(
                f"{vehicle.name!r} has the mid-axle model of skid steering, in which wheels scrub "
                "without friction; contact=\"coulomb\" is for wheels that can roll exactly",
                Remedy("Name the wheels whose sideways grip is released: load(..., skid=[...])",
                       "Name the wheels whose sideways grip is released: --skid WHEEL"))
        rows = {held: i for i, held in enumerate(distribution.components) if held is not None}
        known = _coefficients(vehicle, mu)
        contacts = tuple(
            ContactRows(name, rows[Component(name, "normal")],
                        tuple(i for held, i in rows.items()
                              if held.contact == name and held.direction != "normal"),
                        distribution.phi_rows.index(rows[Component(name, "normal")]), known[name])
            for name in vehicle.contact_names)
        free = tuple(i for i, held in enumerate(distribution.components) if held is None)
        return cls(vehicle, contacts, free)

    def __repr__(self) -> str:
        return f"<NonsmoothTerms of {self.vehicle.name!r}: {len(self.contacts)} contacts>"

    @property
    def nv(self) -> int:
        return self.vehicle.algebroid.nv

    @cached_property
    def bilateral_heights(self) -> tuple[int, ...]:
        """Which of phi belong to bilateral rows."""
        d = self.vehicle.constrained.distribution
        return tuple(k for k, row in enumerate(d.phi_rows) if row in self.bilateral)

    @cached_property
    def per_metre(self) -> np.ndarray:
        """Of each velocity, what makes a metre per second."""
        scales = self.vehicle.constrained.scales
        assert scales is not None, "vehicles have scales"
        return 1 / scales

    @cached_property
    def momentum(self) -> Buffered:
        """(t, q, w, u, theta) -> M (nv, nv), F (nv,), dF/dw (nv, nv)."""
        system, w, b = self._system, ca.SX.sym("w", self.nv), ca.SX.sym("b", self.nv)
        T = _base_axes(system.q, self.nv)
        v = T @ w
        # the base's linear velocity turns against body axes
        turning = ca.vertcat(-ca.cross(v[3:6], v[:3]), ca.SX(self.nv - 3, 1))
        gibbs = ca.substitute(system.gibbs, ca.vertcat(system.v, system.a),
                              ca.vertcat(v, T @ b + turning))
        mass, gradient = ca.hessian(gibbs, b)
        still = ca.SX.zeros(self.nv, 1)
        force = T.T @ ca.substitute(system.force, system.v, v)
        force -= ca.substitute(gradient, b, still)
        mass = ca.substitute(mass, b, still)
        outputs = [ca.densify(part) for part in (mass, force, ca.jacobian(force, w))]
        return _buffered(ca.Function("nonsmooth_momentum",
                                     [system.t, system.q, w, system.u, system.theta], outputs,
                                     {"cse": True}), [0, 2])

    @cached_property
    def effect(self) -> Buffered:
        """(t, q, v, u, theta) -> dtau/du (nv, nu)."""
        s = self._system
        return _buffered(ca.Function("nonsmooth_effect", [s.t, s.q, s.v, s.u, s.theta],
                                     [ca.densify(ca.jacobian(s.force, s.u))]), [0])

    @cached_property
    def rows(self) -> Buffered:
        """(t, q, theta) -> A T (m, nv) of all rows, b (m,), phi (k,)."""
        system, d = self._system, self.vehicle.constrained.distribution
        outputs = [d.A @ _base_axes(system.q, self.nv), d.b, d.phi]
        return _buffered(ca.Function("nonsmooth_rows", [system.t, system.q, system.theta],
                                     [ca.densify(part) for part in outputs], {"cse": True}), [0])

    @cached_property
    def gamma(self) -> Buffered:
        """(t, q, v, theta) -> gamma (m,)."""
        function = self.vehicle.functions.gamma
        symbols = function.sx_in()
        return _buffered(ca.Function("nonsmooth_gamma", symbols,
                                     [ca.densify(function(*symbols))]))

    @property
    def _system(self) -> LagrangianSystem:
        return self.vehicle.constrained.system


def to_world(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """w of v: the base's velocities along the axes of W."""
    R, w = base_pose(q)[:3, :3], v.copy()
    w[:3], w[3:6] = R @ v[:3], R @ v[3:6]
    return w


def to_body(q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """v of w."""
    R, v = base_pose(q)[:3, :3], w.copy()
    v[:3], v[3:6] = w[:3] @ R, w[3:6] @ R
    return v


def _base_axes(q: ca.SX, nv: int) -> ca.SX:
    """T (nv, nv) with v = T w."""
    R = rotation(q[3:7])
    return ca.diagcat(R.T, R.T, ca.SX.eye(nv - 6))


def _buffered(function: ca.Function, matrices: tuple[int, ...] | list[int] = ()) -> Buffered:
    return Buffered(in_c(function) or function, matrices)


def _coefficients(vehicle: Vehicle, mu: float | Mapping[str, float] | None) -> dict[str, float]:
    """Wheel -> coefficient, 0 of those that hold nothing along the ground."""
    given, own = read_friction(vehicle, mu), own_friction(vehicle)
    held = {c.name for c in vehicle.contacts if len(c.held) > 1}
    found = {name: given.get(name, own[name]) if name in held else 0.0
             for name in vehicle.contact_names}
    missing = [name for name, value in found.items() if value is None]
    if missing:
        raise InputError(
            f"contact=\"coulomb\" needs the friction coefficient of {listed(missing)} of "
            f"{vehicle.name!r}", Remedy(
                "Give mu=0.6, or mu={\"" + missing[0] + "\": 0.6}",
                f"Give --mu 0.6, or --mu {missing[0]}=0.6"))
    infinite = [name for name, value in found.items() if value == np.inf]
    if infinite:
        raise InputError(f"mu of {listed(infinite)} is inf: a wheel that cannot slip has no place "
                         "in contact=\"coulomb\"; a large number such as 100 comes close")
    return {name: float(value or 0.0) for name, value in found.items()}
