"""Driving to a pose."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..checks import read_number, read_positive
from ..errors import InputError
from ..vehicle.vehicle import Vehicle
from .task import TILTED, Judged, Seen, Task, base_rotation

AWAY = 2.0                   # farther than the farthest goal by this, an episode ends [lengths]
ARRIVED = 10.0               # reward of an arrival


class GoalTask(Task):
    """Driving to a pose, from rest.

    Observation, cut at +-10: the goal's place in the base's frame in lengths (2), its heading from
    there (cosine, sine), the ground's normal in the base (2), positions of the joints that do not
    roll, independent speeds. Reward of a period: the distance that was gained over speed period,
    less 0.01 mean(action^2), and 10 for the arrival, with which the episode ends. It also ends 2
    lengths beyond `radius`, and where the base tilts by 60 degrees.

    Further quantities of `Seen`: `ahead`, `left`, `distance` [lengths], `cos_heading`,
    `sin_heading`, `gained`, `arrived`.

    Parameters
    ----------
    radius
        Goals are up to this many lengths away.
    within
        [lengths] at which the goal is reached.
    aligned
        [rad] of the heading at which it is reached; with pi, only the position counts.
    **task
        Parameters of `Task`.

    Raises
    ------
    InputError
        For `within` that is not less than `radius`, and as `Task` does.
    """

    memory = ("goal_x", "goal_y", "goal_heading", "distance")

    def __init__(self, vehicle: Vehicle | str, *, radius: float = 5.0, within: float = 0.3,
                 aligned: float = np.pi, **task: Any):
        self.radius, self.within = read_positive("radius", radius), read_positive("within", within)
        if self.within >= self.radius:
            raise InputError(f"within = {within} must be less than radius = {radius}: all goals "
                             "would be reached at the start")
        self.aligned = read_number("aligned", aligned, "an angle [rad], positive", above=0.0)
        super().__init__(vehicle, **task)

    def prepare(self) -> None:
        """Checks the arguments, which are numbers."""

    def starts(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The vehicle at the origin; goals are uniform over the disc without the region that counts
        as arrived."""
        share, around, heading, yaw = draws
        turn = 2 * np.pi * yaw
        states = self.placed(np.repeat(self.at_rest[None], len(share), axis=0), 0.0, 0.0, turn)
        least = min((2 * self.within / self.radius) ** 2, 1.0)
        distance = self.radius * self.length * np.sqrt(least + (1 - least) * share)
        goals = distance * np.array([np.cos(2 * np.pi * around), np.sin(2 * np.pi * around)])
        gone = np.hypot(*(goals - states[:, :2].T)) / self.length
        return states, np.array([*goals, 2 * np.pi * heading, gone])

    def joined(self, x: np.ndarray) -> np.ndarray:
        """Its goal is the origin."""
        return np.array([0.0, 0.0, 0.0, np.hypot(x[0], x[1]) / self.length])

    def judged(self, seen: Seen, memory: ca.SX, patch: ca.SX, near: ca.SX) -> Judged:
        forward = base_rotation(seen.x)[:2, 0]
        cos, sin = ca.vertsplit(forward / ca.norm_2(forward))
        dx, dy = (memory[i] - seen.x[i] for i in range(2))
        ahead, left = (cos * dx + sin * dy) / self.length, (cos * dy - sin * dx) / self.length
        c, s = ca.cos(memory[2]), ca.sin(memory[2])
        cos_heading, sin_heading = c * cos + s * sin, s * cos - c * sin
        distance = ca.sqrt(ahead ** 2 + left ** 2)
        gained = (memory[3] - distance) * self.length / (self.speed * self.period)
        arrived = ca.logic_and(distance <= self.within, cos_heading >= np.cos(self.aligned))
        far = ca.logic_or(distance > 2 * self.radius + AWAY, seen.upright < TILTED)
        return Judged(
            {"ahead": ahead, "left": left, "distance": distance, "cos_heading": cos_heading,
             "sin_heading": sin_heading, "gained": gained, "arrived": arrived},
            ("ahead", "left", "cos_heading", "sin_heading", "normal", "joints", "speeds"),
            gained - self.wasted(seen) + ARRIVED * arrived, ca.logic_or(arrived, far),
            ca.vertcat(memory[:3], distance), ("distance", "arrived"))
