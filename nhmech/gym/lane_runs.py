"""Lanes of a task, side by side: what moves them by a period and begins their episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from gymnasium.utils.seeding import np_random

from ..compile.columns import compile_columns
from ..compile.gpu import Kernel
from ..compile.lanes import LaneState
from ..compile.pointwise import Pointwise
from ..compile.status import Status
from ..simulation.batch_input import start_cases, stepper
from ..simulation.integration.integrators import projection_function
from .draws import normal, uniform
from .task import BOUND, Task

DONE, UNJUDGED = int(Status.DONE), int(Status.UNJUDGED)
MOST = 2 ** 63     # of keys
FEW = 8          # packs of lanes that begin an episode in one call
NEWTON = 3       # steps onto the constraints of a start with other parameters
# streams of random numbers: where an episode starts, its parameters, and from there on its noise
START, PARAMETERS, NOISE = 0, 1, 2


def lane_keys(seeds: Iterable[int | None]) -> np.ndarray:
    """What decides the random numbers of lanes with these seeds (N,)."""
    return np.array([np_random(seed)[0].integers(MOST) for seed in seeds], np.uint64)


class _Sight:
    """What is seen and judged of some lanes, whose numbers stand in the columns of x, theta,
    memory and action."""

    def __init__(self, task: Task, x: np.ndarray):
        self._track, room = task.track, x.shape[1]
        self.x, self.theta = x, np.repeat(task.dynamics.theta[:, None], room, axis=1)
        self.memory = np.zeros((len(task.memory), room))
        self.action = np.zeros((len(task.effort), room))
        self._patch = np.zeros((0 if self._track is None else len(self._track.rows), room))
        looked = [x, self.theta, self.memory, self._patch]
        approach = task.approach
        self._approach = None if approach is None else compile_columns(approach, looked)
        near = np.zeros((0, room)) if self._approach is None else self._approach.outputs[0]
        self._judge = compile_columns(task.judge, [*looked, near, self.action])
        self.observation, self.verdict, self._after, self.told = self._judge.outputs

    def look(self) -> None:
        """Judges what happened since the memory was written, and writes it anew."""
        if self._approach is not None and self._track is not None:
            self._track.look(self.memory[0], self._patch)
            self._approach.run()
            self._track.look(self._approach.outputs[0][0], self._patch)
        self._judge.run()
        self.memory[...] = self._after


class LaneRuns:
    """N lanes of a task, on fixed memory: a row for each number, a column for each lane.

    Attributes
    ----------
    keys, episodes
        What decides a lane's random numbers (N,).
    k
        Periods since the start (N,).
    observation, reward, terminated, truncated
        After the latest period or start.
    """

    def __init__(self, task: Task, count: int):
        self.task, self.count = task, count
        made = self._made = stepper(task.vehicle)
        x = np.repeat(task.at_rest[None], count, axis=0)
        state = self.state = LaneState.of(x, made.runner.width)
        self._sight = _Sight(task, state.x)
        # for lanes that begin: few of them as a rule
        few = min(state.room, FEW * made.runner.width)
        self._entry = _Sight(task, np.repeat(task.at_rest[:, None], few, axis=1))
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

    def told(self) -> dict[str, np.ndarray]:
        """(N,) each: a copy."""
        rows = self._sight.told[:, :self.count].copy()
        return dict(zip(self.task.told, rows))

    # -- episodes ----------------------------------------------------------------------------------
    def seed(self, lanes: np.ndarray, keys: np.ndarray) -> None:
        """New sequences of random numbers."""
        self.keys[lanes], self.episodes[lanes] = keys, 0

    def begin(self, lanes: np.ndarray) -> None:
        """New episodes in these lanes (indices)."""
        few = self._entry.x.shape[1]
        for first in range(0, len(lanes), few):
            part, task = lanes[first:first + few], self.task
            self.episodes[part] += 1
            key = self.keys[part], self.episodes[part]
            x, memory = task.starts(uniform(*key, task.DRAWS, START))
            theta = task.parameters(uniform(*key, len(task.ranges), PARAMETERS))
            self.place(part, self._settled(x, theta), memory, theta)

    def place(self, lanes: np.ndarray, x: np.ndarray, memory: np.ndarray,
              theta: np.ndarray) -> None:
        """New episodes in so many lanes, at states x (n, nx) with memories (m, n) and parameters
        (n, ntheta)."""
        n, state, entry = len(lanes), self.state, self._entry
        at = start_cases(self._made, x, theta)
        entry.x[:, :n], entry.theta[:, :n], entry.memory[:, :n] = at.x[:, :n], theta.T, memory
        entry.look()
        state.x[:, lanes], state.health[:, lanes] = at.x[:, :n], at.health[:, :n]
        state.side[lanes], state.status[lanes] = at.side[:n], at.status[:n]
        for name in ("theta", "memory", "told"):
            getattr(self._sight, name)[:, lanes] = getattr(entry, name)[:, :n]
        self._late[:, :, lanes] = 0.0
        self.k[lanes], self.reward[lanes] = 0, 0.0
        self.terminated[lanes] = self.truncated[lanes] = False
        self._see(lanes, entry.observation[:, :n], self.reward[lanes])

    def _settled(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """On the ground, where the parameters are not those of the file."""
        if theta.shape[1]:
            project = Pointwise(projection_function(self._made.equations))
            for _ in range(NEWTON):
                x = project(np.zeros((len(x), 1)), x, theta)[0]
        return x

    # -- a period ----------------------------------------------------------------------------------
    def step(self, actions: np.ndarray) -> None:
        """A period with actions (N, nu), cut at +-1; lanes that failed stand still."""
        task, n, sight = self.task, self.count, self._sight
        np.clip(actions.T, -1.0, 1.0, out=sight.action[:, :n], casting="unsafe")
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
        """Writes what is observed (size, n) of lanes, and returns their rewards (n,). Lanes where
        either is not finite have failed; zeros stand for it."""
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
