"""`nhmech dds`: a robot for ROS 2 nodes on the same network, without ROS on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .completion import robot_argument
from .node_options import NODE_HELP, node_option, run_node
from .options import RobotOptions, load_robot, robot_options

if TYPE_CHECKING:
    from ..ros.dds import DdsEndpoint


@click.command(epilog=NODE_HELP,
               short_help="Drive a robot from ROS 2 nodes on the network; this machine needs no "
                          "ROS.")
@robot_argument
@click.option("--domain", metavar="NUMBER", help="DDS domain. Default: ROS_DOMAIN_ID, or 0.")
@click.option("--namespace", metavar="NAME", default="",
              help="Namespace of topics and, unless tf_frame_prefix is set, of frames; for several "
                   "robots.")
@node_option
@robot_options
def dds(file: str, robot: RobotOptions, domain: str | None, namespace: str,
        given: tuple[tuple[str, str], ...]) -> None:
    """Drive a robot from ROS 2 nodes on the same network, without ROS here (extra `dds`).

    It takes and tells the topics of `ros2 run nhmech simulate`, but has no services, no parameters
    and no node's name. FILE is a URDF or xacro file, or the name of a shipped robot. Where it
    cannot start, the exit code is 1.

    \b
    nhmech dds ackermann_car
    nhmech dds robot.urdf --domain 7 --set enable_stamped_cmd_vel=true
    nhmech dds robot.urdf --namespace left
    """
    def start() -> tuple[DdsEndpoint, str]:
        from ..ros.alone import read_namespace, read_settings
        from ..ros.dds import DdsEndpoint, read_domain

        number, within = read_domain(domain), read_namespace(namespace)
        settings = read_settings(given, tf_frame_prefix="~")
        endpoint = DdsEndpoint(load_robot(file, robot, settings.ground), settings, number, within)
        return endpoint, f"DDS domain {number}"

    run_node(start)
