"""The controller of runs that name none: a gentle S-curve, so that the first run moves."""

from __future__ import annotations

import numpy as np

from ..checks import check_arguments
from ..simulation.command import Command
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .balance import Balance
from .twist import TwistDrive

PERIOD = 6.0       # [s] of one left and one right turn
RAMP = 1.5         # [s] to full speed


@check_arguments
class DemoDrive:
    """Drives an S-curve with the motors of the vehicle; a vehicle without motors is pushed.

    `start` holds the arguments for `Simulator.reset` that go with it.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    """

    def __init__(self, vehicle: Vehicle):
        self.vehicle = vehicle
        length = vehicle.steering.length
        self.speed = easy_speed(vehicle)                               # [m/s]
        self.turn = self.speed / (3 * length)                          # [rad/s]
        driven = [c for c in vehicle.contacts if c.mount.wheel.joint in vehicle.driven]
        leans = "roll_rate" in vehicle.speeds
        self.start: dict = {}
        self._drive: Balance | TwistDrive | None = None
        if "pitch_rate" in vehicle.speeds and driven:
            self._drive = Balance(vehicle, self._twist)
            self.start = self._drive.start
        elif driven and not leans:
            self._drive = TwistDrive(vehicle, self._twist)
        else:
            self.start = _push(vehicle)

    def __repr__(self) -> str:
        return f"DemoDrive({self.vehicle.name!r}, speed={self.speed:g})"

    @property
    def commanded_twist(self) -> np.ndarray | None:
        """The twist of the last call; None for a vehicle that is only pushed off."""
        return None if self._drive is None else self._drive.commanded_twist

    def __call__(self, t: float, state: State) -> Command:
        return None if self._drive is None else self._drive(t, state)

    def _twist(self, t: float, state: State) -> np.ndarray:
        growth = min(t / RAMP, 1.0)
        phase = 2 * np.pi * t / PERIOD
        sideways = 0.4 * self.speed * np.sin(phase / 2) if _holonomic(self.vehicle) else 0.0
        return growth * np.array([self.speed, sideways, self.turn * np.sin(phase)])


def easy_speed(vehicle: Vehicle) -> float:
    """A speed [m/s] that looks easy: 1.5 lengths of the vehicle in a second."""
    return float(np.clip(1.5 * vehicle.steering.length, 0.05, 3.0))


def _holonomic(vehicle: Vehicle) -> bool:
    """Whether the base can move in every direction: no axle that is fixed to it."""
    return not vehicle.steering.fixed and len(vehicle.speeds) >= 3


def _push(vehicle: Vehicle) -> dict:
    """Pose and speeds at which a vehicle is pushed off to coast."""
    radius = max(c.mount.wheel.radius for c in vehicle.contacts)
    g = vehicle.parameters.values["gravity"]
    # a rolling disc, leaning a little
    if vehicle.gauge is not None:
        return {"pose": (0, 0, 0, np.deg2rad(12), 0, 0),
                "xi": {vehicle.gauge.joint: np.sqrt(2.5 * g / radius), "roll_rate": 0.0,
                       "yaw_rate": 0.0}}
    # a bicycle, fast enough to steady itself
    if "roll_rate" in vehicle.speeds and "pitch_rate" not in vehicle.speeds:
        wheel = next((name for name in vehicle.description.rolling if name in vehicle.speeds), None)
        steady = {name: 0.0 for name in vehicle.speeds if name != wheel}
        return {"xi": {**steady, "forward_speed": float(np.sqrt(5 * g * vehicle.steering.length)),
                       "roll_rate": 0.4}}
    return {"xi": {"forward_speed": 3 * float(np.sqrt(g * radius)) if radius > 0 else 1.0,
                   "yaw_rate": 1.0 if "yaw_rate" in vehicle.speeds else 0.0}}
