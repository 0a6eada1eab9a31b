"""`nhmech report`: a saved run on one page."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import InputError
from ..paths import free_path
from .driving import read_path_option
from .options import NO_OPTIONS, RobotOptions, output_option, robot_options
from .rolling import Friction, coefficients, friction_option
from .saved import path_option, read_run, robot_of_run, vehicle_of


@click.command(short_help="Write a report of a saved run: verdict, plots, numbers.")
@click.argument("run", type=click.Path(dir_okay=False, path_type=Path))
@output_option(".html", help="The page; an existing file is replaced. Default: RUN.html beside the "
                             "run, with a number if that exists.")
@path_option
@robot_of_run
@friction_option
@robot_options
def report(run: Path, output: Path | None, path: str | None, file: str | None, mu: Friction,
           robot: RobotOptions) -> None:
    """Write RUN, a file of `nhmech run --save` or its .part, as one self-contained HTML page.

    \b
    nhmech report run.npz
    nhmech report run.npz --mu 0.8 -o run.html
    nhmech report run.npz --path figure8:4

    The page shows the vehicle, its constraints, the path, forces against friction, the energy
    balance, the controller's error, whether ideal rolling held, and how the run was made. The
    options of the robot (--wheel and those below it) go with --robot.
    """
    if file is None and robot != NO_OPTIONS:
        raise click.UsageError(f"{run} knows its robot; options such as --wheel go with --robot")
    from ..view.report import save_report

    trajectory = read_run(run)
    output = output or free_path(run.with_suffix(".html"))
    if file is None and "system" in trajectory.source:
        if path or mu:
            system = trajectory.source["system"]
            raise InputError(f"{run} is a run of the textbook system {system!r}: it has no wheels "
                             "and no path")
        page = save_report(trajectory, output, name=run.name)
    else:
        vehicle = vehicle_of(run, trajectory, file, robot)
        page = save_report(trajectory, output, name=run.name, mu=coefficients(vehicle, mu),
                           path=None if path is None else read_path_option(vehicle, path),
                           vehicle=vehicle)
    click.echo(f"wrote    {page}")
