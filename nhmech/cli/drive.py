"""`nhmech drive`: a robot in the browser, driven by keys, gamepad or touch, in real time."""

from __future__ import annotations

from pathlib import Path

import click

from .completion import robot_argument
from .conditions import Conditions, condition_options
from .driving import DrivingOptions, driving_options, make_driver
from .looks import LookOptions, look_options, make_look
from .options import OutputFile, Positive, RobotOptions, robot_options
from .rolling import Friction, friction_option, with_friction_option
from .show import has_browser
from .summary import print_notices


@click.command(short_help="Drive a robot in the browser by keys, gamepad or touch.")
@robot_argument
@click.option("--top-speed", type=Positive(), metavar="M/S",
              help="Speed that a key commands. Default: 1.5 lengths of the robot per second.")
@click.option("--top-yaw-rate", type=Positive(), metavar="RAD/S",
              help="Yaw rate that a key commands. Default: the speed over the robot's length.")
@click.option("--save", type=OutputFile(".npz"),
              help="Save the drive for `nhmech view` and the other commands; after a reset, "
                   "recording goes on in FILE-2, and so on.")
@click.option("--duration", type=Positive(), metavar="SECONDS",
              help="Stop after this time. Default: at Ctrl-C.")
@friction_option
@driving_options
@condition_options
@look_options
@robot_options
def drive(file: str, robot: RobotOptions, driving: DrivingOptions, conditions: Conditions,
          looks: LookOptions, mu: Friction, top_speed: float | None, top_yaw_rate: float | None,
          save: Path | None, duration: float | None) -> None:
    """Drive a robot in the browser, in real time, with exact rolling.

    FILE is a URDF or xacro file, or the name of a shipped robot. Arrow keys or WASD drive, Q and E
    go sideways where the robot can, space stops, R resets, ? shows all keys; a gamepad and the
    page's two sliders drive too. C exchanges the keys for the --controller, and back.

    \b
    nhmech drive differential_drive
    nhmech drive robot.urdf --mu 0.4 --overlay forces --save drive.npz
    nhmech drive ackermann_car --controller pure_pursuit --path figure8
    nhmech drive trailers --slope 5deg --joint hitch_1_joint=20deg --payload 20@0,0,0.5
    """
    from ..control.twist_limits import coasts
    from ..simulation.callbacks import controller_name
    from ..simulation.simulator import Simulator
    from ..view.drive import Drive

    vehicle = with_friction_option(conditions.load(file, robot), mu)
    print_notices(vehicle.notices)
    if coasts(vehicle):
        vehicle = vehicle.with_wrench(vehicle.description.root)     # of the hand that pushes it
    driver = make_driver(vehicle, driving)
    is_given = driving.controller is not None
    controllers = ({controller_name(driver.controller): driver.controller}
                   if is_given or not coasts(vehicle) else {})
    start = conditions.place(Simulator(vehicle), driver.start() if is_given else {})
    look = make_look(vehicle, looks, path=driver.followed_path)
    with Drive(vehicle, controllers=controllers, start=start, speed=top_speed,
               yaw_rate=top_yaw_rate, save=save, overlays=look.overlays, title=look.title,
               follow=look.follow is not False, open_browser=has_browser(),
               say=click.echo) as session:
        click.echo(f"drive    {session.viewer.url}  (Ctrl-C ends it)")
        for line in session.cannot():
            click.echo(f"         {line}")
        session.run(duration)

