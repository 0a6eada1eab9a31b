"""`nhmech export`: a saved run for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import NhmechError
from .options import OutputFile, Positive
from .progress import Progress
from .saved import read_run, robot_of_run, vehicle_of


@click.command()
@click.argument("run", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("out", type=OutputFile(".csv", ".parquet", ".mcap"))
@click.option("--rate", type=Positive(), metavar="HZ",
              help="States per second at most. Default: all that were recorded.")
@click.option("--forces/--no-forces", default=True, show_default=True,
              help="Whether the ground's forces on the wheels are worked out.")
@robot_of_run
def export(run, out, rate, forces, file):
    """Write RUN, a file that `nhmech run --save` wrote, to OUT: .csv, .parquet, or .mcap with ROS 2
    messages.

    \b
    nhmech export run.npz run.csv
    nhmech export run.npz run.parquet --rate 100
    nhmech export run.npz run.mcap --rate 50      for Foxglove, PlotJuggler and ros2 bag

    In .mcap are /odom, /tf, /tf_static, /joint_states, /robot_description, /wheels/NAME/wrench, and
    /cmd_vel of a controller that commands a twist. An older OUT is replaced.
    """
    from dataclasses import replace

    from ..logs.table import Table, picked
    from ..simulation.simulated import Simulated

    trajectory = read_run(run)
    # made once, for the messages and for the forces
    if file is not None or out.suffix == ".mcap":
        trajectory = replace(trajectory, system=Simulated.of(vehicle_of(run, trajectory, file)))
    try:
        with Progress(trajectory.t[-1]) as progress:
            if out.suffix == ".mcap":
                from ..logs.mcap import write_mcap

                write_mcap(trajectory, out, forces=forces, rate=rate, progress=progress)
            elif out.suffix == ".parquet":
                from ..logs.parquet import write_parquet

                write_parquet(Table(trajectory, forces, rate, progress), out)
            else:
                from ..logs.csv import write_csv

                write_csv(Table(trajectory, forces, rate, progress), out)
    except OSError as error:
        raise NhmechError(f"{out} cannot be written: {error.strerror or error}") from error
    click.echo(f"wrote    {out}, {len(picked(trajectory.t, rate))} states of {len(trajectory)}")
