"""Steady motions: all quantities that affect the dynamics are constant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin

from ..checks import check_arguments, read_vector
from ..ctrl_c import hear_ctrl_c
from ..errors import InputError, MechanicsError, listed
from ..mechanics.system import HasConstrained
from ..vehicle.vehicle import Vehicle
from .steady_equations import SINGULAR, SteadyEquations
from .variations import Point, Variations

LASTING = 1e-6       # a smaller change of dxi/dt, relative to its terms, is rounding
HALVINGS = 6         # of a step along a branch, before the branch is taken to end


@dataclass(frozen=True)
class Equilibrium:
    """A steady motion (a relative equilibrium): dxi/dt = 0, and only ignorable coordinates move.

    Attributes
    ----------
    q, xi, u, v
        (nq,), (nxi,), (nu,), and the fibre coordinates that follow, (nv,).
    residual
        Largest of the rates that should vanish, and of the conditions' errors, each in its SI unit.
    family
        Dimension of the family of steady motions through this one with the same conditions; 0 if
        they determine it.
    """

    q: np.ndarray
    xi: np.ndarray
    u: np.ndarray
    v: np.ndarray
    residual: float
    family: int

    def __repr__(self) -> str:
        xi, u = (np.array2string(values, precision=4, threshold=8) for values in (self.xi, self.u))
        return f"Equilibrium(xi={xi}, u={u}, residual={self.residual:.1g}, family={self.family})"


@check_arguments
class SteadyMotions:
    """Steady motions of one system, by Newton's method and by continuation in a parameter.

    The unknowns are the displacements on which the dynamics depends (lean, steer, pitch), the
    speeds, and the inputs that are declared unknown.

    Parameters
    ----------
    constrained
        A vehicle, a `ConstrainedSystem`, or `Variations` of one.
    inputs
        Names of inputs that are unknowns; all others keep their value.
    """

    def __init__(self, constrained: HasConstrained | Variations, inputs: Iterable[str] = ()):
        self.equations = SteadyEquations(constrained, inputs)
        self.variations = self.equations.variations

    def __repr__(self) -> str:
        return f"<SteadyMotions of {self.variations.system!r}>"

    @property
    def quantities(self) -> dict[str, ca.SX]:
        """Quantities that conditions can name: fibre coordinates [their unit] by their name; `NAME
        angle` for a joint or `q NAME` for a flat coordinate; roll and pitch [rad] of a vehicle's
        base, R = Rz(yaw) Rx(roll) Ry(pitch)."""
        return self.equations.quantities

    def value(self, motion: Equilibrium, name: str) -> float:
        """A quantity of a steady motion, by the name that conditions use.

        Raises
        ------
        InputError
            For unknown names.
        """
        return float(self.equations.reading((name,))(0.0, motion.q, motion.xi, motion.u,
                                           self.variations.theta)[0])

    @check_arguments
    @hear_ctrl_c()
    def find(self, q: np.ndarray, xi: np.ndarray, u: np.ndarray | None = None,
             conditions: Mapping[str, float] | None = None, t: float = 0.0) -> Equilibrium:
        """The steady motion nearest to a guess that satisfies the conditions.

        Parameters
        ----------
        q, xi, u
            (nq,), (nxi,), (nu,) the guess, with lean, steer and the like nearly at rest, because
            ignorable coordinates are determined there; u is zero if None.
        conditions
            Value of a quantity by its name: {"forward_speed": 5.0, "roll": 0.1}.

        Raises
        ------
        MechanicsError
            If none is found; the error names the equation with the largest residual. If the system
            depends on time, and the motion is steady at that moment alone.
        InputError
            For unknown quantities.
        """
        system = self.variations.system
        u = np.zeros(system.u.numel()) if u is None else read_vector("u", u, system.u_names)
        q = read_vector("q", q, system.algebroid.q_names)
        xi = read_vector("xi", xi, self.variations.equations.names)
        q, xi, u, end, _ = self.equations.solve(t, q, xi, u, dict(conditions or {}))
        self._require_lasting(t, q, xi, u)
        return Equilibrium(q, xi, u, end.point.v, end.residual, len(end.free))

    def _require_lasting(self, t: float, q: np.ndarray, xi: np.ndarray, u: np.ndarray) -> None:
        """Raises `MechanicsError` where dxi/dt vanishes at this moment and not from then on, by its
        first two derivatives along the motion."""
        v, s = self.variations, self.variations.system
        if not ca.depends_on(v.rate, s.t):
            return
        moved = ca.densify(v.space.anchor @ v.velocity)
        parts, changes = [], v.rate
        for _ in range(2):
            parts += [(ca.jtimes(changes, s.t, ca.SX(1)), ca.jtimes(changes, s.q, moved))]
            changes = sum(parts[-1])
        evaluate = ca.Function("changes", v.inputs, [ca.densify(ca.horzcat(*column)) for column in (
            (a + b for a, b in parts), (ca.fabs(a) + ca.fabs(b) for a, b in parts))])
        found, size = (np.abs(part.full()) for part in evaluate(t, q, xi, u, v.theta))
        changing = (found > LASTING * (1 + size)).any(axis=1)
        if changing.any():
            names = listed(np.array(v.equations.names)[changing])
            raise MechanicsError(f"no steady motion: the system depends on time, and {names} is "
                                 f"constant at t = {t:g} s alone")

    # -- families ----------------------------------------------------------------------------------
    def family(self, start: Equilibrium, name: str, values: Iterable[float],
               conditions: Mapping[str, float] | None = None) -> list[Equilibrium]:
        """Steady motions continued from `start` while the quantity `name` runs through `values`,
        other conditions kept; one for each value.

        The values may be far apart: if Newton's method does not reach the next one, half of the
        step is taken first. The first Newton step from one member is the tangent of the family, so
        that no predictor is needed.

        Raises
        ------
        MechanicsError
            If the family ends or folds before a value; `branch` goes round folds.
        """
        members, kept = [], dict(conditions or {})
        for value in map(float, values):
            start = self._continue(start, name, value, kept)
            members.append(start)
        return members

    def _continue(self, start: Equilibrium, name: str, value: float,
                  conditions: Mapping[str, float]) -> Equilibrium:
        """The member with that value, found with steps of adaptive length."""
        at = self.value(start, name)
        step, least = value - at, abs(value - at) / 2 ** HALVINGS
        while True:
            near = abs(step) >= abs(value - at)
            try:
                start = self.find(start.q, start.xi, start.u,
                                  {**conditions, name: value if near else at + step})
            except MechanicsError as error:
                step /= 2
                if abs(step) < least:
                    raise MechanicsError(f"the family was followed to {name} = {at:.9g} and not to "
                                         f"{value:.9g}: it ends or folds between; `branch` goes on "
                                         f"by arc length, round folds. ({error})") from error
                continue
            if near:
                return start
            at, step = at + step, 2 * step

    def branch(self, start: Equilibrium, name: str, step: float, count: int,
               conditions: Mapping[str, float] | None = None) -> list[Equilibrium]:
        """`count` further members of a one-parameter family, by pseudo-arclength continuation, past
        folds in `name` (H. B. Keller, in Applications of Bifurcation Theory, 1977, 359-384).

        Parameters
        ----------
        step
            Length of a step in the unknowns (displacements, speeds, free inputs, each in its own SI
            unit), halved where it is too long for Newton's method; the first one goes to where the
            quantity `name` grows, or shrinks where `step` is negative.
        conditions
            Values that are kept along the branch.

        Raises
        ------
        MechanicsError
            If the family through a member does not have dimension one, naming a remedy, and
            where no member is found.
        """
        conditions, members, tangent = dict(conditions or {}), [], None
        gradient = self.equations.reading((name,))
        for _ in range(count):
            state = self.equations.iterate(0.0, start.q, start.xi, start.u, conditions)
            free = state.free
            if len(free) != 1:
                remedy = ("give further conditions" if len(free) > 1
                          else "leave out a condition, or free an input")
                raise MechanicsError("the steady motions under these conditions form a family of "
                                     f"dimension {len(free)}, not 1: {remedy}")
            if tangent is None:
                found = gradient(0.0, start.q, start.xi, start.u, self.variations.theta)
                _, along, by_speed, _ = (x.full() for x in found)
                grows = np.r_[along[0] @ state.point.basis, by_speed[0],
                              np.zeros(len(self.equations.free))] @ free[0]
                local = free[0] * (1.0 if (grows >= 0) == (step > 0) else -1.0)
            else:
                local = free[0] * (1.0 if free[0] @ self.equations.local(state.point, tangent) >= 0
                                   else -1.0)
            tangent = self.equations.whole(state.point, local)
            start = self._further(start, tangent, abs(step), conditions)
            members.append(start)
        return members

    def _further(self, start: Equilibrium, tangent: np.ndarray, length: float,
                 conditions: Mapping[str, float]) -> Equilibrium:
        """The member one step along the tangent, found at right angles to it; a shorter step if
        Newton's method fails, or goes so far that it may be on another branch."""
        nv, nxi = self.variations.space.nv, self.variations.xi.numel()
        for shorter in range(HALVINGS + 1):
            moved = length / 2 ** shorter * tangent
            try:
                q = self.equations.displace(0.0, start.q, moved[:nv])
                q, xi, u, state, gone = self.equations.solve(
                    0.0, q, start.xi + moved[nv:nv + nxi], start.u + moved[nv + nxi:], conditions,
                    tangent)
            except MechanicsError:
                if shorter == HALVINGS:
                    raise
                continue
            if gone < np.linalg.norm(moved) / 2:
                return Equilibrium(q, xi, u, state.point.v, state.residual, len(state.free))
        raise MechanicsError(f"the branch turns too sharply for steps of {length:.3g}; start with "
                             "shorter ones, or it meets another branch here")

    # -- of a vehicle ------------------------------------------------------------------------------
    def straight(self, speed: float, q: np.ndarray | None = None) -> Equilibrium:
        """Straight running of a vehicle at a forward speed [m/s], from its upright configuration
        where q is None.

        Raises
        ------
        MechanicsError
            If none is found: a vehicle with resistance needs its driven joints among the unknown
            `inputs`; one whose wheels have their mass off the axle never runs steadily.
        """
        vehicle = self._vehicle()
        q = vehicle.configuration() if q is None else np.asarray(q, dtype=float)
        point = self.variations.at(q, np.zeros(self.variations.xi.numel()))
        if speed and (uneven := self._uneven_wheels(point)):
            raise MechanicsError(f"{vehicle.name!r} has no steady straight running: the mass of "
                                 f"{', '.join(uneven)} is not symmetric about the axle, so the "
                                 "speed is not steady; set com and products of inertia of these "
                                 "links to zero with with_parameters")
        # a first guess: the base moves ahead, and no tyre slips
        S, slip = (part.full() for part in vehicle.functions.slip(0.0, q, self.variations.theta))
        rows = np.vstack([np.eye(len(point.v))[:6], S])
        wanted = np.r_[speed, np.zeros(5), -slip.ravel()]
        xi = np.linalg.lstsq(rows @ point.E, wanted - rows @ point.v, rcond=SINGULAR)[0]
        return self.find(q, xi, conditions={"forward_speed": speed, "lateral_speed": 0.0,
                                            "yaw_rate": 0.0})

    def standing(self, q: np.ndarray | None = None) -> Equilibrium:
        """The equilibrium at rest next to q, the upright configuration if None: the pitch and
        lean at which nothing falls over, and the efforts of the free inputs that hold it. Wheels
        keep their angles.

        Raises
        ------
        MechanicsError
            If none is found.
        """
        vehicle = self._vehicle()
        q = vehicle.configuration() if q is None else np.asarray(q, dtype=float)
        zero = np.zeros(self.variations.xi.numel())
        held = {f"{name} angle": None for name in self._uneven_wheels(self.variations.at(q, zero))}
        idle = np.zeros(self.variations.system.u.numel())
        angles = self.equations.reading(tuple(held))(0.0, q, zero, idle,
                                           self.variations.theta)[0].full().ravel()
        still = {"forward_speed": 0.0, "lateral_speed": 0.0, "yaw_rate": 0.0}
        return self.find(q, zero, conditions=still | dict(zip(held, map(float, angles))))

    def _vehicle(self) -> Vehicle:
        vehicle = self.variations.simulated.vehicle
        if vehicle is None:
            raise InputError("only a vehicle can stand or run straight; give `find` a guess of the "
                             "steady motion")
        return vehicle

    def _uneven_wheels(self, point: Point) -> list[str]:
        """Rolling joints on whose angles the dynamics depends."""
        seen = [self.variations.space.v_names[i] for i in point.names]
        return [name for name in self._vehicle().description.rolling if name in seen]


@check_arguments
def standing(vehicle: Vehicle) -> Equilibrium:
    """The equilibrium in which a vehicle stands at rest, its driven joints holding it.

    `SteadyMotions.standing` finds it. A two-wheeled inverted pendulum leans there if its centre of
    mass is not above the axle in the zero pose; `equilibria.pitch_of` has the angle.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    """
    return SteadyMotions(vehicle, vehicle.driven).standing()


def pitch_of(q: np.ndarray) -> float:
    """Pitch [rad] of a vehicle's base, R = Rz(yaw) Rx(roll) Ry(pitch)."""
    R = pin.Quaternion(np.asarray(q, dtype=float)[3:7]).toRotationMatrix()
    return float(np.arctan2(-R[2, 0], R[2, 2]))
