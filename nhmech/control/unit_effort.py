"""Units of effort: scales by which the efforts of a vehicle are measured."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..simulation.dynamics import Dynamics
from ..urdf.description import NO_LIMITS
from ..vehicle.vehicle import Vehicle
from .lqr import input_scales


def unit_efforts(vehicle: Vehicle, f: Dynamics, x: np.ndarray, speed: float,
                 time: float) -> np.ndarray:
    """The least value of each input that changes some speed by as much as a motion at `speed` [m/s]
    within `time` [s], at a state x (nx,), (nu,) [N m, N]; f is the dynamics."""
    symbol, u = ca.SX.sym("x", f.nx), ca.SX.sym("u", f.nu)
    rates = f(0.0, symbol, u)[f.state_vector.nconf:]
    effect = ca.Function("effect", [symbol], [ca.jacobian(rates, u)])
    return input_scales(vehicle, effect(x).full(), speed_scales(vehicle, speed), time)


def speed_scales(vehicle: Vehicle, speed: float) -> np.ndarray:
    """The size of each independent speed when the vehicle moves at `speed` [m/s], (nxi,)."""
    return speed / vehicle.constrained.fibre_scales[list(vehicle.frame.speeds)]


def effort_limits(vehicle: Vehicle, joints: Sequence[str]) -> np.ndarray:
    """Largest effort of each joint, infinite if it has no limit, (n,) [N m, N]."""
    return np.array([vehicle.limits.get(name, NO_LIMITS).effort for name in joints])
