"""The vector environment of Stable-Baselines3."""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from .lane_runs import LaneRuns, lane_keys
from .task import Task


class BaselinesLanes(VecEnv):
    """N lanes of a task, as `stable_baselines` returns them."""

    def __init__(self, task: Task, num_envs: int, seed: int):
        self.render_mode = None
        super().__init__(num_envs, task.observation_space, task.action_space)
        self.task, self._lanes = task, LaneRuns(task, num_envs)
        self._actions = np.zeros((num_envs, len(task.effort)))
        self.seed(seed)

    def seed(self, seed: int | None = None) -> list[int | None]:
        seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
        self._lanes.seed(np.arange(self.num_envs), lane_keys(seeds))
        return seeds

    def reset(self) -> np.ndarray:
        self._lanes.begin(np.arange(self.num_envs))
        return self._lanes.observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict]]:
        lanes = self._lanes
        lanes.step(self._actions)
        reward, done = lanes.reward.astype(np.float32), lanes.terminated | lanes.truncated
        infos: list[dict] = [{} for _ in range(self.num_envs)]
        over = np.flatnonzero(done)
        for i in over:
            cut = bool(lanes.truncated[i] and not lanes.terminated[i])
            infos[i] = {"terminal_observation": lanes.observation[i].copy(),
                        "TimeLimit.truncated": cut}
        lanes.begin(over)
        return lanes.observation.copy(), reward, done, infos

    def close(self) -> None:
        """Does nothing: no resource is open."""

    # all lanes share what there is to know of them
    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None,
                   **kwargs: Any) -> list[Any]:
        found = getattr(self, method_name)(*args, **kwargs)
        return [found for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]
