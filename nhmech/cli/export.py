"""`nhmech export`: a saved run for other programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ..errors import NhmechError
from ..logs.exporters import EXPORTERS, export_run
from .options import Positive, output_option
from .progress import Progress
from .saved import read_run, robot_of_run, vehicle_of


@click.command(short_help="Write a saved run as .csv, .parquet or .mcap.")
@click.argument("run", type=click.Path(dir_okay=False, path_type=Path))
@output_option(*EXPORTERS, required=True,
               help="The output file; its ending sets the format. An existing file is replaced.")
@click.option("--rate", type=Positive(), metavar="HZ",
              help="States per second, at most. Default: all recorded states.")
@click.option("--forces/--no-forces", default=True, show_default=True,
              help="Whether to compute the ground's forces on the wheels.")
@robot_of_run
def export(run: Path, output: Path, rate: float | None, forces: bool, file: str | None) -> None:
    """Write RUN, a file of `nhmech run --save`, as .csv, .parquet, or .mcap with ROS 2 messages.

    \b
    nhmech export run.npz -o run.csv
    nhmech export run.npz -o run.parquet --rate 100
    nhmech export run.npz -o run.mcap --rate 50      for Foxglove, PlotJuggler and ros2 bag

    An .mcap file holds /odom, /tf, /tf_static, /joint_states, /robot_description,
    /wheels/NAME/wrench, and /cmd_vel where the controller commands a twist.
    """
    from ..logs.table import select_rows
    from ..simulation.simulated import Simulated

    trajectory = read_run(run)
    if file is not None or EXPORTERS[output.suffix].needs_vehicle:
        # built once, for messages, energies and forces together
        vehicle = vehicle_of(run, trajectory, file)
        trajectory = replace(trajectory, system=Simulated.of(vehicle))
    try:
        with Progress(trajectory.t[-1]) as progress:
            export_run(trajectory, output, forces=forces, rate=rate, progress=progress)
    except OSError as error:
        raise NhmechError(f"{output} cannot be written: {error.strerror or error}") from error
    count = len(select_rows(trajectory.t, rate))
    click.echo(f"wrote    {output}, {count} states of {len(trajectory)}")
