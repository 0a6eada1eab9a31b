"""`nhmech plot`: pictures of a saved run, and of stability over speed."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import ModelError, SimulationError
from .options import Positive, find_robot, load_robot

SUFFIXES = (".pdf", ".svg", ".png")


class Picture(click.Path):
    """A file to draw into; the format is its ending."""

    def __init__(self):
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value, param, ctx):
        path = super().convert(value, param, ctx)
        if not path.parent.is_dir():
            self.fail(f"{str(path)!r}: the folder {str(path.parent)!r} does not exist", param, ctx)
        if path.suffix not in SUFFIXES:
            self.fail(f"{str(path)!r}: the name must end in one of {', '.join(SUFFIXES)}", param, ctx)
        return path


@click.command()
@click.argument("run", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--out", type=Picture(), metavar="FILE", help="Picture: .pdf, .svg or .png.  [default: RUN or the robot's name, .pdf]")
@click.option("--robot", "file", metavar="FILE", help="The robot of the run (path or shipped name), instead of the one it was made with.")
@click.option("--mu", type=Positive(), help="Friction coefficient of all wheels, for the limits; else what the file says.")
@click.option("--eigenvalues", metavar="FILE", help="Draw eigenvalues of this robot's straight running over its speed.")
@click.option("--speeds", nargs=2, type=float, default=(0.1, 10.0), show_default=True, metavar="LOW HIGH", help="Range of it [m/s].")
@click.option("--points", type=click.IntRange(2), default=200, show_default=True, help="Speeds for --eigenvalues.")
def plot(run, out, file, mu, eigenvalues, speeds, points):
    """Draw RUN, a file that `nhmech run --save` wrote: path, wheel forces with friction limits, energy, quasi-velocities.

    \b
    nhmech plot run.npz --out run.pdf --mu 0.8
    nhmech plot --eigenvalues bicycle --speeds 0.1 10 --out bicycle.pdf
    """
    if (run is None) == (eigenvalues is None):
        raise click.UsageError("give a RUN, or --eigenvalues FILE")
    from ..view import plots

    if eigenvalues is not None:
        figure, _ = plots.eigenvalues(_sweep(eigenvalues, speeds, points))
        out = out or Path(find_robot(eigenvalues).stem + ".pdf")
    else:
        vehicle, trajectory = _read(run, file)
        figure, _ = plots.run(vehicle, trajectory, mu)
        out = out or run.with_suffix(".pdf")
    plots.write(figure, out)
    click.echo(f"wrote {out}")


def _sweep(file: str, speeds: tuple[float, float], points: int):
    """The speed sweep, with the critical speeds printed."""
    import numpy as np

    from ..analysis.stability import critical_speeds, speed_sweep
    from ..analysis.variations import Variations

    low, high = speeds
    if not low < high:
        raise ModelError(f"--speeds {low} {high}: the first must be the lower one")
    vehicle = load_robot(file)
    variations, values = Variations(vehicle), np.linspace(low, high, points)
    sweep = speed_sweep(variations, values, vehicle.driven)
    crossings = critical_speeds(variations, sweep=sweep, inputs=vehicle.driven)
    growth = np.array(sweep.growth)
    if not np.isfinite(growth).any() or np.abs(sweep.eigenvalues).max(initial=0.0) < 1e-9:
        click.echo("straight running is neutral: nothing grows, nothing decays")
        return sweep
    for a, b in zip([low, *crossings], [*crossings, high]):
        i = int(np.argmin(np.abs(values - (a + b) / 2)))
        verdict = "stable" if growth[i] < 0 else "unstable"
        click.echo(f"{a:10.6f} to {b:10.6f} m/s  {verdict}, largest real part {growth[i]:+.4g} 1/s in the middle")
    return sweep


def _read(run: Path, file: str | None):
    """The run and its vehicle."""
    from ..simulation.trajectory import Trajectory
    from ..vehicle.record import restore

    if not run.is_file():
        raise ModelError(f"{run}: no such file; `nhmech run FILE --save {run}` makes one")
    try:
        trajectory = Trajectory.load(run)
    except SimulationError as error:
        raise ModelError(str(error)) from error
    if not file and "description" not in trajectory.source:
        raise ModelError(f"{run} holds no robot; name one with --robot")
    return load_robot(file) if file else restore(trajectory.source), trajectory
