"""Runs that were saved, for the commands that read one."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import ModelError, SimulationError
from .options import load_robot

followed_path = click.option(
    "--path", "path", metavar="NAME[:SIZE]|FILE.csv",
    help="What the base was to follow. Default: the path of the run's controller.",
)
robot_of_run = click.option(
    "--robot", "file", metavar="FILE",
    help="The robot of the run (path or shipped name), instead of the one it was made with.",
)


def read_run(run: Path):
    """The trajectory in a file. Raises `ModelError` where it is none: nothing ran, so this is bad
    input."""
    from ..simulation.trajectory import Trajectory

    try:
        return Trajectory.load(run)
    except SimulationError as error:
        makes = "" if run.exists() else f"; `nhmech run ROBOT --save {run}` makes one"
        raise ModelError(f"{error}{makes}") from error


def vehicle_of(run: Path, trajectory, file: str | None = None, **robot_options):
    """The vehicle of a run, or another one that `file` and its options name.

    Raises
    ------
    ModelError
        Where the run has none, or is not that one's.
    """
    if file is None:
        if "system" in trajectory.source:
            raise ModelError(f"{run} is a run of the textbook system "
                             f"{trajectory.source['system']!r}, not of a vehicle")
        if "description" not in trajectory.source:
            raise ModelError(f"{run} holds no robot; name one with --robot")
        from ..vehicle.record import restore

        return restore(trajectory.source)
    vehicle = load_robot(file, **robot_options)
    if vehicle.algebroid.q_names != trajectory.names["q"]:
        raise ModelError(f"{file} is not the robot of {run}: its coordinates are "
                         f"{', '.join(vehicle.algebroid.q_names)}, those of the run "
                         f"{', '.join(trajectory.names['q'])}")
    return vehicle


def saved_as(save: Path) -> Path:
    """Where a run that was to be saved is: what it had written by then, where the end could not
    be."""
    from ..simulation.recorder import part_path

    part = part_path(save)
    return part if part.exists() else save


def unused(path: Path) -> Path:
    """`path`, or where that exists `path-2`, `path-3`, ...: for names that the user did not
    choose."""
    count, free = 1, path
    while free.exists():
        count += 1
        free = path.with_name(f"{path.stem}-{count}{path.suffix}")
    return free
