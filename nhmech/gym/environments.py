"""The tasks as environments of Gymnasium: one vehicle, or many lanes in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..checks import read_count, read_vector
from ..compile.status import Status
from ..errors import InputError
from .balance import BalanceTask
from .goal import GoalTask
from .lane_runs import MOST, LaneRuns, lane_keys
from .path_following import PathTask
from .picture import Screen, screen
from .task import Task
from .trailer import TrailerTask

RENDER_MODES = ["human", "rgb_array"]


class TaskEnv(gymnasium.Env):
    """A task with one vehicle.

    Gymnasium knows those of this package by name::

        import nhmech.gym
        env = gymnasium.make("nhmech/PathFollowing-v0", vehicle="differential_drive")

    info has the task's values (`Task.info_names`), and "reason" if the simulator stopped.

    Parameters
    ----------
    task
        What is to be done.
    render_mode
        "rgb_array": `render` draws the vehicle from above, (480, 480, 3); "human": each step is
        shown in the live view (`Viewer`), at the address that is printed.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 20}

    def __init__(self, task: Task, render_mode: str | None = None):
        self.task, self.render_mode = task, render_mode
        self.observation_space, self.action_space = task.observation_space, task.action_space
        self.metadata = self.metadata | {"render_fps": round(1 / task.period)}
        self._lanes, self._is_seeded = LaneRuns(task, 1), False
        self._screen: Screen = screen(task, render_mode)

    @property
    def x(self) -> np.ndarray:
        """The state (nx,), a copy."""
        return self._lanes.x[0].copy()

    @property
    def configuration(self) -> np.ndarray:
        """q (nq,)."""
        return self.task.configuration(self._lanes.x[0])

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None or not self._is_seeded:
            self._lanes.seed(np.zeros(1, int), self.np_random.integers(MOST, size=1))
            self._is_seeded = True
        self._lanes.begin(np.zeros(1, int))
        self._screen.begin(self)
        return self._lanes.observation[0].copy(), self._info()

    def begin_at(self, x: np.ndarray) -> np.ndarray:
        """Begins an episode at a given state x (nx,), and returns the observation."""
        self.reset()
        lane, theta = np.zeros(1, int), self.task.dynamics.theta
        x = read_vector("x", x, self.task.dynamics.names)
        self._lanes.place(lane, x[None], self.task.joined(x)[:, None], theta[None])
        self._screen.begin(self)
        return self._lanes.observation[0].copy()

    def step(self,
             action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        lanes = self._lanes
        lanes.step(np.asarray(action)[None])
        self._screen.show(self)
        return (lanes.observation[0].copy(), lanes.reward.item(), lanes.terminated.item(),
                lanes.truncated.item(), self._info())

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {name: row.item() for name, row in self._lanes.info().items()}
        status = self._lanes.failed.item()
        if status:
            info["reason"] = Status(status).sentence
        return info

    def render(self) -> Any:
        return self._screen.picture(self.configuration)

    def close(self) -> None:
        self._screen.close()


class TaskVectorEnv(gymnasium.vector.VectorEnv):
    """N lanes of a task, moved by one call of compiled code.

    Lane i of a reset with `seed` is a `TaskEnv` reset with seed + i.

    Parameters
    ----------
    num_envs
        N.
    task
        What is to be done.
    autoreset_mode
        As in Gymnasium: NEXT_STEP (the step after an episode's end resets the lane), SAME_STEP (the
        end's observation and info are in info["final_obs"], info["final_info"]) or DISABLED
        (`reset(options={"reset_mask": mask})` resets the lanes).
    render_mode
        "rgb_array": `render` has a picture of each lane.
    """

    def __init__(self, num_envs: int, task: Task, render_mode: str | None = None,
                 autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP):
        if render_mode not in (None, "rgb_array"):
            raise InputError(f"render_mode = {render_mode!r} of many lanes must be \"rgb_array\" "
                             "or None; one vehicle has \"human\" too")
        self.task, self.render_mode = task, render_mode
        self.num_envs = num_envs = read_count("num_envs", num_envs)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": round(1 / task.period),
                         "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = task.observation_space
        self.single_action_space = task.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._lanes = LaneRuns(task, num_envs)
        self._seeded, self._done = np.zeros((2, num_envs), bool)
        self._everywhere = np.ones(num_envs, bool)
        self._everywhere.setflags(write=False)
        self._screens = [screen(task, render_mode) for _ in range(num_envs if render_mode else 0)]

    @property
    def x(self) -> np.ndarray:
        """States (N, nx), a copy."""
        return self._lanes.x.copy()

    def reset(self, *, seed: int | Sequence[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        seeds: Sequence[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + i for i in range(self.num_envs)]
            super().reset(seed=int(seed))
        else:
            seeds = seed
        mask = np.asarray((options or {}).get("reset_mask", self._everywhere), dtype=bool)
        for name, given in (("seed", np.array(seeds, object)), ("reset_mask", mask)):
            if given.shape != (self.num_envs,):
                raise InputError(f"{name} has shape {given.shape}, expected "
                                 f"({self.num_envs},): one for each lane")
        lanes = np.flatnonzero(mask)
        new = [i for i in map(int, lanes) if seeds[i] is not None or not self._seeded[i]]
        self._lanes.seed(np.array(new, int), lane_keys([seeds[i] for i in new]))
        self._seeded[new] = True
        self._lanes.begin(lanes)
        self._done[lanes] = False
        return self._lanes.observation.copy(), self._info(mask)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray,
                                                 dict[str, Any]]:
        lanes = self._lanes
        lanes.step(np.asarray(actions))
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            # instead of the step that they have just made
            lanes.begin(np.flatnonzero(self._done))
        reward, ended, cut = lanes.reward.copy(), lanes.terminated.copy(), lanes.truncated.copy()
        self._done = ended | cut
        info = self._info(self._everywhere)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._done.any():
            over, final = self._done, np.full(self.num_envs, None, dtype=object)
            at = np.flatnonzero(over)
            final[at] = list(lanes.observation[at])
            lanes.begin(at)
            info = self._info(self._everywhere) | {"final_obs": final, "_final_obs": over.copy(),
                                                   "final_info": info, "_final_info": over.copy()}
        return lanes.observation.copy(), reward, ended, cut, info

    def _info(self, mask: np.ndarray) -> dict[str, Any]:
        info: dict[str, Any] = self._lanes.info()
        info |= {f"_{name}": mask for name in info}
        failed = self._lanes.failed != Status.DONE
        if failed.any():
            reasons = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(failed):
                reasons[i] = Status(int(self._lanes.failed[i])).sentence
            info |= {"reason": reasons, "_reason": failed}
        return info

    def render(self) -> tuple[Any, ...]:
        return tuple(each.picture(self.task.configuration(x))
                     for each, x in zip(self._screens, self._lanes.x))


class _EnvOf(TaskEnv):
    """The environment of one vehicle with the task of a class."""

    kind: type[Task]

    def __init__(self, *given: Any, render_mode: str | None = None, **task: Any):
        super().__init__(self.kind(*given, **task), render_mode)


class _VectorOf(TaskVectorEnv):
    """The environment of N lanes with the task of a class."""

    kind: type[Task]

    def __init__(self, num_envs: int, *given: Any, render_mode: str | None = None,
                 autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP, **task: Any):
        super().__init__(num_envs, self.kind(*given, **task), render_mode, autoreset_mode)


class PathFollowingEnv(_EnvOf):
    """Following a path with one vehicle: arguments of `PathTask`, and `render_mode`."""

    kind = PathTask


class GoalReachingEnv(_EnvOf):
    """Driving to a pose with one vehicle: arguments of `GoalTask`, and `render_mode`."""

    kind = GoalTask


class BalancingEnv(_EnvOf):
    """Balancing one vehicle: arguments of `BalanceTask`, and `render_mode`."""

    kind = BalanceTask


class TrailerBackingEnv(_EnvOf):
    """Backing one car with trailers: arguments of `TrailerTask`, and `render_mode`."""

    kind = TrailerTask


class PathFollowingVectorEnv(_VectorOf):
    """`num_envs` lanes of `PathFollowingEnv`: `TaskVectorEnv` with the arguments of `PathTask`."""

    kind = PathTask


class GoalReachingVectorEnv(_VectorOf):
    """`num_envs` lanes of `GoalReachingEnv`: `TaskVectorEnv` with the arguments of `GoalTask`."""

    kind = GoalTask


class BalancingVectorEnv(_VectorOf):
    """`num_envs` lanes of `BalancingEnv`: `TaskVectorEnv` with the arguments of `BalanceTask`."""

    kind = BalanceTask


class TrailerBackingVectorEnv(_VectorOf):
    """`num_envs` lanes of `TrailerBackingEnv`: `TaskVectorEnv` with arguments of `TrailerTask`."""

    kind = TrailerTask
