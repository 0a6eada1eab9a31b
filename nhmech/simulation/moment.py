"""The present moment of a run, in memory that compiled code knows."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from ..compile.loop import Loop, Setup
from .chart import Chart
from .command import NAMES
from .sensors import Sensors
from .simulated import Simulated
from .state import StateLayout
from .state_vector import StateVector

CLOCK = -3      # where t stands in the block, followed by k and t0
EXTRA = 6       # numbers after q, v, x, u, twist


class Moment:
    """q, v, x, u, twist, health and the clock (t, k, t0), side by side in one block: a copy of all
    is one copy, and all change in one stroke, so that Ctrl-C finds the moment before a step or the
    one after.

    `q`, `v`, `x`, `u` (together `parts`), `twist`, `health`, `clock` are views. twist is what was
    commanded with u, and empty where nothing is (ntwist = 0); health is (|phi| before the last
    projection, the frame's margin, the least guard); t = t0 + k dt [s].
    """

    def __init__(self, nq: int, nv: int, nx: int, nu: int, ntwist: int = 0):
        sizes = nq, nv, nx, nu, ntwist, 3, 3
        ends = [sum(sizes[:i + 1]) for i in range(len(sizes))]
        self.block = np.zeros(ends[-1])
        views = (self.block[end - size:end] for size, end in zip(sizes, ends))
        *self.parts, self.twist, self.health, self.clock = views
        self.q, self.v, self.x, self.u = self.parts
        self._held = self.block[ends[2]:ends[4]]

    def take(self, x: np.ndarray, q: np.ndarray, v: np.ndarray, health: np.ndarray,
             clock: Sequence[float]) -> None:
        """Another state and time; u and twist stay."""
        self.block[...] = np.concatenate((q, v, x, self._held, health, clock))


class CompiledSteps:
    """Steps of a moment through a compiled loop; `one(pointer)` is one of them.

    Parameters
    ----------
    constants
        dt, side, poor, flat, loose of `Setup`.
    angles
        Where the unwrapped angles stand in x, for the record.
    """

    def __init__(self, loop: Loop, moment: Moment, constants: tuple[float, ...], theta: np.ndarray,
                 angles: tuple[int, ...]):
        places, work = np.array(angles, dtype=np.int64), np.zeros(loop.work)
        known = (
            theta,
            moment.q,
            moment.v,
            moment.x,
            moment.u,
            moment.health,
            moment.clock,
            work,
            places,
        )
        # what C has the addresses of lives as long as this
        self._kept = known
        self.setup = Setup(*constants, *(array.ctypes.data for array in known))
        self.setup.beside = moment.twist.size
        self.pointer = ctypes.byref(self.setup)
        self.loop, self.one, self.many = loop, loop.one, loop.many

    def run(self, steps: int, every: int = 1, phase: int = 0, record: int | None = None) -> int:
        """Up to so many steps with u held; returns a status. See `Setup`."""
        setup = self.setup
        setup.steps, setup.every, setup.phase, setup.record = steps, every, phase, record
        return self.many(self.pointer)


@dataclass(frozen=True, eq=False)
class RowLayout:
    """Of a row (t, q, v, u, angles), or (t, q, v, u, commanded_twist, angles) of a controller that
    commands one; the same for all runs of a simulator.

    Attributes
    ----------
    widths
        Of the parts, in their order; `parts` has them by name.
    places
        Where all of it stands in the block of a `Moment`.
    speeds
        Which of v are independent.
    names
        As in `Trajectory.names`.
    """

    widths: tuple[int, ...]
    parts: dict[str, slice]
    places: np.ndarray
    speeds: np.ndarray
    names: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, chart: Chart, twist: bool = False) -> RowLayout:
        system, slots = chart.equations.frame.constrained.system, chart.state_vector.angle_slots()
        algebroid, positions = system.algebroid, chart.state_vector.names(())
        beside = {"commanded_twist": NAMES} if twist else {}
        sizes = {"t": 1, "q": algebroid.nq, "v": algebroid.nv, "u": system.u.numel(),
                 **{part: len(told) for part, told in beside.items()}, "angles": len(slots)}
        parts = {name: slice(end - width, end) for (name, width),
                 end in zip(sizes.items(), accumulate(sizes.values()))}
        names = {"q": algebroid.q_names, "v": algebroid.v_names, "xi": chart.equations.names,
                 "u": system.u_names, "angles": tuple(positions[i] for i in slots), **beside}
        nqv, nx, held = (
            algebroid.nq + algebroid.nv, chart.state_vector.nx,
            sizes["u"] + sizes.get("commanded_twist", 0),
        )
        places = [CLOCK, *range(nqv), *range(nqv + nx, nqv + nx + held),
                  *(nqv + slot for slot in slots)]
        places = np.arange(nqv + nx + held + EXTRA)[places]
        return cls(tuple(sizes.values()), parts, places, np.array(chart.speeds, dtype=np.intp),
                   names)

    def part(self, rows: np.ndarray, name: str) -> np.ndarray:
        """t, q, v, xi, u, angles or commanded_twist of rows."""
        if name == "xi":
            return self.part(rows, "v").take(self.speeds, axis=1)
        return rows[:, 0].copy() if name == "t" else rows[:, self.parts[name]]


def state_layout(simulated: Simulated, vector: StateVector, xi_names: tuple[str, ...], speeds: list[int],
           sensors: Sensors) -> StateLayout:
    """Of numbers that begin with (q, v, x, u).

    Parameters
    ----------
    vector, xi_names, speeds
        Of the run's first chart; later charts are read through the same names.
    sensors
        What the links measure.
    """
    algebroid = vector.algebroid
    nq, nv, positions = algebroid.nq, algebroid.nv, vector.names(())
    v = {name: nq + i for i, name in enumerate(algebroid.v_names)}
    x = {name: nq + nv + i for i, name in enumerate(positions)}
    joints = simulated.joint_names if simulated.vehicle is not None else positions
    measured = simulated.encoder_names
    inputs = slice(nq + nv + vector.nx, nq + nv + vector.nx + simulated.constrained.system.u.numel())
    return StateLayout(nq, nv, inputs, {name: nq + i for name, i in zip(xi_names, speeds)}, v,
                  {positions[i]: nq + nv + i for i in vector.angle_slots()},
                  {name: x[name] for name in joints},
                  {name: v[name] for name in simulated.joint_names},
                  {name: x[name] for name in measured}, {name: v[name] for name in measured},
                  tuple(vector.slots), sensors)
