"""Lift-off: the bound at which the ground would have to pull a wheel, and the notice after a
run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ...errors import NhmechError, Remedy, listed
from ...mechanics.distribution import Component
from ...mechanics.equations import Equations
from ...once import once
from ...urdf.notice import Notice, NoticeKind
from ...vehicle.build import build, parameters_of
from ...vehicle.contact_forces import contact_force_function
from ...vehicle.ground import Ground
from ...vehicle.least_norm import orthonormal, raise_least
from ...vehicle.vehicle import Vehicle
from ..state import State
from ..state_vector import state_symbols
from .force_reader import ContactForces, force_reader

LIFT_OFF = "lift-off"    # beginning of the names of its events
LEVEL = Ground()
GENTLY = "Commands that change slowly lift no wheel"
BALANCED = "A centre of mass above the area between the wheels lifts none"
GO_ON = 'Simulator(vehicle, on_lift="warn") goes on', "--on-lift warn goes on"
REMEDY = Remedy(f"{GENTLY}, as JointVelocity(rates, acceleration=...) does; {GO_ON[0]}",
                f"{GENTLY}; {GO_ON[1]}")
BALANCE = Remedy(f"{BALANCED}; {GO_ON[0]}", f"{BALANCED}; {GO_ON[1]}")
# relative to the largest normal force of a state: a wheel with a smaller pull just touches the
# ground
ROUNDING = 1e-6      # in notices
TOUCHING = 1e-9      # in events, whose moments are located


@dataclass(frozen=True, eq=False)
class LiftOffBound:
    """A bound on a run: the normal forces of the watched wheels stay positive.

    The load has many distributions (`ContactForces`). The bound uses the one that last made all
    normal forces positive; when it no longer does, the one whose least normal force is largest.
    """

    vehicle: Vehicle
    wheels: tuple[str, ...]  # names of the watched contacts
    places: np.ndarray  # indices of their normal forces among the contact forces, (m,)
    notices: tuple[Notice, ...]  # about wheels that are not watched
    # the difference from the distribution of least norm, (n,) [N]; compiled code reads it
    split: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "split", np.zeros(len(self.vehicle.contact_rows)))

    def __repr__(self) -> str:
        return f"<LiftOffBound of {self.vehicle.name!r} by {', '.join(self.wheels) or 'nothing'}>"

    @classmethod
    def of(cls, vehicle: Vehicle) -> LiftOffBound:
        """Watches the wheels that press on level ground while the vehicle is at rest; the file does
        not contain what holds the others down."""
        return cls(vehicle, *_find_watched(vehicle))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the events."""
        return tuple(f"{LIFT_OFF}: {wheel}" for wheel in self.wheels)

    def margins(self, state: State) -> list[float]:
        """The normal forces (m,) [N], up to rounding; all positive if some distribution of the load
        makes them so."""
        shortest, kernel = force_reader(self.vehicle).look(state.t, state.q, state.v, state.u)
        normals, split = _share(shortest, kernel, self.places, self.split)
        self.split[...] = split
        return (normals + TOUCHING * _largest(normals)).tolist()

    def along(self, equations: Equations) -> ca.Function:
        """(t, x, u, theta, split) -> the normal forces (m,) for a given split, for compiled
        code."""
        return _along(equations, tuple(self.vehicle.contact_rows.items()),
                      tuple(self.places.tolist()))


@once
def _find_watched(vehicle: Vehicle) -> tuple[tuple[str, ...], np.ndarray, tuple[Notice, ...]]:
    """Wheels, places and notices of `LiftOffBound`."""
    places = [i for i, c in enumerate(vehicle.contact_rows) if c.is_normal]
    wheels = [list(vehicle.contact_rows)[i].contact for i in places]
    idle, description = _idle_wheels(vehicle, wheels, places), vehicle.description
    # a slope, or a load that was added, is no fault of the file: what it lifts stays watched
    if idle and (vehicle.ground.normal != LEVEL.normal
                 or vehicle.parameters.values != parameters_of(description).values):
        of_file = _idle_wheels(build(description, LEVEL), wheels, places)
        idle = {wheel: load for wheel, load in idle.items() if wheel in of_file or not load < 0}
    kept = [(wheel, i) for wheel, i in zip(wheels, places) if wheel not in idle]
    return (tuple(wheel for wheel, _ in kept), np.array([i for _, i in kept], int),
            (_idle_notice(idle),) if idle else ())


