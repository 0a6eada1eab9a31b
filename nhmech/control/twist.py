"""From a body twist to joint commands, for every mobility class by the same rule."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import numpy as np

from ..analysis.limits import lift_acceleration
from ..checks import check_arguments, read_number
from ..errors import InputError, ModelError, listed
from ..once import cached_property
from ..simulation.command import NOT_YET, JointPosition, JointVelocity
from ..simulation.state import State
from ..symbolic.buffered import Buffered
from ..vehicle.vehicle import Vehicle
from .twist_rule import (
    driven_steering,
    driven_wheels,
    find_undriven,
    following_part,
    guiding_axles,
    rolled_joints,
    twist_function,
)

SHORTFALL = 1e-3       # of a twist: a larger part that joint limits prevent is reported
UNITS = ("m/s", "m/s", "rad/s")
SLUGGISH = 0.01   # [m/s^2], with which 1 m/s takes 100 s: no vehicle is meant to be that slow
SLOW = ("%s speeds up and brakes by %.2g m/s^2 at most, which is half of what makes a wheel lift "
        "off (`nhmech limits FILE --mu 0.8` says which): its centre of mass is almost above the "
        "line over which it would tip. To choose: TwistDrive(vehicle, twist, acceleration=0.5)")

# forward [m/s], lateral [m/s] and yaw rate [rad/s] of the base
TwistValues = Sequence[float] | np.ndarray
Twist = TwistValues | Callable[[float, State], TwistValues]


@check_arguments
class TwistDrive:
    """Body twist to joint commands, for every kind of vehicle: steering first, then wheels.

    Forward speed and yaw rate are the commanded ones wherever the vehicle can have them, as with a
    robot's `cmd_vel`; so is the lateral speed if it is free. With a fixed axle, the lateral speed
    follows from it, because the base need not be on the axle. Where a steering joint would pass a
    limit of its angle, the vehicle goes forward as commanded and turns less (and moves less to the
    side, where that is free), so that no part of the command is exceeded once the steering is
    there; a car that is to turn on the spot stands still. Each driven steering joint goes to the
    angle at which its wheel's lateral row lets that twist pass; where axles have to meet in one
    point, by a way on which they do, within their limits. What the axles allow of it at their
    present angles (least squares onto the kernel of the lateral rows, but forward no faster than
    commanded, or than half the twist's size) then gives each driven wheel the rate that solves its
    own rolling row A v + b = 0, steering rates included. Where a driven joint would pass its
    velocity limit, the whole twist is slower by one factor, so that the path stays that of the
    command. A wheel that trails a driven joint which turns all the way round, as a powered caster
    or the wheels below a turntable do, bars no twist: the joint gets the rate that solves the
    lateral row. Other driven joints, such as a lift, are kept from moving.

    Parameters
    ----------
    vehicle
        With driven wheels.
    twist
        (forward [m/s], lateral [m/s], yaw rate [rad/s]) of the base in the ground plane, or a
        callable (t, state) -> twist.
    acceleration
        Largest acceleration of the base, straight ahead or back [m/s^2], in a dynamic run. None
        takes half of the value at which a wheel lifts off level ground
        (`analysis.lift_acceleration`), which leaves the other half for slopes and bends; the log
        tells where that is hardly any.

    Attributes
    ----------
    commanded_twist
        The last one, (3,); NaN before the first.
    possible_twist
        What the limits of the joints, of angles and of rates, leave of it, (3,).

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
        self.wheels = driven_wheels(vehicle)
        if not self.wheels:
            raise ModelError(f"{vehicle.name!r} has no driven wheel: it cannot follow a twist")
        if acceleration is None:
            acceleration = lift_acceleration(vehicle) / 2
            if acceleration < SLUGGISH:
                logging.getLogger("nhmech").warning(SLOW, vehicle.name, acceleration)
        else:
            read_number("acceleration", acceleration, "a positive number of m/s^2", above=0.0)
        self.acceleration = float(acceleration)
        self._angles = [axle.steering for axle in guiding_axles(vehicle)]
        self._steering = [axle.steering for axle in driven_steering(vehicle)]
        self._spins = [rolled.joint for rolled in rolled_joints(vehicle)]
        self._others = dict.fromkeys((name for name in vehicle.driven if name not in (
            *self._steering, *self._spins)), 0.0)
        self._find = Buffered(twist_function(vehicle))
        self.commanded_twist = self.possible_twist = np.array(NOT_YET)

    def __repr__(self) -> str:
        return f"TwistDrive({self.vehicle.name!r}, wheels={[wheel.joint for wheel in self.wheels]})"

    def __call__(self, t: float, state: State) -> tuple[JointPosition | JointVelocity, ...]:
        return self.follow(t, state, self.twist(t, state) if callable(self.twist) else self.twist)

    def follow(self, t: float, state: State,
               twist: TwistValues) -> tuple[JointPosition | JointVelocity, ...]:
        """Commands for one twist (3,), which becomes `commanded_twist`.

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
        position = state.joint_position
        targets, rates, acceleration, moving, possible = self._find(
            t, state.q, state.v, self.vehicle.theta, [position[name] for name in self._angles],
            wanted, self.acceleration)
        self.possible_twist = possible.copy()
        angles = dict(zip(self._steering, targets.tolist()))
        most = acceleration.item()
        spins = dict(zip(self._spins, rates.tolist()))
        if not moving.item():
            spins, angles = spins | dict.fromkeys(angles, 0.0), {}
        rolling = JointVelocity(spins, most if most < np.inf else None)
        if not self._others:
            return JointPosition(angles), rolling
        return JointPosition(angles), rolling, JointVelocity(self._others)

    @property
    def shortfall(self) -> str:
        """The part of the last twist that joint limits, a fixed axle, linked steering, a lack of
        motors or a fork that a twist does not steer prevent, in words; empty if there is none."""
        asked, possible = self.commanded_twist, self.possible_twist
        leaning = [name for name in self._others if name in self.vehicle.description.steering]
        if leaning and asked[2]:
            return (f"a twist does not steer {self.vehicle.name}: the axis of {listed(leaning)} "
                    "leans, as a bicycle's does, or is on another moving joint")
        shown = ["(" + ", ".join(f"{value:.3g} {unit}" for value, unit in zip(twist, UNITS)) + ")"
                 for twist in (asked, possible)]
        if len(self._undriven) and asked.any():
            forward, lateral, yaw = np.round(self._undriven[0], 9)
            x, y = (-lateral / yaw, forward / yaw) if yaw else (forward, lateral)
            how = f"{'turn about' if yaw else 'move along'} ({x + 0.0:.3g}, {y + 0.0:.3g}) m"
            return f"{shown[0]} is not all driven: the motors of {self.vehicle.name} leave the " \
                   f"robot free to {how}"
        part = following_part(self.vehicle)
        if crossing := len(self.vehicle.steering.binding) == 2:
            part = None
        scale = np.array([1.0, 1.0, self.vehicle.steering.length])
        left, least = np.abs(asked - possible) * scale, SHORTFALL * np.linalg.norm(asked * scale)
        if part is not None and left[part] > least and (asked[part] or part == 2):
            if part < 2:
                return (f"{shown[0]} is not driven by {self.vehicle.name}: the "
                        f"{('forward', 'lateral')[part]} speed follows from its fixed axle; "
                        f"{shown[1]} is driven")
            if left[2] > max(left[:2]):
                return (f"{shown[0]} is not driven by {self.vehicle.name}: its steering, linked by "
                        f"<mimic>, does not let it turn; {shown[1]} is driven")
        if part in (0, 1):
            left[part] = 0.0
        if not np.linalg.norm(left) > least:
            return ""
        if crossing:
            why = ("cross, so that it only turns about the point where they meet" if possible[2]
                   else "are parallel, so that it only goes straight")
            return (f"{shown[0]} is not driven by {self.vehicle.name}: its fixed axles {why}; "
                    f"{shown[1]} is driven")
        return (f"{shown[0]} is beyond the limits of the joints of {self.vehicle.name}: "
                f"{shown[1]} is driven")

    @cached_property
    def _undriven(self) -> np.ndarray:
        return find_undriven(self.vehicle)
