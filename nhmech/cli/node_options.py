"""Options of the commands that run a node."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from ..errors import NhmechError
from .failures import report_error
from .options import PairType

if TYPE_CHECKING:
    from ..ros.dds import DdsEndpoint
    from ..ros.foxglove_live import FoxgloveServer

FAILED = 1      # as nodes of ROS have it
NODE_HELP = "Parameters of --set are those of nhmech.ros.Settings."

node_option = click.option(
    "--set", "given", type=PairType("VALUE", str), multiple=True,
    help="Parameter of the node, named as for ROS, e.g. publish_rate=50; repeat.")


def run_node(start: Callable[[], tuple[FoxgloveServer | DdsEndpoint, str]]) -> None:
    """Starts a node, prints its address, and runs it until Ctrl-C."""
    from ..ros.alone import list_outputs, run

    try:
        transport, place = start()
    except (NhmechError, OSError) as error:
        report_error(error)
        sys.exit(FAILED)
    click.echo(f"{place}: {list_outputs(transport.node.settings, transport.topics)}")
    run(transport.node, transport)
