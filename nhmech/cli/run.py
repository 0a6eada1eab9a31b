"""`nhmech run`: load, simulate, show, save."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import time
from pathlib import Path

import click

from .options import OutputFile, Positive, load_robot, robot, speed
from .progress import Progress
from .show import play, write_html
from .summary import print_summary


class ControllerType(click.ParamType):
    """`module:name` or `path/to/file.py:name` -> the object of that name."""

    name = "MODULE:NAME"

    def convert(self, value, param, ctx):
        place, colon, name = value.rpartition(":")
        if not (colon and place and name):
            self.fail(f"{value!r}: write module:function, or file.py:function", param, ctx)
        try:
            module = self.from_file(place) if place.endswith(".py") else self.from_path(place)
        except (ImportError, FileNotFoundError) as error:
            self.fail(f"{value!r}: {error}", param, ctx)
        if not callable(getattr(module, name, None)):
            there = [key for key, thing in vars(module).items() if callable(thing) and not key.startswith("_")]
            self.fail(f"{value!r}: no function {name!r} in {place}; there are {', '.join(there) or 'none'}", param, ctx)
        return getattr(module, name)

    @staticmethod
    def from_file(place: str):
        spec = importlib.util.spec_from_file_location(Path(place).stem, place)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    @staticmethod
    def from_path(place: str):
        if "" not in sys.path:
            sys.path.insert(0, "")  # the current folder, as `python -m` has it
        return importlib.import_module(place)


def make_controller(controller, vehicle):
    """A class is made with the vehicle; anything else is called as it is; the default is the demonstration."""
    if controller is None:
        from ..control.demo import DemoDrive

        controller = DemoDrive
    return controller(vehicle) if inspect.isclass(controller) else controller


SECONDS = {"type": Positive(), "metavar": "SECONDS"}


@click.command()
@click.option("--controller", type=ControllerType(), help="Called as NAME(t, state); a class is first made with the vehicle. Default: a gentle S-curve.")
@click.option("--duration", default=10.0, show_default=True, help="Simulated time.", **SECONDS)
@click.option("--dt", default=1e-3, show_default=True, help="Time step.", **SECONDS)
@click.option("--control-period", help="Time between two calls of the controller, a multiple of the step. Default: the step; ten of them for the S-curve.", **SECONDS)
@click.option("--view", is_flag=True, help="Play the run in the browser; where there is none, write FILE.html instead.")
@click.option("--html", type=OutputFile(".html"), help="Write the run as one HTML file that plays by itself.")
@click.option("--save", type=OutputFile(".npz"), help="Write the run, for `nhmech view` and `Trajectory.load`.")
@speed
@robot
def run(file, controller, duration, dt, control_period, view, html, save, speed, **robot_options):
    """Simulate a wheeled robot with exact rolling.

    FILE is a URDF or xacro file, or the name of a shipped robot such as differential_drive.

    \b
    nhmech run differential_drive --view
    nhmech run robot.urdf --duration 20 --html run.html --save run.npz
    nhmech run robot.urdf --controller my_controllers:circle
    nhmech run base.urdf --skid mid-axle --wheel 'joint=left,kind=disc,radius=0.1' ...

    A failure (lost contact, numbers that are not finite, ...) ends with exit code 3 and a message; what was computed until
    then is still summarised and written. Ctrl-C ends a run early in the same way, with exit code 0.
    """
    from ..errors import SimulationError

    vehicle = load_robot(file, **robot_options)

    from ..simulation.simulator import Simulator

    if controller is None and control_period is None:
        control_period = 10 * dt
    controller = make_controller(controller, vehicle)
    simulator = Simulator(vehicle, controller, dt=dt, control_period=control_period)
    simulator.reset(**getattr(controller, "start", {}))

    failure, begin = None, time.perf_counter()
    try:
        with Progress(duration) as progress:
            trajectory = simulator.run(duration, progress=progress)
    except SimulationError as error:
        failure, trajectory = error, error.trajectory
    wall = time.perf_counter() - begin

    if trajectory is not None and len(trajectory.t):
        print_summary(vehicle, trajectory, wall)
        if save is not None:
            trajectory.save(save)
            click.echo(f"saved    {save}")
        if html is not None:
            write_html(vehicle, trajectory, html)
        if view and failure is None:
            play(vehicle, trajectory, speed, instead=html or Path(f"{Path(file).stem}.html"), written=html is not None)
    if failure is not None:
        raise failure
