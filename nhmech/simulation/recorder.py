"""Collects a run's states into arrays."""

from __future__ import annotations

import numpy as np

from .trajectory import Trajectory


class Recorder:
    """Rows of (t, q, v, u, angles) of a simulator, as many as turn out to be needed."""

    def __init__(self, simulator, capacity: int):
        chart = simulator.primary
        algebroid = chart.flat.algebroid
        self.simulator = simulator
        self.slots = list(chart.flat.angle_slots())
        self.widths = (1, algebroid.nq, algebroid.nv, simulator.subject.constrained.system.u.numel(), len(self.slots))
        self.rows = np.empty((max(capacity, 4), sum(self.widths)))
        self._address = self.rows.ctypes.data
        self.n = 0
        self.events: list[tuple[float, str]] = []

    def add(self) -> None:
        """Records the present state; a moment that is there already is written over."""
        s = self.simulator
        if self.n and self.rows[self.n - 1, 0] == s.t:
            self.n -= 1
        self.room(1)
        self.rows[self.n] = np.concatenate([[s.t], s._q, s._v, s._u, s._x[self.slots]])
        self.n += 1

    def room(self, rows: int) -> int:
        """Address of memory for so many further rows; `n` is raised by whoever fills them."""
        while self.n + rows > len(self.rows):
            self.rows = np.concatenate([self.rows, np.empty_like(self.rows)])
            self._address = self.rows.ctypes.data
        return self._address + self.n * self.rows.strides[0]

    def trajectory(self, stop: str) -> Trajectory:
        """The immutable record."""
        s = self.simulator
        chart, system = s.primary, s.subject.constrained.system
        algebroid = chart.flat.algebroid
        t, q, v, u, angles = (np.ascontiguousarray(part) for part in np.split(self.rows[:self.n], np.cumsum(self.widths)[:-1], axis=1))
        all_names = chart.flat.names(())
        names = {"q": algebroid.q_names, "v": algebroid.v_names, "xi": chart.equations.names, "u": system.u_names,
                 "angles": tuple(all_names[i] for i in self.slots)}
        return Trajectory(t[:, 0].copy(), q, v, v[:, chart.speeds].copy(), u, angles, stop, names, tuple(sorted(self.events)), s.subject.source,
                          s.subject, s.kinematic)