@once
def _along(equations: Equations, rows: tuple[tuple[Component, int], ...],
           places: tuple[int, ...]) -> ca.Function:
    system, (x, q, v) = equations.constrained.system, state_symbols(equations)
    split = ca.SX.sym("split", len(rows))
    function = contact_force_function(equations, dict(rows))
    forces, kernel, _, _ = function(system.t, q, v, system.u, system.theta, 0)
    # each column of the kernel belongs to one dropped row
    free = [i for i, (_, row) in enumerate(rows) if row not in equations.frame.kept]
    watched = list(places)
    slack = TOUCHING * ca.mmax(ca.fabs(forces[watched]))
    normals = (forces + kernel @ split[free])[watched] + slack
    return ca.Function("nhmech_normals", [system.t, x, system.u, system.theta, split],
                       [ca.densify(normals)], {"cse": True})


def _share(shortest: np.ndarray, kernel: np.ndarray, places: Sequence[int] | np.ndarray,
           split: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normal forces (m,), and the difference of their distribution from the shortest one (n,).

    That is the given `split` if it makes all normal forces positive; else zero if the shortest
    distribution does; else the one that makes the least normal force largest, if that makes them
    positive; else zero.
    """
    forces, nothing = shortest.take(places), np.zeros(len(shortest))
    if not kernel.shape[1] or not _largest(kernel.take(places, axis=0)) > 0:
        return forces, nothing
    basis = orthonormal(kernel)
    change = basis @ (basis.T @ split)
    if (forces + change[places]).min() > 0:
        return forces + change[places], split
    if forces.min() > 0:
        return forces, nothing
    change = basis @ raise_least(forces, basis[places])
    raised = forces + change[places]
    return (raised, change) if raised.min() > -TOUCHING * _largest(raised) else (
        forces, nothing)


def _largest(values: np.ndarray) -> float:
    """The largest absolute value, zero if there are no values; faster than NumPy's methods."""
    return np.maximum.reduce(np.abs(values), axis=None, initial=0.0)


def _idle_wheels(vehicle: Vehicle, wheels: Sequence[str], places: Sequence[int],
                 ) -> dict[str, float]:
    """The wheels that do not press on the ground at rest, with their normal forces [N]: zero, or
    below zero if the ground would have to pull. Empty if the vehicle cannot stand in its default
    configuration, or its constraints lose rank there."""
    try:
        normals = _loads_at_rest(vehicle, 0.0, vehicle.configuration(), places)
    except NhmechError:
        return {}
    least = ROUNDING * _largest(normals)
    return {wheel: float(load) if load < -least else 0.0
            for wheel, load in zip(wheels, normals) if not load > least}


def _loads_at_rest(vehicle: Vehicle, t: float, q: np.ndarray,
                   places: Sequence[int] | np.ndarray) -> np.ndarray:
    """Normal forces (m,) [N] without speeds and efforts."""
    system = vehicle.constrained.system
    shortest, kernel = force_reader(vehicle).look(t, q, np.zeros(system.v.numel()),
                                                  np.zeros(system.u.numel()))
    return _share(shortest, kernel, places, np.zeros(len(shortest)))[0]


def _idle_notice(loads: Mapping[str, float]) -> Notice:
    """The notice that these wheels are not watched."""
    found = listed(f"{wheel} {load:.3g} N" for wheel, load in loads.items())
    return Notice(NoticeKind.NOT_PRESSED,
                  f"some wheels carry no load at rest ({found}): their lift-off is not watched")


def lift_notice(vehicle: Vehicle, t: np.ndarray, q: np.ndarray,
                forces: ContactForces) -> Notice | None:
    """A notice about the first moment at which no distribution of the load has all normal forces >=
    0: there the vehicle tips, and the rest of the run is not valid. None if there is no such
    moment. `t`: (N,) [s]. `q`: (N, n)."""
    shares, supported = forces.split
    normal = shares[:, forces.normal]
    if supported.all() or not normal.size:
        return None
    pulls = ~supported & (normal.min(axis=1) < -ROUNDING * np.abs(normal).max(axis=1))
    if not pulls.any():
        return None
    wheels = [c.contact for c in forces.components if c.is_normal]
    first = int(pulls.argmax())
    worst = int(np.where(pulls, normal.min(axis=1), np.inf).argmin())
    at = [wheels[int(normal[moment].argmin())] for moment in (first, worst)]
    loads = _loads_at_rest(vehicle, t[first], q[first], np.flatnonzero(
        [c.is_normal for c in vehicle.contact_rows]))
    tips = bool(loads.min() < -ROUNDING * _largest(loads))
    return Notice(NoticeKind.TIPS if tips else NoticeKind.LIFTED,
                  "ideal rolling is not valid where normal forces are negative: from t = "
                  f"{t[first]:.6g} s ({at[0]}), in {100 * pulls.mean():.3g} % of the recorded "
                  f"moments; most at t = {t[worst]:.6g} s, {at[1]} with {-normal[worst].min():.3g} "
                  f"N{'; the vehicle tips at rest too' if tips else ''}",
                  BALANCE if tips else REMEDY)
