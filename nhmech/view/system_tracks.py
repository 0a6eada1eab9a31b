"""Where the bodies of a textbook system went, seen from above."""

from __future__ import annotations

import numpy as np

from ..simulation.simulated import Simulated
from ..simulation.trajectory import Trajectory
from ..systems import load_system
from .drawing import COLOURS, GREY, axes_of, drawing, legend, moments

MOMENTS = 800


def tracks(simulated: Simulated, trajectory: Trajectory, axes=None):
    """(figure, axes) with the tracks of the shapes that leave one [m]; None for a system without
    any."""
    shapes = (
        []
        if simulated.example is None
        else [shape for shape in load_system(simulated.example).shapes if shape.trail]
    )
    if not shapes:
        return None
    some = moments(trajectory, MOMENTS)
    points = np.array(
        [[np.asarray(shape.pose(trajectory.q[i]))[:2, 3] for shape in shapes] for i in some]
    )
    with drawing():
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
