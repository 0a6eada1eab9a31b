"""Pictures of the path of a vehicle, and of the path that it should follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..control.path_reference import PathError, path_error
from ..errors import InputError
from ..simulation.contact.force_reader import world_points
from ..simulation.runs.driven_twist import measure_twist
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated
from ..vehicle.vehicle import Vehicle
from .drawing import (
    COLOURS,
    DASHED,
    GREY,
    OTHERS,
    Plot,
    axes_of,
    check_axes,
    clip_start,
    legend,
    picture_of_run,
    plot_style,
    settle,
    shade_limits,
    spread_states,
    wheel_line,
)

STATES = 800  # points of a track at most: more cannot be seen, and make large files
REFERENCE = {"color": "#F0C000", "lw": 3.2, "alpha": 0.55, "solid_capstyle": "round"}


@picture_of_run
def path(vehicle: Vehicle, trajectory: Trajectory, axes: Any = None, *,
         error: PathError | None = None) -> Plot:
    """Tracks of the base's origin (grey) and of the wheels' contact points from above, and the path
    to follow (broad, yellow) [m].

    Parameters
    ----------
    error
        Distance from the path to follow; None takes the path that the controller followed, where
        the run knows it.
    """
    error = path_error(vehicle, trajectory) if error is None else error
    with plot_style():
        some = spread_states(trajectory, STATES)
        points = world_points(vehicle, trajectory.t[some], trajectory.q[some])
        x, y = trajectory.q[:, 0], trajectory.q[:, 1]
        spans = np.ptp(np.concatenate([points[:, :, :2].reshape(-1, 2), trajectory.q[:, :2]]),
                       axis=0)
        # the proportions of the tracks, within what fits a column
        height = float(np.clip(0.9 + 2.7 * spans[1] / max(*spans, 1e-9), 1.7, 3.2))
        alone = axes is None
        figure, axes = axes_of(axes, height=height)
        if error is not None:
            begin, end = 0.0, error.path.length
            if not error.path.closed:
                begin, end = (float(error.path.nearest(point)) for point in error.point[[0, -1]])
            line = error.path.point(np.linspace(begin, end, 600))
            axes.plot(line[:, 0], line[:, 1], label="reference", zorder=1.5, **REFERENCE)
        for k, name in enumerate(vehicle.contact_names):
            axes.plot(points[:, k, 0], points[:, k, 1], lw=0.8,
                      **wheel_line(vehicle, name, len(points)))
        axes.plot(x, y, color=GREY, lw=0.8, ls=DASHED, label="base origin")
        axes.plot(x[0], y[0], "o", color=GREY, ms=3.5, label="start")
        axes.set(xlabel="x [m]", ylabel="y [m]")
        axes.set_aspect("equal", adjustable="datalim")
        if alone:
            legend(axes)
        return figure, axes


@picture_of_run
def tracking(vehicle: Vehicle, trajectory: Trajectory, axes: Any = None, *,
             error: PathError | None = None) -> Plot:
    """The controller's error: distance from the path [mm], positive to its left; below, heading
    relative to its tangent [deg].

    Parameters
    ----------
    error
        From `control.path_reference.path_error`; None takes the path that the controller followed.

    Raises
    ------
    InputError
        For a run whose controller followed no path.
    """
    error = path_error(vehicle, trajectory) if error is None else error
    if error is None:
        raise InputError("this run's controller followed no path; give error=path_error(vehicle, "
                         "trajectory, path)")
    with plot_style():
        figure, axes = axes_of(axes, 3.4, 2.6, rows=2)
        for ax, values, label in zip(axes, (1e3 * error.lateral, np.degrees(error.heading)),
                                     ("lateral error [mm]", "heading error [deg]")):
            ax.axhline(0, color=GREY, lw=0.5)
            ax.plot(error.t, values, color=OTHERS[0])
            ax.set_ylabel(label)
            settle(ax, values, 1e-6)
            clip_start(ax)
            shade_limits(ax, trajectory)
        axes[-1].set_xlabel("time [s]")
        return figure, axes


@picture_of_run
def twist(vehicle: Vehicle, trajectory: Trajectory, axes: Any = None) -> Plot:
    """Forward speed [m/s] and yaw rate [rad/s]: as commanded by the controller (broad, yellow), and
    as driven. Lateral speed [m/s] is shown between them if there is any.

    Raises
    ------
    InputError
        For a run whose controller commanded no twist.
    """
    wanted = trajectory.commanded_twist
    if wanted is None or not np.isfinite(wanted).any():
        raise InputError("this run's controller commanded no twist (forward speed and yaw rate of "
                         "the base)")
    found = measure_twist(vehicle, trajectory)
    lateral = max(np.nanmax(np.abs(wanted[:, 1])), np.abs(found[:, 1]).max())
    shown = [("forward [m/s]", 0), ("lateral [m/s]", 1), ("yaw rate [rad/s]", 2)]
    if lateral <= 1e-6 * np.abs(found[:, 0]).max():  # rounding
        del shown[1]
    with plot_style():
        figure, axes = axes_of(axes, 3.4, 0.4 + 1.1 * len(shown), rows=len(shown))
        check_axes(axes, [label for label, _ in shown])
        for ax, (label, k) in zip(axes, shown):
            ax.plot(trajectory.t, wanted[:, k], drawstyle="steps-post", label="commanded",
                    **REFERENCE)
            ax.plot(trajectory.t, found[:, k], color=OTHERS[0], label="driven")
            ax.set_ylabel(label)
            both = np.concatenate([wanted[:, k], found[:, k]])
            settle(ax, both[np.isfinite(both)])
            shade_limits(ax, trajectory)
        legend(axes[0])
        axes[-1].set_xlabel("time [s]")
        return figure, axes


def tracks(simulated: Simulated, trajectory: Trajectory) -> Plot | None:
    """(figure, axes) with the tracks of the shapes that leave one [m]; None without any."""
    if simulated.example is None:
        return None
    shapes = [shape for shape in simulated.example.shapes if shape.trail]
    if not shapes:
        return None
    points = np.array([[np.asarray(shape.pose(trajectory.q[i]))[:2, 3] for shape in shapes]
                       for i in spread_states(trajectory, STATES)])
    with plot_style():
        figure, axes = axes_of(None)
        for k in range(len(shapes)):
            label = f"body {k + 1}" if len(shapes) > 1 else None
            axes.plot(points[:, k, 0], points[:, k, 1], color=COLOURS[k % len(COLOURS)], lw=0.9,
                      label=label)
        axes.plot(*points[0].T, "o", color=GREY, ms=3)
        axes.set(xlabel="x [m]", ylabel="y [m]")
        axes.set_aspect("equal", adjustable="datalim")
        legend(axes)
        return figure, axes
