"""The demand of a motion on drives and ground: the reaction equations, solved for motions without a
run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..errors import MechanicsError
from ..mechanics.distribution import Component
from ..once import cached_property
from ..vehicle.couplings import level_twists
from ..vehicle.reactions import balance
from ..vehicle.rows import MIDDLE
from ..vehicle.vehicle import Vehicle
from .contact_load import ContactLoad, load_of

CLOSED = 1e-8       # relative: what is left of an equation that holds, after rounding
LEVEL = (0.0, 0.0)  # tangents of the slope
SIDEWAYS = 1e-6     # of a unit row: an axle that binds less than this does so forward only
TRIALS = np.array([0.0, 2.0, 4.0])   # [rad] three angles determine a sine with its offset


class Unattainable(MechanicsError):
    """The vehicle cannot be in this motion; the text says why."""


@dataclass(frozen=True, eq=False)
class Demand:
    """A vehicle at one configuration, and the motions it can have there."""

    # vehicle, q: whose, and where
    vehicle: Vehicle
    q: np.ndarray
    # yaw rate over forward speed [1/m] for which the steering stands, and to which everything that
    # trails has settled
    curvature: float
    twist: np.ndarray  # (forward, lateral, yaw rate) of the base for a forward speed of one

    @cached_property
    def _model(self) -> pin.Model:
        """A copy of the model, whose gravity may be turned."""
        return self.vehicle.model.copy()

    @cached_property
    def _data(self) -> pin.Data:
        return self._model.createData()

    @cached_property
    def _mass(self) -> np.ndarray:
        return pin.crba(self._model, self._model.createData(), self.q)

    @cached_property
    def _directions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _axes(self.vehicle, self.q)

    @cached_property
    def _matrix(self) -> np.ndarray:
        return self.vehicle.constraint_matrix(self.q)

    @cached_property
    def _allowed(self) -> np.ndarray:
        """Orthonormal basis of the velocities that the constraints allow, (nv, d)."""
        _, s, vt = np.linalg.svd(self._matrix)
        return vt[int(np.sum(s > CLOSED * s.max(initial=1e-300))):].T

    @cached_property
    def _drives(self) -> np.ndarray:
        """Columns by which the efforts of the driven joints enter, (nv, nu)."""
        names = self.vehicle.algebroid.v_names
        return np.eye(len(names))[:, [names.index(name) for name in self.vehicle.driven]]

    @cached_property
    def velocity(self) -> np.ndarray:
        """v (nv,) of the motion at a forward speed of one."""
        v = _velocity(self.vehicle, self.q, self.twist, self.vehicle.description.rolling)
        if np.abs(self._matrix @ v).max(initial=0.0) > CLOSED * np.abs(v).max():
            raise Unattainable("no position of its joints was found at which its axles allow this "
                               "motion")
        return v

    def load(self, speed: float = 0.0, acceleration: float = 0.0,
             uphill: tuple[float, float] = LEVEL) -> tuple[ContactLoad, np.ndarray]:
        """All contact forces that are consistent with the motion, and the efforts (nu,) of the
        driven joints that hold it, least norm where several do. `speed`, `acceleration`: forward
        [m/s], [m/s^2]. `uphill`: tangent of the slope of the ground (forward, left)."""
        vehicle, model = self.vehicle, self._model
        forward, left, n = self._directions
        down = -(n + uphill[0] * forward + uphill[1] * left)
        gravity = np.linalg.norm(vehicle.model.gravity.linear)
        model.gravity.linear = gravity * down / np.linalg.norm(down)
        v = speed * self.velocity
        needed = (self._mass @ self.velocity * acceleration
                  + pin.nonLinearEffects(model, self._data, self.q, v))
        # A dv/dt = 0: the base's twist is constant, and wheels alone turn
        A, _, passive = balance(vehicle, 0.0, self.q, v,
                                np.zeros(vehicle.constrained.system.u.numel()))
        needed = needed - passive
        efforts = self._efforts(needed)
        return load_of(vehicle, 0.0, self.q, A, needed - self._drives @ efforts), efforts

    def _efforts(self, needed: np.ndarray) -> np.ndarray:
        E = self._allowed
        efforts = np.linalg.lstsq(E.T @ self._drives, E.T @ needed, rcond=CLOSED)[0]
        left = E.T @ (needed - self._drives @ efforts)
        if np.abs(left).max(initial=0.0) > CLOSED * np.abs(needed).max(initial=1e-300):
            change = -E @ np.linalg.lstsq(E.T @ self._mass @ E, left, rcond=CLOSED)[0]
            name = self.vehicle.algebroid.v_names[int(np.argmax(np.abs(change)))]
            raise Unattainable(f"no driven joint holds it in this pose: {name} would change by "
                               f"{change[np.argmax(np.abs(change))]:.3g} in a second")
        return efforts


def steady_turn(vehicle: Vehicle, curvature: float) -> Demand:
    """The vehicle on a circle of curvature yaw rate / forward speed [1/m], positive to the left:
    steering turned so that the axles meet in its centre, passive joints at rest. Raises
    `Unattainable` if a joint would pass its limit, or nothing comes to rest."""
    steering = vehicle.steering
    twist = np.array([1.0, _lateral(vehicle, curvature), curvature])
    scaled = twist * (1, 1, steering.length)
    angles = {axle.steering: axle.angle_for(scaled) for axle in steering.steered}
    for name, angle in angles.items():
        _check_limit(vehicle, name, angle)
    # from the base outwards: what hangs on a joint does not move it
    trailing = [name for name in vehicle.joint_names
                if name in vehicle.description.steering and name not in angles]
    for i, name in enumerate(trailing):
        moving = (*vehicle.description.rolling, *trailing[i:])
        angles[name] = _rest(vehicle, angles, name, twist, moving)
        _check_limit(vehicle, name, angles[name])
    return Demand(vehicle, vehicle.configuration(joints=angles), curvature, twist)


def _lateral(vehicle: Vehicle, curvature: float) -> float:
    """Lateral speed of the base's origin for a forward speed of one that a fixed axle requires, or
    the middle of those that scrub; zero if none does."""
    steering, components = vehicle.steering, vehicle.constrained.distribution.components
    held = Component(steering.fixed[0].wheel, "lateral") if steering.fixed else MIDDLE
    if held in components:
        q = vehicle.configuration()
        row = vehicle.constraint_matrix(q)[components.index(held), :6]
        forward, lateral, turn = row @ _planar(vehicle, q)
    elif steering.fixed:       # of two linked ones
        forward, lateral, turn = steering.fixed[0].straight * (1, 1, steering.length)
    else:
        return 0.0
    across = forward + turn * curvature
    if abs(lateral) >= SIDEWAYS:
        return float(-across / lateral)
    if abs(across) < SIDEWAYS:
        return 0.0
    raise Unattainable("its fixed axle points forward" if abs(forward) >= SIDEWAYS else
                       "its steering, linked by <mimic>, does not let it turn")


def _rest(vehicle: Vehicle, angles: dict[str, float], name: str, twist: np.ndarray,
          moving: Sequence[str]) -> float:
    """The angle at which a joint rests while the base keeps its twist.

    The rate of a swivel or hitch is a sine of its own angle, c0 + c1 cos + c2 sin. Of the two
    zeros, a driven joint takes the smaller one, and a passive joint the stable one, or the unstable
    one if only that is within its limits, as with a hinge that is pushed.
    """
    index, rates = vehicle.algebroid.v_names.index(name), []
    for angle in TRIALS:
        q = vehicle.configuration(joints={**angles, name: float(angle)})
        rates.append(_velocity(vehicle, q, twist, moving)[index])
    waves = np.column_stack([np.ones(3), np.cos(TRIALS), np.sin(TRIALS)])
    offset, cosine, sine = np.linalg.solve(waves, rates)
    size = np.hypot(cosine, sine)
    if size <= CLOSED:
        return 0.0
    if abs(offset) > size:
        raise Unattainable(f"{name} does not settle: the circle is too tight for the trailing "
                           "bodies")
    middle, away = np.arctan2(sine, cosine), np.arccos(-offset / size)
    zeros = [float(np.angle(np.exp(1j * (middle + side * away)))) for side in (1, -1)]
    if name in vehicle.driven:
        return min(zeros, key=abs)
    limit = vehicle.limits.get(name)
    within = [z for z in zeros if limit is None or limit.lower <= z <= limit.upper]
    return (within or zeros)[0]


def _check_limit(vehicle: Vehicle, name: str, angle: float) -> None:
    limit = vehicle.limits.get(name)
    if limit is not None and not limit.lower <= angle <= limit.upper:
        bound = limit.upper if angle > 0 else limit.lower
        raise Unattainable(f"{name} would have to be at {angle:.3f} rad, its limit is {bound:.3f} "
                           "rad")


def _axes(vehicle: Vehicle, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Forward, left and up in W: along the ground at right angles to the base's y axis, and the
    ground's normal."""
    n = vehicle.placer.normal
    forward = np.cross(pin.Quaternion(q[3:7]).toRotationMatrix()[:, 1], n)
    forward /= np.linalg.norm(forward)
    return forward, np.cross(n, forward), n


def _planar(vehicle: Vehicle, q: np.ndarray) -> np.ndarray:
    """(6, 3): the base's twist, in its frame, of (forward, lateral, yaw rate)."""
    return level_twists(pin.Quaternion(q[3:7]).toRotationMatrix().T @ vehicle.placer.normal)


def _velocity(vehicle: Vehicle, q: np.ndarray, twist: np.ndarray,
              moving: Sequence[str]) -> np.ndarray:
    """v (nv,) with the base's planar twist, as near to the constraints as the joints called
    `moving` can bring it; the others are at rest."""
    A, names = vehicle.constraint_matrix(q), vehicle.algebroid.v_names
    v = np.zeros(len(names))
    v[:6] = _planar(vehicle, q) @ twist
    joints = [names.index(name) for name in moving]
    v[joints] = np.linalg.lstsq(A[:, joints], -A[:, :6] @ v[:6], rcond=CLOSED)[0]
    return v
