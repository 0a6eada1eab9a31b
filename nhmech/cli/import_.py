"""`nhmech import`: the log of a robot as a run."""

from __future__ import annotations

from pathlib import Path

import click

from ..paths import free_path
from .logged import LogOptions, log_options
from .options import RobotOptions, load_robot, output_option, robot_options


@click.command("import", short_help="Convert a ROS bag or a table to a run.")
@click.argument("bag", type=click.Path(path_type=Path))
@output_option(".npz", help="The run; an existing file is replaced. Default: BAG.npz beside the "
                            "bag, with a number if that exists.")
@log_options
@robot_options
def import_(bag: Path, output: Path | None, log: LogOptions, robot: RobotOptions) -> None:
    """Make a run of the joint states and poses in BAG, for `nhmech view`, `plot` and `report`.

    BAG is a rosbag of ROS 1 (.bag), of ROS 2 (.mcap, .db3, or the folder), or a table (.csv).

    \b
    nhmech import drive.mcap --vehicle robot.urdf -o drive.npz
    nhmech view simulated.npz --ghost drive.npz

    Poses that are not on the ground keep x, y and heading. Where efforts of all driven joints are
    logged, the run has forces.
    """
    from ..logs.importing import import_run

    vehicle = load_robot(log.vehicle, robot)
    run = import_run(bag, vehicle, joints=log.joints, pose=log.pose, rename=dict(log.rename))
    for note in run.settings["import"]["notes"]:
        click.echo(f"notice   {note}", err=True)
    out = run.save(output or free_path(bag.with_suffix(".npz")))
    click.echo(f"saved    {out}, {len(run)} states, {run.t[0]:.6g} to {run.t[-1]:.6g} s")
