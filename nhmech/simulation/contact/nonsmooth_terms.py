"""Mass matrix, forces and contact rows of a vehicle in full velocities w, for steps in which wheels
may slide or leave the ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...compile.compiled_function import compile_function
from ...mechanics.distribution import Component
from ...mechanics.system import LagrangianSystem
from ...once import cached_property
from ...symbolic.buffered import Buffered
from ...vehicle.bodies import BodyContacts
from ...vehicle.tyres import tyre_of
from ...vehicle.vehicle import Vehicle
from ..state_vector import StateVector
from .body_rows import BodyRows
from .contact_rows import ContactRows, read_coefficients, sliding_wheels
from .motion import STILL, TOUCHING, base_axes, to_world
from .phases import FLIES, ROLLS, SLIDES
from .step_functions import StepFunctions


@dataclass(frozen=True, eq=False)
class NonsmoothTerms:
    """Mass, forces, rows and heights of a vehicle's contacts, those of bodies included, and the
    scales of tolerances.
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

    # -- evaluated ---------------------------------------------------------------------------------
    @cached_property
    def functions(self) -> StepFunctions:
        return StepFunctions(self.vehicle, self.contacts[:len(self.vehicle.contacts)],
                             bool(self.bodies.links))

    @cached_property
    def mover(self) -> Buffered:
        """`StepFunctions.move`, for numbers."""
        return Buffered(self.functions.move)

    @cached_property
    def effect(self) -> Buffered:
        """`StepFunctions.effect`, for numbers."""
        return compile_function(self.functions.effect, [0])

    @cached_property
    def _vector(self) -> StateVector:
        return StateVector(self.vehicle.algebroid, 0)

    @property
    def nconf(self) -> int:
        """Length of x."""
        return self._vector.nconf

    def configuration(self, x: np.ndarray) -> np.ndarray:
        """q (nq,) of x."""
        return self._vector.configuration(x)

    @cached_property
    def follow_loads(self) -> bool:
        """Whether the coefficients of some tyre change with its load."""
        tyres = map(tyre_of, self.vehicle.contacts)
        return any(tyre is not None and tyre.follows is not None for tyre in tyres)

    @cached_property
    def _momentum(self) -> Buffered:
        return compile_function(self.functions.momentum, [3])

    @cached_property
    def _rows(self) -> Buffered:
        return compile_function(self.functions.rows, [0])

    def momentum(self, t: float, x: np.ndarray, w: np.ndarray, u: np.ndarray, lam: np.ndarray,
                 closed: np.ndarray, h: float = 0.0) -> list[np.ndarray]:
        """M, F, D, G (m, nv) and the power of `StepFunctions.momentum`, with the rows of bodies;
        copies."""
        M, F, D, G, power = self._momentum(t, x, w, u, self.vehicle.theta, lam[:self.own],
                                           closed[:len(self.vehicle.contacts)], h)
        pulls = G.T.copy()
        if self.bodies.links:
            pulls = np.concatenate((pulls, self.body_rows.read(t, x)[0]))
        return [M.copy(), F.copy(), D.copy(), pulls, power.copy()]

    def read_rows(self, t: float, x: np.ndarray, w: np.ndarray, closed: np.ndarray,
                  h: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A (m, nv), b (m,) and phi of `StepFunctions.rows`, with the rows of bodies; copies."""
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
        x = self._vector.assemble(self.vehicle.configuration(), np.zeros(0))
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

    def gamma(self, t: float, x: np.ndarray, v: np.ndarray, closed: np.ndarray) -> np.ndarray:
        """Time derivative of A w + b for constant w, if no contact changes its phase, (m,)."""
        q, wheels = self.configuration(x), closed[:len(self.vehicle.contacts)]
        found, = self._gamma(t, q, v, self.vehicle.theta, wheels)
        more = self.body_rows.gamma(t, x, to_world(q, v)) if self.bodies.links else np.zeros(0)
        return np.concatenate((found, more))

    @cached_property
    def _gamma(self) -> Buffered:
        return compile_function(self.functions.gamma)

    @property
    def _system(self) -> LagrangianSystem:
        return self.vehicle.constrained.system
