"""Following a path."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..control.path import Path
from ..control.path_choice import read_path, scale
from ..control.unicycle import unicycle
from ..simulation.batch_input import start_states
from ..vehicle.vehicle import Vehicle
from .task import TILTED, Judged, Seen, Task, base_rotation
from .track import WITHIN, PathCells, clothoid

PREVIEW = (0.0, 1.0, 2.0)        # lengths ahead at which the path's curvature is seen
LOST = 2.0                       # lengths from the path at which an episode ends
OFF, TURNED = 1.0, 0.1           # of the reward: lateral error in lengths, squared; 1 - cos heading
START = (0.2, 0.3)               # largest lateral offset in lengths and heading [rad] at the start
LEAST = -2.0                     # reward of a period


class PathTask(Task):
    """Following a path.

    Observation, scaled by the vehicle's length and speed, cut at +-10: lateral error, sine and
    cosine of the heading error, curvature at 0, 1, 2 lengths ahead, the ground's normal in the base
    (2), positions of the joints that do not roll, independent speeds. Reward of a period: 1 - |ds /
    (speed period) - 1| - lateral^2 - 0.1 (1 - cos heading) - 0.01 mean(action^2), at least -2. An
    episode ends 2 lengths from the path, with the base tilted by 60 degrees, with a driven joint
    beyond its limits, or where the simulator stops or would change speeds.

    Further quantities of `Seen`: `lateral` [lengths], `cos_heading`, `sin_heading`, `curvatures`
    (3,), `progress` (1 at the wanted speed), `s` [m].

    Parameters
    ----------
    path
        `control.Path`, or a word for one: "figure8", "circle:2", a file of waypoints.
    **task
        What all tasks share: `Task`.

    Raises
    ------
    InputError
        As `Task` does.
    ModelError
        For a vehicle that cannot follow a path, and as `Task` does.
    """

    memory = ("s",)

    def __init__(self, vehicle: Vehicle | str, path: Path | str = "figure8", **task: Any):
        self._path = path
        super().__init__(vehicle, **task)

    def prepare(self) -> None:
        self.unicycle = unicycle(self.vehicle)
        self.length = self.unicycle.length
        self.path = (self._path if isinstance(self._path, Path)
                     else read_path(self._path, max(self.length, scale(self.vehicle))))
        self.track = PathCells(self.path, [ahead * self.length for ahead in PREVIEW])
        self._limited = [
            (self.dynamics.coordinate(name), limit) for name, limit in self.vehicle.limits.items()
            if name in self.vehicle.driven and np.isfinite([limit.lower, limit.upper]).all()]
        self._moving = start_states(self.vehicle, [(0.0, 0.0, 0.0)], xi=self._cruise())[0]

    def _cruise(self) -> dict[str, float]:
        return self.twist(self.speed)

    def twist(self, speed: float) -> dict[str, float]:
        """The base's, where what follows the path goes straight at a speed [m/s]."""
        return dict(zip(("forward_speed", "lateral_speed", "yaw_rate"),
                        map(float, self.unicycle.twist(speed, 0.0))))

    # -- the start ---------------------------------------------------------------------------------
    def starts(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Near the path, moving along it at a fraction of the speed."""
        along, lateral, heading, share = draws
        along = along * self.path.length * (1.0 if self.path.closed else 0.5)
        px, py, tangent, _ = self.path.at(along)
        lateral = START[0] * self.length * (2 * lateral - 1)
        x, y, yaw = self.base((px - lateral * np.sin(tangent), py + lateral * np.cos(tangent),
                               tangent + START[1] * (2 * heading - 1)))
        states = self.at_rest + share[:, None] * (self._moving - self.at_rest)
        return self.placed(states, x, y, yaw), along[None]

    def base(self, pose: tuple[np.ndarray, np.ndarray, np.ndarray]) -> tuple[Any, Any, Any]:
        """x, y and yaw of the base from those of the frame that follows the path."""
        yaw = pose[2] - self.unicycle.yaw
        c, s = np.cos(yaw), np.sin(yaw)
        ahead, left = self.unicycle.offset
        return pose[0] - c * ahead + s * left, pose[1] - s * ahead - c * left, yaw

    def joined(self, x: np.ndarray) -> np.ndarray:
        symbol = ca.SX.sym("x", self.dynamics.nx)
        place = ca.Function("place", [symbol], self.tracked(symbol))
        point, cos, sin = (part.full().ravel() for part in place(x))
        return np.array([self.path.entry(point, np.arctan2(sin[0], cos[0]), self.length)])

    # -- what an agent sees ------------------------------------------------------------------------
    def tracked(self, x: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        ahead = base_rotation(x)[:2, 0]
        cos, sin = ca.vertsplit(ahead / ca.norm_2(ahead))
        forward, left = self.unicycle.offset
        point = x[:2] + ca.vertcat(cos * forward - sin * left, sin * forward + cos * left)
        c, s = np.cos(self.unicycle.yaw), np.sin(self.unicycle.yaw)
        return point, c * cos - s * sin, c * sin + s * cos

    def judged(self, seen: Seen, memory: ca.SX, patch: ca.SX, near: ca.SX) -> Judged:
        assert self.track is not None, "made by prepare"
        point, cos, sin = self.tracked(seen.x)
        s = self.track.nearest(patch, near, point, WITHIN)
        foot, tangent, _ = clothoid(patch, s)
        tx, ty = ca.cos(tangent), ca.sin(tangent)
        dx, dy = ca.vertsplit(point - foot)
        lateral = (dy * tx - dx * ty) / self.length
        sin_heading, cos_heading = sin * tx - cos * ty, cos * tx + sin * ty
        bends = [(patch[i] + patch[i + 1] * (s - patch[0])) * self.length
                 for i in range(6, patch.numel(), 2)]
        progress = (s - memory[0]) / (self.speed * self.period)
        reward = (1 - ca.fabs(progress - 1) - OFF * lateral ** 2 - TURNED * (1 - cos_heading)
                  - self.wasted(seen))
        return Judged(
            {"lateral": lateral, "sin_heading": sin_heading, "cos_heading": cos_heading,
             "curvatures": ca.vertcat(*bends), "progress": progress, "s": s,
             "lateral_error": ca.fmax(ca.fmin(lateral, 10.0), -10.0) * self.length},
            ("lateral", "sin_heading", "cos_heading", "curvatures", "normal", "joints", "speeds"),
            ca.fmax(reward, LEAST), self.lost(seen, lateral), s, ("s", "lateral_error"))

    def lost(self, seen: Seen, lateral: ca.SX) -> ca.SX:
        """Whether the episode ends."""
        ended = ca.logic_or(ca.fabs(lateral) > LOST, seen.upright < TILTED)
        for i, limit in self._limited:
            beyond = ca.logic_or(seen.x[i] < limit.lower, seen.x[i] > limit.upper)
            ended = ca.logic_or(ended, beyond)
        return ended
