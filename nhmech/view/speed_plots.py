"""Pictures of speeds, efforts and coordinates over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from ..errors import InputError
from ..mechanics.algebroid import LieAlgebroid
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated
from ..vehicle.vehicle import Vehicle
from .drawing import (
    OTHERS,
    Plot,
    as_label,
    as_words,
    axes_of,
    check_axes,
    clip_start,
    legend,
    line_colours,
    new_figure,
    picture_of_run,
    plot_style,
    settle,
    shade_limits,
    wheel_line,
)
from .force_plots import NO_FORCES

SHORT = {"rad/s": "rate", "m/s": "speed"}  # where the whole word would not fit beside the axis


@picture_of_run
def speeds(vehicle: Vehicle | Simulated, trajectory: Trajectory,
           axes: Any = None) -> Plot:
    """Quasi-velocities, one panel for each unit: rates [rad/s] (of wheels, then of the rest),
    speeds [m/s], others."""
    simulated = Simulated.of(vehicle)
    return _draw_by_unit(simulated, trajectory, "xi", speed_units(simulated),
                         "quasi-velocity", axes)


def speed_units(simulated: Simulated) -> dict[str, str]:
    """Quasi-velocity -> its unit."""
    return dict(zip(simulated.equations.names, simulated.equations.units))


@picture_of_run
def joint_rates(vehicle: Vehicle | Simulated, trajectory: Trajectory,
                axes: Any = None) -> Plot:
    """Rates of all moving joints, one panel for each unit [rad/s, m/s]; wheels in their colours."""
    simulated = Simulated.of(vehicle)
    algebroid = simulated.constrained.system.algebroid
    units = {name: unit for name, unit in zip(algebroid.v_names, algebroid.v_units)
             if name in simulated.joint_names}
    if not units:
        raise InputError("there are no moving joints to draw")
    what = "joint rate" if simulated.vehicle is not None else "velocity"
    return _draw_by_unit(simulated, trajectory, "v", units, what, axes)


@picture_of_run
def efforts(vehicle: Vehicle, trajectory: Trajectory, axes: Any = None) -> Plot:
    """Inputs u, one panel for each unit [N m, N]: efforts of the driven joints, and external
    wrenches.

    Raises
    ------
    InputError
        If there are none.
    """
    rates = dict(zip(vehicle.algebroid.v_names, vehicle.algebroid.v_units))
    units = {}
    for name in trajectory.names["u"]:
        turns = rates[name] == "rad/s" if name in rates else name.rpartition(".")[2].startswith("t")
        units[name] = "N m" if turns else "N"
    if trajectory.kinematic or not units:
        raise InputError(NO_FORCES if trajectory.kinematic else "nothing drives this vehicle")
    return _draw_by_unit(Simulated.of(vehicle), trajectory, "u", units, "effort", axes)


@picture_of_run
def coordinates(vehicle: Vehicle | Simulated, trajectory: Trajectory) -> Plot:
    """Small multiples: every coordinate q over time, with its unit where the anchor implies one."""
    algebroid = Simulated.of(vehicle).constrained.system.algebroid
    columns = min(3, algebroid.nq)
    rows = -(-algebroid.nq // columns)
    with plot_style():
        figure = new_figure(7.0, 0.5 + 1.15 * rows)
        axes = figure.subplots(rows, columns, sharex=True, squeeze=False)
        for i, (ax, name) in enumerate(zip(axes.flat, algebroid.q_names)):
            ax.plot(trajectory.t, trajectory.q[:, i], color=OTHERS[0])
            ax.set_ylabel(f"{as_label(name)} [{_coordinate_unit(algebroid, i)}]")
            settle(ax, trajectory.q[:, i])
        for ax in axes.flat[algebroid.nq:]:
            ax.set_visible(False)
        for column in range(columns):
            last = [row for row in range(rows) if row * columns + column < algebroid.nq][-1]
            axes[last, column].set_xlabel("time [s]")
            axes[last, column].tick_params(labelbottom=True)
        return figure, axes.ravel()[:algebroid.nq]


def _coordinate_unit(algebroid: LieAlgebroid, i: int) -> str:
    """The unit of the velocities in its rate, times second; "-" for parts of a quaternion, and
    where they differ."""
    row = ca.sparsify(algebroid.anchor[i, :])
    units = {algebroid.v_units[j] for j in row.sparsity().get_col()}
    unit = units.pop() if len(units) == 1 and not algebroid.q_names[i].startswith("q") else ""
    return unit.removesuffix("/s") if unit.endswith("/s") else "-"


def group_by_unit(simulated: Simulated, units: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """(unit, names) of each panel; wheels are apart from the rest, since they turn much faster."""
    wheels = set() if simulated.vehicle is None else set(simulated.vehicle.description.rolling)
    panels: dict[tuple[str, bool], list[str]] = {}
    for name, unit in units.items():
        panels.setdefault((unit, name not in wheels), []).append(name)
    order = ("rad/s", "m/s", "N m")
    rank = {unit: i for i, unit in enumerate(order)}
    ordered = sorted(panels, key=lambda panel: (rank.get(panel[0], len(order)), panel[1]))
    return [(panel[0], panels[panel]) for panel in ordered]


def _draw_by_unit(simulated: Simulated, trajectory: Trajectory, part: str,
                  units: Mapping[str, str], what: str, axes: Any) -> Plot:
    """The columns `units` of a part of the run, "xi", "v" or "u"."""
    panels = group_by_unit(simulated, units)
    vehicle = simulated.vehicle
    lines = line_colours(vehicle, list(units))
    wheels = {} if vehicle is None else {wheel.joint: wheel.name
                                         for wheel in vehicle.description.wheels if wheel.joint}
    with plot_style():
        figure, axes = axes_of(axes, 3.4, 1.3 + 1.1 * len(panels), rows=len(panels))
        shown = check_axes(axes, ["; ".join(names) for _, names in panels])
        for ax, (unit, names) in zip(shown, panels):
            for name in names:
                values = getattr(trajectory, part)[:, trajectory.names[part].index(name)]
                wheel = wheels.get(name)
                style = {"color": lines[name]}
                if vehicle is not None and wheel is not None:
                    style = wheel_line(vehicle, wheel, len(values))
                ax.plot(trajectory.t, values, **style | {"label": as_label(as_words(name))})
            label = SHORT.get(unit, what) if len(panels) > 1 else what
            ax.set_ylabel(f"{as_label(label)} [{unit or '-'}]")
            settle(ax, np.concatenate([line.get_ydata() for line in ax.lines]))
            shade_limits(ax, trajectory, {name: lines[name] for name in names})
            legend(ax)
            clip_start(ax)
        shown[-1].set_xlabel("time [s]")
        return figure, axes
