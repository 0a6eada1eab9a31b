"""The forces of the ground at each state of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

import casadi as ca
import numpy as np

from ...errors import REPR, InputError, SimulationError, listed
from ...mechanics.distribution import Component
from ...mechanics.equations import Equations
from ...mechanics.lagrange_multipliers import saddle_point_system
from ...once import cached_property, once
from ...vehicle.friction import wheels_with_tyres
from ...vehicle.reactions import Reactions
from ...vehicle.vehicle import Vehicle
from ..contact.force_reader import ContactForces, world_forces
from ..simulated import Simulated


class ReactionsAlong(Sequence[Reactions]):
    """`Reactions` at each state t (N,), q (N, nq) of a run; `find` computes the forces at all
    states at once."""

    def __init__(self, vehicle: Vehicle, t: np.ndarray, q: np.ndarray,
                 find: Callable[[], ContactForces]):
        self._vehicle = vehicle
        self._t, self._q = t, q
        self._find = find

    def __repr__(self) -> str:
        return f"<ReactionsAlong {len(self)} states>"

    def __len__(self) -> int:
        return len(self._t)

    @cached_property
    def found(self) -> ContactForces:
        """The forces at all states, as arrays."""
        return self._find()

    @cached_property
    def world(self) -> np.ndarray:
        """Force on each contact in W at each state, (N, contacts, 3) [N]."""
        return world_forces(self._vehicle, self._t, self._q, self.found)

    @overload
    def __getitem__(self, k: int) -> Reactions: ...

    @overload
    def __getitem__(self, k: slice) -> list[Reactions]: ...

    def __getitem__(self, k: int | slice) -> Reactions | list[Reactions]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        k = range(len(self))[k]
        return self.found.at(k, self._vehicle, self._t[k], self._q[k])

    def component(self, wheel: str, direction: str) -> np.ndarray:
        """Force on a wheel in one direction [N], (N,)."""
        return self.found.component(wheel, direction)


@dataclass(frozen=True, eq=False)
class TyresAlong:
    """Values at N states for k wheels, in the order of `wheels`; the last index is longitudinal,
    lateral."""

    wheels: tuple[str, ...]
    slip: np.ndarray  # (N, k, 2)
    force: np.ndarray  # (N, k, 2) [N], of the ground on the wheels
    load: np.ndarray  # (N, k) [N], distributed by least norm, as in the equations of motion
    power: np.ndarray  # (N, k) [W], dissipated by slip
    touching_power: np.ndarray  # (N, k) [W], the same if no wheel were in the air

    def __repr__(self) -> str:
        return f"<TyresAlong of {len(self.wheels)} wheels at {len(self.load)} moments>"

    @classmethod
    def of(cls, vehicle: Vehicle, t: np.ndarray, q: np.ndarray, v: np.ndarray,
           forces: ContactForces, flies: np.ndarray | None) -> TyresAlong:
        """The values at states t (N,), q (N, nq), v (N, nv) with these forces of the ground; it
        exerts none on wheels that are in the air, (N, contacts)."""
        wheels = wheels_with_tyres(vehicle)
        n, k = len(t), len(wheels)
        load = forces.shortest[:, [forces.components.index((name, "normal")) for name in wheels]]
        theta = np.tile(vehicle.theta[:, None], (1, n))
        slip, force = (part.full().T.reshape(n, k, 2) for part in vehicle.tyre_function.map(n)(
            t[None, :], q.T, v.T, theta, load.T))
        S, s = vehicle.functions.slip.map(n)(t[None, :], q.T, theta)
        S = S.full().reshape(2 * k, n, -1).swapaxes(0, 1)
        speed = (np.einsum("nij,nj->ni", S, v) + s.full().T).reshape(n, k, 2)
        power = touching = -np.einsum("nki,nki->nk", force, speed)
        if flies is not None:
            own = flies[:, [vehicle.contact_names.index(name) for name in wheels]]
            force, power = np.where(own[..., None], 0.0, force), np.where(own, 0.0, power)
        return cls(wheels, slip, force, load, power, touching)


def multiplier_along(simulated: Simulated, row: str,
                     evaluate: Callable[[ca.Function], np.ndarray]) -> np.ndarray:
    """lambda of a row at each moment, (N,) of a run, (N, K) of a batch, from the saddle-point
    system of `lagrange_multipliers`, which needs no choice of independent speeds. `evaluate`
    returns the values of a function of (t, q, v, u, theta) at each moment, flattened by columns."""
    if simulated.vehicle is not None:
        raise SimulationError("the ground forces of a vehicle are `force(wheel, direction)` and "
                              "`reactions`; multiplier is for systems written by hand")
    d, kept = simulated.constrained.distribution, simulated.equations.frame.kept
    if row not in d.names:
        raise InputError(f"no row {row!r}; there are {listed(d.names) or 'none'}")
    if d.names.index(row) not in kept:
        raise InputError(f"the row {row!r} depends on others, and its multiplier is not "
                         f"determined; {listed(d.names[i] for i in kept)} have one")
    found = evaluate(_saddle(simulated.equations))
    size = simulated.constrained.system.algebroid.nv + len(kept)
    columns = found.reshape(*found.shape[:-1], size + 1, size)       # by columns
    matrix = np.swapaxes(columns[..., :size, :], -1, -2)
    solved = np.linalg.pinv(matrix, rcond=1e-13) @ columns[..., size, :, None]
    return solved[..., size - len(kept) + kept.index(d.names.index(row)), 0]


@once
def _saddle(equations: Equations) -> ca.Function:
    """(t, q, v, u, theta) -> the matrix of the saddle-point system with its right-hand side."""
    s = equations.constrained.system
    whole, = s.expand(ca.horzcat(*saddle_point_system(equations.frame)))
    return ca.Function("saddle", [s.t, s.q, s.v, s.u, s.theta], [ca.densify(whole)], {"cse": True})


@dataclass(frozen=True)
class BatchReactions:
    """Forces of the ground on the wheels of N cases at K moments: m components at c contacts.

    Attributes
    ----------
    components
        Wheel and direction of each entry of the forces.
    forces
        (N, K, m) on the wheels [N].
    contacts
        Names of the contacts.
    feasible
        (N, K), whether some distribution of the load has all normal forces >= 0. If not, a wheel
        lifts off, and the forces are those of least norm without that condition.
    """

    components: tuple[Component, ...]
    forces: np.ndarray
    contacts: tuple[str, ...]
    feasible: np.ndarray

    def __repr__(self) -> str:
        cases, moments = self.feasible.shape
        return (f"<BatchReactions of {cases} cases at {moments} moments on "
                f"{listed(self.contacts, REPR)}>")

    def component(self, wheel: str, direction: str) -> np.ndarray:
        """Force on a wheel in one direction [N], (N, K)."""
        return self.forces[..., self.components.index((wheel, direction))]

    @property
    def normal(self) -> np.ndarray:
        """Normal forces, (N, K, c) [N]; NaN where a contact has no normal row."""
        missing = np.full(self.forces.shape[:-1], np.nan)
        columns = {component: self.forces[..., i] for i, component in enumerate(self.components)}
        return np.stack([columns.get(Component(contact, "normal"), missing)
                         for contact in self.contacts], axis=-1)

    @property
    def friction(self) -> np.ndarray:
        """Friction coefficient that each contact needs, |tangential| / normal, (N, K, c); infinite
        for tangential force without normal force."""
        squares = np.zeros((*self.forces.shape[:-1], len(self.contacts)))
        for i, held in enumerate(self.components):
            if not held.is_normal:
                squares[..., self.contacts.index(held.contact)] += self.forces[..., i] ** 2
        tangential, normal = np.sqrt(squares), self.normal
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(normal > 0, tangential / normal, np.where(tangential > 0, np.inf, 0.0))
