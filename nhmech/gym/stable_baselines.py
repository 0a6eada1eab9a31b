"""Lanes for Stable-Baselines3."""

from __future__ import annotations

from typing import Any

from .task import Task


def stable_baselines(task: Task, num_envs: int, seed: int = 0) -> Any:
    """N lanes of a task as a `VecEnv` of Stable-Baselines3, which must be installed.

    Lanes begin anew in the step that ends an episode; its last observation is in the lane's info as
    "terminal_observation", and "TimeLimit.truncated" says whether time ended it. While an episode
    goes on its info is empty.

    Parameters
    ----------
    task
        What is to be done.
    num_envs
        N.
    seed
        Lane i draws as one of `TaskVectorEnv` that is reset with it.

    Raises
    ------
    ImportError
        Where Stable-Baselines3 is not installed.
    """
    from .baselines_lanes import BaselinesLanes

    return BaselinesLanes(task, num_envs, seed)
