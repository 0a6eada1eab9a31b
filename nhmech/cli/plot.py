"""`nhmech plot`: pictures of a saved run, and of stability over speed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..checks import is_finite
from ..errors import InputError
from .driving import read_path_option
from .options import (
    NO_OPTIONS,
    RobotOptions,
    find_robot,
    load_robot,
    output_option,
    robot_options,
)
from .rolling import Friction, coefficients, friction_option
from .saved import is_textbook, path_option, read_run, robot_of_run, vehicle_of

if TYPE_CHECKING:
    from ..analysis.stability import Sweep
    from ..simulation.runs.trajectory import Trajectory
    from ..vehicle.vehicle import Vehicle

# picture -> its arguments besides the vehicle and the run
PICTURES = {
    "run": ("mu", "error"),
    "path": ("error",),
    "forces": ("mu",),
    "friction": ("mu",),
    "energy": (),
    "speeds": (),
    "joint-rates": (),
    "shape": (),
    "efforts": (),
    "tracking": ("error",),
    "twist": (),
    "coordinates": (),
}
WITHOUT_WHEELS = ("energy", "speeds", "joint-rates", "coordinates")


@click.command(short_help="Plot a saved run, or eigenvalues over speed.")
@click.argument("run", required=False, type=click.Path(dir_okay=False, path_type=Path))
@output_option(".pdf", ".svg", ".png", help="The figure: .pdf, .svg or .png; an existing file is "
                                            "replaced. Default: the name of RUN or of the robot, "
                                            "as .pdf.")
@click.option("--picture", type=click.Choice(list(PICTURES)),
              help="Which plot: `run` has several on a page. Default: run; for a textbook system, "
                   "coordinates.")
@path_option
@robot_of_run
@friction_option
@click.option("--eigenvalues", metavar="FILE",
              help="Plot the eigenvalues of this robot's straight running over its speed.")
@click.option("--range", "span", nargs=2, type=float, default=(0.1, 10.0), show_default=True,
              metavar="LOW HIGH", help="Range of speeds for --eigenvalues [m/s].")
@click.option("--points", type=click.IntRange(2, 100_000), default=200, show_default=True,
              help="Number of speeds for --eigenvalues.")
@robot_options
def plot(run: Path | None, output: Path | None, picture: str | None, path: str | None,
         file: str | None, mu: Friction, eigenvalues: str | None, span: tuple[float, float],
         points: int, robot: RobotOptions) -> None:
    """Draw RUN, a file of `nhmech run --save`: path, wheel forces with friction limits, energy,
    quasi-velocities.

    \b
    nhmech plot run.npz -o run.pdf --mu 0.8
    nhmech plot run.npz --picture friction --mu 0.8 -o friction.svg
    nhmech plot --eigenvalues bicycle --range 0.1 10 -o bicycle.pdf
    nhmech plot --eigenvalues robot.urdf --wheel 'joint=left,kind=disc,radius=0.1' ...

    The options of the robot (--wheel and those below it) go with --eigenvalues or --robot.
    """
    from ..view import plots

    if eigenvalues is not None and run is None:
        if (file, picture, path) != (None, None, None) or mu:
            raise click.UsageError("--robot, --picture, --path and --mu go with a RUN, not with "
                                   "--eigenvalues")
        figure, _ = plots.eigenvalues(compute_sweep(load_robot(eigenvalues, robot), span, points))
        output = output or Path(find_robot(eigenvalues).stem + ".pdf")
    elif run is not None and eigenvalues is None:
        if file is None and robot != NO_OPTIONS:
            raise click.UsageError(f"{run} knows its robot; options such as --wheel go with "
                                   "--robot or --eigenvalues")
        trajectory = read_run(run, file)
        textbook = is_textbook(trajectory, file)
        picture = picture or ("coordinates" if textbook else "run")
        draw = getattr(plots, picture.replace("-", "_"))
        if textbook and picture in WITHOUT_WHEELS:
            figure, _ = draw(trajectory.simulated, trajectory)
        else:
            vehicle = vehicle_of(run, trajectory, file, robot)
            figure, _ = draw(vehicle, trajectory,
                             **choose_keywords(picture, vehicle, trajectory, mu, path))
        output = output or run.with_suffix(".pdf")
    else:
        raise click.UsageError("give a RUN, or --eigenvalues FILE")
    plots.write(figure, output)
    click.echo(f"wrote {output}")


def choose_keywords(picture: str, vehicle: Vehicle, trajectory: Trajectory, mu: Friction,
                    path: str | None) -> dict[str, Any]:
    """Further arguments of the picture, besides the vehicle and its run."""
    found: dict[str, Any] = {}
    if "mu" in PICTURES[picture]:
        found["mu"] = coefficients(vehicle, mu)
    if "error" in PICTURES[picture] and path is not None:
        from ..control.path_reference import path_error

        found["error"] = path_error(vehicle, trajectory, read_path_option(vehicle, path))
    return found


def compute_sweep(vehicle: Vehicle, span: tuple[float, float], points: int) -> Sweep:
    """Eigenvalues over a range of speeds; prints where straight running is stable."""
    import numpy as np

    from ..analysis.stability import critical_speeds, speed_sweep
    from ..analysis.variations import Variations

    low, high = span
    if not (low < high and is_finite(high - low)):
        raise InputError(f"--range {low} {high} must be two finite numbers, the lower one first")
    variations, values = Variations(vehicle), np.linspace(low, high, points)
    sweep = speed_sweep(variations, values, vehicle.driven)
    crossings = critical_speeds(variations, sweep=sweep, inputs=vehicle.driven)
    growth = np.array(sweep.growth)
    if not np.isfinite(growth).any() or np.abs(sweep.eigenvalues).max(initial=0.0) < 1e-9:
        click.echo("straight running is neutrally stable")
        return sweep
    for a, b in zip([low, *crossings], [*crossings, high]):
        i = int(np.argmin(np.abs(values - (a + b) / 2)))
        grows, decays = growth[i] > sweep.marginal, growth[i] < -sweep.marginal
        verdict = "stable" if decays else "unstable" if grows else "neither grows nor decays"
        click.echo(f"{a:10.6f} to {b:10.6f} m/s  {verdict}, largest real part {growth[i]:+.4g} 1/s "
                   "in the middle")
    return sweep
