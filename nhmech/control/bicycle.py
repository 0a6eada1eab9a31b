"""Balancing a bicycle by its handlebars while it follows a path."""

from __future__ import annotations

from collections.abc import Mapping

from ..analysis.variations import Variations
from ..checks import check_arguments
from ..errors import InputError, ModelError, listed
from ..simulation.command import Command, JointTorque, JointVelocity
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .lqr import steady_motion
from .path import Path
from .path_library import line
from .path_regulator import LATERAL, PathRegulator

WEIGHTS = {LATERAL: 0.1}    # gentle towards the path: balance comes first
# [s] of path ahead that the preview covers: to go left a bicycle first steers to the right
PREVIEW = 2.5


@check_arguments
class BicycleBalance:
    """Balances a bicycle by steering torque and follows a path, driven or coasting.

    The gains are those of `PathRegulator`: states lateral error and heading error of the rear axle,
    roll, steering and their rates, from the exact linearisation at the given speed, so the same
    code works for every bicycle. After Sharp, *Motorcycle steering control by road preview*, ASME
    J. Dyn. Syst. Meas. Control 129 (2007) 373.

    Parameters
    ----------
    vehicle
        A vehicle with two wheels in line and a driven steering joint.
    path
        Path of the rear contact; straight along the x axis if None.
    speed
        [m/s], other than zero: the gains are for this speed.
    coast
        Whether the wheels are not driven.
    weights
        Weights by name of a state; `WEIGHTS` for those not named.
    effort
        Weight of the effort of steering.
    period
        Control period of the run [s], for which u is held.
    preview
        [s] of path known ahead.

    Raises
    ------
    ModelError
        For a vehicle that is not a bicycle with handlebars, and where it cannot be balanced at this
        speed.
    InputError
        For a speed of zero.
    """

    def __init__(self, vehicle: Vehicle, path: Path | None = None, *, speed: float = 3.0,
                 coast: bool = False, weights: Mapping[str, float] | None = None,
                 effort: float = 1.0, period: float = 1e-3, preview: float = PREVIEW):
        steering = [name for name in vehicle.driven if name in vehicle.description.steering]
        if "roll_rate" not in vehicle.speeds or len(steering) != 1:
            found = (f"its independent speeds are {', '.join(vehicle.speeds)}, "
                     f"its driven steering joints {listed(steering)}")
            raise ModelError(f"{vehicle.name!r} is not a bicycle with handlebars: {found}. "
                             "BicycleBalance needs a free roll angle and one driven steering joint "
                             '(<nhmech><drive joint="..."/></nhmech> drives it)')
        if not abs(speed) > 0:
            raise InputError(f"speed = {speed}: a bicycle at rest cannot be balanced by steering; "
                             "give a speed [m/s]")
        self.vehicle, self.speed, self.coast, self.steer = vehicle, speed, coast, steering[0]
        self.path = line(1.0) if path is None else path
        variations = Variations(vehicle)
        self.motion = steady_motion(vehicle, (speed, 0.0, 0.0), variations)
        steered = vehicle.model.getJointId(self.steer)
        rear = next(c.mount.body for c in vehicle.contacts if c.mount.body != steered)
        self.regulator = PathRegulator(vehicle, variations, self.motion, rear, inputs=(self.steer,),
                                       weights=WEIGHTS | dict(weights or {}), effort=effort,
                                       period=period, preview=preview)
        names = vehicle.algebroid.v_names
        self._rates = {name: float(self.regulator.v[names.index(name)]) for name in vehicle.driven
                       if name in vehicle.description.rolling}
        self._torque = float(self.motion.u[vehicle.driven.index(self.steer)])
        self.reset()

    def __repr__(self) -> str:
        return f"BicycleBalance({self.vehicle.name!r}, {self.path!r}, speed={self.speed:g})"

    def reset(self) -> None:
        """Forgets where on the path the vehicle is."""
        self._s: float | None = None

    @property
    def path_reference(self) -> dict:
        """The data of path and tracked axle that run files keep."""
        return self.regulator.reference(self.path)

    @property
    def start(self) -> dict:
        """Arguments for `Simulator.reset`: upright at the beginning of the path, at speed."""
        speeds = dict(zip(self.vehicle.speeds, map(float, self.motion.xi)))
        return {"pose": self.regulator.start_pose(self.path), "xi": speeds}

    def __call__(self, t: float, state: State) -> Command:
        z, s = self.regulator.error(t, state, self.path, self._s)
        self._s = s
        effort = self._torque + float(self.regulator.input(z, s, self.path)[0])
        torque = JointTorque({self.steer: effort})
        return torque if self.coast else [torque, JointVelocity(self._rates)]
