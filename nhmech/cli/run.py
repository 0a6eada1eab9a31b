"""`nhmech run`: load, simulate, show, save."""

from __future__ import annotations

import json
import sys
import time
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..errors import InputError, ModelError, SimulationError
from ..paths import free_path
from .completion import robot_argument
from .conditions import RunConditions, run_condition_options
from .driving import Driver, DrivingOptions, driving_options, make_driver, only_listed
from .failures import keep_going, report_error
from .inspect import to_json
from .looks import Look, LookOptions, look_options, make_look
from .movies import MovieOptions, movie_options, write_movies
from .options import (
    PLAYBACK,
    IntegratorType,
    OutputFile,
    Positive,
    RobotOptions,
    option,
    option_group,
    robot_options,
)
from .progress import Progress
from .rolling import (
    RollingOptions,
    print_validity,
    rolling_events,
    rolling_options,
    with_friction_option,
)
from .saved import saved_file
from .show import play
from .summary import print_figures, print_notices, print_summary

if TYPE_CHECKING:
    from ..simulation.runs.trajectory import Trajectory
    from ..simulation.simulator import Simulator
    from ..vehicle.vehicle import Vehicle


@dataclass(frozen=True)
class Timing:
    """Duration and steps [s]."""

    duration: float = option(
        "--duration", type=Positive(), metavar="SECONDS", default=10.0, show_default=True,
        help="Simulated time.")
    integrator: str = option(
        "--integrator", type=IntegratorType(), default="rk4", show_default=True,
        help="rk4 takes steps of --dt, dop853 chooses its steps; auto changes to dop853 where "
             "steps of --dt are too long. The others take implicit steps of --dt that keep the "
             "energy of a motion without forces.",
    )
    mode: str = option(
        "--mode", type=click.Choice(("dynamic", "kinematic")), default="dynamic", show_default=True,
        help="kinematic: wheels and steering have the commanded speeds at once, whatever the "
             "forces.")
    dt: float = option(
        "--dt", type=Positive(), metavar="SECONDS", default=1e-3, show_default=True,
        help="Time step.")
    control_period: float | None = option(
        "--control-period", type=Positive(), metavar="SECONDS",
        help="Time between two calls of the controller, a multiple of the step. Default: one step; "
             "10 ms, or a step where that is longer, for controllers of this package.")


@dataclass(frozen=True)
class Outputs:
    """Output files of the run."""

    view: bool = option(
        "--view", is_flag=True,
        help="Play the run in the browser; without a browser, write FILE.html.")
    html: Path | None = option(
        "--html", type=OutputFile(".html"),
        help="Write the run as one HTML file that plays by itself.")
    save: Path | None = option(
        "--save", type=OutputFile(".npz"),
        help="Write the run for `nhmech view`, `nhmech export` and `Trajectory.load`; FILE.part "
             "has it while it goes on.")
    playback: float = option("--playback", **PLAYBACK)     # --speed is the robot's own

    as_json: bool = option(
        "--json", is_flag=True,
        help="Print how the run went as JSON, in SI units (`nhmech.analysis.run_summary`); other "
             "output goes to standard error.")


timing_options = option_group("timing", Timing)
output_options = option_group("outputs", Outputs)


@click.command()
@driving_options
@run_condition_options
@timing_options
@output_options
@rolling_options
@movie_options
@look_options
@robot_argument
@robot_options
def run(file: str, robot: RobotOptions, driving: DrivingOptions, conditions: RunConditions,
        timing: Timing, outputs: Outputs, rolling: RollingOptions, movies: MovieOptions,
        looks: LookOptions) -> None:
    """Simulate a wheeled robot with exact rolling.

    FILE is a URDF or xacro file, or the name of a shipped robot such as differential_drive.

    \b
    nhmech run differential_drive --view
    nhmech run robot.urdf --duration 20 --html run.html --save run.npz
    nhmech run robot.urdf --controller pure_pursuit --path figure8 --speed 0.5 --set lookahead=0.6
    nhmech run robot.urdf --controller my_controllers:circle
    nhmech run robot.urdf --start 1,0,45deg --slope 5deg --payload 4@0.1,0,0.3
    nhmech run trailers --joint hitch_1_joint=20deg --xi forward_speed=0.5
    nhmech run robot.urdf --controller stanley --path figure8 --noise position=0.01 --delay 0.05
    nhmech run robot.urdf --mu 0.8 --on-slip stop
    nhmech run robot.urdf --mu 0.4 --on-slip go-on
    nhmech run robot.urdf --mu 0.8 --overlay forces --view
    nhmech run base.urdf --skid mid-axle --wheel 'joint=left,kind=disc,radius=0.1' ...

    A failure (lost contact, numbers that are not finite, ...) ends with exit code 3 and a message;
    what was computed until then is still summarised and written. Ctrl-C ends a run early in the
    same way, with exit code 0; without --save, the run is then written to a file in the current
    folder, named after the robot.
    """
    from ..vehicle.friction import with_scrubbing

    codes: list[int] = []
    with redirect_stdout(sys.stderr) if outputs.as_json else nullcontext():
        vehicle = with_friction_option(conditions.load(file, robot), rolling.mu)
        moving = with_scrubbing(vehicle) if rolling.on_slip == "go-on" else vehicle
        print_notices(moving.notices)
        try:
            driver = make_driver(vehicle, driving)
        except (InputError, ModelError) as error:
            raise InputError(f"{error.text}{only_listed(vehicle, robot.wheels)}",
                             error.remedy) from error
        look = make_look(vehicle, looks, path=driver.followed_path)
        simulator = make_simulator(moving, driver, driving, timing, rolling)
        conditions.place(simulator, driver.start())

        trajectory, failure, wall = simulate(simulator, vehicle, timing.duration, outputs.save)
        # at once: nothing that goes wrong below may hide it
        if failure is not None:
            codes.append(report_error(failure))
        found: dict[str, Any] = {}
        if trajectory is not None and len(trajectory.t):
            found = tell(trajectory, driver, rolling, wall, codes, failed=failure is not None)
            write_outputs(vehicle, trajectory, outputs, movies, look, Path(file).stem, codes,
                          failed=failure is not None)
    if outputs.as_json:
        click.echo(json.dumps(to_json(found), indent=2))
    if codes:
        raise click.exceptions.Exit(codes[0])


