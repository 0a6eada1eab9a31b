"""Slip and forces of the wheels with tyres, along a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import check_arguments
from ..errors import InputError
from ..simulation.runs.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class TyreSlip:
    """What the tyres of a run did, wheel by wheel, in the order of `wheels`.

    Attributes
    ----------
    t
        (N,) [s].
    wheels
        Names of the wheels with tyres.
    kappa, tan_alpha
        Longitudinal and lateral slip of ISO 8855 (N, k); of a tyre with relaxation that of its
        deflection, which the force belongs to.
    longitudinal, lateral, load
        Forces of the ground on the wheel (N, k) [N], in the wheel's own directions.
    """

    t: np.ndarray
    wheels: tuple[str, ...]
    kappa: np.ndarray
    tan_alpha: np.ndarray
    longitudinal: np.ndarray
    lateral: np.ndarray
    load: np.ndarray

    def __repr__(self) -> str:
        return f"<TyreSlip of {len(self.wheels)} wheels at {len(self.t)} moments>"


@check_arguments
def tyre_slip(trajectory: Trajectory) -> TyreSlip:
    """Slip, forces and loads of the tyres at the recorded moments.

    Where more wheels bear than a rigid body needs, the load is the split of least norm, as in the
    equations of motion.

    Parameters
    ----------
    trajectory
        A run of a vehicle of which some wheel has a tyre.

    Raises
    ------
    InputError
        For a run without any.
    """
    vehicle = trajectory.simulated.vehicle
    wheels = () if vehicle is None else tuple(
        wheel.name for wheel in vehicle.description.wheels if wheel.law == "tyre")
    if vehicle is None or not wheels:
        raise InputError("tyre_slip: no wheel of this run has a tyre; load(..., tyres=...) gives "
                         "it one")
    found = trajectory.reactions.found
    loads = found.shortest[:, [found.components.index((wheel, "normal")) for wheel in wheels]]
    n = len(trajectory)
    evaluate, theta = vehicle.tyre_function.map(n), np.tile(vehicle.theta[:, None], (1, n))
    slip, force = (part.full().T.reshape(n, len(wheels), 2) for part in evaluate(
        trajectory.t[None, :], trajectory.q.T, trajectory.v.T, theta, loads.T))
    return TyreSlip(trajectory.t, wheels, -slip[:, :, 0], slip[:, :, 1],
                    force[:, :, 0], force[:, :, 1], loads)
