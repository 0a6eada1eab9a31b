"""Observations and rewards of lanes, by one call of compiled code."""

from __future__ import annotations

import numpy as np

from ..compile.lane_function import compile_lane_function
from .task import Task


class Sight:
    """Observes and judges some lanes, whose numbers are the columns of x, theta, memory, patch and
    action."""

    def __init__(self, task: Task, x: np.ndarray):
        self._track, room = task.track, x.shape[1]
        self.x, self.theta = x, np.repeat(task.dynamics.theta[:, None], room, axis=1)
        self.memory = np.zeros((len(task.memory), room))
        self.action = np.zeros((len(task.effort), room))
        self.patch = np.zeros((0 if self._track is None else len(self._track.rows), room))
        looked = [x, self.theta, self.memory, self.patch]
        approach = task.approach
        self._approach = None if approach is None else compile_lane_function(approach, looked)
        near = np.zeros((0, room)) if self._approach is None else self._approach.outputs[0]
        self._judge = compile_lane_function(task.judge, [*looked, near, self.action])
        self.observation, self.verdict, self._after, self.info = self._judge.outputs

    def enter(self) -> None:
        """Begins episodes with the present memory, without a patch."""
        if self._track is not None:
            self._track.look(self.memory[0], self.patch)
        self.look()

    def look(self) -> None:
        """Judges the period since the memory was written, and writes the memory."""
        if self._approach is not None and self._track is not None:
            self._approach.run()
            self._track.look(self._approach.outputs[0][0], self.patch)
        self._judge.run()
        self.memory[...] = self._after
