"""Balancing vehicles that fall over by themselves."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..checks import read_positive
from ..errors import InputError, ModelError
from ..simulation.simulator import Simulator
from ..vehicle.vehicle import Vehicle
from .task import Judged, Seen, Task

# falls in this base direction -> where that stands in a pose (x, y, z, roll, pitch, yaw)
FALLS = {"roll_rate": 3, "pitch_rate": 4}
KINDS = 64         # of starts, each with a tilt of its own
OFF, SLOW = 1.0, 0.1         # of the reward: tilt over the largest one, speed over the wanted one


class BalanceTask(Task):
    """Balancing, at a speed.

    Observation, cut at +-10: the ground's normal in the base less that of rest, over `fallen` (2),
    positions of the joints that do not roll, independent speeds over the wanted one. Reward of a
    period: 1 - tilt^2 - 0.1 (speed - wanted)^2 - 0.01 mean(action^2), tilt over `fallen`, speeds
    over the wanted one. An episode ends where the base tilts by more than `fallen`, or the
    simulator stops.

    Further quantities of `Seen`: `tilt`, `tilts` (2,).

    Parameters
    ----------
    tilt
        [rad] from rest at the start, at most.
    fallen
        [rad] at which an episode ends.
    moving
        Whether it starts, and is to go on, at the wanted speed; else it is to stand. If None, as
        what rolls over to a side (a bicycle) needs and what tips forward does not.
    **task
        What all tasks share: `Task`.

    Raises
    ------
    InputError
        For a vehicle that has fallen when it starts, `fallen` beyond a quarter turn, and as `Task`
        does.
    ModelError
        For a vehicle that does not fall: neither its roll nor its pitch rate is an independent
        speed.
    """

    DRAWS = 2

    def __init__(self, vehicle: Vehicle | str, *, tilt: float = 0.1, fallen: float = 0.5,
                 moving: bool | None = None, **task: Any):
        self.tilt, self.fallen = read_positive("tilt", tilt), read_positive("fallen", fallen)
        if not self.tilt < self.fallen < np.pi / 2:
            raise InputError(f"tilt = {tilt} and fallen = {fallen} must be angles [rad], the first "
                             "less than the second and that less than pi / 2")
        self.moving = moving
        super().__init__(vehicle, **task)

    def prepare(self) -> None:
        vehicle = self.vehicle
        falls = [name for name in FALLS if name in vehicle.speeds]
        if not falls:
            raise ModelError(f"{vehicle.name!r} does not fall over: its independent speeds are "
                             f"{', '.join(vehicle.speeds)}; BalanceTask needs roll_rate or "
                             "pitch_rate among them")
        if self.moving is None:
            self.moving = "roll_rate" in falls
        x, simulator, rows = self.at_rest, Simulator(vehicle), []
        self._upright = np.array([2 * (x[3] * x[5] - x[4] * x[6]), 2 * (x[4] * x[5] + x[3] * x[6])])
        xi = {"forward_speed": self.speed} if self.moving else None
        chart = simulator.atlas.primary
        for share in np.linspace(-1.0, 1.0, KINDS):
            pose = np.zeros(6)
            pose[FALLS[falls[0]]] = share * self.tilt
            state = simulator.reset(tuple(pose), xi=xi)
            rows.append(chart.state_vector.assemble(state.q, state.v[chart.speeds]))
        self._kinds = np.array(rows)

    def starts(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """At the origin, tilted, in any direction."""
        kinds = self._kinds[(draws[0] * KINDS).astype(int)]
        return self.placed(kinds, 0.0, 0.0, 2 * np.pi * draws[1]), np.zeros((0, len(kinds)))

    def joined(self, x: np.ndarray) -> np.ndarray:
        return np.zeros(0)

    def judged(self, seen: Seen, memory: ca.SX, patch: ca.SX, near: ca.SX) -> Judged:
        tilts = (seen.normal - self._upright) / np.sin(self.fallen)
        tilt = ca.norm_2(tilts)
        forward = self.dynamics.velocity(0.0, seen.x, seen.theta)[0] / self.speed
        late = forward - (1.0 if self.moving else 0.0)
        reward = 1 - OFF * tilt ** 2 - SLOW * late ** 2 - self.wasted(seen)
        return Judged({"tilts": tilts, "tilt": tilt, "late": late},
                      ("tilts", "joints", "speeds"), ca.fmax(reward, -2.0), tilt > 1, ca.SX(0, 1),
                      ("tilt",))
