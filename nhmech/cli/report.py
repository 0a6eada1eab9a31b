"""`nhmech report`: a saved run on one page."""

from __future__ import annotations

from pathlib import Path

import click

from .options import OutputFile, robot_options
from .rolling import coefficients, friction
from .saved import followed_path, read_run, robot_of_run, unused, vehicle_of


@click.command()
@click.argument("run", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--out", type=OutputFile(".html"), metavar="FILE.html",
              help="The page. An older one is replaced.  [default: RUN.html beside it, numbered "
                   "where that exists]")
@followed_path
@robot_of_run
@friction
@robot_options
def report(run, out, path, file, mu, **options):
    """Write RUN, a file that `nhmech run --save` wrote, or its .part, as one self-contained HTML
    page.

    \b
    nhmech report run.npz
    nhmech report run.npz --mu 0.8 --out run.html
    nhmech report run.npz --path figure8:4

    On it are the vehicle, its constraints, the path, forces against friction, energy balance,
    controller error, whether ideal rolling held, and how the run was made. The options of the robot
    (--wheel and those below it) go with --robot.
    """
    from ..errors import ModelError

    if file is None and any(options.values()):
        raise click.UsageError(f"{run} knows its robot; options such as --wheel go with --robot")
    trajectory = read_run(run)
    system = file is None and "system" in trajectory.source
    vehicle = None if system else vehicle_of(run, trajectory, file, **options)
    if system and (path or mu):
        raise ModelError(f"{run} is a run of the textbook system {trajectory.source['system']!r}: "
                         "it has no wheels and follows no path")

    from ..view.report import save_report

    follow = None
    if path is not None:
        from ..control.path_choice import read_path, scale

        follow = read_path(path, scale(vehicle))
    given = None if vehicle is None else coefficients(vehicle, mu)
    page = save_report(trajectory, out or unused(run.with_suffix(".html")), name=run.name, mu=given,
                       path=follow, vehicle=vehicle)
    click.echo(f"wrote    {page}")
