"""The equations of steady motion of one system, and Newton's method for them on the manifold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..checks import read_word
from ..errors import MechanicsError
from ..mechanics.algebroid import rotation
from ..mechanics.system import HasConstrained
from ..once import cached_property
from .variations import NotFiniteError, Point, Variations

# relative to the largest entry of the Jacobian, in units of the system itself
ITERATIONS, CONVERGED, ACCEPTED = 40, 1e-15, 1e-11
AT_REST = 1e-9       # velocities below this part of the rate of change are rounding
SINGULAR = 1e-9      # singular values below this part of the largest one count as zero


@dataclass(frozen=True)
class Iterate:
    """A Newton iterate: the defect of each equation, its derivatives by the unknowns, and the words
    before and after the defect in messages."""

    point: Point
    defect: np.ndarray
    jacobian: np.ndarray
    faults: list[tuple[str, str]]

    @property
    def residual(self) -> float:
        return float(np.abs(self.defect).max(initial=0.0))

    @property
    def rate(self) -> float:
        """How fast the system is, in the unit of time that was given: its largest velocity. Of one
        at rest, how fast the motion changes, or else 1."""
        turn, drive, back, damp = (np.abs(part).max(initial=0.0) for part in (
            self.point.transport, self.point.E, self.point.f_eta, self.point.f_xi))
        change = max(turn, damp, (drive * back) ** 0.5) or 1.0
        moves = np.abs(self.point.v).max(initial=0.0)
        return moves if moves > AT_REST * change else change

    def fault(self, row: int) -> str:
        """A defect of a steady motion, in words."""
        text, unit = self.faults[row]
        return f"{text} {self.defect[row]:.3g} {unit}".rstrip()

    @property
    def free(self) -> np.ndarray:
        """Directions in which the defect does not change, in its rows."""
        here = Scaled.of(self, self.rate)
        _, s, vt = np.linalg.svd(here.jacobian)
        found = vt[int(np.sum(s > SINGULAR * s[0])):] * here.columns
        return np.linalg.qr(found.T)[0].T


class Scaled(NamedTuple):
    """Defect and Jacobian of an iterate without units, and the units (n,) of its unknowns."""

    defect: np.ndarray
    jacobian: np.ndarray
    columns: np.ndarray

    @classmethod
    def of(cls, state: Iterate, rate: float) -> Scaled:
        """The unit of time is 1 / rate; in those of inputs and conditions, their derivatives are as
        large as one. Lengths keep theirs."""
        n, k = len(state.point.A), len(state.point.names)
        slow = np.arange(n) < k
        rows, columns = np.where(slow, rate, rate ** 2), np.where(slow, 1.0, rate)
        inputs = np.abs(state.jacobian[:n, n:] / rows[:, None]).max(axis=0, initial=0.0)
        columns = np.concatenate([columns, 1 / np.where(inputs > 0, inputs, 1.0)])
        conditions = np.abs(state.jacobian[n:] * columns).max(axis=1, initial=0.0)
        rows = np.concatenate([rows, np.where(conditions > 0, conditions, 1.0)])
        return cls(state.defect / rows, state.jacobian * columns / rows[:, None], columns)

    @property
    def merit(self) -> float:
        """The quantity that the shortest step reduces."""
        return float(np.linalg.norm(self.defect))

    def vanishes(self, tolerance: float) -> bool:
        """Whether the defect is so small beside the terms that cancel in it."""
        size = np.abs(self.jacobian).max(initial=1.0)
        return bool(np.abs(self.defect).max(initial=0.0) <= tolerance * size)


class SteadyEquations:
    """Project v = 0 and dxi/dt = 0, together with conditions, for a vehicle, a `ConstrainedSystem`
    or its `Variations`.

    The unknowns are the displacements that the dynamics sees (lean, steer, pitch), the speeds, and
    the named `inputs`; other inputs keep their value. The Jacobian is A (and B) of the
    linearisation, exact at the solution; where a family of solutions is left, and where equations
    repeat because energy is conserved, the step is the shortest one.
    """

    def __init__(self, constrained: HasConstrained | Variations, inputs: Iterable[str] = ()):
        self.variations = Variations.of(constrained)
        names = self.variations.system.u_names
        self.free = [names.index(read_word("input", name, names)) for name in inputs]
        self._readings: dict[tuple[str, ...], ca.Function] = {}

    # -- what conditions can name ------------------------------------------------------------------
    @cached_property
    def quantities(self) -> dict[str, ca.SX]:
        """Values by the names of `SteadyMotions.quantities`."""
        space, q = self.variations.space, self.variations.system.q
        found = {name: self.variations.velocity[i] for i, name in enumerate(space.v_names)}
        found |= {f"q {name}": q[i] for i, name in enumerate(space.q_names)}
        found |= {f"{space.v_names[a]} angle": ca.atan2(q[i + 1], q[i]) for i, a in space.circles}
        vehicle = self.variations.simulated.vehicle
        if vehicle is not None:
            R = rotation(q[3:7])
            found |= {"roll": ca.asin(R[2, 1]), "pitch": ca.atan2(-R[2, 0], R[2, 2])}
            found |= {f"{name} angle": q[space.q_names.index(name)] for name in vehicle.joint_names
                      if name in space.q_names}
        return found

    def reading(self, names: tuple[str, ...]) -> ca.Function:
        """(t, q, xi, u, theta) -> values, and derivatives along the fibre, by speeds and theta."""
        if names not in self._readings:
            for name in names:
                read_word("quantity", name, self.quantities)
            c = ca.vertcat(ca.SX(0, 1), *[self.quantities[name] for name in names])
            v, s = self.variations, self.variations.system
            self._readings[names] = ca.Function("readings", v.inputs, [
                c, ca.jacobian(c, s.q) @ v.space.anchor, ca.jacobian(c, v.xi),
                ca.jacobian(c, s.theta)])
        return self._readings[names]

    # -- Newton ------------------------------------------------------------------------------------
    def solve(
        self,
        t: float,
        q: np.ndarray,
        xi: np.ndarray,
        u: np.ndarray,
        conditions: Mapping[str, float],
        across: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, Iterate, float]:
        """Newton's method, all steps at right angles to `across` (nv + nxi + nu,), if any; and
        their length."""
        q = self._on_the_ground(t, q)
        state, gone = self.iterate(t, q, xi, u, conditions), 0.0
        rate = state.rate
        here = Scaled.of(state, rate)
        for _ in range(ITERATIONS):
            if here.vanishes(CONVERGED):
                break
            jacobian, defect, fraction = here.jacobian, here.defect, 1.0
            if across is not None:
                way = self.local(state.point, across) * here.columns
                jacobian = np.vstack([jacobian, way / (np.linalg.norm(way) or 1.0)])
                defect = np.append(defect, 0.0)
            step = -here.columns * np.linalg.lstsq(jacobian, defect, rcond=SINGULAR)[0]
            k, nxi = len(state.point.names), len(xi)
            while fraction > 1e-3:
                part, moved = fraction * step, u.copy()
                moved[self.free] += part[k + nxi:]
                with suppress(NotFiniteError):        # a step beyond what is defined is too long
                    q_next = self._on_the_ground(t, self.displace(t, q,
                                                                  state.point.basis @ part[:k]))
                    following = self.iterate(t, q_next, xi + part[k:k + nxi], moved, conditions)
                    there = Scaled.of(following, rate)
                    if there.merit < here.merit:
                        break
                fraction /= 2
            else:                                     # rounding: no step makes it better
                break
            q, xi, u = q_next, xi + part[k:k + nxi], moved
            state, here = following, there
            gone += float(np.linalg.norm(part))
        if not here.vanishes(ACCEPTED):
            worst = state.fault(int(np.argmax(np.abs(here.defect))))
            raise MechanicsError(f"no steady motion found near the guess: {worst}; change the "
                                 f"guess or the conditions ({', '.join(conditions) or 'none'}), or "
                                 "let inputs be unknowns")
        return q, xi, u, state, gone

    def local(self, point: Point, whole: np.ndarray) -> np.ndarray:
        """A direction (nv + nxi + nu,) in the unknowns at a point."""
        nv, nxi = self.variations.space.nv, self.variations.xi.numel()
        return np.r_[whole[:nv][list(point.names)], whole[nv:nv + nxi], whole[nv + nxi:][self.free]]

    def whole(self, point: Point, local: np.ndarray) -> np.ndarray:
        """The same in fibre coordinates, speeds and all inputs."""
        k, nxi, u = (len(point.names), self.variations.xi.numel(),
                     np.zeros(self.variations.system.u.numel()))
        u[self.free] = local[k + nxi:]
        return np.r_[point.basis @ local[:k], local[k:k + nxi], u]

    def iterate(self, t: float, q: np.ndarray, xi: np.ndarray, u: np.ndarray,
               conditions: Mapping[str, float]) -> Iterate:
        point = self.variations.at(q, xi, u, t)
        reading = self.reading(tuple(conditions))
        values, along, by_speed, _ = (x.full() for x in reading(t, q, xi, u, self.variations.theta))
        jacobian = np.vstack([np.hstack([point.A, point.B[:, self.free]]),
                              np.hstack([along @ point.basis, by_speed,
                                         np.zeros((len(conditions), len(self.free)))])])
        space, equations = self.variations.space, self.variations.equations
        places = [(f"{space.v_names[i]} does not vanish, it is", space.v_units[i])
                  for i in point.names]
        rates = [(f"{name} keeps changing, every second by", unit)
                 for name, unit in zip(equations.names, equations.units)]
        misses = [(f"{name} differs from the value it should have by", "") for name in conditions]
        return Iterate(point, np.r_[point.defect,
                                   values[:, 0] - np.array(list(conditions.values()))], jacobian,
                      places + rates + misses)

    @cached_property
    def _move(self) -> ca.Function:
        v, s, eta = (self.variations, self.variations.system,
                     ca.SX.sym("eta", self.variations.space.nv))
        return ca.Function("move", [s.t, s.q, s.theta, eta], [s.q + v.space.anchor @ eta])

    @cached_property
    def _lift(self) -> ca.Function:
        s, frame = self.variations.system, self.variations.equations.frame
        lifted = s.q + self.variations.space.anchor @ frame.correction()
        return ca.Function("lift", [s.t, s.q, s.theta], [lifted, self.variations.distribution.phi])

    def displace(self, t: float, q: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return self.variations.space.normalise(self._move(t, q, self.variations.theta,
                                                          eta).full().ravel())

    def _on_the_ground(self, t: float, q: np.ndarray) -> np.ndarray:
        """q with phi = 0, by Newton steps that keep the independent coordinates."""
        for _ in range(8):
            lifted, phi = self._lift(t, q, self.variations.theta)
            if np.abs(phi.full()).max(initial=0.0) <= 1e-15:
                break
            q = self.variations.space.normalise(lifted.full().ravel())
            if not np.isfinite(q).all():
                raise NotFiniteError("no configuration next to the guess fulfils the constraints")
        return q
