"""Runs that were saved, for the commands that read one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from ..errors import InputError, SimulationError
from .options import NO_OPTIONS, RobotOptions, load_robot

if TYPE_CHECKING:
    from ..simulation.runs.trajectory import Trajectory
    from ..vehicle.vehicle import Vehicle

path_option = click.option(
    "--path", "path", metavar="NAME[:SIZE]|FILE.csv",
    help="The reference path. Default: that of the run's controller.",
)
robot_of_run = click.option(
    "--robot", "file", metavar="FILE",
    help="The robot of the run (file or shipped name), instead of the recorded one.",
)


def read_run(run: Path, file: str | None = None) -> Trajectory:
    """The trajectory in a file, of the system in `file` if that is Python."""
    from ..simulation.runs.trajectory import Trajectory
    from ..simulation.simulated import Simulated

    try:
        trajectory = Trajectory.load(run)
    except SimulationError as error:  # nothing ran: this is bad input
        makes = "" if run.exists() else f"; `nhmech run ROBOT --save {quote(str(run))}` makes one"
        raise InputError(f"{error.text}{makes}", error.remedy) from error
    if file is None or not file.endswith(".py"):
        return trajectory
    from ..systems import load_system

    system = Simulated.of(load_system(file))
    trajectory.check_is_of(system)
    return replace(trajectory, system=system)


def vehicle_of(run: Path, trajectory: Trajectory, file: str | None = None,
               options: RobotOptions = NO_OPTIONS) -> Vehicle:
    """The vehicle of a run, or another one that `file` and its options name."""
    if file is None:
        if "system" in trajectory.source:
            raise InputError(f"{run} is a run of the textbook system "
                             f"{trajectory.source['system']!r}, not of a vehicle")
        if "description" not in trajectory.source:
            raise InputError(f"{run} holds no robot; name one with --robot")
        # the one that the trajectory makes of itself where forces or limits are asked for
        own = trajectory.simulated.vehicle
        assert own is not None, "it has a description"
        return own
    vehicle = load_robot(file, options)
    trajectory.check_is_of(vehicle)
    return vehicle


def is_textbook(trajectory: Trajectory, file: str | None) -> bool:
    """Whether a run is one of a textbook system, the package's or the one in `file`. Raises
    `InputError` if it is of neither."""
    from ..systems import system_names

    name = trajectory.source.get("system")
    if name is not None and file is None and name not in system_names():
        raise InputError(f"this is a run of the system {name!r}, which is not in this package; "
                         f"name its file: --robot {name}.py")
    return name is not None and (file is None or file.endswith(".py"))


def saved_file(path: Path) -> Path:
    """The file of a run to be saved at `path`: its .part, if the end could not be written."""
    from ..simulation.runs.recorder import part_path

    part = part_path(path)
    return part if part.exists() else path
