"""Steady motions: everything that the dynamics sees stands still. By Newton's method on the manifold, continued in a parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from ..mechanics.algebroid import rotation
from .variations import Point, Variations

ITERATIONS, CONVERGED, ACCEPTED = 40, 1e-15, 1e-11       # relative to the largest entry of the Jacobian
SINGULAR = 1e-9      # singular values below this part of the largest one count as zero


@dataclass(frozen=True)
class Equilibrium:
    """A steady motion (a relative equilibrium): dxi/dt = 0, and only ignorable coordinates move.

    q, xi, u   (nq,), (nxi,), (nu,)
    residual   largest of the rates that should vanish, and of what the conditions ask for, each in its own SI unit
    family     dimension of the family of steady motions through this one, conditions kept: 0 where they single it out
    """

    q: np.ndarray
    xi: np.ndarray
    u: np.ndarray
    residual: float
    family: int


class SteadyMotions:
    """Steady motions of one system.

    The unknowns are the displacements that the dynamics sees (lean, steer, pitch), the speeds, and the inputs that are set free:
    project v = 0 and dxi/dt = 0, together with the conditions. The Jacobian is A (and B) of the linearisation, exact at the solution;
    where a family of solutions is left, and where equations repeat because energy is conserved, the step is the shortest one.

    constrained  a vehicle, a `ConstrainedSystem`, or `Variations` of one
    inputs       names of inputs that are unknowns; all others keep their value
    """

    def __init__(self, constrained, inputs: Iterable[str] = ()):
        self.variations = Variations.of(constrained)
        names = self.variations.system.u_names
        for name in inputs:
            if name not in names:
                raise MechanicsError(f"no input {name!r}; there are {', '.join(names) or 'none'}")
        self.free = [names.index(name) for name in inputs]
        self._readings: dict[tuple[str, ...], ca.Function] = {}

    # -- what can be asked for ------------------------------------------------------------------------------------
    @cached_property
    def quantities(self) -> dict[str, ca.SX]:
        """What conditions can name: fibre coordinates [their unit] by their name; `NAME angle` of a joint or `q NAME` of a flat
        coordinate; roll and pitch [rad] of a vehicle's base, R = Rz(yaw) Rx(roll) Ry(pitch)."""
        space, q = self.variations.space, self.variations.system.q
        found = {name: self.variations.velocity[i] for i, name in enumerate(space.v_names)}
        found |= {f"q {name}": q[i] for i, name in enumerate(space.q_names)}
        found |= {f"{space.v_names[a]} angle": ca.atan2(q[i + 1], q[i]) for i, a in space.circles}
        if self.variations.subject.vehicle is not None:
            R = rotation(q[3:7])
            found |= {"roll": ca.asin(R[2, 1]), "pitch": ca.atan2(-R[2, 0], R[2, 2])}
            found |= {f"{name} angle": q[space.q_names.index(name)] for name in space.v_names[6:] if name in space.q_names}
        return found

    def reading(self, names: tuple[str, ...]) -> ca.Function:
        """(t, q, xi, u, theta) -> values, and derivatives along the fibre, by the speeds and by theta."""
        if names not in self._readings:
            missing = [name for name in names if name not in self.quantities]
            if missing:
                raise MechanicsError(f"no quantity {missing[0]!r} to set; there are {', '.join(self.quantities)}")
            c = ca.vertcat(ca.SX(0, 1), *[self.quantities[name] for name in names])
            v, s = self.variations, self.variations.system
            self._readings[names] = ca.Function("readings", v.inputs, [
                c, ca.jacobian(c, s.q) @ v.space.anchor, ca.jacobian(c, v.xi), ca.jacobian(c, s.theta)])
        return self._readings[names]

    # -- Newton ---------------------------------------------------------------------------------------------------
    def find(self, q: np.ndarray, xi: np.ndarray, u: np.ndarray | None = None, conditions: Mapping[str, float] | None = None,
             t: float = 0.0) -> Equilibrium:
        """The steady motion nearest to a guess that meets the conditions.

        q, xi, u    (nq,), (nxi,), (nu,) the guess, with lean, steer and the like nearly at rest: what is ignorable is read
                    off the dynamics there; u is zero where None
        conditions  value of a quantity by its name: {"forward_speed": 5.0, "roll": 0.1}

        Raises `MechanicsError` where none is found, naming the equation that is worst satisfied, and for unknown quantities.
        """
        conditions = dict(conditions or {})
        u = np.zeros(self.variations.system.u.numel()) if u is None else np.array(u, dtype=float)
        q, xi = self._on_the_ground(t, np.array(q, dtype=float)), np.array(xi, dtype=float)
        state = self._state(t, q, xi, u, conditions)
        for _ in range(ITERATIONS):
            if state.residual <= CONVERGED * state.scale:
                break
            step, fraction = -np.linalg.lstsq(state.jacobian, state.defect, rcond=SINGULAR)[0], 1.0
            while fraction > 1e-3:
                k, nxi = len(state.point.names), len(xi)
                moved = u.copy()
                moved[self.free] += fraction * step[k + nxi:]
                q_next = self._on_the_ground(t, self._displaced(t, q, state.point.basis @ (fraction * step[:k])))
                following = self._state(t, q_next, xi + fraction * step[k:k + nxi], moved, conditions)
                if following.merit < state.merit:
                    break
                fraction /= 2
            if following.merit >= state.merit:              # rounding: no step makes it better
                break
            q, xi, u, state = q_next, xi + fraction * step[k:k + nxi], moved, following
        if not state.residual <= ACCEPTED * state.scale:
            raise MechanicsError(f"no steady motion found near the guess: {state.worst} is left with {state.residual:.3g}; "
                                 f"change the guess or the conditions ({', '.join(conditions) or 'none'}), or let inputs be unknowns")
        return Equilibrium(q, xi, u, state.residual, state.family)

    def _state(self, t: float, q: np.ndarray, xi: np.ndarray, u: np.ndarray, conditions: Mapping[str, float]) -> _State:
        point = self.variations.at(q, xi, u, t)
        values, along, by_speed, _ = (x.full() for x in self.reading(tuple(conditions))(t, q, xi, u, self.variations.theta))
        jacobian = np.vstack([np.hstack([point.A, point.B[:, self.free]]),
                              np.hstack([along @ point.basis, by_speed, np.zeros((len(conditions), len(self.free)))])])
        space = self.variations.space
        names = [space.v_names[i] for i in point.names] + [f"d/dt {name}" for name in self.variations.equations.names] + list(conditions)
        return _State(point, np.r_[point.defect, values[:, 0] - np.array(list(conditions.values()))], jacobian, names)

    @cached_property
    def _move(self) -> ca.Function:
        v, s, eta = self.variations, self.variations.system, ca.SX.sym("eta", self.variations.space.nv)
        return ca.Function("move", [s.t, s.q, s.theta, eta], [s.q + v.space.anchor @ eta])

    @cached_property
    def _lift(self) -> ca.Function:
        s, frame = self.variations.system, self.variations.equations.frame
        lifted = s.q + self.variations.space.anchor @ frame.correction()
        return ca.Function("lift", [s.t, s.q, s.theta], [lifted, self.variations.distribution.phi])

    def _displaced(self, t: float, q: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return self.variations.space.normalise(self._move(t, q, self.variations.theta, eta).full().ravel())

    def _on_the_ground(self, t: float, q: np.ndarray) -> np.ndarray:
        """q with phi = 0, by Newton steps that leave the independent coordinates alone."""
        for _ in range(8):
            lifted, phi = self._lift(t, q, self.variations.theta)
            if np.abs(phi.full()).max(initial=0.0) <= 1e-15:
                break
            q = self.variations.space.normalise(lifted.full().ravel())
        return q

    # -- families -------------------------------------------------------------------------------------------------
    def family(self, start: Equilibrium, name: str, values: Iterable[float],
               conditions: Mapping[str, float] | None = None) -> list[Equilibrium]:
        """Steady motions continued from `start` while the quantity `name` runs through `values`, other conditions kept.

        The first Newton step from one member is the tangent of the family, so that no predictor is needed.
        Raises `MechanicsError` where the family ends or folds between two values.
        """
        members = []
        for value in values:
            start = self.find(start.q, start.xi, start.u, {**(conditions or {}), name: float(value)})
            members.append(start)
        return members

    def straight(self, speed: float, q: np.ndarray | None = None) -> Equilibrium:
        """Straight running of a vehicle at a forward speed [m/s], from its upright configuration where q is None.

        Raises `MechanicsError` for what is no vehicle, and where none is found: a vehicle with resistance needs its driven joints
        among the unknown `inputs`.
        """
        variations = self.variations
        if variations.subject.vehicle is None:
            raise MechanicsError("only a vehicle runs straight; give `find` a guess of the steady motion")
        q = variations.subject.vehicle.configuration() if q is None else np.asarray(q, dtype=float)
        zero = np.zeros(variations.xi.numel())
        point = variations.at(q, zero)
        xi = np.linalg.lstsq(point.E[:6], np.r_[speed, np.zeros(5)] - point.v[:6], rcond=SINGULAR)[0]
        return self.find(q, xi, conditions={"forward_speed": speed, "lateral_speed": 0.0, "yaw_rate": 0.0})


@dataclass(frozen=True)
class _State:
    """A Newton iterate: what is left of each equation, and its derivatives by the unknowns."""

    point: Point
    defect: np.ndarray
    jacobian: np.ndarray
    names: list[str]

    @property
    def residual(self) -> float:
        return float(np.abs(self.defect).max(initial=0.0)) if np.all(np.isfinite(self.defect)) else np.inf

    @property
    def merit(self) -> float:
        """What the shortest step reduces."""
        return float(np.linalg.norm(self.defect)) if np.all(np.isfinite(self.defect)) else np.inf

    @property
    def scale(self) -> float:
        """Size of the terms that cancel in the defect."""
        return max(1.0, float(np.abs(self.jacobian).max(initial=0.0)))

    @property
    def worst(self) -> str:
        return self.names[int(np.argmax(np.abs(self.defect)))]

    @property
    def family(self) -> int:
        s = np.linalg.svd(self.jacobian, compute_uv=False)
        return self.jacobian.shape[1] - int(np.sum(s > SINGULAR * s[0]))
