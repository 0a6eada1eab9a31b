"""From a body twist to joint commands, for every mobility class by the same rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..analysis.limits import lift_acceleration
from ..checks import check_arguments, read_number
from ..compile.buffered import Buffered
from ..errors import InputError, ModelError
from ..simulation.command import NOT_YET, JointPosition, JointVelocity
from ..simulation.state import State
from ..vehicle.couplings import Axle
from ..vehicle.vehicle import Vehicle

# forward [m/s], lateral [m/s] and yaw rate [rad/s] of the base
TwistValues = Sequence[float] | np.ndarray
Twist = TwistValues | Callable[[float, State], TwistValues]
# [rad] on the sphere of twists, how far ahead of the present one coupled axles are sent
REACH = 0.4
PARALLEL = 1e-3   # of the largest row: axles that differ by less are one
STILL = 1e-6      # a twist smaller than this [m/s] holds the steering where it is


class DrivenWheel(NamedTuple):
    """Joint that drives a wheel, index of its rate in v, and row of the wheel's rolling."""

    joint: str
    spin: int
    row: int


@check_arguments
class TwistDrive:
    """Body twist to joint commands, for every kind of vehicle: steering first, then wheels.

    Forward speed and yaw rate are those of the command wherever the vehicle can have them, as a
    robot's `cmd_vel` means them; the lateral speed is too where it is free, and follows from the
    fixed axle where there is one, for the base need not stand on it. Each driven steering joint
    goes to the angle at which its wheel's lateral row lets that twist pass. What the axles allow of
    it at their present angles (least squares onto the kernel of the lateral rows) then gives each
    driven wheel the rate that solves its own rolling row A v + b = 0, steering rates included.

    Parameters
    ----------
    vehicle
        With driven wheels.
    twist
        (forward [m/s], lateral [m/s], yaw rate [rad/s]) of the base in the ground plane, or a
        callable (t, state) -> twist.
    acceleration
        Largest acceleration of the base, straight ahead or back [m/s^2], in a dynamic run. Where
        None, half of what lifts a wheel off level ground (`analysis.lift_acceleration`): the other
        half is for slopes and bends.

    Raises
    ------
    ModelError
        For a vehicle without driven wheels.
    InputError
        For an acceleration that is not positive.

    Examples
    --------
    >>> drive = TwistDrive(vehicle, (0.5, 0.0, 1.0))
    >>> run = Simulator(vehicle, drive, mode="kinematic").run(0.1)
    >>> round(float(run.column("yaw_rate")[-1]), 9)
    1.0
    """

    def __init__(self, vehicle: Vehicle, twist: Twist, *, acceleration: float | None = None):
        self.vehicle, self.twist = vehicle, twist
        self.wheels = _driven_wheels(vehicle)
        if not self.wheels:
            raise ModelError(f"{vehicle.name!r} has no driven wheel: it cannot follow a twist")
        if acceleration is None:
            acceleration = lift_acceleration(vehicle) / 2
        else:
            read_number("acceleration", acceleration, "a positive number of m/s^2", above=0.0)
        self.acceleration = float(acceleration)
        self._spins = [wheel.spin for wheel in self.wheels]
        self._forms = Buffered(_constraint_forms(vehicle), matrices=[0])
        self.commanded_twist = np.array(NOT_YET)

    def __repr__(self) -> str:
        return f"TwistDrive({self.vehicle.name!r}, wheels={[wheel.joint for wheel in self.wheels]})"

    def __call__(self, t: float, state: State) -> tuple[JointPosition, JointVelocity]:
        return self.follow(t, state, self.twist(t, state) if callable(self.twist) else self.twist)

    def follow(self, t: float, state: State,
               twist: TwistValues) -> tuple[JointPosition, JointVelocity]:
        """Commands for one twist (3,), which `commanded_twist` shows from then on.

        Raises
        ------
        InputError
            For a twist of another shape.
        """
        wanted = np.array(twist, dtype=float)
        if wanted.shape != (3,):
            raise InputError(f"the twist is {wanted!r}; expected forward [m/s], lateral [m/s] and "
                             "yaw rate [rad/s]")
        self.commanded_twist = wanted
        steering = self.vehicle.steering
        scaled = self._pass_fixed(wanted * (1, 1, steering.length))
        angles = {axle.steering: state.joint_position[axle.steering] for axle in steering.steered}
        held = self._axle_rows(angles)
        steered = [axle for axle in steering.steered if axle.steering in self.vehicle.driven]
        targets, still = {}, dict.fromkeys((axle.steering for axle in steered), 0.0)
        if np.linalg.norm(scaled) > STILL:
            coupled = steering.coupled and len(held) == 2
            way = _reachable(scaled, _cross(*held)) if coupled else scaled
            still, targets = {}, {axle.steering: self._angle(axle, way, angles[axle.steering])
                                  for axle in steered}
        for row in held:
            scaled = scaled - row * (row @ scaled)
        allowed = scaled / (1, 1, steering.length)
        A, b = self._forms(t, state.q, self.vehicle.theta)
        # steering that is turning counts, where it moves a wheel's centre
        v = np.array(state.v)
        v[:6] = self._base_twist(state, allowed)
        v[self._spins] = 0.0
        rates = {joint: -float(A[row] @ v + b[row]) / float(A[row, spin])
                 for joint, spin, row in self.wheels}
        return JointPosition(targets), JointVelocity(rates | still,
                                                     self._hold_back(state, allowed[0], rates))

    def _hold_back(self, state: State, forward: float, rates: dict[str, float]) -> float | None:
        """The acceleration [rad/s^2] of the fastest joint at which the base keeps to its own: all
        joints are held back alike, so that ratios of changes are those of accelerations. None where
        nothing has to be held back."""
        R = state.T_WB[:3, :3]
        change = abs(forward - _heading(R, self.vehicle.placer.normal) @ R @ state.v[:3])
        fastest = max(abs(rate - state.joint_velocity[joint]) for joint, rate in rates.items())
        if change <= STILL or not fastest > 0 or not np.isfinite(self.acceleration):
            return None
        return float(self.acceleration * fastest / change)

    def _pass_fixed(self, scaled: np.ndarray) -> np.ndarray:
        """The twist with the lateral speed at which the fixed axle lets it pass."""
        for row in (axle.straight for axle in self.vehicle.steering.fixed[:1]):
            if abs(row[1]) > PARALLEL * np.linalg.norm(row):      # else it bars the way itself
                scaled = scaled * (1, 0, 1)
                scaled[1] = -(row @ scaled) / row[1]
        return scaled

    def _angle(self, axle: Axle, twist: np.ndarray, now: float) -> float:
        """The steering angle that lets the twist pass: the nearest, or, if a limit is in the way,
        the one half a turn away."""
        angle, limit = axle.angle_for(twist, now), self.vehicle.limits.get(axle.steering)
        if limit is None or limit.lower <= angle <= limit.upper or self.vehicle.steering.coupled:
            return angle
        others = (angle - np.pi, angle + np.pi)
        return next((other for other in others if limit.lower <= other <= limit.upper), angle)

    def _axle_rows(self, angles: dict[str, float]) -> list[np.ndarray]:
        """Orthonormal rows (3,), two at most, of the twists that the base's axles do not let pass
        at these angles."""
        steering = self.vehicle.steering
        axles = [axle.straight for axle in steering.binding]
        axles += [axle.at(angles[axle.steering]) for axle in steering.steered]
        rows = np.array(axles).reshape(-1, 3)
        held: list[np.ndarray] = []
        least = 0.0
        for _ in range(min(len(rows), 2)):
            sizes = np.sqrt((rows * rows).sum(axis=1))
            i = int(sizes.argmax())
            if sizes[i] <= least:
                break
            least = PARALLEL * sizes[i]
            held.append(rows[i] / sizes[i])
            rows = rows - (rows @ held[-1])[:, None] * held[-1]
        return held

    def _base_twist(self, state: State, planar: np.ndarray) -> np.ndarray:
        """(6,) in the base's frame of a planar twist along the heading."""
        R, n = state.T_WB[:3, :3], self.vehicle.placer.normal
        heading = _heading(R, n)
        forward, lateral, turn = planar
        return np.concatenate([R.T @ (forward * heading + lateral * _cross(n, heading)),
                               R.T @ n * turn])