def make_simulator(vehicle: Vehicle, driver: Driver, driving: DrivingOptions, timing: Timing,
                   rolling: RollingOptions) -> Simulator:
    """The simulator of the run."""
    from ..control.teleoperation import CONTROL_PERIOD
    from ..simulation.simulator import Simulator

    period = timing.control_period
    if period is None and driving.is_ours:
        period = max(1, round(CONTROL_PERIOD / timing.dt)) * timing.dt
    events = rolling_events(vehicle, rolling)
    try:
        return Simulator(vehicle, driver.in_loop, dt=timing.dt, control_period=period,
                         events=events, integrator=timing.integrator, mode=timing.mode,
                         on_limit=rolling.on_limit, on_fall=rolling.on_fall,
                         on_lift=rolling.on_lift,
                         contact="coulomb" if rolling.on_slip == "go-on" else None)
    except SimulationError as error:  # nothing ran: this is bad input
        raise InputError(error.text, error.remedy) from error


def tell(trajectory: Trajectory, driver: Driver, rolling: RollingOptions, wall: float,
         codes: list[int], failed: bool) -> dict[str, Any]:
    """Prints the summary of the run, the verdict before the figures, and returns it as plain
    values. An error in one part is reported, and the other parts are printed."""
    found: dict[str, Any] = {}
    with keep_going(codes):
        found = print_summary(trajectory, failed)
    with keep_going(codes):
        report = print_validity(trajectory, rolling)
        if report is not None:
            found["rolling"] = {"until": report.until, "text": report.describe(command_line=True)}
    with keep_going(codes):
        lateral = driver.print_tracking(trajectory)
        if lateral is not None:
            found["lateral_error"] = {"rms": float(np.sqrt(np.mean(lateral ** 2))),
                                      "most": float(np.max(np.abs(lateral)))}
    if "residuals" in found:
        print_figures(found, wall)
        found["wall_time"] = wall
    return found


def simulate(simulator: Simulator, vehicle: Vehicle, duration: float, save: Path | None,
             ) -> tuple[Trajectory | None, SimulationError | None, float]:
    """The run, or the part that was computed and the failure; and the wall time [s]."""
    failure, begin = None, time.perf_counter()
    try:
        with Progress(duration, vehicle=vehicle) as progress:
            trajectory = simulator.run(duration, progress=progress, save=save)
    except SimulationError as error:
        failure, trajectory = error, error.trajectory
    return trajectory, failure, time.perf_counter() - begin


def write_outputs(vehicle: Vehicle, trajectory: Trajectory, outputs: Outputs,
                  movies: MovieOptions, look: Look, name: str, codes: list[int],
                  failed: bool) -> None:
    """Write and play the run as requested; files without a name are called `name`. An error in one
    step is reported, and its exit code appended to `codes`; the other steps still happen."""
    if outputs.save is not None:
        click.echo(f"saved    {saved_file(outputs.save)}")
    elif trajectory.stop == "interrupted":
        with keep_going(codes):
            click.echo(f"saved    {trajectory.save(free_path(Path(f'{name}.npz')))}")
    if outputs.html is not None:
        with keep_going(codes):
            look.write_html(vehicle, trajectory, outputs.html)
    with keep_going(codes):
        write_movies(movies, partial(look.save_page, vehicle, trajectory), trajectory,
                     outputs.playback)
    if outputs.view and not failed:
        instead = Path(f"{name}.html") if outputs.html is None else None
        with keep_going(codes):
            play(vehicle, trajectory, outputs.playback, look, instead)
