"""The pictures of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..control.path_reference import PathError
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated
from ..vehicle.vehicle import Vehicle
from . import plots, report_page as html
from .drawing import Plot, as_words, legend, svg
from .force_plots import Friction
from .judgement import Judgement
from .path_plots import tracks
from .shape_plots import shape_units


class ReportFigure(NamedTuple):
    """A picture, its heading and its caption; a wide one goes across the page."""

    plot: Plot
    heading: str
    caption: str
    wide: bool = False


def report_figures(trajectory: Trajectory, simulated: Simulated, judged: Judgement,
                   error: PathError | None, mu: Friction) -> list[str]:
    """The pictures that suit the run, as HTML."""
    if simulated.vehicle is None:
        figures = [*_system_path(simulated, trajectory), _energy(simulated, trajectory),
                   *_rates(simulated, trajectory),
                   ReportFigure(plots.coordinates(simulated, trajectory), "Coordinates",
                                "All of q", wide=True)]
    else:
        vehicle = simulated.vehicle
        figures = [_path(vehicle, trajectory, error),
                   *_friction(vehicle, trajectory, judged, mu),
                   *_shape(vehicle, trajectory), *_control(vehicle, trajectory, error),
                   _energy(simulated, trajectory), *_rates(simulated, trajectory),
                   *_efforts(vehicle, trajectory)]
    return [html.figure(svg(plot[0], f"f{i}", heading), heading, caption, wide)
            for i, (plot, heading, caption, wide) in enumerate(figures)]


def _path(vehicle: Vehicle, trajectory: Trajectory, error: PathError | None) -> ReportFigure:
    plot = plots.path(vehicle, trajectory, error=error)
    has_legend = len(vehicle.contacts) <= 4
    if has_legend:
        legend(plot[1])
    colours = "" if has_legend else ", colours as in the table"
    follow = "" if error is None else "; broad: the path to follow"
    return ReportFigure(plot, "Path", f"Tracks of the contact points{colours}; dashed: the base's "
                                      f"origin{follow}")


def _system_path(simulated: Simulated, trajectory: Trajectory) -> Iterator[ReportFigure]:
    plot = tracks(simulated, trajectory)
    if plot is not None:
        yield ReportFigure(plot, "Path", "Tracks of the system's bodies, seen from above")


def _friction(vehicle: Vehicle, trajectory: Trajectory, judged: Judgement,
              mu: Friction) -> Iterator[ReportFigure]:
    if trajectory.kinematic:
        return
    wheels = () if judged.along is None else judged.along[0].wheels
    is_known = trajectory.contact is not None or any(np.isfinite(one.mu) for one in wheels)
    needs = "What each wheel needs" if trajectory.rolled.all() else "What acts on each wheel"
    shown = "what friction can hold (shaded)" if is_known else "its normal force"
    yield ReportFigure(plots.friction(vehicle, trajectory, mu), "Forces against friction",
                       f"{needs} along the ground, and {shown}")


def _shape(vehicle: Vehicle, trajectory: Trajectory) -> Iterator[ReportFigure]:
    if shape_units(vehicle, trajectory):
        yield ReportFigure(plots.shape(vehicle, trajectory), "Shape",
                           "Joints that do not roll, and how the base tilts where it may")


def _control(vehicle: Vehicle, trajectory: Trajectory,
             error: PathError | None) -> Iterator[ReportFigure]:
    if error is not None:
        yield ReportFigure(plots.tracking(vehicle, trajectory, error=error), "Controller error",
                           f"Of the point that should stay on the path: {error.describe()}")
    twist = trajectory.commanded_twist
    if twist is not None and np.isfinite(twist).any():
        yield ReportFigure(plots.twist(vehicle, trajectory), "Twist",
                           "Of the base: what the controller commanded, and what was driven")


def _energy(simulated: Simulated, trajectory: Trajectory) -> ReportFigure:
    note = "; a kinematic run does not know the efforts" if trajectory.kinematic else ""
    return ReportFigure(plots.energy(simulated, trajectory), "Energy balance",
                        f"Since the start{note}")


def _rates(simulated: Simulated, trajectory: Trajectory) -> Iterator[ReportFigure]:
    """Joint rates and quasi-velocities, unless the ones contain the others."""
    joints = set() if simulated.vehicle is None else set(simulated.joint_names)
    independent = trajectory.names["xi"]
    if joints - set(independent):
        named = f"; independent: {', '.join(map(as_words, independent))}"
        yield ReportFigure(plots.joint_rates(simulated, trajectory), "Joint rates",
                           "Of all moving joints" + (named if joints >= set(independent) else ""))
    if not joints >= set(independent) or joints == set(independent):
        yield ReportFigure(plots.speeds(simulated, trajectory), "Quasi-velocities",
                           f"The {len(independent)} independent speeds of the run")


def _efforts(vehicle: Vehicle, trajectory: Trajectory) -> Iterator[ReportFigure]:
    if trajectory.names["u"] and not trajectory.kinematic and trajectory.u.any():
        wrenches = ", and external wrenches" if vehicle.wrench_bodies else ""
        yield ReportFigure(plots.efforts(vehicle, trajectory), "Efforts",
                           f"Of the driven joints{wrenches}")
