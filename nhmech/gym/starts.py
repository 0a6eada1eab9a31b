"""The starts of episodes of lanes."""

from __future__ import annotations

import numpy as np

from ..compile.pointwise import Pointwise
from ..simulation.batch_input import Stepper, start_cases
from ..simulation.integration.integrators import projection_function
from .draws import uniform
from .sight import Sight
from .task import Task

MANY = 32        # packs of lanes whose starts are worked out in one call
DEPTH, LOW = 16, 8      # starts of a lane that are kept, and from how few on they are made anew
NEWTON = 3       # steps onto the constraints of a start with other parameters
# streams of random numbers: where an episode starts, its parameters, and from there on its noise
START, PARAMETERS, NOISE = 0, 1, 2


class Starts:
    """Starts of the next episodes of each lane, made many at a time: a start depends only on the
    key of its lane and the number of the episode.

    A start is a column: x, health, side, status, theta, memory, patch, info and observation.
    """

    def __init__(self, task: Task, made: Stepper, count: int):
        self._task, self._made = task, made
        room = min(-(-count // made.runner.width), MANY) * made.runner.width
        self._entry = Sight(task, np.repeat(task.at_rest[:, None], room, axis=1))
        # those of a lane that are not used yet: from `next` to `end`
        self._next, self._end = np.zeros((2, count), np.int64)
        self._stock = np.zeros((0, DEPTH, count))

    def __repr__(self) -> str:
        return f"<Starts of {len(self._next)} lanes of {self._task!r}>"

    def forget(self, lanes: np.ndarray) -> None:
        """Drops the starts that were made for other keys of these lanes."""
        self._next[lanes] = self._end[lanes] = 0

    def take(self, lanes: np.ndarray, keys: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """The next starts of lanes (rows, n), given the number of episodes of each so far."""
        left = self._end - self._next
        if not left[lanes].all():
            # the first of a sequence by itself, for it may be the only one
            if not episodes[lanes].all():
                self._make(lanes, 1, keys, episodes)
            else:
                self._make(np.flatnonzero(left <= LOW), DEPTH, keys, episodes)
        slots = self._next[lanes]
        self._next[lanes] += 1
        return self._stock[:, slots, lanes]

    def _make(self, lanes: np.ndarray, depth: int, keys: np.ndarray,
              episodes: np.ndarray) -> None:
        """The next starts of each of these lanes."""
        whose, slots = np.repeat(lanes, depth), np.tile(np.arange(depth), len(lanes))
        each = self._entry.x.shape[1]
        for first in range(0, len(whose), each):
            lane, slot = whose[first:first + each], slots[first:first + each]
            key, task = (keys[lane], episodes[lane] + 1 + slot), self._task
            x, memory = task.starts(uniform(*key, task.DRAWS, START))
            theta = task.parameters(uniform(*key, len(task.ranges), PARAMETERS))
            found = self.place(self._settled(x, theta), memory, theta)
            if len(found) != len(self._stock):
                self._stock = np.zeros((len(found), *self._stock.shape[1:]))
            self._stock[:, slot, lane] = found
        self._next[lanes], self._end[lanes] = 0, depth

    def place(self, x: np.ndarray, memory: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Starts (rows, n) at states x (n, nx) with memories (m, n) and parameters (n, ntheta)."""
        n, entry, at = len(x), self._entry, start_cases(self._made, x, theta)
        entry.x[:, :n], entry.theta[:, :n], entry.memory[:, :n] = at.x[:, :n], theta.T, memory
        entry.enter()
        return np.vstack([part[..., :n] for part in (
            at.x, at.health, at.side, at.status, entry.theta, entry.memory, entry.patch,
            entry.info, entry.observation)])

    def _settled(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """The start moved onto the ground, if parameters differ from those of the file."""
        if theta.shape[1]:
            project = Pointwise(projection_function(self._made.equations))
            for _ in range(NEWTON):
                x = project(np.zeros((len(x), 1)), x, theta)[0]
        return x
