"""Lanes of a task, side by side: moves them by a period and begins their episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from gymnasium.utils.seeding import np_random

from ..compile.gpu import Kernel
from ..compile.lanes import LaneState
from ..compile.status import Status
from ..errors import InputError, SimulationError
from ..simulation.batch_input import stepper
from .draws import normal
from .sight import Sight
from .starts import NOISE, Starts
from .task import BOUND, Task

DONE, UNJUDGED, UNCOMMANDED = map(int, (Status.DONE, Status.UNJUDGED, Status.UNCOMMANDED))
MOST = 2 ** 63     # of keys


def lane_keys(seeds: Iterable[int | None]) -> np.ndarray:
    """The keys of the random numbers of lanes with these seeds (N,)."""
    return np.array([np_random(seed)[0].integers(MOST) for seed in seeds], np.uint64)


class LaneRuns:
    """N lanes of a task, on fixed memory: a row for each number, a column for each lane.

    `keys` and `episodes` (N,) seed a lane's random numbers, `k` counts the periods since the start
    (N,); `observation`, `reward`, `terminated` and `truncated` are those after the last period or
    start.
    """

    def __init__(self, task: Task, count: int):
        self.task, self.count = task, count
        made = self._made = stepper(task.vehicle)
        x = np.repeat(task.at_rest[None], count, axis=0)
        state = self.state = LaneState.of(x, made.runner.width)
        self._sight, self._starts = Sight(task, state.x), Starts(task, made, count)
        self._u = np.zeros((len(task.effort), state.room))
        self._late = np.zeros((task.delay, *self._u.shape))
        assert not isinstance(made.runner, Kernel), "of the processor"
        self._run: Callable[[], None] = made.runner.bind(
            state, self._u[:, :count].T, self._sight.theta[:, :count].T, dt=task.dt,
            steps=task.substeps)
        self._effort = task.effort[:, None]
        self.keys = np.zeros(count, np.uint64)
        self.episodes, self.k = np.zeros((2, count), np.int64)
        self.observation = np.zeros((count, task.judge.nnz_out(0)), np.float32)
        self.reward = np.zeros(count)
        self.terminated, self.truncated = np.zeros((2, count), bool)

    def __repr__(self) -> str:
        return f"<LaneRuns: {self.count} of {self.task!r}>"

    @property
    def x(self) -> np.ndarray:
        """(N, nx), a view."""
        return self.state.cases

    @property
    def memory(self) -> np.ndarray:
        """(m, N), a view."""
        return self._sight.memory[:, :self.count]

    @property
    def failed(self) -> np.ndarray:
        """(N,) `Status`: 0 where the lane goes on."""
        return self.state.status[:self.count]

    def info(self) -> dict[str, np.ndarray]:
        """(N,) each: a copy."""
        rows = self._sight.info[:, :self.count].copy()
        return dict(zip(self.task.info_names, rows))

    # -- episodes ----------------------------------------------------------------------------------
    def seed(self, lanes: np.ndarray, keys: np.ndarray) -> None:
        """New sequences of random numbers."""
        self.keys[lanes], self.episodes[lanes] = keys, 0
        self._starts.forget(lanes)

    def begin(self, lanes: np.ndarray) -> None:
        """New episodes in these lanes (indices)."""
        if len(lanes):
            starts = self._starts.take(lanes, self.keys, self.episodes)
            self.episodes[lanes] += 1
            self._enter(lanes, starts)

    def place(self, lanes: np.ndarray, x: np.ndarray, memory: np.ndarray,
              theta: np.ndarray) -> None:
        """New episodes in n lanes, at states x (n, nx) with memories (m, n) and parameters (n,
        ntheta)."""
        self._enter(lanes, self._starts.place(x, memory, theta))

    def _enter(self, lanes: np.ndarray, starts: np.ndarray) -> None:
        """Writes starts (rows, n) to their lanes."""
        sight, state, begin = self._sight, self.state, 0
        for part in (state.x, state.health, state.side[None], state.status[None], sight.theta,
                     sight.memory, sight.patch, sight.info):
            part[:, lanes] = starts[begin:begin + len(part)]
            begin += len(part)
        self._late[:, :, lanes] = 0.0
        self.k[lanes], self.reward[lanes] = 0, 0.0
        self.terminated[lanes] = self.truncated[lanes] = False
        self._see(lanes, starts[begin:], self.reward[lanes])

    # -- a period ----------------------------------------------------------------------------------
    def step(self, actions: np.ndarray) -> None:
        """A period with actions (N, nu), cut at +-1; lanes that failed stand still.

        Raises
        ------
        SimulationError
            If a lane has not begun.
        InputError
            For actions of another shape.
        """
        task, n, sight = self.task, self.count, self._sight
        if not self.episodes.all():
            raise SimulationError("call reset() before step()")
        if actions.shape != (n, len(task.effort)):
            raise InputError(f"actions of {n} lanes have shape {actions.shape}, expected "
                             f"{(n, len(task.effort))}: for each lane "
                             f"{', '.join(task.vehicle.driven)}")
        action = sight.action[:, :n]
        np.maximum(actions.T, -1.0, out=action, casting="unsafe")      # `clip` takes twice as long
        np.minimum(action, 1.0, out=action)
        finite = np.isfinite(action.sum(axis=0))
        if not finite.all():
            self.failed[~finite & (self.failed == DONE)] = UNCOMMANDED
        effect = sight.action
        if task.delay:
            effect = self._late[0].copy()
            self._late[:-1] = self._late[1:]
            self._late[-1] = sight.action
        np.multiply(effect, self._effort, out=self._u)
        self._run()
        sight.look()
        self.k += 1
        self.reward[...] = self._see(slice(None), sight.observation[:, :n], sight.verdict[0, :n])
        np.logical_or(sight.verdict[1, :n], self.failed != DONE, out=self.terminated)
        np.greater_equal(self.k, task.periods, out=self.truncated)

    def _see(self, lanes: np.ndarray | slice, seen: np.ndarray, reward: np.ndarray) -> np.ndarray:
        """Writes the observations (size, n) of lanes, and returns their rewards (n,). Lanes where
        either is not finite have failed; they get zeros."""
        finite = np.isfinite(seen.sum(axis=0) + reward)
        if not finite.all():
            status = self.failed[lanes]
            self.failed[lanes] = np.where(finite | (status != DONE), status, UNJUDGED)
            seen = np.where(np.isfinite(seen), seen, 0.0)
            reward = np.where(np.isfinite(reward), reward, 0.0)
        noise = self.task.noise
        if noise is not None:
            at = self.episodes[lanes] + (self.k[lanes] << 32)
            seen = seen + (noise * normal(self.keys[lanes], at, len(seen), NOISE).T).T
            seen = np.clip(seen, -BOUND, BOUND)
        self.observation[lanes] = seen.T
        return reward
