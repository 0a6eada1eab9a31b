"""Slip and forces of the wheels with tyres, along a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import check_arguments
from ..errors import InputError
from ..simulation.runs.trajectory import Trajectory
from ..vehicle.friction import wheels_with_tyres


@dataclass(frozen=True, eq=False)
class TyreSlip:
    """Slip and forces of the tyres of a run, wheel by wheel in the order of `wheels`.

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

    If more wheels bear than a rigid body needs, the loads are those of least norm, as in the
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
    if vehicle is None or not wheels_with_tyres(vehicle):
        raise InputError("tyre_slip: no wheel of this run has a tyre; load(..., tyres=...) gives "
                         "it one")
    found = trajectory.tyres
    return TyreSlip(trajectory.t, found.wheels, -found.slip[:, :, 0], found.slip[:, :, 1],
                    found.force[:, :, 0], found.force[:, :, 1], found.load)
