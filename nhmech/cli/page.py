"""`nhmech page`: one HTML file in which a robot runs by itself."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import InputError, did_you_mean
from .completion import robot_argument
from .conditions import NO_CONDITIONS, Conditions, condition_options
from .options import NO_OPTIONS, Positive, RobotOptions, output_option, robot_options
from .rolling import Friction, coefficients, friction_option, with_friction_option
from .summary import print_notices


@click.command(short_help="Write one HTML file that simulates a robot interactively.")
@robot_argument
@output_option(".html", help="The page; an existing file is replaced. Default: the robot's name.")
@click.option("--slider", "sliders", multiple=True, metavar="NAME",
              help="A number of the robot that gets a slider, such as base_link.mass or "
                   "left_wheel_joint.radius; repeat. Default: payload, gravity, slope.")
@click.option("--dt", type=Positive(), default=1e-3, show_default=True, metavar="SECONDS",
              help="Time step.")
@click.option("--title", help="Title in the page's corner. Default: the robot's name.")
@friction_option
@condition_options
@robot_options
def page(file: str, robot: RobotOptions, conditions: Conditions, output: Path | None,
         sliders: tuple[str, ...], dt: float, title: str | None, mu: Friction) -> None:
    """Write one HTML file in which a robot runs by itself, with its exact equations.

    FILE is a URDF or xacro file, the name of a shipped robot, or that of a textbook system
    (`nhmech systems list`) or its file. The page needs no network and no
    installation: the steps of the simulator are in it as JavaScript. Arrow keys, WASD, a gamepad or
    touch drive, sliders change the robot, ? shows all keys. A number of a textbook system with
    which its shapes are drawn has no slider.

    \b
    nhmech page differential_drive -o robot.html
    nhmech page robot.urdf --mu 0.6 --slider base_link.mass
    nhmech page falling_disc
    """
    from ..paths import urdf_names
    from ..simulation.simulator import Simulator
    from ..systems import load_system, system_names
    from ..view.written_page import save_page

    robots = urdf_names()
    if file not in robots and (file in system_names() or file.endswith(".py")):
        if robot != NO_OPTIONS or conditions != NO_CONDITIONS or sliders or mu:
            raise InputError(f"{file} is a textbook system: it starts as it is, and its "
                             "parameters have sliders; only -o, --dt and --title apply")
        example = load_system(file)
        path = save_page(example, output or Path(f"{example.name}.html"), dt=dt, title=title)
    else:
        if file not in robots and not Path(file).is_file():
            near = did_you_mean(file, [*system_names(), *robots])
            raise InputError(f"{file}: no such file, shipped robot or textbook system{near}")
        vehicle = with_friction_option(conditions.load(file, robot), mu)
        print_notices(vehicle.notices)
        start = conditions.place(Simulator(vehicle), {})
        path = save_page(vehicle, output or Path(f"{vehicle.name}.html"), **start,
                         parameters=sliders or None, dt=dt, title=title,
                         mu=coefficients(vehicle, mu))
    click.echo(f"page     {path.resolve()}  ({path.stat().st_size / 1e6:.2f} MB)")
