"""Backing up trailers along a path, without jack-knife."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..analysis.variations import Variations
from ..attitude import wrap
from ..checks import check_arguments, read_number
from ..errors import InputError, ModelError, listed
from ..simulation.command import Command, JointVelocity
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .lqr import steady_motion
from .path import Path
from .path_library import line
from .path_regulator import LATERAL, PathRegulator
from .trailer_chain import backing_way, trailer_joints
from .twist import TwistDrive
from .unicycle import unicycle

WEIGHTS = {LATERAL: 3.0}
# hitch angles at which the train pulls forward, and at which it backs again
FOLDED, STRAIGHT = np.deg2rad(40), np.deg2rad(4)
MARGIN = 0.05                # of the way to a steering limit, in which the steering rate falls off
PREVIEW = 5.0                # lengths of the vehicle of path ahead that steering knows of


@check_arguments
class TrailerBacking:
    """Backs the last trailer of a car along a path, by steering alone.

    In reverse the hitch angles are unstable: a straight train jack-knifes. The steering rate is the
    input of `PathRegulator` with the distance and heading of the last axle, all hitch angles and
    the steering angle as states, from the exact linearisation of the kinematics at the given speed;
    hitches on and off the axle are treated alike. (In chained form, after Sordalen, *Conversion of
    the kinematics of a car with n trailers into a chained form*, Proc. IEEE ICRA 1993, 382, on-axle
    hitches are needed; near the path both are the same feedback, linear in the distance of the last
    axle and its derivatives by arc length.)

    Steering angles are limited, so no feedback straightens every train backwards. Where a hitch
    angle exceeds 40 degrees the car pulls forward with straight wheels, which straightens any
    train, and backs again once all hitch angles are below 4 degrees.

    Parameters
    ----------
    vehicle
        A car with driven steering and at least one trailer.
    path
        Path of the ground point below the last axle, from beginning to end, with the train in front
        of it; straight back along -x if None.
    speed
        [m/s] backwards; its sign does not matter.
    trailer
        Hitch joint of the trailer to steer; the last one if empty.
    weights
        Weights by name of a state, `WEIGHTS` where not named.
    effort
        Weight of the effort of steering.
    period
        Control period of the run [s].
    preview
        Length of path known ahead, in lengths of the vehicle.

    Raises
    ------
    ModelError
        For a vehicle without a trailer, or without steering.
    InputError
        For a speed of zero.
    """

    def __init__(self, vehicle: Vehicle, path: Path | None = None, *, speed: float = 0.5,
                 trailer: str = "", weights: Mapping[str, float] | None = None, effort: float = 1.0,
                 period: float = 1e-2, preview: float = PREVIEW):
        chain = trailer_joints(vehicle, trailer)
        leaders = [name for name in vehicle.speeds if name in vehicle.driven
                   and name in vehicle.description.steering]
        if len(leaders) != 1:
            raise ModelError(f"{vehicle.name!r}: backing takes one independent steering joint, "
                             f"this vehicle has {listed(leaders)} among its independent speeds "
                             f"{', '.join(vehicle.speeds)}; choose other independent speeds")
        if not abs(speed) > 0:
            raise InputError(f"speed = {speed}: must be a speed other than zero [m/s]")
        read_number("preview", preview, "a number of lengths, 0 or more", least=0.0)
        self.vehicle, self.steer = vehicle, leaders[0]
        self.speed = backing_way(vehicle, chain) * abs(speed)
        self.path = line(1.0).place(yaw=np.pi) if path is None else path
        variations = Variations(vehicle)
        self._point = unicycle(vehicle)
        motion = steady_motion(vehicle, self._point.twist(self.speed, 0.0), variations)
        self._straight = vehicle.joint_positions(motion.q)[self.steer]
        self.regulator = PathRegulator(vehicle, variations, motion,
                                       vehicle.model.getJointId(chain[-1]),
                                       rates=(self.steer,), weights=WEIGHTS | dict(weights or {}),
                                       effort=effort, period=period,
                                       preview=preview * vehicle.steering.length / abs(speed))
        self.drive, self.hitches = TwistDrive(vehicle, (0, 0, 0)), chain
        self.limits = vehicle.limits[self.steer]
        self.reset()

    def __repr__(self) -> str:
        return f"TrailerBacking({self.vehicle.name!r}, {self.path!r}, speed={self.speed:g})"

    def reset(self) -> None:
        """Forgets where on the path the train is, and backs."""
        self._s: float | None = None
        self.pulling = False

    @property
    def path_reference(self) -> dict:
        """The data of path and tracked axle that run files keep."""
        return self.regulator.reference(self.path)

    @property
    def start(self) -> dict:
        """Arguments for `Simulator.reset`: straight, the last axle where the path begins, its back
        towards it."""
        return {"pose": self.regulator.start_pose(self.path)}

    @property
    def commanded_twist(self) -> np.ndarray:
        """The twist of the car that was commanded last."""
        return self.drive.commanded_twist

    def __call__(self, t: float, state: State) -> Command:
        folded = max(abs(wrap(state.joint_position[name])) for name in self.hitches)
        self.pulling = folded > FOLDED or (self.pulling and folded > STRAIGHT)
        angle, speed = state.joint_position[self.steer], -self.speed if self.pulling else self.speed
        if self.pulling:
            rate = (self._straight - angle) * abs(speed) / (0.2 * self.vehicle.steering.length)
        else:
            z, s = self.regulator.error(t, state, self.path, self._s)
            self._s = s
            rate = float(self.regulator.input(z, s, self.path)[0])
        steering = self.vehicle.steering
        angles = {axle.steering: state.joint_position[axle.steering] for axle in steering.steered}
        twist = steering.twist(angles, steering.pair()) / (1, 1, steering.length)
        twist *= speed / (self._point.ahead @ twist)
        wheels = dict(self.drive.follow(t, state, twist)[1].values)
        return JointVelocity({self.steer: self._limit(angle, rate)} | wheels)

    def _limit(self, angle: float, rate: float) -> float:
        """The steering rate, fading out before a limit of the angle and cut at that of the rate."""
        low, high = self.limits.lower, self.limits.upper
        if np.isfinite(high):
            soft = MARGIN * (high - low)
            room = (high - angle) if rate > 0 else (angle - low)
            rate *= float(np.clip(room / soft, 0.0, 1.0))
        return float(np.clip(rate, -self.limits.velocity, self.limits.velocity))
