"""`nhmech limits`: what a robot can do before a wheel slips or leaves the ground."""

from __future__ import annotations

import json
from math import ceil, inf

import click

from .completion import robot_argument
from .conditions import Load, load_options
from .inspect import to_json
from .options import Positive, RobotOptions, load_robot, robot_options
from .rolling import Friction, coefficients, friction_option


@click.command(short_help="How fast, how hard and how steep, before a wheel slips or lifts off.")
@robot_argument
@friction_option
@click.option("--radius", type=Positive(), metavar="METRES",
              help="Radius of the circle: forward speed over yaw rate. Default: 1, or more if the "
                   "steering needs it.")
@click.option("--speed", type=Positive(), metavar="METRES/SECOND", default=1.0, show_default=True,
              help="Speed from which it brakes; speeds on the circle are compared with it.")
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON, in SI units.")
@load_options
@robot_options
def limits(file: str, robot: RobotOptions, load: Load, mu: Friction, radius: float | None,
           speed: float, as_json: bool) -> None:
    """How fast, how hard and how steep, before a wheel slips or lifts off.

    From the exact reactions, without a run: the speed on a circle, the acceleration and
    deceleration on a straight line, and the slope up, down and across, at which ideal rolling
    ends. FILE is a URDF or xacro file, or the name of a shipped robot.

    \b
    nhmech limits differential_drive --mu 0.6 --radius 1.5
    nhmech limits robot.urdf --mu 0.6 --mu caster=0.1 --radius 3 --speed 2 --json
    nhmech limits forklift.urdf --mu 0.6 --payload 800@0.7,0,0.5
    """
    from ..analysis.limits import limits as find_limits
    from ..control.twist_limits import turning_radius

    vehicle = load.put_on(load_robot(file, robot))
    if radius is None:       # a little more than at the steering's limit, rounded up
        least = turning_radius(vehicle)
        radius = max(1.0, ceil(11 * least) / 10) if least < inf else 1.0
    found = find_limits(vehicle, coefficients(vehicle, mu), radius=radius, speed=speed)
    if as_json:
        margins = {"margin": {name: found.margin(getattr(found, name))
                              for name in ("slip", "lift_off", "top_speed")}}
        distance = {"stopping_distance": found.stopping_distance}
        click.echo(json.dumps(to_json(found) | distance | margins, indent=2))
        return
    known = sorted({value for value in found.mu.values() if value < inf})
    click.secho(vehicle.name, bold=True, nl=False)
    click.echo("  mu "
               f"{' to '.join(f'{value:g}' for value in dict.fromkeys((known[0], known[-1])))}, a "
               f"circle of {radius:g} m, level ground unless a slope is given")
    click.echo(found.describe())
