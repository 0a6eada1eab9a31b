"""`nhmech live`: a robot in the Foxglove app, driven from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .completion import robot_argument
from .node_options import NODE_HELP, node_option, run_node
from .options import RobotOptions, load_robot, robot_options

if TYPE_CHECKING:
    from ..ros.foxglove_live import FoxgloveServer


@click.command(epilog=NODE_HELP, short_help="Drive a robot from the Foxglove app, in real time.")
@robot_argument
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True,
              help="Port for the app; 0 takes any free port.")
@click.option("--host", default="127.0.0.1", show_default=True,
              help="Address to listen on; 0.0.0.0 means all addresses of this machine.")
@node_option
@robot_options
def live(file: str, robot: RobotOptions, port: int, host: str,
         given: tuple[tuple[str, str], ...]) -> None:
    """Drive a robot from the Foxglove app, in real time (extra `foxglove`).

    Open a Foxglove WebSocket connection to ws://localhost:8765. A 3D panel shows the robot, and a
    Teleop panel drives it on the topic /cmd_vel. FILE is a URDF or xacro file, or the name of a
    shipped robot. No ROS is needed. Where it cannot start, the exit code is 1.

    \b
    nhmech live ackermann_car --port 8765
    nhmech live robot.urdf --set cmd_vel_timeout=0 --set linear.x.max_velocity=1.5
    """
    def start() -> tuple[FoxgloveServer, str]:
        from ..ros.alone import read_settings
        from ..ros.foxglove_live import FoxgloveServer

        settings = read_settings(given, publish_link_tf=True, publish_contact_tf=True)
        server = FoxgloveServer(load_robot(file, robot, settings.ground), settings, host, port)
        return server, f"ws://{host}:{server.port}"

    run_node(start)
