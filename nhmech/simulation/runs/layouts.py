"""Layouts: indices of names in the numbers of a state, and in a recorded row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from ...once import cached_property
from ..atlas import Chart
from ..moment import CLOCK, EXTRA
from ..simulated import Simulated
from ..state import LinkSensors, StateLayout


def state_layout(simulated: Simulated, chart: Chart, sensors: LinkSensors) -> StateLayout:
    """Layout of a state, whose numbers begin with (q, v, x, u). `chart`: the first one of the run;
    the names are the same in later charts."""
    system, vector = simulated.constrained.system, chart.state_vector
    nq, nv, positions = system.algebroid.nq, system.algebroid.nv, vector.names(())
    v = {name: nq + i for i, name in enumerate(system.algebroid.v_names)}
    x = {name: nq + nv + i for i, name in enumerate(positions)}
    joints = positions if simulated.vehicle is None else simulated.joint_names
    u = nq + nv + vector.nx
    return StateLayout(
        nq=nq,
        nv=nv,
        u=slice(u, u + system.u.numel()),
        xi={name: nq + i for name, i in zip(chart.equations.names, chart.speeds)},
        v=v,
        angles={positions[i]: nq + nv + i for i in vector.angle_slots()},
        joint_position={name: x[name] for name in joints},
        joint_velocity={name: v[name] for name in simulated.joint_names},
        encoder_angle={name: x[name] for name in simulated.encoder_names},
        encoder_rate={name: v[name] for name in simulated.encoder_names},
        slots=tuple(vector.slots),
        has_base=simulated.vehicle is not None,
        has_pose=simulated.has_pose,
        sensors=sensors,
    )


@dataclass(frozen=True, eq=False)
class RowLayout:
    """Layout of a recorded row (t, q, v, u, angles), with a commanded twist and contact data, if
    any, before the angles; the same for all runs of a simulator.
    """

    parts: dict[str, slice]  # name of a part -> its place in a row, in order
    places: np.ndarray  # indices of a row's numbers in the block of a `Moment`
    speeds: np.ndarray  # indices of the independent speeds in v
    names: dict[str, tuple[str, ...]]  # names of the columns, as in `Trajectory.names`

    @classmethod
    def of(cls, chart: Chart, beside: Mapping[str, tuple[str, ...]]) -> RowLayout:
        """The layout of a run that begins in this chart; `beside`: names of the numbers stored
        beside u."""
        system, slots = chart.equations.constrained.system, chart.state_vector.angle_slots()
        algebroid, positions = system.algebroid, chart.state_vector.names(())
        names = {"q": algebroid.q_names, "v": algebroid.v_names, "xi": chart.equations.names,
                 "u": system.u_names, "angles": tuple(positions[i] for i in slots), **beside}
        sizes = {"t": 1, "q": algebroid.nq, "v": algebroid.nv, "u": system.u.numel(),
                 **{part: len(columns) for part, columns in beside.items()}, "angles": len(slots)}
        parts = {part: slice(end - size, end)
                 for (part, size), end in zip(sizes.items(), accumulate(sizes.values()))}
        nqv, held = algebroid.nq + algebroid.nv, sizes["u"] + sum(map(len, beside.values()))
        u = nqv + chart.state_vector.nx
        places = [CLOCK, *range(nqv), *range(u, u + held), *(nqv + slot for slot in slots)]
        return cls(
            parts=parts,
            # CLOCK counts from the end of the block, this index from its beginning
            places=np.arange(u + held + EXTRA)[places],
            speeds=np.array(chart.speeds, dtype=np.intp),
            names=names,
        )

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Number of values of each part."""
        return tuple(part.stop - part.start for part in self.parts.values())

    @cached_property
    def width(self) -> int:
        """Number of values in a row."""
        return sum(self.widths)

    def split(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """t (N,), q, v, xi, u, angles and the optional parts of rows (N, width), as views where
        possible."""
        found = {}
        for name, part in self.parts.items():
            found[name] = rows[:, part]
        found["t"] = rows[:, 0]
        found["xi"] = found["v"][:, self._which]
        return found

    @cached_property
    def _which(self) -> slice | np.ndarray:
        """Indices of the independent speeds in v, as a slice if they are adjacent."""
        if len(self.speeds) and (np.diff(self.speeds) == 1).all():
            return slice(int(self.speeds[0]), int(self.speeds[-1]) + 1)
        return self.speeds
