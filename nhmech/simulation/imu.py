"""Readings of an inertial measurement unit on a link along a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..checks import check_arguments
from .atlas import Atlas
from .bounds import Bounds
from .integration.integrators import POOR
from .integration.schemes import SCHEMES
from .runs.layouts import state_layout
from .runs.trajectory import Trajectory
from .sensors import Sensors
from .state import State


class ImuReadings(NamedTuple):
    """Angular velocities and specific forces of a link, along its axes.

    Attributes
    ----------
    gyro
        (N, 3) [rad/s].
    accelerometer
        (N, 3) [m/s^2].
    """

    gyro: np.ndarray
    accelerometer: np.ndarray


@check_arguments
def imu_along(trajectory: Trajectory, link: str | None = None,
              states: Sequence[int] | np.ndarray | None = None) -> ImuReadings:
    """Reads the gyro and the accelerometer of a link at recorded states.

    The readings are those of `State.gyro` and `State.accelerometer` in the loop. dv/dt follows from
    the equations of rolling with the inputs of the run; where wheels slid, it is a difference of
    recorded velocities.

    Parameters
    ----------
    trajectory
        The run of a vehicle.
    link
        The link that carries it; the root if None.
    states
        Indices of recorded states; all if None.

    Raises
    ------
    InputError
        For a link that does not exist.
    SimulationError
        For a system that has no links.

    Examples
    --------
    >>> from nhmech.simulation import imu_along
    >>> run = Simulator(vehicle).run(0.1)
    >>> imu_along(run).accelerometer[-1].round(6).tolist()     # at rest
    [0.0, 0.0, 9.81]
    """
    simulated, t = trajectory.simulated, trajectory.t
    atlas = Atlas(simulated, SCHEMES["rk4"], trajectory.kinematic,
                  Bounds.of(simulated, "ignore", "ignore", "ignore"))
    sensors = Sensors(simulated, atlas.charts)
    layout, chart = state_layout(simulated, atlas.primary, sensors), atlas.primary
    last, rolled = len(t) - 1, trajectory.rolled
    rows = range(len(t)) if states is None else [int(k) for k in states]
    gyro, accelerometer = np.zeros((len(rows), 3)), np.zeros((len(rows), 3))
    for i, k in enumerate(rows):
        q, v = trajectory.q[k], trajectory.v[k]
        x = chart.state_vector.assemble(q, v[chart.speeds])
        state = State(t[k], np.concatenate([q, v, x, trajectory.u[k]]), layout)
        gyro[i] = sensors.gyro(state, link)
        if rolled[k]:
            if max(abs(one.margin(t[k], one.at_rest(q), simulated.theta))
                   for one in atlas.charts) < POOR:
                atlas.cover([q])
            accelerometer[i] = sensors.accelerometer(state, link)
            continue
        before, after = max(k - 1, 0), min(k + 1, last)
        span = t[after] - t[before]
        rate = (trajectory.v[after] - trajectory.v[before]) / span if span > 0 else 0.0 * v
        accelerometer[i] = sensors.specific_force(link, state, rate)
    return ImuReadings(gyro, accelerometer)
