"""`nhmech view`: play a saved run."""

from __future__ import annotations

from pathlib import Path

import click

from .options import OutputFile, load_robot, speed
from .show import play, write_html


@click.command()
@click.argument("run", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--html", type=OutputFile(".html"), help="Write one HTML file that plays by itself, and open nothing.")
@click.option("--robot", "file", metavar="FILE", help="Draw this robot (path or shipped name) instead of the one the run was made with.")
@speed
def view(run, html, file, speed):
    """Play RUN, a file that `nhmech run --save` wrote.

    \b
    nhmech view run.npz
    nhmech view run.npz --speed 0.25
    nhmech view run.npz --html run.html
    """
    from ..errors import ModelError, SimulationError
    from ..simulation.trajectory import Trajectory
    from ..vehicle.record import restore

    if not run.is_file():
        raise ModelError(f"{run}: no such file; `nhmech run FILE --save {run}` makes one")
    try:
        trajectory = Trajectory.load(run)
    except SimulationError as error:
        raise ModelError(str(error)) from error  # nothing ran: this is bad input
    if not file and "description" not in trajectory.source:
        raise ModelError(f"{run} holds no robot to draw; name one with --robot")
    vehicle = load_robot(file) if file else restore(trajectory.source)
    if html is not None:
        write_html(vehicle, trajectory, html)
    else:
        play(vehicle, trajectory, speed, instead=run.with_suffix(".html"))
