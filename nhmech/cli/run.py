"""`nhmech run`: load, simulate, show, save."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from ..errors import ModelError, NhmechError, SimulationError
from .driving import drive, driving, is_ours, only_listed, print_tracking, start_of
from .looks import look, looks
from .movies import movies, write_movies
from .options import OutputFile, Positive, load_robot, playback, robot
from .progress import Progress
from .rolling import friction, friction_known, on_slip, print_validity, rolling_events
from .saved import saved_as, unused
from .show import play, save_page, write_html
from .summary import print_notices, print_summary
from .telling import tell

SECONDS = {"type": Positive(), "metavar": "SECONDS"}


@click.command()
@driving
@click.option("--duration", default=10.0, show_default=True, help="Simulated time.", **SECONDS)
@click.option("--dt", default=1e-3, show_default=True, help="Time step.", **SECONDS)
@click.option("--control-period", **SECONDS,
              help="Time between two calls of the controller, a multiple of the step. Default: the "
                   "step; ten of them for controllers of this package.")
@click.option("--view", is_flag=True,
              help="Play the run in the browser; where there is none, write FILE.html instead.")
@click.option("--html", type=OutputFile(".html"),
              help="Write the run as one HTML file that plays by itself.")
@click.option("--save", type=OutputFile(".npz"),
              help="Write the run, for `nhmech view`, `nhmech export` and `Trajectory.load`; "
                   "to FILE.part while it goes on.")
@friction
@on_slip
@movies
@looks
@playback
@robot
def run(
    file,
    controller,
    path,
    speed,
    settings,
    duration,
    dt,
    control_period,
    view,
    html,
    save,
    mu,
    on_slip,
    gif,
    webp,
    mp4,
    overlays,
    ghosts,
    follow,
    title,
    playback,
    **robot_options,
):
    """Simulate a wheeled robot with exact rolling.

    FILE is a URDF or xacro file, or the name of a shipped robot such as differential_drive.

    \b
    nhmech run differential_drive --view
    nhmech run robot.urdf --duration 20 --html run.html --save run.npz
    nhmech run robot.urdf --controller pure_pursuit --path figure8 --speed 0.5 --set lookahead=0.6
    nhmech run robot.urdf --controller my_controllers:circle
    nhmech run robot.urdf --mu 0.8 --on-slip stop
    nhmech run robot.urdf --mu 0.8 --overlay forces --view
    nhmech run base.urdf --skid mid-axle --wheel 'joint=left,kind=disc,radius=0.1' ...

    A failure (lost contact, numbers that are not finite, ...) ends with exit code 3 and a message;
    what was computed until then is still summarised and written. Ctrl-C ends a run early in the
    same way, with exit code 0; where --save names no file, what there is goes to one in the current
    folder, named after the robot.
    """
    vehicle = friction_known(load_robot(file, **robot_options), mu)
    print_notices(vehicle)

    from ..simulation.simulator import Simulator

    if control_period is None and is_ours(controller):
        control_period = 10 * dt
    try:
        controller, path = drive(vehicle, controller, path, speed, settings)
    except ModelError as error:
        raise ModelError(f"{error.text}{only_listed(vehicle, robot_options['wheels'])}",
                         error.remedy) from error
    followed = getattr(controller, "path", path)
    drawn = look(vehicle, overlays, ghosts, follow, title, path=followed)
    events = rolling_events(vehicle, mu, on_slip)
    try:
        simulator = Simulator(vehicle, controller, dt=dt, control_period=control_period,
                              events=events)
    except SimulationError as error:
        # nothing ran: this is bad input
        raise ModelError(error.text, error.remedy) from error
    simulator.reset(**start_of(controller, path))

    failure, begin = None, time.perf_counter()
    try:
        with Progress(duration, vehicle=vehicle) as progress:
            trajectory = simulator.run(duration, progress=progress, save=save)
    except SimulationError as error:
        failure, trajectory = error, error.trajectory
    wall = time.perf_counter() - begin

    # at once: nothing that goes wrong below may hide it
    codes = [] if failure is None else [tell(failure)]

    def then(step: Callable, *given) -> None:
        """One step of what is told and written; what goes wrong in it keeps none of the others
        back."""
        try:
            step(*given)
        except (NhmechError, OSError) as error:
            if isinstance(error, OSError) and error.filename is None:
                raise
            codes.append(tell(error))

    if trajectory is not None and len(trajectory.t):
        then(print_summary, vehicle, trajectory, wall, failure is not None)
        then(print_tracking, controller, path, trajectory)
        then(print_validity, trajectory, on_slip)
        if save is not None:
            click.echo(f"saved    {saved_as(save)}")
        elif trajectory.stop == "interrupted":
            then(save_interrupted, trajectory, Path(f"{Path(file).stem}.npz"))
        if html is not None:
            then(write_html, vehicle, trajectory, html, drawn)
        page = partial(save_page, vehicle, trajectory, look=drawn)
        then(write_movies, page, trajectory, playback, gif, webp, mp4)
        if view and failure is None:
            instead, written = html or Path(f"{Path(file).stem}.html"), html is not None
            then(partial(play, vehicle, trajectory, playback, drawn, instead=instead,
                         written=written))
    if codes:
        raise click.exceptions.Exit(codes[0])


def save_interrupted(trajectory, path: Path) -> None:
    """Keeps what nobody gave a name for."""
    click.echo(f"saved    {trajectory.save(unused(path))}")
