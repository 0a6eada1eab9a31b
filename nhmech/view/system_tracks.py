"""Where the bodies of a textbook system went, seen from above."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..simulation.simulated import Simulated
from ..simulation.trajectory import Trajectory
from ..systems import load_system
from .drawing import COLOURS, GREY, Plot, axes_of, legend, plot_style, spread_states

STATES = 800  # points of a track at most


def tracks(simulated: Simulated, trajectory: Trajectory, axes: Any = None) -> Plot | None:
    """(figure, axes) with the tracks of the shapes that leave one [m]; None for a system without
    any."""
    if simulated.example is None:
        return None
    shapes = [shape for shape in load_system(simulated.example).shapes if shape.trail]
    if not shapes:
        return None
    points = np.array([[np.asarray(shape.pose(trajectory.q[i]))[:2, 3] for shape in shapes]
                       for i in spread_states(trajectory, STATES)])
    with plot_style():
        figure, axes = axes_of(axes)
        for k in range(len(shapes)):
            label = f"body {k + 1}" if len(shapes) > 1 else None
            axes.plot(points[:, k, 0], points[:, k, 1], color=COLOURS[k % len(COLOURS)], lw=0.9,
                      label=label)
        axes.plot(*points[0].T, "o", color=GREY, ms=3)
        axes.set(xlabel="x [m]", ylabel="y [m]")
        axes.set_aspect("equal", adjustable="datalim")
        legend(axes)
        return figure, axes