def _heading(R_WB: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Unit vector in the ground plane, in W, along which the base looks."""
    heading = _cross(R_WB[:, 1], n)
    return heading / np.linalg.norm(heading)


def _reachable(twist: np.ndarray, now: np.ndarray) -> np.ndarray:
    """A twist between `now`, which coupled axles allow, and the wanted one: on their circle,
    `REACH` away at most.

    Axles that must meet in one point get to a far one only through those between: straight ahead
    and turning on the spot are a quarter of a circle apart, and a wheel that went to its nearest
    angle on its own would block the others.
    """
    wanted = twist / np.linalg.norm(twist)
    near = float(now @ wanted)
    now, near = (now, near) if near >= 0 else (-now, -near)
    if near >= np.cos(REACH):
        return twist
    across = wanted - near * now
    return now * np.cos(REACH) + across / np.linalg.norm(across) * np.sin(REACH)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b of two vectors; NumPy's takes ten times as long for one pair."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                     a[0] * b[1] - a[1] * b[0]])


def _driven_wheels(vehicle: Vehicle) -> tuple[DrivenWheel, ...]:
    found = []
    rolling = {held.contact: row for held, row in vehicle.contact_rows.items()
               if held.direction in ("longitudinal", "roller")}
    for mount in (contact.mount for contact in vehicle.contacts):
        joint, spin = mount.wheel.joint, mount.spin
        if joint is not None and spin is not None and joint in vehicle.driven:
            found.append(DrivenWheel(joint, spin, rolling[mount.wheel.name]))
    return tuple(found)


def _constraint_forms(vehicle: Vehicle) -> ca.Function:
    """(t, q, theta) -> A, b."""
    s, d = vehicle.constrained.system, vehicle.constrained.distribution
    return ca.Function("forms", [s.t, s.q, s.theta], [ca.densify(d.A), ca.densify(d.b)])
