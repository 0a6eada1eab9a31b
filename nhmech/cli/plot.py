"""`nhmech plot`: pictures of a saved run, and of stability over speed."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import ModelError
from .options import OutputFile, find_robot, load_robot, robot_options
from .rolling import coefficients, friction
from .saved import followed_path, read_run, robot_of_run, vehicle_of

PICTURES = ("run", "path", "forces", "friction", "energy", "speeds", "joint-rates", "efforts",
            "tracking", "twist", "coordinates")
WITHOUT_WHEELS = ("energy", "speeds", "joint-rates", "coordinates")


@click.command()
@click.argument("run", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--out", type=OutputFile(".pdf", ".svg", ".png"), metavar="FILE",
              help="Picture: .pdf, .svg or .png.  [default: RUN or the robot's name, .pdf]")
@click.option("--picture", type=click.Choice(PICTURES), default="run", show_default=True,
              help="Which one: several on a page (run), or one of the others alone.")
@followed_path
@robot_of_run
@friction
@click.option("--eigenvalues", metavar="FILE",
              help="Draw eigenvalues of this robot's straight running over its speed.")
@click.option("--range", "span", nargs=2, type=float, default=(0.1, 10.0), show_default=True,
              metavar="LOW HIGH", help="Range of it [m/s].")
@click.option("--points", type=click.IntRange(2), default=200, show_default=True,
              help="Speeds for --eigenvalues.")
@robot_options
def plot(run, out, picture, path, file, mu, eigenvalues, span, points, **options):
    """Draw RUN, which `nhmech run --save` wrote: path, wheel forces with friction limits, energy,
    quasi-velocities.

    \b
    nhmech plot run.npz --out run.pdf --mu 0.8
    nhmech plot run.npz --picture friction --mu 0.8 --out friction.svg
    nhmech plot --eigenvalues bicycle --range 0.1 10 --out bicycle.pdf
    nhmech plot --eigenvalues robot.urdf --wheel 'joint=left,kind=disc,radius=0.1' ...

    The options of the robot (--wheel and those below it) go with --eigenvalues or --robot.
    """
    if (run is None) == (eigenvalues is None):
        raise click.UsageError("give a RUN, or --eigenvalues FILE")
    if run is not None and file is None and any(options.values()):
        raise click.UsageError(f"{run} knows its robot; options such as --wheel go with --robot or "
                               "--eigenvalues")
    from ..view import plots

    if eigenvalues is not None:
        figure, _ = plots.eigenvalues(_sweep(load_robot(eigenvalues, **options), span, points))
        out = out or Path(find_robot(eigenvalues).stem + ".pdf")
    else:
        trajectory = read_run(run)
        if file is None and "system" in trajectory.source and picture in WITHOUT_WHEELS:
            figure, _ = getattr(plots, picture.replace("-", "_"))(trajectory.simulated, trajectory)
        else:
            figure = _drawn(picture, trajectory, vehicle_of(run, trajectory, file, **options), mu,
                            path)
        out = out or run.with_suffix(".pdf")
    plots.write(figure, out)
    click.echo(f"wrote {out}")


def _drawn(picture: str, trajectory, vehicle, mu, path: str | None):
    """The figure of that name, of a vehicle's run."""
    from ..view import plots

    words = {}
    if picture in ("run", "forces", "friction"):
        words["mu"] = coefficients(vehicle, mu)
    if picture in ("run", "path", "tracking") and path is not None:
        from ..control.path_choice import read_path, scale
        from ..control.path_reference import path_error

        words["error"] = path_error(vehicle, trajectory, read_path(path, scale(vehicle)))
    return getattr(plots, picture.replace("-", "_"))(vehicle, trajectory, **words)[0]


def _sweep(vehicle, speeds: tuple[float, float], points: int):
    """The speed sweep, with the critical speeds printed."""
    import numpy as np

    from ..analysis.stability import critical_speeds, speed_sweep
    from ..analysis.variations import Variations

    low, high = speeds
    if not low < high:
        raise ModelError(f"--range {low} {high}: the first must be the lower one")
    variations, values = Variations(vehicle), np.linspace(low, high, points)
    sweep = speed_sweep(variations, values, vehicle.driven)
    crossings = critical_speeds(variations, sweep=sweep, inputs=vehicle.driven)
    growth = np.array(sweep.growth)
    if not np.isfinite(growth).any() or np.abs(sweep.eigenvalues).max(initial=0.0) < 1e-9:
        click.echo("straight running is neutral: nothing grows, nothing decays")
        return sweep
    for a, b in zip([low, *crossings], [*crossings, high]):
        i = int(np.argmin(np.abs(values - (a + b) / 2)))
        grows, decays = growth[i] > sweep.marginal, growth[i] < -sweep.marginal
        verdict = "stable" if decays else "unstable" if grows else "neither grows nor decays"
        click.echo(f"{a:10.6f} to {b:10.6f} m/s  {verdict}, largest real part {growth[i]:+.4g} 1/s "
                   "in the middle")
    return sweep
