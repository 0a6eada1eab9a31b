"""Pictures of a run, for papers: one function for each, which returns (figure, axes).

A wheel has one colour in all of them, that of its trail in the viewer. Time is in seconds, every
axis has its unit, and figures are written as vectors (`write`). Functions that need no wheels also
take a `Simulated` in the place of the vehicle (`trajectory.simulated`, of a textbook system for
example). They need matplotlib, the extra `plot`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.energy_balance import energy_balance
from ..control.path_reference import PathError, path_error
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated
from ..vehicle.vehicle import Vehicle
from .drawing import (
    COLOURS,
    DASHED,
    DOTTED,
    GREY,
    Plot,
    as_words,
    axes_of,
    colour,
    legend,
    new_figure,
    picture_of_run,
    plot_style,
    write,
)
from .eigenvalue_plot import eigenvalues
from .force_plots import Friction, forces, friction
from .odometry_plots import odometry
from .path_plots import path, tracking, twist
from .shape_plots import shape, shape_units
from .speed_plots import coordinates, efforts, group_by_unit, joint_rates, speed_units, speeds

__all__ = ["colour", "coordinates", "efforts", "eigenvalues", "energy", "forces", "friction",
           "joint_rates", "odometry", "path", "run", "shape", "speeds", "tracking", "twist",
           "as_words", "write"]

QUIET = 1e-9  # a relative change of energy below this is rounding, and is drawn as none


@picture_of_run
def energy(vehicle: Vehicle | Simulated, trajectory: Trajectory, axes: Any = None) -> Plot:
    """Energy balance [J]: change of kinetic and potential energy, work of inputs, damping and so
    on; the rest is dashed.

    If the total energy is constant, its size and its error are written.
    """
    with plot_style():
        figure, axes = axes_of(axes)
        found = energy_balance(trajectory, Simulated.of(vehicle))
        total, change = found.total, found.total - found.total[0]
        size = max(abs(total).max(), np.ptp(found.kinetic), np.ptp(found.potential), 1e-300)
        # broad, since others run along them
        for values, label, line in ((found.kinetic, "kinetic", COLOURS[1]),
                                    (found.potential, "potential", COLOURS[2])):
            if np.ptp(values) > QUIET * size:
                axes.plot(found.t, values - values[0], color=line, label=label, lw=2.4, alpha=0.5)
        for values, label, line in ((found.inputs, "work of inputs", COLOURS[0]),
                                    (found.passive, "damping", COLOURS[3]),
                                    (found.contacts, "friction, impacts", COLOURS[4])):
            if found.known and np.abs(values).max() > QUIET * size:
                axes.plot(found.t, values, color=line, label=label)
        rest, label = found.rest, "work of what moves" if found.ground else "not accounted for"
        if not found.known:
            rest, label = change, "total"
        elif np.abs(change).max() <= QUIET * size:
            rest = np.zeros_like(change)
            label = f"total {total[0]:.6g} J, constant to {np.abs(change).max():.1g} J"
        axes.plot(found.t, rest, color="black", ls=DASHED, lw=0.8, label=label)
        if not any(np.abs(line.get_ydata()).max() > 0 for line in axes.lines):
            axes.set_ylim(-1, 1)
        legend(axes)
        axes.set(xlabel="time [s]", ylabel="change of energy [J]")
        return figure, axes


@picture_of_run
def run(vehicle: Vehicle, trajectory: Trajectory, mu: Friction = None, *,
        error: PathError | None = None) -> tuple[Any, dict[str, Any]]:
    """Path, ground forces, energy and quasi-velocities on one page; the joints and angles that move
    freely (`shape`) and the controller's error, if there are any. Returns the figure, and the axes
    by name.

    Parameters
    ----------
    mu
        As in `forces`.
    error
        As in `path`.
    """
    error = path_error(vehicle, trajectory) if error is None else error
    with plot_style():
        simulated = Simulated.of(vehicle)
        kinds = len(group_by_unit(simulated, speed_units(simulated)))
        layout = [["path", "normal"], ["path", "tangential"]]
        free = [f"shape{k}" for k in range(len(set(shape_units(vehicle, trajectory).values())))]
        right = [f"speeds{k}" for k in (range(kinds) if kinds > 1 else (0, 0))]
        left = ["energy"] * max(1, len(right) - len(free)) + free
        right += right[-1:] * (len(left) - len(right))
        layout += [[*row] for row in zip(left, right)]
        layout += [["lateral", "heading"]] * 2 if error is not None else []
        figure = new_figure(7.0, 3.0 + 1.5 * len(left) + (0 if error is None else 1.8))
        by = figure.subplot_mosaic(layout)
        path(vehicle, trajectory, by["path"], error=error)
        forces(vehicle, trajectory, mu, (by["normal"], by["tangential"]))
        energy(vehicle, trajectory, by["energy"])
        speeds(vehicle, trajectory,
               by["speeds0"] if kinds == 1 else [by[f"speeds{k}"] for k in range(kinds)])
        if free:
            shape(vehicle, trajectory, [by[name] for name in free])
        if error is not None:
            tracking(vehicle, trajectory, (by["lateral"], by["heading"]), error=error)
            by["lateral"].set_xlabel("time [s]")
        handles, labels = by["path"].get_legend_handles_labels()
        if len(by["tangential"].lines) > len(vehicle.contacts):
            from matplotlib.lines import Line2D

            handles = [*handles, Line2D([], [], color=GREY, ls=DOTTED, lw=1.0)]
            labels = [*labels, "friction limit"]
        figure.legend(handles, labels, loc="outside upper center", ncols=min(7, len(labels)))
        return figure, by
